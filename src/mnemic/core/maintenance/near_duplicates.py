"""Near-duplicates across the whole store, and the merged text of each group.

The work is bounded. MinHash signatures are read once, in order; a memory is compared word by word with the few before
it that share a signature, at most MOST_PAIRS pairs. The vectors of the MOST_NEWEST newest memories are compared
pairwise, which finds paraphrases. Texts that differ in a number, or contradict each other, are no duplicates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.maintenance.duplicate_statements import chains
from mnemic.core.maintenance.merge import merge
from mnemic.core.trust.contradiction import contradiction_between
from mnemic.model.annotations import HIDDEN
from mnemic.model.filter import Filter, Order
from mnemic.model.memory import Memory
from mnemic.search.similarity import NEAR, jaccard
from mnemic.storage.base import Reader
from mnemic.storage.queries import contents
from mnemic.storage.tokenizer import words

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors

CLOSE = 0.93
"""From this cosine on, two memories say the same in other words."""
MOST_PAIRS, MOST_NEWEST, MOST_GROUPS = 200_000, 2_000, 200
READ_AT_ONCE = 5_000
COMPARED_AT_ONCE = 500
"""Pairs, a few milliseconds of work, after which the share that is done is told."""


@dataclass(frozen=True, slots=True)
class Double:
    """Two memories that say nearly the same, the older first, and how alike they are, 0 to 1."""

    one: int
    other: int
    similarity: float


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Memories that say nearly the same: the one to keep, the others, and how alike the least alike pair is."""

    kept: Memory
    others: tuple[Memory, ...]
    similarity: float

    @property
    def texts(self) -> tuple[str, ...]:
        """What the one that is kept would say, were the others merged into it."""
        said = (text for memory in (self.kept, *self.others) for text in memory.texts)
        return tuple(dict.fromkeys(said))


def find(ctx: Context, namespace: str | None = None) -> list[DuplicateGroup]:
    """The groups of living memories that say nearly the same, each within a namespace, most alike first."""
    return [step for step in search(ctx, namespace) if isinstance(step, DuplicateGroup)]


def search(ctx: Context, namespace: str | None = None) -> Iterator[DuplicateGroup | float]:
    """The same groups, and before them now and then the share of the work that is done."""
    reader = ctx.read()
    wanted = _looked_at(ctx, namespace)
    pairs: list[Double] = []
    for step in _by_words(reader, wanted):
        if isinstance(step, float):
            yield step
        else:
            pairs.append(step)
    pairs += _by_vectors(reader, wanted)
    groups = sorted(_groups(reader, pairs), key=lambda group: (-group.similarity, group.kept.id))
    yield from groups[:MOST_GROUPS]


def apply(ctx: Context, groups: Sequence[DuplicateGroup]) -> int:
    """Merge the others of each group into the one that is kept, a transaction each; how many memories that took."""
    for group in groups:
        for other in group.others:
            merge(ctx, other.id, group.kept.id)
    return sum(len(group.others) for group in groups)


def _looked_at(ctx: Context, namespace: str | None) -> Filter:
    return Filter(namespaces=ctx.scope(namespace), without=HIDDEN, alive_at=ctx.now())


def _speak_against(one: str, other: str) -> bool:
    return contradiction_between(one, other) is not None


def _by_words(reader: Reader, wanted: Filter) -> Iterator[Double | float]:
    """The pairs that share enough words, and the share of those compared; a memory that says nothing is in none."""
    pairs = reader.near_duplicate_pairs(wanted, limit=MOST_PAIRS)
    texts: dict[int, str] = {}
    for some in batches(sorted({number for pair in pairs for number in pair}), READ_AT_ONCE):
        texts |= contents(reader, some)
        yield 0.0
    for place, (one, other) in enumerate(pairs):
        if place % COMPARED_AT_ONCE == 0:
            yield place / len(pairs)
        if one in texts and other in texts:
            alike = jaccard(texts[one], texts[other])
            if alike >= NEAR and _agree(texts[one], texts[other]):
                yield Double(one, other, alike)


def _agree(one: str, other: str) -> bool:
    """Whether two texts name the same numbers and none speaks against the other."""
    return one == other or (_numbers(one) == _numbers(other) and not _speak_against(one, other))


def _numbers(text: str) -> set[str]:
    return {word for word in words(text) if any(char.isdigit() for char in word)}


def _by_vectors(reader: Reader, wanted: Filter) -> Iterator[Double]:
    """Of the newest memories with a single vector each, those that are close."""
    newest = reader.select(wanted, limit=MOST_NEWEST, order=Order.NEWEST)
    stored = reader.vectors(newest)
    single = (memory for memory in reader.get(newest) if len(memory.statements) == 1)
    known = [(memory, stored[number]) for memory in single if (number := memory.statements[0].id) in stored]
    for model in {vector.model for _, vector in known}:
        yield from _close(reader, [(memory, one.vector) for memory, one in known if one.model == model])


def _close(reader: Reader, known: Sequence[tuple[Memory, Vectors]]) -> Iterator[Double]:
    """The pairs of memories whose vectors, by the same model, are close."""
    from mnemic.numeric import np

    matrix = np.array([vector for _, vector in known])
    close = np.argwhere(np.triu(matrix @ matrix.T, 1) >= CLOSE).tolist()
    for left, right in close:
        one, other = sorted((known[left][0], known[right][0]), key=lambda memory: memory.id)
        if one.namespace == other.namespace and _agree(one.content, other.content):
            yield Double(one.id, other.id, min(1.0, float(matrix[left] @ matrix[right])))


def _groups(reader: Reader, pairs: Sequence[Double]) -> Iterator[DuplicateGroup]:
    """The memories that chains of pairs join, the one first that was used most, else the oldest."""
    least: dict[int, float] = {}
    for pair in pairs:
        least[pair.one] = min(pair.similarity, least.get(pair.one, 1.0))
    for numbers in chains((pair.one, pair.other) for pair in pairs):
        kept, *others = sorted(reader.get(numbers), key=lambda memory: (-memory.access_count, memory.id))
        yield DuplicateGroup(kept, tuple(others), min(least.get(number, 1.0) for number in numbers))
