"""Connections that may lead through a pooler, as pgbouncer in transaction mode: each transaction on another session.

What is set for a session, or prepared in it, is then gone with the next transaction. So the settings are part of each
transaction, a single statement has a transaction of its own, and nothing is prepared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Self

import psycopg
from psycopg import pq

SESSION = """
SELECT pg_backend_pid()
"""


class ServerConnection(psycopg.Connection[tuple[Any, ...]]):
    """A connection whose statements run under our settings, whoever the session belongs to."""

    _local: Sequence[str] = ()
    """What sets the settings for a transaction; nothing if the session is ours and has them.

    Unlike a SELECT, it does not yet fix what a transaction sees.
    """

    def settle(self, settings: Mapping[str, str]) -> Self:
        """Set up the session, or each transaction if the session is a pooler's."""
        # A pooler tells its clients a number of its own for the session.
        [[session]] = super().execute(SESSION).fetchall()
        if session == self.info.backend_pid:
            super().execute(_assignments(settings))
        else:
            self.prepare_threshold = None
            self._local = [f"SET LOCAL {name} = '{value}'" for name, value in settings.items()]
        return self

    @property
    def is_pooled(self) -> bool:
        """Whether the session is a pooler's."""
        return bool(self._local)

    def execute(self, query: Any, params: Any = None, **how: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run a statement; BEGIN begins a transaction under our settings."""
        if not self._local:
            return super().execute(query, params, **how)
        if isinstance(query, str) and query.lstrip().startswith("BEGIN"):
            begun = super().execute(query, params, **how)
            self._set_locally()
            return begun
        if self.info.transaction_status is not pq.TransactionStatus.IDLE:
            return super().execute(query, params, **how)
        with self.transaction():
            return super().execute(query, params, **how)

    def execute_all(self, statements: Iterable[tuple[Any, Any]]) -> list[psycopg.Cursor[tuple[Any, ...]]]:
        """Run statements with their parameters in one pipeline; their cursors."""
        with self.pipeline() as pipeline:
            if self.is_pooled:
                return [self.execute(*one) for one in statements]
            with _sent_at_once(pipeline):
                return [self.execute(*one) for one in statements]

    @contextmanager
    def transaction(self, *names: Any, **how: Any) -> Iterator[psycopg.Transaction]:
        """A transaction, or a savepoint inside of one, under our settings."""
        with super().transaction(*names, **how) as begun:
            self._set_locally()
            yield begun

    def _set_locally(self) -> None:
        """Set what holds for a transaction, in one trip; a pipeline takes one statement at a time."""
        together = self._local if self.pgconn.pipeline_status else filter(None, ["; ".join(self._local)])
        for one in together:
            super().execute(one)


@contextmanager
def _sent_at_once(pipeline: Any) -> Iterator[None]:
    """Send what is run in the block in one piece.

    The driver would send each statement by itself and look for answers in between: the server would wake for each.
    """
    pipeline._communicate_gen = _wait_for_nothing
    try:
        yield
    finally:
        del pipeline._communicate_gen
        commands = tuple(pipeline.command_queue)
        pipeline.command_queue.clear()
        pipeline.command_queue.append(lambda: [command() for command in commands])


def _wait_for_nothing() -> Iterator[None]:
    yield from ()


def _assignments(settings: Mapping[str, str]) -> str:
    """The statement that makes *settings* for the session."""
    return "SELECT " + ", ".join(
        f"set_config('{name}', '{value}', false)" for name, value in settings.items()
    )
