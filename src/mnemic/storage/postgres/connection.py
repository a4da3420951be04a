"""Connections to a server: a bounded pool, sessions that statements run in, and the driver's errors as ours."""

from __future__ import annotations

import functools
import random
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import GeneratorType
from typing import Any, NamedTuple, Protocol, TypeVar

import orjson
import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from mnemic.errors import Busy, Conflict, Invalid, MnemicError, StoreUnusable, Unavailable
from mnemic.storage.cancellation import is_cancelled
from mnemic.storage.engine_errors import busy, cancelled, closed, each_method
from mnemic.storage.postgres.inserts import Inserts, statement
from mnemic.storage.postgres.namespace_filter import ANYWHERE, NamespaceFilter
from mnemic.storage.postgres.pooler import ServerConnection
from mnemic.storage.postgres.row_security import EVERYWHERE, ROW_SCOPE, SET_ROW_SCOPE
from mnemic.storage.postgres.schema import SCHEMA

T = TypeVar("T")
Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]

MOST_CONNECTIONS = 16
"""Connections that one process keeps; a thread that needs one more waits."""
POOL_SECONDS = 30.0
CONNECT_SECONDS = 5
STATEMENT_SECONDS = 60
PATIENCE_SECONDS = 60.0
"""How long a lost server is waited for: a standby is promoted within that."""
STEP_SECONDS = (0.05, 0.25)
IDLE_SECONDS = 300.0
SETTINGS = {
    "search_path": SCHEMA,
    "plan_cache_mode": "force_custom_plan",
    "jit": "off",
    # What is inserted waits in a list that each search for tokens reads to its end: 4.5 ms with the default of 4 MB.
    "gin_pending_list_limit": "256kB",
    "statement_timeout": f"{STATEMENT_SECONDS}s",
    "idle_in_transaction_session_timeout": f"{2 * STATEMENT_SECONDS}s",
    "timezone": "UTC",
}
LOST = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.ReadOnlySqlTransaction,
    errors.IdleInTransactionSessionTimeout,
)
"""A server that goes down, or one that is no primary any more: another try finds the one that took over."""
REFUSALS = (
    "authentication failed",
    "does not exist",
    "could not translate host",
    "no password supplied",
    "pg_hba.conf",
    "SSL",
    "certificate",
    "invalid",
)
"""Words of the driver by which a connection was refused that will be refused again."""
AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)


class Executor(Protocol):
    """Runs statements, each in its own transaction or all in one."""

    def run(self, sql: str, values: Values = ()) -> list[Row]:
        """The rows of the answer; none for a statement that gives none."""

    def run_all(self, statements: Sequence[tuple[str, Values]]) -> list[list[Row]]:
        """The rows of each answer, in one trip to the server."""

    def changed(self, sql: str, values: Values = ()) -> int:
        """How many rows the statement changed."""

    @property
    def row_scope(self) -> str | None:
        """Which namespaces' rows the statements see; None if the session says it, or the server does not ask."""

    @property
    def here(self) -> NamespaceFilter:
        """The namespaces that the statements are about."""

    @property
    def everywhere(self) -> Executor:
        """The same for statements that must see the rows of every namespace."""


class Pool:
    """Connections to one database, taken and given back, made when they are needed. Safe between threads."""

    def __init__(self, url: str, most: int = MOST_CONNECTIONS):
        self._url = url
        self.has_choice = "," in str(conninfo_to_dict(url).get("host", ""))
        """Whether the address names several servers, of which another may take over."""
        self._free = threading.BoundedSemaphore(most)
        self._idle: list[tuple[float, ServerConnection]] = []
        self._lock = threading.Lock()
        self.is_closed = False

    @contextmanager
    def taken(self) -> Iterator[ServerConnection]:
        """A connection outside any transaction. One that is left inside of one, or broken, is not used again."""
        if self.is_closed:
            raise closed()
        if not self._free.acquire(timeout=POOL_SECONDS):
            raise busy()
        try:
            connection = self._idle_one() or connected(self._url)
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._free.release()

    def _idle_one(self) -> ServerConnection | None:
        with self._lock:
            while self._idle:
                since, connection = self._idle.pop()
                if time.monotonic() - since < IDLE_SECONDS:
                    return connection
                connection.close()
        return None

    def _give_back(self, connection: ServerConnection) -> None:
        is_idle = connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
        with self._lock:
            if is_idle and not self.is_closed:
                self._idle.append((time.monotonic(), connection))
                return
        connection.close()

    def forget(self) -> None:
        """Close the connections nobody uses: the server they lead to has gone."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def close(self) -> None:
        """Close them all; those in use when they are given back."""
        self.is_closed = True
        self.forget()


def connected(url: str, settings: Mapping[str, str] = SETTINGS) -> ServerConnection:
    """A new connection, set up as our statements need it."""
    connection = ServerConnection.connect(
        url, autocommit=True, prepare_threshold=3, connect_timeout=CONNECT_SECONDS, application_name="mnemic"
    )
    try:
        return connection.settle(settings)
    except BaseException:
        connection.close()
        raise


class Held:
    """A session over one connection, mostly inside a transaction.

    What gives no answer can wait: it is sent ahead of the next statement that does, with one wait for both. So can a
    question that is likely to follow. Each statement runs under the row scope it was given with; None leaves that to
    the session.
    """

    def __init__(
        self, connection: ServerConnection, row_scope: str | None = None, here: NamespaceFilter = ANYWHERE
    ):
        self.connection = connection
        self.row_scope = row_scope
        self.here = here
        self._queue = _Queue()

    @property
    def everywhere(self) -> Held:
        """The same session for statements that must see the rows of every namespace."""
        return self._as(self.row_scope and EVERYWHERE, self.here.everywhere)

    def about(self, here: NamespaceFilter) -> Held:
        """The same session for statements about these namespaces."""
        return self._as(self.row_scope, here)

    def _as(self, row_scope: str | None, here: NamespaceFilter) -> Held:
        held = Held(self.connection, row_scope, here)
        held._queue = self._queue
        return held

    def run(self, sql: str, values: Values = ()) -> list[Row]:
        """The rows of the answer."""
        asked = _Statement(self.row_scope, sql, values)
        known = self._queue.answer(asked)
        return _rows(self._execute(asked)) if known is None else known

    def run_all(self, statements: Sequence[tuple[str, Values]]) -> list[list[Row]]:
        """The rows of each answer, in one trip to the server."""
        for one in statements[1:]:
            self.ahead(*one)
        return [self.run(*one) for one in statements]

    def changed(self, sql: str, values: Values = ()) -> int:
        """How many rows the statement changed."""
        return self._execute(_Statement(self.row_scope, sql, values)).rowcount

    def later(self, sql: str, values: Values = ()) -> None:
        """Run a statement whose answer nobody wants, before any other that follows."""
        self._queue.add(_Statement(self.row_scope, sql, values))

    def later_scoped(self, selected: str, values: Sequence[Any]) -> None:
        """The same for what to select, by a statement that sets the row scope too."""
        if self.row_scope is not None:
            selected, values = f"{ROW_SCOPE}, {selected}", (self.row_scope, *values)
        self._queue.add(_Statement(self.row_scope, f"SELECT {selected}", values, sets_scope=True))

    def ahead(self, sql: str, values: Values) -> None:
        """Ask together with the next statement what `run` is likely to ask after it, before anything is written."""
        self._queue.ask_ahead(_Statement(self.row_scope, sql, values))

    def insert(self, table: str, row: Mapping[str, Any]) -> None:
        """Insert a row, together with others, before any statement that follows."""
        self._queue.add_row(table, row, self.row_scope)

    def _execute(self, last: _Statement) -> psycopg.Cursor[Row]:
        is_idle = self.connection.info.transaction_status is psycopg.pq.TransactionStatus.IDLE
        statements = list(self._queue.take(last, is_idle=is_idle))
        if len(statements) == 1:
            return self.connection.execute(last.sql, last.values)
        # A pooler gives each statement outside of a transaction another session.
        if is_idle and self.connection.is_pooled and not statements[0].is_control:
            with self.connection.transaction():
                return self._pipelined(statements)
        return self._pipelined(statements)

    def _pipelined(self, statements: Sequence[_Statement]) -> psycopg.Cursor[Row]:
        cursors = self.connection.execute_all((one.sql, one.values) for one in statements)
        self._queue.keep_answers(zip(statements, cursors, strict=True))
        return cursors[-1]


def _rows(cursor: psycopg.Cursor[Row]) -> list[Row]:
    # To ask for the description would make an object of each column.
    return cursor.fetchall() if cursor.pgresult and cursor.pgresult.nfields else []


class _Statement(NamedTuple):
    """A statement, its parameters, and the row scope it runs under."""

    row_scope: str | None
    sql: str
    values: Values
    sets_scope: bool = False

    @property
    def is_control(self) -> bool:
        """Whether it begins or ends a transaction."""
        return self.sql.lstrip().startswith(("BEGIN", "COMMIT", "ROLLBACK"))


class _Queue:
    """What waits for the next statement, answers to what was asked ahead, and the row scope in force."""

    def __init__(self) -> None:
        self._statements: list[_Statement] = []
        self._inserts = Inserts()
        self._insert_scope: str | None = None
        self._ahead: list[_Statement] = []
        self._answers: list[tuple[_Statement, list[Row]]] = []
        self._in_force: str | None = None

    def add(self, statement: _Statement) -> None:
        """Let *statement* wait."""
        self._forget_answers()
        self._statements.append(statement)

    def add_row(self, table: str, row: Mapping[str, Any], row_scope: str | None) -> None:
        """Let *row* wait to be inserted into *table*."""
        self._forget_answers()
        self._inserts.add(table, row)
        self._insert_scope = row_scope

    def ask_ahead(self, question: _Statement) -> None:
        """Let *question* wait; its answer is kept until something is written."""
        self._ahead.append(question)

    def answer(self, question: _Statement) -> list[Row] | None:
        """The answer to *question* if it was asked ahead."""
        return next((rows for asked, rows in self._answers if asked == question), None)

    def _forget_answers(self) -> None:
        self._ahead, self._answers = [], []

    def keep_answers(self, answered: Iterable[tuple[_Statement, psycopg.Cursor[Row]]]) -> None:
        """Keep the answers to what was asked ahead."""
        if self._ahead:
            ahead, self._ahead = self._ahead, []
            self._answers = [(one, _rows(cursor)) for one, cursor in answered if one in ahead]

    def take(self, last: _Statement, *, is_idle: bool) -> Iterator[_Statement]:
        """What waits, in order, and *last*, each under its row scope. It ends with the transaction."""
        waiting, self._statements = self._statements, []
        self._answers = []
        if is_idle:
            self._in_force = None
        for one in (*waiting, *self._insertion(), *self._ahead, last):
            if one.is_control:
                self._in_force = None
            elif one.row_scope is not None and one.row_scope != self._in_force:
                self._in_force = one.row_scope
                if not one.sets_scope:
                    yield _Statement(None, SET_ROW_SCOPE, (one.row_scope,))
            yield one

    def _insertion(self) -> Iterator[_Statement]:
        """The rows in one statement, since none of them is read or changed by it."""
        if rows := self._inserts.take():
            values = {table: orjson.dumps(some, default=dict).decode() for table, some in rows.items()}
            yield _Statement(self._insert_scope, statement(tuple(rows)), values)


class Unanswered:
    """A session that answers nothing, and notes what it was asked."""

    row_scope: str | None = None

    def __init__(self, here: NamespaceFilter) -> None:
        self.here = here
        self.asked: list[tuple[str, Values]] = []

    @property
    def everywhere(self) -> Unanswered:
        """Itself."""
        return self

    def run(self, sql: str, values: Values = ()) -> list[Row]:
        """No rows."""
        self.asked.append((sql, values))
        return []

    def run_all(self, statements: Sequence[tuple[str, Values]]) -> list[list[Row]]:
        """No rows."""
        return [self.run(*one) for one in statements]

    def changed(self, sql: str, values: Values = ()) -> int:
        """None."""
        return 0


class Pooled:
    """A session that takes a connection for each statement. Reads are tried again while the server is away."""

    def __init__(self, pool: Pool, row_scope: str | None = None, here: NamespaceFilter = ANYWHERE):
        self._pool = pool
        self.row_scope = row_scope
        self.here = here

    @property
    def everywhere(self) -> Pooled:
        """The same for statements that must see the rows of every namespace."""
        return Pooled(self._pool, self.row_scope and EVERYWHERE, self.here.everywhere)

    def run(self, sql: str, values: Values = ()) -> list[Row]:
        """The rows of the answer."""

        return self.run_all([(sql, values)])[0]

    def run_all(self, statements: Sequence[tuple[str, Values]]) -> list[list[Row]]:
        """The rows of each answer, over one connection in one trip to the server."""

        def ask() -> list[list[Row]]:
            with self._pool.taken() as connection:
                return Held(connection, self.row_scope, self.here).run_all(statements)

        return patiently(self._pool, ask)

    def changed(self, sql: str, values: Values = ()) -> int:
        """How many rows the statement changed. It is not tried again."""
        with self._pool.taken() as connection:
            return Held(connection, self.row_scope).changed(sql, values)


def patiently(pool: Pool, work: Callable[[], T]) -> T:
    """What *work* gives, tried again while the server is away or wants it to be: for what may be done twice."""
    began = time.monotonic()
    while True:
        try:
            return work()
        except psycopg.Error as error:
            is_standby = isinstance(error, errors.ReadOnlySqlTransaction) and not pool.has_choice
            if is_standby or not is_passing(error) or time.monotonic() - began > PATIENCE_SECONDS:
                raise
            if not isinstance(error, AGAIN):
                pool.forget()
                if is_cancelled():
                    raise cancelled() from None
            time.sleep(
                random.uniform(*STEP_SECONDS) if not isinstance(error, AGAIN) else random.random() / 100
            )


def is_passing(error: psycopg.Error) -> bool:
    """Whether another try may succeed: the connection was lost, or two transactions were in each other's way."""
    if isinstance(error, (*LOST, *AGAIN)):
        return True
    # A connection that breaks has no code. One that was never made says why: a wrong password stays wrong.
    return type(error) is psycopg.OperationalError and error.sqlstate is None and not _is_refusal(str(error))


def _is_refusal(message: str) -> bool:
    return any(one in message for one in REFUSALS)


@contextmanager
def our_errors(where: str) -> Iterator[None]:
    """Raise our errors for the driver's, naming the database as *where*."""
    try:
        yield
    except psycopg.Error as error:
        raise ours(error, where) from None


def ours(error: psycopg.Error, where: str) -> Exception:
    """Our error for the driver's, naming the database as *where*; any other error stays as it is."""
    match error:
        case errors.UniqueViolation() | errors.CheckViolation() | errors.NotNullViolation():
            return Conflict("That is there already, or it points at something that is not.")
        case errors.QueryCanceled():
            return Busy(
                f"{where}: a statement took longer than {STATEMENT_SECONDS} s. Nothing was written; try again."
            )
        case errors.LockNotAvailable() | errors.SerializationFailure() | errors.DeadlockDetected():
            return busy()
        case errors.InsufficientPrivilege():
            return StoreUnusable(
                f"{where}: this role lacks a right: {first_line(error)}. Grant it, or use another role."
            )
        case errors.ReadOnlySqlTransaction():
            return StoreUnusable(f"{where} is a standby that can only be read. Name the primary with --db.")
        case errors.DiskFull() | errors.OutOfMemory():
            return StoreUnusable(f"{where}: the server is out of room. The last change was not kept.")
        case errors.UndefinedTable() | errors.InvalidSchemaName():
            return StoreUnusable(
                f"{where}: a table of the memory is missing. Restore a backup of the database."
            )
        case psycopg.DataError() if "NUL" in str(error) or "\\u0000" in str(error):
            return Invalid("text: contains a NUL character, which cannot be stored")
        case psycopg.OperationalError():
            return unreachable(error, where)
    return error


def unreachable(error: psycopg.Error, where: str) -> MnemicError:
    """Why a server cannot be used, in one sentence that says what to do."""
    message = str(error)
    if "invalid integer value" in message:
        return not_an_address()
    if "authentication failed" in message or "no password supplied" in message:
        return StoreUnusable(
            f"{where}: the server refuses this user or password. Check the URL given with --db."
        )
    if "database" in message and "does not exist" in message:
        return StoreUnusable(f"{where}: there is no such database on the server. Create it with `createdb`.")
    if "role" in message and "does not exist" in message:
        return StoreUnusable(f"{where}: there is no such user on the server. Create it with `createuser`.")
    if "pg_hba.conf" in message:
        return StoreUnusable(
            f"{where}: the server does not let this user in from here. Add a line to its pg_hba.conf."
        )
    if "SSL" in message or "certificate" in message:
        reason = message.rpartition("failed: ")[2].strip()
        return StoreUnusable(f"{where}: {reason}. Check sslmode and the certificates named by the URL.")
    if "too many" in message or "connection slots" in message:
        return Unavailable(
            f"{where}: the server has no connection left. Raise its max_connections, or try later."
        )
    return Unavailable(
        f"{where}: the server does not answer. Check the address given with --db and that it runs."
    )


def not_an_address() -> MnemicError:
    """The refusal of a URL that cannot be understood."""
    return Invalid("db: not a PostgreSQL address; write postgresql://user@host:5432/database", "db")


def first_line(error: psycopg.Error) -> str:
    """What the server said, without its details."""
    return error.diag.message_primary or str(error).splitlines()[0]


def location(url: str) -> str:
    """The server and database of *url*, without a password."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        raise not_an_address() from None
    hosts = str(parts.get("host") or "localhost")
    host = "localhost" if hosts.startswith("/") else hosts
    return f"{host}/{parts.get('dbname') or parts.get('user') or ''}"


def address_name(url: str) -> str:
    """What tells the database at *url* from others: an address without user and password."""
    location(url)
    parts = conninfo_to_dict(url)
    database = parts.get("dbname") or parts.get("user") or ""
    return f"postgresql://{parts.get('host') or 'localhost'}:{parts.get('port') or 5432}/{database}"


def in_our_words(*shared: type) -> Callable[[type[T]], type[T]]:
    """A reader whose public methods raise our errors for the driver's, and Cancelled if its caller has left.

    So do those it has from the *shared* classes, which know no driver.
    """
    return functools.partial(each_method, shared, _translated)


def _translated(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_cancelled():
            raise cancelled()
        try:
            answer = method(self, *args, **kwargs)
        except psycopg.Error as error:
            if self.may_retry(error):
                raise
            raise ours(error, self._store.location) from None
        return _walk(self, answer) if isinstance(answer, GeneratorType) else answer

    return call


def _walk(reader: Any, answer: Iterator[Any]) -> Iterator[Any]:
    with our_errors(reader._store.location):
        yield from answer
