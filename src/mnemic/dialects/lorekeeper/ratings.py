"""lore_update and lore_recommend_links: how good memories and links are, and which links there could be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError

from mnemic.core.context import Context
from mnemic.core.link_suggestions import Suggestion, suggest
from mnemic.core.trust.ratings import Rating, rate
from mnemic.dialects.framework import Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.lorekeeper.dialect import LOREKEEPER, LoreError
from mnemic.dialects.lorekeeper.lookup import by_uid
from mnemic.dialects.lorekeeper.settings import Bearings, bearings
from mnemic.dialects.validation import StorableText, invalid
from mnemic.model.enums import State
from mnemic.model.limits import MAX_ITEMS
from mnemic.storage.queries import edge_numbered

MOST_CANDIDATES = 50
NOT_FOUND = "not found"


class GivenRating(BaseModel):
    """A rating in a request."""

    model_config = ConfigDict(defer_build=True)

    id: StorableText
    useful: StrictBool
    confidence: Annotated[float | None, Field(ge=1, le=10)] = None


Feedback = Annotated[
    list[dict[str, Any]] | None,
    Field(max_length=MAX_ITEMS, description="each with id, useful (true or false) and confidence (1 to 10)"),
]


class LoreUpdate(Shape):
    """How useful memories and links were."""

    memory_feedback: Feedback = None
    link_feedback: Feedback = None


@LOREKEEPER.operation(title="Rate memories and links")
def lore_update(ctx: Context, request: LoreUpdate) -> Reply:
    """Say how useful memories and links were: useful ones rise, useless ones sink, by how sure you are.

    A memory that is useless with confidence 2 or less is forgotten. Call it after every lore_search.
    """
    at = bearings(ctx)
    errors: list[dict[str, Any]] = []
    of_memories = _read(request.memory_feedback or [], errors)
    of_links = _read(request.link_feedback or [], errors)
    memories = _memories(ctx, at, [one.id for one in of_memories])
    links = _links(ctx, at, [one.id for one in of_links])
    memory_ratings = _known(of_memories, memories, errors)
    link_ratings = _known(of_links, links, errors)
    rated = rate(ctx, memory_ratings, link_ratings, steps=at.settings.steps)
    return answer(
        updated_memories=len(memory_ratings),
        updated_links=len(link_ratings),
        soft_deleted_memories=len(rated.forgotten),
        errors=errors,
    )


def _read(feedback: Sequence[Mapping[str, Any]], errors: list[dict[str, Any]]) -> list[GivenRating]:
    """The valid ratings; errors of the others are added to *errors*."""
    given = []
    for one in feedback:
        try:
            given.append(GivenRating.model_validate(one))
        except ValidationError as error:
            errors.append({"id": str(one.get("id", "?")), "error": str(invalid(error))})
    return given


def _known(
    given: Sequence[GivenRating], numbers: Mapping[str, int], errors: list[dict[str, Any]]
) -> list[Rating]:
    errors += [{"id": one.id, "error": NOT_FOUND} for one in given if one.id not in numbers]
    return [Rating(numbers[one.id], one.useful, one.confidence) for one in given if one.id in numbers]


def _memories(ctx: Context, at: Bearings, ids: Sequence[str]) -> dict[str, int]:
    found = by_uid(ctx, list(dict.fromkeys(ids)), at.namespaces, forgotten=True)
    return {uid: memory.id for uid, memory in found.items()}


def _links(ctx: Context, at: Bearings, ids: Sequence[str]) -> dict[str, int]:
    """The links with these ids that begin and end where the caller looks."""
    reader = ctx.read()
    numbers = {one: int(one) for one in ids if one.isascii() and one.isdigit() and len(one) < 19}
    edges = {one: edge for one, number in numbers.items() if (edge := edge_numbered(reader, number))}
    ends = {end for edge in edges.values() for end in (edge.source_id, edge.target_id)}
    seen = {
        memory.id
        for memory in reader.get(sorted(ends))
        if at.namespaces is None or memory.namespace in at.namespaces
    }
    return {
        one: edge.id
        for one, edge in edges.items()
        if edge.state is State.LIVING and {edge.source_id, edge.target_id} <= seen
    }


class Recommend(Shape):
    """The memory to find links for."""

    lore_id: Annotated[StorableText, Field(description="id of the memory")]
    top_k: Annotated[int | None, Field(description="most candidates; LORE_LINK_TOP_M, or 10")] = None


@LOREKEEPER.operation(title="Recommend links", read_only=True, idempotent=True)
def lore_recommend_links(ctx: Context, request: Recommend) -> Reply:
    """Suggest memories to link to one, with a score for each signal. Nothing is written.

    Confirm by calling lore_insert with links.
    """
    if not request.lore_id.strip():
        raise LoreError("lore_id is required")
    if request.top_k is not None and request.top_k < 1:
        raise LoreError("top_k must be a positive integer")
    at = bearings(ctx)
    limit = at.settings.link_top_m if request.top_k is None else request.top_k
    found = [
        one
        for memory in by_uid(ctx, [request.lore_id], at.namespaces).values()
        for one in suggest(
            ctx,
            memory.id,
            namespaces=at.namespaces,
            limit=min(limit, MOST_CANDIDATES),
            signals=at.settings.signals,
        )
    ]
    candidates = [_candidate(request.lore_id, one) for one in found]
    return answer(candidates=candidates, count=len(candidates), source_lore_id=request.lore_id)


def _candidate(source: str, one: Suggestion) -> dict[str, Any]:
    return {
        "source_lore_id": source,
        "target_lore_id": one.memory.uid,
        "weighted_score": round(one.weighted, 4),
        "scores": {name: round(value, 4) for name, value in one.terms.items()},
    }
