"""One transaction of an import: what records mean here, and what came of them.

`StoreBatch` merges records of a store, which tell versions; `FileBatch` those of a file, which tell none.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import ChainMap
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from mnemic.core import titles
from mnemic.core.annotations import TARGET
from mnemic.core.context import Context
from mnemic.core.reflections import ENTITY, RELATION, TARGET_TYPE, aimed
from mnemic.errors import Conflict, Denied, Invalid
from mnemic.model.enums import State
from mnemic.model.filter import ALL_STATES, EdgeFilter
from mnemic.model.graph import Edge, EdgeDraft
from mnemic.model.memory import Memory, MemoryPatch
from mnemic.model.session import Session, SessionDraft
from mnemic.storage.base import Writer
from mnemic.storage.queries import alias_numbers, numbers, unused_session_name
from mnemic.transfer.import_report import Report
from mnemic.transfer.records import (
    End,
    FlawRecord,
    LinkKey,
    LinkRecord,
    MemoryRecord,
    PairRecord,
    PurgeRecord,
    Record,
    SessionKey,
    SessionRecord,
    StandardRecord,
    TargetRecord,
    UseRecord,
)
from mnemic.transfer.session_keys import known_session, session_key
from mnemic.transfer.versions import SESSION_FIELDS

Numbers = ChainMap[str, int]
"""The numbers here of memories by their uids: those of this transaction, and those before."""
Sessions = ChainMap[SessionKey, int]
"""The same of sessions by what they are known by elsewhere."""
LABEL_LENGTH = 80
ENDS = frozenset({"id", "source_id", "target_id"})
"""What a link has here and nowhere else."""


@dataclass(slots=True)
class Batch:
    """The numbers that uids and sessions have here, and what came of the records."""

    ctx: Context
    tx: Writer
    numbers: Numbers
    sessions: Sessions
    unnamed: dict[int, tuple[str, str]] = field(default_factory=dict)
    """The namespace and name that memories here are to have and that were taken when they came, by number."""
    report: Report = field(default_factory=Report)

    def take(self, group: Sequence[Record]) -> None:
        """Merge records that belong together, or say why they cannot be."""
        try:
            match group[0]:
                case SessionRecord() as record:
                    self._session(record)
                case PurgeRecord() as record:
                    self._purge(record)
                case MemoryRecord() as record:
                    self.ctx.must_see(record.memory.namespace)
                    record.memory.check()
                    self._memory(record)
                case LinkRecord():
                    self._links([one for one in group if isinstance(one, LinkRecord)])
                case TargetRecord() as record:
                    self._aim(record)
                case StandardRecord() as record:
                    self._standard(record)
                case UseRecord() as record:
                    self._use(record)
                case PairRecord() as record:
                    self._pair(record)
                case FlawRecord() as record:
                    raise Invalid(record.reason)
        except (Invalid, Denied, Conflict) as error:
            self.report.errors.append(f"{group[0].label[:LABEL_LENGTH]}: {error}")

    @abstractmethod
    def settle_names(self, wanted: dict[int, tuple[str, str]]) -> None:
        """Give memories the names that were taken when they came, where that can be."""

    @abstractmethod
    def _memory(self, record: MemoryRecord) -> None:
        """Store a memory, or merge it with the one that it is here."""

    @abstractmethod
    def _links(self, records: Sequence[LinkRecord]) -> None:
        """Merge the links of the same ends and type."""

    @abstractmethod
    def _merge_session(self, known: Session, record: SessionRecord) -> None:
        """Merge a session with the one that it is here."""

    @abstractmethod
    def _missing(self, end: End) -> None:
        """Deal with an end of a link that is not here: nothing, or Invalid."""

    def _added(self, record: MemoryRecord | LinkRecord | SessionRecord, number: int) -> None:
        """Called once *record* is stored under this number."""

    # -- sessions

    def _session(self, record: SessionRecord) -> None:
        coming = record.session
        self.ctx.must_see(coming.namespace)
        key = session_key(coming)
        known = known_session(self.tx, *key, self.sessions.values())
        if known:
            self.sessions[key] = known.id
            self._merge_session(known, record)
            return
        fields = {name: getattr(coming, name) for name in ("started_at", "metadata", *SESSION_FIELDS)}
        name = unused_session_name(self.tx, coming.namespace, coming.name)
        made = self.tx.insert_session(SessionDraft(coming.namespace, name=name, **fields))
        self.sessions[key] = made.id
        self.report.sessions += 1
        self._added(record, made.id)

    # -- memories

    def _purge(self, record: PurgeRecord) -> None:
        known = self._known([record.uid])
        for memory in known:
            self.ctx.must_see(memory.namespace)
            self.report.purged += self.tx.purge([memory.id])
        if not known and self.ctx.granted is None and not alias_numbers(self.tx, [record.uid]):
            self.tx.put_alias(record.uid, 0)

    def _known(self, uids: Sequence[str]) -> list[Memory]:
        """The memories here that go by these uids."""
        aliases = alias_numbers(self.tx, uids)
        own = numbers(self.tx, [uid for uid in uids if uid not in aliases])
        return self.tx.get(sorted({*aliases.values(), *own.values()}))

    def _raise_use(self, known: Memory, coming: Memory) -> bool:
        """Count the uses of whichever was used more; whether that is the one that came."""
        accessed = max((at for at in (known.accessed_at, coming.accessed_at) if at is not None), default=None)
        count, days = max(known.access_count, coming.access_count), max(known.days_used, coming.days_used)
        if (count, accessed, days) == (known.access_count, known.accessed_at, known.days_used):
            return False
        self.tx.update(known, MemoryPatch(access_count=count, accessed_at=accessed, days_used=days))
        return True

    # -- links

    def _ends(self, key: LinkKey) -> tuple[int, int] | None:
        """The numbers here of the ends of a link; None if it cannot be made, or its ends have become one."""
        source, target = self._number(key.source), self._number(key.target)
        if source is None or target is None or (source == target and key.source != key.target):
            return None
        return source, target

    def _number(self, end: End) -> int | None:
        """The number here of an end of a link, if it is here."""
        if not end.uid:
            return titles.target(self.tx, self.ctx, end.namespace, end.name)
        if end.uid not in self.numbers:
            found = self._known([end.uid])
            if not found:
                self._missing(end)
                return None
            self.numbers[end.uid] = found[0].id
        return self.numbers[end.uid]

    def _links_between(self, source: int, target: int, type: str) -> list[Edge]:
        wanted = EdgeFilter(sources=(source,), targets=(target,), types=(type,), states=ALL_STATES)
        return sorted(self.tx.edges(wanted), key=lambda edge: (edge.created_at, edge.id))

    def _add_link(self, ends: tuple[int, int], record: LinkRecord) -> None:
        values = {
            item.name: getattr(record.edge, item.name)
            for item in fields(record.edge)
            if item.name not in ENDS
        }
        edge = self.tx.insert_edge(EdgeDraft(*ends, **values))
        self.report.links += 1
        self._added(record, edge.id)

    # -- what belongs to memories

    def _aim(self, record: TargetRecord) -> None:
        """Say of a reflection which memory or link it is about."""
        is_memory = isinstance(record.target, End)
        number = self._number(record.target) if isinstance(record.target, End) else self._link(record.target)
        for memory in self._known([record.uid]):
            is_meant = memory.metadata.get(TARGET_TYPE) == (ENTITY if is_memory else RELATION)
            if is_meant and number is not None and memory.metadata.get(TARGET) != number:
                metadata = aimed(memory, number).metadata
                self.tx.update(memory, MemoryPatch(metadata=metadata, updated_at=memory.updated_at))

    def _link(self, key: LinkKey) -> int | None:
        """The number here of a link."""
        ends = self._ends(key)
        found = self._links_between(*ends, key.type) if ends else []
        same = [edge for edge in found if edge.created_at == key.created_at] or found
        return same[0].id if same else None

    def _standard(self, record: StandardRecord) -> None:
        """Set the standard of a namespace that has none."""
        self.ctx.must_see(record.namespace)
        if record.namespace in {namespace for namespace, _, _ in self.tx.standards()}:
            return
        number = self._number(record.memory) if record.memory else None
        if number is not None or record.parent is not None:
            self.tx.put_standard(record.namespace, number, record.parent)

    def _use(self, record: UseRecord) -> None:
        for memory in self._known([record.uid]):
            use = MemoryPatch(
                access_count=record.access_count, accessed_at=record.accessed_at, days_used=record.days_used
            )
            self.tx.update(memory, use)

    def _pair(self, record: PairRecord) -> None:
        one, other = self._number(record.one), self._number(record.other)
        if one and other and one != other and not any(self.tx.companions([one, other])):
            self.tx.count_together([one, other], record.last, record.count)


def stands(edge: Edge) -> bool:
    """Whether a link is neither ended nor deleted."""
    return edge.state is State.LIVING and edge.is_current
