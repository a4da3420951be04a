"""What this server can do at the feature tier that was asked for, with what is really there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.model.values import Features


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
    """What is missing, and what to do about it."""


def capabilities(ctx: Context) -> Capabilities:
    """What works now."""
    raise NotImplementedError
