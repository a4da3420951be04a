"""The embedding queue: vectors for statements that have none yet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from mnemic.core.context import Context
from mnemic.embedding.base import Embedder
from mnemic.errors import Busy, MnemicError
from mnemic.model.access import Scope
from mnemic.model.filter import Filter
from mnemic.model.memory import heading, is_beginning
from mnemic.model.uids import random_uid
from mnemic.storage.base import WHOLE_CHARACTERS, Passage, Pending, Reader, Writer
from mnemic.storage.queries import contents

CLAIMED = 64
"""Statements claimed at once: the shipped models embed as many of the longest in three seconds."""
PIECE_CHARACTERS = 2_000
"""Characters embedded at once: more would not be faster, and calls in progress would wait longer."""

T = TypeVar("T")
Embedded = list[tuple[Embedder, list[Passage]]]
_Cut = tuple[Pending, int, int, str]
"""A stretch of a statement, from where to where, and what the model reads."""
Pause = Callable[[], None]


def _no_pause() -> None:
    """Go on at once."""


def embed_pending(
    ctx: Context,
    limit: int,
    wanted: Filter | None = None,
    *,
    characters: int | None = None,
    waits: bool = True,
    pause: Pause = _no_pause,
) -> int:
    """Embed up to *limit* unclaimed pending statements, newest first; how many got vectors.

    *characters* bounds their total length: longer texts are skipped. Without *waits*, Busy while somebody else
    writes. *pause* is called before each piece of work of some 10 ms.
    """
    if ctx.embedder is None:
        return 0
    waiting = unclaimed(ctx, limit, wanted)
    if characters is not None:
        waiting = _fitting(waiting, characters)
    queue = _QueueRun(ctx, ctx.embedder, waits, pause)
    return sum(queue.embed(waiting[start : start + CLAIMED]) for start in range(0, len(waiting), CLAIMED))


def unclaimed(ctx: Context, limit: int, wanted: Filter | None = None) -> list[Pending]:
    """Up to *limit* unclaimed pending statements, newest first."""
    return ctx.read().pending(limit=limit, wanted=wanted or Filter(), unclaimed_at=ctx.now())


@dataclass(frozen=True, slots=True)
class _QueueRun:
    """One run through pending statements."""

    ctx: Context
    embedder: Embedder
    waits: bool
    pause: Pause

    def embed(self, waiting: Sequence[Pending]) -> int:
        """Claim these statements, embed those that were free and store their vectors; how many have theirs now."""
        owner = random_uid()
        # Under the locks that vectors are stored under: what another process has just embedded does not wait any more.
        places = tuple({item.namespace for item in waiting})
        claimed = self._change(places, lambda tx: self._claimed(tx, waiting, owner), self.waits)
        if not claimed:
            return 0
        try:
            embedded = _passages(self.embedder, claimed, self.pause)
            return self._finish(places, lambda tx: self._stored(tx, claimed, embedded, owner))
        except Busy:
            raise
        except BaseException:
            with suppress(MnemicError):
                self._finish((), lambda tx: tx.release(owner, self.ctx.now()))
            raise

    def _change(self, namespaces: tuple[str, ...], work: Callable[[Writer], T], waits: bool) -> T:
        ctx, scope = self.ctx, Scope(asked=namespaces)
        return ctx.store.change(scope, "embed", ctx.actor, ctx.now(), work, durable=False, waits=waits)

    def _finish(self, namespaces: tuple[str, ...], work: Callable[[Writer], T]) -> T:
        """Store or release what is claimed. A caller that must not wait leaves it to a thread and gets Busy; if
        the process ends before, the claims expire.
        """
        try:
            return self._change(namespaces, work, self.waits)
        except Busy:
            if not self.waits:
                later = threading.Thread(
                    target=self._finish_later, args=(namespaces, work), name="mnemic-embed", daemon=True
                )
                later.start()
            raise

    def _finish_later(self, namespaces: tuple[str, ...], work: Callable[[Writer], object]) -> None:
        with suppress(MnemicError):
            self._change(namespaces, work, waits=True)

    def _claimed(self, tx: Writer, waiting: Sequence[Pending], owner: str) -> list[Pending]:
        free = tx.claim([item.statement_id for item in waiting], owner, self.ctx.now())
        return [item for item in waiting if item.statement_id in free]

    def _stored(self, tx: Writer, claimed: Sequence[Pending], embedded: Embedded, owner: str) -> int:
        misread = _misread(tx, claimed)
        tx.release(owner, self.ctx.now())
        return sum(
            tx.put_vectors(
                model.name, model.dimension, [one for one in passages if one.statement_id not in misread]
            )
            for model, passages in embedded
        )


class _Heading(NamedTuple):
    """What a statement is read under."""

    id: int
    title: str
    summary: str | None
    kind: str


def _misread(reader: Reader, claimed: Sequence[Pending]) -> set[int]:
    """The statements of which the model read something that has changed meanwhile, title, summary and kind included."""
    headings = {one.id: one for one in reader.look([item.memory_id for item in claimed], _Heading)}
    bodies = contents(reader, [item.memory_id for item in claimed if item.is_whole])
    return {
        item.statement_id
        for item in claimed
        if headings.get(item.memory_id) != (item.memory_id, item.title, item.summary, item.kind)
        or (item.is_whole and bodies.get(item.memory_id, "")[:WHOLE_CHARACTERS] != item.text)
    }


def _fitting(waiting: Sequence[Pending], room: int) -> list[Pending]:
    chosen = []
    for item in waiting:
        if len(item.text) <= room:
            chosen.append(item)
            room -= len(item.text)
    return chosen


def _passages(embedder: Embedder, claimed: Sequence[Pending], pause: Pause) -> Embedded:
    """The passages of each model: a text is read by the one for its language."""
    chosen: dict[str, list[Pending]] = {}
    for item in claimed:
        chosen.setdefault(embedder.model_for(item.text or item.title).name, []).append(item)
    models = {model.name: model for model in embedder.models}
    return [(models[name], _read_by(models[name], items, pause)) for name, items in chosen.items()]


def _read_by(model: Embedder, claimed: Sequence[Pending], pause: Pause) -> list[Passage]:
    cut = [(item, start, end) for item in claimed for start, end in _windows(model, item)]
    passages = []
    for some in _pieces([(*one, read_as(*one)) for one in cut]):
        pause()
        vectors = model.embed([text for *_, text in some])
        passages += [
            Passage(item.statement_id, start, end, vector)
            for (item, start, end, _), vector in zip(some, vectors, strict=True)
        ]
    return passages


def _pieces(cut: Sequence[_Cut]) -> Iterator[list[_Cut]]:
    """*cut* in pieces of few characters, texts of like length together, so that a model pads little."""
    piece: list[_Cut] = []
    for one in sorted(cut, key=lambda one: len(one[3])):
        if piece and sum(len(text) for *_, text in piece) + len(one[3]) > PIECE_CHARACTERS:
            yield piece
            piece = []
        piece.append(one)
    if piece:
        yield piece


def _windows(model: Embedder, item: Pending) -> list[tuple[int, int]]:
    """The stretches of a text that get a vector; of a whole memory only the first: its statements have their own."""
    windows = list(model.windows(item.text))
    return windows[:1] if item.is_whole else windows


def read_as(item: Pending, start: int, end: int) -> str:
    """What the model reads: a stretch of the text, under its title and kind if someone chose them, and its summary."""
    title = None if is_beginning(item.title, item.text) else heading(item.title, item.kind)
    return "\n".join(part for part in (title, item.summary, item.text[start:end]) if part)
