"""Entities, observations and relations: the eight tools of the reference, in this dialect's shapes, and migrate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mnemic.core import entities as core
from mnemic.core.allowed_files import readable
from mnemic.core.context import Context
from mnemic.core.entities import OnTakenName
from mnemic.core.retention import touch
from mnemic.dialects.framework import Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.mcp_memory.dialect import (
    GENERIC,
    INVERSES,
    MCP_MEMORY,
    STATUS,
    McpMemoryError,
    check_entities,
    check_names,
    check_observations,
    check_query,
    entity_fields,
    memory_entry,
    not_found,
    stamp,
    unfit,
    with_errors,
)
from mnemic.dialects.mcp_memory.observations import USUAL_KIND, observe, of_kinds
from mnemic.dialects.validation import NonEmptyText, StorableText
from mnemic.errors import Invalid
from mnemic.model.graph import Sketch, Triple
from mnemic.model.memory import Memory
from mnemic.transfer.graph_batch import GraphPolicy, graph_records
from mnemic.transfer.graph_file import NO_FIELDS, NO_JSON, Flaw, GraphRecord, linked, read_lines
from mnemic.transfer.importer import Importer

Model = TypeVar("Model", bound=BaseModel)
DANGLING = "between entities that are not there yet"


class EntityInput(BaseModel):
    """An entity in a request. The name is one that clients read in error texts."""

    model_config = ConfigDict(defer_build=True)

    name: NonEmptyText
    entityType: StorableText = GENERIC
    observations: list[StorableText] = []
    status: StorableText | None = None


class RelationInput(BaseModel):
    """A relation in a request."""

    model_config = ConfigDict(defer_build=True)

    source: Annotated[NonEmptyText, Field(alias="from")]
    target: Annotated[NonEmptyText, Field(alias="to")]
    relationType: NonEmptyText
    context: StorableText | None = None

    def triple(self) -> Triple:
        """The relation as the core names it."""
        return Triple(self.source, self.target, self.relationType)


def _each(model: type[Model], items: Sequence[dict[str, Any]]) -> list[Model]:
    """*items* as models, or McpMemoryError with what the first bad one lacks."""
    try:
        return [model.model_validate(item) for item in items]
    except ValidationError as error:
        raise unfit(error) from None


class CreateEntities(Shape):
    """What to create."""

    entities: Annotated[
        list[dict[str, Any]],
        Field(description="entities, each with name, entityType (Generic) and observations ([])"),
    ]


@MCP_MEMORY.operation(title="Create entities", idempotent=True)
def create_entities(ctx: Context, request: CreateEntities) -> Reply:
    """Create entities, or merge into those of the same name: the type is updated, new observations are added."""
    given = _each(EntityInput, request.entities)
    check_entities([one.observations for one in given])
    sketches = [
        Sketch(
            one.name,
            one.entityType,
            tuple(dict.fromkeys(one.observations)),
            {STATUS: one.status} if one.status else {},
        )
        for one in given
    ]
    made = core.create(ctx, sketches, OnTakenName.MERGE)
    touch(ctx, [memory for memory, is_new in made if is_new])
    return answer(entities=[memory_entry(memory) for memory, _ in made])


class CreateRelations(Shape):
    """What to link."""

    relations: Annotated[
        list[dict[str, Any]], Field(description="relations, each with from, to and relationType")
    ]


@MCP_MEMORY.operation(title="Create relations", idempotent=True)
def create_relations(ctx: Context, request: CreateRelations) -> Reply:
    """Create relations between entities that exist. The id of each is what end_relation takes."""
    given = _each(RelationInput, request.relations)
    made = core.relate(
        ctx,
        [one.triple() for one in given],
        may_dangle=False,
        inverses=INVERSES,
        reasons=[one.context for one in given],
    )
    errors = [str(not_found(one.missing[0])) for one in made if one.missing]
    return answer(relations=[related(one) for one in made], **with_errors(errors))


def related(one: core.Related) -> dict[str, Any]:
    """What became of one relation that was to be created."""
    if one.edge is None:
        return {"error": str(not_found(one.missing[0]))}
    context = {"context": one.edge.reason} if one.edge.reason is not None else {}
    known = {"error": "Relation already exists"} if one.is_known else {}
    return {"id": one.edge.id, **linked(one.triple), **context, **known}


class GivenObservations(Shape):
    """Observations for one entity, as the reference server's clients write them."""

    entityName: StorableText
    contents: list[StorableText]


class AddObservations(Shape):
    """What to add: to the entity called *name*, or, without it, to several."""

    name: Annotated[StorableText | None, Field(description="exact name of the entity")] = None
    observations: Annotated[
        list[StorableText] | list[GivenObservations],
        Field(description="texts to add; without name, objects with entityName and contents"),
    ]
    kind: Annotated[StorableText, Field(description="kind of these observations")] = USUAL_KIND
    supersedes: Annotated[
        int | None, Field(description="id of the observation that these take the place of, from open_nodes")
    ] = None


@MCP_MEMORY.operation(title="Add observations", idempotent=True)
def add_observations(ctx: Context, request: AddObservations) -> Reply:
    """Add observations to an entity that exists; exact duplicates are dropped."""
    if request.name is not None:
        return _observed_one(ctx, request.name, request)
    given = [one for one in request.observations if isinstance(one, GivenObservations)]
    _name_or_objects(len(given) == len(request.observations), "observations")
    added = _observed(ctx, [(one.entityName, one.contents) for one in given])
    return answer(
        results=[{"entityName": memory.title, "addedObservations": fresh} for memory, fresh in added],
        entities=[memory_entry(memory) for memory, _ in added],
    )


def _observed_one(ctx: Context, name: str, request: AddObservations) -> Reply:
    texts = _texts(request.observations, "observations")
    check_observations(texts)
    memory, _ = observe(ctx, name, texts, request.kind, request.supersedes)
    touch(ctx, [memory])
    return answer(entity=memory_entry(memory))


def _observed(ctx: Context, additions: Sequence[tuple[str, list[str]]]) -> list[tuple[Any, list[str]]]:
    """The entities with their new observations; nothing is added if one of them is not there."""
    for name, texts in additions:
        check_observations(texts)
        _must_exist(ctx, name)
    wanted = [(name, list(dict.fromkeys(texts))) for name, texts in additions]
    added = core.observe(ctx, wanted, may_repeat=False, must_exist=True)
    touch(ctx, [memory for memory, _ in added if memory])
    return added


def _must_exist(ctx: Context, name: str) -> None:
    if core.entity(ctx.read(), ctx, name) is None:
        raise not_found(name)


def _texts(items: Sequence[Any], field: str) -> list[str]:
    if not all(isinstance(item, str) for item in items):
        raise Invalid(f"{field}: must be texts when name is given", field)
    return list(items)


def _name_or_objects(are_objects: bool, field: str) -> None:
    if not are_objects:
        raise Invalid(f"name: required, unless {field} are objects with entityName", "name")


class DeleteEntities(Shape):
    """What to delete."""

    entityNames: Annotated[list[StorableText], Field(description="names of the entities to delete")]


@MCP_MEMORY.operation(title="Delete entities", destructive=True, idempotent=True)
def delete_entities(ctx: Context, request: DeleteEntities) -> Reply:
    """Delete entities with their observations and relations; unknown names are reported."""
    check_names(request.entityNames, "Delete")
    deleted = {memory.title for memory in core.delete(ctx, request.entityNames)}
    errors = [str(not_found(name)) for name in request.entityNames if name not in deleted]
    gone = [name for name in dict.fromkeys(request.entityNames) if name in deleted]
    return answer(deleted=gone, **with_errors(errors))


class GivenDeletion(Shape):
    """Observations to take from one entity, as the reference server's clients write them."""

    entityName: StorableText
    observations: list[StorableText]


class DeleteObservations(Shape):
    """What to take back: from the entity called *name*, or from several."""

    name: Annotated[StorableText | None, Field(description="exact name of the entity")] = None
    observations: Annotated[list[StorableText], Field(description="exact texts to delete")] = []
    deletions: Annotated[
        list[GivenDeletion], Field(description="instead of name: objects with entityName and observations")
    ] = []


@MCP_MEMORY.operation(title="Delete observations", destructive=True, idempotent=True)
def delete_observations(ctx: Context, request: DeleteObservations) -> Reply:
    """Delete observations from an entity by their exact text; what is not there is passed over."""
    if request.name is None:
        _name_or_objects(bool(request.deletions), "deletions")
        wanted = [(one.entityName, one.observations) for one in request.deletions]
        left = core.retract(ctx, wanted)
        return answer(entities=[memory_entry(memory) for memory in left if memory])
    memory = core.retract(ctx, [(request.name, request.observations)])[0]
    if memory is None:
        raise not_found(request.name)
    return answer(entity=memory_entry(memory))


class DeleteRelations(Shape):
    """What to unlink."""

    relations: Annotated[
        list[dict[str, Any]], Field(description="relations, each with from, to and relationType")
    ]


@MCP_MEMORY.operation(title="Delete relations", destructive=True, idempotent=True)
def delete_relations(ctx: Context, request: DeleteRelations) -> Reply:
    """Delete relations by source, target and type; what is not found is reported."""
    wanted = [one.triple() for one in _each(RelationInput, request.relations)]
    gone = core.unrelate(ctx, wanted)
    outcome = list(zip(wanted, gone, strict=True))
    errors = [why_not(ctx, triple) for triple, edges in outcome if not edges]
    deleted = [linked(triple) for triple, edges in outcome if edges]
    return answer(deleted=deleted, **with_errors(errors))


def why_not(ctx: Context, triple: Triple) -> str:
    """The reason that a relation could not be deleted."""
    reader = ctx.read()
    if core.entity(reader, ctx, triple.source) and core.entity(reader, ctx, triple.target):
        return f"Relation not found: {triple.source} -> {triple.target} ({triple.type})"
    return str(not_found(f"{triple.source} or {triple.target}"))


class EndRelation(Shape):
    """Which relation."""

    relation_id: Annotated[
        int, Field(ge=-(2**63), lt=2**63, description="its id, from create_relations or open_nodes")
    ]


@MCP_MEMORY.operation(title="End a relation", idempotent=True)
def end_relation(ctx: Context, request: EndRelation) -> Reply:
    """Mark a relation as no longer true; it is kept for the record. An inverse (contiene, parte_de) ends with it."""
    edge = core.end(ctx, request.relation_id, INVERSES)
    return answer(result=f"Relation {edge.id} expired successfully")


class SearchNodes(Shape):
    """What to look for."""

    query: Annotated[StorableText, Field(description="part of a name, a type or an observation")]


@MCP_MEMORY.operation(title="Search nodes", read_only=True, idempotent=True)
def search_nodes(ctx: Context, request: SearchNodes) -> Reply:
    """Find entities by a part of their name, type or observations, whatever its case. Needs no model."""
    check_query(request.query)
    return answer(entities=[entity_fields(entity) for entity in core.containing(ctx, request.query)])


class OpenNodes(Shape):
    """What to open."""

    names: Annotated[list[StorableText], Field(description="exact names")]
    kinds: Annotated[list[StorableText] | None, Field(description="only observations of these kinds")] = None
    include_superseded: Annotated[
        bool, Field(description="also the observations that others took the place of")
    ] = False


@MCP_MEMORY.operation(title="Open nodes", read_only=True, idempotent=True)
def open_nodes(ctx: Context, request: OpenNodes) -> Reply:
    """Open entities by exact name, with their relations; unknown names are left out."""
    check_names(request.names, "Request")
    opened = core.open_named(ctx, request.names, together=True)
    links = core.links_at(ctx, [memory.id for memory in opened])
    return answer(entities=[opened_node(memory, links[memory.id], request) for memory in opened])


def opened_node(memory: Memory, links: Sequence[core.EntityLink], request: OpenNodes) -> dict[str, Any]:
    """An entity with the observations asked for, their ids, which `supersedes` takes, and its relations."""
    texts, numbers = of_kinds(memory, request.kinds, include_superseded=request.include_superseded)
    return {
        **memory_entry(memory),
        "observations": texts,
        "observation_ids": numbers,
        "relations": [link(one) for one in links],
    }


def link(one: core.EntityLink) -> dict[str, Any]:
    """A relation as it is shown with one of its ends."""
    return {
        "id": one.edge.id,
        "relation_type": one.edge.type,
        "target_name": one.other,
        "direction": "from" if one.is_outgoing else "to",
        "context": one.edge.reason,
        "active": one.edge.is_current,
        "ended_at": stamp(one.edge.valid_to) if one.edge.valid_to is not None else None,
    }


class Migrate(Shape):
    """The file to take in."""

    source_path: Annotated[str, Field(description="path to a JSON-lines file of the reference server")] = ""


@MCP_MEMORY.operation(title="Migrate", idempotent=True)
def migrate(ctx: Context, request: Migrate) -> Reply:
    """Import entities and relations from the reference server's JSON-lines file. Running it again adds nothing."""
    if not request.source_path:
        raise McpMemoryError(
            "source_path is required — provide the path to an Anthropic MCP Memory JSONL file"
        )
    ctx.must_write()
    text = readable(ctx, Path(request.source_path), "source_path").decode(
        "utf-8-sig", errors="surrogateescape"
    )
    found = list(_acceptable(ctx, read_lines(text)))
    graph = [one for one in found if isinstance(one, Sketch | Triple)]
    flaws = [one for one in found if isinstance(one, Flaw)]
    importer = Importer(ctx, GraphPolicy(may_dangle=False))
    importer.merge(graph_records(ctx, graph, kind=GENERIC))
    done = importer.finish()
    return answer(
        entities_imported=done.imported + done.skipped,
        relations_imported=done.links,
        errors=sum(1 for flaw in flaws if flaw.what == NO_JSON),
        skipped=len(flaws),
    )


def _acceptable(ctx: Context, records: Iterable[GraphRecord]) -> Iterator[GraphRecord]:
    """*records* without what has no name, and without relations whose ends come later or never."""
    reader, named = ctx.read(), set[str]()
    for record in records:
        match record:
            case Sketch(name="") | Triple(type=""):
                yield Flaw("a line", NO_FIELDS)
            case Sketch(name=name):
                named.add(name)
                yield record
            case Triple(source=source, target=target) if any(
                end not in named and core.entity(reader, ctx, end) is None for end in (source, target)
            ):
                yield Flaw("a line", DANGLING)
            case _:
                yield record
