"""tidy: find and fix near-duplicates, oversized memories and other problems."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import model_validator

from mnemic.core import retention
from mnemic.core.context import Context
from mnemic.core.maintenance import consolidate, duplicate_statements, merge, split
from mnemic.core.maintenance.report import look_over
from mnemic.core.maintenance.split import Thresholds
from mnemic.core.memories import find
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import (
    BriefShape,
    ConflictShape,
    MemoryShape,
    Reference,
    Request,
    brief,
    described,
    shown,
    shown_conflict,
)
from mnemic.model.filter import Filter

SHOWN = 50


class Action(StrEnum):
    """What to look for, or to do."""

    REPORT = "report"
    DUPLICATES = "duplicates"
    SPLIT = "split"
    MERGE = "merge"
    EXPIRED = "expired"
    CONDENSE = "condense"
    CONFLICTS = "conflicts"
    SCAN = "scan"
    REVIEW = "review"


OF_ALL = frozenset({Action.REPORT, Action.EXPIRED, Action.CONDENSE, Action.CONFLICTS})
"""The actions that look at everything."""
OF_ONE = frozenset({Action.SPLIT, Action.MERGE})
"""Those that are about one memory; the others do both."""


class TidyRequest(Request):
    """The whole store, or one memory; of a merge, both."""

    action: Annotated[
        Action,
        described(
            "report: what wants attention; condense: many of one topic into one; scan: prompt injection; "
            "review: what was captured, apply accepts one"
        ),
        Positional("ACTION"),
    ] = Action.REPORT
    id: Annotated[
        Reference | None,
        described("split, merge, duplicates, scan, review: the memory by id, uid or title (default: all)"),
        Positional("MEMORY"),
    ] = None
    into: Annotated[Reference | None, described("merge: the memory that stays (default: none)")] = None
    apply: Annotated[bool, described("Do it; otherwise only propose")] = False

    @model_validator(mode="after")
    def _enough(self) -> TidyRequest:
        if self.action in OF_ALL and self.id is not None:
            raise ValueError(f"{self.action} takes no `id`")
        if self.action in OF_ONE and self.id is None:
            raise ValueError(f"{self.action} needs `id`")
        if (self.action is Action.MERGE) != (self.into is not None):
            raise ValueError("merge, and nothing else, needs `into`")
        if self.action in (Action.REPORT, Action.CONFLICTS) and self.apply:
            raise ValueError(f"{self.action} changes nothing")
        if self.action is Action.REVIEW and self.apply and self.id is None:
            raise ValueError("review accepts one memory at a time: give `id`")
        return self


class RepeatedShape(BriefShape):
    """A statement that its memory had before in other words."""

    text: str
    earlier: str


class ReportShape(Shape):
    """What wants tidying: how much there is, and the first of each."""

    memories: int
    statements: int
    split: list[BriefShape]
    repeated: list[RepeatedShape]
    stale: list[BriefShape]


class PartShape(Shape):
    """A memory to be, and what it would say."""

    title: str
    texts: list[str]


class DoubleShape(Shape):
    """Memories that say nearly the same, and what the first would say once the others are merged into it."""

    into: BriefShape
    others: list[BriefShape]
    similarity: float
    texts: list[str]


class SignShape(Shape):
    """What makes a memory suspicious, and where."""

    rule: str
    text: str


class FindingShape(BriefShape):
    """A memory suspected of prompt injection."""

    signs: list[SignShape]


class TidyReply(Shape):
    """What was found or proposed and, once applied, the resulting memory."""

    applied: bool
    count: int | None = None
    report: ReportShape | None = None
    groups: list[list[str]] | None = None
    parts: list[PartShape] | None = None
    memory: MemoryShape | None = None
    doubles: list[DoubleShape] | None = None
    conflicts: list[ConflictShape] | None = None
    findings: list[FindingShape] | None = None
    captured: list[MemoryShape] | None = None


@MNEMIC.operation(
    title="Tidy",
    destructive=True,
    cli="tidy",
    about="Find and clean up duplicates, contradictions, expired and suspicious memories.",
    examples=[
        Example("", {"action": "split", "id": "12"}),
        Example("report", {"action": "report"}),
        Example("fold 12 into 7", {"action": "merge", "id": "12", "into": "7", "apply": True}),
        Example("merge memories that share a tag", {"action": "condense"}),
        Example("list near-duplicates", {"action": "duplicates"}),
        Example("list contradictions", {"action": "conflicts"}),
        Example("find prompt injections", {"action": "scan"}),
        Example("list what was captured", {"action": "review"}),
        Example("accept what was captured", {"action": "review", "id": "12", "apply": True}),
    ],
)
def tidy(ctx: Context, request: TidyRequest) -> TidyReply:
    """Clean up when memory has grown: find near-duplicates, contradictions, expired or suspicious memories.

    Proposes unless apply is set.
    """
    match request.action:
        case Action.DUPLICATES if request.id is None:
            return _doubles(ctx, request.apply)
        case Action.DUPLICATES:
            return _duplicates(ctx, request.id or 0, request.apply)
        case Action.CONFLICTS:
            from mnemic.core.trust import conflicts

            found = conflicts.find(ctx)
            shown_ones = [shown_conflict(one) for one in found[:SHOWN]]
            return TidyReply(applied=False, count=len(found), conflicts=shown_ones)
        case Action.SCAN:
            return _scan(ctx, request.id, request.apply)
        case Action.REVIEW:
            return _review(ctx, request.id, request.apply)
        case Action.SPLIT:
            return _split(ctx, request.id or 0, request.apply)
        case Action.MERGE:
            return _merge(ctx, request.id or 0, request.into or 0, request.apply)
        case Action.EXPIRED:
            return TidyReply(applied=request.apply, count=retention.collect(ctx, dry_run=not request.apply))
        case Action.CONDENSE:
            return _condense(ctx, request.apply)
    return TidyReply(applied=False, report=_report(ctx))


def _report(ctx: Context) -> ReportShape:
    wanted = Filter(namespaces=ctx.scope(), alive_at=ctx.now())
    found = look_over(ctx, wanted, Thresholds())
    return ReportShape(
        memories=found.memories,
        statements=found.statements,
        split=[brief(one.memory) for one in found.split[:SHOWN]],
        repeated=[
            RepeatedShape(
                id=one.memory.id,
                title=one.memory.title,
                text=one.statement.text,
                earlier=one.earlier.text,
            )
            for one in found.flagged[:SHOWN]
        ],
        stale=[brief(memory) for memory in found.stale[:SHOWN]],
    )


def _duplicates(ctx: Context, reference: int | str, apply: bool) -> TidyReply:
    found = duplicate_statements.find(ctx, reference)
    applied = apply and bool(found.groups)
    left = duplicate_statements.drop(ctx, found) if applied else None
    return TidyReply(
        applied=applied,
        groups=[[one.text for one in group] for group in found.groups],
        memory=shown(left) if left else None,
    )


def _doubles(ctx: Context, apply: bool) -> TidyReply:
    from mnemic.core.maintenance import near_duplicates

    found = near_duplicates.find(ctx)
    count = near_duplicates.apply(ctx, found) if apply else sum(len(group.others) for group in found)
    return TidyReply(
        applied=apply and bool(found),
        count=count,
        doubles=[
            DoubleShape(
                into=brief(group.kept),
                others=[brief(memory) for memory in group.others],
                similarity=round(group.similarity, 3),
                texts=list(group.texts),
            )
            for group in found[:SHOWN]
        ],
    )


def _scan(ctx: Context, reference: int | str | None, apply: bool) -> TidyReply:
    from mnemic.core.trust import prompt_injection

    found = prompt_injection.scan(ctx, reference)
    if apply:
        prompt_injection.quarantine(ctx, found)
    return TidyReply(
        applied=apply and bool(found),
        count=len(found),
        findings=[
            FindingShape(
                id=one.memory.id,
                title=one.memory.title,
                signs=[SignShape(rule=sign.rule, text=sign.text) for sign in one.signs],
            )
            for one in found[:SHOWN]
        ],
    )


def _review(ctx: Context, reference: int | str | None, apply: bool) -> TidyReply:
    from mnemic.core.capture import review

    if reference is not None and apply:
        return TidyReply(applied=True, memory=shown(review.accept(ctx, reference)))
    waiting = review.waiting(ctx)
    if reference is not None:
        one = find(ctx, reference)
        waiting = [memory for memory in waiting if memory.id == one.id]
    return TidyReply(applied=False, count=len(waiting), captured=[shown(one) for one in waiting[:SHOWN]])


def _split(ctx: Context, reference: int | str, apply: bool) -> TidyReply:
    parts = split.propose(split.analyse(ctx, reference, Thresholds()))
    applied = apply and bool(parts)
    whole = split.split(ctx, reference, parts).whole if applied else None
    return TidyReply(
        applied=applied,
        parts=[PartShape(title=part.title, texts=list(part.texts)) for part in parts],
        memory=shown(whole) if whole else None,
    )


def _merge(ctx: Context, reference: int | str, into: int | str, apply: bool) -> TidyReply:
    if apply:
        left, _ = merge.merge(ctx, reference, into)
        return TidyReply(applied=True, memory=shown(left))
    left, texts = merge.propose(ctx, reference, into)
    return TidyReply(applied=False, parts=[PartShape(title=left.title, texts=list(texts))])


def _condense(ctx: Context, apply: bool) -> TidyReply:
    found = consolidate.groups(ctx)
    count = consolidate.consolidate_groups(ctx, found) if apply else sum(len(one.memories) for one in found)
    return TidyReply(
        applied=apply and bool(found),
        count=count,
        groups=[[memory.title for memory in one.memories] for one in found[:SHOWN]],
    )
