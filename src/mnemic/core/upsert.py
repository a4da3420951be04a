"""Upsert by name: a memory with that name in its namespace is updated instead of stored again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.core.memories import Note, Revision, faithful, keep, living, patch_of
from mnemic.model.enums import Tier
from mnemic.model.filter import Filter
from mnemic.model.memory import Memory, MemoryPatch
from mnemic.model.time import Moment
from mnemic.search.query import STOP_WORDS, content_words
from mnemic.storage.base import Reader, Writer
from mnemic.storage.index_tokens import stems
from mnemic.storage.queries import best_words

CONTRADICTIONS = 5
LOOKED_AT = 20
"""Memories with words of a new title that are looked at for a similar one."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory that was stored, whether its name was known, and what it may contradict."""

    memory: Memory
    is_known: bool = False
    contradictions: tuple[Memory, ...] = ()


def store(ctx: Context, note: Note) -> Stored:
    """Keep *note*, which has a name, or bring the memory up to date that bears it.

    Then the text, tags, source and metadata are replaced; priority, confidence and tier are never lowered.
    """
    similar = similar_titles(ctx.read(), ctx, note)
    home = ctx.home(note.namespace)
    stored = change_after_expiry(ctx, "store", lambda tx: put(tx, ctx, note), namespaces=(home,))
    ctx.wake()
    others = (memory for memory in similar if memory.id != stored.memory.id)
    return replace(stored, contradictions=tuple(others)[:CONTRADICTIONS])


def store_all(ctx: Context, notes: Sequence[Note]) -> list[Stored]:
    """`store` for many, in one transaction and without a look for contradictions."""
    stored = change_after_expiry(
        ctx,
        "store",
        lambda tx: [put(tx, ctx, note) for note in notes],
        namespaces=(ctx.home(note.namespace) for note in notes),
    )
    ctx.wake()
    return stored


def put(tx: Writer, ctx: Context, note: Note) -> Stored:
    """`store` as a part of a transaction."""
    assert note.name, "a note is stored under its name"
    for known in titles.bearers(tx, note.name, (ctx.home(note.namespace),)):
        return Stored(refresh(tx, ctx, known, note), is_known=True)
    return Stored(keep(tx, ctx, note))


def refresh(tx: Writer, ctx: Context, known: Memory, note: Note) -> Memory:
    """*known* with the text, tags, source and metadata of *note*, and the greater priority, confidence and tier."""
    tier = max(known.tier, note.tier or Tier.LONG, key=lambda tier: tier.rank)
    patch = MemoryPatch(
        texts=(note.text,),
        tags=tuple(dict.fromkeys(note.tags)),
        source=note.source,
        metadata=faithful(note.metadata),
        priority=max(known.priority, note.priority),
        confidence=max(known.confidence, note.confidence),
        tier=tier,
        expires_at=_refreshed_end(ctx, known, note, tier),
    )
    return tx.update(known, patch)


def _refreshed_end(ctx: Context, known: Memory, note: Note, tier: Tier) -> Moment | None:
    if tier is Tier.LONG:
        return None
    if note.expires_at is not None or note.ttl is not None:
        return note.expires_at or ctx.lives.expiry(tier, note.ttl, ctx.now())
    return later(known.expires_at, ctx.lives.expiry(tier, None, ctx.now()))


def later(one: Moment | None, other: Moment | None) -> Moment | None:
    """The later of two ends; None has none and is the latest."""
    return None if one is None or other is None else max(one, other)


def similar_titles(reader: Reader, ctx: Context, note: Note) -> list[Memory]:
    """Memories of the note's namespace whose titles share a telling word with its own, the best match first."""
    terms = [word for word in content_words(note.name or "") if word not in STOP_WORDS]
    wanted = Filter(namespaces=(ctx.home(note.namespace),), alive_at=ctx.now())
    found = best_words(reader, terms, wanted, limit=LOOKED_AT)
    telling = set(stems(" ".join(terms)))
    memories = reader.get([number for number, _ in found])
    return [memory for memory in memories if telling.intersection(stems(memory.title))]


def update(ctx: Context, memory_id: int, revision: Revision) -> Memory:
    """Change a living memory (by number). A lower tier is not taken over; the tier long has no end.

    One whose time is over can be changed until it is collected. Conflict if the new name is taken in its namespace.
    """

    def work(tx: Writer) -> Memory:
        memory = living(tx, ctx, memory_id)
        namespace = ctx.home(revision.namespace or memory.namespace)
        if name := revision.name or memory.name:
            titles.refuse_taken(tx, name, namespace, memory.id)
        return titles.update(tx, memory, _raised(ctx, memory, revision))

    moves_to = () if revision.namespace is None else (ctx.home(revision.namespace),)
    changed = ctx.change("update", work, namespaces=(*ctx.usual, *moves_to))
    ctx.wake()
    return changed


def _raised(ctx: Context, memory: Memory, revision: Revision) -> MemoryPatch:
    """The change that *revision* makes, with a tier that is only ever raised."""
    patch = patch_of(ctx, memory, replace(revision, tier=None))
    if revision.tier is None or revision.tier.rank <= memory.tier.rank:
        return patch
    end = None if revision.tier is Tier.LONG else ctx.lives.expiry(revision.tier, None, ctx.now())
    return MemoryPatch(expires_at=later(memory.expires_at, end)).then(replace(patch, tier=revision.tier))
