"""Conflicts: by links and by texts, in the whole store and around a few memories."""

from __future__ import annotations

from mnemic.core.conflicts import among, find
from mnemic.core.graph import end_link, link
from mnemic.core.memories import find as find_memory
from mnemic.core.memories import forget
from mnemic.model.access import Grant
from support import kept


def told(conflicts):
    return [(one.one.id, one.other.id, one.is_linked, one.reason) for one in conflicts]


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
