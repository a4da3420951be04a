"""Tokenizer: one set of rules for indexed texts and queries, on every engine.

Text is compared in NFKC, case-folded (ß = ss), without Arabic vowel signs and with ё as е; the engine folds other
diacritics. Runs of a script written without spaces become overlapping pairs of characters. A symbol is a word. A word
of a language other than English is indexed as it is written and, beside that, by its Snowball stem.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Protocol

from mnemic.model.languages import detect
from mnemic.model.stop_words import stop_words

NAMESPACE_MARK, STEM_MARK = "\ue000", "\ue001"
"""The first characters of our own tokens, which no token of a text has: a namespace's number, a stem."""
STEMMED = {
    "ar": "arabic", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "es": "spanish", "fa": "persian",
    "fi": "finnish", "fr": "french", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""The languages that have a stemmer besides English, which the engine stems itself, and what Snowball calls them."""
SHORTEST_STEMMED = 3

# Scripts written without spaces between words, Thai to Khmer, kana, Han; and Hangul, whose particles have none.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_FIRST_SPACELESS = "\u0e00"
_WORD = re.compile(r"\w+")
_IDENTIFIER = re.compile(r"\w*(?:_|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z][0-9]|[0-9][A-Za-z])\w*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Of bytes, since these are looked up in a fifth of the time that characters take.
_ASCII = "".join(char.lower() if _WORD.match(char) else " " for char in map(chr, range(128)))
WORD_BYTES = _ASCII.encode() + bytes(range(128, 256))
"""For bytes.translate: ASCII letters in lower case, digits and underscores; all other ASCII as spaces."""
_LOWER = b"abcdefghijklmnopqrstuvwxyz"
_SHAPE = bytes.maketrans(_LOWER + _LOWER.upper() + b"0123456789", b"a" * 26 + b"A" * 26 + b"0" * 10)
# Arabic vowel signs and the stroke that lengthens words; variants and skin tones of emoji.
_LEFT_OUT = frozenset(
    (*range(0x064B, 0x0653), 0x0640, 0x0670, 0xFE0E, 0xFE0F, *range(0x1F3FB, 0x1F400), 0xE000, 0xE001)
)
_local = threading.local()


class _Stemmer(Protocol):
    """A stemmer of PyStemmer, which has no types."""

    def stemWord(self, word: str) -> str: ...  # noqa: N802


class Word(str):
    """A word of a question, equal to its spelling, with the marked stems it may stand as in the index."""

    __slots__ = ("stems",)
    stems: tuple[str, ...]

    def __new__(cls, spelling: str, stems: Iterable[str] = ()) -> Word:
        """*spelling* with these *stems*."""
        word = super().__new__(cls, spelling)
        word.stems = tuple(stems)
        return word


class _Characters(dict[int, str | None]):
    """For str.translate: what a character becomes; filled as characters are met."""

    def __missing__(self, code: int) -> str | None:
        found = self[code] = _as_token(code)
        return found


def _as_token(code: int) -> str | None:
    char = chr(code)
    category = unicodedata.category(char)
    if code in _LEFT_OUT:
        return None
    if category == "So":
        return f" {char} "
    return char if category[0] in "LNM" or category == "Co" or char == "_" else " "


_CHARACTERS = _Characters({ord("ё"): "е", ord("Ё"): "е"})


@cache  # compiling it takes 8 ms, and most processes never see such a script
def _run() -> re.Pattern[str]:
    return re.compile(f"[{_SPACELESS}]+")


def normalized(text: str) -> str:
    """*text* as the index reads it: tokens between spaces unless it is ASCII, which the engine folds."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFC", text).translate(_CHARACTERS)
    folded = unicodedata.normalize("NFKC", plain).casefold()
    if max(folded, default="") < _FIRST_SPACELESS:
        return folded
    return _run().sub(lambda run: f" {' '.join(pairs(run[0]))} ", folded)


def pairs(run: str) -> list[str]:
    """The overlapping pairs of characters of a run; a single character is its own token."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def words(text: str) -> list[str]:
    """The words of *text* in order, case-folded; a run of a spaceless script gives its pairs."""
    if text.isascii():
        return text.encode().translate(WORD_BYTES).decode().split()  # six times faster than a pattern
    return normalized(text).split()


def question_words(question: str, languages: Sequence[str]) -> list[Word]:
    """The words of *question* in order, each with its stems in these *languages*."""
    return [with_stems(word, languages) for word in words(question)]


def with_stems(word: str, languages: Iterable[str]) -> Word:
    """*word* with its stems in each of *languages* that has a stemmer."""
    if not _is_stemmed(word):
        return Word(word)
    return Word(word, dict.fromkeys(_marked(word, language) for language in languages if language in STEMMED))


def stems(text: str) -> str:
    """The marked stems of *text* in the language it is written in, between spaces; none for English."""
    language = detect(text)
    if language not in STEMMED:
        return ""
    stopped = stop_words(language)
    return " ".join(
        _marked(word, language) for word in words(text) if _is_stemmed(word) and word not in stopped
    )


def _is_stemmed(word: str) -> bool:
    # A vowel sign of an Indic script is no letter; of the characters a word consists of, digits alone rule a stem out.
    return len(word) >= SHORTEST_STEMMED and "_" not in word and not any(map(str.isdigit, word))


def _marked(word: str, language: str) -> str:
    return STEM_MARK + _stemmer(language).stemWord(word)


def _stemmer(language: str) -> _Stemmer:
    """This thread's stemmer, since one must not be used by two threads at once."""
    made: dict[str, _Stemmer] = _local.__dict__.setdefault("stemmers", {})
    if language not in made:
        import Stemmer  # a millisecond that English texts do without

        made[language] = Stemmer.Stemmer(STEMMED[language])
    return made[language]


def identifier_parts(text: str) -> str:
    """The parts of the code identifiers in *text*: `parse_config` and `HTTPServer` give four words."""
    # Prose ends here after 1 µs; the pattern would take 40, a tenth of a write.
    shape = text.encode(errors="replace").translate(_SHAPE).decode()  # to look into bytes takes twice as long
    if not _has_identifier(shape):
        return ""
    named = (_PART.findall(name) for name in _WORD.findall(text) if _IDENTIFIER.fullmatch(name))
    return " ".join(part for parts in named if len(parts) > 1 for part in parts)


def _has_identifier(shape: str) -> bool:
    """Whether there may be one in a text of which every letter has become an a or A and every digit a 0."""
    if "_" in shape or "aA" in shape or "AAa" in shape:
        return True
    return "0" in shape and ("a0" in shape or "A0" in shape or "0a" in shape or "0A" in shape)
