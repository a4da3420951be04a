"""What use does to a memory, and what becomes of one whose time is over."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.context import Context
from mnemic.model.memory import Memory

PROMOTED_AT = 5
"""So many uses make a mid memory long."""
RAISED_EVERY = 10
"""Each time it was used so often again, a memory gains in priority."""


def touch(ctx: Context, memories: Sequence[Memory]) -> None:
    """Count a use of each, in one transaction: it lives longer, is promoted, gains in priority as the rules say."""
    raise NotImplementedError


def promote(ctx: Context, memory_id: int) -> Memory:
    """Make a living memory long, without an end."""
    raise NotImplementedError


def collect(ctx: Context, *, dry_run: bool = False) -> int:
    """Archive what has expired, and delete what has been in the archive for too long; how many had expired."""
    raise NotImplementedError
