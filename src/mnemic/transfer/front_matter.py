"""Front matter: the YAML block between dashes at the head of a Markdown note."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

MAX_CHARACTERS = 65_536
MAX_DEPTH = 20
OPENERS = "[{-:?"
"""Each list and mapping begins with one of these."""
_BREAK = re.compile("[\n\r\x85\u2028\u2029]")
_HASHTAG = re.compile(r"[ \t]+#\S.*")
_NOTHING = ("", "~", "null")


class FrontMatterError(ValueError):
    """The block is not YAML that can be kept; the message names the line of the file."""

    def __init__(self, line: int, reason: str):
        super().__init__(f"line {line}: {reason}")


def split(text: str) -> tuple[str, str]:
    """The block at the head of *text* with its dashes, empty if there is none, and the rest."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return "", text
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() in ("---", "..."):
            return "\n".join(lines[:number]), "\n".join(lines[number:])
    return "", text


def read(block: str) -> dict[str, Any] | None:
    """The keys and values of a *block* with its dashes; None if it holds no keys, so that the dashes are rules.

    Every value is the text as written, or a list or mapping of texts: `1.10`, `no` and `2026-01-01` are what
    their author wrote, not a number, a truth value and a date.
    """
    if len(block) > MAX_CHARACTERS:
        raise FrontMatterError(1, f"the front matter is longer than {MAX_CHARACTERS:,} characters")
    source = "".join(line + "\n" for line in block.split("\n")[1:-1])
    node = _composed(source)
    if node is None:
        return {}
    value = _Values(source).of(node)
    return value if isinstance(value, dict) else None


def edited(block: str, changes: Mapping[str, Any]) -> str:
    """*block* with these keys set, or without those set to None; every other line stays as its author wrote it.

    An empty *block* becomes one with dashes; a block left without lines becomes empty.
    """
    lines = block.split("\n")[1:-1]
    places = _places("".join(line + "\n" for line in lines))
    kept: list[str] = []
    done: set[str] = set()
    for key, first, last in places:
        if key in changes:
            kept += _dumped(key, changes[key])
            done.add(key)
        else:
            kept += lines[first:last]
    for key, value in changes.items():
        if key not in done:
            kept += _dumped(key, value)
    return "\n".join(["---", *kept, "---"]) if any(map(str.strip, kept)) else ""


def _places(source: str) -> list[tuple[str, int, int]]:
    """The keys of a block and the lines each takes, comments above the first key under an empty name."""
    import yaml

    node = _composed(source)
    count = source.count("\n")
    if node is None:
        return [("", 0, count)] if count else []
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise FrontMatterError(node.start_mark.line + 2, "only keys on lines of their own can be edited")
    starts = [(str(key.value), key.start_mark.line) for key, _ in node.value]
    ends = [first for _, first in starts[1:]] + [count]
    head = [("", 0, starts[0][1])] if starts[0][1] else []
    return head + [(key, first, last) for (key, first), last in zip(starts, ends, strict=True)]


def _dumped(key: str, value: Any) -> list[str]:
    """The lines that set *key*; none for None."""
    import yaml

    if value is None:
        return []
    told = yaml.safe_dump(
        {key: value}, allow_unicode=True, default_flow_style=False, sort_keys=False, width=1_000_000
    )
    return told.rstrip("\n").split("\n")


def _composed(source: str) -> yaml.Node | None:
    """The nodes of *source*. Nothing is constructed, so that no tag in it can do anything."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_depth(source, loader)
        return yaml.compose(source, loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise FrontMatterError(mark.line + 2 if mark else 2, f"not valid YAML: {error.problem}") from None
    except yaml.reader.ReaderError as error:
        line = source.count("\n", 0, source.find(chr(error.character))) + 2
        raise FrontMatterError(line, f"not valid YAML: {error.reason}") from None


def _check_depth(source: str, loader: Any) -> None:
    """Refuse deep nesting before composing: libyaml's composer would crash the process."""
    import yaml

    if sum(map(source.count, OPENERS)) <= MAX_DEPTH:  # most notes: parsing them twice would double the time
        return
    depth = 0
    for event in yaml.parse(source, loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise _fault(event, "nested too deeply")


def _fault(at: Any, reason: str) -> FrontMatterError:
    return FrontMatterError(at.start_mark.line + 2, reason)


class _Values:
    """Turns nodes into values. What aliases stand for is counted as often as they are used."""

    def __init__(self, source: str):
        self._lines = _BREAK.split(source)
        self._left = 2 * MAX_CHARACTERS

    def of(self, node: Any, depth: int = 0) -> Any:
        """The value of *node*: a text, or a list or mapping of values."""
        self._left -= len(node.value) + 1
        if self._left < 0 or depth > MAX_DEPTH:
            raise _fault(node, "its aliases stand for too much")
        if node.id == "scalar":
            return self._text(node)
        if node.id == "sequence":
            return [self.of(item, depth + 1) for item in node.value]
        return self._mapping(node, depth)

    def _mapping(self, node: Any, depth: int) -> dict[str, Any]:
        held: dict[str, Any] = {}
        for key, value in node.value:
            if key.id != "scalar":
                raise _fault(key, "a key must be text")
            name = self._text(key)
            if name in held:
                raise _fault(key, f"the key {name} stands twice")
            held[name] = self.of(value, depth + 1)
        return held

    def _text(self, node: Any) -> str:
        """The text as written. `#4` and `#todo` are part of it; `#` before a blank begins a comment."""
        if node.style not in (None, ""):
            return str(node.value)
        hashtag = _HASHTAG.match(self._lines[node.end_mark.line], node.end_mark.column)
        if hashtag:
            return f"{node.value}{hashtag[0]}".strip()
        return "" if node.value in _NOTHING else str(node.value)
