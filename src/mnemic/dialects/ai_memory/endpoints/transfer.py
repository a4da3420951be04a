"""Export and import of all memories as one document."""

from __future__ import annotations

from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from mnemic.core.context import Context
from mnemic.dialects.ai_memory import validation
from mnemic.dialects.ai_memory.dialect import AI_MEMORY
from mnemic.dialects.ai_memory.endpoints.types import EndpointRequest, LinkEntry, MemoryEntry, NoFields
from mnemic.errors import Invalid
from mnemic.transfer import document

MOST_IMPORTED = 1_000


class Exported(TypedDict):
    """Every memory and link."""

    memories: list[MemoryEntry]
    links: list[LinkEntry]
    sessions: NotRequired[list[Any]]
    standards: NotRequired[list[Any]]
    count: int
    exported_at: str


@AI_MEMORY.endpoint("GET /export", title="Export everything")
def export_memories(ctx: Context, request: NoFields) -> Exported:
    """All memories and the links between them in one document."""
    return cast(Exported, document.export_json(ctx))


class ImportRequest(EndpointRequest):
    """A document as the export writes it."""

    memories: list[Any]
    links: list[Any] | None = None
    sessions: list[Any] | None = None
    standards: list[Any] | None = None


class ImportReply(TypedDict):
    """How many memories are here now, how many of them were known before, and what was wrong with the others."""

    imported: int
    known: int
    errors: list[str]


@AI_MEMORY.endpoint("POST /import", title="Import memories")
def import_memories(ctx: Context, request: ImportRequest) -> ImportReply:
    """Import up to 1000 memories and their links. Invalid ones are reported and skipped."""
    if len(request.memories) > MOST_IMPORTED:
        raise Invalid(f"import limited to {MOST_IMPORTED} memories", "memories")
    done = document.import_json(ctx, dict(request), check=validation.entry, check_link=validation.link)
    return {"imported": done.imported + done.skipped, "known": done.skipped, "errors": done.errors}
