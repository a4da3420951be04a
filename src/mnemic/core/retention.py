"""What use does to a memory, and what becomes of one whose time is over."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from mnemic.core.archive import purge_archive
from mnemic.core.context import Context
from mnemic.core.expiry import expire
from mnemic.core.usage import PASSED_OVER, Use, Uses
from mnemic.errors import Busy
from mnemic.model.access import Scope
from mnemic.model.change import USE
from mnemic.model.enums import State, Tier
from mnemic.model.limits import PRIORITY
from mnemic.model.memory import Memory, MemoryPatch
from mnemic.model.recall_entry import RecallEntry
from mnemic.model.retention import Lives
from mnemic.model.time import DAY, SECOND, Moment
from mnemic.storage.base import Writer

log = logging.getLogger(__name__)

NO_REWARD = MemoryPatch()
PROMOTED_AT = 5
"""Uses after which a mid memory becomes long."""
RAISED_EVERY = 10
"""Each time it was used so often again, a memory gains in priority."""
HIGHEST_PRIORITY = int(PRIORITY.high)
BRIEFLY_SECONDS = 0.02
"""Longest wait of a read for another thread that is counting uses."""
WORTH_WRITING = 10 * SECOND
"""A life is not prolonged by less than this: it would be written down at every recall."""


def touch(
    ctx: Context, memories: Sequence[Memory], *, together: bool = False, recall: RecallEntry | None = None
) -> None:
    """Count a use of each, in one transaction: it lives longer, is promoted, gains in priority as the rules say.

    Used *together*, each pair of them is counted too. A caller who may not write leaves no trace, nor does a look at
    the past, nor anyone while the disk is full. While another process is writing, the use is counted later.
    With *recall*, that goes into the recall log.
    """
    if not (memories or recall) or not ctx.may_write:
        return
    used = list({memory.id: memory for memory in memories}.values())
    use = Use(ctx.actor, used, ctx.now(), together, recall)
    if ctx.uses is not None:
        ctx.uses.add(use)
        return
    ctx.deferred.add(use)
    _settle(ctx, ctx.deferred, waits=False)


def with_uses(ctx: Context, memories: Sequence[Memory]) -> Sequence[Memory]:
    """*memories* as they will stand when the uses of them that wait are written down."""
    if ctx.uses is None:
        return memories
    waiting = zip(memories, ctx.uses.of(memories), strict=True)
    return [_used(ctx.lives, memory, *uses) if uses.times else memory for memory, uses in waiting]


def _used(lives: Lives, memory: Memory, times: int, at: Moment) -> Memory:
    """*memory* after this many more uses, the last one *at* a moment."""
    uses = memory.access_count + times
    rewards = earned(lives, memory, times, uses, at)
    return replace(memory, access_count=uses, accessed_at=at, **rewards.fields())


def settle(ctx: Context, *, waits: bool = False) -> None:
    """Write down the uses that wait; without *waits* those that meet a locked store go on waiting."""
    for uses in (ctx.uses, ctx.deferred):
        if uses is not None and uses.are_waiting.is_set():
            _settle(ctx, uses, waits=waits)


def _settle(ctx: Context, uses: Uses, *, waits: bool) -> None:
    # The thread that writes them just now is done in a moment, unless it waits for another process.
    if not uses.settling.acquire(timeout=-1 if waits else BRIEFLY_SECONDS):
        return
    try:
        for _, together in groupby(uses.take(), key=lambda use: (use.actor, use.at // DAY)):
            _write_down(ctx, uses, list(together), waits=waits)
    finally:
        uses.settling.release()


def _write_down(ctx: Context, waiting: Uses, uses: Sequence[Use], *, waits: bool) -> None:
    """Count *uses* of one caller on one day in a transaction of their own."""
    try:
        _count_in_transaction(ctx, uses, waits=waits)
    except Busy:
        waiting.add(*uses)
    except PASSED_OVER as error:
        # Without a server this is usual: a read-only file, a look at the past.
        log.log(logging.DEBUG if ctx.uses is None else logging.WARNING, "uses were not counted: %s", error)


def _count_in_transaction(ctx: Context, uses: Sequence[Use], *, waits: bool) -> None:
    used = {memory.namespace for use in uses for memory in use.memories}
    ctx.store.change(
        Scope(asked=tuple(used)),
        USE,
        uses[0].actor,
        uses[-1].at,
        lambda tx: count(tx, ctx.lives, uses),
        durable=False,
        waits=waits,
    )


def count(tx: Writer, lives: Lives, uses: Sequence[Use]) -> None:
    """Count *uses* of one day and apply promotion, TTL and priority. A memory occurs once in a use."""
    used = [memory.id for use in uses for memory in use.memories]
    times, counts = Counter(used), tx.count_use(used, max(use.at for use in uses))
    last = {memory.id: use.at for use in uses for memory in use.memories}

    def rewards(memory: Memory) -> MemoryPatch:
        return earned(lives, memory, times[memory.id], counts.get(memory.id, 0), last[memory.id])

    # A memory seen later was shown with what it had earned by then.
    seen = {memory.id: memory for use in reversed(uses) for memory in use.memories}
    for memory in tx.get([number for number, memory in seen.items() if rewards(memory) != NO_REWARD]):
        if (due := rewards(memory)) != NO_REWARD:
            tx.update(memory, replace(due, updated_at=memory.updated_at))
    for use in uses:
        if use.together:
            tx.count_together([memory.id for memory in use.memories], use.at)
    recalls = [use.recall for use in uses if use.recall is not None]
    if recalls and lives.recall_log is not None:
        tx.log_recalls(recalls, since=recalls[-1].at - lives.recall_log)


def earned(lives: Lives, memory: Memory, times: int, uses: int, now: Moment) -> MemoryPatch:
    """What changes in a memory with its latest *times* it was used, of *uses* in all; nothing if it is not living."""
    if memory.state is not State.LIVING or memory.has_expired(now):
        return NO_REWARD
    reward = NO_REWARD
    if memory.tier is Tier.MID and uses >= PROMOTED_AT:
        reward = MemoryPatch(tier=Tier.LONG, expires_at=None)
    elif memory.expires_at is not None:
        end = now + lives.extension(memory.tier)
        if end - memory.expires_at >= WORTH_WRITING:
            reward = MemoryPatch(expires_at=end)
    raised = uses // RAISED_EVERY - (uses - times) // RAISED_EVERY
    if raised > 0 and memory.priority < HIGHEST_PRIORITY:
        reward = replace(reward, priority=min(memory.priority + raised, HIGHEST_PRIORITY))
    return reward


def collect(ctx: Context, *, dry_run: bool = False) -> int:
    """Archive what has expired, and delete what has been in the archive for too long.

    How many had expired, of those that the caller may see.
    """
    if dry_run:
        reader = ctx.read()
        return len(reader.overdue(ctx.now()))
    ctx.must_write()
    expired = expire(ctx)
    if ctx.lives.archive_days is not None:
        purge_archive(ctx, older_than_days=ctx.lives.archive_days)
    return expired
