"""How much memories resemble a text, by meaning and by words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemic.model.memory import Memory
from mnemic.model.search import Query
from mnemic.retrieval.candidates import gather
from mnemic.retrieval.text import content_words
from mnemic.storage.base import Reader

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedding

DEPTH = 50
WORDS = 0.5
"""How near a text that holds every word comes by that alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """A memory that resembles a text: how much, the cosine and the BM25 behind it, and the words both have."""

    memory: Memory
    similarity: float
    cosine: float
    bm25: float
    terms: tuple[str, ...]


def resembling(reader: Reader, query: Query, vector: Embedding | None) -> list[Match]:
    """The memories that resemble the text of *query* most, best first.

    The similarity, from 0 to 1, closes the gap that the cosine leaves by half the share of telling words found in the
    memory: 1 − (1 − cosine) · (1 − share / 2). Without vectors it is the share.
    """
    found = gather(reader, query, vector, max(DEPTH, query.limit))
    stems = {word: frozenset(reader.stems(word)) for word in content_words(query.text)}
    matches = []
    for memory in reader.memories(list(found)):
        terms = shared_terms(reader, memory, stems)
        share = len(terms) / len(stems) if stems else 0.0
        one = found[memory.id]
        near = share if vector is None else 1 - (1 - max(0.0, one.cosine)) * (1 - WORDS * share)
        matches.append(Match(memory=memory, similarity=near, cosine=one.cosine, bm25=one.bm25, terms=terms))
    matches.sort(key=lambda match: (-match.similarity, -match.bm25, -match.memory.id))
    return matches[: query.limit]


def shared_terms(reader: Reader, memory: Memory, stems: dict[str, frozenset[str]]) -> tuple[str, ...]:
    """Those words, given with their stems, that stand in *memory*."""
    held = set(reader.stems(f"{memory.title}\n{memory.content}"))
    return tuple(word for word, wanted in stems.items() if wanted <= held)
