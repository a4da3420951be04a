"""The archive: memories that have expired or were forgotten by filter. They can come back until they are purged."""

from __future__ import annotations

from collections.abc import Mapping

from mnemic.core.context import Context
from mnemic.model.memory import Memory
from mnemic.model.search import Filter
from mnemic.model.values import Moment


def archive_matching(
    ctx: Context, wanted: Filter, *, pattern: str | None = None, reason: str = "forget", dry_run: bool = False
) -> list[Memory]:
    """Move into the archive what passes *wanted* and, if given, holds all words of *pattern*; those it concerns."""
    raise NotImplementedError


def archived(ctx: Context, namespace: str | None = None, *, limit: int = 50, offset: int = 0) -> list[Memory]:
    """What is in the archive, the newest there first."""
    raise NotImplementedError


def unarchive(ctx: Context, memory_id: int) -> Memory:
    """Bring a memory (by number) back from the archive, as long and without an end.

    Conflict if another bears its title now.
    """
    raise NotImplementedError


def purge_archive(ctx: Context, *, before: Moment | None = None) -> int:
    """Delete for good what came into the archive before that moment, or all of it; how many that were."""
    raise NotImplementedError


def archive_counts(ctx: Context) -> Mapping[str, int]:
    """How many memories are in the archive, by namespace."""
    raise NotImplementedError
