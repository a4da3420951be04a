"""Work that follows behind: vectors for what has none, an end for what has expired."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mnemic.core.context import Context
from mnemic.core.leaving import taken_out
from mnemic.embedding.base import Embedder
from mnemic.model.journal import Subject
from mnemic.model.memory import heading, is_beginning
from mnemic.model.search import Filter
from mnemic.model.values import State
from mnemic.storage.base import Passage, Pending, Reader, Writer

EXPIRED = "expired"
READ_UNDER = frozenset({"title", "summary", "kind"})


def embed_pending(
    ctx: Context,
    limit: int,
    wanted: Filter | None = None,
    *,
    characters: int | None = None,
    waits: bool = True,
) -> int:
    """Give vectors to up to *limit* statements that have none, newest first; how many got them.

    With *characters*, only to those that have no more than so many together; what is too long is passed over. Without
    *waits*, Busy while anybody else is writing.
    """
    if ctx.embedder is None:
        return 0
    seen = ctx.store.sequence()
    waiting = ctx.store.read().pending(limit=limit, wanted=wanted or Filter())
    if characters is not None:
        waiting = _fitting(waiting, characters)
    if not waiting:
        return 0
    embedded = _passages(ctx.embedder, waiting)
    write = ctx.store.write(operation="embed", actor=ctx.actor, at=ctx.now(), durable=False, waits=waits)
    with write as tx:
        changed = _changed_fields(tx, seen)
        misread = {item.statement_id for item in waiting if _is_misread(item, changed.get(item.memory_id))}
        return sum(
            tx.put_passages(
                model.name, model.dimension, [one for one in passages if one.statement_id not in misread]
            )
            for model, passages in embedded
        )


def _changed_fields(reader: Reader, seen: int) -> dict[int, set[str]]:
    """The names of the fields changed after change *seen*, by memory."""
    fields: defaultdict[int, set[str]] = defaultdict(set)
    for change in reader.journal(after=seen, subject=Subject.MEMORY):
        fields[change.subject_id] |= (change.after or {}).keys()
    return fields


def _is_misread(item: Pending, changed: set[str] | None) -> bool:
    """Whether what the model read of a text has changed meanwhile, its title, summary and kind included."""
    return bool(changed and changed & (READ_UNDER | {"statements"} if item.is_whole else READ_UNDER))


def _fitting(waiting: Sequence[Pending], room: int) -> list[Pending]:
    chosen = []
    for item in waiting:
        if len(item.text) <= room:
            chosen.append(item)
            room -= len(item.text)
    return chosen


def _passages(embedder: Embedder, waiting: Sequence[Pending]) -> list[tuple[Embedder, list[Passage]]]:
    """The passages of each model: a text is read by the one for its language."""
    chosen: dict[str, list[Pending]] = {}
    for item in waiting:
        chosen.setdefault(embedder.model_for(item.text or item.title).name, []).append(item)
    models = {model.name: model for model in embedder.models}
    return [(models[name], _read_by(models[name], items)) for name, items in chosen.items()]


def _read_by(model: Embedder, waiting: Sequence[Pending]) -> list[Passage]:
    cut = [(item, start, end) for item in waiting for start, end in _windows(model, item)]
    vectors = model.embed([read_as(item, start, end) for item, start, end in cut])
    return [
        Passage(item.statement_id, start, end, vector)
        for (item, start, end), vector in zip(cut, vectors, strict=True)
    ]


def _windows(model: Embedder, item: Pending) -> list[tuple[int, int]]:
    """The stretches of a text that get a vector; of a whole memory only the first: its statements have their own."""
    windows = list(model.windows(item.text))
    return windows[:1] if item.is_whole else windows


def read_as(item: Pending, start: int, end: int) -> str:
    """What the model reads: a stretch of the text, under its title and kind if someone chose them, and its summary."""
    title = None if is_beginning(item.title, item.text) else heading(item.title, item.kind)
    return "\n".join(part for part in (title, item.summary, item.text[start:end]) if part)


def expire(ctx: Context) -> int:
    """Take the memories whose time is over out of use, into the archive if there is to be one.

    This is done for everyone; how many the caller may see of them.
    """
    now = ctx.now()
    if not ctx.store.read().overdue(now):
        return 0
    state = State.ARCHIVED if ctx.lives.archives else State.FORGOTTEN
    with ctx.store.write(operation="expire", actor="mnemic", at=now) as tx:
        overdue = tx.memories(tx.overdue(now))
        for memory in overdue:
            taken_out(tx, memory, state, EXPIRED, now)
    return sum(ctx.may_see(memory.namespace) for memory in overdue)


@contextmanager
def write_after_expiry(ctx: Context, operation: str) -> Iterator[Writer]:
    """A transaction in which nothing overdue stands in the way: it was archived before, under its own name.

    The transaction itself looks, since reading beside it would take a tenth of the time a write takes.
    """
    with ctx.write(operation) as tx:
        if not tx.overdue(ctx.now()):
            yield tx
            return
    expire(ctx)
    with ctx.write(operation) as tx:
        yield tx
