"""Versions of what a store holds: taken from the journal before stores are merged, and what each store has seen.

The last common state of two stores is not kept as a copy. Every store has an id, and each change the number it has in
the journal of the store that made it. A store *knows* a change if it has merged its maker's journal up to that number.
Two changes of one field that did not know each other are a conflict; otherwise the later one was made on top of the
other. A copy of a database file gets an id of its own the first time it meets another store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from mnemic.core.annotations import TARGET
from mnemic.core.context import Context
from mnemic.core.reflections import KIND as REFLECTION
from mnemic.core.sessions import EPISODE, EPISODE_OF
from mnemic.model.annotations import is_hidden
from mnemic.model.change import BEGINNING, USE, Change, Position, Subject
from mnemic.model.enums import State
from mnemic.model.filter import ChangeFilter
from mnemic.model.graph import Edge
from mnemic.model.memory import FIELDS, Memory
from mnemic.model.time import Moment
from mnemic.model.uids import random_uid
from mnemic.model.version import BIRTH, Stamp, Version
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import memory_numbered, newest_change
from mnemic.transfer.records import SessionKey
from mnemic.transfer.session_keys import common_key
from mnemic.transfer.three_way_merge import METADATA, STATE, TAG, stamped, statement_keys

OPERATION = "sync"
"""The operation that merges are journaled as: their stamps are those of the changes merged."""
STORE, POSITION, KNOWLEDGE = "sync store", "sync position", "sync knowledge"
"""The settings that hold the id of the store, how far its journal has been read, and what it has seen of others."""
PAGE = 1_000
SESSION = "session"

BLANK = Memory(id=0, uid="", namespace="", title="", created_at=0, updated_at=0)
BLANK_EDGE = Edge(id=0, source_id=0, target_id=0, type="", created_at=0)
APART = frozenset(
    {
        *("id", "uid", "session_id", "created_at", "updated_at", "accessed_at", "access_count", "days_used"),
        *("tags", "metadata", "state", "state_reason", "state_at", "rating", "rating_count"),
    }
)
"""Fields of a memory that are local, or merged in another way than as one value."""
MEMORY_FIELDS = tuple(name for name in FIELDS if name not in APART)
EDGE_FIELDS = ("weight", "reason", "valid_from", "valid_to", "quality")
SESSION_FIELDS = ("ended_at", "topic", "summary")
LOCAL = {REFLECTION: TARGET, EPISODE: EPISODE_OF}
"""The metadata key of a kind that holds a number of this store alone."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A store's id and how much of each store's journal it has seen."""

    store: str
    seen: Mapping[str, Position] = field(default_factory=dict)

    @classmethod
    def of(cls, store: str, entry: Mapping[str, object]) -> Knowledge:
        """What the store of this id has seen, as JSON holds it; ValueError if that is no position."""
        return cls(store, {other: Position.parse(str(position)) for other, position in entry.items()})

    @property
    def entry(self) -> dict[str, str]:
        """What it has seen, as JSON holds it."""
        return {store: str(position) for store, position in self.seen.items()}

    def knows(self, stamp: Stamp) -> bool:
        """Whether this store has seen the change of this stamp."""
        return stamp.store == self.store or self.seen.get(stamp.store, BEGINNING) >= stamp.position

    def joined(self, other: Knowledge) -> Knowledge:
        """What it knows after it has merged all of *other*."""
        both = {**other.seen}
        for store, position in self.seen.items():
            both[store] = max(position, both.get(store, BEGINNING))
        return Knowledge(self.store, both)


# -- settings


def known(tx: Reader) -> Knowledge:
    """What this store has seen, as of the last catch-up."""
    store = orjson.loads(tx.setting(STORE) or "{}").get("id", "")
    others = Knowledge.of(store, orjson.loads(tx.setting(KNOWLEDGE) or "{}"))
    return Knowledge(store, {**others.seen, store: _caught_up(tx)}) if store else others


def _caught_up(tx: Reader) -> Position:
    """How far the journal of this store has been stamped."""
    return Position.parse(tx.setting(POSITION) or "0")


def remember(tx: Writer, knowledge: Knowledge) -> None:
    """Keep what this store has seen of others."""
    seen = {store: position for store, position in knowledge.entry.items() if store != knowledge.store}
    tx.put_setting(KNOWLEDGE, orjson.dumps(seen).decode())


def _store_id(tx: Writer, location: str) -> str:
    """The id of this store; a new one if there is none, or if the file is a copy of the one that got it."""
    kept = orjson.loads(tx.setting(STORE) or "{}")
    file = _file(location)
    if kept.get("file") == file and kept:
        return str(kept["id"])
    if kept:
        remember(tx, Knowledge("", known(tx).seen))  # what the original has done up to now, too
    fresh = random_uid()[:13].replace("-", "")
    tx.put_setting(STORE, orjson.dumps({"id": fresh, "file": file}).decode())
    return fresh


def _file(location: str) -> str:
    """What tells a file from its copies."""
    with suppress(OSError, ValueError):
        found = Path(location).stat()
        return f"{found.st_dev}:{found.st_ino}"
    return location


def moved(settings: dict[str, str], translate: Callable[[Position], Position]) -> dict[str, str]:
    """*settings* for a copy of the store, in which a position is what *translate* makes of it.

    The copy is a store of its own, which has seen all that the other had stamped.
    """
    if STORE not in settings:
        return settings
    position = settings.get(POSITION, "0")
    seen = {
        **orjson.loads(settings.get(KNOWLEDGE, "{}")),
        orjson.loads(settings[STORE])["id"]: position,
    }
    rest = {name: kept for name, kept in settings.items() if name != STORE}
    here = str(translate(Position.parse(position)))
    return {**rest, KNOWLEDGE: orjson.dumps(seen).decode(), POSITION: here}


# -- the journal


def catch_up(ctx: Context, tx: Writer) -> Knowledge:
    """Stamp what changed in this store since it last met another; what it knows now."""
    store = _store_id(tx, ctx.store.location)
    position, newest = _caught_up(tx), newest_change(tx)
    if newest is not None and newest.position > position:
        changes = tx.journal(ChangeFilter(after=position), newest_first=True)
        departed = _Departed(tx)
        while page := list(islice(changes, PAGE)):
            _stamp_page(tx, store, page, departed)
        tx.put_setting(POSITION, str(newest.position))
    return known(tx)


@dataclass(slots=True)
class _Departed:
    """Which memories were not living right after a change, while the journal is read from its end."""

    reader: Reader
    found: dict[int, bool] = field(default_factory=dict)

    def after(self, change: Change) -> bool:
        number = change.subject_id
        if number not in self.found:
            memory = memory_numbered(self.reader, number)
            self.found[number] = memory is not None and memory.state is not State.LIVING
        departed = self.found[number]
        if change.before and "state" in change.before:
            self.found[number] = change.before["state"] != State.LIVING
        return departed


def _stamp_page(tx: Writer, store: str, page: Sequence[Change], departed: _Departed) -> None:
    for subject in Subject:
        changes = [change for change in page if change.subject is subject]
        versions = tx.versions(subject, sorted({change.subject_id for change in changes}))
        touched: dict[int, Version] = {}
        for change in changes:
            if change.after is None:
                continue
            is_departed = subject is Subject.MEMORY and change.before is not None and departed.after(change)
            if change.operation == OPERATION:
                continue
            number = change.subject_id
            old = touched.get(number) or versions.get(number) or Version()
            touched[number] = _stamped(store, old, change, is_departed)
        for number, version in touched.items():
            tx.put_version(subject, number, version)


def _stamped(store: str, version: Version, change: Change, is_departed: bool) -> Version:
    """*version* with the stamps of *change*, unless a later change of this store has set them already."""
    stamp, order = Stamp(_moment(change), store, change.position), _order(change)
    if change.before is None:
        # A single statement needs no order.
        first = tuple(order or ()) if len(order or ()) > 1 else ()
        return Version({BIRTH: stamp, **version.stamps}, version.order or first)
    before, after = (values_of(change.subject, changed or {}) for changed in (change.before, change.after))
    if change.subject is Subject.MEMORY and change.operation != USE and not is_departed and (before or after):
        after = {**after, STATE: change.sequence}  # whoever changes a memory wants it to live
    return _kept_later(version, stamped(version, before, after, stamp, order), stamp)


def _order(change: Change) -> list[str] | None:
    statements = (change.after or {}).get("statements")
    return statement_keys(statements) if isinstance(statements, list) else None


def _kept_later(old: Version, fresh: Version, stamp: Stamp) -> Version:
    """*fresh*, but for what a later change of the same store has stamped."""
    stamps = dict(fresh.stamps)
    for key, known in old.stamps.items():
        if known.store == stamp.store and known.position > stamp.position:
            stamps[key] = known
    is_later = stamps.get("order") != fresh.stamps.get("order")
    return Version(stamps, old.order if is_later else fresh.order)


def _moment(change: Change) -> Moment:
    """When a change was meant to have been made: one that was imported is as old as its memory."""
    updated = (change.after or {}).get("updated_at")
    return min(updated, change.at) if isinstance(updated, int) else change.at


# -- values


def memory_values(memory: Memory, session: SessionKey | None) -> dict[str, object]:
    """A memory taken apart for a merge; of a number that only this store knows, only that there is one."""
    names = (
        *MEMORY_FIELDS,
        "tags",
        "metadata",
        "state",
        "state_reason",
        "state_at",
        "rating",
        "rating_count",
    )
    fields = {name: getattr(memory, name) for name in names}
    values = _memory_values({**fields, "statements": memory.texts})
    local = f"{METADATA}{LOCAL.get(memory.kind)}"
    if is_hidden(memory) and local in values:
        values[local] = True
    return values if session is None else {**values, SESSION: common_key(session)}


def _memory_values(fields: Mapping[str, Any]) -> dict[str, object]:
    values = _plain(fields, MEMORY_FIELDS, BLANK)
    values |= dict(zip(statement_keys(texts := fields.get("statements") or ()), texts, strict=True))
    values |= {f"{TAG}{tag}": True for tag in fields.get("tags") or ()}
    if fields.get("session_id") is not None:
        values[SESSION] = fields["session_id"]  # enough to tell that it changed
    return values | _metadata(fields.get("metadata")) | _state(fields) | _rating(fields)


def edge_values(fields: Mapping[str, Any]) -> dict[str, object]:
    """A link taken apart for a merge; its ends and type tell which one it is."""
    return _plain(fields, EDGE_FIELDS, BLANK_EDGE) | _state(fields) | _rating(fields)


def session_values(fields: Mapping[str, Any]) -> dict[str, object]:
    """A session taken apart for a merge; its namespace, name and beginning tell which one it is."""
    plain = {name: fields[name] for name in SESSION_FIELDS if fields.get(name) is not None}
    return plain | _metadata(fields.get("metadata"))


def values_of(subject: Subject, fields: Mapping[str, Any]) -> dict[str, object]:
    """Fields as the journal tells them, taken apart for a merge."""
    match subject:
        case Subject.MEMORY:
            return _memory_values(fields)
        case Subject.EDGE:
            return edge_values(fields)
    return session_values(fields)


def _plain(fields: Mapping[str, Any], names: Iterable[str], blank: object) -> dict[str, object]:
    return {name: fields[name] for name in names if name in fields and fields[name] != getattr(blank, name)}


def _metadata(metadata: Any) -> dict[str, object]:
    return {f"{METADATA}{key}": value for key, value in (metadata or {}).items()}


def _state(fields: Mapping[str, Any]) -> dict[str, object]:
    if fields.get("state", State.LIVING) == State.LIVING:
        return {}
    return {STATE: [str(fields["state"]), fields.get("state_reason"), fields.get("state_at")]}


def _rating(fields: Mapping[str, Any]) -> dict[str, object]:
    rating, count = fields.get("rating"), fields.get("rating_count") or 0
    return {} if rating is None and not count else {"rating": [rating, count]}
