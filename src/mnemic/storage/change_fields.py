"""The fields that a journal entry holds, the same on all engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from mnemic.model.graph import EdgeDraft
from mnemic.model.memory import FIELDS, Draft, Memory, Statement
from mnemic.model.session import Session
from mnemic.storage.decoders import SESSION_FIELDS

USE = ("accessed_at", "access_count", "days_used")
"""Counted, not journaled."""
JOURNALED = tuple(name for name in FIELDS if name not in ("id", *USE))
ALL_FIELDS = attrgetter(*FIELDS)
JOURNALED_FIELDS = attrgetter(*JOURNALED)
INDEXED = frozenset({"title", "summary", "tags", "namespace", "state", "statements"})
"""The fields whose change makes a new row of words; the old one moves into the index of the past."""
HEADING = frozenset({"title", "summary", "kind"})
"""The fields that the vectors of a body are made under."""
EMPTY = Memory(id=0, uid="", namespace="", title="", created_at=0, updated_at=0)
NO_FIELDS = dict(zip(FIELDS, ALL_FIELDS(EMPTY), strict=True))
DRAFTED = tuple(one.name for one in fields(Draft) if one.name not in ("texts", "created_at"))
DRAFTED_FIELDS = attrgetter(*DRAFTED)
EDGE_DRAFTED = tuple(name for name in EdgeDraft.__slots__ if name not in ("id", "created_at"))
EDGE_DRAFTED_FIELDS = attrgetter(*EDGE_DRAFTED)


def initial(fields: Mapping[str, Any], statements: Sequence[Statement]) -> dict[str, Any]:
    """The journaled fields of a new memory that say something; the body by the numbers of its statements."""
    after = {name: fields[name] for name in JOURNALED if fields[name] != NO_FIELDS[name]}
    if statements:
        after["statements"] = [statement.id for statement in statements]
    return after


def differences(old: Memory, new: Memory) -> tuple[dict[str, Any], dict[str, Any]]:
    """The journaled fields that differ, before and after; the body by the numbers of its statements."""
    before, after = {}, {}
    for name, was, now in zip(JOURNALED, JOURNALED_FIELDS(old), JOURNALED_FIELDS(new), strict=True):
        if was != now:
            before[name], after[name] = was, now
    if old.statements != new.statements:
        before["statements"] = [statement.id for statement in old.statements]
        after["statements"] = [statement.id for statement in new.statements]
    return before, after


def kept_and_added(
    statements: tuple[Statement, ...], texts: Sequence[str]
) -> tuple[tuple[Statement, ...], Sequence[str]]:
    """The statements that begin *texts* in their old order, and the texts that follow them."""
    kept: list[Statement] = []
    for statement in statements:
        if len(kept) < len(texts) and texts[len(kept)] == statement.text:
            kept.append(statement)
    return tuple(kept), texts[len(kept) :]


def of_session(session: Session) -> dict[str, Any]:
    """The fields of *session* as the journal tells them."""
    fields = {name: getattr(session, name) for name in SESSION_FIELDS if name != "id"}
    return {**fields, "metadata": dict(session.metadata)}
