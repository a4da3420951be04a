"""A term of a clause: a word or a value, and what it is there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from mnemic.core.trust.values import Date, Quantity


class TermKind(Enum):
    """What a term is."""

    WORD = "word"
    LIGHT = "light"
    """A word that adds little: be, make, take place."""
    NAME = "name"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Term:
    """A content word, name, quantity or date in its place."""

    kind: TermKind
    key: str
    text: str
    place: int
    before: str = ""
    """The function word in front of it: of, with, since."""
    value: Quantity | Date | None = None
    is_verb: bool = False
    is_passive: bool = False
    role: str = ""
    """The last "from" or "to" in front of it."""
