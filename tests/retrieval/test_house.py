"""The house profile: meaning and words, weighed by confidence, seen with what was said around it."""

from __future__ import annotations

import pytest

from mnemic.core.memories import Note, remember
from mnemic.core.recall import recall
from mnemic.model.search import Query
from mnemic.retrieval.candidates import Candidate
from mnemic.retrieval.profiles import HOUSE
from support import START, a_draft, kept, put

QUERY = Query(text="anything", now=START)


@pytest.fixture
def three(store):
    return [
        memory.id for memory in put(store, a_draft("one"), a_draft("two"), a_draft("three", confidence=0.5))
    ]


def scored(store, *candidates):
    return {
        one.memory_id: one for one in HOUSE.scored(store.read(), QUERY, {c.memory_id: c for c in candidates})
    }


def test_the_terms_add_up_and_more_of_either_is_better(store, three):
    one, two, _ = three
    found = scored(store, Candidate(one, bm25=5.0, cosine=0.5), Candidate(two, bm25=2.0, cosine=0.5))
    assert found[one].score > found[two].score
    for each in found.values():
        assert sum(each.terms.values()) == pytest.approx(each.score)
    found = scored(store, Candidate(one, bm25=2.0, cosine=0.7), Candidate(two, bm25=2.0, cosine=0.5))
    assert found[one].score > found[two].score


def test_what_is_doubtful_counts_less(store, three):
    sure, _, doubtful = three
    found = scored(store, Candidate(sure, bm25=3.0, cosine=0.5), Candidate(doubtful, bm25=3.0, cosine=0.5))
    assert found[doubtful].score == pytest.approx(found[sure].score / 2)


def test_what_neither_words_nor_meaning_speak_for_is_left_out(store, three):
    one, two, _ = three
    assert scored(store, Candidate(one, cosine=0.01), Candidate(two, cosine=-0.5)) == {}
    assert scored(store) == {}
    assert scored(store, Candidate(one, bm25=0.5, cosine=-0.5))[one].score > 0
    assert scored(store, Candidate(99, bm25=1.0, cosine=0.9)) == {}, "it has gone meanwhile"


def test_what_was_said_around_it_lifts_a_memory(ctx):
    talk = ["Did you feed the heron today", "Yes at noon by the pond", "Unrelated remark about taxes"]
    remember(ctx, [Note(text=text, session="talk") for text in talk])
    alone = kept(ctx, "Yes at noon by the pond too")
    hits = {hit.memory.id: hit for hit in recall(ctx, a_question("heron fed at noon")).hits}
    inside, outside = hits[2], hits[alone.id]
    assert inside.terms["beside"] > 0 and "beside" not in outside.terms
    assert inside.score > outside.score


def a_question(text):
    return Query(text=text, now=START)
