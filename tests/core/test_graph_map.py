"""The map of the graph: what is on it, and its clusters."""

from __future__ import annotations

import pytest
from support import kept

from mnemic.core import graph_map
from mnemic.core.graph import link
from mnemic.core.graph_map import clusters
from mnemic.core.memories import forget
from mnemic.model.access import Grant
from mnemic.model.graph import Link


@pytest.fixture
def linked(ctx):
    """Two triangles in two namespaces, joined by one link; and a memory without any."""
    for space in ("ours", "theirs"):
        for letter in "abc":
            kept(ctx, f"{space} {letter}", namespace=space)
    kept(ctx, "Alone")
    for source, target in ((1, 2), (2, 3), (3, 1), (4, 5), (5, 6), (6, 4)):
        link(ctx, source, target, "needs")
    link(ctx, 3, 4, "because_of")
    return ctx


def test_everything_that_is_linked_is_on_the_map(linked):
    found = graph_map.whole(linked, None)
    assert [node.id for node in found.nodes] == [1, 2, 3, 4, 5, 6]
    assert len(found.links) == 7
    assert found.types == {"needs": 6, "because_of": 1}
    assert found.left_out == 0


def test_a_namespace_or_a_type_narrows_it(linked):
    ours = graph_map.whole(linked, "ours")
    assert ({node.namespace for node in ours.nodes}, len(ours.links)) == ({"ours"}, 3)
    across = graph_map.whole(linked, None, ["because_of"])
    assert [node.id for node in across.nodes] == [3, 4]


def test_what_was_forgotten_is_not_on_it(linked):
    forget(linked, [1])
    assert [node.id for node in graph_map.whole(linked, "ours").nodes] == [2, 3]


def test_with_little_room_the_best_linked_are_shown_with_their_links(linked):
    found = graph_map.whole(linked, None, limit=2)
    assert [node.id for node in found.nodes] == [3, 4]
    assert (len(found.links), found.left_out) == (1, 4)


def test_a_limited_caller_sees_its_own_part(linked):
    found = graph_map.whole(linked.limited_to(Grant(("theirs",))), None)
    assert [node.id for node in found.nodes] == [4, 5, 6]


def test_around_a_memory(linked):
    assert [node.id for node in graph_map.around(linked, 1, None, 1, limit=9).nodes] == [1, 2, 3]
    assert len(graph_map.around(linked, 1, None, 3, limit=9).nodes) == 6


def test_clusters_are_the_parts_that_are_densely_linked():
    cliques = [[1, 2, 3, 4], [5, 6, 7]]
    links = [Link(0, one, two, "x", 1.0) for part in cliques for one in part for two in part if one < two]
    found = clusters(range(1, 9), [*links, Link(0, 4, 5, "x", 1.0)])
    assert [found[number] for number in (1, 2, 3, 4)] == [0] * 4
    assert [found[number] for number in (5, 6, 7)] == [1] * 3
    assert found[8] == 2
