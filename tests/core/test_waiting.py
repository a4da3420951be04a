"""The write lock: reads do not wait for it, and nothing slow is done while it is held."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import NoReturn

import apsw
import pytest

from mnemic.app import DIALECTS, App, dialect
from mnemic.core import known
from mnemic.core.known import Gate, take_in
from mnemic.core.lifecycle import settle, touch
from mnemic.core.memories import Note, Revision, find, forget_matching, revise
from mnemic.core.recall import recall
from mnemic.core.upkeep import embed_pending
from mnemic.core.uses import MOST_WAITING, Use, Uses
from mnemic.errors import Busy, Invalid
from mnemic.model.limits import MAX_PATTERN_WORDS, MAX_QUERY_CHARACTERS
from mnemic.model.search import Filter
from mnemic.settings import Settings
from mnemic.storage.sqlite.reader import SqliteReader
from mnemic.storage.sqlite.turns import Turns
from mnemic.surfaces.bridge import answer
from read_calls import NEED_MORE, READS, arguments_of
from support import a_query, kept


@contextmanager
def somebody_writing(ctx) -> Iterator[None]:
    """Another program that has the file locked, as SQLite locks it."""
    other = apsw.Connection(str(ctx.store.path))
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.close()


@pytest.fixture
def waits(monkeypatch) -> list[str]:
    """Every time somebody got into line to write."""
    waited: list[str] = []
    acquire = Turns.acquire

    def told(turns: Turns) -> None:
        waited.append("waited")
        acquire(turns)

    monkeypatch.setattr(Turns, "acquire", told)
    return waited


def test_every_tool_that_only_reads_is_called_here():
    reading = {
        (name, tool)
        for name in DIALECTS
        for tool, operation in dialect(name).operations.items()
        if operation.read_only and tool not in NEED_MORE and "workspace" not in tool
    }
    assert reading == {(name, tool) for name, tools in READS.items() for tool in tools}


@pytest.mark.parametrize(("name", "tool"), [(name, tool) for name, tools in READS.items() for tool in tools])
def test_a_tool_that_only_reads_waits_for_no_writer(ctx, waits, name, tool):
    memory = kept(ctx, "the heron stands in the pond", title="Heron")
    kept(ctx, "the pond is pending", title="Pond")
    del waits[:]
    with somebody_writing(ctx):
        outcome = answer(dialect(name), ctx, tool, arguments_of(name, tool, memory))
    assert outcome.error is None, outcome.rendered.text
    assert waits == []


def test_a_recall_that_meets_the_worker_as_it_writes_vectors_has_them(ctx, fresh, monkeypatch):
    kept(ctx, "the heron stands in the pond")
    worker = replace(ctx, store=fresh())
    monkeypatch.setattr("mnemic.core.recall.embed_pending", lambda *args, **more: _is_busy(worker))
    monkeypatch.setattr("mnemic.core.recall.LOOKS", 1_000)  # however busy this machine is
    assert recall(ctx, a_query("heron")).pending == 0


def _is_busy(worker) -> NoReturn:
    """What a recall meets when it wants to write: somebody who writes the same vectors right now."""
    threading.Timer(0.002, embed_pending, (worker, 8)).start()
    raise Busy("somebody writes")


def test_a_use_that_meets_a_locked_store_is_counted_with_the_next(ctx, waits):
    memory = kept(ctx, "the heron stands in the pond")
    del waits[:]
    with somebody_writing(ctx):
        assert recall(ctx, a_query("heron")).hits
        assert find(ctx, memory.id).access_count == 0
    recall(ctx, a_query("heron"))
    assert find(ctx, memory.id).access_count == 2
    assert waits == []


def test_a_use_that_met_a_locked_store_is_counted_when_the_store_is_closed(ctx, fresh):
    memory = kept(ctx, "the heron stands in the pond")
    with somebody_writing(ctx):
        touch(ctx, [memory])
    App(Settings(), ctx).close()
    assert find(replace(ctx, store=fresh()), memory.id).access_count == 1


def test_gathered_uses_go_on_waiting_while_the_store_is_locked(ctx, waits):
    gathering = replace(ctx, uses=Uses())
    memory = kept(ctx, "the heron stands in the pond")
    del waits[:]
    with somebody_writing(ctx):
        touch(gathering, [memory])
        settle(gathering)
        assert gathering.uses.are_waiting.is_set()
    settle(gathering)
    assert find(ctx, memory.id).access_count == 1 and waits == []


def test_no_more_uses_wait_than_there_is_room_for(ctx):
    memory = kept(ctx, "the heron stands in the pond")
    with somebody_writing(ctx):
        for _ in range(MOST_WAITING + 5):
            ctx.deferred.add(Use(ctx.actor, [memory], ctx.now()))
    settle(ctx)
    assert find(ctx, memory.id).access_count == MOST_WAITING


# -- what is done before the transaction


def test_what_is_to_be_forgotten_is_looked_for_before_the_transaction(ctx, monkeypatch):
    kept(ctx, "the heron stands in the pond")
    in_transaction = []
    words = SqliteReader.words

    def watched(reader, *args, **kwargs):
        in_transaction.append(reader._connection.in_transaction)
        return words(reader, *args, **kwargs)

    monkeypatch.setattr(SqliteReader, "words", watched)
    assert len(forget_matching(ctx, Filter(), pattern="heron pond")) == 1
    assert in_transaction == [False]


def test_what_is_changed_while_it_is_looked_for_is_not_forgotten(ctx, monkeypatch):
    changed, left = kept(ctx, "the heron stands in the pond"), kept(ctx, "another heron in a pond")
    memories = SqliteReader.memories

    def slowly(reader, numbers):
        found = memories(reader, numbers)
        if not reader._connection.in_transaction:
            monkeypatch.undo()
            revise(ctx, changed.id, Revision(text="the swan stands in the pond"))
        return found

    monkeypatch.setattr(SqliteReader, "memories", slowly)
    assert [memory.id for memory in forget_matching(ctx, Filter(), pattern="heron")] == [left.id]
    assert find(ctx, changed.id).content == "the swan stands in the pond"


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("heron " * MAX_QUERY_CHARACTERS, "longer than 10,000 characters"),
        (" ".join(f"w{number}" for number in range(MAX_PATTERN_WORDS + 1)), "more than 256 different words"),
        ("?!", "has no words"),
    ],
)
def test_a_pattern_is_bounded(ctx, waits, pattern, said):
    with pytest.raises(Invalid, match=f"pattern: {said}"):
        forget_matching(ctx, Filter(), pattern=pattern)
    assert waits == []


def test_the_notes_of_one_call_are_compared_before_the_transaction(ctx, monkeypatch):
    depths = []
    likeness = known.likeness

    def watched(*texts):
        depths.append(ctx.store.writing._depth)
        return likeness(*texts)

    monkeypatch.setattr(known, "likeness", watched)
    text = "the heron stands in the pond"
    notes = [
        Note(text=text, title="one"),
        Note(text=text, title="two"),
        Note(text="rain falls", title="three"),
    ]
    taken = take_in(ctx, notes, Gate(namespaces=None, threshold=0.6))
    assert [one.memory is not None for one in taken.notes] == [True, False, True]
    assert taken.notes[1].twin and taken.notes[1].twin.memory.id == taken.notes[0].memory.id
    assert depths and set(depths) == {0}
