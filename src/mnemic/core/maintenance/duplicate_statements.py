"""Duplicates: statements of one memory that say the same, or of which one says what the other does and more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from string import punctuation
from typing import TYPE_CHECKING

from mnemic.core.context import Context
from mnemic.core.embedding_queue import ANALYSED, embed_backlog
from mnemic.core.expiry import change_after_expiry
from mnemic.core.maintenance.split import meanings
from mnemic.core.memories import locate, must_live
from mnemic.errors import Conflict, Unavailable
from mnemic.model.filter import Filter
from mnemic.model.memory import Memory, MemoryPatch, Statement
from mnemic.model.shapes import Origins, Outline
from mnemic.storage.base import Reader, Writer

if TYPE_CHECKING:
    from mnemic.model.vectors import Reading, Vectors

COSINE, CONTAINMENT = 0.85, 0.7
UNEQUAL = 2.0
"""From this ratio of lengths on, a text may be contained in the other."""
MARGIN = 0.05
"""Under a common title two texts are rarely less alike than by themselves; by so much they may be."""
LOOKED_AT_CLOSELY = 500
"""Suspects of a whole store that are embedded separately; stored vectors decide about the others."""
_MARKS = punctuation + "¿¡«»“”‘’…"


class StatementMatch(StrEnum):
    """How two statements were found to be alike."""

    COSINE = "cosine"
    CONTAINMENT = "containment"


@dataclass(frozen=True, slots=True)
class StatementPair:
    """Two statements that say the same, the earlier first, and their cosine."""

    one: Statement
    other: Statement
    similarity: float
    match: StatementMatch


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Duplicates within a memory: pairs, and the groups they form."""

    memory: Memory
    pairs: tuple[StatementPair, ...]
    groups: tuple[tuple[Statement, ...], ...]


@dataclass(frozen=True, slots=True)
class Flagged:
    """A statement that resembles one its memory had before, and that one."""

    memory: Memory
    statement: Statement
    earlier: Statement
    similarity: float


def find(
    ctx: Context, reference: int | str, *, cosine: float = COSINE, containment: float = CONTAINMENT
) -> Duplicates:
    """The statements of a memory that are alike. Unavailable without a model."""
    memory = locate(ctx.read(), ctx, reference)
    vectors = meanings(ctx, memory.texts) if memory.statements else None
    if vectors is None and memory.statements:
        raise Unavailable("There is no embedding model to compare statements with. See `mnemic doctor`.")
    pairs = () if vectors is None else tuple(_pairs(memory.statements, vectors, cosine, containment))
    return Duplicates(memory, pairs, joined(pairs))


def _pairs(
    statements: Sequence[Statement], vectors: Vectors, cosine: float, containment: float
) -> Iterator[StatementPair]:
    similarity = (vectors @ vectors.T).tolist()
    for one, other in combinations(range(len(statements)), 2):
        near = similarity[one][other]
        match = matched(statements[one].text, statements[other].text, near, cosine, containment)
        if match:
            yield StatementPair(statements[one], statements[other], near, match)


def matched(
    one: str, other: str, similarity: float, cosine: float = COSINE, containment: float = CONTAINMENT
) -> StatementMatch | None:
    """How two texts of this cosine are alike, if they are."""
    if similarity >= cosine:
        return StatementMatch.COSINE
    short, long = sorted((one, other), key=len)
    is_unequal = len(long) >= UNEQUAL * len(short)
    return StatementMatch.CONTAINMENT if is_unequal and contained(short, long) >= containment else None


def contained(short: str, long: str) -> float:
    """Share of the words of *short* that occur in *long*; 1 if it has none."""
    ours = _words(short)
    return len(ours & _words(long)) / len(ours) if ours else 1.0


def _words(text: str) -> set[str]:
    return {word for part in text.lower().split() if (word := part.strip(_MARKS))}


def joined(pairs: Sequence[StatementPair]) -> tuple[tuple[Statement, ...], ...]:
    """The statements of *pairs* in groups: two belong together if a chain of pairs leads from one to the other."""
    statements = {statement.id: statement for pair in pairs for statement in (pair.one, pair.other)}
    groups = chains((pair.one.id, pair.other.id) for pair in pairs)
    return tuple(tuple(statements[number] for number in group) for group in groups)


def chains(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The numbers of *pairs* in groups, each in order: two belong together if a chain of pairs joins them."""
    parent: dict[int, int] = {}

    def root(number: int) -> int:
        while (above := parent.setdefault(number, number)) != number:
            parent[number] = parent[above]
            number = above
        return number

    for one, other in pairs:
        parent[root(other)] = root(one)
    groups: dict[int, list[int]] = {}
    for number in sorted(parent):
        groups.setdefault(root(number), []).append(number)
    return list(groups.values())


def superfluous(found: Duplicates) -> list[Statement]:
    """What could go: of each group all but the longest, and of equally long ones the first."""
    kept = {max(group, key=lambda one: len(one.text)).id for group in found.groups}
    return [one for group in found.groups for one in group if one.id not in kept]


def drop(ctx: Context, found: Duplicates) -> Memory:
    """Remove the redundant statements. Conflict if the memory has changed since the analysis."""
    gone = {statement.id for statement in superfluous(found)}

    def work(tx: Writer) -> Memory:
        memory = locate(tx, ctx, found.memory.id)
        must_live(memory)
        if memory.statements != found.memory.statements:
            raise Conflict(f"Memory {memory.id} has changed meanwhile; look at it again")
        left = [statement.text for statement in memory.statements if statement.id not in gone]
        return tx.update(memory, MemoryPatch(texts=left))

    return change_after_expiry(ctx, "tidy", work, namespaces=(found.memory.namespace,))


def flagged(ctx: Context, wanted: Filter, outlines: Sequence[Outline]) -> list[Flagged]:
    """Statements of these memories that resemble an earlier one.

    Stored vectors (of text with title) find suspects; vectors of the texts alone decide.
    """
    grown = [one.id for one in outlines if one.has_grown]
    if not grown:
        return []
    embed_backlog(ctx, wanted, ANALYSED)
    reader = ctx.read()
    vectors, origins = reader.vectors(grown), _origins(reader, grown)
    suspects = [one for memory in reader.get(grown) for one in _suspects(memory, vectors, origins)]
    return [one for one in _looked_at(ctx, suspects) if _is_alike(one)]


def _origins(reader: Reader, memory_ids: Sequence[int]) -> dict[int, int]:
    """The change each statement of these memories came with, by the statement's number."""
    return dict(pair for one in reader.look(memory_ids, Origins) for pair in one.origins)


def _suspects(memory: Memory, stored: dict[int, Reading], origins: dict[int, int]) -> Iterator[Flagged]:
    """Each statement that may resemble an earlier one, with the one of the same model that it resembles most."""
    ours = {one.id: stored[one.id] for one in memory.statements if one.id in stored}
    for model in {one.model for one in ours.values()}:
        vectors = {number: one.vector for number, one in ours.items() if one.model == model}
        yield from _suspects_of(memory, vectors, origins)


def _suspects_of(memory: Memory, vectors: dict[int, Vectors], origins: dict[int, int]) -> Iterator[Flagged]:
    """The same by the vectors of one model."""
    from mnemic.numeric import np

    known = [one for one in memory.statements if one.id in vectors]
    if len(known) < 2:
        return
    matrix = np.array([vectors[one.id] for one in known])
    came = np.array([origins[one.id] for one in known])
    similarity = np.where(came[:, None] > came[None, :], matrix @ matrix.T, -np.inf)
    best = similarity.argmax(axis=1)
    for place, near in enumerate(best.tolist()):
        one = Flagged(memory, known[place], known[near], float(similarity[place, near]))
        if np.isfinite(one.similarity) and _is_alike(one, MARGIN):
            yield one


def _is_alike(one: Flagged, margin: float = 0.0) -> bool:
    return matched(one.statement.text, one.earlier.text, one.similarity, COSINE - margin) is not None


def _looked_at(ctx: Context, suspects: Sequence[Flagged]) -> list[Flagged]:
    """The suspects with cosines of their texts alone, if there is a model and time."""
    close, rest = suspects[:LOOKED_AT_CLOSELY], suspects[LOOKED_AT_CLOSELY:]
    texts = list(dict.fromkeys(text for one in close for text in (one.statement.text, one.earlier.text)))
    vectors = meanings(ctx, texts) if texts else None
    if vectors is None:
        return list(suspects)
    by_text = dict(zip(texts, vectors, strict=True))
    return [
        Flagged(
            one.memory,
            one.statement,
            one.earlier,
            float(by_text[one.statement.text] @ by_text[one.earlier.text]),
        )
        for one in close
    ] + list(rest)
