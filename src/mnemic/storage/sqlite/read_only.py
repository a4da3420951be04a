"""Databases that this process may read but not write: read-only mounts, backups, files of somebody else."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from mnemic.errors import MnemicError, StoreUnusable
from mnemic.storage.sqlite.connection import connect_to_read, examine, has_log, newer
from mnemic.storage.sqlite.migrations import version_of
from mnemic.storage.sqlite.schema import MIGRATIONS

NOT_PERMITTED = "check the permissions of the file and its folder"
MOUNTED = "it is on a file system that is mounted read-only"
NO_ROOM = "the disk is full or failing. Free some space"


def is_read_only(path: Path) -> bool:
    """Whether there is a file at *path* that cannot be written; SQLite also needs to write beside it."""
    return path.is_file() and not (_may_write(path) and _may_write(path.parent))


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def reason(path: Path) -> str:
    """Why a file that `is_read_only` cannot be written."""
    is_mounted = hasattr(os, "statvfs") and os.statvfs(path).f_flag & os.ST_RDONLY
    return MOUNTED if is_mounted else NOT_PERMITTED


def opened(path: Path) -> apsw.Connection:
    """A connection to *path* that cannot write, and leaves nothing beside it.

    A database without a log is read as if it could not change: SQLite would have to write beside it otherwise.
    """
    examine(path)
    connection = connect_to_read(path, is_still=not has_log(path))
    try:
        _refuse_other_format(path, version_of(connection))
    except BaseException:
        connection.close()
        raise
    return connection


def refusal(where: str, why: str) -> MnemicError:
    """What a write is answered with."""
    return StoreUnusable(f"{where} cannot be written: {why}.")


def _refuse_other_format(path: Path, version: int) -> None:
    if version > len(MIGRATIONS):
        raise newer(path, version)
    if version < len(MIGRATIONS):
        raise StoreUnusable(
            f"{path.name} was written by an older Mnemic (format {version}, this one reads {len(MIGRATIONS)}) and "
            "cannot be written, so it cannot be brought up to date. Copy it to a folder that can be written."
        )
