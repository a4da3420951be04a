"""Rows of `memory`, `tag` and `statement`, and the conditions a filter becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import apsw
import orjson

from mnemic.model.enums import State
from mnemic.model.filter import ALL_STATES, LIVING_ONLY, Filter
from mnemic.model.memory import FIELDS, Memory, Statement, name_key
from mnemic.model.uids import uid_digits, uid_range
from mnemic.storage.decoders import memories_of, memory_of
from mnemic.storage.sqlite.rows import row as first
from mnemic.storage.sqlite.rows import rows

COLUMNS = FIELDS
_LIST = ", ".join(COLUMNS)

INSERT = f"""
INSERT INTO memory ({_LIST}, since) VALUES ({", ".join("?" * len(COLUMNS))}, ?)
"""
BY_ID = f"""
SELECT {_LIST} FROM memory WHERE id = ?
"""
NEWEST = """
SELECT coalesce(max(id), 0) FROM memory
"""
BY_IDS = f"""
SELECT {_LIST} FROM memory WHERE id IN (SELECT value FROM json_each(?))
"""
MERITS = """
SELECT id, priority, confidence, access_count, tier, updated_at FROM memory
WHERE id IN (SELECT value FROM json_each(?))
"""
# NOT INDEXED: by number, so that nothing has to be sorted to find where a page ends.
PAGE = f"""
SELECT {_LIST} FROM memory m NOT INDEXED WHERE m.id > :after AND {{conditions}} ORDER BY m.id LIMIT :limit
"""
BODY = """
SELECT id, text FROM statement WHERE memory_id = ? AND until IS NULL AND position > 0 ORDER BY position
"""
BODIES = """
SELECT memory_id, id, text FROM statement
WHERE memory_id IN (SELECT value FROM json_each(?)) AND until IS NULL AND position > 0
ORDER BY memory_id, position
"""
# The state stands in the text, where SQLite sees which index it may use.
NAMED = {
    state: f"""
SELECT id FROM memory WHERE namespace = ? AND name = ? AND state = '{state}'
"""
    for state in (State.LIVING, State.NAMED)
}
FIRST_END = """
SELECT min(expires_at) FROM memory WHERE expires_at IS NOT NULL AND state = 'living'
"""
# CROSS: left to choose, SQLite walks all memories by number to save the sorting (12 ms at 100,000).
NAMED_ANYWHERE = {
    state: f"""
SELECT m.id FROM namespace n CROSS JOIN memory m ON m.namespace = n.name AND m.name = ? AND m.state = '{state}'
ORDER BY m.id
"""
    for state in (State.LIVING, State.NAMED)
}
SAME_TEXTS = """
SELECT s.digest, m.id, m.namespace FROM statement s JOIN memory m ON m.id = s.memory_id
WHERE s.digest IN (SELECT value FROM json_each(?)) AND s.until IS NULL AND m.state = 'living'
  AND (SELECT count(*) FROM statement o WHERE o.memory_id = m.id AND o.until IS NULL) = 1
"""
CREATION = "j.subject = 'memory' AND j.before IS NULL AND j.after IS NOT NULL"
"""Which changes `journal j` made a memory with; what was purged has none."""
CONDITIONS = {
    "ids": "m.id IN (SELECT value FROM json_each(:ids))",
    # A list of blobs cannot be JSON, so the uids travel as digits.
    "uids": "m.uid IN (SELECT unhex(value) FROM json_each(:uids))",
    "uid_prefix": "m.uid BETWEEN :first_uid AND :last_uid",
    "name": "m.name = :name",
    "title": "m.title = :title",
    "metadata": """m.metadata IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM json_each(:metadata) w WHERE NOT EXISTS (
    SELECT 1 FROM json_each(m.metadata) k WHERE k.key = w.key AND k.type = w.type AND k.value IS w.value))""",
    "namespaces": "m.namespace IN (SELECT value FROM json_each(:namespaces))",
    "kinds": "m.kind IN (SELECT value FROM json_each(:kinds))",
    "not_kinds": "m.kind NOT IN (SELECT value FROM json_each(:not_kinds))",
    # The first half is worked out once; few memories ever come to the second.
    "without": """(m.kind NOT IN (SELECT value ->> 0 FROM json_each(:without)) OR NOT EXISTS (
  SELECT 1 FROM json_each(:without) w JOIN json_each(m.metadata) k ON k.key = w.value ->> 1
  WHERE w.value ->> 0 = m.kind))""",
    "tags": "m.id IN (SELECT memory_id FROM tag WHERE name IN (SELECT value FROM json_each(:tags)))",
    "tier": "m.tier = :tier",
    "session_ids": "m.session_id IN (SELECT value FROM json_each(:session_ids))",
    "actor": f"m.id IN (SELECT j.subject_id FROM journal j WHERE {CREATION} AND j.actor = :actor)",
    "min_priority": "m.priority >= :min_priority",
    "min_confidence": "m.confidence >= :min_confidence",
    "max_confidence": "m.confidence <= :max_confidence",
    "since": "coalesce(m.valid_from, m.created_at) >= :since",
    "until": "coalesce(m.valid_from, m.created_at) <= :until",
    "alive_at": "(m.expires_at IS NULL OR m.expires_at > :alive_at)",
    "unchanged_since": "m.since <= :unchanged_since",
}
EXPIRED = """
SELECT id FROM memory WHERE expires_at <= :alive_at AND expires_at IS NOT NULL AND state = 'living'
"""
WITHOUT = f"""
SELECT m.id FROM memory m
WHERE m.kind IN (SELECT value ->> 0 FROM json_each(:without)) AND m.state = 'living' AND m.metadata IS NOT NULL
  AND NOT {CONDITIONS["without"]}
"""
# For a name or title looked for anywhere: the indexes of both begin with the namespace.
ANYWHERE = "m.namespace IN (SELECT name FROM namespace)"
SELECTIVE = ("uids", "uid_prefix", "name", "title")
"""The fields of a filter that lead to few memories, each by an index of its own."""
WALKED_AT_ONCE = 500


def left_out(wanted: Filter) -> tuple[list[str], dict[str, Any]]:
    """The queries for what a plain filter leaves out of the living, which is little, and their parameters."""
    queries: list[str] = []
    values: dict[str, Any] = {}
    if wanted.alive_at is not None:
        queries.append(EXPIRED)
        values["alive_at"] = wanted.alive_at
    if wanted.without is not None:
        queries.append(WITHOUT)
        values["without"] = as_json(wanted.without)
    return queries, values


def where(wanted: Filter, *, is_large: bool = False) -> tuple[str, dict[str, Any]]:
    """The condition for the fields of *wanted* that are set, over `memory m`, and its parameters.

    If the namespaces hold much, *is_large*, rows are read as they lie: to look up each by an index takes four times
    as long.
    """
    parts, values = _state(wanted, is_large=is_large)
    unindexed = "+" if is_large else ""
    for name, condition in CONDITIONS.items():
        value = getattr(wanted, name)
        if value is None:
            continue
        if name == "namespaces" and len(value) == 1:
            # To read a list of one takes longer than most that is asked with it.
            parts.append(f"{unindexed}m.namespace = :namespace")
            values["namespace"] = value[0]
            continue
        parts.append(unindexed + condition if name == "namespaces" else condition)
        values |= _parameters(name, value)
    if wanted.namespaces is None and (wanted.name is not None or wanted.title is not None):
        parts.append(ANYWHERE)
    return " AND ".join(parts) or "TRUE", values


def _parameters(name: str, value: Any) -> dict[str, Any]:
    """The parameters of the condition for a field of a filter."""
    match name:
        case "uids":
            return {name: as_json([uid_digits(uid) for uid in value])}
        case "uid_prefix":
            return dict(zip(("first_uid", "last_uid"), uid_range(value), strict=True))
        case "name":
            return {name: name_key(value)}
        case "metadata":
            return {name: as_json({key: orjson.loads(one) for key, one in value})}
        case "unchanged_since":
            return {name: value.number}
    return {name: as_json(value) if isinstance(value, tuple) else value}


def is_selective(wanted: Filter) -> bool:
    """Whether an index leads to the few memories that pass."""
    return any(getattr(wanted, name) is not None for name in SELECTIVE)


def _state(wanted: Filter, *, is_large: bool) -> tuple[list[str], dict[str, Any]]:
    if wanted.states == ALL_STATES:
        return [], {}
    if len(wanted.states) == 1 and wanted.states != LIVING_ONLY:
        # That nothing living is meant must stand here, or SQLite would not use the index of those that have left.
        return [f"m.state = '{next(iter(wanted.states))}' AND m.state != 'living'"], {}
    if wanted.states != LIVING_ONLY:
        states = as_json(sorted(wanted.states))
        parts = [] if State.LIVING in wanted.states else ["m.state != 'living'"]
        return [*parts, "m.state IN (SELECT value FROM json_each(:states))"], {"states": states}
    # The index of the living begins with the namespace. Without one SQLite would walk it all the same, five
    # times slower than by number; the plus keeps it away. So it does where the numbers are given.
    is_by_number = is_large or wanted.namespaces is None or wanted.ids is not None
    is_by_number &= wanted.name is None and wanted.title is None
    return ["+m.state = 'living'" if is_by_number else "m.state = 'living'"], {}


def as_json(value: object) -> str:
    """*value* as JSON text, for a column or for json_each."""
    return orjson.dumps(value, default=dict).decode()


def encode(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Model values as column values; fields that are no columns stay away from here."""
    encoded = dict(fields)
    for name in ("tags", "metadata"):
        if name in encoded:
            value = encoded[name]
            encoded[name] = as_json(list(value) if name == "tags" else dict(value)) if value else None
    if "uid" in encoded:
        encoded["uid"] = bytes.fromhex(encoded["uid"].replace("-", ""))
    return encoded


def one(connection: apsw.Connection, memory_id: int) -> Memory | None:
    """The memory with this number."""
    row = first(connection, BY_ID, (memory_id,))
    if row is None:
        return None
    return memory_of(row, tuple(Statement(*pair) for pair in rows(connection, BODY, (memory_id,))))


def many(connection: apsw.Connection, memory_ids: Sequence[int]) -> list[Memory]:
    """The memories with these numbers, in that order."""
    if len(memory_ids) == 1:
        single = one(connection, memory_ids[0])
        return [single] if single else []
    numbers = as_json(list(memory_ids))
    found = memories_of(rows(connection, BY_IDS, (numbers,)), rows(connection, BODIES, (numbers,)))
    return [found[number] for number in memory_ids if number in found]


def walk(connection: apsw.Connection, wanted: Filter) -> Iterator[Memory]:
    """Every memory that passes *wanted*, by number, without holding them all."""
    conditions, values = where(wanted)
    sql, last = PAGE.format(conditions=conditions), 0
    while found := rows(connection, sql, values | {"after": last, "limit": WALKED_AT_ONCE}):
        numbers = as_json([row[0] for row in found])
        yield from memories_of(found, rows(connection, BODIES, (numbers,))).values()
        last = found[-1][0]
