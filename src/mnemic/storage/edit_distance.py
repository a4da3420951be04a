"""Words one letter away from another, for the correction of misspelt ones."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from mnemic.model.memory import Memory
from mnemic.storage import tokenizer

SHORTEST, LONGEST = 4, 40
"""Of a shorter word too many are one letter away; a longer one is no word that someone mistyped."""
LOOKED_AT = 5
"""Memories in which a spelling is looked for as it is written."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def plain(body: str) -> str:
    """*body* in lower case and without its accents, as the index compares."""
    if body.isascii():
        return body.lower()
    parts = unicodedata.normalize("NFD", body.lower())
    return unicodedata.normalize("NFC", "".join(part for part in parts if not unicodedata.combining(part)))


def one_edit_away(word: str) -> set[str]:
    """Every word that one insertion, deletion, replacement or swap of neighbours makes of *word*."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    letters = _LETTERS if word.isalpha() else _LETTERS + "0123456789"
    inserted = {head + letter + tail for head, tail in cuts for letter in letters}
    replaced = {head + letter + tail[1:] for head, tail in cuts if tail for letter in letters}
    deleted = {head + tail[1:] for head, tail in cuts if tail}
    swapped = {head + tail[1] + tail[0] + tail[2:] for head, tail in cuts if len(tail) > 1}
    return (inserted | replaced | deleted | swapped) - {word}


def one_edit(left: str, right: str) -> bool:
    """True if one insertion, deletion, replacement or swap of neighbours turns *left* into *right*."""
    if left == right or abs(len(left) - len(right)) > 1:
        return False
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    rest_left, rest_right = left[start:], right[start:]
    if len(left) > len(right):
        return rest_left[1:] == rest_right
    if len(left) < len(right):
        return rest_left == rest_right[1:]
    swapped = rest_left[1::-1] == rest_right[:2] and rest_left[2:] == rest_right[2:]
    return rest_left[1:] == rest_right[1:] or swapped


def is_written(word: str, memories: Iterable[Memory]) -> bool:
    """Whether one of *memories* has a word one letter away from *word*."""
    bodies = (" ".join((one.title, one.summary or "", *one.tags, one.content)) for one in memories)
    return any(one_edit(word, other) for body in bodies for other in tokenizer.words(plain(body)))
