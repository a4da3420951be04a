"""Grounding: whether memory backs a claim, what speaks for it, and what may have been meant."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from mnemic.core.context import Context
from mnemic.core.retention import touch
from mnemic.core.traversal import links_at
from mnemic.core.trust import verify as verification
from mnemic.core.trust.verify import CONTRADICTED, PARTIAL, UNGROUNDED, VERIFIED, Evidence, Verdict
from mnemic.dialects.agentic_memory import similar
from mnemic.dialects.agentic_memory.dialect import AGENTIC_MEMORY
from mnemic.dialects.agentic_memory.events import written
from mnemic.dialects.agentic_memory.similar import Match
from mnemic.dialects.agentic_memory.types import (
    Count,
    by_node_id,
    content_of,
    edges_at,
    findable,
    node,
    summary,
)
from mnemic.dialects.framework import Example, Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.validation import StorableText
from mnemic.model.graph import Link
from mnemic.model.memory import Memory

MOST_EVIDENCE = 10
MOST_SUGGESTIONS = 5
PREVIEW = 80
NEAR = 0.3
"""From this cosine on, a memory without a common word may still be what was meant."""


class MemoryGround(Shape):
    """A claim."""

    claim: Annotated[StorableText, Field(description="The claim to verify against stored memories")]
    threshold: Annotated[
        float, Field(description="Minimum score to verify: the share of the claim's words, 0 to 1")
    ] = 0.3


@AGENTIC_MEMORY.operation(
    title="Ground a claim",
    read_only=True,
    examples=[Example("Is it known?", {"claim": "The production database is PostgreSQL"})],
)
def memory_ground(ctx: Context, request: MemoryGround) -> Reply:
    """Verify that a claim has memory backing: verified, partial or ungrounded, with the evidence.

    A corrected memory never verifies; it is shown as outdated evidence.
    """
    if not request.claim.strip():
        empty: dict[str, Any] = {"evidence_count": 0, "evidence": [], "suggestions": []}
        return answer(status=UNGROUNDED, claim=request.claim, confidence=0.0, reason="Empty claim", **empty)
    verdict = verification.verify(ctx, request.claim, limit=MOST_EVIDENCE)
    evidence = sorted(verdict.evidence, key=lambda one: one.is_outdated)
    shown = [_backing(ctx, one) for one in evidence]
    touch(ctx, [one.memory for one in evidence])
    facts = {"claim": request.claim, "evidence_count": len(shown), "evidence": shown}
    status = _status(verdict, request.threshold)
    if status == UNGROUNDED:
        suggestions = [_preview(match.memory) for match in _meant(ctx, request.claim, MOST_SUGGESTIONS)]
        reason = f"{'Only outdated' if shown else 'No'} memory nodes match this claim"
        return answer(status=status, confidence=0.0, reason=reason, suggestions=suggestions, **facts)
    confidence = round(verdict.confidence, 4)
    unsupported = [word.lower() for word in verdict.missing]
    return answer(status=status, confidence=confidence, unsupported_terms=unsupported, **facts)


def _status(verdict: Verdict, threshold: float) -> str:
    """The core's verdict in this system's three words; `verified` must also reach the threshold.

    A claim is partial if a current memory says some of it, contradicted or not; ungrounded if none does.
    """
    best = max((one.support for one in verdict.evidence if not one.is_outdated), default=0.0)
    if verdict.status in (CONTRADICTED, UNGROUNDED):
        return PARTIAL if best > 0 else UNGROUNDED
    return PARTIAL if verdict.status == VERIFIED and best < threshold else verdict.status


def _backing(ctx: Context, evidence: Evidence) -> dict[str, Any]:
    return {
        **by_node_id(node(evidence.memory, ctx.now())),
        "score": round(evidence.support, 4),
        "matched_terms": [word.lower() for word in evidence.words],
        **({"outdated": True} if evidence.is_outdated else {}),
        **({"contradicts": True} if evidence.contradicts else {}),
    }


def _preview(memory: Memory) -> str:
    content = content_of(memory)
    return content if len(content) <= PREVIEW else f"{content[:PREVIEW]}..."


def _meant(ctx: Context, text: str, limit: int) -> list[Match]:
    """What resembles *text*: it shares a word with it, however that is spelt, or comes near it in meaning."""
    found = similar.resembling(ctx, text, findable(ctx), limit)
    return [match for match in found if match.terms or match.bm25 or match.cosine >= NEAR]


class MemoryEvidence(Shape):
    """What to look for."""

    query: Annotated[StorableText, Field(description="The query to search evidence for")]
    max_results: Annotated[Count, Field(description="Maximum evidence items")] = 10


@AGENTIC_MEMORY.operation(
    title="Show evidence", read_only=True, examples=[Example("What speaks for it", {"query": "cedar"})]
)
def memory_evidence(ctx: Context, request: MemoryEvidence) -> Reply:
    """Get detailed evidence for a claim: matching nodes with content, timestamps, sessions, and relationships."""
    found = _meant(ctx, written(request.query, "query"), request.max_results)
    links = links_at(ctx, [match.memory.id for match in found])
    evidence = [_item(ctx, match, links) for match in found]
    touch(ctx, [match.memory for match in found])
    return answer(query=request.query, count=len(evidence), evidence=evidence)


def _item(ctx: Context, match: Match, links: list[Link]) -> dict[str, Any]:
    memory = match.memory
    return {
        **by_node_id(node(memory, ctx.now())),
        "last_accessed": memory.accessed_at or memory.created_at,
        **edges_at(memory.id, links),
        "source": f"session:{memory.session_id or 0}",
        "score": round(match.similarity, 4),
        "matched_terms": list(match.terms),
    }


class MemorySuggest(Shape):
    """What was said."""

    query: Annotated[StorableText, Field(description="The query to find suggestions for")]
    limit: Annotated[Count, Field(description="Maximum suggestions")] = 5


@AGENTIC_MEMORY.operation(
    title="Suggest memories",
    read_only=True,
    examples=[Example("What was probably meant", {"query": "the database is MySQL"})],
)
def memory_suggest(ctx: Context, request: MemorySuggest) -> Reply:
    """Find similar memories when a claim does not match exactly, to correct what was misremembered."""
    found = _meant(ctx, written(request.query, "query"), request.limit)
    suggestions = [
        {
            **by_node_id(summary(match.memory)),
            "relevance_score": round(match.similarity, 4),
            "matched_terms": list(match.terms),
            "session_id": match.memory.session_id or 0,
        }
        for match in found
    ]
    touch(ctx, [match.memory for match in found])
    return answer(query=request.query, count=len(suggestions), suggestions=suggestions)
