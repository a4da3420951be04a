"""The archive: memories that have expired or were forgotten by filter. They can come back until they are purged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.core.states import brought_back
from mnemic.errors import Conflict, NotFound
from mnemic.model.enums import State, Tier
from mnemic.model.filter import Filter, Order
from mnemic.model.memory import Memory, MemoryPatch
from mnemic.model.shapes import Departure
from mnemic.model.time import DAY, Moment
from mnemic.storage.base import Writer
from mnemic.storage.queries import memory_numbered


def archived(ctx: Context, namespace: str | None = None, *, limit: int = 50, offset: int = 0) -> list[Memory]:
    """Archived memories, most recently archived first."""
    reader = ctx.read()
    numbers = reader.select(_in_archive(ctx, namespace), order=Order.LEFT, limit=limit, offset=offset)
    return reader.get(numbers)


def unarchive(ctx: Context, memory_id: int) -> Memory:
    """Bring a memory (by number) back from the archive, as long and without an end.

    Conflict if another bears its name now.
    """

    def work(tx: Writer) -> Memory:
        memory = memory_numbered(tx, memory_id)
        if memory is None or memory.state is not State.ARCHIVED:
            raise NotFound("not found in archive")
        for other in titles.bearers(tx, memory.name, (memory.namespace,)) if memory.name is not None else ():
            raise Conflict(
                f"cannot restore: memory {other.uid} already exists in active table (would overwrite)"
            )
        return brought_back(tx, memory, MemoryPatch(tier=Tier.LONG, expires_at=None))

    back = change_after_expiry(ctx, "restore", work, namespaces=ctx.usual)
    ctx.wake()
    return back


def purge_archive(ctx: Context, *, older_than_days: int | None = None) -> int:
    """Purge memories archived at least this many days ago, or all; the number purged."""
    before = None if older_than_days is None else max(0, ctx.now() - older_than_days * DAY)

    def work(tx: Writer) -> int:
        found = tx.look(_in_archive(ctx), Departure)
        return tx.purge([one.id for one in found if before is None or one.state_at < before])

    return ctx.change("purge", work)


def _in_archive(ctx: Context, namespace: str | None = None) -> Filter:
    return Filter(namespaces=ctx.scope(namespace), states=frozenset({State.ARCHIVED}))


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
    """Counts of archived memories."""
    found = ctx.read().look(_in_archive(ctx), Departure)
    return ArchiveStats(
        dict(sorted(Counter(one.namespace for one in found).items())),
        sum(one.size_bytes for one in found),
        min((one.state_at for one in found), default=None),
        max((one.state_at for one in found), default=None),
    )
