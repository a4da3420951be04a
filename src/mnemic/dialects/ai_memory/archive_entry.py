"""The archive as ai-memory knows it: what goes there by filter, and a memory in it as it is shown."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from mnemic.core.archive import ArchiveStats
from mnemic.core.context import Context
from mnemic.core.memories import Fate, forget_matching
from mnemic.errors import Invalid
from mnemic.model.enums import Tier
from mnemic.model.filter import Filter
from mnemic.model.memory import Memory
from mnemic.model.time import iso
from mnemic.transfer.document_entry import memory_entry

EXPIRED, COLLECTED, FORGET = "expired", "gc", "forget"


def put_away(
    ctx: Context,
    *,
    namespace: str | None = None,
    pattern: str | None = None,
    tier: Tier | None = None,
    dry_run: bool = False,
) -> list[Memory]:
    """Archive the memories of a namespace and tier that contain all words of a pattern, and return them."""
    if namespace is None and pattern is None and tier is None:
        raise Invalid("at least one of namespace, pattern, or tier is required")
    wanted = Filter(namespaces=ctx.scope(namespace), tier=tier, alive_at=ctx.now())
    return forget_matching(ctx, wanted, pattern=pattern, reason=FORGET, dry_run=dry_run, fate=Fate.ARCHIVED)


def archived_entry(memory: Memory) -> dict[str, Any]:
    """The memory, when it came into the archive and why."""
    entry = memory_entry(memory)
    if memory.state_at is not None:
        entry["archived_at"] = iso(memory.state_at)
    reason = memory.state_reason or COLLECTED
    return {**entry, "archive_reason": COLLECTED if reason == EXPIRED else reason}


class ArchiveExtent(TypedDict):
    """How large the archive is, and when its first and its last memory came in."""

    size_bytes: int
    oldest_archived_at: str | None
    newest_archived_at: str | None


def archive_extent(stats: ArchiveStats) -> ArchiveExtent:
    """The size and the date range of the archive."""
    return {
        "size_bytes": stats.size_bytes,
        "oldest_archived_at": None if stats.oldest is None else iso(stats.oldest),
        "newest_archived_at": None if stats.newest is None else iso(stats.newest),
    }
