"""Bulk edits: the same change to many memories in one transaction, so that one undo takes it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.core.memories import Revision, locate, must_live, patch_of
from mnemic.model.enums import Tier
from mnemic.model.memory import Memory
from mnemic.storage.base import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkEdit:
    """Changes to each memory; None and empty leave a field as it is."""

    add_tags: tuple[str, ...] = ()
    remove_tags: tuple[str, ...] = ()
    namespace: str | None = None
    kind: str | None = None
    tier: Tier | None = None
    priority: int | None = None

    def revision(self, memory: Memory) -> Revision:
        """The change to one memory."""
        tags = tuple(dict.fromkeys((*memory.tags, *self.add_tags)))
        tags = tuple(tag for tag in tags if tag not in self.remove_tags)
        return Revision(
            tags=None if tags == memory.tags else tags,
            namespace=self.namespace,
            kind=self.kind,
            tier=self.tier,
            priority=self.priority,
        )


def edit(ctx: Context, references: Sequence[int | str], change: BulkEdit) -> list[Memory]:
    """Make the same *change* to each of these memories; all or none."""

    def work(tx: Writer) -> list[Memory]:
        meant = {memory.id: memory for memory in (locate(tx, ctx, one) for one in references)}
        for memory in meant.values():
            must_live(memory)
        return [
            titles.update(tx, memory, patch_of(ctx, memory, change.revision(memory)))
            for memory in meant.values()
        ]

    moves_to = () if change.namespace is None else (ctx.home(change.namespace),)
    changed = change_after_expiry(ctx, "edit", work, namespaces=(*ctx.usual, *moves_to))
    ctx.wake()
    return changed
