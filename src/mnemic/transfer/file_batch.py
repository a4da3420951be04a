"""Records of a file merged by the journal: matched by uid, then by chosen name; merged by field and by statement.

A file tells no versions, and may be older or newer than the store. So it changes only what was changed in it since
the last common state (`file_merge.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.core.sessions import EPISODE, EPISODE_OF
from mnemic.core.states import brought_back, retire
from mnemic.errors import Invalid
from mnemic.model.change import Subject
from mnemic.model.enums import State, Tier
from mnemic.model.graph import Edge, EdgePatch
from mnemic.model.memory import FIELDS, Memory, MemoryPatch
from mnemic.model.session import Session, SessionPatch
from mnemic.model.time import Moment
from mnemic.storage.base import Writer
from mnemic.storage.queries import alias_numbers, ids_with_uid, memory_numbered, session_called
from mnemic.transfer.batch import LABEL_LENGTH, Batch, Numbers, Sessions, stands
from mnemic.transfer.file_merge import IMPORT, FileMerge, Past, merge_file, pasts
from mnemic.transfer.import_report import Clash
from mnemic.transfer.records import UNKNOWN, End, LinkRecord, MemoryRecord, SessionRecord
from mnemic.transfer.session_keys import session_here
from mnemic.transfer.three_way_merge import METADATA, TAG, TEXT, Values, statement_keys
from mnemic.transfer.versions import (
    BLANK,
    BLANK_EDGE,
    EDGE_FIELDS,
    LOCAL,
    MEMORY_FIELDS,
    SESSION_FIELDS,
    values_of,
)

PLACE = ("title", "namespace")
"""What tells where a memory is and what it is called."""
RAISED = frozenset({"priority", "confidence", "tier", "expires_at"})
"""Fields that a file only raises: nothing is lowered or shortened."""
FAMILIES = {"text": "content", "tag": "tags", "metadata": "metadata"}
"""The field that the keys of values belong to that begin so and go on with a colon."""
RATING = "rating"
GIVEN_MEMORY = frozenset({*MEMORY_FIELDS, *FAMILIES.values(), RATING}) - RAISED - {"name"}
GIVEN_LINK = frozenset({*EDGE_FIELDS, RATING})


def _never(known: Memory, coming: Memory) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class FilePolicy:
    """How the records of a file are imported."""

    revives: bool = False
    """Whether what was deleted here comes back, even if it has not changed in the file since."""
    is_live: bool = False
    """Whether the file is one that we write too, and says what is to hold now."""
    tells_apart: Callable[[Memory, Memory], bool] = _never
    """Whether the first memory, which bears the name of the second that comes, comes as another."""

    @property
    def operation(self) -> str:
        """What the journal calls it."""
        return IMPORT

    @property
    def expires_first(self) -> bool:
        """Whether memories whose time is over leave first: yes, or they would take names from those that come."""
        return True

    def batch(self, ctx: Context, tx: Writer, numbers: Numbers, sessions: Sessions) -> FileBatch:
        """The batch of a transaction."""
        return FileBatch(ctx, tx, numbers, sessions, policy=self)

    def learn(self, tx: Writer) -> None:
        """A file knows nothing of other stores."""


@dataclass(slots=True, kw_only=True)
class FileBatch(Batch):
    """One transaction that merges records of a file."""

    policy: FilePolicy

    def _missing(self, end: End) -> None:
        raise Invalid(f"no memory has the id {(end.name or end.uid)[:LABEL_LENGTH]!r}")

    # -- sessions

    def _merge_session(self, known: Session, record: SessionRecord) -> None:
        coming = record.session
        given = frozenset(name for name in SESSION_FIELDS if getattr(coming, name) is not None)
        sides = [_Side(Subject.SESSION, _fields(one), given) for one in (known, coming)]
        done = self._merged(*sides)
        patch: dict[str, Any] = dict(done.changes)
        changed = self.tx.update_session(known, SessionPatch(**patch))
        self.report.sessions += changed is not known
        self._list(f"session {known.name}", done)

    def _session_id(self, record: MemoryRecord) -> int | None:
        """The number here of the session of a new memory; found by its name if nothing else is given."""
        if record.session is None:
            return None
        namespace, name, started_at = record.session
        if started_at == UNKNOWN:
            return session_called(self.tx, namespace, name, record.memory.created_at).id
        if record.session not in self.sessions:
            found = session_here(self.tx, *record.session, self.sessions.values())
            self.sessions[record.session] = found.id
        return self.sessions[record.session]

    # -- memories

    def _memory(self, record: MemoryRecord) -> None:
        coming = record.memory
        own = self._own_number(coming.uid)
        known = self._match(coming, own)
        if known:
            is_news = self._update(known, record)
        elif own is not None and not self.policy.revives:
            self.report.count(coming.title, is_news=False)  # purged here
            return
        else:
            known, is_news = self._add(record), True
        if coming.uid:
            self.numbers[coming.uid] = known.id
        self.report.count(coming.title, is_news=is_news)

    def _own_number(self, uid: str) -> int | None:
        """The number here of the memory with this uid or alias, even if it was purged; None if it was never here."""
        found = ids_with_uid(self.tx, uid, 1) if uid else []
        if found or not uid:
            return found[0] if found else None
        return alias_numbers(self.tx, [uid]).get(uid)

    def _match(self, coming: Memory, own: int | None) -> Memory | None:
        """The memory here with this number of its own, or the living one of this name."""
        same = None if own is None else memory_numbered(self.tx, own)
        is_settled = same and same.state in (State.LIVING, State.SUPERSEDED)
        if is_settled or coming.state is not State.LIVING or coming.name is None:
            return same
        bearers = titles.bearers(self.tx, coming.name, (coming.namespace,))
        return next((one for one in bearers if not self.policy.tells_apart(one, coming)), same)

    def _add(self, record: MemoryRecord) -> Memory:
        """A new memory, without its name if that is taken."""
        session_id = self._session_id(record)
        coming = _within(record.memory, session_id)
        coming = replace(coming, id=0, uid=coming.uid or self.ctx.new_uid())
        self.report.added += 1
        if coming.state is not State.LIVING or not self._is_taken(coming):
            return titles.import_memory(self.tx, coming, is_checked=True)
        made = self.tx.import_memory(replace(coming, name=None), is_checked=True)
        self.unnamed[made.id] = coming.namespace, coming.title
        return made

    def _update(self, known: Memory, record: MemoryRecord) -> bool:
        """Bring *known* up to date; whether that changed anything. What left there does not leave here."""
        coming = record.memory
        if coming.state is State.SUPERSEDED:
            return self._retire(known, coming)
        if coming.state is not State.LIVING or self._stays_away(known, coming):
            return False
        is_changed = self._merge(known, record)
        return self._raise_use(known, coming) or is_changed

    def _retire(self, known: Memory, coming: Memory) -> bool:
        """Whether *known* becomes superseded: it was in the file, and has not changed here after that."""
        left_at = coming.updated_at if coming.state_at is None else coming.state_at
        if known.state is not State.LIVING or known.updated_at > left_at:
            return False
        retire(self.tx, [known.id], coming.state_reason, left_at)
        return True

    def _stays_away(self, known: Memory, coming: Memory) -> bool:
        """Whether *known* was corrected here, or deleted after it last changed in the file."""
        if known.state is State.SUPERSEDED:
            return True
        left_at = known.state_at or known.updated_at
        is_away = known.state is not State.LIVING
        return is_away and not self.policy.revives and left_at >= coming.updated_at

    def _merge(self, known: Memory, record: MemoryRecord) -> bool:
        """Let *known* hold what was changed in the file; whether it is not what it was."""
        coming = record.memory
        here, there = _memory_sides(known, record)
        done = self._merged(here, there)
        wanted = _raised(known, record) | _patched(known, record, done.changes)
        wanted |= self._placed(known, coming, done.changes)
        is_changed = bool(wanted) or known.state is not State.LIVING
        self._list(known.title, done)
        present = known
        if not done.is_whole:
            present, undone = self._tell(known, record, here.values, there.values)
            wanted = undone | wanted
        if wanted:
            wanted["updated_at"] = max(known.updated_at, coming.updated_at if is_changed else 0)
        if known.state is State.LIVING:
            titles.update(self.tx, present, MemoryPatch(**wanted))
        else:
            own = {"name": None} if self._is_taken(known) else {}
            brought_back(self.tx, present, MemoryPatch(**{**own, **wanted}))
            self.report.restored += 1
        return is_changed

    def _tell(
        self, known: Memory, record: MemoryRecord, here: Values, there: Values
    ) -> tuple[Memory, dict[str, Any]]:
        """Let the journal tell what the file says: *known* as that, and the fields that make it what it was.

        So the version that loses can be read in the history, and the file is known when it comes again.
        """
        said = {key: there.get(key) for key in {*here, *there} if here.get(key) != there.get(key)}
        coming = record.memory
        given = _patched(known, record, said)
        if any(name in said for name in PLACE):
            given |= {"name": None, "title": coming.title, "namespace": coming.namespace}
        undone = {name: getattr(known, name) for name in given}
        return self.tx.update(known, MemoryPatch(**given, updated_at=coming.updated_at)), undone

    def _placed(self, known: Memory, coming: Memory, changes: Values) -> dict[str, Any]:
        """The fields that give *known* another title or namespace; it waits if another bears the name there now."""
        if not any(name in changes for name in PLACE):
            return {}
        title, namespace = (changes.get(name, getattr(known, name)) for name in PLACE)
        name = known.name if "title" not in changes else coming.name
        wanted = replace(known, name=name, title=str(title), namespace=str(namespace))
        if self._is_taken(wanted):
            self.unnamed[known.id] = wanted.namespace, wanted.title
            return {}
        return {"name": name, "title": wanted.title, "namespace": wanted.namespace}

    def _is_taken(self, memory: Memory) -> bool:
        """Whether another memory bears the name of *memory* where it is to live."""
        if memory.name is None:
            return False
        bearers = titles.bearers(self.tx, memory.name, (memory.namespace,))
        return any(other.uid != memory.uid for other in bearers)

    def settle_names(self, wanted: dict[int, tuple[str, str]]) -> None:
        """Give memories names that became free because their bearers got others in the same file."""
        free = dict(wanted)
        while taken := [
            number
            for number, (namespace, name) in free.items()
            if set(self.tx.ids_named(name, (namespace,))) - set(free)
        ]:
            for number in taken:
                del free[number]
        for memory in self.tx.get(list(free)):
            self.tx.update(memory, MemoryPatch(name=None, updated_at=memory.updated_at))
        for memory in self.tx.get(list(free)):
            namespace, name = free[memory.id]
            place = MemoryPatch(namespace=namespace, **titles.named(name), updated_at=memory.updated_at)
            titles.update(self.tx, memory, place)

    # -- links

    def _links(self, records: Sequence[LinkRecord]) -> None:
        ends = self._ends(records[0].key)
        if ends is None:
            return
        known = self._links_between(*ends, records[0].key.type)
        for record in records:
            same = _same_link(known, record.edge)
            if same is None or (self.policy.revives and stands(record.edge) and not stands(same)):
                self._add_link(ends, record)
            else:
                known.remove(same)
                self._merge_link(same, record)

    def _merge_link(self, known: Edge, record: LinkRecord) -> None:
        if known.state is not State.LIVING:
            return
        given = GIVEN_LINK if record.given is None else GIVEN_LINK & record.given.fields
        done = self._merged(*(_Side(Subject.EDGE, _fields(one), given) for one in (known, record.edge)))
        if done.changes:
            patch = _plain(done.changes, EDGE_FIELDS, BLANK_EDGE) | _rated(done.changes)
            changed = self.tx.update_edge(known, EdgePatch(**patch))
            self.report.ended += stands(known) and not stands(changed)
        self._list(f"{known.type} link", done)

    # -- merging

    def _merged(self, here: _Side, there: _Side) -> FileMerge:
        if here.values == there.values:
            return FileMerge({}, (), is_whole=True)
        if self.policy.is_live:
            states = [Past(here.values, here.moment, is_imported=True)]
        else:
            states = pasts(self.tx, here.subject, here.fields["id"], here.fields, here.read)
        return merge_file(here.values, there.values, states, there.moment)

    def _list(self, title: str, done: FileMerge) -> None:
        self.report.conflicts += [Clash(title, conflict) for conflict in done.conflicts]


@dataclass(frozen=True, slots=True)
class _Side:
    """A thing as one side has it: its fields as the journal names them, and those that the file tells."""

    subject: Subject
    fields: Mapping[str, Any]
    given: frozenset[str]
    more: Values = field(default_factory=dict)
    """Values that it has beside those of its fields."""
    body: tuple[str, ...] = ()
    """The body in statements as the file has them; the same text in others is the same."""

    values: Values = field(init=False)
    moment: Moment = field(init=False)
    """When it last changed."""

    def __post_init__(self) -> None:
        values, moment = self.read(self.fields)
        object.__setattr__(self, "values", {**values, **self.more})
        object.__setattr__(self, "moment", moment)

    def read(self, fields: Mapping[str, Any]) -> tuple[dict[str, object], Moment]:
        """The given values of a state, and when it had last changed."""
        if self.body and "\n".join(fields["statements"]) == "\n".join(self.body):
            fields = {**fields, "statements": self.body}
        values = values_of(self.subject, fields)
        local = f"{METADATA}{LOCAL.get(fields.get('kind', ''))}"
        chosen = {
            key: tuple(value) if key == RATING and isinstance(value, list) else value
            for key, value in values.items()
            if _family(key) in self.given and key != local
        }
        return chosen, _moment(fields)


def _moment(fields: Mapping[str, Any]) -> Moment:
    """When a thing last changed, as far as its fields tell."""
    names = ("updated_at", "ended_at", "created_at", "started_at")
    return next((fields[name] for name in names if fields.get(name) is not None), 0)


def _family(key: str) -> str:
    """The field that a value belongs to."""
    return FAMILIES.get(key.partition(":")[0], key)


def _memory_sides(known: Memory, record: MemoryRecord) -> tuple[_Side, _Side]:
    """What is here and what the file says, of the fields that it tells."""
    coming = record.memory
    given = GIVEN_MEMORY if record.given is None else GIVEN_MEMORY & record.given.fields
    if known.uid != coming.uid or not given.issuperset(PLACE):
        given = given.difference(PLACE)
    body = tuple(coming.texts)
    here = _Side(Subject.MEMORY, _memory_fields(known), given, body=body)
    more = {key: text for key, text in here.values.items() if record.adds and key.startswith(TEXT)}
    there = _Side(Subject.MEMORY, _memory_fields(coming), given, more, body)
    return here, there


def _memory_fields(memory: Memory) -> dict[str, Any]:
    return {name: getattr(memory, name) for name in FIELDS} | {"statements": memory.texts}


def _fields(thing: Edge | Session) -> dict[str, Any]:
    return {item.name: getattr(thing, item.name) for item in fields(thing)}


def _patched(known: Memory, record: MemoryRecord, changes: Values) -> dict[str, Any]:
    """The fields of *known* with these changes, but for its name and place."""
    patch = _plain(changes, (name for name in MEMORY_FIELDS if name not in PLACE), BLANK) | _rated(changes)
    if _has(changes, TAG):
        kept = [tag for tag in known.tags if changes.get(f"{TAG}{tag}", True)]
        patch["tags"] = tuple(
            dict.fromkeys((*kept, *(tag for tag in record.memory.tags if f"{TAG}{tag}" in changes)))
        )
    if _has(changes, METADATA):
        given = {
            key.removeprefix(METADATA): value for key, value in changes.items() if key.startswith(METADATA)
        }
        metadata = {**known.metadata, **given}
        patch["metadata"] = {
            key: value for key, value in metadata.items() if given.get(key, value) is not None
        }
    if _has(changes, TEXT):
        patch["texts"] = _merged_texts(known, record, changes)
    return patch


def _has(changes: Values, start: str) -> bool:
    return any(key.startswith(start) for key in changes)


def _merged_texts(known: Memory, record: MemoryRecord, changes: Values) -> list[str]:
    """The statements of both: in the order of the file if it has them all, else the new ones behind those here."""
    coming = record.memory
    ours = dict(zip(statement_keys(known.texts), known.texts, strict=True))
    theirs = dict(zip(statement_keys(coming.texts), coming.texts, strict=True))
    kept = [key for key in ours if changes.get(key, ours[key]) is not None]
    kept += [key for key in theirs if changes.get(key) is not None and key not in kept]
    if set(kept) == set(theirs) and not record.adds:
        return coming.texts
    return [{**ours, **theirs}[key] for key in kept]


def _plain(changes: Values, names: Iterable[str], blank: object) -> dict[str, Any]:
    values = {name: changes[name] for name in names if name in changes}
    return {name: getattr(blank, name) if value is None else value for name, value in values.items()}


def _rated(changes: Values) -> dict[str, Any]:
    if RATING not in changes:
        return {}
    given = changes[RATING]
    rating, count = given if isinstance(given, tuple) else (None, 0)
    return {"rating": rating, "rating_count": count}


def _raised(known: Memory, record: MemoryRecord) -> dict[str, Any]:
    """The given fields of which the file has more: nothing is lowered or shortened."""
    coming = record.memory
    given = RAISED if record.given is None else record.given.fields
    given = given | {"expires_at"} if "tier" in given else given
    raised: dict[str, Any] = {
        "priority": max(known.priority, coming.priority),
        "confidence": max(known.confidence, coming.confidence),
        "tier": max(known.tier, coming.tier, key=lambda tier: tier.rank),
        "expires_at": _later_end(known, coming),
    }
    return {name: value for name, value in raised.items() if name in given and value != getattr(known, name)}


def _later_end(known: Memory, coming: Memory) -> Moment | None:
    is_promoted = known.tier is not coming.tier and Tier.LONG in (known.tier, coming.tier)
    if known.expires_at is None or coming.expires_at is None or is_promoted:
        return None
    return max(known.expires_at, coming.expires_at)


def _same_link(known: Iterable[Edge], coming: Edge) -> Edge | None:
    """The link here that *coming* is: the one made at the same moment, else one in the same state."""
    found = list(known)
    same = next((edge for edge in found if edge.created_at == coming.created_at), None)
    standing = (edge for edge in found if stands(edge) and stands(coming))
    return same or next(standing, None)


def _within(memory: Memory, session_id: int | None) -> Memory:
    """*memory* in the session with this number; an episode is one of that session."""
    is_episode = memory.kind == EPISODE and EPISODE_OF in memory.metadata
    given = {EPISODE_OF: session_id} if is_episode and session_id is not None else {}
    return replace(memory, session_id=session_id, metadata={**memory.metadata, **given})
