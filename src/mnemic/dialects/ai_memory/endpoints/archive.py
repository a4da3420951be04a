"""Leaving: forgetting by filter, the end of what has expired, and the archive."""

from __future__ import annotations

from typing_extensions import TypedDict

from mnemic.core import archive, retention
from mnemic.core.context import Context
from mnemic.dialects.ai_memory import validation
from mnemic.dialects.ai_memory.archive_entry import ArchiveExtent, archive_extent, put_away
from mnemic.dialects.ai_memory.dialect import AI_MEMORY
from mnemic.dialects.ai_memory.endpoints.types import (
    ArchivedEntry,
    EndpointRequest,
    IdRequest,
    Limit,
    NamespaceCount,
    NoFields,
    Offset,
    TierName,
    at_most,
    counted,
    shown_archived,
)
from mnemic.dialects.ai_memory.ids import meant
from mnemic.dialects.framework import Example
from mnemic.model.enums import State

USUALLY_LISTED, MOST_LISTED = 50, 1_000


class ForgetRequest(EndpointRequest):
    """What to forget; at least one of these."""

    namespace: str | None = None
    pattern: str | None = None
    tier: TierName = None


class Forgotten(TypedDict):
    """How many memories went into the archive."""

    deleted: int


@AI_MEMORY.endpoint(
    "POST /forget",
    title="Forget by filter",
    examples=[Example("", {"namespace": "my-app", "pattern": "deprecated API", "tier": "short"})],
)
def forget_memories(ctx: Context, request: ForgetRequest) -> Forgotten:
    """Move into the archive what passes every filter; a pattern asks for all of its words."""
    tier = None if request.tier is None else validation.tier(request.tier)
    gone = put_away(ctx, namespace=request.namespace, pattern=request.pattern, tier=tier)
    return {"deleted": len(gone)}


class Collected(TypedDict):
    """How many memories had expired."""

    expired_deleted: int


@AI_MEMORY.endpoint("POST /gc", title="Collect what has expired")
def collect_expired(ctx: Context, request: NoFields) -> Collected:
    """Move into the archive what has expired."""
    return {"expired_deleted": retention.collect(ctx)}


class ArchiveRequest(EndpointRequest):
    """Which page of the archive."""

    namespace: str | None = None
    limit: Limit | None = None
    offset: Offset | None = None


class Archived(TypedDict):
    """A page of the archive."""

    archived: list[ArchivedEntry]
    count: int


@AI_MEMORY.endpoint("GET /archive", title="List the archive")
def list_archive(ctx: Context, request: ArchiveRequest) -> Archived:
    """What is in the archive, the newest there first."""
    limit = at_most(request.limit, USUALLY_LISTED, MOST_LISTED)
    found = archive.archived(ctx, request.namespace or None, limit=limit, offset=request.offset or 0)
    return {"archived": [shown_archived(memory) for memory in found], "count": len(found)}


class PurgeRequest(EndpointRequest):
    """How long a memory must have been in the archive; all of them if it is not said."""

    older_than_days: int | None = None


class Purged(TypedDict):
    """How many memories are gone for good."""

    purged: int


@AI_MEMORY.endpoint("DELETE /archive", title="Purge the archive")
def purge_archive(ctx: Context, request: PurgeRequest) -> Purged:
    """Delete for good what is in the archive."""
    days = None if request.older_than_days is None else validation.older_than_days(request.older_than_days)
    return {"purged": archive.purge_archive(ctx, older_than_days=days)}


class Restored(TypedDict):
    """The memory that is back."""

    restored: bool
    id: str


@AI_MEMORY.endpoint("POST /archive/{id}/restore", title="Restore from the archive")
def restore_memory(ctx: Context, request: IdRequest) -> Restored:
    """Bring a memory back from the archive, as long and without an end."""
    gone = meant(ctx, request.id, missing="not found in archive", state=State.ARCHIVED)
    return {"restored": True, "id": archive.unarchive(ctx, gone.id).uid}


class ArchiveStats(ArchiveExtent):
    """The archive in numbers."""

    archived_total: int
    by_namespace: list[NamespaceCount]


@AI_MEMORY.endpoint("GET /archive/stats", title="Statistics of the archive")
def get_archive_stats(ctx: Context, request: NoFields) -> ArchiveStats:
    """How much is in the archive, by namespace and in bytes, and since when."""
    stats = archive.archive_stats(ctx)
    return {
        "archived_total": stats.total,
        "by_namespace": counted(stats.by_namespace),
        **archive_extent(stats),
    }
