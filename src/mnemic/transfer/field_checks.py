"""Checks of fields that come from a file: their types and ranges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from types import NoneType
from typing import Any, NamedTuple

from mnemic.core.memories import faithful
from mnemic.errors import Invalid
from mnemic.model.change import BEGINNING, Change, Subject
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.model.session import Session
from mnemic.model.time import EARLIEST, LATEST

LARGEST = 2**63 - 1
"""The largest number a store holds."""


class _Rule(NamedTuple):
    """What a field that came from a file may hold."""

    types: tuple[type, ...]
    least: int = -LARGEST
    most: int = LARGEST

    @property
    def or_nothing(self) -> _Rule:
        """The same for a field that need not be there."""
        return self._replace(types=(*self.types, NoneType))


_TEXT, _NUMBER, _REAL, _OBJECT = _Rule((str,)), _Rule((int,)), _Rule((int, float)), _Rule((dict,))
_COUNT, _MOMENT = _Rule((int,), least=0), _Rule((int,), EARLIEST, LATEST)
_BY_TYPE = {
    "str": _TEXT,
    "int": _COUNT,
    "float": _REAL,
    "Moment": _MOMENT,
    "Mapping[str, object]": _OBJECT,
}


def _rules(model: type, **narrower: _Rule) -> dict[str, _Rule]:
    """What each plain field of *model* may hold, by its annotation; *narrower* rules for some."""
    rules: dict[str, _Rule] = {}
    for item in fields(model):
        plain = str(item.type).removesuffix(" | None")
        rule = narrower.get(item.name) or _BY_TYPE.get(plain)
        if rule is not None:
            rules[item.name] = rule if plain == item.type else rule.or_nothing
    return rules


MEMORY = _rules(
    Memory,
    priority=_Rule((int,), 1, 10),
    confidence=_Rule((int, float), 0, 1),
    quality=_Rule((int, float), 0, 10),
)
EDGE: Mapping[str, _Rule] = {
    **dict.fromkeys(("id", "source_id", "target_id", "rating_count"), _COUNT),
    **dict.fromkeys(("valid_from", "valid_to", "updated_at"), _MOMENT.or_nothing),
    "type": _TEXT,
    "weight": _REAL,
    "reason": _TEXT.or_nothing,
    "created_at": _MOMENT,
    "quality": _REAL.or_nothing,
    "rating": _REAL.or_nothing,
}
SESSION: Mapping[str, _Rule] = {
    "id": _COUNT,
    "namespace": _TEXT,
    "name": _TEXT,
    "started_at": _MOMENT,
    "ended_at": _MOMENT.or_nothing,
    "topic": _TEXT.or_nothing,
    "summary": _TEXT.or_nothing,
    "metadata": _OBJECT,
}
USE: Mapping[str, _Rule] = {
    "access_count": _COUNT,
    "accessed_at": _MOMENT.or_nothing,
    "days_used": _COUNT,
}
TOGETHER: Mapping[str, _Rule] = {"count": _COUNT, "last": _MOMENT}
STANDARD: Mapping[str, _Rule] = {"namespace": _TEXT, "parent": _TEXT.or_nothing}
CHANGE_FIELDS = tuple(item.name for item in fields(Change) if item.name != "position")
"""A position means something in its own store alone."""
CHANGE: Mapping[str, _Rule] = {
    **dict.fromkeys(("sequence", "batch", "subject_id"), _COUNT),
    **dict.fromkeys(("actor", "operation"), _TEXT),
    **dict.fromkeys(("before", "after"), _OBJECT.or_nothing),
    "at": _MOMENT,
}


def check_fields(values: Mapping[str, Any], rules: Mapping[str, _Rule]) -> None:
    """Invalid if a field that came from a file holds what it may not."""
    for name, rule in rules.items():
        value = values[name]
        if not isinstance(value, rule.types) or isinstance(value, bool):
            raise Invalid(f"{name}: not of the right type: {str(value)[:40]!r}", name)
        if isinstance(value, int | float) and not rule.least <= value <= rule.most:
            raise Invalid(f"{name}: out of range: {str(value)[:40]}", name)


def must_be_lists(content: Mapping[str, Any]) -> None:
    """Invalid if a text is given instead of a list of texts, since a text has parts too."""
    for name in ("tags", "statements"):
        if not isinstance(content.get(name, []), list):
            raise Invalid(f"{name}: must be a list", name)


def checked_memory(memory: Memory) -> Memory:
    """*memory*, or Invalid if a field holds what it may not."""
    check_fields({name: getattr(memory, name) for name in MEMORY}, MEMORY)
    faithful(memory.metadata)
    if not memory.title.strip():
        raise Invalid("title: must not be empty", "title")
    if not all(isinstance(tag, str) for tag in memory.tags):
        raise Invalid("tags: must be texts", "tags")
    if not all(isinstance(text, str) for text in memory.texts):
        raise Invalid("statements: must be texts", "statements")
    return memory


def checked_edge(edge: Edge) -> Edge:
    """*edge*, or Invalid if a field holds what it may not."""
    check_fields({name: getattr(edge, name) for name in EDGE}, EDGE)
    return edge


def checked_session(session: Session) -> Session:
    """*session*, or Invalid if a field holds what it may not."""
    check_fields({name: getattr(session, name) for name in SESSION}, SESSION)
    faithful(session.metadata)
    return session


def checked_change(content: Mapping[str, Any]) -> Change:
    """The change that *content* tells, or Invalid if a field holds what it may not."""
    check_fields(content, CHANGE)
    told = {name: content[name] for name in CHANGE_FIELDS}
    change = Change(**{**told, "subject": Subject(content["subject"]), "position": BEGINNING})
    must_be_lists(change.after or {})
    return change


def fault_of(error: Exception) -> str:
    """The fault of an entry, in words."""
    return f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
