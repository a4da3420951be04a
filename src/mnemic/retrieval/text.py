"""From a question to the terms it is searched by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mnemic.model.languages import candidates
from mnemic.model.stop_words import stop_words
from mnemic.retrieval.names import name_words
from mnemic.retrieval.periods import untimed
from mnemic.storage import tokenizer
from mnemic.storage.base import Reader

STOP_WORDS = stop_words("en")
COMMON = 0.2
LARGE = 20_000
"""In a store of so many memories a term in more than a fifth of them is left out while others remain: walking its long
list costs more than it tells. In a small store it tells something (BEAM any@5 0.767 with such terms, 0.726 without)."""
KEPT_AT_LEAST = 2
CORRECTIONS = 3
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


def asked_words(question: str) -> list[str]:
    """The content words of *question* but those that only tell when, which `period` reads; all if no other is left."""
    telling, left = content_words(question), set(tokenizer.words(untimed(question)))
    return [word for word in telling if word in left] or telling


def query_terms(reader: Reader, question: str, namespaces: Sequence[str] | None) -> Terms:
    """The terms to search these namespaces for, without those that stand nearly everywhere there.

    A word that stands nowhere there is looked for in every language it may be of and, if it is no name, is joined by
    near spellings.
    """
    telling = asked_words(question)
    if len(telling) == 0:
        return Terms(())
    frequency = reader.frequencies(telling, namespaces)
    kept = _without_common(reader, telling, frequency, namespaces)
    unknown = [word for word in kept if not frequency[word]]
    if not unknown:
        return Terms(tuple(kept))
    widened = {word: tokenizer.with_stems(word, _possible(question, word)) for word in unknown}
    found = reader.frequencies(list(widened.values()), namespaces)
    named = name_words(question, capitals=candidates(question)[0] != "de")
    typos = [word for word in unknown if not found[word] and _is_misspellable(word, named)]
    close = (near for word in typos for near in reader.spellings(word, CORRECTIONS, namespaces))
    exact = tuple(widened.get(word, word) for word in kept)
    return Terms(exact, tuple(near for near in close if near not in STOP_WORDS))


def _possible(question: str, word: str) -> Sequence[str]:
    return tuple(dict.fromkeys((*candidates(question), *candidates(word))))


def _is_misspellable(word: str, named: frozenset[str]) -> bool:
    """Whether *word* may be a typo: a name, an identifier or a number is meant as it is written."""
    return word not in named and not any(map(str.isdigit, word))


def exact_terms(reader: Reader, question: str, namespaces: Sequence[str] | None) -> list[str]:
    """The terms to search these namespaces for as they are written, without those that stand nearly everywhere."""
    telling = asked_words(question)
    if not telling:
        return []
    return _without_common(reader, telling, reader.frequencies(telling, namespaces), namespaces)


def _without_common(
    reader: Reader, telling: list[str], frequency: Mapping[str, int], namespaces: Sequence[str] | None
) -> list[str]:
    total = reader.size(namespaces)
    rare = [word for word in telling if total < LARGE or frequency[word] <= COMMON * total]
    return rare if len(rare) >= KEPT_AT_LEAST else telling
