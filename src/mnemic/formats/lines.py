"""Mnemic's own exchange format: one JSON object a line, nothing left out.

The first line names the format. A plain export then holds sessions, memories and links as they stand;
one with the journal holds every change instead, from which the store can be built again, and then how
often each memory was used. Both end with the pairs of memories that were answered together and with the
standards of namespaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import orjson

from mnemic.errors import Invalid
from mnemic.model.graph import Edge
from mnemic.model.journal import Change, Subject
from mnemic.model.memory import Memory, Statement
from mnemic.model.session import Session
from mnemic.model.values import Moment, State, Tier

RECORD = "record"
FORMAT = 1
USE = ("access_count", "accessed_at", "days_used")


def line(kind: str, content: Mapping[str, Any]) -> str:
    """One line of the file."""
    return orjson.dumps({RECORD: kind, **content}).decode()


def parsed(lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with their line numbers; Invalid for a line that is none, or a file that is not ours."""
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            content = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise Invalid(f"line {number}: not JSON: {error}", "lines") from None
        if not isinstance(content, dict) or not isinstance(content.get(RECORD), str):
            raise Invalid(f"line {number}: not an object with a record", "lines")
        if content[RECORD] == "mnemic":
            _check_format(content)
        else:
            yield number, content


def _check_format(header: Mapping[str, Any]) -> None:
    if header.get("format") != FORMAT:
        raise Invalid(
            "The file is in a newer format than this Mnemic reads. Upgrade Mnemic to import it.", "format"
        )


def memory_line(memory: Memory) -> str:
    """*memory* as a line."""
    content = {
        item.name: getattr(memory, item.name)
        for item in fields(memory)
        if item.name != "statements" and getattr(memory, item.name) not in (None, (), {})
    }
    return line("memory", {**content, "statements": memory.texts})


def memory_of(content: Mapping[str, Any]) -> Memory:
    """The memory a line tells of."""
    values = {item.name: content[item.name] for item in fields(Memory) if item.name in content}
    values["tags"] = tuple(content.get("tags", ()))
    values["tier"] = Tier(content.get("tier", Tier.LONG))
    values["state"] = State(content.get("state", State.LIVING))
    values["statements"] = tuple(Statement(0, text) for text in content.get("statements", ()))
    return Memory(**values)


def edge_line(edge: Edge) -> str:
    """*edge* as a line."""
    content = {item.name: getattr(edge, item.name) for item in fields(edge)}
    return line("edge", {name: value for name, value in content.items() if value is not None})


def edge_of(content: Mapping[str, Any]) -> Edge:
    """The link a line tells of."""
    values = {item.name: content[item.name] for item in fields(Edge) if item.name in content}
    return Edge(**{**values, "state": State(content.get("state", State.LIVING))})


def session_line(session: Session) -> str:
    """*session* as a line."""
    content = {item.name: getattr(session, item.name) for item in fields(session)}
    return line("session", {name: value for name, value in content.items() if value not in (None, {})})


def session_of(content: Mapping[str, Any]) -> Session:
    """The session a line tells of."""
    return Session(**{item.name: content[item.name] for item in fields(Session) if item.name in content})


def use_line(memory: Memory) -> str:
    """How *memory* was used, for a file that tells its changes alone."""
    return line("use", {name: getattr(memory, name) for name in ("id", *USE)})


def together_line(one_id: int, other_id: int, companionship: tuple[int, Moment]) -> str:
    """That two memories were answered together."""
    count, last = companionship
    return line("together", {"one_id": one_id, "other_id": other_id, "count": count, "last": last})


def standard_line(namespace: str, memory_id: int | None, parent: str | None) -> str:
    """What is set for a namespace: its standard and its parent."""
    held = {"namespace": namespace, "memory_id": memory_id, "parent": parent}
    return line("standard", {name: value for name, value in held.items() if value is not None})


def change_line(change: Change) -> str:
    """*change* as a line."""
    return line("change", {item.name: getattr(change, item.name) for item in fields(change)})


def change_of(content: Mapping[str, Any]) -> Change:
    """The change a line tells of."""
    values = {item.name: content[item.name] for item in fields(Change)}
    return Change(**{**values, "subject": Subject(content["subject"])})
