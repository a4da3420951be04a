"""Which memory a word on the command line means, and a memory as the commands show it in JSON."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from mnemic.core import memories
from mnemic.dialects.ai_memory.archived import archived_entry
from mnemic.dialects.ai_memory.naming import meant
from mnemic.errors import NotFound
from mnemic.formats.document import memory_entry
from mnemic.model.values import State

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.model.memory import Memory
    from mnemic.model.search import Hit


class Missing(click.ClickException):
    """There is no such memory. Told as ai-memory tells it, which scripts may look for."""

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the sentence on standard error."""
        click.echo(self.message, file=file, err=file is None)


def one(ctx: Context, id: str, *, state: State = State.LIVING, missing: str = "not found") -> Memory:
    """The memory with this uid, beginning of one, or number; Missing if there is none."""
    try:
        return meant(ctx, id, state=state, numbers=True)
    except NotFound:
        raise Missing(f"{missing}: {id}") from None


def one_called(ctx: Context, id: str) -> Memory:
    """The memory with this uid, beginning of one, number or title; Missing if there is none."""
    try:
        return one(ctx, id)
    except Missing:
        called = memories.titled(ctx.store.read(), ctx, id)
        if called is None:
            raise
        return called


def entry(memory: Memory) -> dict[str, Any]:
    """A memory in JSON: as ai-memory has it, with the number and the fields that the house adds."""
    held: dict[str, Any] = {"id": memory.uid, "number": memory.id, **memory_entry(memory)}
    more = {"summary": memory.summary, "session": memory.session_id}
    return held | {name: value for name, value in more.items() if value is not None}


def hit_entry(hit: Hit, *, explain: bool = False) -> dict[str, Any]:
    """A hit in JSON: the memory with its score and, if wanted, what the score is made of."""
    terms = {"terms": {name: round(value, 4) for name, value in hit.terms.items()}} if explain else {}
    return {**entry(hit.memory), "score": round(hit.score, 4), **terms}


def archived(memory: Memory) -> dict[str, Any]:
    """A memory of the archive in JSON: when it came there, and why."""
    return {**entry(memory), **archived_entry(memory)}


def brief(memory: Memory) -> dict[str, Any]:
    """A memory in JSON by its names alone."""
    return {"id": memory.uid, "number": memory.id, "title": memory.title}
