"""Conflicts: by links and by texts, in the whole store and around a few memories."""

from __future__ import annotations

from support import kept

from mnemic.core.graph import end_link, link
from mnemic.core.memories import find as find_memory
from mnemic.core.memories import forget
from mnemic.core.trust.beliefs import correct
from mnemic.core.trust.conflicts import among, find
from mnemic.model.access import Grant


def told(conflicts):
    return [
        (one.one.id, one.other.id, one.is_linked, one.reason if one.is_linked else None) for one in conflicts
    ]


def test_links_and_texts_tell_conflicts_each_once(ctx):
    kept(ctx, "Secrets of the shop are shared with contractors")
    kept(ctx, "Secrets of the shop are not shared with contractors")
    kept(ctx, "Tea is at four")
    kept(ctx, "Coffee is at three")
    assert told(find(ctx)) == [(1, 2, False, None)]
    link(ctx, 2, 1, "contradicts", reason="the policy")
    link(ctx, 3, 4, "contradicts")
    assert told(find(ctx)) == [(2, 1, True, "the policy"), (3, 4, True, None)]
    forget(ctx, [3])
    assert told(find(ctx)) == [(2, 1, True, "the policy")]


def test_around_some_memories_what_links_say_and_what_they_say_themselves(ctx):
    one = kept(ctx, "We ship on Monday")
    other = kept(ctx, "We ship on Friday")
    far = kept(ctx, "Shipping never happens", namespace="far")
    link(ctx, far.id, one.id, "contradicts")
    assert told(among(ctx, [one, other])) == [(3, 1, True, None), (1, 2, False, None)]
    assert told(among(ctx.limited_to(Grant(("global",), can_write=False)), [one])) == []
    end_link(ctx, far.id, one.id, "contradicts")
    assert among(ctx, [one]) == []
    forget(ctx, [other.id])
    assert among(ctx, [one, find_memory(ctx, other.id)]) == []


def test_conflicts_are_living_pairs_joined_by_a_contradiction(ctx):
    names = ("tea", "coffee", "milk", "gone", "ended")
    tea, coffee, milk, gone, ended = (kept(ctx, name) for name in names)
    link(ctx, tea.id, coffee.id, "contradicts")
    link(ctx, milk.id, gone.id, "contradicts")
    link(ctx, milk.id, ended.id, "contradicts")
    link(ctx, milk.id, tea.id, "supports")
    forget(ctx, [gone.id])
    end_link(ctx, milk.id, ended.id, "contradicts")
    assert told(find(ctx)) == [(tea.id, coffee.id, True, None)]
    correct(ctx, coffee.id, "no coffee")
    assert find(ctx) == [] == find(ctx, "nowhere")
