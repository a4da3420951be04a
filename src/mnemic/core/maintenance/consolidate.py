"""Making one memory of several, by hand or by what they have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mnemic.core import titles
from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.core.graph import link_once
from mnemic.core.memories import SUPERSEDES, is_in_use, living
from mnemic.core.retention import count
from mnemic.core.standards import settings
from mnemic.core.states import taken_out
from mnemic.core.usage import Use
from mnemic.model.enums import State, Tier
from mnemic.model.filter import Filter
from mnemic.model.graph import EdgeDraft
from mnemic.model.memory import Draft, Memory, MemoryPatch
from mnemic.storage.base import Progress, Writer
from mnemic.storage.queries import each_memory

LEAST_PRIORITY = 5
AT_ONCE = 80
"""Memories of a group that are consolidated into one; the result stays below the size limit."""
MAX_BYTES = 65_536
BEGINNING = 200
PAGE = 1_000
LOSER_PRIORITY = 1
LOSER_CONFIDENCE = 0.1


@dataclass(frozen=True, slots=True)
class ConsolidationGroup:
    """Memories of one namespace that share their first tag."""

    namespace: str
    tag: str
    """Empty for those that have no tag."""
    memories: tuple[Memory, ...]


def consolidate(
    ctx: Context,
    memory_ids: Sequence[int],
    *,
    title: str,
    text: str,
    namespace: str | None = None,
    tier: Tier = Tier.LONG,
    source: str = "consolidation",
) -> Memory:
    """One new memory in the place of several living ones (by number), in one transaction.

    It has all their tags, the highest priority (5 at least), the sum of their uses, their metadata merged with
    `derived_from`; they become superseded by it. Conflict if another memory bears the title.
    """
    draft = Draft(namespace=ctx.home(namespace), name=title, texts=(text,), tier=tier, source=source)
    new = change_after_expiry(
        ctx,
        "consolidate",
        lambda tx: _condensed(tx, ctx, memory_ids, draft),
        namespaces=(draft.namespace,),
    )
    ctx.wake()
    return new


def _condensed(tx: Writer, ctx: Context, memory_ids: Sequence[int], draft: Draft) -> Memory:
    """Store *draft* with what its sources have together, in their place."""
    sources = [living(tx, ctx, number) for number in dict.fromkeys(memory_ids)]
    for memory in sources:
        taken_out(tx, memory, State.SUPERSEDED, "consolidated", ctx.now())
    whole = replace(
        draft,
        tags=tuple(sorted({tag for memory in sources for tag in memory.tags})),
        priority=max(LEAST_PRIORITY, *(memory.priority for memory in sources)),
        metadata=_merged(sources),
        expires_at=ctx.lives.expiry(draft.tier, None, ctx.now()),
    )
    if draft.name is not None:
        titles.refuse_taken(tx, draft.name, draft.namespace)
    new = titles.insert(tx, ctx, whole)
    for memory in sources:
        tx.insert_edge(EdgeDraft(new.id, memory.id, SUPERSEDES))
    _add_up_use(tx, new, sources)
    return new


def _merged(sources: Sequence[Memory]) -> Mapping[str, object]:
    merged: dict[str, object] = {}
    for memory in sources:
        merged.update(memory.metadata)
    return {**merged, "derived_from": [memory.uid for memory in sources]}


def _add_up_use(tx: Writer, new: Memory, sources: Sequence[Memory]) -> None:
    """The new memory was used as often as all it was made of."""
    uses = sum(memory.access_count for memory in sources)
    last = max((memory.accessed_at for memory in sources if memory.accessed_at is not None), default=None)
    if uses:
        days = max(memory.days_used for memory in sources)
        tx.update(new, MemoryPatch(access_count=uses, accessed_at=last, days_used=days))


def groups(
    ctx: Context,
    namespace: str | None = None,
    *,
    short_only: bool = False,
    min_count: int = 3,
    untagged: bool = False,
) -> list[ConsolidationGroup]:
    """The groups of at least *min_count* living memories of one namespace and first tag.

    What has no tag belongs to no group, or with *untagged* to one of its own. The standard of a namespace stays what
    it is.
    """
    found: dict[tuple[str, str], list[Memory]] = {}
    for memory in _candidates(ctx, namespace, Tier.SHORT if short_only else None):
        if memory.tags or untagged:
            found.setdefault((memory.namespace, next(iter(memory.tags), "")), []).append(memory)
    return [
        ConsolidationGroup(space, tag, tuple(members))
        for (space, tag), members in sorted(found.items())
        if len(members) >= max(2, min_count)
    ]


def _candidates(ctx: Context, namespace: str | None, tier: Tier | None) -> Iterator[Memory]:
    reader = ctx.read()
    standards = {number for number, _ in settings(reader).values()}
    wanted = Filter(namespaces=ctx.scope(namespace), tier=tier, alive_at=ctx.now())
    yield from (memory for memory in each_memory(reader, wanted) if memory.id not in standards)


def consolidate_groups(
    ctx: Context, found: Sequence[ConsolidationGroup], progress: Progress | None = None
) -> int:
    """Make one long memory of each group (of a large one several); how many memories went into them.

    A transaction for each; what has left meanwhile is passed over.
    """
    done = 0
    for number, group in enumerate(found, 1):
        for members in batches(group.memories, AT_ONCE):
            done += _consolidate_group(ctx, group, members)
        if progress:
            progress(number, len(found))
    ctx.wake()
    return done


def _consolidate_group(ctx: Context, group: ConsolidationGroup, members: Sequence[Memory]) -> int:
    def work(tx: Writer) -> int:
        living = [memory for memory in tx.get([one.id for one in members]) if is_in_use(ctx, memory)]
        if len(living) < 2:
            return 0
        draft = Draft(
            namespace=group.namespace,
            title=f"Consolidated: {group.tag or 'untagged'} ({len(living)} memories)",
            texts=(listed(living),),
            tier=Tier.LONG,
            source="auto-consolidate",
        )
        _condensed(tx, ctx, [memory.id for memory in living], draft)
        return len(living)

    return change_after_expiry(ctx, "consolidate", work, namespaces=(group.namespace,))


def listed(memories: Sequence[Memory]) -> str:
    """Titles and texts of *memories*, a line each; the beginnings alone where all would be too long."""
    whole = "\n".join(f"- {memory.title}: {memory.content}" for memory in memories)
    if len(whole.encode()) <= MAX_BYTES:
        return whole
    return "\n".join(f"- {memory.title}: {memory.content[:BEGINNING]}" for memory in memories)


def resolve(ctx: Context, winner_id: int, loser_id: int) -> None:
    """Settle a contradiction: the winner supersedes the loser, which keeps priority 1 and confidence 0.1."""

    def work(tx: Writer) -> None:
        winner, loser = living(tx, ctx, winner_id), living(tx, ctx, loser_id)
        link_once(tx, winner.id, loser.id, SUPERSEDES)
        tx.update(loser, MemoryPatch(priority=LOSER_PRIORITY, confidence=LOSER_CONFIDENCE))
        count(tx, ctx.lives, [Use(ctx.actor, [winner], ctx.now())])

    change_after_expiry(ctx, "resolve", work, namespaces=ctx.usual)
