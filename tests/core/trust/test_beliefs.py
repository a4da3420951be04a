"""Beliefs: corrected, followed to the latest, told from the first, and contradicted."""

from __future__ import annotations

import pytest
from support import everything, kept, last_number

from mnemic.core.graph import link
from mnemic.core.history import undo
from mnemic.core.memories import find, forget
from mnemic.core.sessions import current, start
from mnemic.core.trust.beliefs import correct, history, resolve
from mnemic.errors import Denied, NotFound
from mnemic.model.access import Grant
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Direction


def links(ctx, number, direction=Direction.OUT):
    edges = ctx.store.read().edges(EdgeFilter(at=(number,), direction=direction))
    return [
        (edge.target_id if direction is Direction.OUT else edge.source_id, edge.type, edge.reason)
        for edge in edges
    ]


def test_a_correction_takes_the_place_of_a_belief(ctx):
    old = kept(ctx, "The meeting is on Monday", kind="fact", tags=("work",), priority=8)
    start(ctx, 7)
    done = correct(ctx, old.id, "The meeting is on Tuesday", confidence=0.6, reason="moved")
    new = find(ctx, done.new.id)
    assert (new.kind, new.content, new.confidence, new.session_id) == (
        *("correction", "The meeting is on Tuesday"),
        *(0.6, 7),
    )
    assert (new.tags, new.priority, new.state) == (("work",), 8, State.LIVING)
    assert (done.old.state, done.old.state_reason, done.old.content) == (
        *(State.SUPERSEDED, "moved"),
        "The meeting is on Monday",
    )
    assert links(ctx, new.id) == [(old.id, "supersedes", "moved")]


def test_a_correction_is_linked_behind_what_came_before_in_its_session(ctx):
    first = correct(ctx, kept(ctx, "one").id, "two").new
    second = correct(ctx, kept(ctx, "three").id, "four").new
    assert first.session_id == second.session_id == current(ctx)
    assert (first.id, "temporal_next", None) in links(ctx, second.id, Direction.IN)


def test_a_correction_stays_in_the_namespace_of_the_belief_and_says_the_same_twice(ctx):
    old = kept(ctx, "same", namespace="work")
    new = correct(ctx, old.id, "same").new
    assert (new.namespace, new.content, new.id != old.id) == ("work", "same", True)


def test_a_correction_can_be_undone(ctx):
    old = kept(ctx, "one")
    before = everything(ctx.store)[0][old.id]
    correct(ctx, old.id, "two")
    undo(ctx, last_number(ctx.store))
    assert everything(ctx.store)[0][old.id] | {"updated_at": 0} == before | {"updated_at": 0}
    assert resolve(ctx, old.id).id == old.id


def test_what_is_not_there_or_not_to_be_seen_cannot_be_corrected(ctx):
    gone, hidden = kept(ctx, "gone"), kept(ctx, "hidden", namespace="theirs")
    forget(ctx, [gone.id])
    size = last_number(ctx.store)
    for caller, number in (
        (ctx, 999),
        (ctx, gone.id),
        (ctx.limited_to(Grant(("mine",), True)), hidden.id),
    ):
        with pytest.raises(NotFound):
            correct(caller, number, "x")
    with pytest.raises(Denied):
        correct(ctx.limited_to(Grant(None, False)), hidden.id, "x")
    assert last_number(ctx.store) == size


def test_a_belief_is_followed_to_its_latest_version(ctx):
    versions = [kept(ctx, "v0").id]
    for n in range(1, 5):
        versions.append(correct(ctx, versions[-1], f"v{n}").new.id)
    assert {resolve(ctx, number).id for number in versions} == {versions[-1]}
    for number in versions:
        assert [memory.content for memory in history(ctx, number)] == ["v0", "v1", "v2", "v3", "v4"]


def test_a_belief_may_have_been_corrected_many_times(ctx):
    first = number = kept(ctx, "v0").id
    for n in range(1, 106):
        number = correct(ctx, number, f"v{n}").new.id
    assert resolve(ctx, first).id == number
    assert len(history(ctx, first)) == len(history(ctx, number)) == 106


def test_correcting_an_old_version_again_leaves_one_latest(ctx):
    first = kept(ctx, "v0").id
    second = correct(ctx, first, "v1").new.id
    third = correct(ctx, first, "v2").new.id
    assert find(ctx, second).state is State.SUPERSEDED
    assert {resolve(ctx, number).id for number in (first, second, third)} == {third}
    assert [target for target, _, _ in links(ctx, third)] == [first, second]
    assert [memory.id for memory in history(ctx, second)] == [first, second, third]


def test_correcting_what_a_link_superseded_leaves_neither_in_use(ctx):
    first, second = kept(ctx, "v0").id, kept(ctx, "v1").id
    link(ctx, second, first, "supersedes")
    done = correct(ctx, first, "v2", reason="moved")
    assert [find(ctx, number).state for number in (first, second)] == [State.SUPERSEDED] * 2
    assert done.old.state_reason == "moved"
    assert {resolve(ctx, number).id for number in (first, second)} == {done.new.id}


def test_a_ring_of_supersession_ends(ctx):
    one, two = kept(ctx, "one"), kept(ctx, "two")
    link(ctx, one.id, two.id, "supersedes")
    link(ctx, two.id, one.id, "supersedes")
    assert {resolve(ctx, one.id).id, resolve(ctx, two.id).id} == {one.id, two.id}
    assert len(history(ctx, one.id)) == 2


def test_a_token_reads_no_versions_where_it_may_not_look(ctx):
    hidden = kept(ctx, "v0", namespace="theirs").id
    new = correct(ctx, hidden, "v1").new.id
    told = []
    for number in (hidden, new, 999):
        with pytest.raises(NotFound) as refused:
            history(ctx.limited_to(Grant(("mine",))), number)
        told.append(str(refused.value).replace(str(number), "N"))
    assert len(set(told)) == 1
    assert len(history(ctx.limited_to(Grant(("theirs",))), hidden)) == 2


def test_a_version_that_was_forgotten_is_passed_over(ctx):
    old = kept(ctx, "v0").id
    new = correct(ctx, old, "v1").new.id
    forget(ctx, [new])
    assert resolve(ctx, old).id == old
    with pytest.raises(NotFound):
        resolve(ctx, new)
