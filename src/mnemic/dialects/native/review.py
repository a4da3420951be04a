"""Review: memories that wait for a decision by a person."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from mnemic.core import review_queue
from mnemic.core.context import Context
from mnemic.core.review_queue import ACTIONS, Decision, ReviewKind
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import Everywhere, MemoryShape, Reference, Request, shown


class ReviewRequest(Request):
    """Which items to show, or the decision about one."""

    kind: Annotated[ReviewKind, Field(description="why they are in the queue"), Positional("KIND")] = (
        ReviewKind.CAPTURED
    )
    namespace: Everywhere = None
    limit: Annotated[int, Field(ge=1, le=200, description="most items")] = 20
    offset: Annotated[int, Field(ge=0, le=10_000, description="how many to skip")] = 0
    wait_seconds: Annotated[
        float | None,
        Field(
            ge=0, le=600, description="longest wait; then the answer says how far it is (default: no limit)"
        ),
    ] = None
    decision: Annotated[Decision | None, Field(description="decide about one item (default: list them)")] = (
        None
    )
    id: Annotated[Reference | None, Field(description="the memory to decide about")] = None
    others: Annotated[
        list[Reference],
        Field(description="duplicates, conflicts, links: the others of the item", max_length=200),
    ] = []

    @model_validator(mode="after")
    def _whole(self) -> ReviewRequest:
        if (self.decision is None) != (self.id is None):
            raise ValueError("`decision` and `id` go together")
        return self


class ReviewItemShape(Shape):
    """A memory that waits for a decision, the others it concerns, and why."""

    memory: MemoryShape
    others: list[MemoryShape] | None = None
    reason: str


class ReviewReply(Shape):
    """The items with what accepting and rejecting means; or the memory after the decision."""

    kind: ReviewKind
    items: list[ReviewItemShape] | None = None
    total: int | None = None
    progress: float | None = None
    """The share of the search that is done; missing when the list is complete."""
    accept: str
    reject: str
    memory: MemoryShape | None = None


@MNEMIC.command(
    cli="review",
    title="Review",
    reads=False,
    examples=[
        Example("", {"kind": "duplicates"}),
        Example("accept one", {"kind": "captured", "id": "12", "decision": "accept"}),
    ],
)
def review(ctx: Context, request: ReviewRequest) -> ReviewReply:
    """Show what waits for a decision, and accept or reject it.

    Captured, near-duplicate, contradicting, expiring, suspicious or unused memories, and suggested links.
    """
    accept, reject = ACTIONS[request.kind]
    if request.decision is not None:
        left = review_queue.decide(ctx, request.kind, request.decision, request.id or 0, request.others)
        return ReviewReply(kind=request.kind, accept=accept, reject=reject, memory=shown(left))
    found = review_queue.page(
        ctx,
        request.kind,
        request.namespace,
        limit=request.limit,
        offset=request.offset,
        wait_seconds=request.wait_seconds,
    )
    items = [
        ReviewItemShape(
            memory=shown(item.memory),
            others=[shown(other) for other in item.others] or None,
            reason=item.reason,
        )
        for item in found.items
    ]
    progress = None if found.progress is None else round(found.progress, 2)
    return ReviewReply(
        kind=request.kind, items=items, total=found.total, progress=progress, accept=accept, reject=reject
    )
