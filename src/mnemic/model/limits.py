"""Sizes and ranges of stored values and requests, for all callers. A dialect may narrow them, never widen them.

`MEMORY_RULES`, `EDGE_RULES` and `SESSION_RULES`, beside the fields, say what each may hold. They are checked where a
value is built that is to be stored: drafts, patches and imported memories. The schema repeats the ranges as its second
line.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from mnemic.errors import Invalid
from mnemic.model.patch import UNSET
from mnemic.model.time import EARLIEST, LATEST

MAX_STATEMENT_BYTES = 65_536
"""The longest statement, summary or reason, in UTF-8."""
TOO_LONG = f"longer than {MAX_STATEMENT_BYTES} bytes; split it into several memories"
MAX_NAME_CHARACTERS = 1_024
"""The longest name, title, kind, namespace, tag, source or type of a link."""
MAX_ITEMS = 1_000
"""The most memories, links or tags of one call."""
MAX_QUERY_CHARACTERS = 10_000
"""The longest query or pattern."""
MAX_PATTERN_WORDS = 256
"""The most different words of a pattern, all of which a memory must hold."""
MAX_COUNT = 2**53
"""No count is larger, so that every JSON reader can tell it."""

_WHOLE, _NUMBER = (int,), (int, float)

Rule = Callable[[str, object], None]
"""Raises Invalid, with the name of the field, for a value that the field may not hold."""


@dataclass(frozen=True, slots=True)
class Range:
    """Numbers from *low* to *high*, both included."""

    low: float
    high: float
    whole: bool = False

    def __call__(self, field: str, value: object) -> None:
        """Invalid if *value* is no number, or lies outside."""
        if isinstance(value, bool) or not isinstance(value, _WHOLE if self.whole else _NUMBER):
            kind = "whole number" if self.whole else "number"
            raise Invalid(f"{field}: must be a {kind}, not {type(value).__name__}", field)
        if not self.low <= value <= self.high:
            raise Invalid(f"{field}: must be from {self.low} to {self.high}, not {str(value)[:40]}", field)

    @property
    def bounds(self) -> dict[str, Any]:
        """The same for a field of a request: its `ge` and `le`."""
        return {"ge": self.low, "le": self.high}


PRIORITY = Range(1, 10, whole=True)
CONFIDENCE = Range(0, 1)
QUALITY = Range(0, 10)
RATING = Range(0, 10)
WEIGHT = Range(0, 1)
COUNT = Range(0, MAX_COUNT, whole=True)
MOMENT = Range(EARLIEST, LATEST, whole=True)


def unstorable(value: str) -> str | None:
    """Why a database could not return *value* unchanged; None if it can."""
    if "\0" in value:
        return "contains a NUL character"
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return "contains half of a surrogate pair, which is no character"
    return None


def text(field: str, value: object) -> str:
    """*value*; Invalid if it is no text, or one that a database could not return unchanged."""
    if not isinstance(value, str):
        raise Invalid(f"{field}: must be a text, not {type(value).__name__}", field)
    if fault := unstorable(value):
        raise Invalid(f"{field}: {fault}", field)
    return value


def is_statement(body: str) -> bool:
    """Whether *body* has at most 64 KiB."""
    return len(body) * 4 <= MAX_STATEMENT_BYTES or len(body.encode()) <= MAX_STATEMENT_BYTES


def statement(field: str, value: object) -> None:
    """Invalid if *value* is no text of at most 64 KiB."""
    if not is_statement(text(field, value)):
        raise Invalid(f"{field}: {TOO_LONG}", field)


def statements(field: str, value: object) -> None:
    """Invalid if *value* is no list of such texts."""
    if isinstance(value, str) or not isinstance(value, Collection):
        raise Invalid(f"{field}: must be a list of texts", field)
    for one in value:
        statement("text", one)


def name(field: str, value: object) -> None:
    """Invalid if *value* is no text of at most 1,024 characters."""
    if len(text(field, value)) > MAX_NAME_CHARACTERS:
        raise Invalid(f"{field}: longer than {MAX_NAME_CHARACTERS} characters", field)


def names(field: str, value: object) -> None:
    """Invalid if *value* is no list of such texts, or a longer one than a call may give."""
    if isinstance(value, str) or not isinstance(value, Collection):
        raise Invalid(f"{field}: must be a list of texts", field)
    if len(value) > MAX_ITEMS:
        raise Invalid(f"{field}: more than {MAX_ITEMS}", field)
    for one in value:
        name(field, one)


def query(field: str, value: object) -> None:
    """Invalid if *value* is no text of at most 10,000 characters."""
    if len(text(field, value)) > MAX_QUERY_CHARACTERS:
        raise Invalid(f"{field}: longer than {MAX_QUERY_CHARACTERS:,} characters", field)


class Bounded:
    """A value whose fields are checked when it is built. A subclass is a frozen dataclass that names its *rules*."""

    __slots__ = ()
    rules: ClassVar[Mapping[str, Rule]]

    def __post_init__(self) -> None:
        check(self.rules, self)


def check(rules: Mapping[str, Rule], value: object) -> None:
    """Invalid if a field of *value* breaks its rule. It may lack fields, and None breaks none."""
    for field, rule in rules.items():
        held = getattr(value, field, None)
        if held is not None and held is not UNSET:
            rule(field, held)


def not_itself(source: object, target: object, field: str = "target") -> None:
    """Invalid if a link would lead from a memory to itself.

    The rule holds for links between memories. The graph dialects draw relations between names, as their systems do, and
    a name may have a relation to itself.
    """
    if source == target:
        raise Invalid("cannot link a memory to itself", field)
