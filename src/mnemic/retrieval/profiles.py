"""Profiles: how the numbers a candidate has become one score."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple, Protocol

from mnemic.model.search import Query
from mnemic.retrieval.breadth import asks_for_several, likeness
from mnemic.retrieval.candidates import Candidate, gather
from mnemic.retrieval.periods import Period, looks_back, period
from mnemic.retrieval.standing import OPENING, is_standing
from mnemic.retrieval.text import asked_words, exact_terms
from mnemic.search.relevance import NO_SIGNALS, Judgement, Signals, judge
from mnemic.storage.base import Reader, Traits

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedding

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


class Profile(Protocol):
    """A way to find candidates and to score them."""

    def candidates(self, reader: Reader, query: Query, vector: Embedding | None) -> Mapping[int, Candidate]:
        """The memories it looks at."""

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """The candidates it lets through, scored."""


@dataclass(frozen=True, slots=True)
class House:
    """Meaning and words blended, weighed by confidence, seen together with what was said around it and when.

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
    semantic: float = 0.6
    words: float = 0.26
    fair: float = 0.15
    standing: float = 0.25
    standing_depth: int = 60
    beside: float = 0.3
    session: float = 0.5
    session_best: int = 3
    told: float = 0.45
    time: float = 0.3
    alike: float = 0.47
    alike_best: int = 5
    relevance: float = 0.2
    judged_each: int = 2
    judged_least: int = 20

    def candidates(self, reader: Reader, query: Query, vector: Embedding | None) -> Mapping[int, Candidate]:
        """See Profile."""
        return gather(reader, query, vector, max(self.depth, query.limit))

    def scored(self, reader: Reader, query: Query, candidates: Mapping[int, Candidate]) -> list[Scored]:
        """See Profile."""
        asked = period(query.text, query.now)
        several = asks_for_several(query.text) or looks_back(query.text)
        traits = reader.traits(list(candidates))
        ceiling = _ceiling(reader, asked_words(query.text), query.filter.namespaces)
        own = self._own(candidates, traits, ceiling)
        for number, value in self._standing(reader, candidates, traits).items():
            own[number]["standing"] = value
        worth = {number: sum(terms.values()) for number, terms in own.items()}
        lent = {
            "beside": self._beside(reader, worth, traits),
            "session": self._session(worth, traits),
            "time": self._time(asked, traits),
        }
        for name, values in lent.items():
            _add(own, worth, name, values)
        if several:
            _add(own, worth, "alike", self._alike(reader, candidates, worth, traits))
        _add(own, worth, "told", self._told(reader, query, traits, ceiling))
        best = self._best(query, worth)
        judged = judge(reader, query, [candidates[number] for number in best])
        _add(own, worth, "relevance", self._relevance(judged, traits))
        return [Scored(number, worth[number], own[number], *judged[number]) for number in best]

    def _best(self, query: Query, worth: Mapping[int, float]) -> list[int]:
        """The best candidates, enough of them for the answer."""
        count = max(self.judged_least, self.judged_each * query.limit)
        return heapq.nlargest(count, worth, key=lambda number: (worth[number], number))

    def _relevance(self, judged: Mapping[int, Judgement], traits: Mapping[int, Traits]) -> dict[int, float]:
        """What the relevance of each counts, which decides between those that are nearly as good as each other."""
        return {
            number: self.relevance * one.relevance * traits[number].confidence
            for number, one in judged.items()
        }

    def _own(
        self, candidates: Mapping[int, Candidate], traits: Mapping[int, Traits], ceiling: float
    ) -> dict[int, dict[str, float]]:
        """What each candidate is worth by itself.

        Words count as a share of the best BM25 in scope, or of what a fair match of the question would have, if that is
        more: a single common word is no match.
        """
        best = max((candidate.bm25 for candidate in candidates.values()), default=0.0)
        top = max(best, self.fair * ceiling) or 1.0
        return {
            number: {
                "semantic": self.semantic
                * candidate.trust
                * max(0.0, candidate.cosine)
                * traits[number].confidence,
                "words": self.words * candidate.bm25 / top * traits[number].confidence,
            }
            for number, candidate in candidates.items()
            if number in traits
        }

    def _standing(
        self, reader: Reader, candidates: Mapping[int, Candidate], traits: Mapping[int, Traits]
    ) -> dict[int, float]:
        """What the rules and preferences among the nearest candidates gain; what is uncertain is no rule."""
        certain = (candidates[number] for number, told in traits.items() if told.confidence >= CERTAIN)
        nearest = sorted(certain, key=attrgetter("cosine"), reverse=True)[: self.standing_depth]
        stated = {one.statement_id: one for one in nearest if one.statement_id is not None}
        rules = [stated[number] for number in reader.beginning(list(stated), OPENING, is_standing)]
        return {rule.memory_id: self.standing * rule.cosine for rule in rules if rule.cosine > 0}

    def _session(self, worth: Mapping[int, float], traits: Mapping[int, Traits]) -> dict[int, float]:
        """What the best candidates of each session lend to all of it."""
        sessions: defaultdict[int | None, list[float]] = defaultdict(list)
        for number, value in worth.items():
            sessions[traits[number].session_id].append(value)
        sessions.pop(None, None)
        shares = {
            session: self.session * sum(heapq.nlargest(self.session_best, values)) / self.session_best
            for session, values in sessions.items()
        }
        placed = ((number, traits[number].session_id) for number in worth) if shares else ()
        return {number: shares[session] for number, session in placed if session is not None}

    def _told(
        self, reader: Reader, query: Query, traits: Mapping[int, Traits], ceiling: float
    ) -> dict[int, float]:
        """What it counts that the rest of a session tells of words of the question that the memory itself lacks.

        Only of words as they are written: which spelling of an unknown one was meant is a guess.
        """
        placed = {number: one.session_id for number, one in traits.items() if one.session_id is not None}
        if not placed:
            return {}
        told = dict.fromkeys(placed, 0.0)
        terms = exact_terms(reader, query.text, query.filter.namespaces)
        for held in reader.each_word(terms, query.filter, list(placed)):
            best = self._best_of(held, placed, traits)
            for number, session in placed.items():
                told[number] += max(0.0, best.get(session, 0.0) - held.get(number, 0.0))
        return {
            number: self.told * adds / ceiling * traits[number].confidence
            for number, adds in told.items()
            if adds > 0
        }

    def _best_of(
        self, held: Mapping[int, float], placed: Mapping[int, int], traits: Mapping[int, Traits]
    ) -> dict[int, float]:
        """What a word adds, weighed by confidence, to the one in each session that has it best."""
        best: dict[int, float] = {}
        for number, adds in held.items():
            session = placed[number]
            best[session] = max(best.get(session, 0.0), adds * traits[number].confidence)
        return best

    def _beside(
        self, reader: Reader, worth: Mapping[int, float], traits: Mapping[int, Traits]
    ) -> dict[int, float]:
        """What the better neighbour of each candidate lends to it."""
        placed = [number for number in worth if traits[number].session_id is not None]
        if not placed:
            return {}
        return {
            number: self.beside * max((worth.get(near, 0.0) for near in around), default=0.0)
            for number, around in reader.neighbours_in_session(placed).items()
        }

    def _time(self, asked: Period | None, traits: Mapping[int, Traits]) -> dict[int, float]:
        """What it counts to have been made in the time the question speaks of."""
        if asked is None:
            return {}
        return {
            number: self.time
            for number, told in traits.items()
            if asked.start <= told.occurred_at <= asked.end
        }

    def _alike(
        self,
        reader: Reader,
        candidates: Mapping[int, Candidate],
        worth: Mapping[int, float],
        traits: Mapping[int, Traits],
    ) -> dict[int, float]:
        """What it counts to resemble one of the best: the score moves part of the way to the likeness times that one's.

        So it never exceeds the best score, and what resembles none of them falls behind.
        """
        vectors = reader.vectors(list(worth))
        placed = ((number, candidates[number].statement_id) for number in worth)
        read = {number: vectors[at] for number, at in placed if at in vectors}
        first = max(read, key=worth.__getitem__, default=None)
        if first is None:
            return {}
        known = {number: one.vector for number, one in read.items() if one.model == read[first].model}
        best = heapq.nlargest(self.alike_best, known, key=worth.__getitem__)
        if not best or worth[best[0]] <= 0:
            return {}
        near = likeness(
            list(known.values()), [known[number] for number in best], [worth[number] for number in best]
        )
        drawn = dict(zip(known, near, strict=True))
        return {
            number: self.alike * (drawn.get(number, 0.0) * traits[number].confidence - value)
            for number, value in worth.items()
        }


def _ceiling(reader: Reader, terms: Sequence[str], namespaces: Sequence[str] | None) -> float:
    """What a memory that holds every one of *terms* very often would have as its BM25."""
    frequency, total = reader.frequencies(terms, namespaces), reader.size(namespaces)
    rarity = (math.log((max(0, total - held) + 0.5) / (held + 0.5)) for held in frequency.values())
    return BM25_MOST * sum(max(LEAST_RARITY, one) for one in rarity) or 1.0


def _add(
    own: Mapping[int, dict[str, float]], worth: dict[int, float], name: str, values: Mapping[int, float]
) -> None:
    """Let each of *values* count as a term of this *name*."""
    for number, value in values.items():
        own[number][name] = value
        worth[number] += value


HOUSE = House()
