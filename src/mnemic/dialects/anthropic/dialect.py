"""The dialect of the reference MCP memory server: nine tools on a graph of entities and relations.

A drop-in: schemas, texts and errors are those its clients know. What differs is on purpose. A name or a relation
that comes twice in one call is kept once, and `read_graph` takes `limit` and `after` beside nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import orjson
from pydantic import BaseModel, Field, ValidationError

from mnemic.core import entities as core
from mnemic.core.context import Context
from mnemic.core.entities import OnTakenName
from mnemic.dialects.framework import Dialect, Operation, Rendered, Resource, Shape, listed_in_full
from mnemic.dialects.graph_page import After, Limit, with_note
from mnemic.dialects.json_schema import whole_schema
from mnemic.dialects.validation import StorableText
from mnemic.errors import Invalid, MnemicError
from mnemic.model.graph import Entity, Relation, Sketch, Triple
from mnemic.settings import data_folder
from mnemic.transfer.graph_file import linked, shown
from mnemic.transfer.mirror import LINES, Mirror

MIRROR_VARIABLE = "MEMORY_FILE_PATH"


class Anthropic(Dialect):
    """The dialect, with its way of answering."""

    def render(self, reply: BaseModel) -> Rendered:
        """Two-space JSON as text, and the same as an object."""
        assert isinstance(reply, Reply)
        text_content = reply.text_content()
        return Rendered(text_content if isinstance(text_content, str) else _json(text_content), dict(reply))

    def render_error(self, name: str, error: MnemicError) -> Rendered:
        """Arguments at fault in the words of the reference; everything else as it is."""
        if isinstance(error, Invalid):
            text = f"MCP error -32602: Input validation error: Invalid arguments for tool {name}: {error}"
            return Rendered(text, is_error=True)
        return Rendered(str(error), is_error=True)

    def unknown_tool(self, name: str) -> Rendered:
        """A result, not a protocol error."""
        return Rendered(f"MCP error -32602: Tool {name[:80]} not found", is_error=True)

    def refusal(self, operation: Operation, error: ValidationError) -> Invalid:
        """A line for each argument at fault, with the path to it."""
        schema = whole_schema(operation.request)
        return Invalid("\n".join(_complaint(schema, item) for item in error.errors(include_url=False)))

    def listed(self, operation: Operation) -> dict[str, Any]:
        """The `tools/list` entry with the reference server's schemas."""
        return {
            **listed_in_full(operation),
            "outputSchema": whole_schema(operation.reply, "serialization"),
            "execution": {"taskSupport": "forbidden"},
        }


_KINDS = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number"}


def _complaint(schema: Mapping[str, Any], item: Mapping[str, Any]) -> str:
    """Error of one argument: the expected and the received type."""
    path, part = "", schema
    for step in item["loc"]:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
        part = part.get("items", {}) if isinstance(step, int) else part.get("properties", {}).get(step, {})
    given = item["input"]
    received = "undefined" if item["type"] == "missing" else _KINDS.get(type(given), "null")
    # Arguments of our own are not in the schema.
    if part.get("type") in (None, received):
        return f"{item['msg'].removeprefix('Value error, ')} at {path[1:]}"
    return f"Invalid input: expected {part.get('type')}, received {received} at {path[1:]}"


def _json(content: object) -> str:
    return orjson.dumps(content, option=orjson.OPT_INDENT_2).decode()


# -- shapes


class Given(Shape, extra="ignore"):
    """Part of a request; unknown fields are ignored."""


class EntityShape(Shape):
    """An entity: name, type and observations."""

    name: Annotated[StorableText, Field(description="The name of the entity")]
    entityType: Annotated[StorableText, Field(description="The type of the entity")]
    observations: Annotated[
        list[StorableText], Field(description="An array of observation contents associated with the entity")
    ]


class GivenEntity(EntityShape, extra="ignore"):
    """An entity in a request."""


class RelationShape(Shape):
    """A relation: the names of its ends and its type."""

    source: Annotated[
        StorableText, Field(alias="from", description="The name of the entity where the relation starts")
    ]
    target: Annotated[
        StorableText, Field(alias="to", description="The name of the entity where the relation ends")
    ]
    relationType: Annotated[StorableText, Field(description="The type of the relation")]


class GivenRelation(RelationShape, extra="ignore"):
    """A relation in a request."""

    def triple(self) -> Triple:
        """The relation as the core names it."""
        return Triple(self.source, self.target, self.relationType)


class Reply(Shape):
    """An answer: an object, of which `spoken` is what the text says."""

    def text_content(self) -> object:
        """The text of the reply: the whole object."""
        return dict(self)


class EntitiesReply(Reply):
    """Entities; the text is the bare list."""

    entities: list[EntityShape]

    def text_content(self) -> object:
        """Text of the reply: the entities."""
        return self.entities


class RelationsReply(Reply):
    """Relations; the text is the bare list."""

    relations: list[RelationShape]

    def text_content(self) -> object:
        """Text of the reply: the relations."""
        return self.relations


class Added(Shape):
    """What was added to one entity."""

    entityName: str
    addedObservations: list[str]


class AddedReply(Reply):
    """What was added; the text is the bare list."""

    results: list[Added]

    def text_content(self) -> object:
        """Text of the reply: the results."""
        return self.results


class DoneReply(Reply):
    """That something was done; the text is the message."""

    success: bool
    message: str

    def text_content(self) -> object:
        """Text of the reply: the fixed confirmation."""
        return self.message


class GraphReply(Reply):
    """Entities and the relations that touch them."""

    entities: list[EntityShape]
    relations: list[RelationShape]


class WholeGraphReply(GraphReply):
    """The whole graph or a page. The object has only the documented keys, so the paging hint goes into the text."""

    def text_content(self) -> object:
        """Text of the reply: the graph and, for a page, how to read on."""
        return with_note(dict(self), _json(dict(self)))


def _graph(entities: Iterable[Entity], relations: Iterable[Relation]) -> GraphReply:
    # Not validated: it is ours, and a large graph would take twice as long.
    return GraphReply.model_construct(
        entities=[shown(entity) for entity in entities],
        relations=[linked(relation) for relation in relations],
    )


def _read(ctx: Context, parts: Mapping[str, str]) -> str:
    graph = core.read_graph(ctx)
    return _json(dict(_graph(graph.entities, graph.relations)))


def _mirror(environment: Mapping[str, str]) -> Mirror | None:
    """The file of JSON lines that MEMORY_FILE_PATH names; a relative one lies in our data folder."""
    named = environment.get(MIRROR_VARIABLE)
    return Mirror(data_folder() / Path(named).expanduser(), LINES) if named else None


ANTHROPIC = Anthropic(
    name="anthropic",
    title="The reference memory server",
    instructions="",
    resources=(
        Resource(
            template="memory://knowledge-graph",
            name="knowledge-graph",
            title="Knowledge Graph",
            description="The full knowledge graph with all entities and relations",
            mime="application/json",
            read=_read,
            is_live=True,
        ),
    ),
    server={"name": "memory-server", "version": "0.6.3"},
    offers=("resources", "tools"),
    mirror=_mirror,
    mirror_variable=MIRROR_VARIABLE,
)


# -- operations


class CreateEntities(Given):
    """What to create."""

    entities: list[GivenEntity]


@ANTHROPIC.operation(title="Create Entities")
def create_entities(ctx: Context, request: CreateEntities) -> EntitiesReply:
    """Create multiple new entities in the knowledge graph"""
    sketches = [Sketch(one.name, one.entityType, tuple(one.observations)) for one in request.entities]
    made = core.create(ctx, sketches, OnTakenName.KEEP)
    return EntitiesReply.model_construct(
        entities=[shown(core.as_entity(memory)) for memory, is_new in made if is_new]
    )


class CreateRelations(Given):
    """What to link."""

    relations: list[GivenRelation]


@ANTHROPIC.operation(title="Create Relations")
def create_relations(ctx: Context, request: CreateRelations) -> RelationsReply:
    """Create multiple new relations between entities in the knowledge graph. Relations should be in active voice"""
    made = core.relate(ctx, [one.triple() for one in request.relations], may_dangle=True)
    return RelationsReply.model_construct(relations=[linked(one.triple) for one in made if not one.is_known])


class GivenObservations(Given):
    """Observations for one entity."""

    entityName: Annotated[
        StorableText, Field(description="The name of the entity to add the observations to")
    ]
    contents: Annotated[list[StorableText], Field(description="An array of observation contents to add")]


class AddObservations(Given):
    """What to add."""

    observations: list[GivenObservations]


@ANTHROPIC.operation(title="Add Observations")
def add_observations(ctx: Context, request: AddObservations) -> AddedReply:
    """Add new observations to existing entities in the knowledge graph"""
    wanted = [(one.entityName, one.contents) for one in request.observations]
    added = core.observe(ctx, wanted, may_repeat=False, must_exist=True)
    return AddedReply.model_construct(
        results=[
            {"entityName": name, "addedObservations": fresh}
            for (name, _), (_, fresh) in zip(wanted, added, strict=True)
        ]
    )


class DeleteEntities(Given):
    """What to delete."""

    entityNames: Annotated[list[StorableText], Field(description="An array of entity names to delete")]


@ANTHROPIC.operation(title="Delete Entities", destructive=True, idempotent=True)
def delete_entities(ctx: Context, request: DeleteEntities) -> DoneReply:
    """Delete multiple entities and their associated relations from the knowledge graph"""
    core.delete(ctx, request.entityNames, dangling=True)
    return DoneReply(success=True, message="Entities deleted successfully")


class GivenDeletion(Given):
    """Observations to take from one entity."""

    entityName: Annotated[
        StorableText, Field(description="The name of the entity containing the observations")
    ]
    observations: Annotated[list[StorableText], Field(description="An array of observations to delete")]


class DeleteObservations(Given):
    """What to take back."""

    deletions: list[GivenDeletion]


@ANTHROPIC.operation(title="Delete Observations", destructive=True, idempotent=True)
def delete_observations(ctx: Context, request: DeleteObservations) -> DoneReply:
    """Delete specific observations from entities in the knowledge graph"""
    core.retract(ctx, [(one.entityName, one.observations) for one in request.deletions])
    return DoneReply(success=True, message="Observations deleted successfully")


class DeleteRelations(Given):
    """What to unlink."""

    relations: Annotated[list[GivenRelation], Field(description="An array of relations to delete")]


@ANTHROPIC.operation(title="Delete Relations", destructive=True, idempotent=True)
def delete_relations(ctx: Context, request: DeleteRelations) -> DoneReply:
    """Delete multiple relations from the knowledge graph"""
    core.unrelate(ctx, [one.triple() for one in request.relations])
    return DoneReply(success=True, message="Relations deleted successfully")


class ReadGraph(Given):
    """The whole graph, or a page of it."""

    limit: Limit = None
    after: After = None


@ANTHROPIC.operation(title="Read Graph", read_only=True, idempotent=True)
def read_graph(ctx: Context, request: ReadGraph) -> WholeGraphReply:
    """Read the entire knowledge graph"""
    graph = core.read_graph(ctx, request.after, request.limit)
    return WholeGraphReply.model_construct(**dict(_graph(graph.entities, graph.relations)))


class SearchNodes(Given):
    """What to look for."""

    query: Annotated[
        StorableText,
        Field(description="The search query to match against entity names, types, and observation content"),
    ]


@ANTHROPIC.operation(title="Search Nodes", read_only=True, idempotent=True)
def search_nodes(ctx: Context, request: SearchNodes) -> GraphReply:
    """Search for nodes in the knowledge graph based on a query"""
    found = core.containing(ctx, request.query)
    return _graph(found, core.relations_of(ctx, [one.id for one in found]))


class OpenNodes(Given):
    """What to open."""

    names: Annotated[list[StorableText], Field(description="An array of entity names to retrieve")]


@ANTHROPIC.operation(title="Open Nodes", read_only=True, idempotent=True)
def open_nodes(ctx: Context, request: OpenNodes) -> GraphReply:
    """Open specific nodes in the knowledge graph by their names"""
    found = sorted(core.open_named(ctx, request.names), key=lambda memory: memory.id)
    relations = core.relations_of(ctx, [memory.id for memory in found])
    return _graph((core.as_entity(memory) for memory in found), relations)
