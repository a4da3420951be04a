"""The journal: every change in order, what was done together, who did it and when."""

from __future__ import annotations

import uuid

import pytest

from mnemic.errors import Conflict
from mnemic.model.journal import Subject
from mnemic.model.values import DAY, HOUR, State
from support import START, a_draft, change, put


def test_a_birth_a_change_and_a_death_are_told_by_the_fields_that_differ(store):
    [memory] = put(store, a_draft("one text", tags=("a",)), at=START)
    changed = change(store, memory, texts=("one text", "two"), tags=(), metadata={"k": 1}, at=START + 1)
    change(store, changed, state=State.FORGOTTEN, state_reason="why", at=START + 2)
    birth, revision, death = store.read().journal()
    assert birth.before is None
    assert birth.after["statements"] == ["one text"] and birth.after["tags"] == ["a"]
    assert birth.after["title"] == "one text" and birth.after["uid"] == memory.uid
    assert "summary" not in birth.after, "what is unset is not told"
    assert revision.before == {"statements": ["one text"], "tags": ["a"], "metadata": {}, "updated_at": START}
    assert revision.after == {
        "statements": ["one text", "two"],
        "tags": [],
        "metadata": {"k": 1},
        "updated_at": START + 1,
    }
    assert death.before == {"state": "living", "state_reason": None, "updated_at": START + 1}
    assert death.after == {"state": "forgotten", "state_reason": "why", "updated_at": START + 2}
    assert {row.subject_id for row in (birth, revision, death)} == {memory.id}


def test_changes_are_numbered_in_order_and_batched_by_transaction(store):
    put(store, a_draft("a"), a_draft("b"), at=START)
    put(store, at=START + 1)
    with store.write(operation="link", actor="anna", at=START + 2) as tx:
        tx.add_edge(1, 2, "knows")
        tx.session("global", "talk")
    rows = list(store.read().journal())
    assert [(row.sequence, row.batch) for row in rows] == [(1, 1), (2, 1), (3, 3), (4, 3)]
    assert [row.subject for row in rows] == [Subject.MEMORY, Subject.MEMORY, Subject.EDGE, Subject.SESSION]
    assert [(row.actor, row.operation, row.at) for row in rows[2:]] == [("anna", "link", START + 2)] * 2
    assert store.sequence() == 4


def test_one_transaction_can_stand_for_several(store):
    with store.write(operation="import", actor="anna", at=START + 9) as tx:
        tx.journal_as(operation="remember", actor="bert", at=START)
        tx.add(a_draft("a"), uid=str(uuid.uuid4()))
        tx.add(a_draft("b"), uid=str(uuid.uuid4()))
        tx.journal_as(operation="link", actor="carl", at=START + 1)
        tx.add_edge(1, 2, "knows", id=7)
    told = [(row.batch, row.operation, row.actor, row.at) for row in store.read().journal()]
    assert told == [(1, "remember", "bert", START)] * 2 + [(3, "link", "carl", START + 1)]
    assert store.read().edge(7) is not None and store.check() == []
    with pytest.raises(Conflict), store.write(operation="import", actor="anna", at=START + 9) as tx:
        tx.journal_as(operation="remember", actor="bert", at=START + 2)
        tx.add(a_draft("c"), uid=str(uuid.uuid4()))
        tx.journal_as(operation="link", actor="carl", at=START + 3)
        tx.add_edge(1, 2, "likes", id=7)
    assert store.sequence() == 3


def test_a_transaction_that_failed_leaves_no_gap(store):
    put(store, a_draft("a", title="Sky"))
    with pytest.raises(Conflict):
        put(store, a_draft("b", title="Sky"))
    put(store, a_draft("c"))
    assert [row.sequence for row in store.read().journal()] == [1, 2]


def test_the_journal_can_be_asked_for_a_part(store):
    one, two = put(store, a_draft("one"), a_draft("two"), at=START)
    with store.write(operation="link", actor="anna", at=START + HOUR) as tx:
        tx.add_edge(one.id, two.id, "knows")
    change(store, two, title="Two", at=START + DAY)

    def numbers(**wanted):
        return [row.sequence for row in store.read().journal(**wanted)]

    assert numbers() == [1, 2, 3, 4]
    assert numbers(newest_first=True) == [4, 3, 2, 1]
    assert numbers(newest_first=True, limit=2) == [4, 3]
    assert numbers(limit=0) == []
    assert numbers(after=2) == [3, 4] and numbers(after=4) == []
    assert numbers(subject=Subject.EDGE) == [3]
    assert numbers(subject=Subject.MEMORY, subject_ids=[two.id]) == [2, 4]
    assert numbers(since=START + HOUR) == [3, 4] and numbers(until=START + HOUR) == [1, 2, 3]
    assert numbers(since=START + 1, until=START + HOUR) == [3]
    assert numbers(actor="anna") == [3]


def test_a_moment_leads_to_the_newest_change_made_by_then(store):
    moments = [START, START, START + 10, START + 20, START + 20, START + 20, START + 35]
    for index, moment in enumerate(moments):
        put(store, a_draft(f"memory {index}"), at=moment)
    for moment in range(START - 2, START + 40):
        newest = max((n for n, at in enumerate(moments, 1) if at <= moment), default=0)
        assert store.sequence_at(moment) == newest


def test_a_clock_set_back_does_not_turn_the_journal_around(store):
    put(store, a_draft("one"), at=START + DAY)
    [two] = put(store, a_draft("two"), at=START)
    rows = list(store.read().journal())
    assert [row.at for row in rows] == [START + DAY, START + DAY]
    assert store.sequence_at(START) == 0 and store.sequence_at(START + DAY) == 2
    assert two.created_at == START + DAY
    put(store, a_draft("three"), at=START + 2 * DAY)
    assert store.sequence_at(START + DAY) == 2
    assert store.at(1).read().count() == 1


def test_what_a_draft_says_of_its_birth_does_not_move_the_journal(store):
    [memory] = put(store, a_draft("one", created_at=START - DAY), at=START)
    assert (memory.created_at, memory.updated_at) == (START - DAY, START - DAY)
    assert store.sequence_at(START - 1) == 0


def test_two_handles_write_one_journal(fresh):
    left, right = fresh(), fresh()
    for index in range(6):
        store = (left, right)[index % 2]
        with store.write(operation="x", actor=f"actor {index % 2}", at=START + index) as tx:
            tx.add(a_draft(f"memory {index}"), uid=str(uuid.uuid4()))
    rows = list(left.read().journal())
    assert rows == list(right.read().journal())
    assert [row.sequence for row in rows] == [1, 2, 3, 4, 5, 6]
    assert left.sequence() == right.sequence() == 6
