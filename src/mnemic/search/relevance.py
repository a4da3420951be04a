"""Relevance: the calibrated chance that a hit bears on the question, from signals that mean the same in every store.

The coefficients are fitted by `tools/fit_relevance.py` as a logistic regression over the best hits of questions with
known evidence, so that hits that are evidence and hits that are not weigh the same in every data set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from mnemic.model.candidates import Candidate
from mnemic.model.filter import Query
from mnemic.model.languages import detect
from mnemic.search.answer_type import AnswerType, asked_type, holds, without_measure
from mnemic.search.common_words import information
from mnemic.search.proper_names import name_words
from mnemic.search.query import TermKey, Vocabulary, asked_words, near_spellings, term_key
from mnemic.storage.base import Reader
from mnemic.storage.queries import contents

FLOOR = 0.25
"""If no hit reaches this relevance, the answer is empty unless the query says otherwise."""
GAP = 0.15
"""Hits below this share of the best hit's relevance are left out."""
BRIEF = 12
"""Of a question of more words, the missing ones say less: it tells more than it asks."""
CHANCE_MEAN, CHANCE_DEVIATION = 0.03, 0.074
"""The similarity of an English question and an unrelated text: nearly normally distributed."""
RELATED = 0.38
"""The similarity that an answer in another language mostly has at least: there the size of a store tells less.

At 0.31 a store of five German or Japanese notes answered 7 of 12 unknown questions, at 0.38 it answers 3."""
ACROSS = 0.1
"""So much nearer than to an English question are unrelated English texts to one in another language."""
MARGIN = 0.12
"""So much more than the best of as many unrelated texts an answer mostly has."""
READ = 4_000
"""So many characters of a memory are searched for the kind of answer asked for."""
SHORT = 500
"""In a text of so many characters a missing answer weighs half: it may be there in other words."""
HALF_READ = 0.5
"""Of other languages than English only some words for times, places, people and numbers are known."""
EXTENT = 1_000
NARROWEST, WIDEST = 0.2, 2.5
"""Words in scope, in powers of ten above a thousand, between which an unknown word says the more the more there are."""
FOREIGN = 0.6
"""What the words of a question count as unknown beside a text in another script."""
WORD_LENGTH = 5.5
ENGLISH = "en"


class Signals(NamedTuple):
    """What relevance is computed from. The shares weigh each word of the question by its rarity in scope."""

    similarity: float = 0.0
    """Cosine of the best passage, on the scale shared by all models."""
    remoteness: float = 0.0
    """How far that lies below what an answer mostly has (see `expected`), where no word of the question supports it."""
    held: float = 0.0
    """Share of the question that the memory holds word for word."""
    missed: float = 0.0
    """Share of the question that other memories in scope hold, but not this one."""
    unknown: float = 0.0
    """Share of the question that stands nowhere in scope, the more telling the more text there is."""
    unknown_name: float = 0.0
    """Share of the names and identifiers of the question that stand nowhere in scope; less if most of it is known."""
    no_answer: float = 0.0
    """Up to 1 if the question asks for a person, time, place or number and the memory has none."""
    missed_identifier: float = 0.0
    """Share of the question that is identifiers which other memories in scope hold, but not this one."""


NO_SIGNALS = Signals()


class RelevanceModel(NamedTuple):
    """A logistic regression over the signals."""

    intercept: float
    weights: Signals

    def relevance(self, signals: Signals) -> float:
        """The calibrated relevance of a hit with these *signals*."""
        total = sum(weight * value for weight, value in zip(self.weights, signals, strict=True))
        return 1.0 / (1.0 + math.exp(-self.intercept - total))


IDENTIFIER = -7.0
"""Set by hand, since the data has none: PROJ-511 does not answer a question for PROJ-512."""
REMOTE = -20.0
"""Set by hand: the odds between the best of unrelated texts and an answer, by how both are distributed."""
MISSED, UNKNOWN = -2.9, -1.8
"""Set by hand: the data, whose hits nearly all belong to questions with an answer, says -4.5 and -1.9."""
UNKNOWN_NAME = -2.5
"""Set by hand: what is asked about a name that nobody mentioned is not known; the data says -1.4."""
NO_ANSWER = -2.0
"""Set by hand, since few hits are about the right subject and lack what is asked of it; the data says -0.9."""
WITH_VECTORS = RelevanceModel(
    0.57, Signals(3.14, REMOTE, 0.0, MISSED, UNKNOWN, UNKNOWN_NAME, NO_ANSWER, IDENTIFIER)
)
WORDS_ONLY = RelevanceModel(-0.02, Signals(0.0, 0.0, 3.09, -2.54, -1.25, UNKNOWN_NAME, -1.99, IDENTIFIER))


def expected(memories: int, language: str = ENGLISH) -> float:
    """The similarity that an answer in *language* mostly has at least among so many *memories*.

    The best of many unrelated texts is nearer to a question than the best of few: by the median of the largest of as
    many normally distributed numbers, here to within 0.06 deviations up to a million.
    """
    if language != ENGLISH:
        return RELATED
    deviations = 1.52 * math.pow(math.log10(max(1, memories)), 0.66)
    return CHANCE_MEAN + CHANCE_DEVIATION * deviations + MARGIN


class QuestionTerm(NamedTuple):
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
    terms: tuple[QuestionTerm, ...]
    kind: AnswerType | None
    language: str
    is_latin: bool
    rarity: float
    """That of all its words together."""

    @property
    def forms(self) -> tuple[str, ...]:
        """The words to look for, near spellings of unknown ones included."""
        return tuple(form for term in self.terms for form in term.forms)

    @property
    def unknown_name(self) -> float:
        """Share of its names that occur nowhere in scope; it counts in full if half of the question occurs nowhere."""
        names = [term for term in self.terms if term.is_name]
        if not names:
            return 0.0
        unknown = sum(term.rarity for term in self.terms if not term.is_known) / self.rarity
        return sum(not term.is_known for term in names) / len(names) * min(1.0, 2.0 * unknown)


def floor(query: Query, best: float) -> float:
    """The relevance a hit of *query* needs if the most relevant one has *best*.

    An answer whose best hit lies below the floor is empty; else what lies far behind the best is left out.
    """
    if query.min_relevance is not None:
        return query.min_relevance
    return GAP * best if best >= FLOOR else FLOOR


class RelevanceJudgement(NamedTuple):
    """How relevant a hit is, and the signals that say so."""

    relevance: float
    signals: Signals


def read_question(vocabulary: Vocabulary, text: str) -> Question:
    """The question *text* with its words weighed by how rare they are in scope."""
    words = asked_words(without_measure(text))
    language = detect(text)
    identifiers = name_words(text, capitals=False)
    names = _names(text, language)
    frequency = vocabulary.holders(words)
    unknown = [word for word in words if not frequency[word] and word not in names]
    if spelt := near_spellings(vocabulary, unknown):
        frequency |= vocabulary.holders(chain(*spelt.values()))
    terms = tuple(
        _term(word, spelt.get(word, (word,)), frequency, vocabulary.total, names, identifiers)
        for word in words
    )
    if language == ENGLISH:
        terms = tuple(_weighed(term) for term in terms)
    rarity = sum(term.rarity for term in terms) or 1.0
    return Question(text, terms, asked_type(text), language, _is_latin(text), rarity)


def unknown_names(reader: Reader, query: Query) -> tuple[str, ...]:
    """The names and identifiers in the question of *query* that stand nowhere in scope."""
    named = _names(query.text, detect(query.text))
    asked = [word for word in asked_words(without_measure(query.text)) if word in named]
    frequency = Vocabulary(reader, query.filter.namespaces).holders(asked)
    return tuple(word for word in asked if not frequency[word])


def _names(question: str, language: str) -> frozenset[str]:
    """The words of names and identifiers in *question*; German writes every noun with a capital."""
    return name_words(question, capitals=language != "de")


def _weighed(term: QuestionTerm) -> QuestionTerm:
    """*term* with less weight if it is a common English word: a small store cannot tell those from rare ones."""
    return term if term.is_name else term._replace(rarity=term.rarity * information(term.word))


def _term(
    word: str,
    forms: tuple[str, ...],
    frequency: Mapping[str, int],
    total: int,
    names: frozenset[str],
    identifiers: frozenset[str],
) -> QuestionTerm:
    held = sum(frequency[form] for form in forms)
    return QuestionTerm(word, forms, _rarity(held, total), held > 0, word in names, word in identifiers)


def judge(
    reader: Reader,
    question: Question,
    candidates: Sequence[Candidate],
    shares: Mapping[TermKey, Mapping[int, float]],
    total: int,
) -> dict[int, RelevanceJudgement]:
    """How relevant each of *candidates* is to *question*, by number.

    *shares* tells which of them hold its words, *total* how many memories are in scope.
    """
    holders = [[shares[term_key(form)] for form in term.forms] for term in question.terms]
    texts = contents(reader, [candidate.memory_id for candidate in candidates])
    scope = _ScopeSize(expected(total, question.language), expected(total), _extent(total, texts))
    judged = {}
    for candidate in candidates:
        has = [any(candidate.memory_id in one for one in forms) for forms in holders]
        signals = _signals(question, candidate, has, texts.get(candidate.memory_id, ""), scope)
        model = WORDS_ONLY if candidate.statement_id is None else WITH_VECTORS
        judged[candidate.memory_id] = RelevanceJudgement(model.relevance(signals), signals)
    return judged


class _ScopeSize(NamedTuple):
    """What the size of a scope says: the similarity an answer has, and how telling unknown words are."""

    expected: float
    foreign: float
    """The similarity of an answer in another script."""
    extent: float


def _signals(
    question: Question, candidate: Candidate, has: Sequence[bool], text: str, scope: _ScopeSize
) -> Signals:
    similarity = max(0.0, candidate.cosine)
    remoteness = max(0.0, scope.expected - similarity)
    if max(similarity, scope.expected) < RELATED and detect(text) != ENGLISH:
        remoteness = RELATED - similarity
    if question.is_latin and not _is_latin(text):
        # Words of another script cannot be compared; a name or identifier would mostly stand there as it is.
        remoteness = max(0.0, max(scope.foreign, RELATED) - similarity)
        return Signals(similarity, remoteness, unknown=FOREIGN, unknown_name=question.unknown_name)
    if question.language != ENGLISH and detect(text) == ENGLISH:
        return _across(question, candidate, has, text, scope)
    missed = [
        term for term, is_held in zip(question.terms, has, strict=True) if term.is_known and not is_held
    ]
    unknown = [term for term in question.terms if not term.is_known]
    held = 1.0 - _share(question, missed) - _share(question, unknown) if question.terms else 0.0
    brevity = min(1.0, BRIEF / max(1, len(question.terms)))
    lacks = question.kind is not None and not holds(text[:READ], question.kind, question.text)
    return Signals(
        similarity=similarity,
        remoteness=remoteness * (1.0 - held),
        held=held,
        missed=_share(question, missed) * brevity,
        unknown=_share(question, unknown) * scope.extent * brevity,
        unknown_name=question.unknown_name,
        no_answer=_surely_lacking(question, text) if lacks else 0.0,
        missed_identifier=_share(question, [term for term in missed if term.is_identifier]),
    )


def _across(
    question: Question, candidate: Candidate, has: Sequence[bool], text: str, scope: _ScopeSize
) -> Signals:
    """The signals of an English text for a question in another language, whose words are mostly not in it."""
    similarity = max(0.0, candidate.cosine)
    absent = [term for term, is_held in zip(question.terms, has, strict=True) if not is_held]
    held = 1.0 - _share(question, absent) if question.terms else 0.0
    lacks = question.kind is not None and not holds(text[:READ], question.kind, question.text)
    return Signals(
        similarity=similarity,
        remoteness=max(0.0, max(scope.foreign + ACROSS, RELATED) - similarity) * (1.0 - held),
        held=held,
        unknown=FOREIGN * (1.0 - held),
        unknown_name=question.unknown_name,
        no_answer=_surely_lacking(question, text) if lacks else 0.0,
        missed_identifier=_share(question, [term for term in absent if term.is_identifier]),
    )


def _surely_lacking(question: Question, text: str) -> float:
    """How sure it is that *text* has no answer of the kind asked for: less in long ones and in other languages."""
    return (1.0 if question.language == ENGLISH else HALF_READ) / (1.0 + len(text) / SHORT)


def _share(question: Question, terms: Sequence[QuestionTerm]) -> float:
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
