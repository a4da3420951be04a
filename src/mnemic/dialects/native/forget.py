"""forget and restore: delete memories (restorable) and bring them back."""

from __future__ import annotations

from typing import Annotated

from pydantic import model_validator

from mnemic.core import memories
from mnemic.core.context import EVERYWHERE, Context
from mnemic.core.memories import Fate
from mnemic.core.trust.impact import count_resting
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import (
    BriefShape,
    MemoryShape,
    Namespace,
    Reference,
    Request,
    Tags,
    Title,
    When,
    brief,
    described,
    shown,
    unlisted,
)
from mnemic.dialects.validation import StorableText
from mnemic.model.enums import Tier
from mnemic.model.filter import Filter
from mnemic.model.limits import MAX_ITEMS


class ForgetRequest(Request):
    """Which memories: ids, or a filter of which at least one part is given."""

    ids: Annotated[
        list[Reference],
        described("Their ids, uids or titles (default: by filter)", max_length=MAX_ITEMS),
        Positional("MEMORY"),
    ] = []
    pattern: Annotated[StorableText | None, described("Filter: words in it (default: any)")] = None
    tags: Annotated[Tags | None, described("Filter: has all these tags (default: any)")] = None
    kinds: Annotated[Tags | None, described("Filter: these kinds (default: any)")] = None
    until: Annotated[When | None, described("Filter: older, as 2026-01-31 or 30d (default: any)")] = None
    namespace: Annotated[
        Namespace | None, described("Filter: only there (default: this project and global)")
    ] = None
    tier: Annotated[Tier | None, unlisted("Filter: only this tier (default: any)")] = None
    reason: Annotated[StorableText | None, described("Why (default: none)")] = None
    archive: Annotated[bool, described("Archive instead")] = False
    purge: Annotated[bool, described("Erase for good")] = False
    dry_run: Annotated[bool, described("Preview only")] = False

    @model_validator(mode="after")
    def _one_way(self) -> ForgetRequest:
        if self.archive and self.purge:
            raise ValueError("`archive` and `purge` exclude each other")
        somewhere = None if self.namespace == EVERYWHERE else self.namespace
        parts = (somewhere, self.pattern, self.kinds, self.tags, self.tier, self.until)
        # An empty part restricts nothing, and must not pass for one that does.
        if self.ids and any(parts):
            raise ValueError("give `ids` or a filter, not both")
        if not self.ids and not any(parts):
            raise ValueError(
                "give `ids`, or at least one of `namespace`, `pattern`, `kinds`, `tags`, `tier`, `until`"
            )
        return self


class ForgetReply(Shape):
    """How many were forgotten, and the first of them."""

    deleted: int
    memories: list[BriefShape]
    fate: Fate | None = None
    """Where they were archived or purged instead of deleted."""
    dry_run: bool | None = None
    dependents: int | None = None
    """Of a dry run: how many other memories rest on them."""


@MNEMIC.operation(
    title="Forget",
    destructive=True,
    idempotent=True,
    cli="forget",
    about="Delete memories (restorable).",
    examples=[Example("preview", {"tags": ["scratch"], "until": "30d", "dry_run": True})],
)
def forget(ctx: Context, request: ForgetRequest) -> ForgetReply:
    """Delete memories that are wrong, unwanted or obsolete, by ids or by a filter; `restore` brings them back.

    For a fact that changed use `revise` instead. Try a filter with dry_run first.
    """
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
        fate=None if fate is Fate.FORGOTTEN else fate,
        dry_run=request.dry_run or None,
        dependents=resting,
    )


class RestoreRequest(Request):
    """Which forgotten, archived or superseded memories to bring back."""

    ids: Annotated[
        list[Reference],
        described("Their ids, uids or titles", min_length=1, max_length=MAX_ITEMS),
        Positional("MEMORY"),
    ]
    name: Annotated[
        Title | None, described("A new title where the old one is taken (default: the old one)")
    ] = None


class RestoreReply(Shape):
    """The memories that are back."""

    memories: list[MemoryShape]
    count: int


@MNEMIC.operation(
    title="Restore",
    idempotent=True,
    cli="restore",
    about="Restore deleted, archived or superseded memories.",
    examples=[Example("", {"ids": ["12"]})],
)
def restore(ctx: Context, request: RestoreRequest) -> RestoreReply:
    """Bring back deleted, archived, expired or superseded memories, e.g. after a mistaken `forget`."""
    back = memories.restore(ctx, request.ids, name=request.name)
    return RestoreReply(memories=[shown(memory) for memory in back], count=len(back))
