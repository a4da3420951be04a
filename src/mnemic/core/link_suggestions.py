"""Which memories could be linked: those that are alike in meaning, words and names, and near in time."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_backlog
from mnemic.core.memories import is_in_use
from mnemic.model.annotations import HIDDEN
from mnemic.model.candidates import WORD_DEPTH
from mnemic.model.filter import EdgeFilter, Filter
from mnemic.model.memory import Memory
from mnemic.model.time import DAY
from mnemic.model.vectors import Embedding, Reading
from mnemic.search.proper_names import names
from mnemic.search.query import Vocabulary, rarity
from mnemic.storage import queries
from mnemic.storage.base import Reader
from mnemic.storage.queries import memory_numbered

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors

MOST_TERMS = 24
"""The rarest words of a long text tell what it is about; to look for all of them would take long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSignals:
    """What each sign of belonging together counts, and when a sum of them is enough."""

    cosine: float = 0.5
    bm25: float = 0.3
    entity: float = 0.1
    temporal: float = 0.1
    threshold: float = 0.3
    depth: int = 50
    """Nearest memories considered."""
    days: float = 30.0
    """Days between two memories after which their time proximity falls to 1/e."""


SIGNALS = LinkSignals()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A memory that could be linked to another, with what speaks for it: each from 0 to 1, and their weighted sum."""

    memory: Memory
    weighted: float
    cosine: float
    bm25: float
    entity: float
    temporal: float

    @property
    def terms(self) -> dict[str, float]:
        """What speaks for it, by name."""
        return {
            "cosine": self.cosine,
            "bm25": self.bm25,
            "entity": self.entity,
            "temporal": self.temporal,
        }


def suggest(
    ctx: Context,
    memory_id: int,
    *,
    namespaces: tuple[str, ...] | None,
    limit: int = 10,
    signals: LinkSignals = SIGNALS,
) -> list[Suggestion]:
    """The memories of *namespaces* that a memory could be linked to and is not, the best first. Nothing is written.

    An unknown memory has none. Without a model, or before the memory has its vector, the words find the candidates.
    """
    wanted = Filter(namespaces=namespaces, without=HIDDEN, alive_at=ctx.now())
    embed_backlog(ctx, wanted, is_fresh_needed=True)
    reader = ctx.read()
    source = memory_numbered(reader, memory_id)
    if source is None or not is_in_use(ctx, source):
        return []
    left_out = {source.id, *_linked(reader, source.id)}
    near = _nearest(reader, source, wanted, signals.depth + len(left_out))
    by_words = _by_words(reader, source, wanted, signals.depth + len(left_out), alone=not near)
    found = [number for number in near or by_words if number not in left_out][: signals.depth]
    ours = names(source.content)
    suggestions = [
        _suggestion(source, other, ours, near.get(other.id, 0.0), by_words.get(other.id, 0.0), signals)
        for other in reader.get(found)
    ]
    fitting = [one for one in suggestions if one.weighted >= signals.threshold]
    return sorted(fitting, key=lambda one: (-one.weighted, one.memory.id))[:limit]


def _linked(reader: Reader, number: int) -> set[int]:
    """The memories that are linked to one, either way."""
    edges = reader.edges(EdgeFilter(at=(number,)))
    return {end for edge in edges if edge.is_current for end in (edge.source_id, edge.target_id)}


def _nearest(reader: Reader, source: Memory, wanted: Filter, limit: int) -> dict[int, float]:
    near = queries.nearest(reader, _embedding(reader, source), wanted, limit=limit)
    return {one.memory_id: max(0.0, one.cosine) for one in near}


def _embedding(reader: Reader, source: Memory) -> Embedding:
    """The stored vectors of a memory: by each model the mean of those of its statements."""
    sums: dict[str, Vectors] = {}
    for one in reader.vectors([source.id]).values():
        sums[one.model] = sums[one.model] + one.vector if one.model in sums else one.vector
    return Embedding(tuple(Reading(model, vector) for model, vector in sums.items()))


def _by_words(reader: Reader, source: Memory, wanted: Filter, limit: int, *, alone: bool) -> dict[int, float]:
    """The others that hold words of a memory, by their BM25 as a share of the best, which mostly is the memory itself.

    Where words tell *alone*, there would be too little left: then as a share of the best of the others.
    """
    weights = rarity(Vocabulary(reader, wanted.namespaces), source.content or source.title)
    terms = sorted(weights, key=lambda word: -weights[word])[:MOST_TERMS]
    found = queries.best_words(reader, terms, wanted, limit=max(WORD_DEPTH, limit + 1))
    others = {number: score for number, score in found if number != source.id}
    best = max((others if alone else dict(found)).values(), default=0.0) or 1.0
    return {number: score / best for number, score in others.items()}


def _suggestion(
    source: Memory, other: Memory, ours: frozenset[str], cosine: float, bm25: float, signals: LinkSignals
) -> Suggestion:
    theirs = names(other.content)
    entity = len(ours & theirs) / len(ours | theirs) if ours & theirs else 0.0
    temporal = exp(-abs(source.created_at - other.created_at) / DAY / signals.days)
    weighted = (
        signals.cosine * cosine + signals.bm25 * bm25 + signals.entity * entity + signals.temporal * temporal
    )
    return Suggestion(
        memory=other, weighted=weighted, cosine=cosine, bm25=bm25, entity=entity, temporal=temporal
    )
