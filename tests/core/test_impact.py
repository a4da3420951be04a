"""Impact: what rests on a memory."""

from __future__ import annotations

import pytest

from mnemic.core.graph import link
from mnemic.core.impact import dependents
from mnemic.core.memories import forget
from mnemic.errors import NotFound
from support import kept


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
