"""From a question to the terms it is searched by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mnemic.retrieval.periods import untimed
from mnemic.storage import text
from mnemic.storage.base import Reader

# Words that stand in any English question and tell nothing about its subject, cut at apostrophes.
STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn did didn do does doesn doing don down during each else ever
    few for from further get got had hadn has hasn have haven having he her here hers herself him himself
    his how i if in into is isn it its itself just know let like me more most my myself no nor not of off on
    once only or other our ours ourselves out over own please same she should shouldn so some such tell than
    that the their theirs them themselves then there these they this those through to too under until up us
    very was wasn we were weren what when where which while who whom whose why will with would wouldn you
    your yours yourself yourselves d ll m re s t ve
    """.split()
)
COMMON = 0.2
LARGE = 20_000
"""In a store of so many memories a term in more than a fifth of them is left out while others remain: walking its long
list costs more than it tells. In a small store it tells something (BEAM any@5 0.767 with such terms, 0.726 without)."""
KEPT_AT_LEAST = 2
CORRECTIONS = 3
MAX_TERMS = 64


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
    """The distinct words of *question* that tell what it is about; all of them if none does."""
    found = list(dict.fromkeys(text.words(question)))
    telling = [word for word in found if word not in STOP_WORDS]
    return (telling or found)[:MAX_TERMS]


def asked_words(question: str) -> list[str]:
    """The content words of *question* but those that only tell when, which `period` reads; all if no other is left."""
    telling, left = content_words(question), set(text.words(untimed(question)))
    return [word for word in telling if word in left] or telling


def query_terms(reader: Reader, question: str) -> Terms:
    """The terms to search for, without those that stand nearly everywhere, with near spellings of unknown ones."""
    telling = asked_words(question)
    if len(telling) == 0:
        return Terms(())
    frequency = reader.frequencies(telling)
    kept = _without_common(reader, telling, frequency)
    unknown = [word for word in kept if not frequency[word] and " " not in word]
    close = (near for word in unknown for near in reader.spellings(word, CORRECTIONS))
    return Terms(tuple(kept), tuple(near for near in close if near not in STOP_WORDS))


def exact_terms(reader: Reader, question: str) -> list[str]:
    """The terms to search for as they are written, without those that stand nearly everywhere."""
    telling = asked_words(question)
    return _without_common(reader, telling, reader.frequencies(telling)) if telling else []


def _without_common(reader: Reader, telling: list[str], frequency: Mapping[str, int]) -> list[str]:
    total = reader.size()
    rare = [word for word in telling if total < LARGE or frequency[word] <= COMMON * total]
    return rare if len(rare) >= KEPT_AT_LEAST else telling
