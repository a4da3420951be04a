"""Walks along links: how far, which way, through what, and how much is read for them."""

from __future__ import annotations

import pytest
from support import kept

from mnemic.core import traversal
from mnemic.core.graph import end_link, link
from mnemic.core.memories import forget, supersede
from mnemic.core.traversal import Way, surroundings, walk
from mnemic.errors import NotFound
from mnemic.model.access import Grant
from mnemic.model.graph import Direction


@pytest.fixture
def web(ctx):
    """a → b → c → d by `next`, a → d by `skip`, e → a by `next`, and f alone."""
    ids = {name: kept(ctx, f"memory {name}", name=name).id for name in "abcdef"}
    for source, target in ("ab", "bc", "cd", "ea"):
        link(ctx, ids[source], ids[target], "next")
    link(ctx, ids["a"], ids["d"], "skip")
    return ids


def reached(region):
    return {memory.title: distance for memory, distance in region.memories}


def test_a_walk_goes_breadth_first_and_tells_the_links_it_followed(ctx, web):
    found = walk(ctx, web["a"], Way(direction=Direction.OUT))
    assert list(reached(found).items()) == [("a", 0), ("b", 1), ("d", 1), ("c", 2)]
    assert [(one.source_id, one.target_id) for one in found.links] == [
        (web[source], web[target]) for source, target in ("ab", "bc", "cd", "ad")
    ]


@pytest.mark.parametrize(
    "way, places",
    [
        (Way(direction=Direction.IN), "ae"),
        (Way(direction=Direction.BOTH, types=("next",)), "abecd"),
        (Way(direction=Direction.OUT, types=("next",)), "abcd"),
        (Way(direction=Direction.OUT, types=("next",), depth=1), "ab"),
        (Way(direction=Direction.OUT, depth=0), "a"),
        (Way(direction=Direction.OUT, limit=2), "ab"),
        (Way(direction=Direction.OUT, limit=1), "a"),
        (Way(direction=Direction.OUT, limit=0), ""),
    ],
)
def test_a_way_bounds_the_walk(ctx, web, way, places):
    assert "".join(reached(walk(ctx, web["a"], way))) == places


def test_little_confidence_bars_the_path(ctx):
    start, weak, behind = (
        kept(ctx, name, confidence=sure) for name, sure in (("s", 0.1), ("w", 0.4), ("b", 0.9))
    )
    link(ctx, start.id, weak.id, "next")
    link(ctx, weak.id, behind.id, "next")
    assert list(reached(walk(ctx, start.id, Way(min_confidence=0.4)))) == ["s", "w", "b"]
    assert list(reached(walk(ctx, start.id, Way(min_confidence=0.41)))) == ["s"]


def test_a_walk_goes_through_the_superseded_but_not_the_forgotten_nor_along_ended_links(ctx, web):
    supersede(ctx, "b", "another b", None)
    end_link(ctx, web["a"], web["d"], "skip")
    out = Way(direction=Direction.OUT, types=("next", "skip"))
    assert list(reached(walk(ctx, web["a"], out))) == ["a", "b", "c", "d"]
    forget(ctx, ["c"])
    assert list(reached(walk(ctx, web["a"], out))) == ["a", "b"]
    with pytest.raises(NotFound):
        walk(ctx, web["c"], out)


def test_a_walk_stays_within_what_the_caller_may_see(ctx):
    mine, theirs = kept(ctx, "mine", namespace="mine"), kept(ctx, "theirs", namespace="theirs")
    link(ctx, mine.id, theirs.id, "next")
    limited = ctx.limited_to(Grant(("mine",), True))
    assert list(reached(walk(limited, mine.id, Way()))) == ["mine"]
    with pytest.raises(NotFound):
        walk(limited, theirs.id, Way())


def test_surroundings_have_every_link_between_the_memories_shown(ctx, web):
    found = surroundings(ctx, web["b"], 1)
    assert reached(found) == {"b": 0, "a": 1, "c": 1}
    assert [(one.source_id, one.target_id) for one in found.links] == [
        (web["a"], web["b"]),
        (web["b"], web["c"]),
    ]
    assert not found.is_cut
    assert len(surroundings(ctx, web["b"], 2).links) == 5


def test_of_a_large_region_the_nearest_are_shown_but_the_first_ring_whole(ctx, monkeypatch):
    monkeypatch.setattr(traversal, "WIDEST", 4)
    monkeypatch.setattr(traversal, "AT_ONCE", 2)
    hub = kept(ctx, "hub")
    ring = [kept(ctx, f"ring {n}") for n in range(5)]
    for one in ring:
        link(ctx, one.id, hub.id, "part_of")
        link(ctx, kept(ctx, f"behind {one.title}").id, one.id, "part_of")
    found = surroundings(ctx, hub.id, 5)
    assert list(reached(found)) == ["hub", *(one.title for one in ring)] and found.is_cut
    assert list(reached(surroundings(ctx, ring[0].id, 5))) == ["ring 0", "hub", "behind ring 0", "ring 1"]
    assert len(reached(walk(ctx, hub.id, Way(limit=50)))) == 11
