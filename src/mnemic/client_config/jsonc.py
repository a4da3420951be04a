"""Edits to JSON with comments that touch nothing but the member they are about."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 200
_TRIVIA = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class JsonError(ValueError):
    """The text is not JSON, even with comments and trailing commas allowed; the message says where."""


@dataclass(slots=True)
class JsonNode:
    """A value in a text: its position and, if an object, its members."""

    start: int
    end: int
    value: Any
    members: list[JsonMember] = field(default_factory=list)

    def member(self, key: str) -> JsonMember | None:
        """The last member called *key*, as readers of JSON take it."""
        return next((member for member in reversed(self.members) if member.key == key), None)


@dataclass(slots=True)
class JsonMember:
    """A member of an object: its key, where the key begins, its value, and the comma after it if any."""

    key: str
    start: int
    node: JsonNode
    comma: int | None = None


def read(text: str) -> Any:
    """The value *text* holds."""
    return parse(text).value


def parse(text: str) -> JsonNode:
    """The value *text* holds, with places."""
    node = _value(text, _skip(text, 1 if text.startswith("\ufeff") else 0), 0)
    end = _skip(text, node.end)
    if end != len(text):
        raise _fault(text, end, "nothing more was expected")
    return node


def _skip(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    return found.end() if found else at


def _fault(text: str, at: int, what: str) -> JsonError:
    return JsonError(f"line {text.count(chr(10), 0, at) + 1}: {what}")


def _value(text: str, at: int, depth: int) -> JsonNode:
    if depth > MAX_DEPTH:
        raise _fault(text, at, "nested too deeply")
    match text[at : at + 1]:
        case "{":
            return _object(text, at, depth)
        case "[":
            return _array(text, at, depth)
        case '"':
            end, value = _string(text, at)
            return JsonNode(at, end, value)
    found = _SCALAR.match(text, at)
    if not found:
        raise _fault(text, at, "a value was expected")
    return JsonNode(at, found.end(), json.loads(found[0]))


def _string(text: str, at: int) -> tuple[int, str]:
    found = _STRING.match(text, at)
    try:
        value: str = json.loads(found[0]) if found else json.loads("")
    except ValueError:
        raise _fault(text, at, "a string was expected") from None
    return found.end() if found else at, value


def _object(text: str, start: int, depth: int) -> JsonNode:
    node = JsonNode(start, start, {})
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        key_at = at
        at, key = _string(text, at)
        at = _expect(text, _skip(text, at), ":")
        value = _value(text, _skip(text, at), depth + 1)
        member = JsonMember(key, key_at, value)
        node.members.append(member)
        node.value[key] = value.value
        at = _skip(text, value.end)
        if text[at : at + 1] == ",":
            member.comma = at
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "}":
            raise _fault(text, at, "a comma or } was expected")
    node.end = at + 1
    return node


def _array(text: str, start: int, depth: int) -> JsonNode:
    node = JsonNode(start, start, [])
    at = _skip(text, start + 1)
    while text[at : at + 1] != "]":
        value = _value(text, at, depth + 1)
        node.value.append(value.value)
        at = _skip(text, value.end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            raise _fault(text, at, "a comma or ] was expected")
    node.end = at + 1
    return node


def _expect(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        raise _fault(text, at, f"{sign} was expected")
    return at + 1


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """*text* with the member at *path* set to *value*; objects on the way are made if they are missing."""
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    node = parse(text)
    style = _Style.of(text, node)
    for step, key in enumerate(path):
        if not isinstance(node.value, dict):
            raise JsonError(f"{'.'.join(path[:step]) or 'the file'} is not an object")
        member = node.member(key)
        if member is None:
            return _added(text, node, key, _nested(path[step + 1 :], value), style, step)
        node = member.node
    in_lines = "\n" in text[node.start : node.end]
    written = style.written(value, len(path)) if in_lines else json.dumps(value, ensure_ascii=False)
    return text[: node.start] + written + text[node.end :]


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _added(text: str, node: JsonNode, key: str, value: Any, style: _Style, depth: int) -> str:
    """*text* with a member more at the end of *node*, an object *depth* levels down."""
    close = node.end - 1
    brink = len(text[:close].rstrip())  # after the last thing in the object, a comment maybe
    line = (
        style.newline + style.indent * (depth + 1) + f"{json.dumps(key)}: {style.written(value, depth + 1)}"
    )
    if not node.members:
        return text[:brink] + line + style.newline + style.indent * depth + text[close:]
    last = node.members[-1]
    end = last.node.end
    if last.comma is None and "\n" not in text[node.start : node.end]:
        return f"{text[:end]}, {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}{text[end:]}"
    tail = text[brink:close] if "\n" in text[brink:close] else style.newline + style.indent * depth
    if last.comma is not None:
        return text[:brink] + line + "," + tail + text[close:]
    return text[:end] + "," + text[end:brink] + line + tail + text[close:]


def without_member(text: str, path: Sequence[str]) -> str:
    """*text* without the member at *path*; the same text if it is not there."""
    node = parse(text)
    for key in path[:-1]:
        member = node.member(key)
        if member is None:
            return text
        node = member.node
    member = node.member(path[-1])
    return text if member is None else _removed(text, node, member)


def _removed(text: str, node: JsonNode, member: JsonMember) -> str:
    position = node.members.index(member)
    start, end = member.start, (member.comma + 1 if member.comma is not None else member.node.end)
    line_start = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"[ \t]*\r?\n").match(text, end)
    if rest and not text[line_start:start].strip():
        start, end = line_start, rest.end()  # whole lines
    else:
        start = len(text[:start].rstrip())
    is_last = position == len(node.members) - 1
    if (
        is_last
        and member.comma is None
        and position
        and (comma := node.members[position - 1].comma) is not None
    ):
        return text[:comma] + text[comma + 1 : start] + text[end:]
    return text[:start] + text[end:]


@dataclass(frozen=True, slots=True)
class _Style:
    """How a text is laid out: what one level of indentation is, and what ends a line."""

    indent: str
    newline: str

    @classmethod
    def of(cls, text: str, root: JsonNode) -> _Style:
        newline = "\r\n" if "\r\n" in text else "\n"
        if root.members:
            start = root.members[0].start
            lead = text[text.rfind("\n", 0, start) + 1 : start]
            if lead and not lead.strip():
                return cls(lead, newline)
        return cls("  ", newline)

    def written(self, value: Any, depth: int) -> str:
        """*value* formatted at *depth*, without the indentation of its first line."""
        lines = json.dumps(value, indent=self.indent, ensure_ascii=False).split("\n")
        return (self.newline + self.indent * depth).join(lines)
