"""Merging: nothing said or linked is lost, and one undo brings both back."""

from __future__ import annotations

import pytest
from support import a_draft, faults, last_number, living, put

from mnemic.core.graph import end_link, link
from mnemic.core.history import undo
from mnemic.core.maintenance.merge import merge
from mnemic.core.memories import find, forget
from mnemic.errors import Conflict, Invalid
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter


@pytest.fixture
def four(ctx):
    drafts = (
        a_draft("", name="Gone", texts=("a", "b"), tags=("x", "y")),
        a_draft("", name="Left", texts=("b", "c"), tags=("y",)),
        a_draft("third"),
        a_draft("fourth"),
    )
    put(ctx.store, *drafts)
    link(ctx, "Gone", "third", "knows", 0.5, "met")
    link(ctx, "fourth", "Gone", "likes")
    link(ctx, "fourth", "Left", "likes")
    link(ctx, "Gone", "Left", "near")
    link(ctx, "Gone", "fourth", "was")
    end_link(ctx, "Gone", "fourth", "was")


def test_statements_tags_and_links_go_over(ctx, four):
    left, gone = merge(ctx, "Gone", "Left")
    assert (left.texts, left.tags) == (["b", "c", "a"], ("y", "x"))
    assert (find(ctx, gone.id).state, gone.state_reason) == (State.FORGOTTEN, f"merged into {left.id}")
    edges = ctx.store.read().edges(EdgeFilter(at=(left.id,)))
    links = sorted(
        (edge.source_id, edge.target_id, edge.type)
        for edge in edges
        if gone.id not in (edge.source_id, edge.target_id)
    )
    assert links == [(2, 3, "knows"), (4, 2, "likes")]
    [knows] = [edge for edge in edges if edge.type == "knows"]
    assert (knows.weight, knows.reason) == (0.5, "met") and faults(ctx.store) == []


def test_one_undo_brings_both_back(ctx, four):
    before = living(ctx.store)
    merge(ctx, "Gone", "Left")
    undo(ctx, last_number(ctx.store))
    memories, edges = living(ctx.store)
    assert edges == before[1]
    assert {n: m["statements"] for n, m in memories.items()} == {
        n: m["statements"] for n, m in before[0].items()
    }
    assert {n: m["tags"] for n, m in memories.items()} == {n: m["tags"] for n, m in before[0].items()}


def test_only_two_that_live_can_be_merged(ctx, four):
    with pytest.raises(Invalid, match="into itself"):
        merge(ctx, "Gone", 1)
    forget(ctx, ["Gone"])
    for pair in ((1, 2), (2, 1)):
        with pytest.raises(Conflict, match="restore it first"):
            merge(ctx, *pair)
