"""Asking for rows: whole, one, or a single value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import apsw

Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]


def rows(connection: apsw.Connection, sql: str, values: Values = ()) -> list[Row]:
    """Every row of the answer."""
    return cast("list[Row]", connection.execute(sql, values).fetchall())


def row(connection: apsw.Connection, sql: str, values: Values = ()) -> Row | None:
    """The first row of the answer, or None."""
    return cast("Row | None", connection.execute(sql, values).fetchone())


def value(connection: apsw.Connection, sql: str, values: Values = ()) -> Any:
    """The one value an aggregate gives."""
    found = row(connection, sql, values)
    assert found is not None
    return found[0]


def column(connection: apsw.Connection, sql: str, values: Values = ()) -> list[Any]:
    """The first column of every row."""
    return [found[0] for found in rows(connection, sql, values)]
