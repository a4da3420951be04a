"""What is told of each memory whatever the question, in columns.

To weigh thousands of matches takes one step, and so does it to find which of all memories pass a filter and which of
these come first: their rows would be read one by one, a tenth of a second at 100,000.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import apsw
import orjson

from mnemic.model.search import Filter, Order
from mnemic.model.values import DAY, Moment, State, Tier
from mnemic.numeric import np, npt
from mnemic.storage.base import Match, Weights
from mnemic.storage.sqlite import journal
from mnemic.storage.sqlite.arrays import Flags, Numbers, Scores, among, best, flagged
from mnemic.storage.sqlite.census import EVERYONE, THESE
from mnemic.storage.sqlite.connection import one_moment
from mnemic.storage.sqlite.memories import MERITS, as_json
from mnemic.storage.sqlite.rows import column, rows

NEVER, NO_SESSION = 1 << 62, 0
NUMERIC = (
    "priority",
    "confidence",
    "access_count",
    "updated_at",
    "created_at",
    "coalesce(valid_from, created_at)",
    f"coalesce(session_id, {NO_SESSION})",
    f"coalesce(expires_at, {NEVER})",
)
NAMED = ("state", "tier", "kind", "namespace")
# A column at once, all in one row: a tuple for each memory would take a third longer.
ENTRIES = f"""
SELECT {", ".join(f"json_group_array({field})" for field in ("id", *NUMERIC, *NAMED))}
FROM memory WHERE {{which}}
"""
TAGGED = """
SELECT memory_id FROM tag WHERE name IN (SELECT value FROM json_each(?))
"""
TIERS = {str(tier): code for code, tier in enumerate(Tier)}
STATES = {str(state): code for code, state in enumerate(State)}
COUNTED = frozenset(State) - {State.NAMED}
GONE = -1
"""The state of what there is no longer, or never was."""


class Ledger:
    """What stands in the rows of all memories, each in the place of its number. One a store, safe between threads.

    Who follows the journal hears of everything but mere counting, so a memory may have been used more often than
    stands here. That decides at most who is looked at: what is answered is read anew.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sequence = 0
        self._codes: dict[str, int] = {}
        self._judged: tuple[Filter, int, Flags] | None = None
        self._reserve(1024)

    def _reserve(self, capacity: int) -> None:
        self._priorities = np.zeros(capacity, np.float64)
        self._confidences = np.zeros(capacity, np.float64)
        self._uses = np.zeros(capacity, np.float64)
        self._changes = np.zeros(capacity, np.int64)
        self._births = np.zeros(capacity, np.int64)
        self._dates = np.zeros(capacity, np.int64)
        self._sessions = np.zeros(capacity, np.int64)
        self._ends = np.zeros(capacity, np.int64)
        self._states = np.full(capacity, GONE, np.int8)
        self._tiers = np.zeros(capacity, np.int8)
        self._kinds = np.zeros(capacity, np.int32)
        self._spaces = np.zeros(capacity, np.int32)

    def _columns(self) -> tuple[npt.NDArray[Any], ...]:
        """All of them, in the order of ENTRIES."""
        numeric = (
            self._priorities,
            self._confidences,
            self._uses,
            self._changes,
            self._births,
            self._dates,
            self._sessions,
            self._ends,
        )
        return (*numeric, self._states, self._tiers, self._kinds, self._spaces)

    def read(self, connection: apsw.Connection) -> None:
        """Take everything in now, so that nobody has to wait for it later."""
        with self._lock:
            self._follow(connection)

    def best(
        self, connection: apsw.Connection, memories: Numbers, bm25: Scores, weights: Weights, limit: int
    ) -> list[Match]:
        """The *limit* best of *memories* by their words and merits together, in any order."""
        with self._lock:
            self._follow(connection)
            known = memories < len(self._tiers)  # who was purged a moment ago may still be among them
            memories, bm25 = memories[known], bm25[known]
            chosen = best(limit, self._weighed(memories, bm25, weights))
            found = self.of(connection, memories[chosen], bm25[chosen])
            self._uses[[one.memory_id for one in found]] = [one.access_count for one in found]
        return found

    def of(self, connection: apsw.Connection, memories: Numbers, bm25: Scores) -> list[Match]:
        """What speaks for each of *memories*, read anew."""
        words = dict(zip(memories.tolist(), bm25.tolist(), strict=True))
        return [
            Match(row[0], words[row[0]], *row[1:])
            for row in rows(connection, MERITS, (as_json(list(words)),))
        ]

    def passing(self, connection: apsw.Connection, wanted: Filter) -> Flags:
        """Which memories pass *wanted*, in the places of their numbers; what it is to be `without` is not looked at."""
        with self._lock:
            self._follow(connection)
            # Words and vectors are searched for the same one after the other.
            if self._judged is None or self._judged[:2] != (wanted, self._sequence):
                self._judged = wanted, self._sequence, self._passing(connection, wanted)
            return self._judged[2]

    def select(
        self,
        connection: apsw.Connection,
        wanted: Filter,
        order: Order,
        *,
        without: Sequence[int],
        limit: int,
        offset: int,
    ) -> list[int]:
        """Those that pass and are not to be left out, in this *order*. Not by use, which is not heard of."""
        with self._lock:
            self._follow(connection)
            numbers = self._chosen(connection, wanted, without)
            if order is not Order.PRIORITY:
                numbers = numbers[::-1]  # of equal ones the last made comes first
            keys = {
                Order.PRIORITY: (self._priorities, self._changes),
                Order.NEWEST: (self._births,),
                Order.CONFIDENCE: (self._confidences, self._births),
            }[order]
            found = best(offset + limit, *(key[numbers] for key in keys))
        listed: list[int] = numbers[found[offset:]].tolist()
        return listed

    def tally(self, connection: apsw.Connection, wanted: Filter, *, without: Sequence[int]) -> dict[str, int]:
        """How many there are of each kind, of those that pass and are not to be left out."""
        with self._lock:
            self._follow(connection)
            codes, counts = np.unique(
                self._kinds[self._chosen(connection, wanted, without)], return_counts=True
            )
            names = list(self._codes)
        return dict(sorted((names[code], int(count)) for code, count in zip(codes, counts, strict=True)))

    def groups(
        self, connection: apsw.Connection, namespaces: tuple[str, ...] | None, now: Moment
    ) -> list[tuple[str, str, str, str, int]]:
        """How many there are of each state, namespace, kind and tier together; mere names do not count.

        What has expired by *now* but is not yet collected has left as far as anyone can see.
        """
        with self._lock:
            self._follow(connection)
            numbers = self._chosen(connection, Filter(states=COUNTED, namespaces=namespaces), ())
            states = self._states[numbers].astype(np.int64)
            states[(states == STATES["living"]) & (self._ends[numbers] <= now)] = STATES["archived"]
            names, tiers, known = list(self._codes), list(TIERS), list(STATES)
            many = len(names)
            together = (states * many + self._spaces[numbers]) * many + self._kinds[numbers]
            found, counts = np.unique(together * len(tiers) + self._tiers[numbers], return_counts=True)
        groups = []
        for code, count in zip(found.tolist(), counts.tolist(), strict=True):
            rest, tier = divmod(code, len(tiers))
            rest, kind = divmod(rest, many)
            state, space = divmod(rest, many)
            groups.append((known[state], names[space], names[kind], tiers[tier], count))
        return groups

    def _chosen(self, connection: apsw.Connection, wanted: Filter, without: Sequence[int]) -> Numbers:
        passing = self._passing(connection, wanted)
        passing[[number for number in without if number < len(passing)]] = False
        return np.flatnonzero(passing)

    def _passing(self, connection: apsw.Connection, wanted: Filter) -> Flags:
        passing = among(self._states, [STATES[state] for state in wanted.states])
        for flags in self._conditions(connection, wanted):
            passing &= flags
        return passing

    def _conditions(self, connection: apsw.Connection, wanted: Filter) -> Iterator[Flags]:
        """Which memories each field of *wanted* that is set lets pass."""
        if wanted.namespaces is not None:
            yield among(self._spaces, self._coded(wanted.namespaces))
        if wanted.alive_at is not None:
            yield self._ends > wanted.alive_at
        if wanted.kinds is not None:
            yield among(self._kinds, self._coded(wanted.kinds))
        if wanted.not_kinds is not None:
            yield ~among(self._kinds, self._coded(wanted.not_kinds))
        if wanted.tier is not None:
            yield self._tiers == TIERS[wanted.tier]
        if wanted.session_ids is not None:
            yield among(self._sessions, [number for number in wanted.session_ids if number > NO_SESSION])
        if wanted.tags is not None:
            yield flagged(column(connection, TAGGED, (as_json(wanted.tags),)), len(self._tiers))
        if wanted.ids is not None:
            yield flagged(wanted.ids, len(self._tiers))
        bounds: tuple[tuple[npt.NDArray[Any], float | None, float | None], ...] = (
            (self._priorities, wanted.min_priority, None),
            (self._confidences, wanted.min_confidence, wanted.max_confidence),
            (self._dates, wanted.since, wanted.until),
        )
        for values, least, most in bounds:
            if least is not None:
                yield values >= least
            if most is not None:
                yield values <= most

    def _coded(self, names: Sequence[str]) -> list[int]:
        """The codes of kinds or namespaces; one that no memory has is none."""
        return [self._codes[name] for name in names if name in self._codes]

    def _follow(self, connection: apsw.Connection) -> None:
        """Take in what has changed since the last time."""
        if journal.last(connection)[0] == self._sequence:
            return
        with one_moment(connection):
            sequence = journal.last(connection)[0]
            if self._sequence:
                changed = journal.changed(connection, self._sequence)
                self._states[[number for number in changed if number < len(self._states)]] = GONE
                self._note(connection, THESE, as_json(changed))
            else:
                self._note(connection, EVERYONE)
        self._sequence = sequence

    def _note(self, connection: apsw.Connection, which: str, *values: str) -> None:
        [found] = rows(connection, ENTRIES.format(which=which), values)
        numbers, *told, states, tiers, kinds, spaces = map(orjson.loads, found)
        places = np.array(numbers, np.int64)
        if (largest := int(places.max(initial=0))) >= len(self._tiers):
            self._grow(max(largest + 1, 2 * len(self._tiers)))
        # A row that says what we never wrote is passed over; whoever reads it will be told.
        told.append(
            [
                STATES.get(state, GONE) if tier in TIERS else GONE
                for state, tier in zip(states, tiers, strict=True)
            ]
        )
        told.append([TIERS.get(tier, 0) for tier in tiers])
        told += [[self._code(name) for name in names] for names in (kinds, spaces)]
        for kept, entries in zip(self._columns(), told, strict=True):
            kept[places] = entries

    def _code(self, name: str) -> int:
        return self._codes.setdefault(name, len(self._codes))

    def _grow(self, capacity: int) -> None:
        kept = self._columns()
        self._reserve(capacity)
        for old, new in zip(kept, self._columns(), strict=True):
            new[: len(old)] = old

    def _weighed(self, memories: Numbers, bm25: Scores, weights: Weights) -> Scores:
        days = np.maximum(0, weights.now - self._changes[memories]) / DAY
        boosts = np.array([weights.tiers.get(tier, 0.0) for tier in TIERS])
        weighed: Scores = (
            bm25
            + weights.priority * self._priorities[memories]
            + weights.use * np.minimum(self._uses[memories], weights.most_uses)
            + weights.confidence * self._confidences[memories]
            + boosts[self._tiers[memories]]
            + 1.0 / (1.0 + weights.aging * days)
        )
        return weighed
