"""Feedback: what ratings do to quality and confidence, what they forget, and that they can be taken back."""

from __future__ import annotations

import pytest
from support import kept, last_number

from mnemic.core.graph import link
from mnemic.core.history import undo
from mnemic.core.memories import find
from mnemic.core.trust.ratings import Rating, Steps, rate, rate_named
from mnemic.errors import NotFound
from mnemic.model.access import Grant
from mnemic.model.enums import State
from mnemic.model.graph import UNRATED_LINK
from mnemic.model.memory import UNRATED
from mnemic.storage.queries import edge_numbered


def rated(ctx, memory, *ratings, **steps):
    """The memory after these ratings, each (useful, confidence)."""
    told = [Rating(memory.id, useful, confidence) for useful, confidence in ratings]
    return rate(ctx, told, steps=Steps(**steps)).memories[0]


@pytest.mark.parametrize(
    "useful, confidence, quality",
    [
        (True, 8, 5.4),
        (True, 10, 5.5),
        (True, None, 5.5),
        (False, 3, 4.6),
        (False, 10, 4.95),
        (False, None, 4.5),
    ],
)
def test_a_rating_moves_the_quality_by_how_sure_it_is(ctx, useful, confidence, quality):
    assert rated(ctx, kept(ctx, "tea"), (useful, confidence)).quality == pytest.approx(quality)


def test_the_quality_stays_within_its_bounds(ctx):
    memory = kept(ctx, "tea")
    assert rated(ctx, memory, *[(True, 10)] * 3, up=4.0).quality == 10.0
    assert rated(ctx, memory, *[(False, 10)] * 3, down=40.0).quality == 0.0
    assert rated(ctx, memory, (True, 10), up=40.0, highest=7.0).quality == 7.0


def test_the_confidence_is_a_running_mean_over_a_window(ctx):
    memory = kept(ctx, "tea")
    assert (memory.rating, memory.rating_count) == (None, 0)
    means = [rated(ctx, memory, (True, value), window=2).rating for value in (4, 8, 10, 4)]
    assert means == pytest.approx([4.0, 6.0, 8.0, 6.0])
    assert find(ctx, memory.id).rating_count == 4


def test_without_a_confidence_the_mean_stays(ctx):
    memory = rated(ctx, kept(ctx, "tea"), (True, 6), (True, None))
    assert (memory.rating, memory.rating_count) == (6, 1)


@pytest.mark.parametrize(
    "useful, confidence, state",
    [
        (False, 2, State.FORGOTTEN),
        (False, 3, State.LIVING),
        (True, 1, State.LIVING),
        (False, None, State.LIVING),
    ],
)
def test_only_a_doubted_memory_is_forgotten(ctx, useful, confidence, state):
    memory = kept(ctx, "tea")
    done = rate(ctx, [Rating(memory.id, useful, confidence)])
    assert find(ctx, memory.id).state is state
    assert [one.id for one in done.forgotten] == ([memory.id] if state is State.FORGOTTEN else [])


def test_what_is_forgotten_is_forgotten_once(ctx, clock):
    memory = kept(ctx, "tea")
    rate(ctx, [Rating(memory.id, False, 1)])
    left_at = find(ctx, memory.id).state_at
    clock.advance(hours=1)
    assert rate(ctx, [Rating(memory.id, False, 1)]).forgotten == ()
    assert find(ctx, memory.id).state_at == left_at


def test_a_rating_is_a_use_and_no_change_of_what_it_says(ctx, clock):
    memory = kept(ctx, "tea")
    clock.advance(days=1)
    rated(ctx, memory, (True, 8))
    after = find(ctx, memory.id)
    assert (after.access_count, after.accessed_at, after.updated_at) == (1, clock(), memory.updated_at)


def test_a_link_is_rated_and_never_deleted(ctx, clock):
    edge = link(ctx, kept(ctx, "one").id, kept(ctx, "two").id, "related_to")
    clock.advance(hours=1)
    [after] = rate(ctx, [], [Rating(edge.id, False, 1), Rating(edge.id, True, 10)]).links
    assert after.state is State.LIVING and after.updated_at == clock()
    assert after.quality == pytest.approx(max(0, UNRATED_LINK - 0.5) + 0.5)
    assert (after.rating, after.rating_count) == (5.5, 2)
    assert edge_numbered(ctx.store.read(), edge.id) == after


def test_a_rating_can_be_taken_back(ctx):
    memory = kept(ctx, "tea")
    rate(ctx, [Rating(memory.id, False, 1)])
    undo(ctx, last_number(ctx.store))
    after = find(ctx, memory.id)
    assert (after.state, after.quality, after.rating) == (State.LIVING, None, None)
    assert rated(ctx, memory, (True, 10)).quality == UNRATED + 0.5


# -- by what they are called


def test_memories_and_links_are_rated_together(ctx):
    kept(ctx, "one", name="First")
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
