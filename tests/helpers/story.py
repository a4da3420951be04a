"""A store to which anything may happen, for tests that compare what is kept of its past."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from support import START, WordEmbedder, a_draft, embed_all, open_store, write

from mnemic.errors import Conflict
from mnemic.model.enums import State
from mnemic.model.filter import ANY_EDGE
from mnemic.model.graph import EdgeDraft, EdgePatch
from mnemic.model.memory import MemoryPatch
from mnemic.model.session import SessionPatch
from mnemic.model.time import HOUR
from mnemic.storage.base import Writer
from mnemic.storage.queries import count, each_memory, memory_numbered, session_called

WORDS = ("heron", "pond", "fox", "hedge", "crow", "roof", "café")
SPACES = ("global", "town", "garden")


class Story:
    """A store to which anything may happen, as chance has it."""

    def __init__(self, folder: str, seed: int, engine: str = "sqlite"):
        self.chance = random.Random(seed)
        self.store = open_store(engine, Path(folder), "story", durable=False)
        self.embedder = WordEmbedder()
        self.store.use_models(self.embedder.name)
        self.clock = START
        for number in range(5):
            self.add(number)

    def write(self, work: Callable[[Writer], object]) -> None:
        self.clock += 1
        write(self.store, work, at=self.clock)

    def text(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=2))

    def body(self) -> tuple[str, ...]:
        return tuple(self.text() for _ in range(self.chance.randrange(4)))

    def memory(self) -> int:
        return self.chance.choice([memory.id for memory in each_memory(self.store.read())])

    def add(self, number: int) -> None:
        space = self.chance.choice(SPACES)

        def work(tx: Writer) -> None:
            session = session_called(tx, space, "work").id if number % 2 else None
            title = f"{self.text()} {count(tx)} {number}"
            draft = a_draft(title, texts=self.body(), namespace=space, session_id=session)
            tx.insert(draft, uid=str(uuid.uuid4()))

        self.write(work)

    def change(self, number: int) -> None:
        choices = {
            "title": f"{self.text()} {number}",
            "texts": self.body(),
            "tags": self.chance.choice([(), ("bird",), ("beast", "bird")]),
            "namespace": self.chance.choice(SPACES),
            "state": self.chance.choice([State.LIVING, State.ARCHIVED, State.FORGOTTEN, State.SUPERSEDED]),
            "priority": 1 + number,
            "kind": self.chance.choice(["note", "animal"]),
            "summary": self.chance.choice([None, self.text()]),
            "metadata": {"a": number},
            "expires_at": self.chance.choice([None, START + number]),
        }
        names = self.chance.sample(sorted(choices), self.chance.randint(1, 3))
        patch = MemoryPatch(**{name: choices[name] for name in names})
        with suppress(Conflict):
            self.write(lambda tx: tx.update(memory_numbered(tx, self.memory()), patch))

    def link(self, number: int) -> None:
        self.write(lambda tx: tx.insert_edge(EdgeDraft(self.memory(), self.memory(), "near")))

    def change_link(self, number: int) -> None:
        if every := self.store.read().edges(ANY_EDGE):
            fields = {"valid_to": self.clock} if number % 2 else {"weight": number / 10}
            self.write(lambda tx: tx.update_edge(self.chance.choice(every), EdgePatch(**fields)))

    def change_session(self, number: int) -> None:
        if every := self.store.read().sessions():
            self.write(
                lambda tx: tx.update_session(self.chance.choice(every), SessionPatch(topic=self.text()))
            )

    def use(self, number: int) -> None:
        self.write(lambda tx: tx.count_use([self.memory()], START + HOUR))

    def embed(self, number: int) -> None:
        embed_all(self.store, self.embedder)

    def purge(self, number: int) -> None:
        if count(self.store.read()) > 3:
            self.write(lambda tx: tx.purge([self.memory()]))

    def go_on(self) -> None:
        """Let something happen."""
        likely = [
            *3 * [self.add],
            *6 * [self.change],
            *2 * [self.link],
            self.change_link,
            self.change_session,
        ]
        self.chance.choice([*likely, self.use, self.embed, self.purge])(self.chance.randrange(10))
