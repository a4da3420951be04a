"""Deduplication at write time: new memories are stored, known ones are refused.

A note whose title exists in the searched namespaces is known. So is one that is near enough to a memory:
0.6 of its jaccard in meaning to one of the nearest memories, and 0.4 of how much of its telling words that one holds,
where a word counts the more the rarer it is; the note itself would have 1 of both. Without a model the share of words
that two texts have in common decides alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_backlog, read_as
from mnemic.core.expiry import change_after_expiry
from mnemic.core.memories import Note, draft_of, in_use, is_in_use
from mnemic.dialects.lorekeeper.rare_words import rare_words
from mnemic.errors import Conflict, Unavailable
from mnemic.model.annotations import HIDDEN
from mnemic.model.filter import Filter
from mnemic.model.graph import Edge, EdgeDraft, EdgePatch
from mnemic.model.memory import Memory
from mnemic.model.vectors import Embedding
from mnemic.search.similarity import jaccard, near_duplicates
from mnemic.storage import queries
from mnemic.storage.base import Passage, Pending, Reader, Writer
from mnemic.storage.queries import edge_between, passing

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedder
    from mnemic.model.vectors import Vectors

SEMANTIC, KEYWORD = 0.6, 0.4
NEAREST = 5
MOST_WINDOWS = 8
"""Of a longer text only the beginning is compared, and its vectors are left to the background."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The namespaces to search (None: all), and the similarity from which a note counts as known."""

    namespaces: tuple[str, ...] | None
    threshold: float = 0.85

    def wanted(self, ctx: Context) -> Filter:
        """What a note is compared with."""
        return Filter(namespaces=self.namespaces, without=HIDDEN, alive_at=ctx.now())


@dataclass(frozen=True, slots=True)
class Twin:
    """A known memory that says what a note does, and how alike they are."""

    memory: Memory
    similarity: float


@dataclass(frozen=True, slots=True)
class Weighed:
    """A note with its vectors, its nearest memories and the one it repeats."""

    note: Note
    windows: tuple[tuple[int, int], ...] = ()
    vectors: Vectors | None = None
    model: Embedder | None = None
    """The one that made the vectors."""
    near: tuple[tuple[int, float], ...] = ()
    """The nearest memories with their similarities, nearest first; of a short note only those near enough to matter."""
    twin: Twin | None = None
    earlier: tuple[tuple[int, float], ...] = ()
    """The earlier notes of the call that say the same, by their places, and how alike each is."""


@dataclass(frozen=True, slots=True)
class NoteLink:
    """A link to be made, from a known memory or from the note at this place of the call."""

    target: int
    type: str
    reason: str | None = None
    source: int | None = None
    note: int | None = None
    quality: float | None = None


@dataclass(frozen=True, slots=True)
class Admitted:
    """What became of a note: the new memory, or the known one; neither, if it was forced onto a taken title."""

    memory: Memory | None = None
    twin: Twin | None = None
    linked: tuple[int, float] | None = None
    """The memory it was linked to for its jaccard, and that."""


@dataclass(frozen=True, slots=True)
class StoredNotes:
    """What became of the notes and of the ties; None for a tie of which an end was not kept or has left."""

    notes: tuple[Admitted, ...]
    edges: tuple[Edge | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Likely:
    """When a new memory is linked to the nearest automatically: cosine threshold, candidates, link type."""

    threshold: float = 0.75
    type: str = "related_to"
    reason: str = "alike: {:.2f}"
    among: int = NEAREST
    quality: float | None = None


def store_notes(
    ctx: Context,
    notes: Sequence[Note],
    gate: Gate,
    *,
    force: bool = False,
    ties: Sequence[NoteLink] = (),
    likely: Likely | None = None,
) -> StoredNotes:
    """Store the *notes* that are new and the links *ties*, in one transaction. *force* stores known ones too.

    The model reads the notes before the transaction, once, and what it made of them is kept with them.
    """
    weighed = [Weighed(note) for note in notes] if force else weigh(ctx, notes, gate, likely)

    def work(tx: Writer) -> tuple[list[Admitted], tuple[Edge | None, ...]]:
        admitted = admit(tx, ctx, weighed, gate, force=force)
        if likely is not None:
            admitted = [
                _linked(tx, ctx, one, each, likely) for one, each in zip(admitted, weighed, strict=True)
            ]
        edges = tuple(_tied(tx, ctx, admitted, tie) for tie in ties)
        return admitted, edges

    homes = {ctx.home(note.namespace) for note in notes}
    admitted, edges = change_after_expiry(ctx, "remember", work, namespaces=homes or ctx.usual)
    ctx.wake()
    return StoredNotes(tuple(admitted), edges)


# -- before the transaction


def weigh(ctx: Context, notes: Sequence[Note], gate: Gate, likely: Likely | None = None) -> list[Weighed]:
    """Compare *notes* with the store: near memories that may be duplicates or *likely* links."""
    wanted = gate.wanted(ctx)
    if notes:
        embed_backlog(ctx, wanted, is_fresh_needed=True)
    reader = ctx.read()
    # What the words could add at most is known before they are read.
    least = min((gate.threshold - KEYWORD) / SEMANTIC, likely.threshold if likely else 1.0)
    weighed = [_weighed(reader, one, wanted, gate.threshold, least) for one in _read(ctx, notes)]
    return [
        replace(one, earlier=_earlier(weighed[:place], one, gate.threshold))
        for place, one in enumerate(weighed)
    ]


def _read(ctx: Context, notes: Sequence[Note]) -> list[Weighed]:
    """The notes with their vectors, all made at once; without, where there is no model."""
    if ctx.embedder is None:
        return [Weighed(note) for note in notes]
    try:
        chosen = [ctx.embedder.model_for(note.text) for note in notes]
        weighed: dict[int, Weighed] = {}
        for model in ctx.embedder.models:
            places = [place for place, one in enumerate(chosen) if one.name == model.name]
            weighed |= zip(places, _embedded(model, [notes[place] for place in places]), strict=True)
        return [weighed[place] for place in range(len(notes))]
    except Unavailable:
        return [Weighed(note) for note in notes]


def _embedded(model: Embedder, notes: Sequence[Note]) -> list[Weighed]:
    """The notes with their vectors by one *model*."""
    cut = [tuple(model.windows(note.text)) for note in notes]
    texts = [
        read_as(Pending(0, 0, note.name or note.title, note.text, note.summary), *window)
        for note, windows in zip(notes, cut, strict=True)
        for window in windows[:MOST_WINDOWS]
    ]
    vectors = model.embed(texts) if texts else None
    weighed, start = [], 0
    for note, windows in zip(notes, cut, strict=True):
        end = start + min(len(windows), MOST_WINDOWS)
        weighed.append(Weighed(note, windows, None if vectors is None else vectors[start:end], model))
        start = end
    return weighed


def _weighed(reader: Reader, one: Weighed, wanted: Filter, threshold: float, least: float) -> Weighed:
    if one.vectors is None or one.model is None:
        return one
    stretches = [Embedding.by(one.model.name, vector) for vector in one.vectors]
    near = _near(reader, stretches, wanted, least)
    twin = _twin(reader, one.note, near, wanted, threshold)
    return replace(one, near=near, twin=twin)


def _near(
    reader: Reader, vectors: Sequence[Embedding], wanted: Filter, least: float
) -> tuple[tuple[int, float], ...]:
    """The memories nearest to a text: the average similarity of its passages to each."""
    if len(vectors) == 1:
        alone = queries.nearest(reader, vectors[0], wanted, limit=NEAREST, at_least=least)
        return tuple((near.memory_id, max(0.0, near.cosine)) for near in alone)
    found = [queries.nearest(reader, vector, wanted, limit=NEAREST) for vector in vectors]
    numbers = list(dict.fromkeys(near.memory_id for each in found for near in each))
    sums = dict.fromkeys(numbers, 0.0)
    for vector in vectors:
        for number, similarity in queries.similarities(reader, vector, numbers).items():
            sums[number] += max(0.0, similarity) / len(vectors)
    best = sorted(sums.items(), key=lambda one: -one[1])
    return tuple(best[:NEAREST])


def _twin(
    reader: Reader, note: Note, near: Sequence[tuple[int, float]], wanted: Filter, threshold: float
) -> Twin | None:
    """The known memory that *note* repeats most, if it does."""
    likely = dict(one for one in near if SEMANTIC * one[1] + KEYWORD >= threshold)
    if not likely:
        return None
    words = rare_words(reader, _words_of(note.name or note.title, note.summary, note.text), wanted.namespaces)
    twins = [
        Twin(
            memory,
            SEMANTIC * likely[memory.id]
            + KEYWORD * words.share_in(_words_of(memory.title, memory.summary, memory.content)),
        )
        for memory in reader.get(list(likely))
    ]
    best = max(twins, key=lambda twin: twin.similarity, default=None)
    return best if best is not None and best.similarity >= threshold else None


def _words_of(title: str | None, summary: str | None, text: str) -> str:
    return "\n".join(part for part in (title, summary, text) if part)


def _earlier(before: Sequence[Weighed], one: Weighed, threshold: float) -> tuple[tuple[int, float], ...]:
    """The places of the notes *before* that say what *one* does, and how alike each is."""
    alike = ((place, _alike(one, other, threshold)) for place, other in enumerate(before))
    return tuple(found for found in alike if found[1] >= threshold)


def _alike(one: Weighed, other: Weighed, threshold: float) -> float:
    """How alike two notes of the same call are, of which neither is in the index; 0 if below *threshold* anyway."""
    if one.vectors is None or other.vectors is None or one.model is not other.model:
        return 0.0
    semantic = float((one.vectors @ other.vectors.T).max(axis=1).mean())
    if SEMANTIC * semantic + KEYWORD < threshold:
        return 0.0
    words = [
        _words_of(each.note.name or each.note.title, each.note.summary, each.note.text)
        for each in (one, other)
    ]
    return SEMANTIC * max(0.0, semantic) + KEYWORD * jaccard(*words)


# -- in the transaction


def admit(
    tx: Writer, ctx: Context, weighed: Sequence[Weighed], gate: Gate, *, force: bool = False
) -> list[Admitted]:
    """Store the new ones of *weighed* within a transaction. They are compared with each other too."""
    admitted: list[Admitted] = []
    fresh: dict[int, Memory] = {}
    for place, one in enumerate(weighed):
        twin = None if force else _known(tx, ctx, one, gate, fresh)
        memory = None if twin else _added(tx, ctx, one.note)
        if memory is not None:
            fresh[place] = memory
        admitted.append(Admitted(memory, twin))
    _put_vectors(tx, ctx, [(weighed[place], memory) for place, memory in fresh.items()])
    return admitted


def _known(tx: Writer, ctx: Context, one: Weighed, gate: Gate, fresh: Mapping[int, Memory]) -> Twin | None:
    """The memory that *one* repeats: by its name, by what was found before, or one that came just now.

    *fresh* are the memories made of earlier notes of the call, by position.
    """
    for memory in titles.bearers(tx, one.note.name, gate.namespaces) if one.note.name is not None else ():
        return Twin(memory, 1.0)
    if one.twin is not None:
        # It was found before the transaction, and somebody may have let go of it since.
        for memory in tx.get([one.twin.memory.id]):
            if is_in_use(ctx, memory):
                return Twin(memory, one.twin.similarity)
    if one.vectors is None:
        alike = near_duplicates(tx, one.note.text, gate.wanted(ctx)) if one.note.text else ()
        return next((Twin(memory, near) for memory, near in alike if near >= gate.threshold), None)
    twins = (Twin(fresh[place], similarity) for place, similarity in one.earlier if place in fresh)
    return max(twins, key=lambda twin: twin.similarity, default=None)


def _added(tx: Writer, ctx: Context, note: Note) -> Memory | None:
    """The memory made of *note*, or None if its name is taken."""
    try:
        return titles.insert(tx, ctx, draft_of(tx, ctx, note))
    except Conflict:
        return None


def _put_vectors(tx: Writer, ctx: Context, fresh: Sequence[tuple[Weighed, Memory]]) -> None:
    """Store the vectors that were computed for the comparison."""
    for model in ctx.embedder.models if ctx.embedder is not None else ():
        passages = [
            Passage(memory.statements[0].id, start, end, vector)
            for one, memory in fresh
            if one.vectors is not None and one.model is model and len(one.windows) <= MOST_WINDOWS
            for (start, end), vector in zip(one.windows, one.vectors, strict=True)
        ]
        if passages:
            tx.put_vectors(model.name, model.dimension, passages)


def _linked(tx: Writer, ctx: Context, one: Admitted, weighed: Weighed, likely: Likely) -> Admitted:
    """*one*, linked to the nearest memory there is if that is near enough."""
    near = [found for found in weighed.near[: likely.among] if found[1] >= likely.threshold]
    if one.memory is None or not near:
        return one
    living = {memory.id for memory in tx.get([number for number, _ in near]) if is_in_use(ctx, memory)}
    for number, cosine in near:
        if number in living:
            reason = likely.reason.format(cosine)
            tx.insert_edge(
                EdgeDraft(one.memory.id, number, likely.type, reason=reason, quality=likely.quality)
            )
            return Admitted(one.memory, None, (number, cosine))
    return one


def _tied(tx: Writer, ctx: Context, admitted: Sequence[Admitted], tie: NoteLink) -> Edge | None:
    """The link that *tie* describes; an existing one gets this reason. None if an end is missing."""
    memory = None if tie.note is None else admitted[tie.note].memory
    source = tie.source if tie.note is None else memory.id if memory else None
    if source is None or {source, tie.target} - passing(tx, [source, tie.target], in_use(ctx)):
        return None
    standing = edge_between(tx, source, tie.target, tie.type)
    if standing:
        return tx.update_edge(standing, EdgePatch(reason=tie.reason or standing.reason))
    return tx.insert_edge(EdgeDraft(source, tie.target, tie.type, reason=tie.reason, quality=tie.quality))
