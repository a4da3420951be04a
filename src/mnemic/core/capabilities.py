"""Capabilities of this server at the requested feature tier, with the models that are available."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.model.enums import Features

RERANKER = "lexical-fallback (no cross-encoder)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The tier in force, the one asked for, what works by name, and the models behind it."""

    tier: Features
    asked: Features
    features: Mapping[str, bool]
    """keyword_search, semantic_search, hybrid_recall, query_expansion, auto_consolidation, auto_tagging,
    contradiction_analysis, cross_encoder_reranking, memory_reflection"""
    embedding: str | None
    embedding_dim: int
    language: str | None
    reranker: str | None
    message: str | None = None
    """What is missing, and how to add it."""


def capabilities(ctx: Context) -> Capabilities:
    """What works now. No model is loaded to find out."""
    asked, embedder = ctx.features, ctx.embedder
    fault = embedder.problem() if embedder else None
    sees = embedder is not None and fault is None and asked is not Features.KEYWORD
    speaks = asked.has_language and ctx.language is not None and ctx.language.is_reachable()
    tier = _in_force(asked, sees, speaks)
    return Capabilities(
        tier=tier,
        asked=asked,
        features=_features(asked, sees, speaks),
        embedding=embedder.name if embedder and sees else None,
        embedding_dim=embedder.dimension if embedder and sees else 0,
        language=ctx.language.name if ctx.language and speaks else None,
        reranker=RERANKER if asked is Features.AUTONOMOUS and sees else None,
        message=_missing(ctx, tier, fault, speaks),
    )


def _in_force(asked: Features, sees: bool, speaks: bool) -> Features:
    if not sees:
        return Features.KEYWORD
    return Features.SEMANTIC if asked.has_language and not speaks else asked


def _features(asked: Features, sees: bool, speaks: bool) -> dict[str, bool]:
    is_autonomous = asked is Features.AUTONOMOUS
    return {
        "keyword_search": True,
        "semantic_search": sees,
        "hybrid_recall": sees,
        "query_expansion": speaks,
        "auto_consolidation": speaks,
        "auto_tagging": speaks,
        "contradiction_analysis": speaks,
        "cross_encoder_reranking": is_autonomous and sees,
        "memory_reflection": is_autonomous and speaks,
    }


def _missing(ctx: Context, tier: Features, fault: str | None, speaks: bool) -> str | None:
    """What was asked for and is not there. That no embedder was set is no fault: someone chose so."""
    sentences = [fault.rstrip(".") + "."] if fault else []
    if ctx.features.has_language and not speaks:
        name = ctx.language.name if ctx.language else "a language model"
        sentences.append(
            f"The server of {name} cannot be reached: start it, or set ollama_url (OLLAMA_HOST) or llm_url."
        )
    if not sentences:
        return None
    return " ".join([*sentences, f"Until then the tier {tier} is in force."])
