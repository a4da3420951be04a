"""The tables of a database as neutral rows: read at one moment, or put into an empty database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any

import psycopg

from mnemic.errors import Conflict, Invalid
from mnemic.model.change import Position
from mnemic.model.filter import Filter
from mnemic.model.memory import Memory, Statement
from mnemic.storage.base import Progress
from mnemic.storage.decoders import memory_of
from mnemic.storage.postgres import memories, minhash, sessions, words
from mnemic.storage.postgres.connection import SETTINGS, Held, Row, connected, location, our_errors
from mnemic.storage.postgres.database import ADD_NAMESPACE, NAMESPACES
from mnemic.storage.postgres.index_source import BEGIN
from mnemic.storage.postgres.loader import Loader, read_ahead
from mnemic.storage.postgres.migrations import migrate, unfinished_copy, version_of
from mnemic.storage.postgres.owner import as_owner
from mnemic.storage.postgres.pooler import ServerConnection
from mnemic.storage.postgres.row_security import EVERYWHERE, SET_ROW_SCOPE
from mnemic.storage.postgres.rows import row, rows, value
from mnemic.storage.postgres.schema import POLICIES, SCHEMA
from mnemic.storage.postgres.writer import STORE_KEY
from mnemic.storage.tables import COPYING, COUNTERS, OWN_SETTINGS, Table

_OWN = ", ".join(f"'{name}'" for name in OWN_SETTINGS)
STORED = {
    "setting": f"(SELECT key, value FROM meta WHERE key NOT IN ({_OWN}))",
    "namespace": """(SELECT name, standard_id, parent FROM namespace
  WHERE standard_id IS NOT NULL OR parent IS NOT NULL)""",
}
"""Where rows are read from, if not from the table of the same name."""
WORDED = """CASE WHEN t.worded IS NOT NULL THEN coalesce((SELECT max(p.until) FROM memory_past p
  WHERE p.id = t.id AND p.worded IS NOT NULL AND p.until < t.until), 0) END"""
"""Where words began, in whichever namespace."""
EXPRESSIONS = {
    "namespace": "n.name",
    "can_write": "t.can_write::integer",
    "memory_id": "t.memory_id",
    "worded": WORDED,
}
"""What a column is read from, if not from the one of the same name."""
HOME = "LEFT JOIN namespace n ON n.id = t.namespace_id"
SELECT = """
SELECT {columns} FROM {table} t {joins}
"""
COUNT = """
SELECT count(*) FROM {table} t
"""
COPY = """
COPY {table} ({columns}) FROM STDIN
"""
CLEAR = """
DELETE FROM {table}
"""
CLEAR_SETTINGS = f"""
DELETE FROM meta WHERE key NOT IN ({_OWN})
"""
STANDARD = """
INSERT INTO namespace (name, standard_id, parent) VALUES (%s, %s, %s)
ON CONFLICT (name) DO UPDATE SET standard_id = excluded.standard_id, parent = excluded.parent
"""
SEQUENCES = {
    **{name: f"{name}_number" for name in ("memory", "statement", "passage", "edge", "journal")},
    "memory_past": "version_number",
    "recall_log": "recall_log_id_seq",
}
NUMBERED = """
SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}
"""
SET_NUMBER = """
SELECT setval(%(sequence)s, greatest(%(number)s, 1), %(number)s > 0)
"""
LAST_SESSION = """
SELECT coalesce((SELECT value::bigint FROM meta WHERE key = 'sessions'), 0)
"""
LAST_MOMENT = """
SELECT setval('journal_moment', max(at)) FROM journal HAVING max(at) > 0
"""
LAST_MODEL = """
SELECT setval('model_id_seq', max(id)) FROM model HAVING max(id) IS NOT NULL
"""
LAST_VERSION = """
SELECT setval('version_number', greatest(max(e.version), (SELECT last_value FROM version_number)))
FROM (SELECT version FROM edge_past UNION ALL SELECT version FROM session_past) e HAVING max(e.version) IS NOT NULL
"""
FIRST_AFTER = """
SELECT min(sequence) FROM journal WHERE (xid, sequence) > (%s::text::xid8, %s)
"""
LAST_CHANGE = """
SELECT coalesce(max(sequence), 0) FROM journal
"""
EPOCH = """
SELECT xid::text::bigint FROM journal WHERE sequence <= %s ORDER BY sequence DESC LIMIT 1
"""
HOLDS_SOMETHING = """
SELECT EXISTS (SELECT 1 FROM journal) OR EXISTS (SELECT 1 FROM memory) OR EXISTS (SELECT 1 FROM token)
"""
SET_ORIGIN = f"""
INSERT INTO meta (key, value) VALUES ('{COPYING}', %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
DROP_ORIGIN = f"""
DELETE FROM meta WHERE key = '{COPYING}'
"""
# The lock of the store, which every writer takes or shares.
LOCK = f"""
SELECT pg_advisory_xact_lock({STORE_KEY})
"""
# A copy takes as long as it takes, and one end waits for the other.
UNHURRIED = """
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0
"""
WITHOUT_ROW_SECURITY, WITH_ROW_SECURITY = (
    "; ".join(f"ALTER TABLE {table} {way} ROW LEVEL SECURITY" for table in POLICIES)
    for way in ("DISABLE", "ENABLE")
)
# To sort all tokens at once takes the server half of what it takes to find a place for those of each memory.
WITHOUT_TOKEN_INDEXES = f"DROP INDEX IF EXISTS {SCHEMA}.words_tokens, {SCHEMA}.words_past_tokens_idx"
WITH_TOKEN_INDEXES = """
SET LOCAL maintenance_work_mem = '256MB';
CREATE INDEX IF NOT EXISTS words_tokens ON words USING gin (tokens);
CREATE INDEX IF NOT EXISTS words_past_tokens_idx ON words_past USING gin (tokens)
"""
ADD_TERMS = """
INSERT INTO term (namespace_id, token) SELECT DISTINCT w.namespace_id, t FROM words w, unnest(w.tokens) t
"""
INDEXES = ("words", "words_past", "term", "mark")
REWORDED = """
SELECT t.version, t.namespace_id, {columns} FROM memory_past t LEFT JOIN namespace n ON n.id = t.namespace_id
WHERE t.worded IS NOT NULL AND t.state = 'living' AND t.version > %s ORDER BY t.version LIMIT %s
"""
BODIES_THEN = """
SELECT p.version, s.id, s.text FROM memory_past p
JOIN statement s ON s.memory_id = p.id AND s.position > 0 AND s.since < p.until
  AND (s.until IS NULL OR s.until >= p.until)
WHERE p.version = ANY(%s::bigint[])
ORDER BY p.version, s.position
"""
PAGE = 1_000
NOWHERE = 0
"""The namespace of what has none, as a change of something that was purged."""
READ_AT_ONCE = 2_000
_ALL = SETTINGS | {"mnemic.scope": EVERYWHERE}


class PostgresRows:
    """The RowSource of a connection, in one transaction."""

    def __init__(self, connection: ServerConnection, where: str):
        self._connection = connection
        self._where = where
        self._db = Held(connection)

    def namespaces(self) -> list[str]:
        """The names of all namespaces."""
        return [name for name, _ in rows(self._db, NAMESPACES)]

    def count(self, table: Table) -> int:
        """How many rows the table has."""
        return int(value(self._db, COUNT.format(table=STORED.get(table.name, table.name))))

    def rows(self, table: Table) -> Iterator[Row]:
        """The rows of the table."""
        named = f"rows_{table.name}"
        with our_errors(self._where), self._connection.cursor(named, binary=True) as cursor:
            cursor.itersize = READ_AT_ONCE
            cursor.execute(_selection(table).encode())
            yield from cursor

    def counters(self) -> dict[str, int]:
        """The last number given of each of COUNTERS."""
        given = {name: int(value(self._db, NUMBERED.format(sequence=one))) for name, one in SEQUENCES.items()}
        return {name: given.get(name, 0) for name in COUNTERS} | {"session": value(self._db, LAST_SESSION)}

    def number_at(self, position: Position) -> int:
        """The greatest number up to which *position* covers all changes: they are not committed in their order."""
        first = value(self._db, FIRST_AFTER, (str(position.epoch), position.number))
        return int(value(self._db, LAST_CHANGE) if first is None else first - 1)


class PostgresCopy:
    """The RowTarget of an empty database."""

    def __init__(self, url: str):
        self._url = url
        self._where = location(url)
        with our_errors(self._where):
            self._connection = connected(url, _ALL)
        self._db = Held(self._connection)
        self._rows = PostgresRows(self._connection, self._where)
        self._spaces: dict[str | None, int] = {}

    def __enter__(self) -> PostgresCopy:
        return self

    def __exit__(self, *exception: object) -> None:
        self._connection.close()

    def origin(self) -> str | None:
        """The place of which this is an unfinished copy."""
        with our_errors(self._where):
            if not version_of(self._connection):
                return None
            found = unfinished_copy(self._connection)
            if found is None and value(self._db, HOLDS_SOMETHING):
                raise Conflict(f"to: {self._where} holds memories already. Name an empty database.")
            return found

    def begin(self, origin: str, namespaces: Iterable[str]) -> None:
        """Make the tables."""
        with our_errors(self._where):
            migrate(self._connection, self._where)
            # COPY cannot fill a table with policies; nobody opens the database until they hold again.
            with as_owner(self._connection):
                self._db.run(WITHOUT_ROW_SECURITY)
                self._db.run(WITHOUT_TOKEN_INDEXES)
            with self._connection.transaction():
                self._db.run(SET_ORIGIN, (origin,))
                self._connection.cursor().executemany(ADD_NAMESPACE, [(name,) for name in namespaces])
                self._spaces = dict(rows(self._db, NAMESPACES))

    def count(self, table: Table) -> int:
        """How many rows the table has."""
        with our_errors(self._where), self._unhurried():
            return self._rows.count(table)

    def rows(self, table: Table) -> Iterator[Row]:
        """The rows of the table."""
        with self._unhurried():
            yield from self._rows.rows(table)

    @contextmanager
    def _unhurried(self) -> Iterator[None]:
        """A transaction without time limits."""
        with self._connection.transaction():
            self._db.run(UNHURRIED)
            yield

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """The same, in which nobody else writes."""
        with our_errors(self._where), self._unhurried():
            self._db.run(LOCK)
            yield

    def replace(self, table: Table, rows: Iterable[Row]) -> None:
        """Put *rows* in place of those of the table."""
        with self._alone():
            if table.name == "namespace":
                self._connection.cursor().executemany(STANDARD, rows)
                return
            name = "meta" if table.name == "setting" else table.name
            self._db.run(CLEAR_SETTINGS if name == "meta" else CLEAR.format(table=name))
            self._copy(name, _stored(table), self._placed(table, rows))

    def _copy(self, name: str, columns: Iterable[str], given: Iterable[Row]) -> None:
        sql = COPY.format(table=name, columns=", ".join(columns))
        number: Any = None
        with self._connection.cursor().copy(sql.encode()) as copy:
            try:
                for one in given:
                    number = one[1] if len(one) > 1 else one[0]
                    copy.write_row(one)
            except psycopg.DataError as error:
                raise Invalid(
                    f"from: row {number} of {name} cannot be stored in PostgreSQL: {error}. Revise or purge it, then "
                    "run the same command again.",
                    "from",
                ) from None

    def _placed(self, table: Table, given: Iterable[Row]) -> Iterable[Row]:
        """*given* with the ids of namespaces for their names."""
        names = (*table.placement, *table.columns)
        if "namespace" not in names:
            return given
        place = names.index("namespace")
        ids = self._spaces
        return ((*one[:place], ids.get(one[place], NOWHERE), *one[place + 1 :]) for one in given)

    def build_indexes(self, progress: Progress) -> None:
        """Index the words of living memories and of past versions, and their MinHash signatures."""
        with self._alone():
            for name in INDEXES:
                self._db.run(CLEAR.format(table=name))
            self._index_living(progress)
            self._db.run(ADD_TERMS)
            for versions in self._reworded():
                given = [(version, *words.copy_row(one, space)) for version, space, one in versions]
                self._copy("words_past", ("version", *words.COLUMNS), given)

    def _index_living(self, progress: Progress) -> None:
        done = 0
        with self._reader() as reader, Loader(self._copy) as loader:
            for some in read_ahead(_pages(memories.walk(reader, Filter()))):
                placed = [(one, self._spaces[one.namespace]) for one in some]
                loader.put("words", words.COLUMNS, [words.copy_row(one, space) for one, space in placed])
                marks = [mark for one, space in placed for mark in minhash.of(one, space)]
                loader.put("mark", minhash.COLUMNS, marks)
                done += len(some)
                progress(done, done)

    @contextmanager
    def _reader(self) -> Iterator[Held]:
        """A connection of its own to what was copied, to read while rows are loaded."""
        with closing(connected(self._url, _ALL)) as connection:
            yield Held(connection)

    def _reworded(self) -> Iterator[list[tuple[int, int, Memory]]]:
        """Past versions whose words are indexed, each with its number and namespace, a page at a time."""
        columns = ", ".join(EXPRESSIONS.get(name, f"t.{name}") for name in memories.COLUMNS)
        last = 0
        while found := rows(self._db, REWORDED.format(columns=columns), (last, PAGE)):
            last = found[-1][0]
            bodies: dict[int, list[Statement]] = {}
            for version, number, text in rows(self._db, BODIES_THEN, ([one[0] for one in found],)):
                bodies.setdefault(version, []).append(Statement(number, text))
            yield [(one[0], one[1], memory_of(one[2:], tuple(bodies.get(one[0], ())))) for one in found]

    def position_of(self, number: int) -> Position:
        """The position that the change with this number has here: all came in one transaction."""
        found = row(self._db, EPOCH, (number,))
        return Position(found[0], number) if found else Position()

    def finish(self, counters: Mapping[str, int]) -> None:
        """Let it be opened."""
        with self._alone():
            for name, sequence in SEQUENCES.items():
                self._db.run(SET_NUMBER, {"sequence": sequence, "number": counters[name]})
            if counters["session"]:
                self._db.run(sessions.GIVEN, {"id": counters["session"]})
            self._db.run(LAST_VERSION)
            self._db.run(LAST_MODEL)
            self._db.run(LAST_MOMENT)
            with as_owner(self._connection):
                self._db.run(WITH_TOKEN_INDEXES)
                self._db.run(WITH_ROW_SECURITY)
            self._db.run(DROP_ORIGIN)


@contextmanager
def rows_now(connection: ServerConnection, where: str) -> Iterator[PostgresRows]:
    """The rows that *connection* sees at this moment."""
    connection.execute(BEGIN)
    try:
        connection.execute(UNHURRIED)
        connection.execute(SET_ROW_SCOPE, (EVERYWHERE,))
        yield PostgresRows(connection, where)
    finally:
        connection.execute("ROLLBACK")


def _pages(living: Iterator[Memory]) -> Iterator[list[Memory]]:
    while some := list(islice(living, PAGE)):
        yield some


def _selection(table: Table) -> str:
    """The statement that reads the rows of *table*."""
    names = (*table.placement, *table.columns)
    has_home = "namespace" in names
    columns = ", ".join(EXPRESSIONS.get(name, f't."{name}"') for name in names)
    return SELECT.format(
        columns=columns, table=STORED.get(table.name, table.name), joins=HOME if has_home else ""
    )


def _stored(table: Table) -> Iterator[str]:
    """The columns of *table* as the database has them."""
    for name in (*table.placement, *table.columns):
        yield "namespace_id" if name == "namespace" else f'"{name}"'
