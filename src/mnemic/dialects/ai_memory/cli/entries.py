"""Look-up of a memory by the id given on the command line, and memories as ai-memory's JSON."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from mnemic.dialects.ai_memory.archive_entry import archived_entry
from mnemic.dialects.ai_memory.ids import meant
from mnemic.errors import NotFound
from mnemic.model.enums import State
from mnemic.transfer.document_entry import memory_entry

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.model.filter import Hit
    from mnemic.model.memory import Memory


class Missing(click.ClickException):
    """No such memory, worded as ai-memory words it for scripts that match it."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence on standard error."""
        click.echo(self.message, file=file, err=file is None)


def one(ctx: Context, id: str, *, state: State = State.LIVING, missing: str = "not found") -> Memory:
    """The memory with this uid, uid prefix or number; Missing if there is none."""
    try:
        return meant(ctx, id, state=state, numbers=True)
    except NotFound:
        raise Missing(f"{missing}: {id}") from None


def entry(memory: Memory) -> dict[str, Any]:
    """A memory in ai-memory's JSON, with its native id as `number`, its summary and its session."""
    held: dict[str, Any] = {"id": memory.uid, "number": memory.id, **memory_entry(memory)}
    more = {"summary": memory.summary, "session": memory.session_id}
    return held | {name: value for name, value in more.items() if value is not None}


def hit_entry(hit: Hit) -> dict[str, Any]:
    """A hit in JSON: the memory with its score."""
    return {**entry(hit.memory), "score": round(hit.score, 4)}


def archived(memory: Memory) -> dict[str, Any]:
    """A memory of the archive in JSON: when it came there, and why."""
    return {**entry(memory), **archived_entry(memory)}


def brief(memory: Memory) -> dict[str, Any]:
    """A memory in JSON by its names alone."""
    return {"id": memory.uid, "number": memory.id, "title": memory.title}
