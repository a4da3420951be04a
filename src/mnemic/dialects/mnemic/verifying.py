"""Holding a claim against what is known: verify."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core.context import Context
from mnemic.core.judging import conflicts, grounding
from mnemic.dialects.mnemic.moments import AsOf, at
from mnemic.dialects.mnemic.shapes import ConflictShape, Namespace, Request, Text, shown_conflict
from mnemic.dialects.mnemic.vocabulary import MNEMIC
from mnemic.dialects.operation import Example, Positional, Shape


class VerifyRequest(Request):
    """A claim to check against what is known."""

    claim: Annotated[Text, Positional("CLAIM", stdin=True)]
    namespace: Namespace | None = None
    limit: Annotated[int, Field(ge=1, le=20)] = 5
    as_of: AsOf = None


class EvidenceShape(Shape):
    """A memory that bears on the claim, and how much of the claim it backs."""

    id: int
    title: str
    content: str
    support: float
    outdated: bool | None = None


class VerifyReply(Shape):
    """The verdict, what it rests on, and what in memory stands against that."""

    status: str
    confidence: float
    evidence: list[EvidenceShape]
    missing: list[str] | None = None
    conflicts: list[ConflictShape] | None = None


@MNEMIC.operation(
    title="Verify",
    read_only=True,
    idempotent=True,
    cli="verify",
    examples=[Example("", {"claim": "We deploy on Fridays"})],
)
def verify(ctx: Context, request: VerifyRequest) -> VerifyReply:
    """Check a claim against memory: verified, partial or ungrounded, with evidence."""
    ctx = at(ctx, request.as_of)
    verdict = grounding.verify(ctx, request.claim, request.namespace, request.limit)
    against = conflicts.among(ctx, [item.memory for item in verdict.evidence])
    return VerifyReply(
        status=verdict.status,
        confidence=round(verdict.confidence, 3),
        evidence=[
            EvidenceShape(
                id=item.memory.id,
                title=item.memory.title,
                content=item.memory.content,
                support=round(item.support, 3),
                outdated=item.is_outdated or None,
            )
            for item in verdict.evidence
        ],
        missing=list(verdict.missing) or None,
        conflicts=[shown_conflict(one) for one in against] or None,
    )
