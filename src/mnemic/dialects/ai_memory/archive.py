"""Archive tools: delete by filter, expiry, list, restore, purge and statistics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnemic.core import archive, retention
from mnemic.core.context import Context
from mnemic.core.stats import overview
from mnemic.dialects.ai_memory.archive_entry import archive_extent, archived_entry, put_away
from mnemic.dialects.ai_memory.arguments import (
    Age,
    ArchiveLimit,
    Arguments,
    DryRun,
    IdArguments,
    KnownNamespace,
    NoArguments,
    Offset,
    Pattern,
    WantedTier,
)
from mnemic.dialects.ai_memory.dialect import AI_MEMORY, AN_ID, AiMemoryReply, answer
from mnemic.dialects.ai_memory.ids import meant
from mnemic.dialects.framework import Example
from mnemic.model.enums import State


class ForgetArguments(Arguments):
    """Which memories to forget: those to which all that is given applies."""

    namespace: KnownNamespace | None = None
    pattern: Pattern | None = None
    tier: WantedTier | None = None
    dry_run: DryRun = False


@AI_MEMORY.operation(
    title="Forget memories",
    destructive=True,
    examples=[Example("", {"namespace": "web-app", "pattern": "deprecated API", "dry_run": True})],
)
def memory_forget(ctx: Context, request: ForgetArguments) -> AiMemoryReply:
    """Move all memories that match into the archive. At least one filter is needed."""
    affected = put_away(
        ctx,
        namespace=request.namespace,
        pattern=request.pattern,
        tier=request.tier,
        dry_run=request.dry_run,
    )
    if request.dry_run:
        return answer(would_delete=len(affected), dry_run=True)
    return answer(deleted=len(affected), archived=True)


@AI_MEMORY.operation(title="Statistics", read_only=True, idempotent=True)
def memory_stats(ctx: Context, request: NoArguments) -> AiMemoryReply:
    """Count the memories by tier and namespace, what expires within the hour, the links and the bytes."""
    numbers = overview(ctx)
    return answer(
        total=numbers.total,
        by_tier=_counted("tier", numbers.by_tier),
        by_namespace=_counted("namespace", numbers.by_namespace),
        expiring_soon=numbers.expiring_soon,
        links_count=numbers.links,
        db_size_bytes=numbers.size_bytes,
    )


def _counted(name: str, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """*counts* as a list, the most first."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [{name: key, "count": count} for key, count in ordered if count]


class Collect(Arguments):
    """Whether to do it."""

    dry_run: DryRun = False


@AI_MEMORY.operation(
    title="Collect garbage", destructive=True, idempotent=True, examples=[Example("", {"dry_run": True})]
)
def memory_gc(ctx: Context, request: Collect) -> AiMemoryReply:
    """Move what has expired into the archive."""
    return answer(collected=retention.collect(ctx, dry_run=request.dry_run), dry_run=request.dry_run)


class ArchiveList(Arguments):
    """Which part of the archive to list."""

    namespace: KnownNamespace | None = None
    limit: ArchiveLimit = 50
    offset: Offset = 0


@AI_MEMORY.operation(
    title="List the archive",
    read_only=True,
    idempotent=True,
    examples=[Example("", {"namespace": "web-app", "limit": 10})],
)
def memory_archive_list(ctx: Context, request: ArchiveList) -> AiMemoryReply:
    """List what was forgotten or has expired, the latest first."""
    found = archive.archived(ctx, request.namespace, limit=request.limit, offset=request.offset)
    return answer(archived=[archived_entry(memory) for memory in found], count=len(found))


@AI_MEMORY.operation(title="Restore from the archive", examples=[Example("", {"id": AN_ID})])
def memory_archive_restore(ctx: Context, request: IdArguments) -> AiMemoryReply:
    """Bring a memory back from the archive as long-term, without expiry."""
    memory = meant(ctx, request.id, missing="not found in archive", state=State.ARCHIVED)
    return answer(restored=True, id=archive.unarchive(ctx, memory.id).uid)


class ArchivePurge(Arguments):
    """How old is old enough."""

    older_than_days: Age | None = None


@AI_MEMORY.operation(
    title="Purge the archive", destructive=True, examples=[Example("", {"older_than_days": 90})]
)
def memory_archive_purge(ctx: Context, request: ArchivePurge) -> AiMemoryReply:
    """Delete for good what has been in the archive for so many days, or all of it."""
    return answer(purged=archive.purge_archive(ctx, older_than_days=request.older_than_days))


@AI_MEMORY.operation(title="Archive statistics", read_only=True, idempotent=True)
def memory_archive_stats(ctx: Context, request: NoArguments) -> AiMemoryReply:
    """Count what is in the archive, by namespace and in bytes, with the dates it was archived between."""
    stats = archive.archive_stats(ctx)
    by_namespace = _counted("namespace", stats.by_namespace)
    return answer(archived_total=stats.total, by_namespace=by_namespace, **archive_extent(stats))
