"""Asking for rows: whole, one, or a single value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mnemic.storage.postgres.connection import Executor, Row, Values


def routed(db: Executor, sql: str, values: Mapping[str, Any], **parts: str) -> tuple[str, dict[str, Any]]:
    """*sql* with its *parts* and the conditions for the namespaces that *db* is about, and its parameters."""
    return sql.format(here=db.here, **parts), {**db.here.values, **values}


def rows(db: Executor, sql: str, values: Values = ()) -> list[Row]:
    """Every row of the answer."""
    return db.run(sql, values)


def row(db: Executor, sql: str, values: Values = ()) -> Row | None:
    """The first row of the answer, or None."""
    return next(iter(db.run(sql, values)), None)


def value(db: Executor, sql: str, values: Values = ()) -> Any:
    """The one value an aggregate gives."""
    return db.run(sql, values)[0][0]


def column(db: Executor, sql: str, values: Values = ()) -> list[Any]:
    """The first column of every row."""
    return [found[0] for found in db.run(sql, values)]
