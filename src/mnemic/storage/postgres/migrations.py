"""Bringing a database up to the present schema: numbered steps in one transaction, one process at a time."""

from __future__ import annotations

import psycopg

from mnemic.errors import StoreUnusable
from mnemic.storage.postgres.connection import Row, first_line
from mnemic.storage.postgres.owner import as_owner
from mnemic.storage.postgres.row_security import EVERYWHERE, SET_ROW_SCOPE
from mnemic.storage.postgres.schema import MIGRATIONS, PAST_SCHEMA, SCHEMA
from mnemic.storage.tables import COPYING

OLDEST_SERVER = 16
LOCK = """
SELECT pg_advisory_xact_lock(hashtextextended('mnemic migrations', 0))
"""
MAKE = f"""
CREATE SCHEMA IF NOT EXISTS {SCHEMA};
CREATE SCHEMA IF NOT EXISTS {PAST_SCHEMA};
CREATE TABLE IF NOT EXISTS {SCHEMA}.meta (key text COLLATE "C" PRIMARY KEY, value text);
"""
HAS_META = f"""
SELECT to_regclass('{SCHEMA}.meta') IS NOT NULL
"""
FORMAT = f"""
SELECT value::integer FROM {SCHEMA}.meta WHERE key = 'format'
"""
SET_FORMAT = f"""
INSERT INTO {SCHEMA}.meta (key, value) VALUES ('format', %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""
ORIGIN = f"""
SELECT value FROM {SCHEMA}.meta WHERE key = '{COPYING}'
"""
# A dump brings the transaction numbers of the server it was made on; here they would seem never to be settled.
NEWEST = f"""
SELECT xid::text FROM ((SELECT xid FROM {SCHEMA}.journal ORDER BY xid DESC LIMIT 1)
  UNION ALL (SELECT xid FROM {SCHEMA}.passage ORDER BY xid DESC LIMIT 1)) newest ORDER BY xid DESC LIMIT 1
"""
# Asked after the other, so that nothing that has been committed since counts.
IS_FOREIGN = """
SELECT %s::text::xid8 >= pg_snapshot_xmax(pg_current_snapshot())
"""
ADOPT = f"""
UPDATE {SCHEMA}.journal SET xid = '3' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot());
UPDATE {SCHEMA}.passage SET xid = '3' WHERE xid >= pg_snapshot_xmax(pg_current_snapshot());
"""


def version_of(connection: psycopg.Connection[Row]) -> int:
    """How many migrations the database has been through."""
    [[is_there]] = connection.execute(HAS_META).fetchall()
    found = connection.execute(FORMAT).fetchone() if is_there else None
    return int(found[0]) if found else 0


def unfinished_copy(connection: psycopg.Connection[Row]) -> str | None:
    """The place of which the database is an unfinished copy; None if it is a whole store."""
    found = connection.execute(ORIGIN).fetchone()
    return str(found[0]) if found else None


def refuse_unfinished_copy(connection: psycopg.Connection[Row], where: str) -> None:
    """StoreUnusable if the database is the copy of another that was interrupted."""
    origin = unfinished_copy(connection)
    if origin is not None:
        raise StoreUnusable(
            f"{where} is an unfinished copy of {origin}. Run `mnemic copy` from there again to finish it."
        )


def migrate(connection: psycopg.Connection[Row], where: str) -> None:
    """Apply the migrations the database has not seen; StoreUnusable if it or its server is none of ours."""
    if connection.info.server_version // 10_000 < OLDEST_SERVER:
        raise StoreUnusable(
            f"{where}: the server is PostgreSQL {connection.info.server_version // 10_000}; "
            f"{OLDEST_SERVER} or later is needed. Upgrade the server."
        )
    found = version_of(connection)
    if found > len(MIGRATIONS):
        raise StoreUnusable(
            f"{where} was written by a newer Mnemic (format {found}, this one reads up to {len(MIGRATIONS)}). "
            "It was not changed. Upgrade Mnemic to open it."
        )
    if found < len(MIGRATIONS):
        _apply(connection, where)
    else:
        with connection.transaction():
            connection.execute(SET_ROW_SCOPE, (EVERYWHERE,))
            newest = connection.execute(NEWEST).fetchone()
            if newest and connection.execute(IS_FOREIGN, newest).fetchall() == [(True,)]:
                connection.execute(LOCK)
                connection.execute(ADOPT)


def _apply(connection: psycopg.Connection[Row], where: str) -> None:
    if connection.execute("SELECT pg_is_in_recovery()").fetchall() == [(True,)]:
        raise StoreUnusable(f"{where} is a standby of an older format. Open the primary once to upgrade it.")
    try:
        with as_owner(connection):
            connection.execute(LOCK)
            connection.execute(SET_ROW_SCOPE, (EVERYWHERE,))
            connection.execute(MAKE)
            # Another process may have migrated while we waited for the lock.
            for step in range(version_of(connection), len(MIGRATIONS)):
                connection.execute(MIGRATIONS[step].encode())
                connection.execute(SET_FORMAT, (str(step + 1),))
    except psycopg.errors.InsufficientPrivilege as error:
        raise StoreUnusable(
            f"{where}: this role lacks a right to make or upgrade the tables ({first_line(error)}). "
            "Open it once as the owner of the database."
        ) from None
