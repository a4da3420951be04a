"""Storing under a title: what bears it in its namespace already is brought up to date instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemic.core.context import Context
from mnemic.core.hidden import bearers
from mnemic.core.memories import Note, Revision, changes_of, faithful, keep, living
from mnemic.core.upkeep import write_after_expiry
from mnemic.errors import Conflict
from mnemic.model.memory import Memory
from mnemic.model.search import Filter
from mnemic.model.values import Moment, Tier
from mnemic.retrieval.text import STOP_WORDS, content_words
from mnemic.storage.base import Reader, Writer

CONTRADICTIONS = 5
LOOKED_AT = 20
"""So many memories that hold words of a new title are looked at for a similar one."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory that was stored, whether its title was known, and what it may contradict."""

    memory: Memory
    is_known: bool = False
    contradictions: tuple[Memory, ...] = ()


def store(ctx: Context, note: Note) -> Stored:
    """Keep *note*, which has a title, or bring the memory up to date that bears it.

    Then the text, tags, source and metadata are replaced; priority, confidence and tier are never lowered.
    """
    similar = similar_titles(ctx.store.read(), ctx, note)
    with write_after_expiry(ctx, "store") as tx:
        stored = put(tx, ctx, note)
    ctx.wake()
    others = (memory for memory in similar if memory.id != stored.memory.id)
    return replace(stored, contradictions=tuple(others)[:CONTRADICTIONS])


def store_all(ctx: Context, notes: Sequence[Note]) -> list[Stored]:
    """`store` for many, in one transaction and without a look for contradictions."""
    with write_after_expiry(ctx, "store") as tx:
        stored = [put(tx, ctx, note) for note in notes]
    ctx.wake()
    return stored


def put(tx: Writer, ctx: Context, note: Note) -> Stored:
    """`store` as a part of a transaction."""
    assert note.title, "a note is stored under its title"
    for known in bearers(tx, note.title, (ctx.home(note.namespace),)):
        return Stored(tx.change(known, **_refreshed(ctx, known, note)), is_known=True)
    return Stored(keep(tx, ctx, note))


def _refreshed(ctx: Context, known: Memory, note: Note) -> dict[str, object]:
    tier = max(known.tier, note.tier or Tier.LONG, key=lambda tier: tier.rank)
    return {
        "texts": (note.text,),
        "tags": tuple(dict.fromkeys(note.tags)),
        "source": note.source,
        "metadata": faithful(note.metadata),
        "priority": max(known.priority, note.priority),
        "confidence": max(known.confidence, note.confidence),
        "tier": tier,
        "expires_at": _refreshed_end(ctx, known, note, tier),
    }


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
    terms = [word for word in content_words(note.title or "") if word not in STOP_WORDS]
    wanted = Filter(namespaces=(ctx.home(note.namespace),), alive_at=ctx.now())
    found = reader.words(terms, wanted, every=False, limit=LOOKED_AT)
    telling = set(reader.stems(" ".join(terms)))
    memories = reader.memories([number for number, _ in found])
    return [memory for memory in memories if telling.intersection(reader.stems(memory.title))]


def update(ctx: Context, memory_id: int, revision: Revision) -> Memory:
    """Change a living memory (by number). A lower tier is not taken over; the tier long has no end.

    One whose time is over can be changed until it is collected. Conflict if the new title is taken in its namespace.
    """
    with ctx.write("update") as tx:
        memory = living(tx, ctx, memory_id)
        namespace = ctx.home(revision.namespace or memory.namespace)
        refuse_taken(tx, revision.title or memory.title, namespace, memory.id)
        changed = tx.change(memory, **_updates(ctx, memory, revision))
    ctx.wake()
    return changed


def refuse_taken(reader: Reader, title: str, namespace: str, memory_id: int | None = None) -> None:
    """Conflict if another memory than this one bears *title* in *namespace*."""
    for other in bearers(reader, title, (namespace,)):
        if other.id != memory_id:
            raise Conflict(f"title '{title}' already exists in namespace '{namespace}' (memory {other.uid})")


def _updates(ctx: Context, memory: Memory, revision: Revision) -> dict[str, object]:
    changes = changes_of(ctx, memory, replace(revision, tier=None))
    if revision.tier is None or revision.tier.rank <= memory.tier.rank:
        return changes
    end = None if revision.tier is Tier.LONG else ctx.lives.expiry(revision.tier, None, ctx.now())
    return {"expires_at": later(memory.expires_at, end), **changes, "tier": revision.tier}
