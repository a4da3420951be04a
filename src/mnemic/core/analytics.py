"""Analytics: how the store grows, recalls, questions without an answer, and the memories used most and least."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from mnemic.core.context import Context
from mnemic.core.stats import COUNTED
from mnemic.model.annotations import HIDDEN
from mnemic.model.filter import Filter, Order, RecallFilter
from mnemic.model.memory import Memory
from mnemic.model.recall_entry import RecallEntry
from mnemic.model.time import DAY, Moment, iso

MOST_RECALLS = 20_000
"""The newest recalls that are counted."""
MOST_VALUES = 30
MOST_QUESTIONS = 50
MOST_MEMORIES = 10
GRACE = 30 * DAY
"""A memory is not of little use before it is so old."""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question, how often it was asked, and when last by whom."""

    query: str
    times: int
    at: Moment
    actor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallDay:
    """The recalls of one day."""

    day: str
    recalls: int
    empty: int
    tokens: int
    p50: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFigures:
    """The recalls of a time in numbers."""

    count: int
    empty: int
    tokens: int
    p50: float | None
    p95: float | None
    by_day: tuple[RecallDay, ...]
    by_actor: Mapping[str, int]
    unanswered: tuple[AskedQuestion, ...]
    frequent: tuple[AskedQuestion, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Analytics:
    """The store and its use in numbers."""

    stored_by_day: Mapping[str, int]
    by_namespace: Mapping[str, int]
    by_kind: Mapping[str, int]
    by_tag: Mapping[str, int]
    recalls: RecallFigures
    most_used: tuple[Memory, ...]
    least_used: tuple[Memory, ...]


def analyse(ctx: Context, namespace: str | None, since: Moment) -> Analytics:
    """The figures of a namespace, or of all that are looked into; recalls are those from *since* on."""
    reader, now = ctx.read(), ctx.now()
    spaces = ctx.scope(namespace)
    living = Filter(namespaces=spaces, alive_at=now)
    days = reader.tally(Filter(namespaces=spaces, states=COUNTED), "day")
    grown = Filter(namespaces=spaces, without=HIDDEN, until=now - GRACE, alive_at=now)
    recent = RecallFilter(since=since, until=now, visible=spaces)
    entries = reader.recalls(recent, limit=MOST_RECALLS, newest_first=True)
    return Analytics(
        stored_by_day=dict(sorted(days.items())),
        by_namespace=_first(reader.tally(living, "namespace")),
        by_kind=_first(reader.tally(living, "kind")),
        by_tag=_first(reader.tally(living, "tag")),
        recalls=figures(entries),
        most_used=tuple(reader.get(reader.select(living, order=Order.USE, limit=MOST_MEMORIES))),
        least_used=tuple(
            reader.get(reader.select(grown, order=Order.USE, is_reversed=True, limit=MOST_MEMORIES))
        ),
    )


def _first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(islice(counts.items(), MOST_VALUES))


def figures(entries: Sequence[RecallEntry]) -> RecallFigures:
    """*entries*, newest first, in numbers."""
    times = sorted(entry.milliseconds for entry in entries)
    return RecallFigures(
        count=len(entries),
        empty=sum(not entry.hits for entry in entries),
        tokens=sum(entry.tokens for entry in entries),
        p50=_quantile(times, 0.5),
        p95=_quantile(times, 0.95),
        by_day=_by_day(entries),
        by_actor=dict(Counter(entry.actor for entry in entries).most_common(MOST_VALUES)),
        unanswered=_questions([entry for entry in entries if not entry.hits]),
        frequent=_questions(entries),
    )


def _quantile(times: Sequence[float], share: float) -> float | None:
    return times[min(len(times) - 1, int(share * len(times)))] if times else None


def _by_day(entries: Sequence[RecallEntry]) -> tuple[RecallDay, ...]:
    days: dict[str, list[RecallEntry]] = defaultdict(list)
    for entry in entries:
        days[iso(entry.at)[:10]].append(entry)
    return tuple(
        RecallDay(
            day=day,
            recalls=len(some),
            empty=sum(not entry.hits for entry in some),
            tokens=sum(entry.tokens for entry in some),
            p50=_quantile(sorted(entry.milliseconds for entry in some), 0.5) or 0.0,
        )
        for day, some in sorted(days.items())
    )


def _questions(entries: Sequence[RecallEntry]) -> tuple[AskedQuestion, ...]:
    """The questions of *entries*, those asked most often first."""
    by_query: dict[str, list[RecallEntry]] = defaultdict(list)
    for entry in entries:
        by_query[" ".join(entry.query.casefold().split())].append(entry)
    often = sorted(by_query.values(), key=lambda some: (-len(some), -some[0].at))[:MOST_QUESTIONS]
    return tuple(AskedQuestion(some[0].query, len(some), some[0].at, some[0].actor) for some in often)
