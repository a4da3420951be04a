"""Records of another store merged by version: matched by uid, then by chosen name; merged by field and by statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from mnemic.core import titles
from mnemic.core.annotations import TARGET
from mnemic.core.context import Context
from mnemic.core.sessions import EPISODE_OF
from mnemic.errors import Conflict
from mnemic.model.annotations import is_hidden
from mnemic.model.change import BEGINNING, Subject
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ALL_STATES, EdgeFilter
from mnemic.model.graph import Edge, EdgePatch, moved_end
from mnemic.model.memory import Memory, MemoryPatch, name_key
from mnemic.model.session import Session, SessionPatch
from mnemic.model.time import Moment
from mnemic.model.version import BIRTH, Stamp, Version
from mnemic.storage.base import Writer
from mnemic.storage.queries import alias_numbers, alias_uids, memory_numbered, session_numbered
from mnemic.transfer import versions
from mnemic.transfer.batch import Batch, Numbers, Sessions, stands
from mnemic.transfer.file_merge import IMPORT
from mnemic.transfer.import_report import Clash
from mnemic.transfer.records import End, LinkRecord, MemoryRecord, Record, SessionKey, SessionRecord
from mnemic.transfer.session_keys import common_key, session_here, session_key
from mnemic.transfer.three_way_merge import (
    METADATA,
    STATE,
    TAG,
    FieldConflict,
    Merged,
    Side,
    merge,
    ordered_texts,
)
from mnemic.transfer.versions import (
    BLANK,
    BLANK_EDGE,
    EDGE_FIELDS,
    MEMORY_FIELDS,
    OPERATION,
    SESSION,
    SESSION_FIELDS,
    Knowledge,
    edge_values,
    memory_values,
    session_values,
)

UNMERGED = frozenset(
    {"id", "uid", "statements", "accessed_at", "access_count", "days_used", "created_at", "updated_at"}
)
"""The fields of a memory that a merge leaves alone or settles by themselves."""


@dataclass(frozen=True, slots=True)
class StorePolicy:
    """How the records of a store are taken in that has seen what *there* says."""

    there: Knowledge
    is_versioned: bool = True
    """Whether the records tell versions, which are kept; else what they change counts as changed here."""
    keeps_numbers: bool = False
    """Whether a new memory keeps its number if that is free."""

    @property
    def operation(self) -> str:
        """What the journal calls it."""
        return OPERATION if self.is_versioned else IMPORT

    @property
    def expires_first(self) -> bool:
        """Whether memories whose time is over leave first: no, the other store may have given them more."""
        return False

    def batch(self, ctx: Context, tx: Writer, numbers: Numbers, sessions: Sessions) -> StoreBatch:
        """The batch of a transaction."""
        return StoreBatch(ctx, tx, numbers, sessions, policy=self)

    def learn(self, tx: Writer) -> None:
        """Note that what the other store knows is known here."""
        if self.there.store:
            versions.remember(tx, versions.known(tx).joined(self.there))


@dataclass(slots=True, kw_only=True)
class StoreBatch(Batch):
    """One transaction that merges records of a store."""

    policy: StorePolicy
    known_here: Knowledge | None = None

    @property
    def here(self) -> Knowledge:
        """What this store knows. Its journal is read the first time somebody asks, which may take a while."""
        if self.known_here is None:
            self.known_here = versions.catch_up(self.ctx, self.tx)
        return self.known_here

    def take(self, group: Sequence[Record]) -> None:
        """Merge records that belong together, or say why they cannot be."""
        if self.policy.is_versioned:
            _ = self.here  # before anything is written: changes made here meanwhile need their stamps
        Batch.take(self, group)

    def _added(self, record: MemoryRecord | LinkRecord | SessionRecord, number: int) -> None:
        if record.version and self.policy.is_versioned:
            self.tx.put_version(SUBJECTS[type(record)], number, record.version)

    def _missing(self, end: End) -> None:
        """It was purged, or could not be merged."""

    # -- sessions

    def _merge_session(self, known: Session, record: SessionRecord) -> None:
        coming = record.session
        ours = self._version(Subject.SESSION, known.id, known.started_at)
        merged = merge(
            self._side(session_values(_fields(known)), ours),
            self._their_side(session_values(_fields(coming)), record.version, coming.started_at),
        )
        changes: dict[str, Any] = {name: merged.values.get(name) for name in SESSION_FIELDS}
        changes["metadata"] = _metadata(merged.values)
        self.report.sessions += self.tx.update_session(known, SessionPatch(**changes)) is not known
        self._keep(Subject.SESSION, known.id, ours, merged.version)

    def _session_id(self, key: object, record: MemoryRecord | None, known: Memory | None) -> int | None:
        """The number here of the session that a merged memory belongs to."""
        if not isinstance(key, list):
            return None
        if known and (ours := self._session_key(known)) and common_key(ours) == key:
            return known.session_id
        session_key: SessionKey = (key[0], key[1], key[2])
        if record and record.session and common_key(record.session) == key:
            session_key = record.session
        if session_key not in self.sessions:
            self.sessions[session_key] = session_here(self.tx, *session_key, self.sessions.values()).id
        return self.sessions[session_key]

    # -- memories

    def _memory(self, record: MemoryRecord) -> None:
        coming = record.memory
        if coming.state is State.NAMED:
            self.numbers[coming.uid] = self._placeholder(coming)
            return
        uids = [coming.uid, *record.aliases]
        known = self._known(uids)
        if not known and alias_numbers(self.tx, uids):
            return  # purged here
        known = known or self._namesake(record)
        if not known:
            self._add(record)
            return
        kept, *others = sorted(known, key=lambda memory: memory.uid)
        for other in others:
            kept = self._fuse(kept, other)
        self._update(kept, record)

    def _placeholder(self, coming: Memory) -> int:
        """The number here of the memory or placeholder of that name; a new placeholder keeps its uid."""
        space, name = coming.namespace, coming.title
        named = self.tx.ids_named(name, (space,)) or self.tx.ids_named(name, (space,), State.NAMED)
        if named or self._known([coming.uid]):
            return titles.target(self.tx, self.ctx, space, name)
        number = coming.id if self.policy.keeps_numbers else 0
        return self.tx.import_memory(replace(coming, id=number, **titles.named(name))).id

    def _namesake(self, record: MemoryRecord) -> list[Memory]:
        """The living memory of the same chosen name, unless the other store knows it as another one."""
        coming = record.memory
        if coming.state is not State.LIVING or coming.name is None:
            return []
        for memory in titles.bearers(self.tx, coming.name, (coming.namespace,)):
            birth = self._version(Subject.MEMORY, memory.id, memory.updated_at).birth
            if not self.policy.there.knows(birth):
                return [memory]
        return []

    def _add(self, record: MemoryRecord) -> None:
        values = memory_values(record.memory, record.session)
        session_id = self._session_id(values.get(SESSION), record, None)
        coming = self._local(record.memory, values, session_id, None)
        is_free = self._is_free(coming, 0)
        number = coming.id if self.policy.keeps_numbers else 0
        made = titles.import_memory(
            self.tx, replace(coming, id=number, name=coming.name if is_free else None)
        )
        if coming.name is not None and not is_free:
            self.unnamed[made.id] = coming.namespace, coming.name
        self._identify(made, record)
        self._added(record, made.id)
        self.report.added += 1
        self.report.count(record.memory.title, is_news=True)

    def _identify(self, memory: Memory, record: MemoryRecord) -> None:
        """Let every uid of *record* stand for *memory*."""
        for uid in (record.memory.uid, *record.aliases):
            self.numbers[uid] = memory.id
            if uid != memory.uid:
                self.tx.put_alias(uid, memory.id)

    def _update(self, known: Memory, record: MemoryRecord) -> None:
        coming = record.memory
        if not self.ctx.may_see(known.namespace):
            raise Conflict("id: is taken by a memory that this token may not use")
        ours = self._version(Subject.MEMORY, known.id, known.updated_at)
        merged = merge(
            self._side(memory_values(known, self._session_key(known)), ours),
            self._their_side(memory_values(coming, record.session), record.version, coming.updated_at),
        )
        changed = self._changed(known, record, merged)
        self._identify(known, record)
        self._keep(Subject.MEMORY, known.id, ours, merged.version)
        is_used = self._raise_use(known, coming)
        self.report.count(changed.title, is_news=is_used or changed is not known)
        self.report.deleted += known.state is State.LIVING and changed.state is not State.LIVING
        self.report.restored += known.state is not State.LIVING and changed.state is State.LIVING
        clashes = [
            Clash(changed.title, one) for one in merged.conflicts if not _is_derived(one, known, coming)
        ]
        self.report.conflicts += clashes
        self.report.merged += not clashes and changed is not known and changed.state is known.state

    def _changed(self, known: Memory, record: MemoryRecord, merged: Merged) -> Memory:
        """*known* with the values of *merged*."""
        coming = record.memory
        session_id = self._session_id(merged.values.get(SESSION), record, known)
        wanted = self._local(known, merged.values, session_id, known)
        changes: dict[str, Any] = {
            item.name: getattr(wanted, item.name) for item in fields(Memory) if item.name not in UNMERGED
        }
        changes |= {
            "tags": _tags(known, coming, merged.values),
            "created_at": min(known.created_at, coming.created_at),
            "updated_at": max(known.updated_at, coming.updated_at),
        }
        texts = ordered_texts(merged.values, merged.version)
        if texts != known.texts:
            changes["texts"] = texts
        if wanted.name is not None and not self._is_free(wanted, known.id):
            changes["name"] = None
            self.unnamed[known.id] = wanted.namespace, wanted.name
        return titles.update(self.tx, known, MemoryPatch(**changes))

    def _is_free(self, wanted: Memory, number: int) -> bool:
        """Whether no other memory bears the name of *wanted* now; it waits until everything has come if one does."""
        if wanted.name is None or wanted.state is not State.LIVING:
            return True
        return not set(self.tx.ids_named(wanted.name, (wanted.namespace,))) - {number}

    def settle_names(self, wanted: dict[int, tuple[str, str]]) -> None:
        """Give memories the names that were taken when they came; of two, the one that took it later goes without."""
        for number, (_, name) in wanted.items():
            self._settle_name(number, name)

    def _settle_name(self, number: int, name: str) -> None:
        """Give a memory its name; if another has it, the one that took it later goes without."""
        memory = memory_numbered(self.tx, number)
        if memory is None or memory.name is not None:
            return
        others = titles.bearers(self.tx, name, (memory.namespace,))
        loser = max((*others, memory), key=self._name_rank) if others else None
        if loser:
            self._unname(loser)
        if loser is None or loser.id != number:
            titles.update(self.tx, memory, MemoryPatch(name=name, updated_at=memory.updated_at))

    def _name_rank(self, memory: Memory) -> tuple[Stamp, str]:
        version = self._version(Subject.MEMORY, memory.id, memory.updated_at)
        return version.stamp("name", is_set=True), memory.uid

    def _unname(self, memory: Memory) -> None:
        """Let every store that meets the same two memories take the name from this one."""
        version = self._version(Subject.MEMORY, memory.id, memory.updated_at)
        stamp = version.stamp("name", is_set=True)
        self.tx.update(memory, MemoryPatch(name=None, updated_at=memory.updated_at))
        stamps = {**version.stamps, "name": stamp._replace(at=stamp.at + 1)}
        self._keep(Subject.MEMORY, memory.id, version, Version(stamps, version.order))

    def _local(
        self, memory: Memory, values: Mapping[str, Any], session_id: int | None, known: Memory | None
    ) -> Memory:
        """*memory* with *values*, in this session and about what *known* is about."""
        metadata = _metadata(values)
        if is_hidden(replace(memory, metadata=metadata)):
            metadata = _numbered(metadata, session_id, known)
        state, reason, at = values.get(STATE) or (State.LIVING, None, None)
        rating, count = values.get("rating") or (None, 0)
        plain = {name: values.get(name, getattr(BLANK, name)) for name in MEMORY_FIELDS}
        return replace(
            memory,
            **{**plain, "title": _shown_title(plain), "tier": Tier(plain["tier"])},
            session_id=session_id,
            metadata=metadata,
            state=State(state),
            state_reason=reason,
            state_at=at,
            rating=rating,
            rating_count=count,
        )

    def _session_key(self, memory: Memory) -> SessionKey | None:
        session = None if memory.session_id is None else session_numbered(self.tx, memory.session_id)
        return session_key(session) if session else None

    def _fuse(self, kept: Memory, other: Memory) -> Memory:
        """Merge two memories that are one in the other store: one is deleted, its links are moved."""
        sides = [
            Side(
                memory_values(one, self._session_key(one)),
                self._version(Subject.MEMORY, one.id, one.updated_at),
            )
            for one in (kept, other)
        ]
        merged = merge(sides[0], sides[1])
        reason = f"merged into {kept.uid}"
        self.tx.update(
            other, MemoryPatch(state=State.FORGOTTEN, state_reason=reason, state_at=self.ctx.now())
        )
        self._move_links(other.id, kept.id)
        for uid in (other.uid, *alias_uids(self.tx, [other.id]).get(other.id, ())):
            self.tx.put_alias(uid, kept.id)
        self.tx.put_version(Subject.MEMORY, kept.id, merged.version)
        return self._changed(kept, MemoryRecord(other.title, other, self._session_key(other)), merged)

    def _move_links(self, source: int, target: int) -> None:
        for edge in self.tx.edges(EdgeFilter(at=(source,), states=ALL_STATES)):
            if target not in (edge.source_id, edge.target_id):
                self.tx.update_edge(edge, moved_end(edge, source, target))

    # -- links

    def _links(self, records: Sequence[LinkRecord]) -> None:
        ends = self._ends(records[0].key)
        if ends is None:
            return
        known = self._links_between(*ends, records[0].key.type)
        unmatched = []
        for record in records:
            same = next((edge for edge in known if edge.created_at == record.edge.created_at), None)
            if same is None:
                unmatched.append(record)
                continue
            known.remove(same)
            self._update_link(same, record)
        # A link that both stores made is one link, the older of the two; so the rest pair up in order.
        for record in unmatched:
            if known:
                self._update_link(known.pop(0), record)
            else:
                self._add_link(ends, record)

    def _update_link(self, known: Edge, record: LinkRecord) -> None:
        coming = record.edge
        ours = self._version(Subject.EDGE, known.id, known.updated_at or known.created_at)
        theirs = coming.updated_at or coming.created_at
        merged = merge(
            self._side(edge_values(_fields(known)), ours),
            self._their_side(edge_values(_fields(coming)), record.version, theirs),
        )
        changed = self.tx.update_edge(known, EdgePatch(**_edge_changes(known, coming, merged.values)))
        self._keep(Subject.EDGE, known.id, ours, merged.version)
        self.report.ended += stands(known) and not stands(changed)
        self.report.links += stands(changed) and not stands(known)
        self.report.relinked += changed is not known and stands(changed) and stands(known)
        title = f"{record.key.type} link"
        self.report.conflicts += [Clash(title, conflict) for conflict in merged.conflicts]

    # -- versions

    def _side(self, values: Mapping[str, object], version: Version) -> Side:
        return Side(values, version, self.here.knows)

    def _their_side(self, values: Mapping[str, object], version: Version | None, moment: Moment) -> Side:
        """The version that comes; without stamps it is as old as the thing says it is."""
        stamps = version or Version({BIRTH: Stamp(moment, self.policy.there.store, BEGINNING)})
        return Side(values, stamps, self.policy.there.knows)

    def _version(self, subject: Subject, number: int, moment: Moment) -> Version:
        known = self.here
        kept = self.tx.versions(subject, [number]).get(number)
        return kept or Version({BIRTH: Stamp(moment, known.store, BEGINNING)})

    def _keep(self, subject: Subject, number: int, old: Version, new: Version) -> None:
        if self.policy.is_versioned and new != old:
            self.tx.put_version(subject, number, new)


def _is_derived(conflict: FieldConflict, *sides: Memory) -> bool:
    """Whether a conflict is about a derived title: it follows the text, whose conflict is listed."""
    return conflict.field == "title" and all(memory.name is None for memory in sides)


def _fields(thing: Edge | Session) -> dict[str, Any]:
    return {item.name: getattr(thing, item.name) for item in fields(thing)}


def _edge_changes(known: Edge, coming: Edge, values: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of *known* that hold *values*."""
    state, *_ = values.get(STATE) or (State.LIVING,)
    rating, count = values.get("rating") or (None, 0)
    moments = [one.updated_at for one in (known, coming) if one.updated_at is not None]
    return {
        **{name: values.get(name, getattr(BLANK_EDGE, name)) for name in EDGE_FIELDS},
        "state": State(state),
        "rating": rating,
        "rating_count": count,
        "created_at": min(known.created_at, coming.created_at),
        "updated_at": max(moments, default=None),
    }


def _metadata(values: Mapping[str, object]) -> dict[str, object]:
    return {key.removeprefix(METADATA): value for key, value in values.items() if key.startswith(METADATA)}


def _shown_title(values: Mapping[str, Any]) -> str:
    """The title; a chosen name is shown as it was spelled, or itself where the title is another store's."""
    name, title = values["name"], str(values["title"])
    return title if name is None or name_key(title) == name else str(name)


def _numbered(
    metadata: Mapping[str, object], session_id: int | None, known: Memory | None
) -> dict[str, object]:
    """The metadata of an episode or a reflection with the number that its session or subject has here."""
    merged = {key: value for key, value in metadata.items() if key != TARGET}
    if known and TARGET in known.metadata:
        merged[TARGET] = known.metadata[TARGET]
    if EPISODE_OF in merged and session_id is not None:
        merged[EPISODE_OF] = session_id
    return merged


def _tags(known: Memory, coming: Memory, values: Mapping[str, object]) -> tuple[str, ...]:
    """The merged tags: in the order that both have, else sorted."""
    tags = sorted(key.removeprefix(TAG) for key in values if key.startswith(TAG))
    return known.tags if known.tags == coming.tags and sorted(known.tags) == tags else tuple(tags)


SUBJECTS: Mapping[type[Record], Subject] = {
    MemoryRecord: Subject.MEMORY,
    LinkRecord: Subject.EDGE,
    SessionRecord: Subject.SESSION,
}
