"""Rows of `version` and `alias`: who changed what last, and the other uids of memories."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import orjson

from mnemic.model.filter import AliasFilter
from mnemic.model.version import Stamp, Version
from mnemic.storage.sqlite.memories import as_json
from mnemic.storage.sqlite.rows import rows

VERSIONS = """
SELECT number, stamps FROM version WHERE subject = ? AND number IN (SELECT value FROM json_each(?))
"""
PUT_VERSION = """
INSERT INTO version (subject, number, stamps) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET stamps = excluded.stamps
"""
DROP_VERSION = """
DELETE FROM version WHERE subject = ? AND number = ?
"""
ALIASES = """
SELECT uid, memory_id FROM alias WHERE {conditions} ORDER BY uid
"""
ALIAS_CONDITIONS = {
    "uids": "uid IN (SELECT value FROM json_each(:uids))",
    "memory_ids": "memory_id IN (SELECT value FROM json_each(:memory_ids))",
}
PURGED = "memory_id NOT IN (SELECT id FROM memory)"
PUT_ALIAS = """
INSERT INTO alias (uid, memory_id) VALUES (?, ?) ON CONFLICT DO UPDATE SET memory_id = excluded.memory_id
"""


def versions(connection: apsw.Connection, subject: str, numbers: Sequence[int]) -> dict[int, Version]:
    """The versions kept of these things, by number."""
    found = rows(connection, VERSIONS, (subject, as_json(list(numbers))))
    return {number: decode(stamps) for number, stamps in found}


def aliases(connection: apsw.Connection, wanted: AliasFilter) -> list[tuple[str, int]]:
    """The aliases that pass *wanted*."""
    given = {
        name: as_json(value) for name in ALIAS_CONDITIONS if (value := getattr(wanted, name)) is not None
    }
    conditions = [ALIAS_CONDITIONS[name] for name in given] + [PURGED] * wanted.is_purged
    found = rows(connection, ALIASES.format(conditions=" AND ".join(conditions) or "TRUE"), given)
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
