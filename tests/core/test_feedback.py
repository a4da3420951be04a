"""Rating memories and links by what they are called."""

from __future__ import annotations

import pytest

from mnemic.core.feedback import rate_named
from mnemic.core.graph import link
from mnemic.core.memories import find
from mnemic.errors import NotFound
from mnemic.model.access import Grant
from mnemic.model.values import State
from support import kept


def test_memories_and_links_are_rated_together(ctx):
    kept(ctx, "one", title="First")
    kept(ctx, "two", namespace="far")
    edge = link(ctx, 1, 2, "related_to")
    rated = rate_named(ctx, ["First", 1, 2], [edge.id, edge.id], True, 8)
    assert [(memory.id, memory.quality, memory.rating_count) for memory in rated.memories] == [
        (1, 5.4, 1),
        (2, 5.4, 1),
    ]
    assert [(one.id, one.quality, one.rating) for one in rated.links] == [(edge.id, 1.4, 8)]


def test_what_is_not_there_leaves_all_unrated(ctx):
    kept(ctx, "one")
    kept(ctx, "two", namespace="far")
    edge = link(ctx, 1, 2, "related_to")
    for memories, links in (([1, 99], []), ([1], [99])):
        with pytest.raises(NotFound):
            rate_named(ctx, memories, links, True)
    with pytest.raises(NotFound, match=f"No link {edge.id}"):
        rate_named(ctx.limited_to(Grant(("global",), can_write=True)), [1], [edge.id], True)
    assert find(ctx, 1).quality is None


def test_doubt_forgets(ctx):
    kept(ctx, "one")
    assert [memory.id for memory in rate_named(ctx, [1], [], False, 2).forgotten] == [1]
    assert find(ctx, 1).state is State.FORGOTTEN
