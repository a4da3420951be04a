"""The Simple Memory dialect: nine tools that answer with bare lists as text.

A taken name is overwritten, missing items are ignored, and a relation may exist twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, Field, RootModel

from mnemic.core import entities as core
from mnemic.core.context import Context
from mnemic.core.entities import OnTakenName
from mnemic.dialects.framework import Dialect, Operation, Rendered, Shape, listed_in_full
from mnemic.dialects.graph_page import After, Limit, with_note
from mnemic.dialects.validation import StorableText
from mnemic.errors import MnemicError
from mnemic.model.graph import Sketch, Triple
from mnemic.transfer.graph_file import linked, shown
from mnemic.transfer.mirror import DOCUMENT, Mirror

MIRROR_VARIABLE = "MEMORY_PATH"


class SimpleMemory(Dialect):
    """The dialect, with its way of answering: JSON in one line."""

    def render(self, reply: BaseModel) -> Rendered:
        """The reply as text: the bare list."""
        assert isinstance(reply, RootModel)
        text = orjson.dumps(reply.root).decode()
        if isinstance(reply, GraphReply):
            text = orjson.dumps(with_note(reply.root, text)).decode()
        return Rendered(text, is_json=True)

    def render_error(self, name: str, error: MnemicError) -> Rendered:
        """A failure as `{"error": …}` with `isError`."""
        return _failure(str(error))

    def unknown_tool(self, name: str) -> Rendered:
        """The error for an unknown tool."""
        return _failure(f"Unknown tool: {name[:80]}")

    def listed(self, operation: Operation) -> dict[str, Any]:
        """The `tools/list` entry with Simple Memory's schema."""
        return listed_in_full(operation)


def _failure(text: str) -> Rendered:
    return Rendered(orjson.dumps({"error": text}).decode(), is_error=True)


def _mirror(environment: Mapping[str, str]) -> Mirror:
    """The file that MEMORY_PATH names, or memory.json in the folder it names; by default Cursor's."""
    path = Path(environment.get(MIRROR_VARIABLE) or "~/.cursor").expanduser()
    return Mirror(path if _is_file(path) else path / "memory.json", DOCUMENT)


def _is_file(path: Path) -> bool:
    """Whether *path* is a file; one that does not exist or cannot be read counts as a file if it ends in .json."""
    with suppress(OSError):
        if path.exists():
            return not path.is_dir()
    return path.suffix == ".json"


SIMPLE_MEMORY = SimpleMemory(
    name="simple-memory",
    title="Simple Memory",
    instructions="",
    server={"name": "simple-memory-mcp", "version": "1.0.0"},
    mirror=_mirror,
    mirror_variable=MIRROR_VARIABLE,
)


# -- shapes


class Given(Shape, extra="allow"):
    """Part of a request. Unknown fields are not stored, but returned where the reply echoes the request."""

    def echoed(self) -> dict[str, Any]:
        """This part as it came."""
        return self.model_dump(by_alias=True)


class GivenEntity(Given):
    """An entity in a request."""

    name: Annotated[StorableText, Field(description="Unique identifier for the entity")]
    entityType: Annotated[
        StorableText, Field(description="Classification type (e.g., person, organization, concept)")
    ]
    observations: Annotated[
        list[StorableText], Field(description="Array of observation texts about this entity")
    ]


class GivenRelation(Given):
    """A relation in a request."""

    source: Annotated[StorableText, Field(alias="from", description="Source entity name")]
    target: Annotated[StorableText, Field(alias="to", description="Target entity name")]
    relationType: Annotated[
        StorableText, Field(description="Type of relationship (e.g., works_for, knows, manages)")
    ]

    def triple(self) -> Triple:
        """The relation as the core names it."""
        return Triple(self.source, self.target, self.relationType)


class ListReply(RootModel[list[dict[str, Any]]]):
    """A bare list of entities, relations, or what was asked."""


class GraphReply(RootModel[dict[str, list[dict[str, Any]]]]):
    """All entities and all relations."""


def _listed(items: list[dict[str, Any]]) -> ListReply:
    return ListReply.model_construct(items)


# -- operations


class CreateEntities(Given):
    """What to create."""

    entities: list[GivenEntity]


@SIMPLE_MEMORY.operation(title="Create entities", destructive=True, idempotent=True)
def create_entities(ctx: Context, request: CreateEntities) -> ListReply:
    """Create entities in the knowledge graph; one whose name is taken is overwritten."""
    sketches = [Sketch(one.name, one.entityType, tuple(one.observations)) for one in request.entities]
    made = {memory.id: memory for memory, _ in core.create(ctx, sketches, OnTakenName.REPLACE)}
    return _listed([shown(core.as_entity(made[number])) for number in sorted(made)])


class CreateRelations(Given):
    """What to link."""

    relations: list[GivenRelation]


@SIMPLE_MEMORY.operation(title="Create relations")
def create_relations(ctx: Context, request: CreateRelations) -> ListReply:
    """Create directed relations between entities. The entities need not exist, and duplicates are kept."""
    core.relate(ctx, [one.triple() for one in request.relations], may_dangle=True, may_repeat=True)
    return _listed([one.echoed() for one in request.relations])


class GivenObservations(Given):
    """Observations for one entity."""

    entityName: Annotated[StorableText, Field(description="Name of entity to update")]
    contents: Annotated[list[StorableText], Field(description="New observations to add")]


class AddObservations(Given):
    """What to add."""

    observations: list[GivenObservations]


@SIMPLE_MEMORY.operation(title="Add observations")
def add_observations(ctx: Context, request: AddObservations) -> ListReply:
    """Add observations to existing entities; entities that do not exist are ignored."""
    wanted = [(one.entityName, one.contents) for one in request.observations]
    core.observe(ctx, wanted, may_repeat=True, must_exist=False)
    return _listed([one.echoed() for one in request.observations])


class DeleteEntities(Given):
    """What to delete."""

    entityNames: Annotated[list[StorableText], Field(description="Array of entity names to delete")]


@SIMPLE_MEMORY.operation(title="Delete entities", destructive=True, idempotent=True)
def delete_entities(ctx: Context, request: DeleteEntities) -> ListReply:
    """Delete entities and every relation that touches them; returns those that were there."""
    return _listed([shown(core.as_entity(memory)) for memory in core.delete(ctx, request.entityNames)])


class GivenDeletion(Given):
    """Observations to take from one entity."""

    entityName: Annotated[StorableText, Field(description="Name of entity to modify")]
    observations: Annotated[list[StorableText], Field(description="Exact observation texts to remove")]


class DeleteObservations(Given):
    """What to take back."""

    deletions: list[GivenDeletion]


@SIMPLE_MEMORY.operation(title="Delete observations", destructive=True)
def delete_observations(ctx: Context, request: DeleteObservations) -> ListReply:
    """Delete observations from entities by their exact text, the first of several equal ones."""
    wanted = [(one.entityName, one.observations) for one in request.deletions]
    core.retract(ctx, wanted, first_only=True)
    return _listed([one.echoed() for one in request.deletions])


class GoneRelation(GivenRelation):
    """A relation that is to go."""

    relationType: Annotated[StorableText, Field(description="Relationship type")]


class DeleteRelations(Given):
    """What to unlink."""

    relations: list[GoneRelation]


@SIMPLE_MEMORY.operation(title="Delete relations", destructive=True)
def delete_relations(ctx: Context, request: DeleteRelations) -> ListReply:
    """Delete relations by source, target and type, the first of several equal ones; returns those that were there."""
    wanted = [one.triple() for one in request.relations]
    gone = core.unrelate(ctx, wanted, first_only=True)
    return _listed([linked(triple) for triple, edges in zip(wanted, gone, strict=True) if edges])


class ReadGraph(Given):
    """Everything, or a page of it."""

    limit: Limit = None
    after: After = None


@SIMPLE_MEMORY.operation(title="Read graph", read_only=True, idempotent=True)
def read_graph(ctx: Context, request: ReadGraph) -> GraphReply:
    """Get the complete knowledge graph with all entities and relations."""
    graph = core.read_graph(ctx, request.after, request.limit)
    return GraphReply.model_construct(
        {
            "entities": [shown(entity) for entity in graph.entities],
            "relations": [linked(relation) for relation in graph.relations],
        }
    )


class SearchNodes(Given):
    """What to look for."""

    query: Annotated[StorableText, Field(description="Search term to match against entities")]


@SIMPLE_MEMORY.operation(title="Search nodes", read_only=True, idempotent=True)
def search_nodes(ctx: Context, request: SearchNodes) -> ListReply:
    """Search names, types and observations for a term, whatever its case."""
    return _listed([shown(entity) for entity in core.containing(ctx, request.query)])


class OpenNodes(Given):
    """What to open."""

    names: Annotated[list[StorableText], Field(description="Array of entity names to retrieve")]


@SIMPLE_MEMORY.operation(title="Open nodes", read_only=True, idempotent=True)
def open_nodes(ctx: Context, request: OpenNodes) -> ListReply:
    """Get entities by their exact names, in the order asked; unknown names are left out."""
    found = {memory.title: memory for memory in core.open_named(ctx, request.names)}
    return _listed([shown(core.as_entity(found[name])) for name in request.names if name in found])
