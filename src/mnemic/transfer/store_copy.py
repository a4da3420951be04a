"""Copy of a whole store into an empty database of either engine, table by table, verified at the end.

An interrupted copy goes on with the tables that are not yet what they should be. Nothing but counts and checksums
decides that, so it does not matter what changed in the source meanwhile.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

from mnemic.errors import Conflict, StoreUnusable
from mnemic.model.change import Position
from mnemic.storage.base import Progress
from mnemic.storage.tables import CONTENT, JOURNAL, MEMORY, SETTING, TABLES, Row, RowSource, RowTarget, Table
from mnemic.transfer import folder_mirror, versions

TOLD_EVERY = 100
"""Progress is told after so many rows."""
BITS = 64


@dataclass(slots=True)
class Sum:
    """How many rows a table has, and a checksum of them that does not depend on their order."""

    rows: int = 0
    checksum: int = 0

    def __str__(self) -> str:
        return f"{self.checksum:016x}"

    def add(self, row: Row) -> None:
        """Count one more row."""
        # Plain values only, in the format without references: equal rows are equal bytes.
        digest = blake2b(marshal.dumps(row, 2), digest_size=BITS // 8).digest()
        self.rows += 1
        self.checksum = (self.checksum + int.from_bytes(digest)) % (1 << BITS)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a copy would do: the rows of each table, and what the target is an unfinished copy of."""

    counts: dict[str, int]
    continues: bool

    @property
    def rows(self) -> int:
        """The rows of all tables."""
        return sum(self.counts.values())

    @property
    def memories(self) -> int:
        """The memories in any state."""
        return self.counts[MEMORY.name]


@dataclass(slots=True)
class Copied:
    """What a copy did: the verified sum of each table, and the tables that an earlier run had finished."""

    plan: Plan
    sums: dict[str, Sum] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)


def plan(source: RowSource, target: RowTarget, origin: str) -> Plan:
    """The tables still to be copied from *origin*; Conflict if the target holds something else."""
    found = target.origin()
    if found not in (None, origin):
        raise Conflict(f"to: is an unfinished copy of {found}. Name an empty database, or finish that copy.")
    return Plan({table.name: source.count(table) for table in TABLES}, found is not None)


def copy(source: RowSource, target: RowTarget, origin: str, wanted: Plan, progress: Progress) -> Copied:
    """Copy every table, make the indexes, compare counts and checksums, and let the target be a store.

    StoreUnusable if they differ: the target stays an unfinished copy.
    """
    done = _Copying(source, target, wanted, progress)
    target.begin(origin, source.namespaces())
    for table in CONTENT:
        done.copy(table)
    done.index()
    done.copy(JOURNAL)
    done.copy(SETTING)
    done.verify()
    target.finish(source.counters())
    return done.copied


class _Copying:
    """A copy under way."""

    def __init__(self, source: RowSource, target: RowTarget, wanted: Plan, progress: Progress):
        self._source = source
        self._target = target
        self._progress = progress
        # Every row is read twice, from the source and from the copy, and every memory is indexed.
        self._total = 2 * wanted.rows + wanted.memories
        self._done = 0
        self.copied = Copied(wanted)

    def copy(self, table: Table) -> None:
        """Copy *table*, unless it is there already."""
        if self.copied.plan.continues and self._target.count(table):
            expected = _summed(table, self._rows(table))
            if expected == _summed(table, self._target.rows(table)):
                self.copied.sums[table.name] = expected
                self.copied.kept.append(table.name)
                return
            self._done -= expected.rows
        passed = Sum()
        self._target.replace(table, _counted(table, self._rows(table), passed))
        self.copied.sums[table.name] = passed

    def _rows(self, table: Table) -> Iterator[Row]:
        """The rows of *table* as the copy is to have them."""
        found = self._source.rows(table)
        return self._told(iter(self._settings(found)) if table is SETTING else found)

    def _settings(self, found: Iterable[Row]) -> Iterable[Row]:
        """The settings, in which positions in the journal are those of the copy."""
        kept: dict[str, str] = dict(found)
        for moved in MOVED:
            kept = moved(kept, self._translated)
        return kept.items()

    def _translated(self, position: Position) -> Position:
        return self._target.position_of(self._source.number_at(position))

    def _told(self, rows: Iterator[Row]) -> Iterator[Row]:
        for row in rows:
            yield row
            self._done += 1
            if self._done % TOLD_EVERY == 0:
                self._progress(self._done, self._total)

    def index(self) -> None:
        """Make the indexes of the copy."""
        before = self._done

        def tell(done: int, total: int) -> None:
            self._done = before + done
            self._progress(self._done, self._total)

        self._target.build_indexes(tell)

    def verify(self) -> None:
        """Read the copy and compare it with what was read from the source."""
        for table in TABLES:
            expected, found = (
                self.copied.sums[table.name],
                _summed(table, self._told(self._target.rows(table))),
            )
            if expected != found:
                raise StoreUnusable(
                    f"to: table {table.name} has {found.rows:,} rows with checksum {found} and should have "
                    f"{expected.rows:,} with {expected}. The copy is not used; end whatever writes there and run the "
                    "same command again."
                )


MOVED: tuple[Callable[[dict[str, str], Callable[[Position], Position]], dict[str, str]], ...] = (
    versions.moved,
    folder_mirror.moved,
)
"""What holds positions in the journal among the settings."""


def _summed(table: Table, rows: Iterable[Row]) -> Sum:
    found, skipped = Sum(), len(table.placement)
    for row in rows:
        found.add(row[skipped:])
    return found


def _counted(table: Table, rows: Iterable[Row], passed: Sum) -> Iterator[Row]:
    """*rows*, counted in *passed* as they go by."""
    skipped = len(table.placement)
    for row in rows:
        passed.add(row[skipped:])
        yield row
