"""Rows of all engines as values of the model, and tokens as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

import orjson

from mnemic.model.access import Grant, Quota, Token
from mnemic.model.enums import State, Tier
from mnemic.model.graph import Edge
from mnemic.model.memory import FIELDS, Memory, Statement
from mnemic.model.session import Session
from mnemic.model.uids import spelled

Row = tuple[Any, ...]

EDGE_FIELDS = tuple(one.name for one in fields(Edge))
SESSION_FIELDS = tuple(one.name for one in fields(Session))

# A call of an enum takes ten times as long as a look at a dict, and every row has two.
TIERS: Mapping[str, Tier] = {str(tier): tier for tier in Tier}
STATES: Mapping[str, State] = {str(state): state for state in State}
DECODERS: Mapping[str, Callable[[Any], Any]] = {
    "uid": spelled,
    "tags": lambda text: tuple(orjson.loads(text)) if text else (),
    "metadata": lambda text: orjson.loads(text) if text else {},
    "tier": TIERS.__getitem__,
    "state": STATES.__getitem__,
}
"""What makes a model value of a column that does not hold it as it is."""
_DECODED = tuple((FIELDS.index(name), decoder) for name, decoder in DECODERS.items())


def memory_of(row: Row, statements: tuple[Statement, ...]) -> Memory:
    """A row of FIELDS as a Memory."""
    values = list(row)
    for place, decoder in _DECODED:
        values[place] = decoder(values[place])
    return Memory(statements=statements, **dict(zip(FIELDS, values, strict=True)))


def memories_of(found: Iterable[Row], bodies: Iterable[Row]) -> dict[int, Memory]:
    """Rows of FIELDS and the statements of their bodies put together, by number."""
    statements: dict[int, list[Statement]] = {}
    for memory_id, statement_id, text in bodies:
        statements.setdefault(memory_id, []).append(Statement(statement_id, text))
    return {row[0]: memory_of(row, tuple(statements.get(row[0], ()))) for row in found}


def edge_of(row: Row) -> Edge:
    """A row of EDGE_FIELDS as an Edge."""
    return Edge(
        id=row[0],
        source_id=row[1],
        target_id=row[2],
        type=row[3],
        weight=row[4],
        reason=row[5],
        created_at=row[6],
        valid_from=row[7],
        valid_to=row[8],
        state=STATES[row[9]],
        updated_at=row[10],
        quality=row[11],
        rating=row[12],
        rating_count=row[13],
    )


def session_of(row: Row) -> Session:
    """A row of SESSION_FIELDS as a Session."""
    values = dict(zip(SESSION_FIELDS, row, strict=True))
    return Session(**{**values, "metadata": DECODERS["metadata"](values["metadata"])})


def token_of(row: Row) -> Token:
    """A row of `token` without its hash."""
    name, spaces, can_write, memories, size, requests, created_at, expires_at, used_at = row
    namespaces = None if spaces is None else tuple(orjson.loads(spaces))
    return Token(
        name=name,
        grant=Grant(namespaces, bool(can_write), Quota(memories, size, requests)),
        created_at=created_at,
        expires_at=expires_at,
        used_at=used_at,
    )


def token_values(token: Token, token_hash: bytes) -> tuple[object, ...]:
    """A row of `token`."""
    grant, quota = token.grant, token.grant.quota
    spaces = None if grant.namespaces is None else orjson.dumps(grant.namespaces).decode()
    bounds = (quota.memories, quota.bytes, quota.requests_per_minute)
    times = (token.created_at, token.expires_at, token.used_at)
    return token.name, token_hash, spaces, grant.can_write, *bounds, *times
