"""The statements that are sent to PostgreSQL, and what its planner makes of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from mnemic.storage.postgres.schema import SHARDED

Sent = tuple[str, Any]
"""A statement and its parameters."""
CONTROL = re.compile(r"\s*(BEGIN|COMMIT|ROLLBACK|SET|RESET|NOTIFY|LISTEN)\b")
CONDITIONS = ("Index Cond", "Recheck Cond", "Filter")
WRITES = ("Insert", "Update", "Delete")


@contextmanager
def noted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Sent]]:
    """The statements that are sent in the block, whichever way the driver has for it."""
    sent: list[Sent] = []
    execute, many, copy = psycopg.Cursor.execute, psycopg.Cursor.executemany, psycopg.Cursor.copy

    def noting_execute(cursor, query, params=None, **how):
        sent.append((_text(query), params))
        return execute(cursor, query, params, **how)

    def noting_many(cursor, query, params_seq, **how):
        rows = list(params_seq)
        sent.extend((_text(query), params) for params in rows)
        return many(cursor, query, rows, **how)

    def noting_copy(cursor, statement, params=None, **how):
        sent.append((_text(statement), params))
        return copy(cursor, statement, params, **how)

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Cursor, "execute", noting_execute)
        patched.setattr(psycopg.Cursor, "executemany", noting_many)
        patched.setattr(psycopg.Cursor, "copy", noting_copy)
        yield sent


def _text(query: Any) -> str:
    return query if isinstance(query, str) else query.decode()


def is_control(sql: str) -> bool:
    """Whether a statement touches no table."""
    return CONTROL.match(sql) is not None


def written_out(connection: psycopg.Connection[Any], sent: Sent) -> str:
    """A statement with its parameters in it."""
    return psycopg.ClientCursor(connection).mogrify(*sent) if sent[1] else sent[0]


def astray(connection: psycopg.Connection[Any], sent: Sent, space: int) -> list[str]:
    """The sharded tables that a statement reads, changes or deletes from without naming the namespace *space* alone.

    The planner tells: a cluster sees the conditions that it finds for each table, those derived from joins included,
    and nothing else. A table that the statement names and the plan does not show counts as unknown.
    """
    if is_control(sent[0]):
        return []
    text = written_out(connection, sent)
    [[[told]]] = connection.execute("EXPLAIN (FORMAT JSON, VERBOSE) " + text).fetchall()  # type: ignore[call-overload]
    nodes = list(_nodes(told["Plan"]))
    shown = {node.get("Relation Name") for node in nodes}
    stated = re.findall(r"\b(?:FROM|JOIN|UPDATE|INTO) (?:mnemic\.)?(\w+)\b", sent[0])
    unknown = [table for table in stated if table in SHARDED and table not in shown]
    return unknown + [
        node["Relation Name"] for node in nodes if _is_read(node) and not _is_constrained(node, space)
    ]


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)


def _is_read(node: dict[str, Any]) -> bool:
    return node.get("Relation Name") in SHARDED and node.get("Operation") not in WRITES


def _is_constrained(node: dict[str, Any], space: int) -> bool:
    wanted = re.compile(rf"\(?(\w+\.)?namespace_id = (ANY \('{{{space}}}'::integer\[\]\)|{space})\)?")
    return any(wanted.fullmatch(part) for name in CONDITIONS for part in _conjuncts(node.get(name, "")))


def _conjuncts(condition: str) -> list[str]:
    """The parts of `((a) AND (b OR c))` that all have to hold."""
    inner = condition[1:-1]
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(inner):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and inner.startswith(" AND ", place):
            parts.append(inner[start:place])
            start = place + len(" AND ")
    return [*parts, inner[start:]]
