"""The store and its use in numbers over time: analytics."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core.analytics import AskedQuestion, RecallDay, RecallFigures, analyse
from mnemic.core.context import Context
from mnemic.dialects.framework import Example, Shape
from mnemic.dialects.native.as_of import AsOf, at
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import Everywhere, MemoryShape, Request, Time, When, shown


class AnalyticsRequest(Request):
    """Which namespace, and from when on recalls count."""

    namespace: Everywhere = None
    since: Annotated[When, Field(description="recalls since then, as 2026-01-31 or 7d")] = "30d"
    as_of: Annotated[AsOf, Field(description="as it stood then")] = None


class QuestionShape(Shape):
    """A question, how often it was asked, and when last by whom."""

    query: str
    times: int
    at: Time
    actor: str


class RecallDayShape(Shape):
    """The recalls of one day; the median time in milliseconds."""

    day: str
    recalls: int
    empty: int
    tokens: int
    p50: float


class RecallFiguresShape(Shape):
    """The recalls in numbers. Times are milliseconds, without the transport."""

    count: int
    empty: int
    tokens: int
    p50: float | None = None
    p95: float | None = None
    by_day: list[RecallDayShape]
    by_actor: dict[str, int]
    unanswered: list[QuestionShape]
    frequent: list[QuestionShape]


class AnalyticsReply(Shape):
    """Growth of the store, recalls, questions without an answer, and the memories used most and least."""

    stored_by_day: dict[str, int]
    by_namespace: dict[str, int]
    by_kind: dict[str, int]
    by_tag: dict[str, int]
    recalls: RecallFiguresShape
    most_used: list[MemoryShape]
    least_used: list[MemoryShape]


@MNEMIC.command(cli="analytics", title="Analytics", examples=[Example("", {"since": "7d"})])
def analytics(ctx: Context, request: AnalyticsRequest) -> AnalyticsReply:
    """Show growth of the store, recalls, questions without an answer, and memories used most and least."""
    ctx = at(ctx, request.as_of)
    found = analyse(ctx, request.namespace, ctx.moment(request.since, "since"))
    return AnalyticsReply(
        stored_by_day=dict(found.stored_by_day),
        by_namespace=dict(found.by_namespace),
        by_kind=dict(found.by_kind),
        by_tag=dict(found.by_tag),
        recalls=_shown_figures(found.recalls),
        most_used=[shown(memory) for memory in found.most_used],
        least_used=[shown(memory) for memory in found.least_used],
    )


def _shown_figures(figures: RecallFigures) -> RecallFiguresShape:
    return RecallFiguresShape(
        count=figures.count,
        empty=figures.empty,
        tokens=figures.tokens,
        p50=figures.p50,
        p95=figures.p95,
        by_day=[_shown_day(day) for day in figures.by_day],
        by_actor=dict(figures.by_actor),
        unanswered=[_shown_question(one) for one in figures.unanswered],
        frequent=[_shown_question(one) for one in figures.frequent],
    )


def _shown_day(day: RecallDay) -> RecallDayShape:
    return RecallDayShape(day=day.day, recalls=day.recalls, empty=day.empty, tokens=day.tokens, p50=day.p50)


def _shown_question(one: AskedQuestion) -> QuestionShape:
    return QuestionShape(query=one.query, times=one.times, at=one.at, actor=one.actor)
