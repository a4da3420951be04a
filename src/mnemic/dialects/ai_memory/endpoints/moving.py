"""Moving house: everything out in one document, and in again."""

from __future__ import annotations

from typing import Any, NotRequired, cast

from typing_extensions import TypedDict

from mnemic.core.context import Context
from mnemic.core.moving import documents
from mnemic.dialects.ai_memory import rules
from mnemic.dialects.ai_memory.endpoints.shapes import Asked, LinkEntry, MemoryEntry, Nothing
from mnemic.dialects.ai_memory.vocabulary import AI_MEMORY
from mnemic.errors import Invalid

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
def export_memories(ctx: Context, request: Nothing) -> Exported:
    """All memories and the links between them in one document."""
    return cast(Exported, documents.export_json(ctx))


class ImportRequest(Asked):
    """A document as the export writes it."""

    memories: list[Any]
    links: list[Any] | None = None
    sessions: list[Any] | None = None
    standards: list[Any] | None = None


class Imported(TypedDict):
    """How many memories are here now, how many of them were known before, and what was wrong with the others."""

    imported: int
    known: int
    errors: list[str]


@AI_MEMORY.endpoint("POST /import", title="Import memories")
def import_memories(ctx: Context, request: ImportRequest) -> Imported:
    """Take in up to 1000 memories and their links. What is not valid is reported and left out."""
    if len(request.memories) > MOST_IMPORTED:
        raise Invalid(f"import limited to {MOST_IMPORTED} memories", "memories")
    done = documents.import_json(ctx, dict(request), check=rules.entry, check_link=rules.link)
    return {"imported": done.imported + done.skipped, "known": done.skipped, "errors": done.errors}
