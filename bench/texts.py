"""Generated texts and questions, the same in every run, with a realistic distribution of words.

The dialect is that of the English model's tokenizer, which lists words from about the most to the least frequent,
mixed with pronounceable made-up names. Words follow Zipf's law.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

from mnemic.embedding.local import ENGLISH
from mnemic.search.query import STOP_WORDS

VERSION = 3
"""Raise it when the texts change: stores of the old ones are then built again."""
SEED = "mnemic"
CHARACTERS = 320
HALF_A_SENTENCE = 36
LONGEST_SENTENCE = 14
SHORTEST = 3
"""A word of two letters and a blank."""
NAMES = 8_000
WORD_START = "Ġ"
"""How the tokenizer marks a piece that begins a word."""
FIRST_NAME_RANK = 400
EXPONENT = 1.0
FLATTENING = 2.7
"""Zipf-Mandelbrot: the most frequent words of English are rarer than 1/rank predicts."""
SYLLABLES = (
    "ka",
    "lo",
    "mi",
    "ren",
    "tor",
    "vel",
    "sha",
    "du",
    "pin",
    "gra",
    "fe",
    "nox",
    "bi",
    "zan",
    "qui",
    "orm",
)


@cache
def dialect() -> tuple[str, ...]:
    """The words, most frequent first."""
    pieces = json.loads((ENGLISH.folder / "tokenizer.json").read_text())["model"]["vocab"]
    known = {piece[1:]: number for piece, number in pieces.items() if piece[0] == WORD_START}
    english = [word for word in sorted(known, key=known.__getitem__) if _is_word(word)]
    chance = random.Random(SEED)
    names = dict.fromkeys("".join(chance.choices(SYLLABLES, k=chance.randint(2, 4))) for _ in range(NAMES))
    mixed = english[:FIRST_NAME_RANK]
    rest = [*english[FIRST_NAME_RANK:], *(name for name in names if name not in known)]
    places = sorted(range(len(rest)), key=lambda place: place + chance.uniform(0, len(rest) / 2))
    return (*mixed, *(rest[place] for place in places))


def _is_word(text: str) -> bool:
    return text.isascii() and text.isalpha() and text.islower() and len(text) > 1


@cache
def _weights() -> tuple[float, ...]:
    return tuple(accumulate(1 / (rank + FLATTENING) ** EXPONENT for rank in range(1, len(dialect()) + 1)))


def text(number: int) -> str:
    """The text of memory *number*: a few sentences, about 320 characters."""
    chance = random.Random(f"{SEED} {number}")
    length = chance.randint(CHARACTERS * 3 // 4, CHARACTERS * 5 // 4)
    words = iter(chance.choices(dialect(), cum_weights=_weights(), k=length // SHORTEST + LONGEST_SENTENCE))
    sentences: list[str] = []
    while sum(map(len, sentences)) < length - HALF_A_SENTENCE:
        sentences.append(
            " ".join(next(words) for _ in range(chance.randint(6, LONGEST_SENTENCE))).capitalize() + "."
        )
    return " ".join(sentences)


def texts(count: int, first: int = 0) -> Iterator[str]:
    """The texts of *count* memories from number *first* on."""
    return map(text, range(first, first + count))


def key_words(number: int, count: int) -> list[str]:
    """*count* different words of memory *number*, no stop words, as somebody looking for it would type."""
    words = dict.fromkeys(word.strip(".").lower() for word in text(number).split())
    candidates = [word for word in words if word not in STOP_WORDS and len(word) > 2]
    return random.Random(f"{SEED} ask {number}").sample(candidates, count)


def question(number: int) -> str:
    """A question that memory *number* answers."""
    first, second, third, fourth = key_words(number, 4)
    return f"What did we say about {first} and the {second}, and how does it {third} with {fourth}?"


def misspelt_question(number: int) -> str:
    """The same with two letters of its longest word swapped."""
    asked = question(number)
    word = max(key_words(number, 4), key=len)
    return asked.replace(word, word[:2] + word[3] + word[2] + word[4:])
