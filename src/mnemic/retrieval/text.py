"""From a question to the terms it is searched by."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.storage import text
from mnemic.storage.base import Reader

# Words that stand in any English question and tell nothing about its subject.
STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are aren't as at be because been before being below between both
    but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each else ever few for
    from further get got had hadn't has hasn't have haven't having he her here hers herself him himself his how i if in
    into is isn't it its itself just know let like me more most my myself no nor not of off on once only or other our
    ours ourselves out over own please same she should shouldn't so some such tell than that the their theirs them
    themselves then there these they this those through to too under until up us very was wasn't we were weren't what
    when where which while who whom whose why will with won't would wouldn't you your yours yourself yourselves
    d ll m re s t ve
    """.split()
)
COMMON = 0.2
"""A term in more than this share of the memories is left out while others remain."""
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


def query_terms(reader: Reader, question: str) -> Terms:
    """The terms to search for, without those that stand nearly everywhere, with near spellings of unknown ones."""
    telling = content_words(question)
    if len(telling) == 0:
        return Terms(())
    frequency = reader.frequencies(telling)
    total = reader.count()
    rare = [word for word in telling if frequency[word] <= COMMON * total]
    kept = rare if len(rare) >= KEPT_AT_LEAST else telling
    unknown = [word for word in kept if not frequency[word] and " " not in word]
    corrected = [near for word in unknown for near in reader.spellings(word, CORRECTIONS)]
    return Terms(tuple(kept), tuple(corrected))
