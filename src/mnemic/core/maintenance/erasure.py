"""Erasure of a text, such as a person's name: where it stands in a store, and its purge from there."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.errors import Invalid
from mnemic.model.change import Subject
from mnemic.model.filter import ANY_EDGE
from mnemic.model.graph import EdgePatch
from mnemic.model.session import Session, SessionPatch
from mnemic.storage.base import Writer
from mnemic.storage.queries import each_edge, each_memory

BATCH = 100
SHORTEST = 3
ERASED = "[erased]"


@dataclass(slots=True)
class Occurrences:
    """The numbers of what holds a text: memories in any state or past version, links, sessions, journal entries."""

    memories: set[int] = field(default_factory=set)
    links: set[int] = field(default_factory=set)
    sessions: set[int] = field(default_factory=set)
    changes: set[int] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each there are, without those of which there are none."""
        told = {
            "memories": len(self.memories),
            "links": len(self.links),
            "sessions": len(self.sessions),
            "journal entries": len(self.changes),
            "namespaces": len(self.namespaces),
        }
        return {name: count for name, count in told.items() if count}


def folded(text: str) -> str:
    """*text* in the form in which it is looked for: whatever its case and its normal form."""
    return unicodedata.normalize("NFC", text).casefold()


def checked(text: str) -> str:
    """*text* as it is looked for; Invalid if it is so short that it stands in anything."""
    needle = folded(text.strip())
    if len(needle) < SHORTEST:
        raise Invalid(f"text: must have at least {SHORTEST} characters", "text")
    return needle


def find_text(ctx: Context, text: str) -> Occurrences:
    """Where *text* stands in the store, in names, texts, tags, metadata and the journal."""
    needle, reader = checked(text), ctx.read()
    found = Occurrences()
    found.memories = {memory.id for memory in each_memory(reader) if _holds(_told(memory), needle)}
    found.links = {edge.id for edge in each_edge(reader, ANY_EDGE) if _holds(_told(edge), needle)}
    found.sessions = {one.id for one in reader.sessions() if _holds(_told(one), needle)}
    found.namespaces = {space for space, _, _ in reader.standards() if needle in folded(space)}
    for change in reader.journal():
        if _holds([change.before, change.after, change.actor], needle):
            found.changes.add(change.sequence)
            if change.subject is Subject.MEMORY:
                found.memories.add(change.subject_id)
    return found


def purge_text(ctx: Context, text: str) -> int:
    """Purge every memory that holds or held *text*, and erase it from links and sessions: how many memories."""
    found, needle = find_text(ctx, text), checked(text)
    purged = 0
    for batch in batches(sorted(found.memories), BATCH):
        purged += ctx.change("purge", partial(_purge, batch))

    def work(tx: Writer) -> None:
        for edge in each_edge(tx, ANY_EDGE):
            if edge.id in found.links:
                tx.update_edge(edge, EdgePatch(reason=None))
        for session in tx.sessions():
            if session.id in found.sessions:
                tx.update_session(session, _redacted(session, needle))

    if found.links or found.sessions:
        ctx.change("purge", work)
    return purged


def _purge(numbers: Sequence[int], tx: Writer) -> int:
    return tx.purge(numbers)


def _redacted(session: Session, needle: str) -> SessionPatch:
    """A patch that takes every field out of *session* that holds the text."""
    told = {name: getattr(session, name) for name in ("topic", "summary")}
    changes: dict[str, Any] = {
        name: ERASED for name, value in told.items() if value and needle in folded(value)
    }
    kept = {key: value for key, value in session.metadata.items() if not _holds([key, value], needle)}
    return SessionPatch(**changes, metadata=kept)


def _told(thing: object) -> dict[str, object]:
    return {item.name: getattr(thing, item.name) for item in fields(thing)}  # type: ignore[arg-type]


def _holds(told: object, needle: str) -> bool:
    return any(needle in folded(text) for text in _texts(told))


def _texts(told: object) -> Iterator[str]:
    """The texts anywhere in *told*."""
    if isinstance(told, str):
        yield told
    elif isinstance(told, Mapping):
        for key, value in told.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(told, list | tuple):
        for item in told:
            yield from _texts(item)
