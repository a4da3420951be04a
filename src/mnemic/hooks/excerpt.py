"""The stretch of a long text that answers a question, for a place with little room."""

from __future__ import annotations

import re

from mnemic.search.query import content_words

LEAD = 80
"""Characters that are shown before the first word of the question."""
STEM = 5
"""Words that begin alike are taken for forms of one word."""
_WORD = re.compile(r"\w+")


def excerpt(text: str, question: str, longest: int) -> str:
    """*text*, or its stretch of *longest* characters with most words of *question*; its beginning if it has none."""
    if len(text) <= longest:
        return text
    asked = {word[:STEM] for word in content_words(question)}
    places = [(found.start(), found[0].lower()[:STEM]) for found in _WORD.finditer(text)]
    places = [(start, word) for start, word in places if word in asked]
    starts = [max(0, start - LEAD) for start, _ in places] or [0]
    best = max(starts, key=lambda start: len({word for at, word in places if start <= at < start + longest}))
    return _trimmed(text, best, longest)


def _trimmed(text: str, start: int, longest: int) -> str:
    """The stretch from *start* on, without the words that are cut at its ends, where it has spaces."""
    stretch = text[start : start + longest]
    if start:
        stretch = f"…{stretch.partition(' ')[2] or stretch}"
    return f"{stretch.rpartition(' ')[0] or stretch}…" if start + longest < len(text) else stretch
