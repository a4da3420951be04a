"""Bulk edits: one transaction, one undo."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import kept, living

from mnemic.core.bulk import BulkEdit, edit
from mnemic.core.graph import link
from mnemic.core.history import undo
from mnemic.core.maintenance.merge import merge_all
from mnemic.core.memories import find, forget
from mnemic.errors import Conflict, Denied
from mnemic.model.access import Grant


@pytest.fixture
def noted(ctx):
    """The context, and the numbers of the transactions it has made."""
    numbers: list[int] = []
    return replace(ctx, committed=numbers.append), numbers


def test_an_edit_changes_all_and_one_undo_takes_it_back(noted, store):
    ctx, numbers = noted
    one, two = kept(ctx, "One thing", tags=("old", "red")), kept(ctx, "Another thing")
    before = living(store)
    changed = edit(
        ctx,
        [one.id, two.id],
        BulkEdit(add_tags=("new",), remove_tags=("old",), namespace="there", kind="fact", priority=9),
    )
    assert [memory.tags for memory in changed] == [("red", "new"), ("new",)]
    assert {(memory.namespace, memory.kind, memory.priority) for memory in changed} == {("there", "fact", 9)}
    assert len(undo(ctx, numbers[-1])) == 2
    assert {memory["namespace"] for memory in living(store)[0].values()} == {"global"}
    assert living(store)[0].keys() == before[0].keys()


def test_all_or_none(noted):
    ctx, numbers = noted
    one, two = kept(ctx, "One thing"), kept(ctx, "Another thing")
    forget(ctx, [two.id])
    made = len(numbers)
    with pytest.raises(Conflict):
        edit(ctx, [one.id, two.id], BulkEdit(add_tags=("x",)))
    assert find(ctx, one.id).tags == ()
    assert len(numbers) == made


def test_a_limited_caller_moves_nothing_out_of_its_namespaces(ctx):
    mine = kept(ctx, "Mine", namespace="mine")
    with pytest.raises(Denied):
        edit(ctx.limited_to(Grant(("mine",))), [mine.id], BulkEdit(namespace="theirs"))


def test_several_are_merged_in_one_step(noted):
    ctx, numbers = noted
    kept_one, one, two = (
        kept(ctx, "Stays"),
        kept(ctx, "Goes", tags=("a",)),
        kept(ctx, "Goes too", tags=("b",)),
    )
    far = kept(ctx, "Far away")
    link(ctx, two.id, far.id, "needs")
    made = len(numbers)
    left, gone = merge_all(ctx, [one.id, two.id], kept_one.id)
    assert left.texts == ["Stays", "Goes", "Goes too"]
    assert (left.tags, len(gone), len(numbers) - made) == (("a", "b"), 2, 1)
    undo(ctx, numbers[-1])
    assert find(ctx, kept_one.id).texts == ["Stays"]
    assert find(ctx, one.id).state == find(ctx, two.id).state == "living"
