"""The same done to many memories at once: bulk."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from mnemic.core import memories
from mnemic.core.bulk import BulkEdit, edit
from mnemic.core.context import Context
from mnemic.core.maintenance.merge import merge_all
from mnemic.core.memories import Fate
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import BriefShape, Name, Namespace, Reference, Request, Tags, brief
from mnemic.dialects.validation import StorableText
from mnemic.model.enums import Tier
from mnemic.model.limits import MAX_ITEMS, PRIORITY
from mnemic.model.memory import Memory


class BulkAction(StrEnum):
    """What to do with many memories."""

    EDIT = "edit"
    MERGE = "merge"
    FORGET = "forget"
    ARCHIVE = "archive"
    RESTORE = "restore"


EDITS = frozenset({"add_tags", "remove_tags", "namespace", "kind", "tier", "priority"})
"""What an edit may change."""


class BulkRequest(Request):
    """Which memories, and what to do with all of them."""

    action: Annotated[BulkAction, Field(description="what to do"), Positional("ACTION")]
    ids: Annotated[
        list[Reference],
        Field(description="the memories by id, uid or title", min_length=1, max_length=MAX_ITEMS),
        Positional("MEMORY"),
    ]
    add_tags: Annotated[Tags | None, Field(description="edit: tags to add")] = None
    remove_tags: Annotated[Tags | None, Field(description="edit: tags to take away")] = None
    namespace: Annotated[Namespace | None, Field(description="edit: move them there")] = None
    kind: Annotated[Name | None, Field(description="edit: their kind from now on")] = None
    tier: Annotated[Tier | None, Field(description="edit: their tier from now on")] = None
    priority: Annotated[int | None, Field(description="edit: their importance", **PRIORITY.bounds)] = None
    into: Annotated[Reference | None, Field(description="merge: the memory that stays")] = None
    reason: Annotated[StorableText | None, Field(description="forget, archive: why")] = None

    @model_validator(mode="after")
    def _fits(self) -> BulkRequest:
        edits = self.model_fields_set & EDITS
        if (self.action is BulkAction.EDIT) != bool(edits):
            raise ValueError(f"edit, and nothing else, needs one of {', '.join(sorted(EDITS))}")
        if (self.action is BulkAction.MERGE) != (self.into is not None):
            raise ValueError("merge, and nothing else, needs `into`")
        return self


class BulkReply(Shape):
    """How many memories were changed, and the first of them."""

    count: int
    memories: list[BriefShape]


@MNEMIC.command(
    cli="bulk",
    title="Bulk",
    reads=False,
    examples=[
        Example("tag two", {"action": "edit", "ids": ["12", "13"], "add_tags": ["deploy"]}),
        Example("merge two into a third", {"action": "merge", "ids": ["12", "13"], "into": "7"}),
    ],
)
def bulk(ctx: Context, request: BulkRequest) -> BulkReply:
    """Change, merge, delete or restore many memories in one step, which one undo takes back."""
    changed = _done(ctx, request)
    return BulkReply(count=len(changed), memories=[brief(memory) for memory in changed[:50]])


def _done(ctx: Context, request: BulkRequest) -> list[Memory]:
    match request.action:
        case BulkAction.MERGE:
            left, gone = merge_all(ctx, request.ids, request.into or 0)
            return [left, *gone]
        case BulkAction.FORGET | BulkAction.ARCHIVE:
            fate = Fate.ARCHIVED if request.action is BulkAction.ARCHIVE else Fate.FORGOTTEN
            return memories.forget(ctx, request.ids, reason=request.reason, fate=fate)
        case BulkAction.RESTORE:
            return memories.restore(ctx, request.ids)
    change = BulkEdit(
        add_tags=tuple(request.add_tags or ()),
        remove_tags=tuple(request.remove_tags or ()),
        namespace=request.namespace,
        kind=request.kind,
        tier=request.tier,
        priority=request.priority,
    )
    return edit(ctx, request.ids, change)
