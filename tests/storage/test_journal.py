"""The journal: every change in order, what was done together, who did it and when."""

from __future__ import annotations

import uuid
from threading import Thread

import pytest
from support import (
    START,
    a_draft,
    change,
    faults,
    last_number,
    number_at,
    position_of,
    put,
    store_after,
    write,
)

from mnemic.errors import Conflict
from mnemic.model.change import BEGINNING, Position, Subject
from mnemic.model.enums import State
from mnemic.model.filter import ChangeFilter
from mnemic.model.graph import EdgeDraft
from mnemic.model.time import DAY, HOUR
from mnemic.storage.queries import count, edge_numbered, session_called


def test_a_birth_a_change_and_a_death_are_reported_by_the_fields_that_differ(store):
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

    def work(tx):
        tx.insert_edge(EdgeDraft(1, 2, "knows"))
        session_called(tx, "global", "talk")

    write(store, work, operation="link", actor="anna", at=START + 2)
    rows = list(store.read().journal())
    assert [(row.sequence, row.batch) for row in rows] == [(1, 1), (2, 1), (3, 3), (4, 3)]
    assert [row.subject for row in rows] == [Subject.MEMORY, Subject.MEMORY, Subject.EDGE, Subject.SESSION]
    assert [(row.actor, row.operation, row.at) for row in rows[2:]] == [("anna", "link", START + 2)] * 2
    assert last_number(store) == 4


def test_one_transaction_can_stand_for_several(store):
    def work(tx):
        tx.journal_as(operation="remember", actor="bert", at=START)
        tx.insert(a_draft("a"), uid=str(uuid.uuid4()))
        tx.insert(a_draft("b"), uid=str(uuid.uuid4()))
        tx.journal_as(operation="link", actor="carl", at=START + 1)
        tx.insert_edge(EdgeDraft(1, 2, "knows", id=7))

    write(store, work, operation="import", actor="anna", at=START + 9)
    told = [(row.batch, row.operation, row.actor, row.at) for row in store.read().journal()]
    assert told == [(1, "remember", "bert", START)] * 2 + [(3, "link", "carl", START + 1)]
    assert edge_numbered(store.read(), 7) is not None and faults(store) == []

    def work(tx):
        tx.journal_as(operation="remember", actor="bert", at=START + 2)
        tx.insert(a_draft("c"), uid=str(uuid.uuid4()))
        tx.journal_as(operation="link", actor="carl", at=START + 3)
        tx.insert_edge(EdgeDraft(1, 2, "likes", id=7))

    with pytest.raises(Conflict):
        write(store, work, operation="import", actor="anna", at=START + 9)
    assert last_number(store) == 3


@pytest.mark.only_on("sqlite")  # numbers of a sequence are drawn, not taken back
def test_a_transaction_that_failed_leaves_no_gap(store):
    put(store, a_draft("a", name="Sky"))
    with pytest.raises(Conflict):
        put(store, a_draft("b", name="Sky"))
    put(store, a_draft("c"))
    assert [row.sequence for row in store.read().journal()] == [1, 2]


def test_the_journal_can_be_asked_for_a_part(store):
    one, two = put(store, a_draft("one"), a_draft("two"), at=START)
    write(
        store,
        lambda tx: tx.insert_edge(EdgeDraft(one.id, two.id, "knows")),
        operation="link",
        actor="anna",
        at=START + HOUR,
    )
    change(store, two, title="Two", at=START + DAY)

    def numbers(limit=None, newest_first=False, **wanted):
        rows = store.read().journal(ChangeFilter(**wanted), limit=limit, newest_first=newest_first)
        return [row.sequence for row in rows]

    assert numbers() == [1, 2, 3, 4]
    assert numbers(newest_first=True) == [4, 3, 2, 1]
    assert numbers(newest_first=True, limit=2) == [4, 3]
    assert numbers(limit=0) == []
    assert numbers(after=position_of(store, 2)) == [3, 4] and numbers(after=store.newest()) == []
    assert numbers(sequences=(4, 2, 9)) == [2, 4] and numbers(batch=1) == [1, 2] and numbers(batch=2) == []
    assert numbers(subject=Subject.EDGE) == [3]
    assert numbers(subject=Subject.MEMORY, subject_ids=(two.id,)) == [2, 4]
    assert numbers(since=START + HOUR) == [3, 4] and numbers(until=START + HOUR) == [1, 2, 3]
    assert numbers(since=START + 1, until=START + HOUR) == [3]
    assert numbers(actor="anna") == [3]


def test_a_moment_leads_to_the_newest_change_made_by_then(store):
    moments = [START, START, START + 10, START + 20, START + 20, START + 20, START + 35]
    for index, moment in enumerate(moments):
        put(store, a_draft(f"memory {index}"), at=moment)
    for moment in range(START - 2, START + 40):
        newest = max((n for n, at in enumerate(moments, 1) if at <= moment), default=0)
        assert number_at(store, moment) == newest


def test_a_clock_set_back_does_not_turn_the_journal_around(store):
    put(store, a_draft("one"), at=START + DAY)
    [two] = put(store, a_draft("two"), at=START)
    rows = list(store.read().journal())
    assert [row.at for row in rows] == [START + DAY, START + DAY]
    assert number_at(store, START) == 0 and number_at(store, START + DAY) == 2
    assert two.created_at == START, "what is stored has the time of the clock"
    put(store, a_draft("three"), at=START + 2 * DAY)
    assert number_at(store, START + DAY) == 2
    assert count(store_after(store, 1).read()) == 1


def test_what_a_draft_says_of_its_birth_does_not_move_the_journal(store):
    [memory] = put(store, a_draft("one", created_at=START - DAY), at=START)
    assert (memory.created_at, memory.updated_at) == (START - DAY, START - DAY)
    assert number_at(store, START - 1) == 0


def test_two_handles_write_one_journal(fresh):
    left, right = fresh(), fresh()
    for index in range(6):
        store = (left, right)[index % 2]
        write(
            store,
            lambda tx: tx.insert(a_draft(f"memory {index}"), uid=str(uuid.uuid4())),
            actor=f"actor {index % 2}",
            at=START + index,
        )
    rows = list(left.read().journal())
    assert rows == list(right.read().journal())
    assert [row.sequence for row in rows] == [1, 2, 3, 4, 5, 6]
    assert last_number(left) == last_number(right) == 6


def test_a_follower_goes_on_where_it_stopped(store):
    put(store, a_draft("one"), a_draft("two"))
    assert store.newest() == position_of(store, 2) > BEGINNING
    first = list(store.read().changes(BEGINNING, limit=1))
    put(store, a_draft("three"))
    rest = list(store.read().changes(first[-1].position))
    assert [change.sequence for change in first + rest] == [1, 2, 3]
    assert rest[-1].position == store.newest() and list(store.read().changes(store.newest())) == []


def test_a_position_survives_as_text(store):
    put(store, a_draft("one"))
    newest = store.newest()
    assert Position.parse(str(newest)) == newest and Position.parse(str(BEGINNING)) == BEGINNING
    assert Position.parse("7.12") == Position(7, 12) > Position(6, 99)
    for nonsense in ("", "x", "1.2.3", "."):
        with pytest.raises(ValueError):
            Position.parse(nonsense)


def test_a_wait_ends_with_a_change_or_when_its_time_is_over(store, fresh):
    assert store.wait(BEGINNING, 0.01) == BEGINNING
    for writer in (store, fresh()):
        before = store.newest()
        thread = Thread(target=put, args=(writer, a_draft(f"by {id(writer)}")))
        thread.start()
        assert store.wait(before, 60) > before
        thread.join()
    assert store.wait(BEGINNING, 60) == store.newest(), "there is something already"


def test_a_wait_ends_when_the_store_is_closed(fresh):
    store = fresh()
    thread = Thread(target=store.wait, args=(store.newest(), 3600))
    thread.start()
    store.close()
    thread.join(60)
    assert not thread.is_alive()
