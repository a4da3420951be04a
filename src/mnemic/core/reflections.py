"""Reflections: remarks about a memory, a link, a session or the whole store.

A reflection is a memory of its own kind; its target, author and mood are in its metadata.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from mnemic.core.annotations import TARGET
from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_backlog
from mnemic.core.expiry import change_after_expiry
from mnemic.core.memories import faithful, is_in_use
from mnemic.core.recall import needed_vector
from mnemic.errors import Invalid
from mnemic.model.annotations import REFLECTION
from mnemic.model.filter import Filter, Hit, Query
from mnemic.model.graph import EdgeDraft
from mnemic.model.memory import Draft, Memory
from mnemic.search.recency import RECENT
from mnemic.search.search import find_hits
from mnemic.storage.base import Writer

KIND, TARGET_TYPE = REFLECTION
"""Where its metadata says what sort of thing it is about; an entity of the same kind has none."""
ABOUT = "reflects_on"
ENTITY, RELATION, SESSION, EVERYTHING = "entity", "relation", "session", "global"
NEEDS_TARGET = frozenset({ENTITY, RELATION})
TARGETS = NEEDS_TARGET | {SESSION, EVERYTHING}
DEPTH = 3
"""Candidates of each source, as a multiple of the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """A thought to be kept."""

    text: str
    target_type: str = EVERYTHING
    target_id: int | None = None
    author: str | None = None
    mood: str | None = None


def add(
    ctx: Context,
    reflection: Reflection,
    *,
    authors: Collection[str] | None = None,
    moods: Collection[str] | None = None,
) -> Memory:
    """Keep *reflection*, linked to the memory it is about. Only these *authors* and *moods*, if given, will do."""
    _check(reflection, authors, moods)

    def work(tx: Writer) -> Memory:
        namespace = ctx.home()
        draft = Draft(
            namespace=namespace,
            texts=(reflection.text,),
            kind=KIND,
            source=reflection.author,
            metadata=faithful(_metadata(reflection)),
        )
        memory = tx.insert(draft, uid=ctx.new_uid())
        if reflection.target_type == ENTITY and reflection.target_id != memory.id:
            for target in tx.get([reflection.target_id or 0]):
                if is_in_use(ctx, target):
                    tx.insert_edge(EdgeDraft(memory.id, target.id, ABOUT))
        return memory

    memory = change_after_expiry(ctx, "reflect", work, namespaces=(ctx.home(),))
    ctx.wake()
    return memory


def _check(reflection: Reflection, authors: Collection[str] | None, moods: Collection[str] | None) -> None:
    if not reflection.text.strip():
        raise Invalid("text: must not be empty", "text")
    if reflection.target_type not in TARGETS:
        raise Invalid(f"target_type: must be one of {', '.join(sorted(TARGETS))}", "target_type")
    if reflection.target_id is None and reflection.target_type in NEEDS_TARGET:
        raise Invalid(f"target_id: a reflection on {reflection.target_type} needs one", "target_id")
    if reflection.target_id is not None and reflection.target_type == EVERYTHING:
        raise Invalid("target_id: a reflection on everything has none", "target_id")
    if authors is not None and reflection.author not in authors:
        raise Invalid(f"author: must be one of {', '.join(authors)}", "author")
    if moods is not None and reflection.mood is not None and reflection.mood not in moods:
        raise Invalid(f"mood: must be one of {', '.join(moods)}", "mood")


def _metadata(reflection: Reflection) -> dict[str, object]:
    metadata = {
        TARGET_TYPE: reflection.target_type,
        TARGET: reflection.target_id,
        "author": reflection.author,
        "mood": reflection.mood,
    }
    return {name: value for name, value in metadata.items() if value is not None}


def target_of(memory: Memory) -> int | None:
    """The number of the memory or link that *memory* is a thought about, or None."""
    number = memory.metadata.get(TARGET)
    has_target = memory.kind == KIND and memory.metadata.get(TARGET_TYPE) in (ENTITY, RELATION)
    return number if has_target and isinstance(number, int) else None


def aimed(memory: Memory, number: int | None) -> Memory:
    """*memory* as a thought about what has this number, or without saying which it is."""
    told = {**memory.metadata, TARGET: number}
    return replace(memory, metadata={name: value for name, value in told.items() if name != TARGET or number})


def search(
    ctx: Context,
    text: str,
    *,
    limit: int = 10,
    author: str | None = None,
    mood: str | None = None,
    target_type: str | None = None,
) -> list[Hit]:
    """The reflections nearest to *text* by meaning and by words, recent ones first. Unavailable without a model."""
    wanted = Filter(namespaces=ctx.scope(), kinds=(KIND,), alive_at=ctx.now())
    embed_backlog(ctx, wanted, is_fresh_needed=True)
    vector = needed_vector(ctx, Query(text=text, filter=wanted, now=ctx.now()))
    filters = {"author": author, "mood": mood, "target_type": target_type}
    depth = DEPTH * limit
    while True:
        query = Query(text=text, filter=wanted, limit=depth, now=ctx.now())
        hits = find_hits(ctx.read(), query, vector, RECENT)
        fitting = [hit for hit in hits if _fits(hit.memory, filters)]
        if len(fitting) >= limit or len(hits) < depth:
            return fitting[:limit]
        depth *= 4


def _fits(memory: Memory, filters: dict[str, str | None]) -> bool:
    return TARGET_TYPE in memory.metadata and all(
        memory.metadata.get(name) == value for name, value in filters.items() if value is not None
    )
