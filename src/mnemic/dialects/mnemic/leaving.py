"""Taking memories out of use and bringing them back: forget and restore."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from mnemic.core import memories
from mnemic.core.context import EVERYWHERE, Context
from mnemic.core.judging.impact import count_resting
from mnemic.core.memories import Fate
from mnemic.dialects.mnemic.shapes import (
    MAX_ITEMS,
    BriefShape,
    MemoryShape,
    Namespace,
    Reference,
    Request,
    Tags,
    Title,
    When,
    brief,
    shown,
)
from mnemic.dialects.mnemic.vocabulary import MNEMIC
from mnemic.dialects.operation import Example, Positional, Shape
from mnemic.dialects.texts import Words
from mnemic.model.search import Filter
from mnemic.model.values import Tier


class ForgetRequest(Request):
    """Which memories: ids, or a filter of which at least one part is given."""

    ids: Annotated[list[Reference], Field(max_length=MAX_ITEMS), Positional("MEMORY")] = []
    namespace: Namespace | None = None
    pattern: Annotated[Words | None, Field(description="words it contains")] = None
    kinds: Tags | None = None
    tags: Tags | None = None
    tier: Tier | None = None
    until: Annotated[When | None, Field(description="created before")] = None
    reason: Words | None = None
    dry_run: bool = False
    archive: bool = False
    purge: Annotated[bool, Field(description="for good")] = False

    @model_validator(mode="after")
    def _one_way(self) -> ForgetRequest:
        if self.archive and self.purge:
            raise ValueError("archive and purge exclude each other")
        somewhere = None if self.namespace == EVERYWHERE else self.namespace
        parts = (somewhere, self.pattern, self.kinds, self.tags, self.tier, self.until)
        # An empty part restricts nothing, and must not pass for one that does.
        if bool(self.ids) == any(parts):
            raise ValueError("give ids, or at least one of namespace, pattern, kinds, tags, tier, until")
        return self


class ForgetReply(Shape):
    """How many were forgotten, and the first of them."""

    deleted: int
    memories: list[BriefShape]
    dry_run: bool | None = None
    dependents: int | None = None
    """Of a dry run: how many other memories rest on them."""


@MNEMIC.operation(
    title="Forget",
    destructive=True,
    idempotent=True,
    cli="forget",
    examples=[Example("see first", {"tags": ["scratch"], "until": "30d", "dry_run": True})],
)
def forget(ctx: Context, request: ForgetRequest) -> ForgetReply:
    """Take memories out of use, by id or by filter. Restore brings them back."""
    fate = Fate.ARCHIVED if request.archive else Fate.PURGED if request.purge else Fate.FORGOTTEN
    if request.ids:
        gone = memories.forget(ctx, request.ids, reason=request.reason, dry_run=request.dry_run, fate=fate)
    else:
        wanted = Filter(
            namespaces=ctx.scope(request.namespace),
            kinds=tuple(request.kinds) if request.kinds else None,
            tags=tuple(request.tags) if request.tags else None,
            tier=request.tier,
            until=ctx.moment(request.until, "until") if request.until else None,
        )
        gone = memories.forget_matching(
            ctx,
            wanted,
            pattern=request.pattern,
            reason=request.reason,
            dry_run=request.dry_run,
            fate=fate,
        )
    resting = count_resting(ctx, [memory.id for memory in gone]) if request.dry_run else None
    return ForgetReply(
        deleted=len(gone),
        memories=[brief(memory) for memory in gone[:50]],
        dry_run=request.dry_run or None,
        dependents=resting,
    )


class RestoreRequest(Request):
    """Which forgotten, archived or superseded memories to bring back."""

    ids: Annotated[list[Reference], Field(min_length=1, max_length=MAX_ITEMS), Positional("MEMORY")]
    name: Annotated[Title | None, Field(description="a new name, where the old one is taken")] = None


class RestoreReply(Shape):
    """The memories that are back."""

    memories: list[MemoryShape]
    count: int


@MNEMIC.operation(title="Restore", idempotent=True, cli="restore", examples=[Example("", {"ids": [12]})])
def restore(ctx: Context, request: RestoreRequest) -> RestoreReply:
    """Bring back forgotten, archived, expired or superseded memories."""
    back = memories.restore(ctx, request.ids, name=request.name)
    return RestoreReply(memories=[shown(memory) for memory in back], count=len(back))
