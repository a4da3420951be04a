"""Cutting a long text into overlapping stretches that a model can read whole."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Stretch = tuple[int, int]

# Where a line, a sentence or a clause ends: the earlier in the list, the better a place to cut.
ENDS = (
    re.compile(r"\n\s*"),
    re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？]"),
    re.compile(r"[,;:]\s+|[，；：、]|\s[-–—]\s+"),
)
PIECE = re.compile(r"\S{1,60}\s{0,60}|\s{1,60}")


@dataclass(frozen=True, slots=True)
class WordOffsets:
    """The words of a text, the places where it may be cut, and their size in what a model counts.

    `starts` has the character at which each word begins and, last, the length of the text; `before` how
    much lies before each word and, last, how much there is.
    """

    starts: Sequence[int]
    before: Sequence[int]

    def at(self, character: int) -> int:
        """The first word that begins at *character* or later."""
        return bisect_left(self.starts, character)

    def after(self, word: int, size: int) -> int:
        """The word by which at most *size* has passed since *word*, and always a later one."""
        return max(word + 1, bisect_right(self.before, self.before[word] + size) - 1)

    def ahead(self, word: int, size: int) -> int:
        """The first word that lies no more than *size* before *word*."""
        return bisect_left(self.before, self.before[word] - size)


def windows(text: str, words: WordOffsets, size: int, overlap: int) -> list[Stretch]:
    """The stretches of *text* of at most *size* each, every character in at least one of them."""
    cuts = list(spans(text, words, size, overlap))
    starts = [0, *(words.starts[first] for first, _ in cuts[1:])]
    return [(start, words.starts[end]) for start, (_, end) in zip(starts, cuts, strict=True)]


def spans(text: str, words: WordOffsets, size: int, overlap: int) -> Iterator[Stretch]:
    """The same stretches, as a first word and the word after the last."""
    first, last = 0, len(words.starts) - 1
    while (end := words.after(first, size) if last else 0) < last:
        earliest = max(first + 1, words.after(first, size * 3 // 4))
        end = place(text, words, earliest, end, latest=True)
        yield first, end
        first = place(text, words, max(first + 1, words.ahead(end, overlap)), end, latest=False)
    yield first, last


def place(text: str, words: WordOffsets, low: int, high: int, *, latest: bool) -> int:
    """The word between *low* and *high* that best begins something new; *latest* prefers late ones."""
    stretch = text[words.starts[low - 1] : words.starts[high]]
    for end in ENDS:
        found = [words.at(words.starts[low - 1] + match.end()) for match in end.finditer(stretch)]
        fitting = [word for word in found if low <= word <= high]
        if fitting:
            return fitting[-1 if latest else 0]
    return high if latest else low


def character_windows(text: str, size: int, overlap: int) -> list[Stretch]:
    """Stretches of at most *size* characters, for models whose tokens we cannot count."""
    if len(text) <= size:
        return [(0, len(text))]
    starts = [piece.start() for piece in PIECE.finditer(text)] + [len(text)]
    return windows(text, WordOffsets(starts, starts), size, overlap)
