"""Relevance: the calibrated chance that a hit bears on the question, from signals that mean the same in every store.

The coefficients are fitted by `tools/fit_relevance.py` as a logistic regression over the best hits of questions with
known evidence, so that hits that are evidence and hits that are not weigh the same in every data set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mnemic.model.languages import detect
from mnemic.model.search import Query
from mnemic.retrieval.candidates import Candidate
from mnemic.retrieval.names import name_words
from mnemic.retrieval.text import CORRECTIONS, STOP_WORDS, asked_words
from mnemic.search.answer_type import AnswerType, asked_type, holds, without_measure
from mnemic.search.common_words import information
from mnemic.storage.base import Reader

FLOOR = 0.13
"""If no hit reaches this relevance, the answer is empty unless the query says otherwise."""
GAP = 0.1
"""Hits below this share of the best hit's relevance are left out."""
BRIEF = 12
"""Of a question of more words, the missing ones say less: it tells more than it asks."""
RELATED = 0.3
"""The similarity that related texts have at least."""
PARAPHRASE = 0.35
"""The similarity that an answer in other words mostly has to its question in English; else RELATED."""
READ = 4_000
"""So many characters of a memory are searched for the kind of answer asked for."""
SHORT = 500
"""In a text of so many characters a missing answer weighs half: it may be there in other words."""
EXTENT = 1_000
NARROWEST, WIDEST = 0.2, 2.5
"""Words in scope, in powers of ten above a thousand, between which an unknown word says the more the more there are."""
FOREIGN = 0.6
"""What the words of a question count as unknown beside a text in another script."""
WORD_LENGTH = 5.5
ENGLISH = "en"
SAMPLE = 300
"""So many characters of a memory tell its language."""


class Signals(NamedTuple):
    """What relevance is computed from. The shares weigh each word of the question by its rarity in scope."""

    similarity: float = 0.0
    """Cosine of the best passage, on the scale shared by all models."""
    remoteness: float = 0.0
    """How far that lies below what related texts have at least, where no word of the question supports it."""
    held: float = 0.0
    """Share of the question that the memory holds word for word."""
    missed: float = 0.0
    """Share of the question that other memories in scope hold, but not this one."""
    unknown: float = 0.0
    """Share of the question that stands nowhere in scope, the more telling the more text there is."""
    unknown_name: float = 0.0
    """1 if a name or identifier of the question stands nowhere in scope."""
    no_answer: float = 0.0
    """Up to 1 if the question asks for a person, time, place or number and the memory has none."""
    missed_identifier: float = 0.0
    """Share of the question that is identifiers which other memories in scope hold, but not this one."""
    strangeness: float = 0.0
    """How far the similarity lies below that of a paraphrase, × the square of the share that stands nowhere."""


NO_SIGNALS = Signals()


class Model(NamedTuple):
    """A logistic regression over the signals."""

    intercept: float
    weights: Signals

    def relevance(self, signals: Signals) -> float:
        """The calibrated relevance of a hit with these *signals*."""
        total = sum(weight * value for weight, value in zip(self.weights, signals, strict=True))
        return 1.0 / (1.0 + math.exp(-self.intercept - total))


IDENTIFIER = -4.0
"""Set by hand, since the data has none: PROJ-511 does not answer a question for PROJ-512."""
STRANGE = -25.0
"""Set by hand, since hits of questions without an answer are too few among those of all the data."""
UNKNOWN_NAME = -2.0
"""Set by hand: what is asked about a name that nobody mentioned is not known."""
WITH_VECTORS = Model(-1.02, Signals(4.81, -6.02, 0.0, -2.99, -1.78, UNKNOWN_NAME, -1.64, IDENTIFIER, STRANGE))
WORDS_ONLY = Model(-0.52, Signals(0.0, 0.0, 3.27, -2.43, -0.76, UNKNOWN_NAME, -1.9, IDENTIFIER))


class Term(NamedTuple):
    """A word of the question, how rare it is in scope, and what it is."""

    word: str
    forms: tuple[str, ...]
    """The word, or near spellings of one that is unknown and no name."""
    rarity: float
    is_known: bool
    is_name: bool
    is_identifier: bool


@dataclass(frozen=True, slots=True)
class Question:
    """A question as relevance reads it: its words, and what kind of answer it asks for."""

    text: str
    terms: tuple[Term, ...]
    kind: AnswerType | None
    language: str
    is_latin: bool
    rarity: float
    """That of all its words together."""

    @property
    def unknown_names(self) -> tuple[str, ...]:
        """The names and identifiers that stand nowhere in scope."""
        return tuple(term.word for term in self.terms if term.is_name and not term.is_known)


class Judgement(NamedTuple):
    """How relevant a hit is, and the signals that say so."""

    relevance: float
    signals: Signals


def read_question(reader: Reader, query: Query) -> Question:
    """The question of *query* with its words weighed by how rare they are in scope."""
    words = asked_words(without_measure(query.text))
    language = detect(query.text)
    identifiers = name_words(query.text, capitals=False)
    names = identifiers | name_words(query.text, capitals=language != "de")
    here = query.filter.namespaces
    frequency = reader.frequencies(words, here) if words else {}
    spelt = {
        word: (word,) if frequency[word] or word in names else _spellings(reader, word, here)
        for word in words
    }
    every = [form for forms in spelt.values() for form in forms]
    frequency = reader.frequencies(every, here) if words else {}
    total = reader.size(here)
    terms = tuple(_term(word, spelt[word], frequency, total, names, identifiers) for word in words)
    if language == ENGLISH:
        terms = tuple(_weighed(term) for term in terms)
    rarity = sum(term.rarity for term in terms) or 1.0
    return Question(query.text, terms, asked_type(query.text), language, _is_latin(query.text), rarity)


def _weighed(term: Term) -> Term:
    """*term* with less weight if it is a common English word: a small store cannot tell those from rare ones."""
    return term if term.is_name else term._replace(rarity=term.rarity * information(term.word))


def _term(
    word: str,
    forms: tuple[str, ...],
    frequency: Mapping[str, int],
    total: int,
    names: frozenset[str],
    identifiers: frozenset[str],
) -> Term:
    held = sum(frequency[form] for form in forms)
    return Term(word, forms, _rarity(held, total), held > 0, word in names, word in identifiers)


def _spellings(reader: Reader, word: str, namespaces: Sequence[str] | None) -> tuple[str, ...]:
    """What an unknown word may have been meant to be; itself if nothing is near."""
    near = reader.spellings(word, CORRECTIONS, namespaces)
    return tuple(form for form in near if form not in STOP_WORDS) or (word,)


def judge(reader: Reader, query: Query, candidates: Sequence[Candidate]) -> dict[int, Judgement]:
    """How relevant each of *candidates* is to *query*, by number."""
    question = read_question(reader, query)
    numbers = [candidate.memory_id for candidate in candidates]
    holders = _holders(reader, query, question, numbers)
    texts = reader.contents(numbers)
    extent = _extent(reader.size(query.filter.namespaces), texts)
    judged = {}
    for candidate in candidates:
        has = [candidate.memory_id in holder for holder in holders]
        signals = _signals(question, candidate, has, texts.get(candidate.memory_id, ""), extent)
        model = WORDS_ONLY if candidate.statement_id is None else WITH_VECTORS
        judged[candidate.memory_id] = Judgement(model.relevance(signals), signals)
    return judged


def _holders(
    reader: Reader, query: Query, question: Question, numbers: Sequence[int]
) -> list[frozenset[int]]:
    """For each term of *question*, those of the memories that hold it in any form."""
    forms = [form for term in question.terms for form in term.forms]
    held = iter(reader.each_word(forms, query.filter, numbers) if forms else ())
    return [frozenset().union(*(next(held) for _ in term.forms)) for term in question.terms]


def _signals(
    question: Question, candidate: Candidate, has: Sequence[bool], text: str, extent: float
) -> Signals:
    similarity = max(0.0, candidate.cosine)
    if question.is_latin and not _is_latin(text):
        # Words of another script cannot be compared; a name or identifier would mostly stand there as it is.
        return Signals(
            similarity,
            max(0.0, RELATED - similarity),
            unknown=FOREIGN,
            unknown_name=float(bool(question.unknown_names)),
        )
    missed = [
        term for term, is_held in zip(question.terms, has, strict=True) if term.is_known and not is_held
    ]
    unknown = [term for term in question.terms if not term.is_known]
    held = 1.0 - _share(question, missed) - _share(question, unknown) if question.terms else 0.0
    brevity = min(1.0, BRIEF / max(1, len(question.terms)))
    lacks = question.kind is not None and not holds(text[:READ], question.kind, question.text)
    return Signals(
        similarity=similarity,
        remoteness=max(0.0, RELATED - similarity) * (1.0 - held),
        held=held,
        missed=_share(question, missed) * brevity,
        unknown=_share(question, unknown) * extent * brevity,
        unknown_name=float(bool(question.unknown_names)),
        no_answer=1.0 / (1.0 + len(text) / SHORT) if lacks else 0.0,
        missed_identifier=_share(question, [term for term in missed if term.is_identifier]),
        strangeness=_strangeness(question, similarity, text, _share(question, unknown)) * brevity,
    )


def _strangeness(question: Question, similarity: float, text: str, unknown: float) -> float:
    """See `Signals`. 0 beside a text in another language, and for one word alone, which may be a synonym."""
    least = PARAPHRASE if question.language == ENGLISH else RELATED
    if similarity >= least or len(question.terms) < 2 or question.language != detect(text[:SAMPLE]):
        return 0.0
    return (least - similarity) * unknown * unknown


def _share(question: Question, terms: Sequence[Term]) -> float:
    """How much of the rarity of the question's words lies in *terms*."""
    return sum([term.rarity for term in terms]) / question.rarity if terms else 0.0


def _rarity(frequency: int, total: int) -> float:
    return math.log(1.0 + (max(0, total - frequency) + 0.5) / (frequency + 0.5))


def _extent(memories: int, texts: Mapping[int, str]) -> float:
    """The estimated number of words in scope, in powers of ten above a thousand."""
    if not texts:
        return 0.0
    words = memories * sum(map(len, texts.values())) / len(texts) / WORD_LENGTH
    return min(WIDEST, max(NARROWEST, math.log10(max(1.0, words) / EXTENT)))


def _is_latin(text: str) -> bool:
    """Whether most letters of the beginning of *text* are Latin."""
    sample = text[:200]
    if sample.isascii():
        return True
    letters = [char for char in sample if char.isalpha()]
    return 2 * sum(char < "\u0250" for char in letters) >= len(letters)
