"""Profiles: how the numbers a candidate has become one score."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mnemic.model.candidates import Ask, Candidate, Candidates
from mnemic.model.filter import Query
from mnemic.search.candidates import estimated
from mnemic.search.dates import Period, looks_back, period
from mnemic.search.query import Vocabulary, asked_words, exact_terms, query_terms, term_key
from mnemic.search.query_signals import OPENING, asks_for_several, states_rule
from mnemic.search.relevance import NO_SIGNALS, Question, RelevanceJudgement, Signals, judge, read_question
from mnemic.search.similarity import nearest_cosines
from mnemic.storage.base import Reader

if TYPE_CHECKING:
    from mnemic.model.vectors import Embedding

BM25_MOST, LEAST_RARITY = 2.2, 1e-6
"""How many times the rarity of a word its part of BM25 can reach, and the least rarity of a word."""
CERTAIN = 1.0
"""The confidence of what somebody said, as against what was concluded from it."""


class Scored(NamedTuple):
    """A memory's score and the terms it is made of."""

    memory_id: int
    score: float
    terms: Mapping[str, float]
    relevance: float | None = None
    signals: Signals = NO_SIGNALS
    statement_id: int | None = None
    """The statement that matched best, when vectors took part."""


class Profile(Protocol):
    """A way to find candidates and to score them."""

    def scored(self, reader: Reader, query: Query, vector: Embedding | None) -> list[Scored]:
        """The memories that may answer *query*, scored, in any order."""


@dataclass(frozen=True, slots=True)
class QueryWords:
    """The words of a query, weighed by the statistics of the namespaces it asks."""

    question: Question
    searched: tuple[str, ...]
    """What memories are searched by, near spellings included."""
    exact: tuple[str, ...]
    """The telling words as they are written."""
    ceiling: float
    """What a memory that holds every one of them very often would have as its BM25."""
    total: int
    """How many memories are in scope."""
    asks_for_several: bool
    """Whether the answer lies in several memories."""

    @property
    def shared(self) -> tuple[str, ...]:
        """The terms whose part of a memory's BM25 is wanted."""
        return tuple({term_key(term): term for term in (*self.exact, *self.question.forms)}.values())


def read_words(vocabulary: Vocabulary, text: str) -> QueryWords:
    """The words of the question *text*."""
    asked = asked_words(text)
    return QueryWords(
        question=read_question(vocabulary, text),
        searched=query_terms(vocabulary, text).all,
        exact=exact_terms(vocabulary, text),
        ceiling=_ceiling(vocabulary, asked),
        total=vocabulary.total,
        asks_for_several=asks_for_several(text) or looks_back(text),
    )


@dataclass(frozen=True, slots=True)
class NativeRanking:
    """The native ranking: meaning and words blended, weighed by confidence, session neighbours and recency.

    A rule or a preference gains, since it bears on more than its words show. A memory that belongs to a session gains
    from the better of the ones right before and after it, from the best of its session, and from how much of what is
    asked the rest of the session tells of beyond itself: the answer to a question often stands beside the sentence
    that resembles it. One made in the time the question speaks of gains too. Where a question counts, sums up or
    looks back on a time, what resembles one of the best found gains: its answer lies in several memories, and some of
    them have few of its words. Relevance, which also knows what a memory lacks of an answer, decides between those
    that are nearly as good as each other. Similarity counts less in a language that the models do not know, so that
    words decide there. The figures were chosen on the dev halves of LoCoMo, BEAM and SciFact together;
    `bench/retrieval.py` prints the table.
    """

    depth: int = 80
    semantic: float = 0.62
    words: float = 0.26
    fair: float = 0.15
    standing: float = 0.3
    standing_depth: int = 60
    beside: float = 0.3
    session: float = 0.5
    session_best: int = 3
    session_words: float = 0.45
    time: float = 0.3
    alike: float = 0.47
    alike_best: int = 5
    relevance: float = 0.2
    judged_each: int = 2
    judged_least: int = 20

    def scored(self, reader: Reader, query: Query, vector: Embedding | None) -> list[Scored]:
        """The memories that may answer *query*, scored."""
        words = read_words(Vocabulary(reader, query.filter.namespaces), query.text)
        ask = Ask(
            filter=query.filter,
            terms=words.searched,
            text=vector,
            depth=max(self.depth, query.limit),
            shares=words.shared,
            has_traits=True,
            opening=OPENING,
            has_vectors=words.asks_for_several,
        )
        return self.score(reader, query, words, reader.candidates(ask), vector)

    def score(
        self, reader: Reader, query: Query, words: QueryWords, found: Candidates, vector: Embedding | None
    ) -> list[Scored]:
        """The best of the candidates *found*, scored."""
        candidates = estimated(found, vector)
        own = self._own(candidates, words.ceiling, 1.0 if vector is None else vector.trust)
        worth = {number: sum(terms.values()) for number, terms in own.items()}
        lent = {
            "beside": self._beside(candidates, worth),
            "session": self._session(candidates, worth),
            "time": self._time(period(query.text, query.now), candidates),
            "standing": self._standing(candidates),
        }
        for name, values in lent.items():
            _add(own, worth, name, values)
        if words.asks_for_several:
            _add(own, worth, "alike", self._alike(candidates, worth))
        shares = dict(zip(map(term_key, words.shared), found.shares, strict=True))
        covered = self._session_words(
            [shares[term_key(term)] for term in words.exact], candidates, words.ceiling
        )
        _add(own, worth, "session_words", covered)
        best = [candidates[number] for number in self._best(query, worth)]
        judged = judge(reader, words.question, best, shares, words.total)
        _add(own, worth, "relevance", self._relevance(judged, candidates))
        scored = ((one, one.memory_id) for one in best)
        return [
            Scored(number, worth[number], own[number], *judged[number], one.statement_id)
            for one, number in scored
        ]

    def _best(self, query: Query, worth: Mapping[int, float]) -> list[int]:
        """The best candidates, enough of them for the answer."""
        count = max(self.judged_least, self.judged_each * query.limit)
        return heapq.nlargest(count, worth, key=lambda number: (worth[number], number))

    def _relevance(
        self, judged: Mapping[int, RelevanceJudgement], candidates: Mapping[int, Candidate]
    ) -> dict[int, float]:
        """The weight of each relevance, which decides between nearly equal candidates."""
        return {
            number: self.relevance * one.relevance * candidates[number].confidence
            for number, one in judged.items()
        }

    def _own(
        self, candidates: Mapping[int, Candidate], ceiling: float, trust: float
    ) -> dict[int, dict[str, float]]:
        """The base score of each candidate; similarities are weighted by the *trust* in the model.

        Words count as a share of the best BM25 in scope, or of what a fair match of the question would have, if that is
        more: a single common word is no match.
        """
        best = max((candidate.bm25 for candidate in candidates.values()), default=0.0)
        top = max(best, self.fair * ceiling) or 1.0
        return {
            number: {
                "semantic": self.semantic * trust * max(0.0, candidate.cosine) * candidate.confidence,
                "words": self.words * candidate.bm25 / top * candidate.confidence,
            }
            for number, candidate in candidates.items()
        }

    def _standing(self, candidates: Mapping[int, Candidate]) -> dict[int, float]:
        """What the rules and preferences among the nearest candidates gain; an uncertain memory is no rule."""
        certain = (one for one in candidates.values() if one.confidence >= CERTAIN)
        nearest = heapq.nlargest(self.standing_depth, certain, key=attrgetter("cosine"))
        rules = (one for one in nearest if one.cosine > 0 and states_rule(one.opening))
        return {rule.memory_id: self.standing * rule.cosine for rule in rules}

    def _session(self, candidates: Mapping[int, Candidate], worth: Mapping[int, float]) -> dict[int, float]:
        """What the best candidates of each session lend to all of it."""
        sessions: defaultdict[int | None, list[float]] = defaultdict(list)
        for number, value in worth.items():
            sessions[candidates[number].session_id].append(value)
        sessions.pop(None, None)
        shares = {
            session: self.session * sum(heapq.nlargest(self.session_best, values)) / self.session_best
            for session, values in sessions.items()
        }
        placed = ((number, candidates[number].session_id) for number in worth) if shares else ()
        return {number: shares[session] for number, session in placed if session is not None}

    def _session_words(
        self, shares: Sequence[Mapping[int, float]], candidates: Mapping[int, Candidate], ceiling: float
    ) -> dict[int, float]:
        """Bonus for query words that the rest of the session has and the memory itself lacks.

        *shares* is what each word adds to the BM25 of a candidate. Only of words as they are written: which spelling of
        an unknown one was meant is a guess.
        """
        placed = {number: one for number, one in candidates.items() if one.session_id is not None}
        covered = dict.fromkeys(placed, 0.0)
        for held in shares if placed else ():
            best = self._best_of(held, placed)
            for number, one in placed.items():
                covered[number] += max(0.0, best.get(one.session_id, 0.0) - held.get(number, 0.0))
        return {
            number: self.session_words * adds / ceiling * placed[number].confidence
            for number, adds in covered.items()
            if adds > 0
        }

    def _best_of(self, held: Mapping[int, float], placed: Mapping[int, Candidate]) -> dict[int | None, float]:
        """What a word adds, weighed by confidence, to the one in each session that has it best."""
        best: dict[int | None, float] = {}
        for number, adds in held.items():
            if one := placed.get(number):
                best[one.session_id] = max(best.get(one.session_id, 0.0), adds * one.confidence)
        return best

    def _beside(self, candidates: Mapping[int, Candidate], worth: Mapping[int, float]) -> dict[int, float]:
        """What the better neighbour of each candidate in a session lends to it."""
        return {
            number: self.beside * max((worth.get(near, 0.0) for near in one.beside), default=0.0)
            for number, one in candidates.items()
            if one.session_id is not None
        }

    def _time(self, asked: Period | None, candidates: Mapping[int, Candidate]) -> dict[int, float]:
        """What it counts to have been made in the time the question speaks of."""
        if asked is None:
            return {}
        return {
            number: self.time
            for number, one in candidates.items()
            if asked.start <= one.occurred_at <= asked.end
        }

    def _alike(self, candidates: Mapping[int, Candidate], worth: Mapping[int, float]) -> dict[int, float]:
        """What it counts to resemble one of the best: the score moves part of the way to the likeness times that one's.

        So it never exceeds the best score, and what resembles none of them falls behind.
        """
        read = {number: one.vector for number, one in candidates.items() if one.vector is not None}
        first = max(read, key=worth.__getitem__, default=None)
        if first is None:
            return {}
        known = {number: one.vector for number, one in read.items() if one.model == read[first].model}
        best = heapq.nlargest(self.alike_best, known, key=worth.__getitem__)
        if not best or worth[best[0]] <= 0:
            return {}
        near = nearest_cosines(
            list(known.values()), [known[number] for number in best], [worth[number] for number in best]
        )
        drawn = dict(zip(known, near, strict=True))
        return {
            number: self.alike * (drawn.get(number, 0.0) * candidates[number].confidence - value)
            for number, value in worth.items()
        }


def _ceiling(vocabulary: Vocabulary, terms: Sequence[str]) -> float:
    """What a memory that holds every one of *terms* very often would have as its BM25."""
    frequency, total = vocabulary.holders(terms), vocabulary.total
    rarity = (math.log((max(0, total - held) + 0.5) / (held + 0.5)) for held in frequency.values())
    return BM25_MOST * sum(max(LEAST_RARITY, one) for one in rarity) or 1.0


def _add(
    own: Mapping[int, dict[str, float]], worth: dict[int, float], name: str, values: Mapping[int, float]
) -> None:
    """Let each of *values* count as a term of this *name*."""
    for number, value in values.items():
        own[number][name] = value
        worth[number] += value


NATIVE = NativeRanking()
