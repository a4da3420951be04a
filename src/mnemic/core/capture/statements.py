"""Detection of lasting statements in what a person says: rules, decisions, facts to remember, corrections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mnemic.core.capture.cues import CONFIDENCE, QUESTION, UNSAID, cues

MOST_STATEMENTS = 8
"""A message with more of them is a document, not a conversation: nothing is taken from it."""
SHORTEST, LONGEST = 12, 400
SHORTEST_DENSE = 6
"""The same in a script whose characters are words."""
FEWEST_WORDS = 3
PASTED_CHARACTERS = 2_500
"""A longer message is mostly pasted; only its beginning and its end are what the person says."""
SAID_CHARACTERS = 600
_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|\||\$ |#!|diff |@@|[+-]{3} ).*$", re.MULTILINE)
_TAGGED = re.compile(r"<([a-zA-Z][\w-]*)(?:\s[^<>]*)?>.*?</\1>", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)]|#+)\s+")
_END = re.compile(r"(?<=[.!?])\s+(?=[\"'“(]?[^\W\d_])|(?<=[。！？])|\n+")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_PREFACE = re.compile(
    r"^(?:(?:ok(?:ay)?|oh|hm+|ah|yes|well|also|hey|ja|gut|bon|vale|はい|好的?)[,.!，、 ]+"
    r"|(?:(?:once )?(?:again|more)|important|reminder|wichtig|noch ?mals?|noch einmal|encore une fois|otra vez)[,:!] *"
    r"|(?:as )?i (?:already |just )?(?:told you|said)(?: (?:before|already|twice))?(?: that| to|[:,]) *)+",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(r"\b(?:it|them|they|(?:an?|the) \w+ one|one|instead)\b", re.IGNORECASE)
"""A statement with such a word says nothing without the one right before it: "Always write a new one."."""
_SYMBOLS = re.compile(r"[{}=;<>\\|_]")


@dataclass(frozen=True, slots=True)
class LastingStatement:
    """Something a person said that is to last, in their words."""

    text: str
    kind: str
    confidence: float


def lasting_statements(message: str) -> list[LastingStatement]:
    """The lasting statements in *message*, in order; none if it is a document rather than something said."""
    found: dict[str, LastingStatement] = {}
    last: LastingStatement | None = None
    for sentence in _sentences(_said(message)):
        one = _statement(sentence)
        if one and last and _REFERS_BACK.search(sentence) and len(last.text) + len(sentence) < LONGEST:
            found.pop(last.text, None)
            one = replace(last, text=f"{last.text} {sentence}")
        if one:
            found.setdefault(one.text, one)
        last = one
    return list(found.values()) if len(found) <= MOST_STATEMENTS else []


def _said(message: str) -> str:
    """What the person says in *message*: without code, quotes, marked-up passages and pasted documents."""
    text = _QUOTED_LINE.sub("", _TAGGED.sub("\n", _CODE.sub("\n", message))).strip()
    if len(text) <= PASTED_CHARACTERS:
        return text
    return f"{text[:SAID_CHARACTERS].rpartition(' ')[0]}\n{text[-SAID_CHARACTERS:].partition(' ')[2]}"


def _sentences(text: str) -> Iterator[str]:
    for part in _END.split(text):
        yield _BULLET.sub("", part).strip()


def _statement(sentence: str) -> LastingStatement | None:
    """*sentence* as a statement, or None if it is none."""
    plain = _PREFACE.sub("", sentence.replace("’", "'"))
    if not _fits(plain) or QUESTION.search(plain) or UNSAID.search(plain):
        return None
    kind = next((cue.kind for cue in cues() if cue.pattern.search(plain)), None)
    return LastingStatement(sentence, kind, CONFIDENCE[kind]) if kind else None


def _fits(sentence: str) -> bool:
    """Whether *sentence* is prose and long enough to be understood alone."""
    if _DENSE.search(sentence):
        return SHORTEST_DENSE <= len(sentence) <= LONGEST
    is_prose = len(_SYMBOLS.findall(sentence)) * 12 < len(sentence)
    return SHORTEST <= len(sentence) <= LONGEST and len(sentence.split()) >= FEWEST_WORDS and is_prose
