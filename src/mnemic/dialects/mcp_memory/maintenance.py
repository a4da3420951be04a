"""Maintenance tools: split entities, find duplicate observations, end relations."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, ValidationError

from mnemic.core import entities as core
from mnemic.core.context import Context
from mnemic.core.entities import visible
from mnemic.core.maintenance import duplicate_statements, split
from mnemic.core.maintenance.report import MaintenanceReport, look_over
from mnemic.core.maintenance.split import Analysis, SplitPart, Thresholds
from mnemic.dialects.framework import Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.mcp_memory.dialect import MCP_MEMORY, STATUS, Named, found, model_needed, unfit
from mnemic.dialects.validation import NonEmptyText, StorableText
from mnemic.errors import NotFound
from mnemic.model.memory import Memory
from mnemic.model.time import DAY, Moment

CONTAINS, PART_OF = "contiene", "parte_de"
THRESHOLDS = Thresholds(default=20, by_kind={"Sesion": 15, "Proyecto": 25})
LABEL = "Tema"
ARCHIVED = "archivado"
MAX_DAYS = 100_000


@MCP_MEMORY.operation(title="Analyze a split", read_only=True, idempotent=True)
def analyze_entity_split(ctx: Context, request: Named) -> Reply:
    """Say whether an entity has too many observations, and which topics they fall into. Changes nothing."""
    return answer(analysis=_analysis(_analysed(ctx, request.entity_name)))


def _analysed(ctx: Context, name: str) -> Analysis:
    return split.analyse(ctx, found(ctx, name).id, THRESHOLDS, label=LABEL)


def _analysis(one: Analysis) -> dict[str, Any]:
    return {
        "entity_name": one.memory.title,
        "entity_type": one.memory.kind,
        "observation_count": len(one.memory.statements),
        "threshold": one.threshold,
        "needs_split": one.needs_split,
        "topics": one.topics,
        "split_score": round(one.score, 2),
    }


@MCP_MEMORY.operation(title="Propose a split", read_only=True, idempotent=True)
def propose_entity_split(ctx: Context, request: Named) -> Reply:
    """Propose how to split an entity by topic; null if it need not be. Changes nothing."""
    analysis = _analysed(ctx, request.entity_name)
    if not analysis.needs_split:
        return answer(proposal=None, message="Entity does not need splitting")
    whole, parts = analysis.memory, split.propose(analysis)
    links = [
        {"from": source, "to": target, "type": type}
        for part in parts
        for source, target, type in (
            (whole.title, part.title, CONTAINS),
            (part.title, whole.title, PART_OF),
        )
    ]
    summary = _analysis(analysis)
    return answer(
        proposal={
            "original_entity": {"name": whole.title, "entity_type": whole.kind},
            "suggested_splits": [
                {"name": part.title, "entity_type": part.kind, "observations": list(part.texts)}
                for part in parts
            ],
            "relations_to_create": links,
            "analysis": {
                **{name: summary[name] for name in ("observation_count", "threshold", "split_score")},
                "num_topics": len(parts),
            },
        }
    )


class ApprovedSplit(Shape):
    """A part to be made."""

    name: NonEmptyText
    entity_type: StorableText
    observations: list[StorableText]


class ExecuteSplit(Shape):
    """A split that was approved."""

    entity_name: StorableText
    approved_splits: Annotated[
        list[dict[str, Any]], Field(description="parts, each with name, entity_type and observations")
    ]
    parent_entity_name: Annotated[
        StorableText | None, Field(description="entity the parts are linked with (default: entity_name)")
    ] = None


@MCP_MEMORY.operation(title="Execute a split", destructive=True)
def execute_entity_split(ctx: Context, request: ExecuteSplit) -> Reply:
    """Move observations into new entities and link these with the original or its parent, all or nothing."""
    parts = [_part(item) for item in request.approved_splits]
    memory = core.entity(ctx.read(), ctx, request.entity_name)
    if memory is None:
        raise NotFound(f"Original entity '{request.entity_name}' not found")
    above = memory if request.parent_entity_name is None else found(ctx, request.parent_entity_name)
    done = split.split(ctx, memory.id, parts, parent=above.id, contains=CONTAINS, part_of=PART_OF)
    return answer(
        result={
            "new_entities": [part.title for part in done.parts],
            "moved_observations": done.moved,
            "relations_created": done.links,
            "original_observations_remaining": len(done.whole.statements),
        }
    )


def _part(item: dict[str, Any]) -> SplitPart:
    try:
        given = ApprovedSplit.model_validate(item)
    except ValidationError as error:
        raise unfit(error) from None
    return SplitPart(title=given.name, texts=given.observations, kind=given.entity_type)


# The documents call these two both ways.
for _operation in (propose_entity_split, execute_entity_split):
    MCP_MEMORY.alias(_operation.__name__, f"{_operation.__name__}_tool")


class NoArguments(Shape):
    """No arguments."""


@MCP_MEMORY.operation(title="Find split candidates", read_only=True, idempotent=True)
def find_split_candidates(ctx: Context, request: NoArguments) -> Reply:
    """List every entity that has more observations than its type should, with their topics."""
    full = split.candidates(ctx, visible(ctx), THRESHOLDS, label=LABEL)
    return answer(candidates=[_analysis(one) for one in full])


class FindDuplicates(Named):
    """Where to look, and how alike is alike."""

    threshold: Annotated[float, Field(description="least cosine")] = 0.85
    containment_threshold: Annotated[
        float, Field(description="least share of a short text's words in one twice as long")
    ] = 0.7


@MCP_MEMORY.operation(title="Find duplicate observations", read_only=True, idempotent=True)
def find_duplicate_observations(ctx: Context, request: FindDuplicates) -> Reply:
    """Find observations of an entity that say the same. Changes nothing; needs the model."""
    memory = found(ctx, request.entity_name)
    with model_needed():
        alike = duplicate_statements.find(
            ctx, memory.id, cosine=request.threshold, containment=request.containment_threshold
        )
    return answer(
        entity_name=memory.title,
        total_observations=len(memory.statements),
        duplicate_pairs=[
            {
                "obs_text_a": pair.one.text,
                "obs_text_b": pair.other.text,
                "similarity_score": round(pair.similarity, 4),
                "match_type": pair.match,
            }
            for pair in alike.pairs
        ],
        clusters=[
            {"observations": [one.text for one in group], "size": len(group)} for group in alike.groups
        ],
    )


class ConsolidationReport(Shape):
    """What counts as stale."""

    stale_days: Annotated[float, Field(description="days without a use")] = 90.0


@MCP_MEMORY.operation(title="Consolidation report", read_only=True, idempotent=True)
def consolidation_report(ctx: Context, request: ConsolidationReport) -> Reply:
    """Report what wants tidying: entities to split, repeated observations, stale and large entities."""
    report = look_over(
        ctx,
        visible(ctx),
        THRESHOLDS,
        stale_after=round(max(-MAX_DAYS, min(request.stale_days, MAX_DAYS)) * DAY),
        is_archived=lambda memory: memory.metadata.get(STATUS) == ARCHIVED,
        label=LABEL,
    )
    areas = _areas(report, ctx.now())
    counts = {f"{area}_count": len(items) for area, items in areas.items()}
    totals = {"total_entities": report.memories, "total_observations": report.statements}
    return answer(summary={**totals, **counts}, **areas)


def _areas(report: MaintenanceReport, now: Moment) -> dict[str, list[dict[str, Any]]]:
    return {
        "split_candidates": [_without_topics(one) for one in report.split],
        "flagged_observations": [
            {
                "entity_name": one.memory.title,
                "observation_text": one.statement.text,
                "similarity_flag": 1,
            }
            for one in report.flagged
        ],
        "stale_entities": [_stale(memory, now) for memory in report.stale],
        "large_entities": [
            {"entity_name": one.title, "entity_type": one.kind, "observation_count": one.statements}
            for one in report.large
        ],
    }


def _without_topics(one: Analysis) -> dict[str, Any]:
    return {name: value for name, value in _analysis(one).items() if name not in ("topics", "needs_split")}


def _stale(memory: Memory, now: Moment) -> dict[str, Any]:
    last = memory.created_at if memory.accessed_at is None else memory.accessed_at
    return {
        "entity_name": memory.title,
        "entity_type": memory.kind,
        "last_accessed_days_ago": (now - last) // DAY,
        "access_count": memory.access_count,
        "observation_count": len(memory.statements),
    }
