"""Conflicts: pairs of living memories that contradict each other, by a link or by their texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, zip_longest

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.memories import is_in_use
from mnemic.core.trust.beliefs import CONTRADICTS
from mnemic.core.trust.contradiction import contradiction_between
from mnemic.core.trust.rivals import sharing
from mnemic.model.annotations import HIDDEN
from mnemic.model.filter import EdgeFilter, Filter, Order
from mnemic.model.memory import Memory
from mnemic.search.similarity import jaccard
from mnemic.storage.base import Reader
from mnemic.storage.queries import contents

MOST_COMPARED = 20
ALIKE_IN_WORDS = 0.35
"""From this share of common words on, two texts may be about the same."""
ALIKE_IN_MEANING = 0.55
"""From this similarity of their vectors on, too."""
MOST_PAIRS, MOST_NEWEST, MOST_LOOKED_UP, MOST_READ, MOST_FOUND = 200_000, 2_000, 500, 2_000, 200
"""Bounds: pairs by words, memories compared by vectors, memories looked up by their rarest words, pairs whose texts
are compared (3 ms each), conflicts answered."""
READ_AT_ONCE = 5_000
CHOOSING = 0.3
"""Share of the work that it takes to choose the pairs that are read."""

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two memories that cannot both be true, with the reason: a link or their texts."""

    one: Memory
    other: Memory
    is_linked: bool
    reason: str | None = None


def find(ctx: Context, namespace: str | None = None) -> list[Contradiction]:
    """The conflicts between living memories: first those that links tell, then those of their texts."""
    return [step for step in search(ctx, namespace) if isinstance(step, Contradiction)]


def search(ctx: Context, namespace: str | None = None) -> Iterator[Contradiction | float]:
    """The same conflicts as they are found, and in between the share of the work that is done."""
    linked = _linked(ctx, namespace)
    yield from linked
    told = {frozenset((conflict.one.id, conflict.other.id)) for conflict in linked}
    found = 0
    for step in _read(ctx, namespace):
        if isinstance(step, float):
            yield step
        elif frozenset((step.one.id, step.other.id)) not in told:
            yield step
            found += 1
            if found == MOST_FOUND:
                return


def _linked(ctx: Context, namespace: str | None) -> list[Contradiction]:
    """Pairs of living memories joined by a `contradicts` link, by the number of the link."""
    reader = ctx.read()
    living = Filter(namespaces=ctx.scope(namespace), alive_at=ctx.now())
    edges = reader.edges(EdgeFilter(types=(CONTRADICTS,), ends=living, is_current=True))
    ends = {end for edge in edges for end in (edge.source_id, edge.target_id)}
    memories = {memory.id: memory for memory in reader.get(sorted(ends))}
    return [
        Contradiction(memories[edge.source_id], memories[edge.target_id], True, edge.reason) for edge in edges
    ]


def _read(ctx: Context, namespace: str | None) -> Iterator[Contradiction | float]:
    """Pairs of one namespace whose texts exclude each other, the older of each two first, and how far it is."""
    reader = ctx.read()
    wanted = Filter(namespaces=ctx.scope(namespace), without=HIDDEN, alive_at=ctx.now())
    sources = (_by_rarest(ctx, reader, wanted), _by_meaning(reader, wanted), _by_words(reader, wanted))
    turns = (pair for turn in zip_longest(*sources) for pair in turn if pair is not None)
    chosen: list[Pair] = []
    for pair_chosen in islice(_distinct(turns), MOST_READ):
        yield CHOOSING * len(chosen) / MOST_READ
        chosen.append(pair_chosen)
    for step in _opposed(reader, chosen):
        if isinstance(step, float):
            yield CHOOSING + (1 - CHOOSING) * step
            continue
        one, other, reason = step
        pair = reader.get([one, other])
        if len(pair) == 2 and pair[0].namespace == pair[1].namespace:
            older, newer = sorted(pair, key=lambda memory: memory.id)
            yield Contradiction(older, newer, is_linked=False, reason=reason)


def _distinct(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Each of *pairs* once; those beyond the number asked for are never looked for."""
    seen: set[Pair] = set()
    for pair in pairs:
        if pair not in seen:
            seen.add(pair)
            yield pair


def _opposed(reader: Reader, pairs: Sequence[Pair]) -> Iterator[tuple[int, int, str] | float]:
    """Those of *pairs* whose texts exclude each other, why, and the share of those compared."""
    texts: dict[int, str] = {}
    for some in batches(sorted({number for pair in pairs for number in pair}), READ_AT_ONCE):
        texts |= contents(reader, some)
    for place, (one, other) in enumerate(pairs):
        yield place / len(pairs)
        if (
            one in texts
            and other in texts
            and (
                reason := contradiction_between(texts[one], texts[other], f"memory {one}", f"memory {other}")
            )
        ):
            yield one, other, reason


def _by_words(reader: Reader, wanted: Filter) -> Iterator[Pair]:
    """Pairs that share a MinHash mark and enough of their words."""
    pairs = reader.near_duplicate_pairs(wanted, limit=MOST_PAIRS)
    texts: dict[int, str] = {}
    for some in batches(sorted({number for pair in pairs for number in pair}), READ_AT_ONCE):
        texts |= contents(reader, some)
    for one, other in pairs:
        if one in texts and other in texts and jaccard(texts[one], texts[other]) >= ALIKE_IN_WORDS:
            yield (min(one, other), max(one, other))


def _by_rarest(ctx: Context, reader: Reader, wanted: Filter) -> Iterator[Pair]:
    """Each of the newest memories with those that share its rarest words, as `remember` compares them."""
    newest = reader.select(wanted, limit=MOST_LOOKED_UP, order=Order.NEWEST)
    for memory in reader.get(newest):
        for other in sharing(ctx, reader, memory):
            yield (min(memory.id, other.id), max(memory.id, other.id))


def _by_meaning(reader: Reader, wanted: Filter) -> list[Pair]:
    """Of the newest memories with a single vector each, the pairs that are close, the closest first."""
    from mnemic.numeric import np

    newest = reader.select(wanted, limit=MOST_NEWEST, order=Order.NEWEST)
    stored = reader.vectors(newest)
    single = (memory for memory in reader.get(newest) if len(memory.statements) == 1)
    known = [
        (memory.id, stored[number]) for memory in single if (number := memory.statements[0].id) in stored
    ]
    found: list[tuple[float, Pair]] = []
    for model in {reading.model for _, reading in known}:  # vectors of different models cannot be compared
        some = [(number, reading) for number, reading in known if reading.model == model]
        matrix = np.array([reading.vector for _, reading in some])
        least = some[0][1].scale.cosine(ALIKE_IN_MEANING)
        cosines = np.triu(matrix @ matrix.T, 1)
        for left, right in np.argwhere(cosines >= least).tolist():
            one, other = sorted((some[left][0], some[right][0]))
            found.append((-float(cosines[left, right]), (one, other)))
    return [pair for _, pair in sorted(found)[:MOST_READ]]


def among(ctx: Context, memories: Sequence[Memory]) -> list[Contradiction]:
    """Contradictions of these memories: by link with any other, by text among themselves."""
    reader = ctx.read()
    living = {memory.id: memory for memory in memories if is_in_use(ctx, memory)}
    edges = [
        edge for edge in reader.edges(EdgeFilter(at=tuple(living), types=(CONTRADICTS,))) if edge.is_current
    ]
    ends = {end for edge in edges for end in (edge.source_id, edge.target_id)}
    seen = living | {memory.id: memory for memory in reader.get(sorted(ends)) if is_in_use(ctx, memory)}
    linked = [
        Contradiction(seen[edge.source_id], seen[edge.target_id], True, edge.reason)
        for edge in edges
        if edge.source_id in seen and edge.target_id in seen
    ]
    told = {frozenset((conflict.one.id, conflict.other.id)) for conflict in linked}
    read = (
        Contradiction(one, other, False, reason)
        for one, other in combinations(list(living.values())[:MOST_COMPARED], 2)
        if frozenset((one.id, other.id)) not in told
        and (
            reason := contradiction_between(
                one.content, other.content, f"memory {one.id}", f"memory {other.id}"
            )
        )
    )
    return [*linked, *read]
