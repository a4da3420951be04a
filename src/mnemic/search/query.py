"""From a question to the terms it is searched by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from mnemic.model.languages import candidates
from mnemic.model.stop_words import stop_words
from mnemic.search.common_words import is_common
from mnemic.search.dates import untimed
from mnemic.search.proper_names import name_words
from mnemic.storage import tokenizer
from mnemic.storage.base import Reader

STOP_WORDS = stop_words("en")
COMMON = 0.2
LARGE = 20_000
"""In a store of so many memories a term in more than a fifth of them is left out while others remain: walking its long
list costs more than it tells. In a small store it tells something (BEAM any@5 0.767 with such terms, 0.726 without)."""
KEPT_AT_LEAST = 2
CORRECTIONS = 3
MOST_MISSPELT = 2
"""A question with more unknown words is about something unknown: hardly anybody mistypes three words."""
MAX_TERMS = 64
SPACELESS = frozenset(("zh", "ja", "ko"))
"""The languages that are compared by pairs of characters."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a question is searched by: its telling words as written, and near spellings of the unknown ones."""

    exact: tuple[str, ...]
    corrected: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        """Every term, written and corrected."""
        return self.exact + self.corrected


def content_words(question: str) -> list[str]:
    """The distinct words of *question* that tell what it is about; all of them if none does.

    In another language than English with their stems.
    """
    languages = candidates(question)
    found = list(dict.fromkeys(_words(question, languages)))
    stopped = _stopped(languages if languages[0] != "en" else ("en",))
    telling = [word for word in found if word not in stopped]
    return (telling or found)[:MAX_TERMS]


def all_words(question: str) -> tuple[str, ...]:
    """The distinct words of *question*, in another language than English with their stems."""
    return tuple(dict.fromkeys(_words(question, candidates(question))))[:MAX_TERMS]


def _words(question: str, languages: Sequence[str]) -> Sequence[str]:
    if tokenizer.STEMMED.keys().isdisjoint(languages):
        return tokenizer.words(question)
    return tokenizer.question_words(question, languages)


@lru_cache(maxsize=64)
def _stopped(languages: tuple[str, ...]) -> frozenset[str]:
    """The stop words of *languages*, as they are compared."""
    found: set[str] = set()
    for language in languages:
        for word in stop_words(language):
            found.update(tokenizer.words(word) if language in SPACELESS else (word,))
    return frozenset(found)


@lru_cache(maxsize=64)
def asked_words(question: str) -> tuple[str, ...]:
    """The content words of *question* but those that only tell when, which `period` reads; all if no other is left."""
    telling, left = content_words(question), set(tokenizer.words(untimed(question)))
    return tuple([word for word in telling if word in left] or telling)


TermKey = tuple[str, tuple[str, ...]]


def term_key(term: str) -> TermKey:
    """Identity of a term: its spelling, without the stems it is searched by."""
    return str(term), getattr(term, "stems", ())


class Vocabulary:
    """Word statistics of some namespaces, each looked up once for a question."""

    def __init__(self, reader: Reader, namespaces: Sequence[str] | None):
        self._reader = reader
        self._namespaces = namespaces
        self._total: int | None = None
        self._holders: dict[TermKey, int] = {}
        self._spellings: dict[str, list[str]] = {}

    @property
    def total(self) -> int:
        """How many memories are living there."""
        if self._total is None:
            self._look_up(())
        assert self._total is not None
        return self._total

    def holders(self, terms: Iterable[str]) -> dict[str, int]:
        """Document frequency of each term."""
        keys = {term: term_key(term) for term in terms}
        if missing := [term for term, key in keys.items() if key not in self._holders]:
            self._look_up(missing)
        return {term: self._holders[key] for term, key in keys.items()}

    def _look_up(self, terms: Sequence[str]) -> None:
        found = self._reader.statistics(terms, self._namespaces)
        self._total = found.total
        for term, count in found.holders.items():
            self._holders[term_key(term)] = count

    def spellings(self, word: str) -> list[str]:
        """Words there that are one letter away from *word*, the likeliest first."""
        if word not in self._spellings:
            self._spellings[word] = self._reader.spellings(word, CORRECTIONS, self._namespaces)
        return self._spellings[word]


def query_terms(vocabulary: Vocabulary, question: str) -> Terms:
    """The terms to search for, without those that occur in nearly every memory.

    A word that occurs nowhere is searched in every language it may be of and, if it is no name, with near
    spellings.
    """
    telling = asked_words(question)
    if len(telling) == 0:
        return Terms(())
    frequency = vocabulary.holders(telling)
    kept = _without_common(vocabulary, telling, frequency)
    unknown = [word for word in kept if not frequency[word]]
    if not unknown:
        return Terms(kept)
    widened = {word: tokenizer.with_stems(word, _possible(question, word)) for word in unknown}
    found = vocabulary.holders(widened.values())
    named = name_words(question, capitals=candidates(question)[0] != "de")
    typos = [word for word in unknown if not found[word] and _is_misspellable(word, named)]
    exact = tuple(widened.get(word, word) for word in kept)
    return Terms(exact, tuple(chain(*near_spellings(vocabulary, typos).values())))


def near_spellings(vocabulary: Vocabulary, unknown: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Known words one letter away from those of the *unknown* ones that may be misspelt.

    A common English word is none of them ("ship" is not meant to be "shop"), nor is any of more than a few.
    """
    misspelt = [word for word in unknown if not is_common(word)]
    if len(misspelt) > MOST_MISSPELT:
        return {}
    found = {word: vocabulary.spellings(word) for word in misspelt}
    telling = {word: tuple(one for one in near if one not in STOP_WORDS) for word, near in found.items()}
    return {word: near for word, near in telling.items() if near}


def _possible(question: str, word: str) -> Sequence[str]:
    return tuple(dict.fromkeys((*candidates(question), *candidates(word))))


def _is_misspellable(word: str, named: frozenset[str]) -> bool:
    """Whether *word* may be a typo: a name, an identifier or a number is meant as it is written."""
    return word not in named and not any(map(str.isdigit, word))


def exact_terms(vocabulary: Vocabulary, question: str) -> tuple[str, ...]:
    """The terms to search for as they are written, without those that stand nearly everywhere."""
    telling = asked_words(question)
    return _without_common(vocabulary, telling, vocabulary.holders(telling)) if telling else ()


def _without_common(
    vocabulary: Vocabulary, telling: tuple[str, ...], frequency: Mapping[str, int]
) -> tuple[str, ...]:
    total = vocabulary.total
    rare = tuple(word for word in telling if total < LARGE or frequency[word] <= COMMON * total)
    return rare if len(rare) >= KEPT_AT_LEAST else telling


def rarity(vocabulary: Vocabulary, question: str) -> dict[str, float]:
    """How much each telling word of *question* says: the rarer it is, the more."""
    frequencies = vocabulary.holders(content_words(question))
    total = max(1, vocabulary.total)
    return {word: math.log(1 + total / (1 + count)) for word, count in frequencies.items()}
