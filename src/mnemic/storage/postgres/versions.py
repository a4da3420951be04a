"""Rows of `version` and `alias`: who changed what last, and the other uids of memories."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from mnemic.model.filter import AliasFilter
from mnemic.model.version import Stamp, Version
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.rows import routed, rows

VERSIONS = """
SELECT v.number, v.stamps FROM version v
WHERE {here[v]} AND v.subject = %(subject)s AND v.number = ANY(%(numbers)s::bigint[])
ORDER BY v.namespace_id
"""
PUT_VERSION = """
INSERT INTO version (namespace_id, subject, number, stamps)
SELECT coalesce((SELECT t.namespace_id FROM {table} t WHERE {here[t]} AND t.id = %(number)s), 0),
  %(subject)s, %(number)s, %(stamps)s
ON CONFLICT (namespace_id, subject, number) DO UPDATE SET stamps = excluded.stamps
"""
MOVE_SESSION = """
UPDATE version SET namespace_id = %(to)s
WHERE namespace_id = %(from)s AND subject = 'session' AND number = %(id)s
"""
DROP_VERSION = """
DELETE FROM version WHERE subject = %s AND number = %s
"""
ALIASES = """
SELECT uid, memory_id FROM alias WHERE {conditions} ORDER BY uid
"""
ALIAS_CONDITIONS = {
    "uids": "uid = ANY(%(uids)s::text[])",
    "memory_ids": "memory_id = ANY(%(memory_ids)s::bigint[])",
}
PURGED = "NOT EXISTS (SELECT 1 FROM memory m WHERE m.id = alias.memory_id)"
PUT_ALIAS = """
INSERT INTO alias (uid, memory_id) VALUES (%s, %s) ON CONFLICT (uid) DO UPDATE SET memory_id = excluded.memory_id
"""


def put(db: Executor, subject: str, number: int, version: Version) -> None:
    """Keep the version of one of these things."""
    values = {"subject": subject, "number": number, "stamps": encode(version)}
    db.run(*routed(db, PUT_VERSION, values, table=subject))


def versions(db: Executor, subject: str, numbers: Sequence[int]) -> dict[int, Version]:
    """The versions kept of these things, by number."""
    found = rows(db, *routed(db, VERSIONS, {"subject": subject, "numbers": list(numbers)}))
    return {number: decode(stamps) for number, stamps in found}


def aliases(db: Executor, wanted: AliasFilter) -> list[tuple[str, int]]:
    """The aliases that pass *wanted*."""
    given = {name: list(value) for name in ALIAS_CONDITIONS if (value := getattr(wanted, name)) is not None}
    conditions = [ALIAS_CONDITIONS[name] for name in given] + [PURGED] * wanted.is_purged
    found = rows(db, ALIASES.format(conditions=" AND ".join(conditions) or "TRUE"), given)
    return [(uid, number) for uid, number in found]


def encode(version: Version) -> str:
    """*version* as its column holds it."""
    stamps = {key: stamp.entry for key, stamp in version.stamps.items()}
    content = {"stamps": stamps, **({"order": version.order} if version.order else {})}
    return orjson.dumps(content).decode()


def decode(stamps: str) -> Version:
    """The column `stamps` as a Version."""
    content = orjson.loads(stamps)
    return Version(
        {key: Stamp.of(stamp) for key, stamp in content["stamps"].items()}, tuple(content.get("order", ()))
    )
