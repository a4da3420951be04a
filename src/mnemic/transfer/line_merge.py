"""Three-way merge of a text by lines, for notes that two sides edited apart."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

Change = tuple[int, int, list[str]]
"""The lines from one number to another, and what stands there now."""


def merged_lines(base: str, ours: str, theirs: str) -> str | None:
    """The text with the changes of both sides; None if they changed the same or adjoining lines in different ways."""
    lines = base.split("\n")
    changes = sorted([*_changes(lines, ours.split("\n")), *_changes(lines, theirs.split("\n"))])
    result: list[str] = []
    place = 0
    last: Change | None = None
    for change in changes:
        if change == last:
            continue  # both made it
        first, end, new = change
        if last is not None and first <= last[1]:
            return None
        result += [*lines[place:first], *new]
        place, last = end, change
    return "\n".join([*result, *lines[place:]])


def _changes(base: Sequence[str], text: Sequence[str]) -> list[Change]:
    matcher = SequenceMatcher(None, base, text, autojunk=False)
    return [
        (first, last, list(text[start:end]))
        for tag, first, last, start, end in matcher.get_opcodes()
        if tag != "equal"
    ]
