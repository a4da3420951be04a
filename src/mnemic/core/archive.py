"""The archive: memories that have expired or were forgotten by filter. They can come back until they are purged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mnemic.core.context import Context
from mnemic.core.hidden import bearers
from mnemic.core.leaving import brought_back
from mnemic.core.upkeep import write_after_expiry
from mnemic.errors import Conflict, NotFound
from mnemic.model.hidden import is_hidden
from mnemic.model.memory import Memory
from mnemic.model.values import DAY, Moment, State, Tier


def archived(ctx: Context, namespace: str | None = None, *, limit: int = 50, offset: int = 0) -> list[Memory]:
    """What is in the archive, the newest there first."""
    reader = ctx.store.read()
    numbers = reader.left(State.ARCHIVED, ctx.scope(namespace), limit=limit, offset=offset)
    return reader.memories(numbers)


def unarchive(ctx: Context, memory_id: int) -> Memory:
    """Bring a memory (by number) back from the archive, as long and without an end.

    Conflict if another bears its title now.
    """
    with write_after_expiry(ctx, "restore") as tx:
        memory = tx.memory(memory_id)
        if memory is None or memory.state is not State.ARCHIVED or not ctx.may_see(memory.namespace):
            raise NotFound("not found in archive")
        for other in () if is_hidden(memory) else bearers(tx, memory.title, (memory.namespace,)):
            raise Conflict(
                f"cannot restore: memory {other.uid} already exists in active table (would overwrite)"
            )
        back = brought_back(tx, memory, tier=Tier.LONG, expires_at=None)
    ctx.wake()
    return back


def purge_archive(ctx: Context, *, older_than_days: int | None = None) -> int:
    """Delete for good what has been in the archive for so many days, or all of it; how many that were."""
    before = None if older_than_days is None else max(0, ctx.now() - older_than_days * DAY)
    with ctx.write("purge") as tx:
        return tx.purge(tx.left(State.ARCHIVED, ctx.scope(), before=before))


class ArchiveStats(NamedTuple):
    """The archive in numbers: how many memories, how many bytes of text, and when the first and the last came in."""

    by_namespace: Mapping[str, int]
    size_bytes: int
    oldest: Moment | None
    newest: Moment | None

    @property
    def total(self) -> int:
        """How many memories there are in it."""
        return sum(self.by_namespace.values())


def archive_stats(ctx: Context) -> ArchiveStats:
    """What is in the archive, counted."""
    found = ctx.store.read().left_by_namespace(State.ARCHIVED, ctx.scope())
    return ArchiveStats(
        {namespace: one.memories for namespace, one in found.items()},
        sum(one.size_bytes for one in found.values()),
        min((one.oldest for one in found.values() if one.oldest is not None), default=None),
        max((one.newest for one in found.values() if one.newest is not None), default=None),
    )
