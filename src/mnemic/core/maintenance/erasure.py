"""Erasure of a text, such as a person's name: where a store holds it, and its purge."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.errors import Invalid
from mnemic.model.change import Subject
from mnemic.model.filter import ANY_EDGE
from mnemic.model.graph import EdgePatch
from mnemic.model.session import SessionPatch
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import each_edge, each_memory, edge_numbered, session_numbered

BATCH = 100
SHORTEST = 3
ERASED = "[erased]"
NAMESPACE = "namespace"
"""A field by which things are found, so it stays; the search names what holds the text there."""
MOST_RECALLS = 1_000_000


@dataclass(slots=True)
class Occurrences:
    """The numbers of what holds a text: memories in any state or past version, links, sessions, journal
    entries, recall log entries."""

    memories: set[int] = field(default_factory=set)
    links: set[int] = field(default_factory=set)
    sessions: set[int] = field(default_factory=set)
    changes: set[int] = field(default_factory=set)
    recalls: set[int] = field(default_factory=set)
    namespaces: set[str] = field(default_factory=set)

    @property
    def counts(self) -> dict[str, int]:
        """How many of each there are, without those of which there are none."""
        counts = {
            "memories": len(self.memories),
            "links": len(self.links),
            "sessions": len(self.sessions),
            "journal entries": len(self.changes),
            "recall log entries": len(self.recalls),
            "namespaces": len(self.namespaces),
        }
        return {name: count for name, count in counts.items() if count}


def folded(text: str) -> str:
    """*text* in the form it is searched in: case and Unicode form are ignored."""
    return unicodedata.normalize("NFC", text).casefold()


def checked(text: str) -> str:
    """*text* as it is searched for; Invalid if it is so short that anything holds it."""
    needle = folded(text.strip())
    if len(needle) < SHORTEST:
        raise Invalid(f"text: must have at least {SHORTEST} characters", "text")
    return needle


def find_text(ctx: Context, text: str) -> Occurrences:
    """Where the store holds *text*: in names, texts, tags, metadata, the journal and the recall log."""
    return _found_in(ctx.read(), checked(text))


def stands_elsewhere(ctx: Context, path: Path, text: str) -> bool:
    """Whether the database at *path* holds *text*, as `find_text` finds it. StoreUnusable if it is not ours."""
    needle = checked(text)
    return bool(ctx.engines.elsewhere(path).asked(lambda reader: _found_in(reader, needle).counts))


def _found_in(reader: Reader, needle: str) -> Occurrences:
    found = Occurrences()
    found.memories = {memory.id for memory in each_memory(reader) if _holds(_told(memory), needle)}
    found.links = {edge.id for edge in each_edge(reader, ANY_EDGE) if _holds(_told(edge), needle)}
    found.sessions = {one.id for one in reader.sessions() if _holds(_told(one), needle)}
    found.namespaces = {space for space, _, _ in reader.standards() if needle in folded(space)}
    found.recalls = {
        one.number for one in reader.recalls(limit=MOST_RECALLS) if _holds([one.query, one.actor], needle)
    }
    by_subject = {Subject.MEMORY: found.memories, Subject.EDGE: found.links, Subject.SESSION: found.sessions}
    for change in reader.journal():
        if _holds([change.before, change.after], needle):
            found.changes.add(change.sequence)
            by_subject[change.subject].add(change.subject_id)
        elif needle in folded(change.actor):
            found.changes.add(change.sequence)
    return found


def purge_text(ctx: Context, text: str) -> int:
    """Purge every memory that holds or held *text*: how many.

    It is erased from links and sessions, from the history of both, and from the recall log too.
    """
    found, needle = find_text(ctx, text), checked(text)
    purged = 0
    for batch in batches(sorted(found.memories), BATCH):
        purged += ctx.change("purge", partial(_purge, batch))
    for rest in batches([*sorted(found.links)], BATCH):
        ctx.change("purge", partial(_erase_links, rest, needle))
    for rest in batches([*sorted(found.sessions)], BATCH):
        ctx.change("purge", partial(_erase_sessions, rest, needle))
    if found.recalls:
        ctx.change("purge", lambda tx: tx.purge((), recalls=sorted(found.recalls)))
    return purged


def empty_log(ctx: Context) -> None:
    """Take from the store's files what was replaced since, such as the state of mirrors that named the text.

    The last process to close a store does that too, but a daemon may keep it open.
    """
    ctx.change("purge", lambda tx: tx.purge(()))


def _purge(numbers: Sequence[int], tx: Writer) -> int:
    return tx.purge(numbers)


def _erase_links(numbers: Sequence[int], needle: str, tx: Writer) -> None:
    for number in numbers:
        if edge := edge_numbered(tx, number):
            fields = {"type": edge.type, "reason": edge.reason}
            tx.update_edge(edge, EdgePatch(**_changed(fields, needle)))
        tx.rewrite_history(Subject.EDGE, number, partial(_erased_fields, needle=needle))


def _erase_sessions(numbers: Sequence[int], needle: str, tx: Writer) -> None:
    for number in numbers:
        if session := session_numbered(tx, number):
            fields = {name: getattr(session, name) for name in ("topic", "summary", "metadata")}
            changed = _changed(fields, needle)
            if needle in folded(session.name):
                changed["name"] = f"{ERASED} {number}"
            tx.update_session(session, SessionPatch(**changed))
        tx.rewrite_history(Subject.SESSION, number, partial(_erased_fields, needle=needle))


def _changed(fields: Mapping[str, Any], needle: str) -> dict[str, Any]:
    """Those of *fields* that hold the text, without it."""
    return {name: _erased(value, needle) for name, value in fields.items() if _holds(value, needle)}


def _erased_fields(fields: Mapping[str, object], *, needle: str) -> Mapping[str, object]:
    return {name: value if name == NAMESPACE else _erased(value, needle) for name, value in fields.items()}


def _erased(value: Any, needle: str) -> Any:
    """*value* with every text in it that holds the needle replaced, and without keys that do."""
    if isinstance(value, str):
        return ERASED if needle in folded(value) else value
    if isinstance(value, Mapping):
        return {key: _erased(one, needle) for key, one in value.items() if needle not in folded(str(key))}
    if isinstance(value, list | tuple):
        return [_erased(one, needle) for one in value]
    return value


def _told(thing: object) -> dict[str, object]:
    return {item.name: getattr(thing, item.name) for item in fields(thing)}  # type: ignore[arg-type]


def _holds(data: object, needle: str) -> bool:
    return any(needle in folded(text) for text in _texts(data))


def _texts(data: object) -> Iterator[str]:
    """The texts anywhere in *data*."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for key, value in data.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(data, list | tuple):
        for item in data:
            yield from _texts(item)
