"""Links: made, brought up to date, ended, and walked."""

from __future__ import annotations

from itertools import pairwise

import pytest
from support import START, kept, last_number

from mnemic.core.graph import end_link, link
from mnemic.core.memories import forget, restore, supersede
from mnemic.core.traversal import explore, path
from mnemic.errors import Invalid, NotFound
from mnemic.model.filter import ANY_EDGE
from mnemic.model.graph import Direction
from mnemic.model.time import HOUR


@pytest.fixture
def web(ctx):
    """a → b → c → d by `next`, a → d by `skip`, e → a by `next`, and f alone."""
    ids = {name: kept(ctx, f"memory {name}", name=name).id for name in "abcdef"}
    for source, target in ("ab", "bc", "cd", "ea"):
        link(ctx, ids[source], ids[target], "next")
    link(ctx, ids["a"], ids["d"], "skip")
    return ids


def reached(found):
    return {memory.title: distance for memory, distance in found.memories}


def walked(found):
    return [(edge.source_id, edge.target_id, edge.type) for edge in found.edges]


def test_a_link_says_how_two_memories_are_related(ctx, clock):
    one, two = kept(ctx, "one"), kept(ctx, "two")
    edge = link(ctx, "one", two.id, "depends_on", 0.5, "CI runs first")
    assert (edge.source_id, edge.target_id, edge.type, edge.weight) == (one.id, two.id, "depends_on", 0.5)
    assert (edge.reason, edge.created_at, edge.valid_to) == ("CI runs first", START, None)
    clock.advance(hours=1)
    again = link(ctx, one.id, two.id, "depends_on", 0.75)
    assert (again.id, again.weight, again.reason, again.created_at) == (edge.id, 0.75, "CI runs first", START)
    other = link(ctx, one.id, two.id, "cites")
    back = link(ctx, two.id, one.id, "depends_on")
    assert len({edge.id, other.id, back.id}) == 3


def test_a_link_that_exists_can_be_left_as_it_is(ctx):
    one, two = kept(ctx, "one"), kept(ctx, "two")
    edge = link(ctx, one.id, two.id, "depends_on", 0.5, "CI runs first", keeps=True)
    sequence = last_number(ctx.store)
    assert link(ctx, one.id, two.id, "depends_on", 0.75, "another", keeps=True) == edge
    assert last_number(ctx.store) == sequence
    end_link(ctx, one.id, two.id, "depends_on")
    assert link(ctx, one.id, two.id, "depends_on", 0.75, keeps=True).weight == 0.75


def test_nothing_is_linked_to_itself_or_to_nothing(ctx):
    one = kept(ctx, "one")
    with pytest.raises(Invalid, match="cannot link a memory to itself"):
        link(ctx, one.id, "one", "knows")
    for ends in ((one.id, 99), ("nobody", one.id)):
        with pytest.raises(NotFound):
            link(ctx, *ends, "knows")
    assert list(ctx.store.read().edges(ANY_EDGE)) == []


def test_an_ended_link_stays_as_something_that_was_true(ctx, clock):
    one, two = kept(ctx, "one"), kept(ctx, "two")
    made = link(ctx, one.id, two.id, "knows")
    clock.advance(hours=1)
    ended = end_link(ctx, one.id, two.id, "knows")
    assert (ended.id, ended.valid_to) == (made.id, START + HOUR)
    assert reached(explore(ctx, one.id)) == {"one": 0}
    with pytest.raises(NotFound, match="No link 'knows'"):
        end_link(ctx, one.id, two.id, "knows")
    anew = link(ctx, one.id, two.id, "knows")
    assert anew.id != made.id and reached(explore(ctx, one.id)) == {"one": 0, "two": 1}


@pytest.mark.parametrize(
    "start, options, expected",
    [
        ("a", {}, {"a": 0, "b": 1, "d": 1, "e": 1}),
        ("a", {"depth": 2}, {"a": 0, "b": 1, "d": 1, "e": 1, "c": 2}),
        ("a", {"direction": Direction.OUT}, {"a": 0, "b": 1, "d": 1}),
        ("a", {"direction": Direction.OUT, "depth": 9}, {"a": 0, "b": 1, "d": 1, "c": 2}),
        ("a", {"direction": Direction.IN, "depth": 9}, {"a": 0, "e": 1}),
        ("d", {"direction": Direction.IN, "depth": 2}, {"d": 0, "c": 1, "a": 1, "b": 2, "e": 2}),
        ("a", {"types": ("next",), "direction": Direction.OUT, "depth": 3}, {"a": 0, "b": 1, "c": 2, "d": 3}),
        ("a", {"types": ("nothing",)}, {"a": 0}),
        ("f", {"depth": 10}, {"f": 0}),
    ],
)
def test_a_walk_reaches_what_is_near(ctx, web, start, options, expected):
    found = explore(ctx, web[start], **options)
    assert reached(found) == expected
    distances = [distance for _, distance in found.memories]
    assert distances == sorted(distances)
    assert all(edge.source_id in web.values() for edge in found.edges)


def test_a_walk_tells_the_links_between_what_it_reached(ctx, web):
    found = explore(ctx, "a", depth=2)
    a, b, c, d, e = (web[name] for name in "abcde")
    assert walked(found) == [(a, b, "next"), (b, c, "next"), (c, d, "next"), (e, a, "next"), (a, d, "skip")]


def test_a_walk_ends_at_its_limit(ctx):
    centre = kept(ctx, "centre")
    for number in range(10):
        link(ctx, centre.id, kept(ctx, f"leaf {number}").id, "has")
    found = explore(ctx, centre.id, limit=4, depth=2)
    assert len(found.memories) == 4 and len(found.edges) == 3


def test_walks_pass_no_memory_that_has_left(ctx, web):
    forget(ctx, ["c"])
    assert reached(explore(ctx, "b", depth=5, direction=Direction.OUT)) == {"b": 0}
    assert path(ctx, "b", "d", Direction.OUT).memories == ()
    restore(ctx, [web["c"]])
    assert reached(path(ctx, "b", "d", Direction.OUT)) == {"b": 0, "c": 1, "d": 2}
    supersede(ctx, "c", "a new text for c", None)
    assert path(ctx, "b", "d", Direction.OUT).memories == ()


@pytest.mark.parametrize(
    "start, goal, options, way",
    [
        ("a", "d", {}, "ad"),
        ("a", "d", {"types": ("next",)}, "abcd"),
        ("d", "a", {}, "da"),
        ("e", "d", {}, "ead"),
        ("d", "a", {"direction": Direction.OUT}, ""),
        ("d", "a", {"direction": Direction.IN}, "da"),
        ("c", "e", {}, "cbae"),
        ("a", "f", {}, ""),
        ("a", "a", {}, "a"),
    ],
)
def test_a_path_is_the_shortest_way(ctx, web, start, goal, options, way):
    found = path(ctx, web[start], web[goal], **options)
    titles = [memory.title for memory, _ in found.memories]
    if way == "cbae":
        assert titles in (list("cbae"), list("cdae")), "both are as short"
    else:
        assert titles == list(way)
    assert [distance for _, distance in found.memories] == list(range(len(way)))
    assert len(found.edges) == max(0, len(way) - 1)
    for (left, _), (right, _), edge in zip(found.memories, found.memories[1:], found.edges, strict=False):
        assert {left.id, right.id} == {edge.source_id, edge.target_id}


def test_a_path_can_be_long(ctx):
    chain = [kept(ctx, f"link {number} of the chain").id for number in range(20)]
    for left, right in pairwise(chain):
        link(ctx, left, right, "next")
    assert [memory.id for memory, _ in path(ctx, chain[0], chain[-1]).memories] == chain


def test_an_unknown_place_is_not_found(ctx, web):
    for walk in (lambda: explore(ctx, "nowhere"), lambda: path(ctx, "a", 99), lambda: path(ctx, 99, "a")):
        with pytest.raises(NotFound):
            walk()
