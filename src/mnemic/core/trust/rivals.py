"""Rivals: the known memories that a new one contradicts, found cheaply enough for every write."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.model.annotations import HIDDEN
from mnemic.model.filter import Filter
from mnemic.model.memory import Memory
from mnemic.search.query import content_words
from mnemic.storage.base import Reader
from mnemic.storage.index_tokens import stems
from mnemic.storage.queries import best_words, holders

RAREST, NEAREST = 4, 4
"""Words of a new memory used for the look-up, and candidates compared with it."""
SHARED = 0.3
"""From this share of common content words on, of the shorter text. One of three is the object of "We ship the API on
Fridays"; with less, long texts of one subject would all be compared, at 20 ms each."""
LONGEST = 2_000
"""So long, in characters, may a memory be that is compared when it is stored."""


@dataclass(frozen=True, slots=True)
class Rival:
    """A known memory that cannot be true together with the new one, and why."""

    memory: Memory
    because: str


def rivals(ctx: Context, memory: Memory) -> list[Rival]:
    """The living memories of its namespace that *memory*, just stored, contradicts."""
    if len(memory.content) > LONGEST:
        return []
    near = [other for other in sharing(ctx, ctx.read(), memory) if _overlap(memory, other) >= SHARED]
    if not near:
        return []
    from mnemic.core.trust.contradiction import contradiction_between

    found = (
        (other, contradiction_between(memory.content, other.content, "the new one", f"memory {other.id}"))
        for other in near
    )
    return [Rival(other, reason) for other, reason in found if reason]


def sharing(ctx: Context, reader: Reader, memory: Memory) -> list[Memory]:
    """The living memories of its namespace that hold one of the rarest words of *memory* that others hold too."""
    with reader.at_one_moment():
        found = _holding_rarest(ctx, reader, memory)
    return reader.get([number for number, _ in found if number != memory.id][:NEAREST])


def _holding_rarest(ctx: Context, reader: Reader, memory: Memory) -> list[tuple[int, float]]:
    frequency = holders(reader, content_words(memory.content), (memory.namespace,))
    shared = sorted(
        (word for word, count in frequency.items() if count > 1), key=lambda word: frequency[word]
    )
    if not shared:
        return []
    wanted = Filter(namespaces=(memory.namespace,), without=HIDDEN, alive_at=ctx.now())
    return best_words(reader, shared[:RAREST], wanted, limit=NEAREST + 1)


def _overlap(one: Memory, other: Memory) -> float:
    """The share of the shorter text's content words that the other has too."""
    ours, theirs = _stems(one.content), _stems(other.content[:LONGEST])
    return len(ours & theirs) / min(len(ours), len(theirs)) if ours and theirs else 0.0


def _stems(text: str) -> set[str]:
    return set(stems(" ".join(content_words(text))))
