"""The graph tools that several dialects share, with one behaviour that serves them all. Built on mcp-memory's rules.

A request accepts the arguments of every dialect and a reply has the keys of every one. Where rules differ, the one that
loses nothing applies: a taken entity name is merged, a relation to a missing name is kept, batch limits of a single
dialect are ignored, equal items are stored once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from mnemic.core import entities as core
from mnemic.core.context import Context
from mnemic.core.entities import OnTakenName
from mnemic.core.retention import touch
from mnemic.dialects.combined.shared import SHARED, SharedRequest, WholeGraph
from mnemic.dialects.graph_page import After, Limit
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.mcp_memory import graph
from mnemic.dialects.mcp_memory.dialect import (
    GENERIC,
    INVERSES,
    STATUS,
    entity_fields,
    memory_entry,
    not_found,
    with_errors,
)
from mnemic.dialects.mcp_memory.graph import related, why_not
from mnemic.dialects.mcp_memory.observations import USUAL_KIND, observe
from mnemic.dialects.validation import StorableText
from mnemic.errors import Invalid
from mnemic.model.graph import Entity, Sketch, Triple
from mnemic.model.memory import Memory
from mnemic.transfer.graph_file import linked, shown


def done(what: str, **content: Any) -> Reply:
    """That *what* was deleted, as the reference server says it, and these keys."""
    return answer(success=True, message=f"{what} deleted successfully", **content)


# -- entities


class GivenEntity(SharedRequest):
    """An entity in a request."""

    name: Annotated[StorableText, Field(description="The name of the entity")]
    entityType: Annotated[
        StorableText | None,
        Field(description="The type of the entity; that of a known one stays, else Generic"),
    ] = None
    observations: Annotated[list[StorableText], Field(description="What is known of the entity")] = []
    status: StorableText | None = None


class CreateEntities(SharedRequest):
    """What to create."""

    entities: list[GivenEntity]


@SHARED.operation(title="Create entities", idempotent=True)
def create_entities(ctx: Context, request: CreateEntities) -> Reply:
    """Create entities, or merge into those of the same name: the type is updated, new observations are added."""
    made = core.create(ctx, [_sketch(ctx, one) for one in request.entities], OnTakenName.MERGE)
    touch(ctx, [memory for memory, is_new in made if is_new])
    return answer(entities=[memory_entry(memory) for memory, _ in made])


def _sketch(ctx: Context, one: GivenEntity) -> Sketch:
    return Sketch(
        one.name,
        _known_type(ctx, one.name) if one.entityType is None else one.entityType,
        tuple(dict.fromkeys(one.observations)),
        {STATUS: one.status} if one.status else {},
    )


def _known_type(ctx: Context, name: str) -> str:
    known = core.entity(ctx.read(), ctx, name)
    return known.kind if known else GENERIC


class DeleteEntities(SharedRequest):
    """What to delete."""

    entityNames: Annotated[list[StorableText], Field(description="The names of the entities to delete")]


@SHARED.operation(title="Delete entities", destructive=True, idempotent=True)
def delete_entities(ctx: Context, request: DeleteEntities) -> Reply:
    """Delete entities with their observations and relations; unknown names are reported."""
    gone = {memory.title: memory for memory in core.delete(ctx, request.entityNames)}
    errors = [str(not_found(name)) for name in request.entityNames if name not in gone]
    deleted = [name for name in dict.fromkeys(request.entityNames) if name in gone]
    return done(
        "Entities",
        deleted=deleted,
        entities=[memory_entry(gone[name]) for name in deleted],
        **with_errors(errors),
    )


# -- observations


class GivenObservations(SharedRequest):
    """Observations for one entity."""

    entityName: Annotated[
        StorableText, Field(description="The name of the entity to add the observations to")
    ]
    contents: Annotated[list[StorableText], Field(description="The observations to add")]


class AddObservations(SharedRequest):
    """What to add: to the entity called *name*, or, without it, to several."""

    name: Annotated[
        StorableText | None, Field(description="The name of the entity, if observations are texts")
    ] = None
    observations: Annotated[
        list[StorableText] | list[GivenObservations],
        Field(description="Texts to add to the entity called name, or objects for several entities"),
    ]
    kind: Annotated[StorableText, Field(description="The kind of these observations")] = USUAL_KIND
    supersedes: Annotated[
        int | None,
        Field(description="The id of an observation that these take the place of, from open_nodes"),
    ] = None


@SHARED.operation(title="Add observations", idempotent=True)
def add_observations(ctx: Context, request: AddObservations) -> Reply:
    """Add observations to entities that exist; exact duplicates are dropped."""
    if request.name is not None:
        return _added_to(ctx, request.name, request)
    given = [one for one in request.observations if isinstance(one, GivenObservations)]
    if len(given) < len(request.observations):
        raise Invalid("name: required, unless observations are objects with entityName", "name")
    return answer(**_added(_observe(ctx, [(one.entityName, one.contents) for one in given])))


def _added_to(ctx: Context, name: str, request: AddObservations) -> Reply:
    memory, fresh = observe(ctx, name, _texts(request.observations), request.kind, request.supersedes)
    touch(ctx, [memory])
    return answer(entity=memory_entry(memory), **_added([(memory, fresh)]))


def _texts(items: Sequence[object]) -> list[str]:
    texts = [item for item in items if isinstance(item, str)]
    if len(texts) < len(items):
        raise Invalid("observations: must be texts when name is given", "observations")
    return texts


def _observe(ctx: Context, additions: Sequence[tuple[str, list[str]]]) -> list[tuple[Memory, list[str]]]:
    wanted = [(name, list(dict.fromkeys(texts))) for name, texts in additions]
    added = core.observe(ctx, wanted, may_repeat=False, must_exist=True)
    touch(ctx, [memory for memory, _ in added if memory])
    return [(memory, fresh) for memory, fresh in added if memory]


def _added(added: Sequence[tuple[Memory, list[str]]]) -> dict[str, Any]:
    return {
        "results": [{"entityName": memory.title, "addedObservations": fresh} for memory, fresh in added],
        "entities": [memory_entry(memory) for memory, _ in added],
    }


class GivenDeletion(SharedRequest):
    """Observations to take from one entity."""

    entityName: Annotated[
        StorableText, Field(description="The name of the entity containing the observations")
    ]
    observations: Annotated[list[StorableText], Field(description="The observations to delete")]


class DeleteObservations(SharedRequest):
    """What to take back: from the entity called *name*, or from several."""

    name: Annotated[StorableText | None, Field(description="The name of the entity")] = None
    observations: Annotated[list[StorableText], Field(description="Exact texts to delete from it")] = []
    deletions: Annotated[
        list[GivenDeletion] | None, Field(description="Instead of name: what to delete from several entities")
    ] = None


@SHARED.operation(title="Delete observations", destructive=True, idempotent=True)
def delete_observations(ctx: Context, request: DeleteObservations) -> Reply:
    """Delete observations from entities by their exact text; what is not there is passed over."""
    if request.name is not None:
        [memory] = core.retract(ctx, [(request.name, request.observations)])
        if memory is None:
            raise not_found(request.name)
        return done("Observations", entity=memory_entry(memory), entities=[memory_entry(memory)])
    if request.deletions is None:
        raise Invalid("name: required, unless deletions are given", "name")
    left = core.retract(ctx, [(one.entityName, one.observations) for one in request.deletions])
    return done("Observations", entities=[memory_entry(memory) for memory in left if memory])


# -- relations


class GivenRelation(SharedRequest):
    """A relation in a request."""

    source: Annotated[StorableText, Field(alias="from", description="The name of the entity where it starts")]
    target: Annotated[StorableText, Field(alias="to", description="The name of the entity where it ends")]
    relationType: Annotated[StorableText, Field(description="The type of the relation, in active voice")]
    context: Annotated[StorableText | None, Field(description="Why it holds")] = None

    def triple(self) -> Triple:
        """The relation as the core names it."""
        return Triple(self.source, self.target, self.relationType)


class Relations(SharedRequest):
    """The relations to make or to delete."""

    relations: list[GivenRelation]


@SHARED.operation(title="Create relations", idempotent=True)
def create_relations(ctx: Context, request: Relations) -> Reply:
    """Create relations between entities, which need not exist yet. The id of each is what end_relation takes."""
    made = core.relate(
        ctx,
        [one.triple() for one in request.relations],
        may_dangle=True,
        inverses=INVERSES,
        reasons=[one.context for one in request.relations],
    )
    return answer(relations=[related(one) for one in made])


@SHARED.operation(title="Delete relations", destructive=True, idempotent=True)
def delete_relations(ctx: Context, request: Relations) -> Reply:
    """Delete relations by source, target and type; what is not found is reported."""
    wanted = [one.triple() for one in request.relations]
    outcome = list(zip(wanted, core.unrelate(ctx, wanted), strict=True))
    errors = [why_not(ctx, triple) for triple, edges in outcome if not edges]
    deleted = [linked(triple) for triple, edges in outcome if edges]
    return done("Relations", deleted=deleted, **with_errors(errors))


# -- reading


class ReadGraph(SharedRequest):
    """The whole graph, or a page of it."""

    limit: Limit = None
    after: After = None


@SHARED.operation(title="Read graph", read_only=True, idempotent=True)
def read_graph(ctx: Context, request: ReadGraph) -> WholeGraph:
    """Read the entire knowledge graph: all entities and all relations."""
    whole = core.read_graph(ctx, request.after, request.limit)
    return WholeGraph.model_construct(
        {
            "entities": [shown(entity) for entity in whole.entities],
            "relations": [linked(relation) for relation in whole.relations],
        }
    )


class SearchNodes(SharedRequest):
    """What to look for."""

    query: Annotated[StorableText, Field(description="Part of a name, a type or an observation")]


@SHARED.operation(title="Search nodes", read_only=True, idempotent=True)
def search_nodes(ctx: Context, request: SearchNodes) -> Reply:
    """Find entities by a part of their name, type or observations, whatever its case, with their relations."""
    found = core.containing(ctx, request.query)
    return answer(entities=[entity_fields(entity) for entity in found], relations=_around(ctx, found))


class OpenNodes(graph.OpenNodes, extra="ignore"):
    """What to open."""

    names: Annotated[list[StorableText], Field(description="The exact names of the entities")]


@SHARED.operation(title="Open nodes", read_only=True, idempotent=True)
def open_nodes(ctx: Context, request: OpenNodes) -> Reply:
    """Open entities by exact name, with their relations; unknown names are left out."""
    opened = core.open_named(ctx, request.names, together=True)
    links = core.links_at(ctx, [memory.id for memory in opened])
    return answer(
        entities=[graph.opened_node(memory, links[memory.id], request) for memory in opened],
        relations=_around(ctx, opened),
    )


def _around(ctx: Context, found: Sequence[Entity | Memory]) -> list[Mapping[str, str]]:
    """The relations that touch what was *found*."""
    return [linked(relation) for relation in core.relations_of(ctx, [one.id for one in found])]
