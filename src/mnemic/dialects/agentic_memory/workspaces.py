"""Workspaces: several memory files, asked as one."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import Field

from mnemic.core.context import Context
from mnemic.dialects.agentic_memory import federation as core
from mnemic.dialects.agentic_memory.dialect import AGENTIC_MEMORY
from mnemic.dialects.agentic_memory.federation import Role, Workspace, WorkspaceAnswer
from mnemic.dialects.agentic_memory.types import content_of, event_type
from mnemic.dialects.framework import Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.validation import StorableText
from mnemic.errors import Invalid, NotFound
from mnemic.model.filter import Hit
from mnemic.model.limits import MAX_QUERY_CHARACTERS

MAX_NAME = 200
MAX_MATCHES = 1_000
XREF_MATCHES = 1
_ID = re.compile(r"ws_([0-9]{1,18})")

Name = Annotated[StorableText, Field(min_length=1, max_length=MAX_NAME)]
WorkspaceId = Annotated[StorableText, Field(description="ID of the workspace")]
Topic = Annotated[StorableText, Field(max_length=MAX_QUERY_CHARACTERS)]


class WorkspaceCreate(Shape):
    """A workspace to be."""

    name: Annotated[Name, Field(description="Name for the workspace")]


@AGENTIC_MEMORY.operation(title="Create a workspace")
def memory_workspace_create(ctx: Context, request: WorkspaceCreate) -> Reply:
    """Create a workspace in which several memory files can be queried together."""
    made = core.create(ctx, request.name)
    return answer(workspace_id=_workspace_id(made), name=made.name, status="created")


def _workspace_id(workspace: Workspace) -> str:
    return f"ws_{workspace.id}"


class WorkspaceAdd(Shape):
    """A file to be put into a workspace."""

    workspace_id: WorkspaceId
    path: Annotated[StorableText, Field(description="Path to the .amem file or Mnemic database")]
    role: Annotated[
        StorableText, Field(description="Role of this context", json_schema_extra={"enum": [*map(str, Role)]})
    ] = Role.PRIMARY.value
    label: Annotated[Name | None, Field(description="Human-readable label for this context")] = None


@AGENTIC_MEMORY.operation(title="Add to a workspace")
def memory_workspace_add(ctx: Context, request: WorkspaceAdd) -> Reply:
    """Add an .amem memory file or a Mnemic database to a workspace. It is only read."""
    role = _role(request.role)
    workspace = _workspace(ctx, request.workspace_id)
    try:
        workspace, member = core.add(ctx, workspace, request.path, role, request.label)
    except NotFound as error:
        raise Invalid(str(error), "path") from None
    return answer(
        context_id=_context_id(workspace, len(workspace.members)),
        workspace_id=_workspace_id(workspace),
        path=member.path,
        role=member.role.value,
        label=member.label,
        status="added",
    )


def _role(name: str) -> Role:
    try:
        return Role(name.lower())
    except ValueError:
        raise Invalid(f"Invalid role: {name[:80]}. Use {'/'.join(Role)}", "role") from None


def _workspace(ctx: Context, name: str) -> Workspace:
    number = _ID.fullmatch(name)
    found = core.find(ctx, int(number[1])) if number else None
    if found is None:
        raise Invalid(f"Workspace not found: {name[:80]}", "workspace_id")
    return found


def _context_id(workspace: Workspace, place: int) -> str:
    return f"ctx_{place}_{_workspace_id(workspace)}"


class WorkspaceList(Shape):
    """Which workspace."""

    workspace_id: WorkspaceId


@AGENTIC_MEMORY.operation(title="List a workspace", read_only=True, idempotent=True)
def memory_workspace_list(ctx: Context, request: WorkspaceList) -> Reply:
    """List the memory files of a workspace, each with how much it holds."""
    workspace = _workspace(ctx, request.workspace_id)
    contexts = [
        _context(workspace, place, one) for place, one in enumerate(core.sizes(ctx, workspace), start=1)
    ]
    return answer(
        workspace_id=_workspace_id(workspace), name=workspace.name, count=len(contexts), contexts=contexts
    )


def _context(workspace: Workspace, place: int, one: WorkspaceAnswer) -> dict[str, Any]:
    return {
        "context_id": _context_id(workspace, place),
        "role": one.member.role.value,
        "path": one.member.path,
        "label": one.member.label,
        "node_count": one.size.memories if one.size else 0,
        "edge_count": one.size.links if one.size else 0,
        **_error(one),
    }


def _error(one: WorkspaceAnswer) -> dict[str, str]:
    return {} if one.error is None else {"error": one.error}


class WorkspaceQuery(Shape):
    """What to look for."""

    workspace_id: WorkspaceId
    query: Annotated[Topic, Field(description="Text query to search across all contexts")]
    max_per_context: Annotated[
        int, Field(ge=0, le=MAX_MATCHES, description="Maximum matches per context")
    ] = 10


@AGENTIC_MEMORY.operation(title="Query a workspace", read_only=True, idempotent=True)
def memory_workspace_query(ctx: Context, request: WorkspaceQuery) -> Reply:
    """Search across all memory files of a workspace by words; the best matches of each."""
    workspace = _workspace(ctx, request.workspace_id)
    found = core.search(ctx, workspace, request.query, request.max_per_context)
    return answer(
        workspace_id=_workspace_id(workspace),
        query=request.query,
        total_matches=sum(len(one.hits) for one in found),
        contexts_searched=sum(one.error is None for one in found),
        results=[_result(workspace, place, one) for place, one in enumerate(found, start=1)],
    )


def _result(workspace: Workspace, place: int, one: WorkspaceAnswer) -> dict[str, Any]:
    return {
        "context_id": _context_id(workspace, place),
        "context_role": one.member.role.value,
        "label": one.member.label,
        "match_count": len(one.hits),
        "matches": _matches(one),
        **_error(one),
    }


def _matches(one: WorkspaceAnswer) -> list[dict[str, Any]]:
    return [_match(hit) for hit in one.hits]


def _match(hit: Hit) -> dict[str, Any]:
    return {
        "node_id": hit.memory.id,
        "content": content_of(hit.memory),
        "event_type": event_type(hit.memory.kind),
        "confidence": hit.memory.confidence,
        "score": hit.score,
    }


class WorkspaceCompare(Shape):
    """What to compare."""

    workspace_id: WorkspaceId
    item: Annotated[Topic, Field(description="Topic/concept to compare across contexts")]
    max_per_context: Annotated[
        int, Field(ge=1, le=MAX_MATCHES, description="Maximum matches per context")
    ] = 5


@AGENTIC_MEMORY.operation(title="Compare in a workspace", read_only=True, idempotent=True)
def memory_workspace_compare(ctx: Context, request: WorkspaceCompare) -> Reply:
    """Compare what the memory files of a workspace say about a topic, and tell which say nothing."""
    workspace = _workspace(ctx, request.workspace_id)
    found = core.search(ctx, workspace, request.item, request.max_per_context)
    return answer(
        workspace_id=_workspace_id(workspace),
        item=request.item,
        found_in=_holding(found),
        missing_from=_lacking(found),
        details=[{"context": one.member.label, "matches": _matches(one)} for one in found if one.hits],
        **_unreadable(found),
    )


def _holding(found: list[WorkspaceAnswer]) -> list[str]:
    return [one.member.label for one in found if one.hits]


def _lacking(found: list[WorkspaceAnswer]) -> list[str]:
    return [one.member.label for one in found if not one.hits and one.error is None]


def _unreadable(found: list[WorkspaceAnswer]) -> dict[str, Any]:
    """Stores that could not be read, so that it is unknown whether they hold the topic."""
    errors = [{"context": one.member.label, "error": one.error} for one in found if one.error is not None]
    return {"errors": errors} if errors else {}


class WorkspaceXref(Shape):
    """What to look up."""

    workspace_id: WorkspaceId
    item: Annotated[Topic, Field(description="Topic/concept to cross-reference")]


@AGENTIC_MEMORY.operation(title="Cross-reference a workspace", read_only=True, idempotent=True)
def memory_workspace_xref(ctx: Context, request: WorkspaceXref) -> Reply:
    """Tell which memory files of a workspace hold a topic and which do not."""
    workspace = _workspace(ctx, request.workspace_id)
    found = core.search(ctx, workspace, request.item, XREF_MATCHES)
    present = _holding(found)
    return answer(
        workspace_id=_workspace_id(workspace),
        item=request.item,
        present_in=present,
        absent_from=_lacking(found),
        coverage=f"{len(present)}/{len(found)}",
        **_unreadable(found),
    )
