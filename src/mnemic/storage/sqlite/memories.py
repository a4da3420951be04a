"""Rows of `memory`, `tag` and `statement`, and the conditions a filter becomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import hexdigits
from typing import Any

import apsw
import orjson

from mnemic.model.graph import Entity
from mnemic.model.memory import Memory, Statement
from mnemic.model.search import LIVING_ONLY, Filter
from mnemic.model.uids import spelled
from mnemic.model.values import State, Tier
from mnemic.storage.sqlite.rows import Row, rows
from mnemic.storage.sqlite.rows import row as first

COLUMNS = (
    "id",
    "uid",
    "namespace",
    "title",
    "kind",
    "summary",
    "tags",
    "priority",
    "confidence",
    "quality",
    "rating",
    "rating_count",
    "tier",
    "source",
    "metadata",
    "session_id",
    "created_at",
    "updated_at",
    "accessed_at",
    "access_count",
    "days_used",
    "expires_at",
    "valid_from",
    "valid_to",
    "state",
    "state_reason",
    "state_at",
)
_LIST = ", ".join(COLUMNS)

INSERT = f"""
INSERT INTO memory ({_LIST}) VALUES ({", ".join("?" * len(COLUMNS))})
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
TITLED = {
    state: f"""
SELECT id FROM memory WHERE namespace = ? AND title = ? AND state = '{state}'
"""
    for state in (State.LIVING, State.NAMED)
}
LEFT_TITLED = """
SELECT id FROM memory WHERE title = ? AND state IN ('forgotten', 'archived', 'superseded')
ORDER BY state_at DESC, id DESC
"""
ENTITIES = """
SELECT id, title, kind FROM memory WHERE id IN (SELECT value FROM json_each(?))
"""
NAMES = """
SELECT id FROM memory WHERE state = 'named'
"""
FIRST_END = """
SELECT min(expires_at) FROM memory WHERE expires_at IS NOT NULL AND state = 'living'
"""
# CROSS: left to choose, SQLite walks all memories by number to save the sorting (12 ms at 100,000).
TITLED_ANYWHERE = {
    state: f"""
SELECT m.id FROM namespace n CROSS JOIN memory m ON m.namespace = n.name AND m.title = ? AND m.state = '{state}'
ORDER BY m.id
"""
    for state in (State.LIVING, State.NAMED)
}
WITH_UID = """
SELECT id FROM memory WHERE uid BETWEEN ? AND ? ORDER BY id LIMIT ?
"""
# A list of blobs cannot be JSON, so the uids travel as digits.
NUMBERS = """
SELECT uid, id FROM memory WHERE uid IN (SELECT unhex(value) FROM json_each(?))
"""
UIDS = """
SELECT m.id, m.uid FROM memory m WHERE {conditions}
"""
SAME_TEXT = """
SELECT m.id, m.namespace FROM statement s JOIN memory m ON m.id = s.memory_id
WHERE s.digest = ? AND s.until IS NULL AND m.state = 'living'
  AND (SELECT count(*) FROM statement o WHERE o.memory_id = m.id AND o.until IS NULL) = 1
"""
KNOWN_DIGESTS = """
SELECT digest FROM statement WHERE digest IN (SELECT value FROM json_each(?)) AND until IS NULL
"""
WITH_METADATA = """
SELECT m.id FROM memory m WHERE m.metadata IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM json_each(:pairs) w WHERE NOT EXISTS (
    SELECT 1 FROM json_each(m.metadata) k WHERE k.key = w.key AND k.type = w.type AND k.value IS w.value))
ORDER BY m.id
"""
CONDITIONS = {
    "ids": "m.id IN (SELECT value FROM json_each(:ids))",
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
    "min_priority": "m.priority >= :min_priority",
    "min_confidence": "m.confidence >= :min_confidence",
    "max_confidence": "m.confidence <= :max_confidence",
    "since": "coalesce(m.valid_from, m.created_at) >= :since",
    "until": "coalesce(m.valid_from, m.created_at) <= :until",
    "alive_at": "(m.expires_at IS NULL OR m.expires_at > :alive_at)",
}
# A call of an enum takes ten times as long as a look at a dict, and every row has two.
TIERS: Mapping[str, Tier] = {str(tier): tier for tier in Tier}
STATES: Mapping[str, State] = {str(state): state for state in State}
EXPIRED = """
SELECT id FROM memory WHERE expires_at <= :alive_at AND expires_at IS NOT NULL AND state = 'living'
"""
WITHOUT = f"""
SELECT m.id FROM memory m
WHERE m.kind IN (SELECT value ->> 0 FROM json_each(:without)) AND m.state = 'living' AND m.metadata IS NOT NULL
  AND NOT {CONDITIONS["without"]}
"""
WALKED_AT_ONCE = 500
UID_DIGITS, SHORTEST_BEGINNING = 32, 4
"""How many digits a uid has, and how many of them are enough to name it by."""


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
        values[name] = as_json(value) if isinstance(value, tuple) else value
    return " AND ".join(parts), values


def _state(wanted: Filter, *, is_large: bool) -> tuple[list[str], dict[str, Any]]:
    if wanted.states != LIVING_ONLY:
        states = as_json(sorted(wanted.states))
        return ["m.state IN (SELECT value FROM json_each(:states))"], {"states": states}
    # The index of the living begins with the namespace. Without one SQLite would walk it all the same, five
    # times slower than by number; the plus keeps it away. So it does where the numbers are given.
    is_by_number = is_large or wanted.namespaces is None or wanted.ids is not None
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


def decode(row: Row, statements: tuple[Statement, ...]) -> Memory:
    """A row of COLUMNS as a Memory."""
    (
        id_,
        uid,
        namespace,
        title,
        kind,
        summary,
        tags,
        priority,
        confidence,
        quality,
        rating,
        rating_count,
        tier,
        source,
        metadata,
        session_id,
        created_at,
        updated_at,
        accessed_at,
        access_count,
        days_used,
        expires_at,
        valid_from,
        valid_to,
        state,
        state_reason,
        state_at,
    ) = row
    return Memory(
        id=id_,
        uid=spelled(uid),
        namespace=namespace,
        title=title,
        kind=kind,
        summary=summary,
        tags=tuple(orjson.loads(tags)) if tags else (),
        priority=priority,
        confidence=confidence,
        quality=quality,
        rating=rating,
        rating_count=rating_count,
        tier=TIERS[tier],
        source=source,
        metadata=orjson.loads(metadata) if metadata else {},
        session_id=session_id,
        created_at=created_at,
        updated_at=updated_at,
        accessed_at=accessed_at,
        access_count=access_count,
        days_used=days_used,
        expires_at=expires_at,
        valid_from=valid_from,
        valid_to=valid_to,
        state=STATES[state],
        state_reason=state_reason,
        state_at=state_at,
        statements=statements,
    )


def one(connection: apsw.Connection, memory_id: int) -> Memory | None:
    """The memory with this number."""
    row = first(connection, BY_ID, (memory_id,))
    if row is None:
        return None
    return decode(row, tuple(Statement(*pair) for pair in rows(connection, BODY, (memory_id,))))


def many(connection: apsw.Connection, memory_ids: Sequence[int]) -> list[Memory]:
    """The memories with these numbers, in that order."""
    if len(memory_ids) == 1:
        single = one(connection, memory_ids[0])
        return [single] if single else []
    numbers = as_json(list(memory_ids))
    found = assemble(rows(connection, BY_IDS, (numbers,)), rows(connection, BODIES, (numbers,)))
    return [found[number] for number in memory_ids if number in found]


def entities(connection: apsw.Connection, memory_ids: Sequence[int]) -> list[Entity]:
    """What these memories are called and say, in that order."""
    numbers = as_json(list(memory_ids))
    found = {row[0]: Entity(row[0], row[1], row[2], []) for row in rows(connection, ENTITIES, (numbers,))}
    for memory_id, _, text in rows(connection, BODIES, (numbers,)):
        found[memory_id].texts.append(text)
    return [found[number] for number in memory_ids if number in found]


def page(connection: apsw.Connection, wanted: Filter, after: int, limit: int) -> list[Memory]:
    """The first *limit* memories after number *after* that pass *wanted*, by number."""
    conditions, values = where(wanted)
    found = rows(connection, PAGE.format(conditions=conditions), values | {"after": after, "limit": limit})
    numbers = as_json([row[0] for row in found])
    return list(assemble(found, rows(connection, BODIES, (numbers,))).values())


def walk(connection: apsw.Connection, wanted: Filter) -> Iterator[Memory]:
    """Every memory that passes *wanted*, by number, without holding them all."""
    last = 0
    while some := page(connection, wanted, last, WALKED_AT_ONCE):
        yield from some
        last = some[-1].id


def assemble(found: Iterable[Row], bodies: Iterable[Row]) -> dict[int, Memory]:
    """Rows and bodies put together, by number."""
    statements: dict[int, list[Statement]] = {}
    for memory_id, statement_id, text in bodies:
        statements.setdefault(memory_id, []).append(Statement(statement_id, text))
    return {row[0]: decode(row, tuple(statements.get(row[0], ()))) for row in found}


def numbers(connection: apsw.Connection, uids: Sequence[str]) -> dict[str, int]:
    """The numbers of the memories with these uids, as they were written; what is no uid has none."""
    digits = {uid: _digits(uid) for uid in uids}
    found = rows(
        connection, NUMBERS, (as_json([each for each in digits.values() if len(each) == UID_DIGITS]),)
    )
    known = {uid.hex(): number for uid, number in found}
    return {uid: known[each] for uid, each in digits.items() if each in known}


def _digits(uid: str) -> str:
    """The digits of a uid or of its beginning, hyphens or not; none if it is something else."""
    digits = uid.replace("-", "").lower()
    return digits if len(digits) <= UID_DIGITS and all(digit in hexdigits for digit in digits) else ""


def uid_range(prefix: str) -> tuple[bytes, bytes] | None:
    """The first and last uid that begin with *prefix*, or None if it is not the beginning of one."""
    digits = _digits(prefix)
    if len(digits) < SHORTEST_BEGINNING:
        return None
    return bytes.fromhex(digits.ljust(UID_DIGITS, "0")), bytes.fromhex(digits.ljust(UID_DIGITS, "f"))
