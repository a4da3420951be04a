"""What a language model adds, and what this server can do at its feature tier."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

from pydantic import Field

from mnemic.core import upsert
from mnemic.core.capabilities import capabilities
from mnemic.core.context import Context
from mnemic.core.memories import Revision
from mnemic.dialects.ai_memory import llm_tasks as core
from mnemic.dialects.ai_memory import validation
from mnemic.dialects.ai_memory.arguments import Arguments, Id, IdArguments, NoArguments, Words
from mnemic.dialects.ai_memory.dialect import AI_MEMORY, AN_ID, ANOTHER_ID, AiMemoryReply, answer
from mnemic.dialects.ai_memory.ids import meant
from mnemic.dialects.framework import Example
from mnemic.embedding.local import ENGLISH
from mnemic.errors import Unavailable
from mnemic.model.memory import Memory

NONE = "none"
DOCUMENTED_MODEL = "all-MiniLM-L6-v2"
"""What ai-memory embeds with at the semantic tier; clients look for its name."""


@AI_MEMORY.operation(title="Capabilities", read_only=True, idempotent=True)
def memory_capabilities(ctx: Context, request: NoArguments) -> AiMemoryReply:
    """Say which feature tier is in force, what works at it, and with which models."""
    known = capabilities(ctx)
    models = {
        "embedding": _embedding(known.embedding),
        "embedding_dim": known.embedding_dim,
        "llm": known.language or NONE,
        "cross_encoder": known.reranker or NONE,
    }
    message = {} if known.message is None else {"message": known.message}
    return answer(
        tier=known.tier,
        version=version("mnemic"),
        features=dict(known.features),
        models=models,
        requested_tier=known.asked,
        **message,
    )


def _embedding(name: str | None) -> str:
    """The current embedding model; for the bundled one also the documented model it replaces."""
    return f"{name} (in place of {DOCUMENTED_MODEL})" if name == ENGLISH.name else name or NONE


def _needs_language(ctx: Context, what: str) -> None:
    """Unavailable at a tier at which no language model is asked."""
    if not ctx.features.has_language:
        raise Unavailable(f"{what} requires smart or autonomous tier (Ollama LLM)")


class ExpandQuery(Arguments):
    """What to look for."""

    query: Annotated[Words, Field(description="query to find more words for")]


@AI_MEMORY.operation(
    title="Expand a query",
    read_only=True,
    open_world=True,
    examples=[Example("", {"query": "auth flow"})],
)
def memory_expand_query(ctx: Context, request: ExpandQuery) -> AiMemoryReply:
    """Ask the language model for terms related to a query. Smart tiers only."""
    _needs_language(ctx, "query expansion")
    return answer(original=request.query, expanded_terms=list(core.expand(ctx, request.query)))


@AI_MEMORY.operation(title="Tag a memory", open_world=True, examples=[Example("", {"id": AN_ID})])
def memory_auto_tag(ctx: Context, request: IdArguments) -> AiMemoryReply:
    """Add tags that the language model proposes to a memory. Smart tiers only."""
    _needs_language(ctx, "auto-tagging")
    memory = meant(ctx, request.id)
    proposed = core.tags_for(ctx, memory)
    tags = tuple(dict.fromkeys((*memory.tags, *proposed)))[: max(validation.MAX_TAGS, len(memory.tags))]
    if tags != memory.tags:
        memory = upsert.update(ctx, memory.id, Revision(tags=tags))
    return answer(id=memory.uid, new_tags=list(proposed), all_tags=list(memory.tags))


class DetectContradiction(Arguments):
    """Two memories."""

    id_a: Annotated[Id, Field(description="id of one memory")]
    id_b: Annotated[Id, Field(description="id of the other")]


@AI_MEMORY.operation(
    title="Detect a contradiction",
    read_only=True,
    open_world=True,
    examples=[Example("", {"id_a": AN_ID, "id_b": ANOTHER_ID})],
)
def memory_detect_contradiction(ctx: Context, request: DetectContradiction) -> AiMemoryReply:
    """Ask the language model whether two memories contradict each other. Smart tiers only."""
    _needs_language(ctx, "contradiction detection")
    one = meant(ctx, request.id_a, missing="memory A not found")
    other = meant(ctx, request.id_b, missing="memory B not found")
    contradicts = core.contradiction(ctx, one, other)
    return answer(contradicts=contradicts, memory_a=_named(one), memory_b=_named(other))


def _named(memory: Memory) -> dict[str, Any]:
    return {"id": memory.uid, "title": memory.title}
