"""The embedding queue: vectors for statements that have none yet, in the background and before an answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from mnemic.core.context import Context
from mnemic.core.usage import PASSED_OVER
from mnemic.embedding.base import Embedder
from mnemic.errors import Busy, MnemicError, Unavailable
from mnemic.model.access import Scope
from mnemic.model.filter import Filter
from mnemic.model.memory import heading, is_beginning
from mnemic.model.uids import random_uid
from mnemic.storage.base import BACKLOG_LOOKED_AT, WHOLE_CHARACTERS, Passage, Pending, Reader, Writer
from mnemic.storage.queries import contents

CLAIMED = 64
"""Statements claimed at once: the shipped models embed as many of the longest in three seconds."""
PIECE_CHARACTERS = 2_000
"""Characters embedded at once: more would not be faster, and calls in progress would wait longer."""

EMBEDDED_ON_THE_WAY = 8
"""Pending statements embedded during a recall; more are left to the background worker."""
CHARACTERS_ON_THE_WAY = 600
"""Longest they may be together: thirty thousand characters take about a second, these 20 ms."""
LOOKS, LOOK_SECONDS = 5, 0.004
"""Interval and number of checks for vectors from a concurrent writer: 20 ms in total."""
FRESH = 32
"""The same for dialects whose systems embed on write: new memories must be found by meaning."""
FRESH_CHARACTERS, FRESH_LOOKS = 8_000, 500
"""Their characters together (a quarter of a second), and the checks for vectors that another thread or process is
computing: two seconds, since it may be loading the model."""
UNATTENDED = 32
"""The same without a background worker, as in a command."""
ANALYSED = 2_048
"""The same where only vectors can answer, as for topic analysis."""
CHARACTERS_EACH = 1_000
"""Longest they may be on average."""
MOST_CHARACTERS = 256_000
"""Longest they may be together."""

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


def embed_backlog(
    ctx: Context, wanted: Filter, at_most: int | None = None, *, is_fresh_needed: bool = False
) -> int:
    """Embed the backlog among *wanted* if it is small; how many statements are still pending.

    Takes 20 ms unless *at_most* is given, there is no background worker, or new memories must be found by meaning
    (*is_fresh_needed*); then it waits up to two seconds for vectors that others are computing.
    """
    if ctx.embedder is None:
        return 0
    waiting = ctx.read().backlog(wanted, looked_at=BACKLOG_LOOKED_AT)
    if not waiting:
        return 0
    ctx.wake()
    are_needed = is_fresh_needed or at_most is not None
    most, characters = (FRESH, FRESH_CHARACTERS) if is_fresh_needed else _bounds(ctx, at_most)
    if waiting > most:
        return waiting
    try:
        left = max(0, waiting - embed_pending(ctx, most, wanted, characters=characters, waits=False))
        # What is left has been claimed by the worker or another process, or is too long.
        return _left_by_others(ctx, wanted, FRESH_LOOKS) if left and are_needed else left
    except Busy:
        return _left_by_others(ctx, wanted, FRESH_LOOKS if are_needed else LOOKS)
    except (Unavailable, *PASSED_OVER):  # no model, no room, or a look at the past, which takes no vectors
        return waiting


def _left_by_others(ctx: Context, wanted: Filter, looks: int) -> int:
    """Pending statements a moment later: the worker or another process may be embedding them."""
    waiting = 0
    with ctx.activity.waiting():
        for _ in range(looks):
            ctx.wake()  # a worker that found everything claimed a moment ago looks again
            time.sleep(LOOK_SECONDS)
            if not (waiting := ctx.read().backlog(wanted, looked_at=BACKLOG_LOOKED_AT)):
                break
    return waiting


def _bounds(ctx: Context, at_most: int | None) -> tuple[int, int]:
    """How many statements are embedded before an answer, and how many characters they may have together."""
    if at_most is None and ctx.has_worker:
        return EMBEDDED_ON_THE_WAY, CHARACTERS_ON_THE_WAY
    most = at_most or UNATTENDED
    return most, min(most * CHARACTERS_EACH, MOST_CHARACTERS)


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
                self._finish(places, lambda tx: tx.release(owner, self.ctx.now()))
            raise

    def _change(self, namespaces: tuple[str, ...], work: Callable[[Writer], T], waits: bool) -> T:
        ctx, scope = self.ctx, Scope(namespaces, namespaces)
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
