"""Column cache of query-independent attributes, for filtering, sorting and counting without SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mnemic.index.table import Array, ColumnTable, Slots
from mnemic.model.candidates import Weights
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ALL_STATES, Filter, Order
from mnemic.model.time import DAY, Moment, iso
from mnemic.numeric import np
from mnemic.storage.arrays import Flags, Numbers, Scores, among, best, flagged, taken
from mnemic.storage.base import Traits
from mnemic.storage.source import ChangedMemory, Extent, Source

TIERS = {str(tier): code for code, tier in enumerate(Tier)}
STATES = {str(state): code for code, state in enumerate(State)}
COUNTED = frozenset(State) - {State.NAMED}
GONE = -1
"""The state of a memory that was purged, or whose row holds what we never wrote."""
UNHELD = ("tags", "actor", "uids", "uid_prefix", "name", "title", "metadata")
"""The fields of a filter that no column can answer."""
NO_SESSION = 0
COUNTED_BY = {
    "kind": "kind",
    "namespace": "namespace",
    "tier": "tier",
    "state": "state",
    "session": "session_id",
}
"""The column that a tally counts by."""
COLUMNS: Mapping[str, tuple[Any, Any]] = {
    "priority": (np.int32, 0),
    "confidence": (np.float64, 0.0),
    "access_count": (np.int32, 0),
    "updated_at": (np.int64, 0),
    "created_at": (np.int64, 0),
    "occurred_at": (np.int64, 0),
    "session_id": (np.int64, NO_SESSION),
    "expires_at": (np.int64, 0),
    "last_change": (np.int64, 0),
    "state": (np.int8, GONE),
    "tier": (np.int8, 0),
    "kind": (np.int32, 0),
    "namespace": (np.int32, 0),
}


def _encoded(columns: Mapping[str, Sequence[Any]], kinds: dict[str, int]) -> dict[str, Array]:
    """The lists of a batch as arrays; a kind that is new gets the next of *kinds*."""
    # A row that says what we never wrote is passed over; whoever reads it will be told.
    states = [
        STATES.get(state, GONE) if tier in TIERS else GONE
        for state, tier in zip(columns["state"], columns["tier"], strict=True)
    ]
    coded = {
        **columns,
        "state": states,
        "tier": [TIERS.get(tier, 0) for tier in columns["tier"]],
        "kind": [kinds.setdefault(kind, len(kinds)) for kind in columns["kind"]],
    }
    return {
        "number": np.array(columns["number"], np.int64),
        **{name: np.array(coded[name], kind) for name, (kind, _) in COLUMNS.items()},
    }


class Columns:
    """The attributes of all memories as of one position. Never changed: `updated` gives the next version.

    Counting a use is not journaled, so use counts here may be behind.
    """

    def __init__(
        self, position: Extent, table: ColumnTable, kinds: dict[str, int], namespaces: Mapping[str, int]
    ):
        self.position = position
        self._table = table
        self._kinds = kinds
        self._namespaces = namespaces
        self._judged: tuple[Filter, Flags] | None = None

    @classmethod
    def read(cls, source: Source, position: Extent) -> Callable[[Slots], Columns]:
        """The attributes of all memories, read from *source*: how to place them in slots, which is quick."""
        kinds: dict[str, int] = {}
        batches = [_encoded(batch, kinds) for batch in source.attributes(None)]
        namespaces = source.namespaces()

        def placed(slots: Slots) -> Columns:
            table = ColumnTable.empty(slots, COLUMNS)
            if batches:
                names = batches[0].keys()
                values = {name: np.concatenate([batch[name] for batch in batches]) for name in names}
                batches.clear()
                table = table.updated(values.pop("number"), values)
            return cls(position, table, kinds, namespaces)

        return placed

    def updated(self, source: Source, changes: Sequence[ChangedMemory], position: Extent) -> Columns:
        """The next version, with the memories that *changes* name read again."""
        changed = sorted({change.memory_id for change in changes})
        if not changed:
            return Columns(position, self._table, self._kinds, self._namespaces)
        table = self._table
        gone = {*changed}
        for batch in source.attributes(changed):
            columns = _encoded(batch, self._kinds)
            numbers = columns.pop("number")
            table = table.updated(numbers, columns)
            gone -= {*numbers.tolist()}
        if gone:
            table = table.updated(np.array(sorted(gone), np.int64), {"state": GONE})
        return Columns(position, table, self._kinds, source.namespaces())

    @property
    def slots(self) -> Slots:
        """The slots of the memories."""
        return self._table.slots

    def traits(self, memory_ids: Sequence[int]) -> dict[int, Traits]:
        """The traits of these memories; unknown ones are left out."""
        numbers, slots = self._known(np.array(memory_ids, np.int64))
        columns = (self._table[name][slots].tolist() for name in ("confidence", "session_id", "occurred_at"))
        return {
            number: Traits(confidence, session or None, occurred_at)
            for number, confidence, session, occurred_at in zip(numbers.tolist(), *columns, strict=True)
        }

    def merits(self, slots: Numbers, weights: Weights) -> Scores:
        """What the weighted attributes add to the BM25 of the memories in these *slots*."""
        inside = np.minimum(slots, self._table.count - 1)  # one purged meanwhile has no row
        days = np.maximum(0, weights.now - self._table["updated_at"][inside]) / DAY
        boosts = np.array([weights.tiers.get(tier, 0.0) for tier in Tier])
        added: Scores = (
            weights.priority * self._table["priority"][inside]
            + weights.use * np.minimum(self._table["access_count"][inside], weights.most_uses)
            + weights.confidence * self._table["confidence"][inside]
            + boosts[self._table["tier"][inside]]
            + 1.0 / (1.0 + weights.aging * days)
        )
        return added

    def note_uses(self, uses: Mapping[int, int]) -> None:
        """Remember how often memories were used, which the journal does not tell; every version may know."""
        slots = self.slots.of(np.array(list(uses), np.int64))
        known = (slots >= 0) & (slots < self._table.count)
        self._table["access_count"][slots[known]] = np.array(list(uses.values()), np.int32)[known]

    def _known(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Those of *numbers* that are memories, and their slots."""
        slots = self.slots.of(numbers)
        known = (slots >= 0) & (slots < self._table.count)
        numbers, slots = numbers[known], slots[known]
        stays = self._table["state"][slots] != GONE
        return numbers[stays], slots[stays]

    def passing(self, source: Source, wanted: Filter) -> Flags:
        """Which slots hold memories that pass *wanted*; its `without` is not looked at."""
        # Words and vectors are searched with the same filter one after the other.
        if self._judged is None or self._judged[0] != wanted:
            self._judged = wanted, self._passing(source, wanted)
        return self._judged[1]

    def select(
        self,
        source: Source,
        wanted: Filter,
        order: Order,
        *,
        without: Sequence[int],
        limit: int,
        offset: int,
    ) -> list[int]:
        """The numbers of the memories that pass, in this *order*; not by use, which is not followed."""
        slots = self._chosen(source, wanted, without)
        if order is not Order.PRIORITY:
            slots = slots[::-1]  # of equal ones the last made comes first
        keys = {
            Order.PRIORITY: ("priority", "updated_at"),
            Order.NEWEST: ("created_at",),
            Order.CONFIDENCE: ("confidence", "created_at"),
        }[order]
        found = best(offset + limit, *(self._table[key][slots] for key in keys))
        listed: list[int] = self.slots.numbers[slots[found[offset:]]].tolist()
        return listed

    def tally(self, source: Source, wanted: Filter, by: str, *, without: Sequence[int]) -> dict[str, int]:
        """How many of the memories that pass have each value of *by*."""
        chosen = self._chosen(source, wanted, without)
        if by in ("tag", "actor"):
            return self._members(source.members(by), flagged(chosen, self._table.count))
        values = (
            self._table["created_at"][chosen] // DAY if by == "day" else self._table[COUNTED_BY[by]][chosen]
        )
        codes, counts = np.unique(values, return_counts=True)
        named = self._namer(by)
        found = ((named(code), count) for code, count in zip(codes.tolist(), counts.tolist(), strict=True))
        return {name: count for name, count in found if name is not None}

    def _members(self, groups: Mapping[str, Sequence[int]], passing: Flags) -> dict[str, int]:
        """How many memories of each of *groups* pass."""
        counts = {
            name: int(taken(passing, self.slots.of(np.array(numbers, np.int64))).sum())
            for name, numbers in groups.items()
        }
        return {name: count for name, count in counts.items() if count}

    def _namer(self, by: str) -> Callable[[int], str | None]:
        """What tells the name of a code in the column *by*."""
        names: Mapping[int, str] = {
            "kind": dict(enumerate(self._kinds)),
            "namespace": {code: name for name, code in self._namespaces.items()},
            "tier": dict(enumerate(TIERS)),
            "state": dict(enumerate(STATES)),
        }.get(by, {})
        if by == "session":
            return lambda code: None if code == NO_SESSION else str(code)
        return (lambda code: iso(code * DAY)[:10]) if by == "day" else names.get

    def groups(
        self, source: Source, namespaces: tuple[str, ...] | None, now: Moment
    ) -> list[tuple[str, str, str, str, int]]:
        """How many memories there are of each state, namespace, kind and tier together, without placeholders.

        What has expired by *now* but is not yet collected counts as archived.
        """
        slots = self._chosen(source, Filter(states=COUNTED, namespaces=namespaces), ())
        states = self._table["state"][slots].astype(np.int64)
        states[(states == STATES["living"]) & (self._table["expires_at"][slots] <= now)] = STATES["archived"]
        spaces = {code: name for name, code in self._namespaces.items()}
        kinds, tiers, known = list(self._kinds), list(TIERS), list(STATES)
        many = max((*spaces, len(kinds), 0)) + 1
        together = (states * many + self._table["namespace"][slots]) * many + self._table["kind"][slots]
        found, counts = np.unique(together * len(tiers) + self._table["tier"][slots], return_counts=True)
        groups = []
        for code, count in zip(found.tolist(), counts.tolist(), strict=True):
            rest, tier = divmod(code, len(tiers))
            rest, kind = divmod(rest, many)
            state, space = divmod(rest, many)
            groups.append((known[state], spaces.get(space, ""), kinds[kind], tiers[tier], count))
        return groups

    def _chosen(self, source: Source, wanted: Filter, without: Sequence[int]) -> Numbers:
        """The slots of those that pass and are not to be left out, by number."""
        passing = self._passing(source, wanted)
        if without:
            passing &= ~self._flagged(without)
        slots = np.flatnonzero(passing)
        numbers = self.slots.numbers[slots]
        return slots if (numbers[1:] > numbers[:-1]).all() else slots[np.argsort(numbers, kind="stable")]

    def _passing(self, source: Source, wanted: Filter) -> Flags:
        passing = among(self._table["state"], [STATES[state] for state in wanted.states])
        for flags in self._conditions(source, wanted):
            passing &= flags
        return passing

    def _conditions(self, source: Source, wanted: Filter) -> Iterator[Flags]:
        """Which slots each field of *wanted* that is set lets pass."""
        table = self._table
        if wanted.namespaces is not None:
            spaces = [self._namespaces[name] for name in wanted.namespaces if name in self._namespaces]
            yield among(table["namespace"], spaces)
        if wanted.alive_at is not None:
            yield table["expires_at"] > wanted.alive_at
        if wanted.kinds is not None:
            yield among(table["kind"], self._coded(wanted.kinds))
        if wanted.not_kinds is not None:
            yield ~among(table["kind"], self._coded(wanted.not_kinds))
        if wanted.tier is not None:
            yield table["tier"] == TIERS[wanted.tier]
        if wanted.session_ids is not None:
            yield among(table["session_id"], [one for one in wanted.session_ids if one > NO_SESSION])
        unheld = {name: value for name in UNHELD if (value := getattr(wanted, name)) is not None}
        if unheld:
            yield self._flagged(source.passing(Filter(states=ALL_STATES, **unheld)))
        if wanted.ids is not None:
            yield self._flagged(wanted.ids)
        bounds: tuple[tuple[Array, float | None, float | None], ...] = (
            (table["priority"], wanted.min_priority, None),
            (table["confidence"], wanted.min_confidence, wanted.max_confidence),
            (table["occurred_at"], wanted.since, wanted.until),
            (table["last_change"], None, wanted.unchanged_since and wanted.unchanged_since.number),
        )
        for values, least, most in bounds:
            if least is not None:
                yield values >= least
            if most is not None:
                yield values <= most

    def _flagged(self, memory_ids: Sequence[int]) -> Flags:
        return flagged(self.slots.of(np.array(memory_ids, np.int64)), self._table.count)

    def _coded(self, kinds: Sequence[str]) -> list[int]:
        """The codes of *kinds*; one that no memory has has none."""
        return [self._kinds[kind] for kind in kinds if kind in self._kinds]
