"""Consolidation: one memory in the place of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field

from mnemic.core.context import Context
from mnemic.core.maintenance import consolidate
from mnemic.core.standards import settings
from mnemic.dialects.ai_memory import llm_tasks as tasks
from mnemic.dialects.ai_memory import validation
from mnemic.dialects.ai_memory.arguments import (
    Arguments,
    Ids,
    Namespace,
    Summary,
    Title,
)
from mnemic.dialects.ai_memory.dialect import AI_MEMORY, AN_ID, ANOTHER_ID, AiMemoryReply, answer
from mnemic.dialects.ai_memory.ids import meant
from mnemic.dialects.framework import Example
from mnemic.errors import Invalid
from mnemic.model.memory import Memory

PREVIEW = 200
NO_SUMMARY = "summary is required (or use smart/autonomous tier for auto-summarization)"
WAS_STANDARD = "a source was the standard of {}; set another with memory_namespace_set_standard"


class Consolidate(Arguments):
    """Memories to consolidate and the fields of the result."""

    ids: Ids
    title: Title
    summary: Summary | None = None
    namespace: Annotated[Namespace | None, Field(description="namespace of the new memory (global)")] = None


@AI_MEMORY.operation(
    title="Consolidate memories",
    destructive=True,
    examples=[
        Example(
            "",
            {
                "ids": [AN_ID, ANOTHER_ID],
                "title": "Auth system summary",
                "summary": "JWT with refresh tokens, sessions in Redis.",
            },
        )
    ],
)
def memory_consolidate(ctx: Context, request: Consolidate) -> AiMemoryReply:
    """Replace memories by one that has all their tags and the highest priority. Smart tiers write the summary."""
    sources = [meant(ctx, id, missing=f"memory not found: {id}") for id in request.ids]
    warning = _warning(ctx, sources)
    text, made = (request.summary, {}) if request.summary is not None else _summarised(ctx, sources)
    numbers = [memory.id for memory in sources]
    new = consolidate.consolidate(ctx, numbers, title=request.title, text=text, namespace=request.namespace)
    return answer(id=new.uid, consolidated=len(sources), namespace=new.namespace, **made, **warning)


def _summarised(ctx: Context, sources: Sequence[Memory]) -> tuple[str, dict[str, Any]]:
    """A text for all *sources*, and what the answer says about it."""
    if not ctx.features.has_language:
        raise Invalid(NO_SUMMARY, "summary")
    text = validation.content(tasks.summarise(ctx, sources), "summary")
    return text, {"auto_summary": True, "summary_preview": text[:PREVIEW]}


def _warning(ctx: Context, sources: Sequence[Memory]) -> dict[str, str]:
    """That a namespace loses its standard, if one does."""
    numbers = {memory.id for memory in sources}
    held = settings(ctx.read()).items()
    losing = [name for name, (number, _) in held if number in numbers]
    return {"warning": WAS_STANDARD.format(", ".join(losing))} if losing else {}
