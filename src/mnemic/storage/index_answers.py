"""What both engines make of the index in memory: the best of what it found, and the nearest of what it compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mnemic.model.filter import LIVING_ONLY, Filter
from mnemic.storage.index_port import Ranked
from mnemic.storage.scale import best_of, scaled

if TYPE_CHECKING:
    from mnemic.model.candidates import Weights
    from mnemic.model.vectors import Embedding, Reading
    from mnemic.storage.arrays import Numbers
    from mnemic.storage.base import Nearness
    from mnemic.storage.index_port import Matrix, Snapshot

Compared = list[tuple["Reading", "Matrix"]]
"""The readings of a text whose model has vectors here, each with these."""


def passing(at: Snapshot, found: Ranked, wanted: Filter, without: Sequence[int]) -> Ranked:
    """Those *found* that pass *wanted*, without the memories *without*."""
    if wanted.is_plain and not without:
        return found
    from mnemic.numeric import np
    from mnemic.storage.arrays import taken

    stays = ~np.isin(_numbers(at, found.slots), without)
    if not wanted.is_plain:
        stays &= taken(at.columns.passing(at.source, wanted), found.slots)
    return Ranked(found.slots[stays], found.bm25[stays])


def best(
    at: Snapshot,
    found: Ranked,
    weights: Weights | None,
    limit: int,
    uses: Callable[[Sequence[int]], Mapping[int, int]],
) -> dict[int, float]:
    """The *limit* best of those *found*, by BM25 or by that plus *weights*, in the order of BM25.

    *uses* reads how often memories were used, which the journal does not tell the index.
    """
    from mnemic.storage import arrays

    if weights is not None and len(found.slots) > limit:
        chosen = arrays.best(limit, found.bm25 + at.columns.merits(found.slots, weights))
        found = Ranked(found.slots[chosen], found.bm25[chosen])
        at.columns.note_uses(uses(_numbers(at, found.slots).tolist()))
    chosen = arrays.best(limit, found.bm25)
    numbers = _numbers(at, found.slots[chosen])
    return dict(zip(numbers.tolist(), found.bm25[chosen].tolist(), strict=True))


def _numbers(at: Snapshot, slots: Numbers) -> Numbers:
    """The numbers of the memories in these *slots* of the words."""
    numbers: Numbers = at.words.slots.numbers[slots]
    return numbers


def among_living(wanted: Filter) -> Filter:
    """*wanted* limited to the living: only they are in the index."""
    return replace(wanted, states=wanted.states & LIVING_ONLY)


def compared(text: Embedding, matrices: Mapping[str, Matrix]) -> Compared:
    """The readings of *text* whose model is among these *matrices*."""
    return [(one, matrices[one.model]) for one in text.readings if one.model in matrices]


def nearest(pairs: Compared, limit: int, at_least: float = -math.inf, **scope: Any) -> list[Nearness]:
    """The *limit* memories nearest by any model, of those in *scope*, as `Matrix.nearest` takes it."""
    found = [
        scaled(one.scale, matrix.nearest(one.vector, limit, at_least=one.scale.cosine(at_least), **scope))
        for one, matrix in pairs
    ]
    return best_of(found, limit) if found else []


def by_memory(found: Sequence[Nearness]) -> dict[int, Nearness]:
    """The same by the number of the memory."""
    return {near.memory_id: near for near in found}


def vectors(matrices: Mapping[str, Matrix], memory_ids: Sequence[int]) -> dict[int, Reading]:
    """The vector of each statement of these memories, by the statement's number."""
    from mnemic.model.vectors import Reading

    return {
        number: Reading(name, vector)
        for name, matrix in matrices.items()
        for number, vector in matrix.of(memory_ids).items()
    }
