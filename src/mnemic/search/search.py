"""Search: candidates, then a profile that puts them in order, then what lies below the floor is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mnemic.model.filter import Hit, Query
from mnemic.model.memory import Memory, is_beginning
from mnemic.search.ranking import Profile, Scored
from mnemic.search.relevance import floor
from mnemic.storage.base import Reader

if TYPE_CHECKING:
    from mnemic.model.vectors import Embedding


def find_hits(reader: Reader, query: Query, vector: Embedding | None, profile: Profile) -> list[Hit]:
    """The memories that answer *query* in the order of *profile*, each with the terms of its score.

    All of it is read at one moment. Where the profile calibrates, hits below the floor are left out, and of equal texts
    only the best is shown.
    """
    with reader.at_one_moment():
        passed = _passed(query, profile.scored(reader, query, vector))
        passed.sort(key=lambda one: (one.score, one.memory_id), reverse=True)
        first = _first(reader, passed, query.limit)
    return [
        Hit(
            memory=memory,
            score=one.score,
            terms=one.terms,
            statement_id=one.statement_id,
            relevance=one.relevance,
            signals=one.signals._asdict() if one.relevance is not None else {},
        )
        for one, memory in first
    ]


def _passed(query: Query, scored: Sequence[Scored]) -> list[Scored]:
    best = max((one.relevance for one in scored if one.relevance is not None), default=0.0)
    least = floor(query, best)
    return [one for one in scored if one.relevance is None or one.relevance >= least]


def _first(reader: Reader, ordered: Sequence[Scored], limit: int) -> list[tuple[Scored, Memory]]:
    """The first *limit* of *ordered* with their memories; equal texts only once where relevance is computed."""
    chosen: list[tuple[Scored, Memory]] = []
    texts: set[str] = set()
    for one, memory in _read(reader, ordered, limit) if limit > 0 else ():
        text = _said(memory)
        if one.relevance is None or text not in texts:
            chosen.append((one, memory))
            texts.add(text)
        if len(chosen) == limit:
            break
    return chosen


def _said(memory: Memory) -> str:
    """Normalised text of *memory*, with its title if chosen."""
    body = memory.content
    text = body if body and is_beginning(memory.title, body) else f"{memory.title} {body}"
    return " ".join(text.casefold().split())


def _read(reader: Reader, ordered: Sequence[Scored], at_once: int) -> Iterator[tuple[Scored, Memory]]:
    """*ordered* with their memories, read *at_once* at a time; what has gone meanwhile is left out."""
    for start in range(0, len(ordered), at_once):
        part = ordered[start : start + at_once]
        memories = {memory.id: memory for memory in reader.get([one.memory_id for one in part])}
        yield from ((one, memories[one.memory_id]) for one in part if one.memory_id in memories)
