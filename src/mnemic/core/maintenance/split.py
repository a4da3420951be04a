"""Splitting: a memory that says too much becomes several, one a topic, linked with it both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.core.embedding_queue import ANALYSED, embed_backlog
from mnemic.core.expiry import change_after_expiry
from mnemic.core.graph import link_once
from mnemic.core.maintenance.topics import Topics, topics_of
from mnemic.core.memories import locate, must_live
from mnemic.errors import Invalid, Unavailable
from mnemic.model.filter import Filter
from mnemic.model.memory import Draft, Memory, MemoryPatch, heading
from mnemic.model.shapes import Outline
from mnemic.storage.base import Reader, Writer

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedder
    from mnemic.model.vectors import Vectors

CONTAINS, PART_OF = "contains", "part_of"
LABEL = "Topic"
GROUPED_BY_MEANING = 300
"""Memories of a whole store that are grouped by meaning; each costs a model run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """How many statements a memory of a kind may hold before it is too large."""

    default: int = 20
    by_kind: Mapping[str, int] = field(default_factory=dict)

    def of(self, kind: str) -> int:
        """The threshold for memories of *kind*."""
        return self.by_kind.get(kind, self.default)


@dataclass(frozen=True, slots=True)
class Analysis:
    """How full a memory is and, if it is too full, the topics it speaks of."""

    memory: Memory
    threshold: int
    topics: Topics = field(default_factory=dict)

    @property
    def score(self) -> float:
        """How much it says, as a multiple of what it should."""
        return len(self.memory.statements) / self.threshold

    @property
    def needs_split(self) -> bool:
        """Whether it says more than it should."""
        return len(self.memory.statements) > self.threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitPart:
    """A memory that is to take some of another's statements."""

    title: str
    texts: Sequence[str]
    kind: str | None = None
    """That of the whole, if not given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Result of a split: the original, its parts, statements moved and links made."""

    whole: Memory
    parts: tuple[Memory, ...]
    moved: int
    links: int


def analyse(ctx: Context, reference: int | str, thresholds: Thresholds, *, label: str = LABEL) -> Analysis:
    """How full the memory is, and the topics of one that is too full. Without a model, by its words."""
    memory = locate(ctx.read(), ctx, reference)
    analysis = Analysis(memory, thresholds.of(memory.kind))
    if not analysis.needs_split:
        return analysis
    texts = memory.texts
    return Analysis(memory, analysis.threshold, topics_of(texts, meanings(ctx, texts), label))


def meanings(ctx: Context, texts: Sequence[str]) -> Vectors | None:
    """The vectors of *texts* by themselves, by one model: under their common title they would all look alike."""
    if ctx.embedder is None:
        return None
    try:
        return ctx.embedder.model_for("\n".join(texts)).embed(texts)
    except Unavailable:
        return None


def propose(analysis: Analysis) -> list[SplitPart]:
    """A part for each topic, called after the whole and the topic."""
    return [
        SplitPart(title=f"{analysis.memory.title} - {topic}", texts=texts, kind=analysis.memory.kind)
        for topic, texts in analysis.topics.items()
    ]


def candidates(ctx: Context, wanted: Filter, thresholds: Thresholds, *, label: str = LABEL) -> list[Analysis]:
    """Every memory that passes *wanted* and says more than it should, the fullest first, with its topics."""
    outlines = ctx.read().look(wanted, Outline)
    return analyses(ctx, wanted, outlines, thresholds, label=label)


def analyses(
    ctx: Context, wanted: Filter, outlines: Sequence[Outline], thresholds: Thresholds, *, label: str = LABEL
) -> list[Analysis]:
    """The same for memories of which the outlines are known."""
    full = [one for one in outlines if one.statements > thresholds.of(one.kind)]
    if not full:
        return []
    embed_backlog(ctx, wanted, ANALYSED)
    reader = ctx.read()
    full.sort(key=lambda one: -one.statements / thresholds.of(one.kind))
    found = reader.get([one.id for one in full])
    stored = _stored_meanings(ctx, reader, found[:GROUPED_BY_MEANING])
    return [
        Analysis(memory, thresholds.of(memory.kind), topics_of(memory.texts, stored.get(memory.id), label))
        for memory in found
    ]


def _stored_meanings(ctx: Context, reader: Reader, found: Sequence[Memory]) -> dict[int, Vectors]:
    """The vectors the store has for each memory's statements, with what they owe to the title taken out.

    So a memory costs one run of the model, not one for each statement.
    """
    stored = reader.vectors([memory.id for memory in found])
    meant: dict[int, Vectors] = {}
    for model in ctx.embedder.models if ctx.embedder is not None else ():
        vectors = {number: one.vector for number, one in stored.items() if one.model == model.name}
        whole = [memory for memory in found if all(one.id in vectors for one in memory.statements)]
        meant |= _untitled(model, whole, vectors)
    return meant


def _untitled(model: Embedder, found: Sequence[Memory], vectors: Mapping[int, Vectors]) -> dict[int, Vectors]:
    """The *vectors* of each memory's statements by *model* without the share of its title; none if that fails."""
    from mnemic.numeric import np

    try:
        titles = model.embed([heading(memory.title, memory.kind) for memory in found]) if found else ()
    except Unavailable:
        return {}
    return {
        memory.id: _without(np.array([vectors[one.id] for one in memory.statements]), title)
        for memory, title in zip(found, titles, strict=True)
    }


def _without(vectors: Vectors, title: Vectors) -> Vectors:
    """*vectors* without their share of *title*, made one long again."""
    from mnemic.numeric import np

    rest = vectors - np.outer(vectors @ title, title)
    unit: Vectors = rest / np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), 1e-9)
    return unit


def split(
    ctx: Context,
    reference: int | str,
    parts: Sequence[SplitPart],
    *,
    parent: int | None = None,
    contains: str = CONTAINS,
    part_of: str = PART_OF,
) -> Split:
    """Move the statements of *parts* out of a memory into new ones, or into those that bear the title already.

    All in one transaction. A text the whole does not hold is added to the part all the same. The parts are linked with
    *parent*, or with the memory itself.
    """

    def work(tx: Writer) -> tuple[Memory, list[Memory], int, int]:
        whole = locate(tx, ctx, reference)
        must_live(whole)
        made = [_made(tx, ctx, whole, part) for part in parts]
        above = whole.id if parent is None else parent
        links = sum(
            link_once(tx, above, one.id, contains) + link_once(tx, one.id, above, part_of) for one in made
        )
        moving = {text for part in parts for text in part.texts}
        left = [text for text in whole.texts if text not in moving]
        moved = len(whole.statements) - len(left)
        whole = tx.update(whole, MemoryPatch(texts=left))
        return whole, made, links, moved

    whole, made, links, moved = change_after_expiry(ctx, "split", work, namespaces=ctx.usual)
    ctx.wake()
    return Split(whole=whole, parts=tuple(made), moved=moved, links=links)


def _made(tx: Writer, ctx: Context, whole: Memory, part: SplitPart) -> Memory:
    """The memory that holds *part*."""
    texts = tuple(dict.fromkeys(part.texts))
    kind = part.kind or whole.kind
    for standing in titles.bearers(tx, part.title, (whole.namespace,)):
        if standing.id == whole.id:
            raise Invalid("parts: a part needs a title of its own", "parts")
        both = tuple(dict.fromkeys((*standing.texts, *texts)))
        return tx.update(standing, MemoryPatch(kind=kind, texts=both))
    draft = Draft(
        namespace=whole.namespace,
        name=part.title,
        texts=texts,
        kind=kind,
        tags=whole.tags,
        priority=whole.priority,
        confidence=whole.confidence,
        tier=whole.tier,
        source=whole.source,
        session_id=whole.session_id,
        expires_at=whole.expires_at,
    )
    return titles.insert(tx, ctx, draft)
