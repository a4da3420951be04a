"""Edits of one member in a TOML file; comments, order and layout of everything else stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT, InlineTable, Table

Holder: TypeAlias = "tomlkit.TOMLDocument | Table | InlineTable"
_BYTE_ORDER_MARK = "\ufeff"
_START, _END = "\x00", "\x01"
"""Marks around text to cut. TOML allows neither character."""
_COMMENTS_BEHIND = re.compile(r"(?<=\n)(?:[ \t]*(?:#.*)?(?:\n|\Z))+\Z")
"""Blank lines and comments at the end of a table, which belong to the next one."""
_HEADER = re.compile(r"^[ \t]*\[([^\n\[\]]+|\[[^\n\[\]]+\])\][ \t]*(?:#.*)?$", re.MULTILINE)


class TomlError(ValueError):
    """The text is not TOML, or cannot be edited; the message says where or why."""


def read(text: str) -> dict[str, Any]:
    """The values *text* holds, as plain Python objects."""
    return _parse(text.removeprefix(_BYTE_ORDER_MARK)).unwrap()


def with_member(text: str, path: Sequence[str], value: Any) -> str:
    """*text* with the member at *path* set to *value*; a mapping becomes a table of its own at the end."""
    change = _with_table if isinstance(value, Mapping) else _with_value
    return _edited(text, lambda plain: change(plain, path, value))


def without_member(text: str, path: Sequence[str]) -> str:
    """*text* without the member at *path*; the same text if it is not there."""
    return _edited(text, lambda plain: _without(plain, path))


def _edited(text: str, change: Callable[[str], str]) -> str:
    """*text* after *change*, which sees neither a byte order mark nor Windows line ends."""
    plain = text.removeprefix(_BYTE_ORDER_MARK)
    mark = text[: len(text) - len(plain)]
    is_windows = 0 < plain.count("\n") == plain.count("\r\n")
    after = change(plain.replace("\r\n", "\n") if is_windows else plain)
    return mark + (after.replace("\n", "\r\n") if is_windows else after)


def _parse(text: str) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(text)
    except TOMLKitError as error:
        raise TomlError(str(error)) from None


def _keeps_layout(text: str) -> bool:
    """Whether tomlkit writes *text* back unchanged; it regroups tables around an array of tables, for example."""
    return tomlkit.dumps(_parse(text)) == text


def _editable(text: str) -> tomlkit.TOMLDocument:
    """*text* parsed, if it can be edited as a whole."""
    if not _keeps_layout(text):
        raise TomlError("its layout would not survive the edit")
    return _parse(text)


def _with_value(text: str, path: Sequence[str], value: Any) -> str:
    if not _keeps_layout(text) and (found := next(_sections(text, path[:-1]), None)):
        start, end = found
        return text[:start] + _with_value(text[start:end], path, value) + text[end:]
    document = _editable(text)
    holders = list(_holders(document, path[:-1]))
    if not holders:
        raise TomlError(f"{'.'.join(path[:-1])} is not a table")
    _best(holders, path[-1])[path[-1]] = value
    return tomlkit.dumps(document)


def _best(holders: Sequence[Holder], key: str) -> Holder:
    """The part of a table that holds *key*, else the one under its own header."""
    holding = [one for one in holders if key in one]
    own = [one for one in holders if not (isinstance(one, Table) and one.is_super_table())]
    return (holding or own or holders)[0]


def _with_table(text: str, path: Sequence[str], value: Mapping[str, Any]) -> str:
    text = _without(text, path)
    around = _parse(text).get(path[0], {})
    if not isinstance(around, Mapping):
        raise TomlError(f"{path[0]} is not a table")
    if isinstance(around, InlineTable):
        return _with_value(text, path, _inline(value))
    nested: Mapping[str, Any] = value
    for key in reversed(path):
        nested = {key: nested}
    return _ended(text) + tomlkit.dumps(nested)


def _inline(value: Mapping[str, Any]) -> InlineTable:
    table = tomlkit.inline_table()
    table.update(value)
    return table


def _ended(text: str) -> str:
    """*text* with its last line ended and a blank line after it, ready for another table."""
    if not text.strip():
        return text
    text = text if text.endswith("\n") else text + "\n"
    return text if text.endswith("\n\n") else text + "\n"


def _without(text: str, path: Sequence[str]) -> str:
    if _has(text, path) and not _keeps_layout(text):
        text = _without_sections(text, path)
    if not _has(text, path):
        return text
    document = _parse(_without_headers(text, path))
    for holder in _holders(document, path[:-1]):
        if path[-1] in holder:
            del holder[path[-1]]
    return tomlkit.dumps(document)


def _has(text: str, path: Sequence[str]) -> bool:
    return any(path[-1] in holder for holder in _holders(_parse(text), path[:-1]))


def _without_sections(text: str, path: Sequence[str]) -> str:
    """*text* without the lines of the tables at and below *path* that have headers."""
    for start, end in reversed(list(_sections(text, path))):
        text = _without_blank_end(text[:start]) + text[end:]
    return text


def _sections(text: str, path: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where the tables at and below *path* stand, from a header to their last line, found without parsing the rest.

    What looks like a header in a text of several lines is taken for one: callers check what an edit led to.
    """
    headers = list(_HEADER.finditer(text))
    for found, following in zip(headers, [*headers[1:], None], strict=True):
        if _path_of(found[0].strip())[: len(path)] == tuple(path):
            rest = text[found.start() : following.start() if following else len(text)]
            yield found.start(), found.start() + len(_COMMENTS_BEHIND.sub("", rest))


def _path_of(header: str) -> tuple[str, ...]:
    """The keys that a line such as `[a."b c"]` names; nothing if it is no header."""
    try:
        found = next(_headers(tomlkit.parse(f"{header}\n")), None)
    except TOMLKitError:
        return ()
    return found[0] if found else ()


def _without_headers(text: str, path: Sequence[str]) -> str:
    """*text* without the tables at and below *path* that have headers.

    They are cut out as text: the library takes the comments above the next header for a part of the table before.
    """
    document = _editable(text)
    for is_ours, found in groupby(_headers(document), lambda one: one[0][: len(path)] == tuple(path)):
        if is_ours:
            tables = [table for _, table in found]
            tables[0].trivia.indent = _START + tables[0].trivia.indent
            last = _last_line(tables[-1])
            last.trivia.trail += _END
    first, *rest = re.split(f"{_START}.*?{_END}", tomlkit.dumps(document), flags=re.DOTALL)
    for part in rest:
        first = (first if part.split("\n")[0].strip() else _without_blank_end(first)) + part
    return first


def _without_blank_end(text: str) -> str:
    return re.sub(r"(\A|\n)(?:[ \t]*\n)+\Z", r"\1", text)


def _headers(holder: Holder, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Table]]:
    """Every table with a header of its own, in the order of the file, with its path."""
    for key, item in _body(holder):
        tables = item.body if isinstance(item, AoT) else [item] if isinstance(item, Table) else []
        for table in tables:
            if not table.is_super_table():
                yield (*path, key.key), table
            yield from _headers(table, (*path, key.key))


def _last_line(table: Table) -> Any:
    """The last value of *table* itself, or its header if it has none."""
    for key, item in reversed(list(_body(table))):
        if isinstance(item, Table) and key.is_dotted():
            return _last_line(item)
        if not isinstance(item, (Table, AoT)):
            return item
    return table


def _holders(holder: Holder, path: Sequence[str]) -> Iterator[Holder]:
    """Every part of the table at *path*: a file may tell it in several places."""
    if not path:
        yield holder
        return
    for key, item in _body(holder):
        if key.key == path[0] and isinstance(item, (Table, InlineTable)):
            yield from _holders(item, path[1:])


def _body(holder: Holder) -> Iterator[tuple[Any, Any]]:
    """The keys and items of *holder* without comments and blank lines."""
    body = holder.body if isinstance(holder, tomlkit.TOMLDocument) else holder.value.body
    return ((key, item) for key, item in body if key is not None)
