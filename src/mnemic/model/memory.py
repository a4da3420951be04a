"""A memory: one thing worth knowing, and the draft it is made from."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import ClassVar, NamedTuple

from mnemic.model import limits
from mnemic.model.enums import State, Tier
from mnemic.model.patch import UNSET, Patch, Unset
from mnemic.model.time import Moment

UNRATED, HIGHEST_QUALITY = 5.0, limits.QUALITY.high
"""Quality of an unrated memory, and the maximum."""
TITLE_LENGTH = 80
"""The most characters of a title that is made from a text."""
UNTOLD_KINDS = frozenset({"", "note", "Generic"})
"""Default kinds."""
_SENTENCE = re.compile(r".+?(?:(?:(?<!\b\w)\.|[!?])(?=\s|$)|[。！？])", re.DOTALL)
"""Up to the first full stop that does not follow a single letter, as in an initial or "e.g."."""


def name_key(name: str) -> str:
    """The form in which names are compared and stored: NFC."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def title_of(text: str) -> str:
    """A title made from the first sentence of *text*, at most 80 characters, cut between words if it can be."""
    # Two more than fit: whether a word or a sentence ends where it is cut shows in them.
    line = next(iter(text.lstrip()[: TITLE_LENGTH + 2].splitlines()), "").rstrip()
    sentence = _SENTENCE.match(line)
    title = sentence[0] if sentence else line
    if len(title) <= TITLE_LENGTH:
        return title
    head, _, _ = title[: TITLE_LENGTH + 1].rpartition(" ")
    return (head if len(head) > TITLE_LENGTH // 2 else title[:TITLE_LENGTH]).rstrip()


def is_beginning(title: str, body: str) -> bool:
    """Whether *title* only repeats how *body* begins."""
    words = body.lstrip()
    return words.startswith(title) and not words[len(title) : len(title) + 1].isalnum()


def heading(title: str, kind: str) -> str:
    """What the body of a memory is read under: its title, and its kind if someone chose one."""
    return title if kind in UNTOLD_KINDS else f"{title} ({kind})"


class Statement(NamedTuple):
    """One sentence or paragraph of a memory's body. Its text never changes; a change makes a new one."""

    id: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing worth knowing, as the store holds it."""

    id: int
    uid: str
    namespace: str
    name: str | None = None
    """What somebody chose to call it, in NFC; unique among the living of its namespace. Most have none."""
    title: str
    """What is shown for it: the name as it was spelled, else words of its text."""
    kind: str = "note"
    summary: str | None = None
    tags: tuple[str, ...] = ()
    priority: int = 5
    confidence: float = 1.0
    quality: float | None = None
    rating: float | None = None
    rating_count: int = 0
    tier: Tier = Tier.LONG
    source: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    session_id: int | None = None
    created_at: Moment
    updated_at: Moment
    accessed_at: Moment | None = None
    access_count: int = 0
    days_used: int = 0
    """On how many different days (in UTC) it was used."""
    expires_at: Moment | None = None
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    state: State = State.LIVING
    state_reason: str | None = None
    state_at: Moment | None = None
    statements: tuple[Statement, ...] = ()

    @property
    def occurred_at(self) -> Moment:
        """When it happened, if known; else when it was stored."""
        return self.created_at if self.valid_from is None else self.valid_from

    @property
    def worth(self) -> float:
        """How good it proved, from 0 to 10."""
        return UNRATED if self.quality is None else self.quality

    @property
    def texts(self) -> list[str]:
        """The body as it was given: the text of each statement, in order."""
        return [statement.text for statement in self.statements]

    @property
    def content(self) -> str:
        """The body as one text: its statements joined by line breaks."""
        return "\n".join(self.texts)

    def has_expired(self, now: Moment) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= now

    def check(self) -> None:
        """Invalid if an imported memory breaks a limit; stored memories are within them."""
        limits.check(MEMORY_RULES, self)


MEMORY_RULES: Mapping[str, limits.Rule] = {
    **dict.fromkeys(("namespace", "name", "title", "kind", "source"), limits.name),
    "tags": limits.names,
    "texts": limits.statements,
    "summary": limits.statement,
    "state_reason": limits.statement,
    "priority": limits.PRIORITY,
    "confidence": limits.CONFIDENCE,
    "quality": limits.QUALITY,
    "rating": limits.RATING,
    **dict.fromkeys(("rating_count", "access_count", "days_used"), limits.COUNT),
    **dict.fromkeys(("created_at", "updated_at", "accessed_at", "expires_at"), limits.MOMENT),
    **dict.fromkeys(("valid_from", "valid_to", "state_at"), limits.MOMENT),
}
"""What each field of a memory, a draft or a patch may hold."""
FIELDS = tuple(item.name for item in fields(Memory) if item.name != "statements")
"""The fields of a memory but for its body: columns of the store and entries of the journal."""


def body_of(text: str) -> tuple[str, ...]:
    """*text* as statements: one if it is short enough, else as few as hold it, cut between lines.

    Joined by line breaks they are *text* again. A line that is too long for a statement stays too long.
    """
    if limits.is_statement(text):
        return (text,)
    lines = text.split("\n")
    body, size = [lines[0]], len(lines[0].encode())
    for line in lines[1:]:
        size += 1 + len(line.encode())
        if size > limits.MAX_STATEMENT_BYTES:
            body.append(line)
            size = len(line.encode())
        else:
            body[-1] += "\n" + line
    return tuple(body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """What the author of a memory says of it beside the text."""

    name: str | None = None
    """What it is called: a name that no other living memory of its namespace may have."""
    title: str = ""
    """What is shown for one without a name, if not its first sentence."""
    kind: str = "note"
    summary: str | None = None
    tags: tuple[str, ...] = ()
    priority: int = 5
    confidence: float = 1.0
    quality: float | None = None
    source: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)
    session_id: int | None = None
    created_at: Moment | None = None
    expires_at: Moment | None = None


ATTRIBUTES = tuple(item.name for item in fields(Attributes))
ATTRIBUTES_OF = attrgetter(*ATTRIBUTES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(Attributes):
    """A memory to be: what its author says of it, or Invalid if that breaks a limit. The store adds id, uid and times.

    The title is the *name* if there is one, else the one given, else the first sentence of the text.
    """

    namespace: str
    texts: tuple[str, ...]
    tier: Tier = Tier.LONG
    valid_from: Moment | None = None
    valid_to: Moment | None = None

    def __post_init__(self) -> None:
        if self.name is not None:
            object.__setattr__(self, "title", self.title or self.name)
            object.__setattr__(self, "name", name_key(self.name))
        elif not self.title:
            object.__setattr__(self, "title", title_of("\n".join(self.texts)))
        limits.check(MEMORY_RULES, self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPatch(limits.Bounded, Patch):
    """A change to a memory. Counters of use are stored but not journaled."""

    rules: ClassVar = MEMORY_RULES

    namespace: str | Unset = UNSET
    name: str | Unset | None = UNSET
    title: str | Unset = UNSET
    kind: str | Unset = UNSET
    summary: str | Unset | None = UNSET
    tags: tuple[str, ...] | Unset = UNSET
    priority: int | Unset = UNSET
    confidence: float | Unset = UNSET
    quality: float | Unset | None = UNSET
    rating: float | Unset | None = UNSET
    rating_count: int | Unset = UNSET
    tier: Tier | Unset = UNSET
    source: str | Unset | None = UNSET
    metadata: Mapping[str, object] | Unset = UNSET
    session_id: int | Unset | None = UNSET
    created_at: Moment | Unset = UNSET
    updated_at: Moment | Unset = UNSET
    """When it is left unset and something else changes, it becomes the moment of the change."""
    accessed_at: Moment | Unset | None = UNSET
    access_count: int | Unset = UNSET
    days_used: int | Unset = UNSET
    expires_at: Moment | Unset | None = UNSET
    valid_from: Moment | Unset | None = UNSET
    valid_to: Moment | Unset | None = UNSET
    state: State | Unset = UNSET
    state_reason: str | Unset | None = UNSET
    state_at: Moment | Unset | None = UNSET
    texts: Sequence[str] | Unset = UNSET
    """The new body, one text a statement; statements whose text stays are kept."""
