"""The review queue: what waits for a decision by a person, and what each decision does.

Every decision is one change, so that one undo takes it back. What was rejected stays away: two memories that are no
duplicates, or do not contradict each other, are linked to say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from mnemic.core import link_suggestions, memories
from mnemic.core.bulk import BulkEdit, edit
from mnemic.core.capture import review
from mnemic.core.context import Context
from mnemic.core.graph import link, link_once
from mnemic.core.maintenance import near_duplicates
from mnemic.core.maintenance.merge import merge_all
from mnemic.core.memories import SUPERSEDES, Fate, is_in_use
from mnemic.core.retention import touch
from mnemic.core.review_lists import MOST_ITEMS, Finding, ReviewList, ReviewLists, Step
from mnemic.core.trust import conflicts, prompt_injection
from mnemic.errors import Invalid
from mnemic.model.annotations import HIDDEN
from mnemic.model.filter import EdgeFilter, Filter, Order
from mnemic.model.graph import Link
from mnemic.model.memory import Memory
from mnemic.model.time import DAY
from mnemic.storage.base import Reader, Writer

DISTINCT, COMPATIBLE, RELATED = "distinct_from", "compatible_with", "related_to"
"""Links that say: no duplicates, no contradiction; and the one that a suggestion becomes."""
REVIEWED = "reviewed"
"""Tag of a memory that looked poisoned and was found to be harmless."""
SOON, LONG_UNUSED = 7 * DAY, 30 * DAY
MOST_SCANNED = 5_000
"""The newest memories that are looked at for signs of prompt injection."""
MOST_UNLINKED = 50
"""The newest memories without a link for which links are suggested."""


class ReviewKind(StrEnum):
    """Why a memory is in the queue."""

    CAPTURED = "captured"
    DUPLICATES = "duplicates"
    CONFLICTS = "conflicts"
    EXPIRING = "expiring"
    POISONED = "poisoned"
    UNUSED = "unused"
    LINKS = "links"


class Decision(StrEnum):
    """What a person decides."""

    ACCEPT = "accept"
    REJECT = "reject"


ACTIONS = {
    ReviewKind.CAPTURED: ("Keep it", "Delete it"),
    ReviewKind.DUPLICATES: ("Merge them", "Keep them apart"),
    ReviewKind.CONFLICTS: ("The newer one holds", "Both hold"),
    ReviewKind.EXPIRING: ("Keep it for good", "Delete it now"),
    ReviewKind.POISONED: ("It is harmless", "Put it away"),
    ReviewKind.UNUSED: ("Keep it", "Archive it"),
    ReviewKind.LINKS: ("Link them", "Leave them apart"),
}
"""What accepting and rejecting mean, in words for people."""


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A finding with its memories."""

    memory: Memory
    others: tuple[Memory, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """Some items of the queue, and how many there are."""

    items: tuple[ReviewItem, ...]
    total: int
    progress: float | None = None
    """The share of a costly list that is made; None if it is complete."""


def page(
    ctx: Context,
    kind: ReviewKind,
    namespace: str | None,
    *,
    limit: int,
    offset: int = 0,
    wait_seconds: float | None = None,
) -> ReviewPage:
    """The items of one kind. A costly list that takes longer than *wait_seconds* is answered as far as it is made."""
    listed = _list(ctx, kind, namespace, wait_seconds) if kind in COSTLY else None
    # Read before the findings: a list that is completed in between must not pass for complete without its last ones.
    progress = listed.progress if listed else None
    found = _standing(ctx, kind, listed.findings if listed else list(CHEAP[kind](ctx, namespace)))
    reader = ctx.read()
    some = found[offset : offset + limit]
    read = reader.get(list({number for one in some for number in (one.memory_id, *one.other_ids)}))
    known = {memory.id: memory for memory in read}
    items = tuple(
        ReviewItem(known[one.memory_id], tuple(known[number] for number in one.other_ids), one.reason)
        for one in some
    )
    return ReviewPage(items, len(found), progress)


def _list(ctx: Context, kind: ReviewKind, namespace: str | None, wait_seconds: float | None) -> ReviewList:
    """The costly list of one kind, made by now or in the background."""
    key = (ctx.store.location, kind, ctx.scope(namespace), ctx.granted)
    steps = partial(COSTLY[kind], ctx, namespace)
    found = ctx.resources.of(ReviewLists).of(key, ctx.store.newest(), steps, ctx.activity)
    with ctx.activity.waiting():
        found.wait(wait_seconds)
    return found


def _standing(ctx: Context, kind: ReviewKind, found: Sequence[Finding]) -> list[Finding]:
    """Those of *found* whose memories are all living and that were not decided."""
    reader = ctx.read()
    numbers = {number for one in found for number in (one.memory_id, *one.other_ids)}
    living = {memory.id: memory for memory in reader.get(sorted(numbers)) if is_in_use(ctx, memory)}
    apart = _apart(reader, numbers) if kind in COSTLY else set()
    standing = []
    for one in found:
        others = tuple(
            number
            for number in one.other_ids
            if number in living and frozenset((one.memory_id, number)) not in apart
        )
        is_decided = kind is ReviewKind.POISONED and REVIEWED in getattr(
            living.get(one.memory_id), "tags", ()
        )
        if one.memory_id in living and bool(others) == bool(one.other_ids) and not is_decided:
            standing.append(Finding(one.memory_id, others, one.reason))
    return standing


def _apart(reader: Reader, numbers: Iterable[int]) -> set[frozenset[int]]:
    """The pairs of these memories that somebody has decided about, or linked."""
    wanted = EdgeFilter(at=tuple(sorted(numbers)), types=(DISTINCT, COMPATIBLE, RELATED), is_current=True)
    return {frozenset((one.source_id, one.target_id)) for one in reader.look(wanted, Link)}


def _captured(ctx: Context, namespace: str | None) -> Iterator[Finding]:
    scope = ctx.scope(namespace)
    for memory in review.waiting(ctx, MOST_ITEMS):
        if scope is None or memory.namespace in scope:
            yield Finding(memory.id, (), f"captured, confidence {memory.confidence:.2f}")


def _duplicates(ctx: Context, namespace: str | None) -> Iterator[Step]:
    for group in near_duplicates.search(ctx, namespace):
        if isinstance(group, float):
            yield group
            continue
        others = tuple(memory.id for memory in group.others)
        yield Finding(group.kept.id, others, f"{group.similarity:.0%} alike")


def _conflicts(ctx: Context, namespace: str | None) -> Iterator[Step]:
    for conflict in conflicts.search(ctx, namespace):
        if isinstance(conflict, float):
            yield conflict
            continue
        older, newer = sorted((conflict.one, conflict.other), key=lambda memory: memory.id)
        yield Finding(newer.id, (older.id,), conflict.reason or "linked as contradicting")


def _expiring(ctx: Context, namespace: str | None) -> Iterator[Finding]:
    now = ctx.now()
    wanted = Filter(namespaces=ctx.scope(namespace), alive_at=now)
    reader = ctx.read()
    for memory in reader.get(reader.select(wanted, order=Order.EXPIRY, limit=MOST_ITEMS)):
        if memory.expires_at is None or memory.expires_at > now + SOON:
            return
        yield Finding(memory.id, (), f"expires in {max(1, (memory.expires_at - now) // (DAY // 24))} h")


def _poisoned(ctx: Context, namespace: str | None) -> Iterator[Step]:
    for one in prompt_injection.search(ctx, None, namespace, newest=MOST_SCANNED):
        if isinstance(one, float):
            yield one
            continue
        told = "; ".join(f"{sign.rule}: {sign.text}" for sign in one.signs)
        yield Finding(one.memory.id, (), told)


def _unused(ctx: Context, namespace: str | None) -> Iterator[Finding]:
    now, reader = ctx.now(), ctx.read()
    wanted = Filter(namespaces=ctx.scope(namespace), without=HIDDEN, until=now - LONG_UNUSED, alive_at=now)
    numbers = reader.select(wanted, order=Order.USE, is_reversed=True, limit=MOST_ITEMS)
    for memory in reader.get(numbers):
        if not memory.access_count:
            yield Finding(memory.id, (), f"never used in {(now - memory.created_at) // DAY} days")


def _links(ctx: Context, namespace: str | None) -> Iterator[Step]:
    scope, reader = ctx.scope(namespace), ctx.read()
    wanted = Filter(namespaces=scope, without=HIDDEN, alive_at=ctx.now())
    newest = reader.select(wanted, order=Order.NEWEST, limit=MOST_UNLINKED)
    linked = {
        end
        for one in reader.look(EdgeFilter(at=tuple(newest), is_current=True), Link)
        for end in (one.source_id, one.target_id)
    }
    seen: set[frozenset[int]] = set()
    for place, number in enumerate(newest):
        yield place / len(newest)
        if number not in linked:
            for one in link_suggestions.suggest(ctx, number, namespaces=scope, limit=1):
                if (pair := frozenset((number, one.memory.id))) not in seen:
                    seen.add(pair)
                    yield Finding(number, (one.memory.id,), f"score {one.weighted:.2f}")


CHEAP = {
    ReviewKind.CAPTURED: _captured,
    ReviewKind.EXPIRING: _expiring,
    ReviewKind.UNUSED: _unused,
}
COSTLY = {
    ReviewKind.DUPLICATES: _duplicates,
    ReviewKind.CONFLICTS: _conflicts,
    ReviewKind.POISONED: _poisoned,
    ReviewKind.LINKS: _links,
}
"""These also tell how far they are."""


def decide(
    ctx: Context, kind: ReviewKind, decision: Decision, reference: int | str, others: Sequence[int | str]
) -> Memory:
    """Do what *decision* means for a memory in the queue and the others it concerns; the memory as it is then."""
    pairs = (ReviewKind.DUPLICATES, ReviewKind.CONFLICTS, ReviewKind.LINKS)
    if bool(others) != (kind in pairs):
        raise Invalid("others: needed for duplicates, conflicts and links, and for nothing else", "others")
    ctx.must_write()
    memory = memories.find(ctx, reference)
    if decision is Decision.ACCEPT:
        _accept(ctx, kind, memory, others)
    else:
        _reject(ctx, kind, memory, others)
    return memories.find(ctx, memory.id)


def _accept(ctx: Context, kind: ReviewKind, memory: Memory, others: Sequence[int | str]) -> None:
    match kind:
        case ReviewKind.CAPTURED:
            review.accept(ctx, memory.id)
        case ReviewKind.DUPLICATES:
            merge_all(ctx, others, memory.id)
        case ReviewKind.CONFLICTS:
            link(ctx, memory.id, others[0], SUPERSEDES, supersedes=True)
        case ReviewKind.EXPIRING:
            memories.promote(ctx, memory.id)
        case ReviewKind.POISONED:
            edit(ctx, [memory.id], BulkEdit(add_tags=(REVIEWED,)))
        case ReviewKind.UNUSED:
            touch(ctx, [memory])
        case ReviewKind.LINKS:
            _linked(ctx, memory, others, RELATED)


def _reject(ctx: Context, kind: ReviewKind, memory: Memory, others: Sequence[int | str]) -> None:
    match kind:
        case ReviewKind.CAPTURED | ReviewKind.EXPIRING:
            memories.forget(ctx, [memory.id], reason="rejected")
        case ReviewKind.POISONED:
            memories.forget(ctx, [memory.id], reason=prompt_injection.QUARANTINE, fate=Fate.ARCHIVED)
        case ReviewKind.UNUSED:
            memories.forget(ctx, [memory.id], reason="unused", fate=Fate.ARCHIVED)
        case ReviewKind.CONFLICTS:
            _linked(ctx, memory, others, COMPATIBLE)
        case _:
            _linked(ctx, memory, others, DISTINCT)


def _linked(ctx: Context, memory: Memory, others: Sequence[int | str], type: str) -> None:
    """Link a memory with each of *others*, in one transaction."""

    def work(tx: Writer) -> None:
        for other in others:
            link_once(tx, memory.id, memories.locate(tx, ctx, other).id, type)

    ctx.change("link", work, namespaces=(memory.namespace,))
