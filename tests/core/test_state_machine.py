"""Any sequence of changes keeps rows, words, vectors, journal and past in agreement."""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from postgres_server import give_back
from support import (
    Clock,
    Uids,
    WordEmbedder,
    everything,
    faults,
    last_number,
    living,
    number_at,
    open_store,
    store_after,
    write,
)

from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_pending, read_as
from mnemic.core.expiry import expire
from mnemic.core.graph import end_link, link
from mnemic.core.history import undo, undo_since
from mnemic.core.memories import Fate, Note, Revision, forget, remember, restore, revise, supersede
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.model.time import HOUR
from mnemic.model.vectors import Embedding
from mnemic.storage import queries
from mnemic.storage.base import WHOLE_CHARACTERS, Pending
from mnemic.storage.queries import each_memory, memory_numbered

MARKERS = ("amber", "birch", "fjord", "heron", "quartz")
NAMESPACES = ("global", "work", "home")

texts = st.lists(st.sampled_from((*MARKERS, "and", "the", "7")), min_size=1, max_size=4).map(" ".join)
titles = st.none() | st.sampled_from(["Alpha", "Beta", "amber notes", "Über alles"])
tags = st.lists(st.sampled_from([*MARKERS[:2], "x"]), max_size=2).map(tuple)
picks = st.integers(0, 1000)


class MemoryMachine(RuleBasedStateMachine):
    """Whatever is done, in whatever order, to a store of this engine."""

    def __init__(self, engine: str):
        super().__init__()
        self.engine = engine
        self.folder = Path(tempfile.mkdtemp(prefix="mnemic-machine-"))
        self.clock, self.uids, self.embedder = Clock(), Uids(), WordEmbedder(window=24)
        self.steps = 0
        self.purged: set[int] = set()
        self.snapshots: list[tuple[int, int, tuple, tuple]] = []
        self.open()

    def open(self):
        self.store = open_store(self.engine, self.folder, durable=False)
        self.store.use_models(self.embedder.name)
        self.ctx = Context(
            store=self.store, embedder=self.embedder, now=self.clock, new_uid=self.uids, actor="machine"
        )

    def teardown(self):
        self.store.close()
        give_back(self.folder)
        shutil.rmtree(self.folder)

    # -- helpers

    def one(self, pick: int, *states: State) -> int:
        """The number of some memory, if there is one in one of *states*, else of any; 1 if there is none."""
        memories = list(each_memory(self.store.read()))
        fitting = [memory for memory in memories if memory.state in states] or memories
        return fitting[pick % len(fitting)].id if fitting else 1

    def living_one(self, pick: int) -> int:
        """The number of some living memory; now and then of one that is not."""
        return self.one(pick, State.LIVING) if pick % 10 else self.one(pick)

    def attempt(self, action, *arguments, **options):
        """What *action* gives; if it is refused, nothing may have changed, and None."""
        expire(self.ctx)  # what is over may leave at any time, and is no part of the action
        before = everything(self.store), last_number(self.store)
        try:
            return action(self.ctx, *arguments, **options)
        except (Conflict, NotFound, Invalid):
            assert (everything(self.store), last_number(self.store)) == before
            return None

    # -- what can be done

    @rule(text=texts, title=titles, tags=tags, namespace=st.sampled_from(NAMESPACES), force=st.booleans())
    def remember_one(self, text, title, tags, namespace, force):
        note = Note(text=text, name=title, tags=tags, namespace=namespace)
        outcome = remember(self.ctx, [note], force=force)
        assert len(outcome.kept) + len(outcome.refused) == 1
        for one in outcome.kept:
            assert memory_numbered(self.store.read(), one.memory.id) == one.memory

    @rule(bodies=st.lists(texts, min_size=2, max_size=12), pick=picks)
    def remember_many(self, bodies, pick):
        links = ((self.one(pick), "after", 1.0),)
        notes = [Note(text=bodies[0], links=links), *(Note(text=body) for body in bodies[1:])]
        self.attempt(remember, notes)

    @rule(text=texts, ttl=st.sampled_from([HOUR, 30 * HOUR]))
    def remember_briefly(self, text, ttl):
        remember(self.ctx, [Note(text=text, ttl=ttl)])

    @rule(pick=picks, text=texts)
    def revise_text(self, pick, text):
        changed = self.attempt(revise, self.living_one(pick), Revision(text=text))
        assert changed is None or changed.content == text

    @rule(pick=picks, text=texts)
    def append(self, pick, text):
        changed = self.attempt(revise, self.living_one(pick), Revision(append=text))
        assert changed is None or changed.statements[-1].text == text

    @rule(pick=picks, title=titles.filter(bool))
    def retitle(self, pick, title):
        self.attempt(revise, self.living_one(pick), Revision(name=title))

    @rule(pick=picks, tags=tags)
    def retag(self, pick, tags):
        self.attempt(revise, self.living_one(pick), Revision(tags=tags))

    @rule(pick=picks, namespace=st.sampled_from(NAMESPACES))
    def move(self, pick, namespace):
        self.attempt(revise, self.living_one(pick), Revision(namespace=namespace))

    @rule(pick=picks, text=texts, title=titles, tags=tags, metadata=st.sampled_from([{}, {"k": [1, None]}]))
    def revise_much(self, pick, text, title, tags, metadata):
        changes = Revision(text=text, name=title, tags=tags, metadata=metadata, priority=len(text) % 10 + 1)
        self.attempt(revise, self.living_one(pick), changes)

    @rule(pick=picks, text=texts)
    def supersede(self, pick, text):
        self.attempt(supersede, self.living_one(pick), text, "better")

    @rule(picked=st.lists(picks, min_size=1, max_size=3))
    def forget(self, picked):
        numbers = [self.living_one(pick) for pick in picked]
        if self.attempt(forget, numbers) is not None:
            left = self.store.read().get(numbers)
            assert all(memory.state is not State.LIVING for memory in left)

    @rule(picked=st.lists(picks, min_size=1, max_size=3))
    def restore(self, picked):
        numbers = [self.one(pick, *set(State) - {State.LIVING}) for pick in picked]
        if self.attempt(restore, numbers) is not None:
            assert all(memory.state is State.LIVING for memory in self.store.read().get(numbers))

    @rule(
        start=picks, end=picks, type=st.sampled_from(["knows", "likes"]), weight=st.sampled_from([0.5, 1.0])
    )
    def link(self, start, end, type, weight):
        self.attempt(link, self.one(start), self.one(end), type, weight)

    @rule(start=picks, end=picks, type=st.sampled_from(["knows", "likes"]))
    def end_link(self, start, end, type):
        self.attempt(end_link, self.one(start), self.one(end), type)

    @rule(limit=st.sampled_from([1, 3, 100]))
    def embed_some(self, limit):
        embed_pending(self.ctx, limit)

    @rule(pick=picks)
    def undo_one(self, pick):
        expire(self.ctx)  # before the look, not between it and the action
        newest = last_number(self.store)
        if not newest:
            return
        before = living(self.store)
        if self.attempt(undo, pick % newest + 1) is None or last_number(self.store) == newest:
            return
        self.clock.advance(seconds=1)
        undo(self.ctx, last_number(self.store))
        assert living(self.store) == before, "taking back a taking back restores what was"

    @rule(pick=picks)
    def undo_one_for_good(self, pick):
        if newest := last_number(self.store):
            self.attempt(undo, pick % newest + 1)

    @precondition(lambda self: self.snapshots)
    @rule(pick=picks)
    def undo_since(self, pick):
        sequence, moment, _, then = self.snapshots[pick % len(self.snapshots)]
        if number_at(self.store, moment) != sequence:
            return  # a clock set back has put later changes at the same moment
        undo_since(self.ctx, moment + 1)
        assert living(self.store) == self.without_the_purged(then)

    @precondition(lambda self: self.steps > 8)
    @rule(pick=picks, rarely=st.integers(0, 4))
    def purge(self, pick, rarely):
        number = self.one(pick)
        if rarely or memory_numbered(self.store.read(), number) is None:
            return
        forget(self.ctx, [number], fate=Fate.PURGED)
        self.purged.add(number)
        assert memory_numbered(self.store.read(), number) is None

    @rule()
    def reopen(self):
        self.store.close()
        self.open()

    @rule(hours=st.sampled_from([0.001, 1, 24, -1]))
    def time_passes(self, hours):
        self.clock.advance(hours=hours)

    # -- what always holds

    @invariant()
    def time_moves(self):
        self.steps += 1
        newest = next(iter(self.store.read().journal(newest_first=True, limit=1)), None)
        moment = max(self.clock(), newest.at if newest else 0)
        if self.steps % 4 == 0:
            self.snapshots.append(
                (last_number(self.store), moment, everything(self.store), living(self.store))
            )
        self.clock.advance(seconds=1)

    @invariant()
    def words_find_what_holds_them(self):
        reader = self.store.read()
        memories = [memory for memory in each_memory(reader) if memory.state is State.LIVING]
        for marker in MARKERS:
            holding = {memory.id: memory for memory in memories if marker in words_of(memory)}
            found = {
                number for number, _ in queries.best_words(reader, [marker], Filter(), every=True, limit=1000)
            }
            assert found == holding.keys()
            assert queries.holders(reader, [marker], None)[marker] == len(holding)
        for namespace in NAMESPACES:
            here = Filter(namespaces=(namespace,))
            found = {
                number for number, _ in queries.best_words(reader, MARKERS, here, every=False, limit=1000)
            }
            assert found == {
                m.id for m in memories if m.namespace == namespace and words_of(m) & set(MARKERS)
            }

    @invariant()
    def vectors_are_those_of_the_texts(self):
        reader = self.store.read()
        memories = {memory.id: memory for memory in each_memory(reader) if memory.state is State.LIVING}
        waiting = {item.memory_id for item in reader.pending(limit=10_000)}
        questions = self.embedder.embed([*MARKERS, "alpha", "über alles"])
        asked = [Embedding.by(self.embedder.name, question) for question in questions]
        near = [
            {near.memory_id: near for near in queries.nearest(reader, q, Filter(), limit=10_000)}
            for q in asked
        ]
        for found in near:
            assert memories.keys() - waiting <= found.keys() <= memories.keys()
        for number in memories.keys() - waiting:
            vectors = self.embedder.embed(list(passages_of(memories[number], self.embedder)))
            for found, best in zip(near, (vectors @ questions.T).max(axis=0), strict=True):
                assert found[number].cosine == pytest.approx(float(best), abs=0.03)

    @invariant()
    def the_living_are_found_by_what_they_say(self):
        if self.steps % 3:
            return

        def work(tx):
            memories = {memory.id: memory for memory in each_memory(tx) if memory.state is State.LIVING}
            for number, memory in memories.items():
                assert number in tx.near_duplicates(memory.content, Filter(), limit=1000)
                assert memories.keys() >= set(tx.near_duplicates(memory.content, Filter(), limit=1000))
                twin = tx.same_texts([memory.content.upper()], None).get(memory.content.upper())
                assert twin in memories if len(memory.statements) == 1 else twin != number

        write(self.ctx.store, work, operation="look", actor="tester", at=self.ctx.now())

    @invariant()
    def nothing_disagrees(self):
        if self.steps % 3 == 0:
            assert faults(self.store) == []

    @invariant()
    def the_past_is_as_it_was(self):
        if not self.snapshots or self.steps % 5:
            return
        for sequence, _, then, _ in (
            self.snapshots[0],
            self.snapshots[len(self.snapshots) // 2],
            self.snapshots[-1],
        ):
            assert everything(store_after(self.store, sequence)) == self.without_the_purged(then)

    def without_the_purged(self, seen):
        memories, edges = seen
        return (
            {number: memory for number, memory in memories.items() if number not in self.purged},
            {
                number: edge
                for number, edge in edges.items()
                if not {edge["source_id"], edge["target_id"]} & self.purged
            },
        )


def words_of(memory) -> set[str]:
    """The words a memory can be found by."""
    return set(re.findall(r"\w+", " ".join((memory.title, memory.content, *memory.tags)).lower()))


def passages_of(memory, embedder):
    """What the model was given to read of a memory: each statement, and the whole if that is not one statement."""
    read_under = {
        "memory_id": memory.id,
        "title": memory.title,
        "summary": memory.summary,
        "kind": memory.kind,
    }
    for statement in memory.statements:
        for start, end in embedder.windows(statement.text):
            yield read_as(Pending(statement_id=statement.id, text=statement.text, **read_under), start, end)
    if len(memory.statements) != 1:
        text = memory.content[:WHOLE_CHARACTERS]
        yield read_as(Pending(statement_id=0, text=text, **read_under), *embedder.windows(text)[0])


def test_rows_words_vectors_journal_and_past_agree_after_any_changes(engine):
    run_state_machine_as_test(
        lambda: MemoryMachine(engine),
        settings=settings(
            max_examples=20 if engine == "sqlite" else 8,
            stateful_step_count=25,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
