"""Rows that wait to be inserted: those of all tables go to the server in one statement.

A statement costs the client about as much as a row, and an answer that is waited for more than both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from mnemic.storage.postgres.schema import MEMORY, MEMORY_ADDED

Fields = Mapping[str, Any]

MEMORY_COLUMNS = ["namespace_id integer", "id bigint", "since bigint"] + [
    " ".join(line.split()[:2]).rstrip(",") for line in (*MEMORY.strip().splitlines(), *MEMORY_ADDED)
]
COLUMNS: Mapping[str, Sequence[str]] = {
    "memory": [column.replace("bytea", "text") for column in MEMORY_COLUMNS],
    "tag": ["namespace_id integer", "memory_id bigint", "name text"],
    "statement": [
        "namespace_id integer",
        "memory_id bigint",
        "id bigint",
        "position integer",
        "text text",
        "digest bigint",
        "since bigint",
    ],
    "words": [
        "namespace_id integer",
        "memory_id bigint",
        "length integer",
        "tokens text",
        "times text",
        "places text",
    ],
    "term": ["namespace_id integer", "token text"],
    "mark": ["namespace_id integer", "number bigint", "memory_id bigint"],
    "journal": [
        "namespace_id integer",
        "sequence bigint",
        "xid text",
        "batch bigint",
        "at bigint",
        "actor text",
        "operation text",
        "subject text",
        "subject_id bigint",
        "before text",
        "after text",
    ],
}
# An array of JSON takes ten times as long to read as one of PostgreSQL.
EXPRESSIONS = {
    "xid": "w.xid::xid8",
    "uid": "decode(w.uid, 'hex')",
    "tokens": "string_to_array(w.tokens, chr(31))",
    "times": "w.times::real[]",
    "places": "w.places::integer[]",
}
INSERT = """
INSERT INTO {table} ({names}) SELECT {values} FROM json_to_recordset(%({table})s::json) AS w ({columns}) {conflict}
"""
CONFLICTS = {
    "words": """ON CONFLICT (namespace_id, memory_id) DO UPDATE
SET length = excluded.length, tokens = excluded.tokens, times = excluded.times, places = excluded.places""",
    "mark": "ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING",
    "tag": "ON CONFLICT DO NOTHING",
    "term": "ON CONFLICT DO NOTHING",
}


class Inserts:
    """Rows by table, in the order they came."""

    def __init__(self) -> None:
        self._rows: dict[str, list[Fields]] = {}

    def add(self, table: str, row: Fields) -> None:
        """Let *row* wait; a column that it does not name is NULL."""
        self._rows.setdefault(table, []).append(row)

    def take(self) -> dict[str, list[Fields]]:
        """All that wait; from now on they are the caller's to insert."""
        taken, self._rows = self._rows, {}
        return taken


@cache
def statement(tables: tuple[str, ...]) -> str:
    """The statement that inserts into these tables, each from a parameter of its name: rows as a JSON array."""
    *others, last = map(_insert, tables)
    named = (f"{table}_rows AS ({one})" for table, one in zip(tables, others, strict=False))
    return f"WITH {', '.join(named)} {last}" if others else last


def _insert(table: str) -> str:
    names = [column.split()[0] for column in COLUMNS[table]]
    return INSERT.format(
        table=table,
        names=", ".join(names),
        values=", ".join(EXPRESSIONS.get(name, f"w.{name}") for name in names),
        columns=", ".join(COLUMNS[table]),
        conflict=CONFLICTS.get(table, ""),
    )
