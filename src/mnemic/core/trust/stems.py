"""Stemming by Snowball, for languages without a dictionary here."""

from __future__ import annotations

from functools import cache, lru_cache

import Stemmer

_NAMES = {"de": "german", "fr": "french", "es": "spanish", "ru": "russian"}


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(_NAMES[language])


@lru_cache(maxsize=8192)
def stem(word: str, language: str) -> str:
    """The stem of a word in lower case; the word itself where no stemmer is known."""
    if language not in _NAMES:
        return word
    return str(_stemmer(language).stemWord(word))
