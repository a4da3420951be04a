"""Rows of `memory`, `tag` and `statement`, and the conditions a filter becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from mnemic.errors import Invalid
from mnemic.model.enums import State
from mnemic.model.filter import ALL_STATES, LIVING_ONLY, Filter
from mnemic.model.memory import FIELDS, Memory, name_key
from mnemic.model.uids import UID_DIGITS, uid_digits, uid_range
from mnemic.storage.decoders import memories_of
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.namespace_filter import NamespaceFilter
from mnemic.storage.postgres.rows import routed, rows

COLUMNS = FIELDS
NAMESPACE = "(SELECT n.name FROM namespace n WHERE n.id = {}.namespace_id)"
STORED = tuple("namespace_id" if name == "namespace" else name for name in COLUMNS)
"""The columns as the table has them."""
EXPRESSIONS = {name: NAMESPACE.format("m") if name == "namespace" else f"m.{name}" for name in COLUMNS}
"""What each field is read from, over `memory m`."""
_LIST = ", ".join(EXPRESSIONS.values())

# A number from elsewhere may lie beyond those that were drawn.
DRAWN = """
SELECT setval('memory_number', greatest(%(id)s, (SELECT last_value FROM memory_number)))
"""
NEWEST = """
SELECT coalesce(max(id), 0) FROM memory
"""
BY_IDS = f"""
SELECT {_LIST} FROM memory m WHERE {{here[m]}} AND m.id = ANY(%(ids)s::bigint[])
"""
BODIES = """
SELECT s.memory_id, s.id, s.text FROM memory m
JOIN statement s ON s.namespace_id = m.namespace_id AND s.memory_id = m.id AND s.until IS NULL AND s.position > 0
WHERE {here[m]} AND m.id = ANY(%(ids)s::bigint[])
ORDER BY s.memory_id, s.position
"""
PAGE = f"""
SELECT {_LIST} FROM memory m WHERE m.id > %(after)s AND {{conditions}} ORDER BY m.id LIMIT %(limit)s
"""


IS_NAMED = "md5(m.name) = md5({0}) AND m.name = {0}"
"""That a name equals a parameter, in the form the index has it."""
NAMED = {
    state: f"""
SELECT m.namespace_id, m.id FROM memory m
WHERE {{here[m]}} AND {IS_NAMED.format("%(name)s::text")} AND m.state = '{state}'
ORDER BY m.id
"""
    for state in (State.LIVING, State.NAMED)
}
IS_TITLED = "md5(m.title) = md5({0}) AND m.title = {0}"
# Look-ups one inside the other: a join would read the whole of both tables until statistics say how large they are.
SAME_TEXTS = """
SELECT w.digest, m.id FROM {digests} AS w (digest)
CROSS JOIN LATERAL (SELECT s.namespace_id, s.memory_id FROM statement s
  WHERE s.digest = w.digest AND s.until IS NULL AND {here[s]} OFFSET 0) s
CROSS JOIN LATERAL (SELECT m.namespace_id, m.id FROM memory m
  WHERE m.namespace_id = s.namespace_id AND m.id = s.memory_id AND m.state = 'living' AND {here[m]} OFFSET 0) m
WHERE (SELECT count(*) FROM statement o
  WHERE o.namespace_id = m.namespace_id AND o.memory_id = m.id AND o.until IS NULL AND {here[o]}) = 1
ORDER BY m.id
"""
# With one text written out, the plan is not made anew each time: that is asked before every write.
ONE_DIGEST, DIGESTS = "(VALUES (%(digest)s::bigint))", "unnest(%(digests)s::bigint[])"
CREATION = "j.subject = 'memory' AND j.before IS NULL AND j.after IS NOT NULL"
"""Which changes `journal j` made a memory with; what was purged has none."""
CONDITIONS = {
    "ids": "m.id = ANY(%(ids)s::bigint[])",
    "uids": "m.uid = ANY(%(uids)s::bytea[])",
    "uid_prefix": "m.uid BETWEEN %(first_uid)s AND %(last_uid)s",
    "name": IS_NAMED.format("%(name)s::text"),
    "title": IS_TITLED.format("%(title)s::text"),
    "metadata": """m.metadata IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM jsonb_each(%(metadata)s::jsonb) w WHERE m.metadata::jsonb -> w.key IS DISTINCT FROM w.value)""",
    "kinds": "m.kind = ANY(%(kinds)s::text[])",
    "not_kinds": "m.kind != ALL(%(not_kinds)s::text[])",
    # The first half is worked out once; few memories ever come to the second.
    "without": """(m.metadata IS NULL OR NOT EXISTS (
  SELECT 1 FROM jsonb_array_elements(%(without)s::jsonb) w
  WHERE w ->> 0 = m.kind AND m.metadata::jsonb ? (w ->> 1)))""",
    "tags": """EXISTS (SELECT 1 FROM tag t
  WHERE t.namespace_id = m.namespace_id AND t.memory_id = m.id AND t.name = ANY(%(tags)s::text[]))""",
    "tier": "m.tier = %(tier)s",
    "session_ids": "m.session_id = ANY(%(session_ids)s::bigint[])",
    "actor": f"""EXISTS (SELECT 1 FROM journal j
  WHERE {{here[j]}} AND j.subject_id = m.id AND {CREATION} AND j.actor = %(actor)s)""",
    "min_priority": "m.priority >= %(min_priority)s",
    "min_confidence": "m.confidence >= %(min_confidence)s",
    "max_confidence": "m.confidence <= %(max_confidence)s",
    "since": "coalesce(m.valid_from, m.created_at) >= %(since)s",
    "until": "coalesce(m.valid_from, m.created_at) <= %(until)s",
    "alive_at": "(m.expires_at IS NULL OR m.expires_at > %(alive_at)s)",
    "unchanged_since": "m.since <= %(unchanged_since)s",
}
EXPIRED = """
SELECT m.id FROM memory m
WHERE m.expires_at <= %(alive_at)s AND m.expires_at IS NOT NULL AND m.state = 'living' AND {here[m]} ORDER BY m.id
"""
WITHOUT = f"""
SELECT m.id FROM memory m
WHERE m.kind = ANY(%(without_kinds)s::text[]) AND m.state = 'living' AND m.metadata IS NOT NULL
  AND {{here[m]}} AND NOT {CONDITIONS["without"]}
"""
WALKED_AT_ONCE = 500
# For a name or title looked for anywhere: the indexes of both begin with the namespace.
ANYWHERE = "m.namespace_id IN (SELECT id FROM namespace)"
NUL = "\0"


def left_out(wanted: Filter, here: NamespaceFilter) -> tuple[list[str], dict[str, Any]]:
    """The queries for what a plain filter leaves out of the living, which is little, and their parameters."""
    queries: list[str] = []
    within = here.within(wanted.namespaces)
    values = dict(within.values)
    if wanted.alive_at is not None:
        queries.append(EXPIRED)
        values["alive_at"] = wanted.alive_at
    if wanted.without is not None:
        queries.append(WITHOUT)
        values["without"] = as_json(wanted.without)
        values["without_kinds"] = [kind for kind, _ in wanted.without]
    return [query.format(here=within) for query in queries], values


def where(wanted: Filter, here: NamespaceFilter) -> tuple[str, dict[str, Any]]:
    """The condition for the fields of *wanted* that are set, over `memory m` of a reader *here*, and its parameters."""
    parts, values = _state(wanted)
    for name, condition in CONDITIONS.items():
        value = getattr(wanted, name)
        if value is not None:
            parts.append(condition.format(here=here))
            values |= _parameters(name, value)
    values |= here.values
    if wanted.namespaces is not None:
        within = here.within(wanted.namespaces)
        parts.append(within["m"])
        values |= within.values
    elif wanted.name is not None or wanted.title is not None:
        parts.append(ANYWHERE)
    return " AND ".join(parts) or "TRUE", values


def _parameters(name: str, value: Any) -> dict[str, Any]:
    """The parameters of the condition for a field of a filter."""
    match name:
        case "uids":
            digits = map(uid_digits, value)
            return {name: [bytes.fromhex(each) for each in digits if len(each) == UID_DIGITS]}
        case "uid_prefix":
            return dict(zip(("first_uid", "last_uid"), uid_range(value), strict=True))
        case "name":
            return {name: name_key(value)}
        case "metadata":
            return {name: as_json({key: orjson.loads(one) for key, one in value})}
        case "without":
            return {name: as_json(value)}
        case "unchanged_since":
            return {name: value.number}
    return {name: list(value) if isinstance(value, tuple) else value}


def _state(wanted: Filter) -> tuple[list[str], dict[str, Any]]:
    if wanted.states == LIVING_ONLY:
        return ["m.state = 'living'"], {}
    if wanted.states == ALL_STATES:
        return [], {}
    states = [str(state) for state in sorted(wanted.states)]
    is_left = " AND m.state != 'living'" if State.LIVING not in wanted.states else ""
    return ["m.state = ANY(%(states)s::text[])" + is_left], {"states": states}


def same_texts(db: Executor, digests: Sequence[int], namespaces: Sequence[str] | None) -> dict[int, int]:
    """For each of *digests* that is that of the whole body of a living memory in these namespaces: the first such."""
    values: dict[str, Any] = {"digest": digests[0]} if len(digests) == 1 else {"digests": list(digests)}
    here = db.here.within(namespaces)
    sql = SAME_TEXTS.format(digests=ONE_DIGEST if len(digests) == 1 else DIGESTS, here=here)
    return {digest: int(number) for digest, number in reversed(rows(db, sql, values | here.values))}


def as_json(value: object) -> str:
    """*value* as JSON text."""
    return orjson.dumps(value, default=dict).decode()


def storable(value: object, field: str) -> str:
    """*value* as JSON text for a column; Invalid if a text in it contains a NUL, which the server cannot compare."""
    text = as_json(value)
    if "\\u0000" in text and _has_nul(value):
        raise Invalid(f"{field}: contains a NUL character, which cannot be stored", field)
    return text


def _has_nul(value: object) -> bool:
    if isinstance(value, str):
        return NUL in value
    if isinstance(value, Mapping):
        return any(_has_nul(one) for pair in value.items() for one in pair)
    return isinstance(value, (list, tuple)) and any(map(_has_nul, value))


def encode(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Model values as column values; fields that are no columns stay away from here."""
    encoded = dict(fields)
    for name in ("tags", "metadata"):
        if name in encoded:
            value = encoded[name]
            plain = list(value) if name == "tags" else dict(value)
            encoded[name] = storable(plain, name) if value else None
    if "uid" in encoded:
        encoded["uid"] = bytes.fromhex(encoded["uid"].replace("-", ""))
    return encoded


def one(db: Executor, memory_id: int) -> Memory | None:
    """The memory with this number."""
    return next(iter(many(db, [memory_id])), None)


def many(db: Executor, memory_ids: Sequence[int]) -> list[Memory]:
    """The memories with these numbers, in that order."""
    numbers = {"ids": list(memory_ids)}
    found = memories_of(*db.run_all([routed(db, BY_IDS, numbers), routed(db, BODIES, numbers)]))
    return [found[number] for number in memory_ids if number in found]


def walk(db: Executor, wanted: Filter) -> Iterator[Memory]:
    """Every memory that passes *wanted*, by number, without holding them all."""
    conditions, values = where(wanted, db.here)
    sql, last = PAGE.format(conditions=conditions), 0
    while found := rows(db, sql, values | {"after": last, "limit": WALKED_AT_ONCE}):
        bodies = rows(db, *routed(db, BODIES, {"ids": [row[0] for row in found]}))
        yield from memories_of(found, bodies).values()
        last = found[-1][0]
