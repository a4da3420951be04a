"""Making one memory of several, by hand or by what they have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.model.memory import Memory
from mnemic.model.values import Tier
from mnemic.storage.base import Progress


@dataclass(frozen=True, slots=True)
class Group:
    """Memories of one namespace that share a tag; "" stands for those that have none."""

    namespace: str
    tag: str
    memories: tuple[Memory, ...]


def consolidate(
    ctx: Context,
    memory_ids: Sequence[int],
    *,
    title: str,
    text: str,
    namespace: str | None = None,
    tier: Tier = Tier.LONG,
    source: str = "consolidation",
) -> Memory:
    """One new memory in the place of several living ones (by number), in one transaction.

    It has all their tags, the highest priority (5 at least), the sum of their uses, their metadata merged with
    `derived_from`; they become superseded by it. Conflict if another memory bears the title.
    """
    raise NotImplementedError


def groups(
    ctx: Context, namespace: str | None = None, *, short_only: bool = False, min_count: int = 3
) -> list[Group]:
    """The groups of at least *min_count* living memories of one namespace and first tag."""
    raise NotImplementedError


def consolidate_groups(ctx: Context, found: Sequence[Group], progress: Progress | None = None) -> int:
    """Make one long memory of each group; how many memories went into them."""
    raise NotImplementedError


def resolve(ctx: Context, winner_id: int, loser_id: int) -> None:
    """Settle a contradiction: the winner supersedes the loser, which keeps priority 1 and confidence 0.1."""
    raise NotImplementedError
