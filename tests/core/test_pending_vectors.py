"""The write lock: reads do not wait for it, and nothing slow is done while it is held."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, NoReturn

import pytest
from read_calls import NEED_MORE, READS, arguments_of
from support import WordEmbedder, a_query, kept, write

from mnemic.app import DIALECTS, App, dialect
from mnemic.core.embedding_queue import embed_pending
from mnemic.core.memories import Note, Revision, find, forget_matching, revise
from mnemic.core.recall import recall
from mnemic.core.retention import settle, touch
from mnemic.core.usage import MOST_WAITING, Use, Uses
from mnemic.dialects.execution import answer
from mnemic.dialects.lorekeeper import dedup
from mnemic.dialects.lorekeeper.dedup import Gate, store_notes
from mnemic.errors import Busy, Invalid
from mnemic.model.filter import Filter
from mnemic.model.limits import MAX_PATTERN_WORDS, MAX_QUERY_CHARACTERS
from mnemic.settings import Settings
from mnemic.storage.base import Writer


@pytest.fixture
def somebody_writing(fresh) -> Callable[[], AbstractContextManager[None]]:
    """Gives a block during which somebody else is in the middle of a change to the store of `ctx`."""
    other = fresh()

    @contextmanager
    def block() -> Iterator[None]:
        has_begun, may_end = Event(), Event()

        def work(tx: Writer) -> None:
            tx.sessions()  # an engine may take its lock together with the first statement
            has_begun.set()
            may_end.wait()

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write, other, work)
            has_begun.wait()
            try:
                yield
            finally:
                may_end.set()
                writing.result()

    return block


@dataclass
class Changes:
    """What is known of the changes to a store: how many are under way, and how often one could have waited."""

    under_way: int = 0
    waits: int = 0


@pytest.fixture
def changes(ctx, monkeypatch) -> Changes:
    """The changes to the store of `ctx`."""
    seen, store, change = Changes(), ctx.store, type(ctx.store).change

    def watched(self, *args: Any, waits: bool = True, **more: Any) -> Any:
        if self is not store:
            return change(self, *args, waits=waits, **more)
        seen.waits += waits
        seen.under_way += 1
        try:
            return change(self, *args, waits=waits, **more)
        finally:
            seen.under_way -= 1

    monkeypatch.setattr(type(store), "change", watched)
    return seen


def test_every_tool_that_only_reads_is_called_here():
    reading = {
        (name, tool)
        for name in DIALECTS
        for tool, operation in dialect(name).operations.items()
        if operation.read_only and tool not in NEED_MORE and "workspace" not in tool
    }
    assert reading == {(name, tool) for name, tools in READS.items() for tool in tools}


@pytest.mark.parametrize(("name", "tool"), [(name, tool) for name, tools in READS.items() for tool in tools])
def test_a_tool_that_only_reads_waits_for_no_writer(ctx, name, tool, somebody_writing, changes, monkeypatch):
    monkeypatch.setattr(
        "mnemic.core.embedding_queue.FRESH_LOOKS", 2
    )  # else two seconds, for vectors that will not come
    memory = kept(ctx, "the heron stands in the pond", name="Heron")
    kept(ctx, "the pond is pending", name="Pond")
    changes.waits = 0
    with somebody_writing():
        outcome = answer(dialect(name), ctx, tool, arguments_of(name, tool, memory))
    assert outcome.error is None, outcome.rendered.text
    assert changes.waits == 0


def test_a_recall_that_meets_the_worker_as_it_writes_vectors_has_them(ctx, fresh, monkeypatch):
    kept(ctx, "the heron stands in the pond")
    worker = replace(ctx, store=fresh())

    def met(*args: object, **more: object) -> NoReturn:
        pool.submit(embed_pending, worker, 8)
        raise Busy("the worker writes the same vectors")

    monkeypatch.setattr("mnemic.core.embedding_queue.embed_pending", met)
    monkeypatch.setattr("mnemic.core.embedding_queue.LOOKS", 1_000)  # however busy this machine is
    with ThreadPoolExecutor(1) as pool:
        assert recall(ctx, a_query("heron")).pending == 0


def test_vectors_that_meet_a_locked_store_are_stored_once_it_is_free(ctx, somebody_writing):
    kept(ctx, "the heron stands in the pond")

    class Locking(WordEmbedder):
        def embed(self, texts):
            locked.enter_context(somebody_writing())
            return super().embed(texts)

    with ExitStack() as locked, pytest.raises(Busy):
        embed_pending(replace(ctx, embedder=Locking()), 8, waits=False)
    deadline = time.monotonic() + 30
    while ctx.store.read().backlog() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ctx.store.read().backlog() == 0


def test_a_use_that_meets_a_locked_store_is_counted_with_the_next(ctx, somebody_writing, changes):
    memory = kept(ctx, "the heron stands in the pond")
    changes.waits = 0
    with somebody_writing():
        assert recall(ctx, a_query("heron")).hits
        assert find(ctx, memory.id).access_count == 0
    recall(ctx, a_query("heron"))
    assert find(ctx, memory.id).access_count == 2
    assert changes.waits == 0


def test_a_use_that_met_a_locked_store_is_counted_when_the_store_is_closed(ctx, fresh, somebody_writing):
    memory = kept(ctx, "the heron stands in the pond")
    with somebody_writing():
        touch(ctx, [memory])
    App(Settings(), ctx).close()
    assert find(replace(ctx, store=fresh()), memory.id).access_count == 1


def test_gathered_uses_go_on_waiting_while_the_store_is_locked(ctx, somebody_writing, changes):
    gathering = replace(ctx, uses=Uses())
    memory = kept(ctx, "the heron stands in the pond")
    changes.waits = 0
    with somebody_writing():
        touch(gathering, [memory])
        settle(gathering)
        assert gathering.uses.are_waiting.is_set()
    settle(gathering)
    assert find(ctx, memory.id).access_count == 1 and changes.waits == 0


def test_no_more_uses_wait_than_there_is_room_for(ctx, somebody_writing):
    memory = kept(ctx, "the heron stands in the pond")
    with somebody_writing():
        for _ in range(MOST_WAITING + 5):
            ctx.deferred.add(Use(ctx.actor, [memory], ctx.now()))
    settle(ctx)
    assert find(ctx, memory.id).access_count == MOST_WAITING


# -- what is done before the transaction


def test_what_is_to_be_forgotten_is_looked_for_before_the_transaction(ctx, monkeypatch):
    kept(ctx, "the heron stands in the pond")
    in_transaction = []
    reading = type(ctx.store.read())
    candidates = reading.candidates

    def watched(reader, *args, **kwargs):
        in_transaction.append(hasattr(reader, "insert"))
        return candidates(reader, *args, **kwargs)

    monkeypatch.setattr(reading, "candidates", watched)
    assert len(forget_matching(ctx, Filter(), pattern="heron pond")) == 1
    assert in_transaction == [False]


def test_what_is_changed_while_it_is_looked_for_is_not_forgotten(ctx, monkeypatch):
    changed, left = kept(ctx, "the heron stands in the pond"), kept(ctx, "another heron in a pond")
    reading = type(ctx.store.read())
    get = reading.get

    def slowly(reader, numbers):
        found = get(reader, numbers)
        if not hasattr(reader, "insert"):
            monkeypatch.undo()
            revise(ctx, changed.id, Revision(text="the swan stands in the pond"))
        return found

    monkeypatch.setattr(reading, "get", slowly)
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
def test_a_pattern_is_bounded(ctx, pattern, said, changes):
    with pytest.raises(Invalid, match=f"pattern: {said}"):
        forget_matching(ctx, Filter(), pattern=pattern)
    assert changes.waits == 0


def test_the_notes_of_one_call_are_compared_before_the_transaction(ctx, monkeypatch, changes):
    depths = []
    jaccard = dedup.jaccard

    def watched(*texts):
        depths.append(changes.under_way)
        return jaccard(*texts)

    monkeypatch.setattr(dedup, "jaccard", watched)
    text = "the heron stands in the pond"
    notes = [
        Note(text=text, name="one"),
        Note(text=text, name="two"),
        Note(text="rain falls", name="three"),
    ]
    taken = store_notes(ctx, notes, Gate(namespaces=None, threshold=0.6))
    assert [one.memory is not None for one in taken.notes] == [True, False, True]
    assert taken.notes[1].twin and taken.notes[1].twin.memory.id == taken.notes[0].memory.id
    assert depths and set(depths) == {0}
