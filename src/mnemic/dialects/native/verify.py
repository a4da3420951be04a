"""verify: check a claim against memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mnemic.core.context import Context
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.as_of import AsOf, at
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import (
    ConflictShape,
    Everywhere,
    Request,
    Text,
    Time,
    described,
    shown_conflict,
)

if TYPE_CHECKING:
    from mnemic.core.trust.verify import Evidence


class VerifyRequest(Request):
    """A claim to check against memory."""

    claim: Annotated[Text, described("One statement to check"), Positional("CLAIM", stdin=True)]
    namespace: Everywhere = None
    limit: Annotated[int, described("Most evidence", ge=1, le=20)] = 5
    as_of: Annotated[AsOf, described("As known then (default: now)")] = None


class EvidenceShape(Shape):
    """A memory that bears on the claim: what it says, since when, and how much of the claim it backs."""

    id: int
    text: str
    when: Time
    support: float
    contradicts: bool | None = None
    outdated: bool | None = None


class VerifyReply(Shape):
    """The verdict, why, what it rests on (the decisive memory first), and which memories disagree with each other."""

    status: str
    confidence: float
    because: str | None = None
    evidence: list[EvidenceShape]
    missing: list[str] | None = None
    conflicts: list[ConflictShape] | None = None


@MNEMIC.operation(
    title="Verify",
    read_only=True,
    idempotent=True,
    cli="verify",
    about="Check a statement against memory.",
    examples=[Example("", {"claim": "We deploy on Fridays"})],
)
def verify(ctx: Context, request: VerifyRequest) -> VerifyReply:
    """Check a statement against memory before you rely on it.

    Answers verified, contradicted, partial or ungrounded (nothing is known), with the evidence.
    """
    ctx = at(ctx, request.as_of)
    # Loaded when it is first asked: a server that only recalls starts without the comparison of propositions.
    from mnemic.core.trust import conflicts
    from mnemic.core.trust import verify as verification

    verdict = verification.verify(ctx, request.claim, request.namespace, request.limit)
    against = conflicts.among(ctx, [item.memory for item in verdict.evidence])
    return VerifyReply(
        status=verdict.status,
        confidence=round(verdict.confidence, 3),
        because=verdict.because,
        evidence=[_shown(item) for item in verdict.evidence],
        missing=list(verdict.missing) or None,
        conflicts=[shown_conflict(one) for one in against] or None,
    )


def _shown(item: Evidence) -> EvidenceShape:
    return EvidenceShape(
        id=item.memory.id,
        text=item.excerpt,
        when=item.memory.occurred_at,
        support=round(item.support, 3),
        contradicts=item.contradicts or None,
        outdated=item.is_outdated or None,
    )
