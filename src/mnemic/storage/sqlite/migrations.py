"""Bringing a file up to the present schema: numbered steps, each in one transaction, after a backup."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import apsw

from mnemic.storage.base import Progress
from mnemic.storage.files import put_in_place
from mnemic.storage.sqlite import chosen_names, fts, history, journal, minhash
from mnemic.storage.sqlite.connection import WRITING_CACHE, connect, newer, prepare_file
from mnemic.storage.sqlite.schema import APPLICATION_ID, HISTORY_SINCE, MIGRATIONS, REINDEXED_SINCE

FILLED: Mapping[int, Callable[[apsw.Connection], None]] = {7: chosen_names.fill}
"""What fills in columns that SQL alone cannot tell, by the format that brings them."""


def to_write(path: Path, *, durable: bool) -> apsw.Connection:
    """The database at *path*, created if missing and migrated, through a connection that writes."""
    prepare_file(path)
    connection = connect(path, durable=durable, cache=WRITING_CACHE)
    try:
        migrate(connection, path)
        journal.last(connection)  # reads the tables' definitions, so that damage there is noticed now
    except BaseException:
        connection.close()
        raise
    return connection


def empty_database() -> apsw.Connection:
    """A database in memory with nothing in it."""
    connection = connect(None, durable=False)
    migrate(connection, None)
    return connection


def version_of(connection: apsw.Connection) -> int:
    """How many migrations the file has been through."""
    return int(connection.pragma("user_version"))


def migrate(connection: apsw.Connection, path: Path | None, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Apply the migrations *path* has not seen. A file that holds something is copied beside itself first."""
    found = version_of(connection)
    if path and found > len(migrations):
        raise newer(path, found)
    if found == len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while we waited for the lock.
        found = version_of(connection)
        if path and 0 < found < len(migrations):
            _back_up_beside(path, found)
        for step in range(found, len(migrations)):
            _apply(connection, step + 1, migrations[step])
        if found < REINDEXED_SINCE:
            fts.rebuild(connection)
            minhash.rebuild(connection)
        if 0 < found < HISTORY_SINCE:
            history.fill(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _back_up_beside(path: Path, version: int) -> None:
    # The connection that migrates is in a transaction already. Nobody else can write meanwhile.
    with closing(apsw.Connection(str(path))) as reading:
        back_up(reading, path.with_name(f"{path.name}.v{version}.bak"))


def _apply(connection: apsw.Connection, version: int, script: str) -> None:
    for _ in connection.execute(script):
        pass
    if version in FILLED:
        FILLED[version](connection)
    connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("user_version", version)


def back_up(connection: apsw.Connection, target: Path, progress: Progress | None = None) -> None:
    """A copy of the whole database in *target*, replacing an older one only when complete."""
    handle, name = tempfile.mkstemp(".part", f".{target.name}.", target.parent)
    os.close(handle)
    part = Path(name)
    # Reading keeps what is copied as it is; else the copy would start over with every write of someone else.
    connection.execute("BEGIN")
    try:
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        _copy(connection, part, progress)
        put_in_place(part, target)
    finally:
        connection.execute("ROLLBACK")
        part.unlink(missing_ok=True)


def _copy(connection: apsw.Connection, part: Path, progress: Progress | None) -> None:
    with closing(apsw.Connection(str(part))) as copy, copy.backup("main", connection, "main") as backup:
        while not backup.done:
            backup.step(1000)
            if progress:
                progress(backup.page_count - backup.remaining, backup.page_count)
