"""Impact: what rests on a memory."""

from __future__ import annotations

import pytest
from support import kept

from mnemic.core.graph import link
from mnemic.core.memories import forget
from mnemic.core.trust.impact import count_resting, dependents, impact
from mnemic.errors import NotFound


@pytest.fixture
def bridge(ctx):
    """A closed bridge, a detour caused by it, a decision derived from that, a delay that supports it, and others."""
    names = ("closed", "detour", "early", "delay", "bakery", "map")
    ids = {name: kept(ctx, name, kind="inference").id for name in names}
    for source, target, type in (
        ("detour", "closed", "caused_by"),
        ("early", "detour", "derived_from"),
        ("delay", "closed", "supports"),
        ("map", "closed", "related_to"),
        ("closed", "bakery", "caused_by"),
    ):
        link(ctx, ids[source], ids[target], type)
    return ids


def names(found):
    return [(one.memory.title, one.distance) for one in found]


def test_what_was_caused_derived_or_supports_depends(ctx, bridge):
    assert names(dependents(ctx, bridge["closed"])) == [("detour", 1), ("delay", 1), ("early", 2)]
    assert names(dependents(ctx, bridge["early"])) == []


def test_depth_and_number_are_bounded(ctx, bridge):
    assert names(dependents(ctx, bridge["closed"], depth=1)) == [("detour", 1), ("delay", 1)]
    assert names(dependents(ctx, bridge["closed"], limit=1)) == [("detour", 1)]
    assert names(dependents(ctx, bridge["closed"], depth=0)) == []


def test_a_ring_does_not_depend_on_itself(ctx, bridge):
    link(ctx, bridge["closed"], bridge["early"], "caused_by")
    assert [name for name, _ in names(dependents(ctx, bridge["closed"], depth=50))] == [
        *("detour", "delay"),
        "early",
    ]


def test_what_was_forgotten_neither_depends_nor_is_asked_about(ctx, bridge):
    forget(ctx, ["detour"])
    assert names(dependents(ctx, bridge["closed"])) == [("delay", 1)]
    with pytest.raises(NotFound):
        dependents(ctx, bridge["detour"])


# -- impact in the native dialect


def test_what_rests_on_a_memory_is_walked_to_with_the_links(ctx):
    for text in ("base", "first floor", "second floor", "beside"):
        kept(ctx, text)
    link(ctx, 2, 1, "depends_on")
    link(ctx, 3, 2, "derived_from")
    link(ctx, 4, 1, "related_to")
    found = impact(ctx, "base")
    assert [(memory.id, distance) for memory, distance in found.memories] == [(1, 0), (2, 1), (3, 2)]
    assert [edge.type for edge in found.edges] == ["depends_on", "derived_from"]
    assert [memory.id for memory, _ in impact(ctx, 1, depth=1).memories] == [1, 2]
    assert [memory.id for memory, _ in impact(ctx, 1, limit=2).memories] == [1, 2]


def test_how_many_rest_on_several_counts_none_of_them_and_nothing_that_left(ctx):
    for text in ("base", "first floor", "second floor", "shed"):
        kept(ctx, text)
    link(ctx, 2, 1, "depends_on")
    link(ctx, 3, 2, "depends_on")
    link(ctx, 4, 1, "depends_on")
    assert (count_resting(ctx, [1]), count_resting(ctx, [1, 2]), count_resting(ctx, [])) == (3, 2, 0)
    forget(ctx, [2])
    assert count_resting(ctx, [1]) == 1
