"""Opening a database file safely, and turning the driver's errors into ours."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import GeneratorType
from typing import Any, TypeVar

import apsw

from mnemic.errors import Conflict, ForeignFile, MnemicError, StoreUnusable
from mnemic.storage.cancellation import is_cancelled
from mnemic.storage.engine_errors import busy, cancelled, closed, each_method
from mnemic.storage.files import HELD, make_folder
from mnemic.storage.sqlite.schema import APPLICATION_ID, MIGRATIONS
from mnemic.storage.sqlite.write_lock import patient

T = TypeVar("T")

CANCEL_STEPS = 100_000
"""After so many steps of a statement, about a millisecond, SQLite asks whether its caller is still there."""
MEND = (
    "Restore a backup with `mnemic restore --from FILE`, or save what can be read with `mnemic export --format jsonl` "
    "and import it into a new database."
)
_HEADER = 100
_FIRST_PAGE = 4096
_JOURNAL = bytes.fromhex("d9d505f920a163d7")

READING_CACHE = 16_000
"""Kilobytes of pages cached for reading."""
WRITING_CACHE = 2_000
"""At the end of many a transaction SQLite walks through all it keeps: with the larger one a twelfth of a write."""

PRAGMAS = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = {synchronous};
PRAGMA foreign_keys = ON;
PRAGMA secure_delete = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -{cache};
PRAGMA journal_size_limit = 67108864;
"""
READING_PRAGMAS = f"""
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -{READING_CACHE};
"""


@contextmanager
def our_errors(where: str) -> Iterator[None]:
    """Raise our errors for the driver's, naming the database as *where*."""
    try:
        yield
    except apsw.Error as error:
        raise ours(error, where) from None


def ours(error: apsw.Error, where: str) -> Exception:
    """Our error for the driver's, naming the database as *where*; any other error stays as it is."""
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return busy()
        case apsw.InterruptError():
            return cancelled()
        case apsw.NotADBError() | apsw.CorruptError():
            return StoreUnusable(f"{where} is damaged. It was not changed. {MEND}")
        case apsw.ReadOnlyError():
            return StoreUnusable(
                f"{where} cannot be written: check the permissions of the file and its folder, and the mount."
            )
        case apsw.FullError() | apsw.IOError():
            return StoreUnusable(
                f"{where}: the disk is full or failing. The last change was not kept. Free some space."
            )
        case apsw.CantOpenError():
            return StoreUnusable(
                f"{where} cannot be opened: check that its folder exists and may be written."
            )
        case apsw.ConnectionClosedError():
            return closed()
        case apsw.ConstraintError():
            return Conflict("That is there already, or it points at something that is not.")
    return error


def in_our_words(*shared: type) -> Callable[[type[T]], type[T]]:
    """A reader whose public methods raise our errors for the driver's, and Cancelled if its caller has left.

    So do those it has from the *shared* classes, which know no driver.
    """
    return functools.partial(each_method, shared, _cancellable)


def translated(method: Callable[..., Any]) -> Callable[..., Any]:
    """*method* of a reader, raising our errors for the driver's."""

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        # Not `with our_errors`: ten calls a write would pay 4 µs each for something that hardly ever happens.
        try:
            answer = method(self, *args, **kwargs)
        except apsw.Error as error:
            raise ours(error, self._store.location) from None
        return _translated_walk(self, answer) if isinstance(answer, GeneratorType) else answer

    return call


def _cancellable(method: Callable[..., Any]) -> Callable[..., Any]:
    """*method* of a reader, translated, which is not begun for a caller who has left."""
    known = translated(method)

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_cancelled():
            raise cancelled()
        return known(self, *args, **kwargs)

    return call


def _translated_walk(reader: Any, answers: Iterator[Any]) -> Iterator[Any]:
    with our_errors(reader._store.location):
        yield from answers


def connect(path: Path | None, *, durable: bool, cache: int = READING_CACHE) -> apsw.Connection:
    """A connection with our settings and this page cache in kilobytes; None is a database in memory."""
    connection = apsw.Connection(":memory:" if path is None else str(path), statementcachesize=200)
    connection.set_busy_handler(patient())
    connection.set_progress_handler(is_cancelled, CANCEL_STEPS)
    # Our indexes have conditions. SQLite would plan a query anew for every value bound to it, to see whether
    # the value meets one: 25 of the 30 µs that looking for an equal text took.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    try:
        _settle(connection, PRAGMAS.format(synchronous="FULL" if durable else "NORMAL", cache=cache))
    except BaseException:
        connection.close()
        raise
    return connection


def _settle(connection: apsw.Connection, pragmas: str) -> None:
    """Run *pragmas*. SQLite does not wait when two make a new file keep a log at once: one has to try again."""
    wait = patient()
    for attempt in count():
        try:
            for _ in connection.execute(pragmas):
                pass
            return
        except apsw.BusyError:
            if not wait(attempt):
                raise


def connect_to_read(path: Path, *, is_still: bool) -> apsw.Connection:
    """A connection that cannot write.

    Of a database that *is_still*, nothing is written beside it either; it must not change while it is read.
    """
    address = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_still else ''}"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(address, flags=flags, statementcachesize=200)
    connection.set_busy_handler(patient())
    connection.set_progress_handler(is_cancelled, CANCEL_STEPS)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    for _ in connection.execute(READING_PRAGMAS):
        pass
    return connection


def close_in_time(connection: apsw.Connection) -> None:
    """Close *connection* when the thread that is using it just now lets it go; one that never does keeps it."""
    wait = patient()
    for attempt in count():
        try:
            connection.close()
            return
        except apsw.ThreadingViolationError:
            if not wait(attempt):
                return


@contextmanager
def one_moment(connection: apsw.Connection) -> Iterator[None]:
    """Everything read in the block comes from the same moment."""
    if connection.in_transaction:
        yield
        return
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def prepare_file(path: Path) -> None:
    """Make sure *path* may be opened: created for its owner alone if new, refused if it is not ours or cut short."""
    try:
        make_folder(path.parent)
        if not path.exists():
            _refuse_orphaned_log(path)
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
            return
    except OSError as error:
        raise StoreUnusable(
            f"{path.name} cannot be opened: {error.strerror}. `mnemic doctor` shows where it is; --db or MNEMIC_DB"
            " name another place."
        ) from None
    examine(path)


def examine(path: Path) -> None:
    """Refuse the file at *path* if it is not ours or cut short."""
    try:
        if path.is_dir():
            raise StoreUnusable(f"{path.name or path} is a folder, not a database file.")
        if path.exists() and not path.is_file():  # to open a pipe would be to wait for whoever writes into it
            raise StoreUnusable(f"{path.name} is no file: a device, a pipe or a socket.")
        had_log = has_log(path)
        header = HELD.beginning(path, _HEADER)
        size = path.stat().st_size
    except OSError as error:
        raise StoreUnusable(f"{path.name} cannot be opened: {error.strerror}.") from None
    if not header or (size <= _FIRST_PAGE and _was_being_made(path)):
        _refuse_orphaned_log(path)
        return
    _refuse_foreign(path, header, size, has_log=had_log or has_log(path))


def _refuse_orphaned_log(path: Path) -> None:
    """SQLite would throw away a log whose database is empty or gone; it may hold acknowledged writes."""
    log = _log_of(path)
    # The log is looked at first: another process may be making both just now, and it makes the database first.
    if _size(log) and not _size(path):
        raise StoreUnusable(
            f"{path.name} is empty or missing but its log {log.name} is not: the database seems to have been cut or "
            "moved. Nothing was changed. Put the database back beside its log, or restore a backup with "
            "`mnemic restore --from FILE`."
        )


def _was_being_made(path: Path) -> bool:
    """Whether a new file was left half made: its rollback journal says that there was nothing before."""
    try:
        with path.with_name(path.name + "-journal").open("rb") as journal:
            start = journal.read(20)
    except OSError:
        return False
    return start.startswith(_JOURNAL) and not any(start[16:])


def has_log(path: Path) -> bool:
    """Whether there are changes that may not stand in the database file yet."""
    return _size(_log_of(path)) > 0


def _log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _refuse_foreign(path: Path, header: bytes, size: int, *, has_log: bool) -> None:
    if not header.startswith(b"SQLite format 3\0") or len(header) < _HEADER:
        raise StoreUnusable(
            f"{path.name} is not a Mnemic database, or is damaged at its beginning. It was not changed. "
            "Choose another file with --db, or restore a backup with `mnemic restore --from FILE`."
        )
    page = int.from_bytes(header[16:18], "big")
    pages = int.from_bytes(header[28:32], "big")
    whole = pages * (65536 if page == 1 else page)
    is_current = header[24:28] == header[92:96]
    # Whoever moves the log into the database writes the new header before the new pages. If they are at it
    # or were stopped, the pages stand in the log, and SQLite knows what to do.
    if is_current and whole > size and not has_log:
        raise StoreUnusable(
            f"{path.name} is cut short: {size} bytes of {whole}. It was not changed. "
            "Restore a backup with `mnemic restore --from FILE`."
        )
    application = int.from_bytes(header[68:72], "big")
    version = int.from_bytes(header[60:64], "big")
    if application not in (0, APPLICATION_ID) or (application == 0 and (pages > 1 or version)):
        raise ForeignFile(
            f"{path.name} belongs to another program. It was not changed. Choose another with --db."
        )
    if version > len(MIGRATIONS):
        raise newer(path, version)


def newer(path: Path, version: int) -> MnemicError:
    """The refusal of a file that a later version of this program has written."""
    return StoreUnusable(
        f"{path.name} was written by a newer Mnemic (format {version}, this one reads up to {len(MIGRATIONS)}). "
        "It was not changed. Upgrade Mnemic to open it."
    )
