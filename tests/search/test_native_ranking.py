"""The native ranking: meaning and words, weighed by confidence, seen with what was said around it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import START, a_draft, kept, put, write

from mnemic.core.memories import Note, remember
from mnemic.core.recall import recall
from mnemic.model.candidates import Ask, Candidate
from mnemic.model.filter import Query
from mnemic.model.time import DAY
from mnemic.model.vectors import Embedding, Reading, Scale
from mnemic.numeric import np
from mnemic.search.query import Vocabulary
from mnemic.search.ranking import NATIVE, read_words
from mnemic.storage.queries import session_called

QUERY = Query(text="anything", now=START)


@pytest.fixture
def three(store):
    return [
        memory.id for memory in put(store, a_draft("one"), a_draft("two"), a_draft("three", confidence=0.5))
    ]


def scored(store, *candidates, asked=QUERY, vector=None):
    """What the ranking makes of these candidates, whose attributes are read from *store*."""
    reader = store.read()
    words = read_words(Vocabulary(reader, None), asked.text)
    ids = tuple(candidate.memory_id for candidate in candidates)
    found = reader.candidates(Ask(ids=ids, shares=words.shared, has_traits=True))
    openings = {one.id: one.text for memory in reader.get(ids) for one in memory.statements}
    rows = {
        one.memory_id: found.rows[one.memory_id]._replace(
            bm25=one.bm25,
            cosine=one.cosine,
            statement_id=one.statement_id,
            opening=openings.get(one.statement_id, ""),
        )
        for one in candidates
        if one.memory_id in found.rows
    }
    ranked = NATIVE.score(reader, asked, words, replace(found, rows=rows), vector)
    return {one.memory_id: one for one in ranked}


def test_the_terms_add_up_and_more_of_either_is_better(store, three):
    one, two, _ = three
    found = scored(store, Candidate(one, bm25=5.0, cosine=0.5), Candidate(two, bm25=2.0, cosine=0.5))
    assert found[one].score > found[two].score
    for each in found.values():
        assert sum(each.terms.values()) == pytest.approx(each.score)
    found = scored(store, Candidate(one, bm25=2.0, cosine=0.7), Candidate(two, bm25=2.0, cosine=0.5))
    assert found[one].score > found[two].score


def test_low_confidence_lowers_the_score(store, three):
    sure, _, doubtful = three
    found = scored(store, Candidate(sure, bm25=3.0, cosine=0.5), Candidate(doubtful, bm25=3.0, cosine=0.5))
    assert found[doubtful].score == pytest.approx(found[sure].score / 2)


def test_relevance_decides_between_nearly_equal_candidates(store):
    said = ("The violin lessons are in the hall", "Grace gives the violin lessons on 5 May")
    place, moment = (memory.id for memory in put(store, *map(a_draft, said)))
    near = [
        Candidate(number, bm25=bm25, cosine=0.6, statement_id=number)
        for number, bm25 in ((place, 5.0), (moment, 4.9))
    ]
    found = scored(store, *near, asked=a_question("When are the violin lessons?"))
    assert found[moment].relevance > found[place].relevance
    assert found[moment].terms["words"] < found[place].terms["words"]
    assert found[moment].score > found[place].score


def test_similarity_counts_less_where_no_model_knows_the_language(store, three):
    by_words, by_vector, _ = three
    near = (
        Candidate(by_words, bm25=9.0, cosine=0.2, statement_id=by_words),
        Candidate(by_vector, bm25=4.0, cosine=0.5, statement_id=by_vector),
    )
    text = Embedding((Reading("any", np.zeros(1, np.float32), Scale(trust=0.1)),))
    known, unknown = scored(store, *near), scored(store, *near, vector=text)
    assert known[by_vector].score > known[by_words].score
    assert unknown[by_vector].score < unknown[by_words].score


def test_candidates_that_no_longer_exist_are_left_out(store, three):
    one, _, _ = three
    assert scored(store) == {}
    assert scored(store, Candidate(one, bm25=0.5, cosine=-0.5))[one].score > 0
    assert scored(store, Candidate(99, bm25=1.0, cosine=0.9)) == {}


def test_neighbouring_turns_raise_the_score(ctx):
    talk = ["Did you feed the heron today", "Yes at noon by the pond", "Unrelated remark about taxes"]
    remember(ctx, [Note(text=text, session="talk") for text in talk])
    alone = kept(ctx, "Yes at noon by the pond too")
    hits = {hit.memory.id: hit for hit in recall(ctx, a_question("heron fed at noon")).hits}
    inside, outside = hits[2], hits[alone.id]
    assert inside.terms["beside"] > 0 and "beside" not in outside.terms
    assert inside.score > outside.score


def test_the_better_neighbour_lends_and_the_other_does_not(store):
    def work(tx):
        talk = session_called(tx, "global", "talk").id
        first, middle, last = (
            tx.insert(a_draft(text, session_id=talk), uid=f"{number:032x}").id
            for number, text in enumerate(("one", "two", "three"), 1)
        )
        return first, middle, last

    first, middle, last = write(store, work)
    strong, weak = Candidate(first, cosine=0.8), Candidate(last, cosine=0.4)
    both = scored(store, strong, Candidate(middle, cosine=0.3), weak)[middle]
    one = scored(store, strong, Candidate(middle, cosine=0.3))[middle]
    assert (
        both.terms["beside"]
        == one.terms["beside"]
        > scored(store, Candidate(middle, cosine=0.3), weak)[middle].terms["beside"]
    )


def test_what_the_rest_of_its_session_tells_of_the_question_lifts_a_memory(store):
    said = (
        ("A heron stood there", "pond", 1.0),
        ("It ate at noon", "pond", 1.0),
        ("Nothing else", "pond", 1.0),
        ("Maybe more", "pond", 0.5),
        ("The heron again", "park", 1.0),
        ("A walk", "park", 1.0),
    )

    def work(tx):
        drafts = [
            a_draft(text, session_id=session_called(tx, "global", name).id, confidence=sure)
            for text, name, sure in said
        ]
        return [tx.insert(draft, uid=f"{number:032x}").id for number, draft in enumerate(drafts, 1)]

    ids = write(store, work)
    asked = a_question("heron at noon")
    found = scored(store, *(Candidate(number, bm25=1.0) for number in ids), asked=asked)
    heron, noon, neither, doubtful, alone, beside = (
        found[number].terms.get("session_words", 0.0) for number in ids
    )
    assert heron > 0 and noon > 0, "one tells of the heron, the other of noon"
    assert neither == pytest.approx(heron + noon, rel=0.1) and neither < NATIVE.session_words
    assert doubtful == pytest.approx(neither / 2)
    assert alone == 0 < beside < neither, "what it says itself counts as words"
    park = scored(store, *(Candidate(number, bm25=1.0) for number in ids[4:]), asked=asked)
    assert park[ids[5]].terms["session_words"] == pytest.approx(beside), "whatever else was found"


def test_nothing_is_gained_where_every_text_is_in_doubt(store):
    def work(tx):
        talk = session_called(tx, "global", "talk").id
        return tx.insert(a_draft("A heron at noon", session_id=talk, confidence=0.0), uid=f"{1:032x}").id

    heard = write(store, work)
    [one] = scored(store, Candidate(heard, bm25=1.0, cosine=0.5), asked=a_question("heron at noon")).values()
    assert one.score == 0.0 and "session_words" not in one.terms


def test_what_belongs_to_no_session_gains_nothing_by_what_others_tell(store, three):
    one, two, _ = three
    found = scored(store, Candidate(one, bm25=1.0), Candidate(two, bm25=1.0), asked=a_question("one two"))
    assert all(each.terms.keys() == {"semantic", "words", "relevance"} for each in found.values())


def test_a_rule_counts_more_than_a_remark_unless_it_is_doubtful(store):
    texts = ("Always use metric units", "Someone used metric units", "Never use metric units")
    doubts = (1.0, 1.0, 0.9)
    kept = put(store, *(a_draft(text, confidence=sure) for text, sure in zip(texts, doubts, strict=True)))
    found = scored(store, *(Candidate(one.id, cosine=0.5, statement_id=one.statements[0].id) for one in kept))
    rule, remark, doubtful = (found[one.id] for one in kept)
    assert rule.score == pytest.approx(remark.score + rule.terms["standing"]) and rule.terms["standing"] > 0
    assert "standing" not in remark.terms and "standing" not in doubtful.terms


def test_a_rule_lends_its_neighbours_no_more_than_a_remark(store):
    def work(tx):
        talk = session_called(tx, "global", "talk").id
        texts = ("Always use metric units", "What else", "Someone used metric units")
        rule, between, remark = (
            tx.insert(a_draft(text, session_id=talk), uid=f"{number:032x}")
            for number, text in enumerate(texts, 1)
        )
        return rule, between, remark

    rule, between, remark = write(store, work)
    beside = [
        scored(store, Candidate(one.id, cosine=0.5, statement_id=one.statements[0].id), Candidate(between.id))
        for one in (rule, remark)
    ]
    assert "standing" in beside[0][rule.id].terms
    assert beside[0][between.id].terms == pytest.approx(beside[1][between.id].terms)


def test_only_the_statement_that_matched_makes_a_rule(store):
    [memory] = put(store, a_draft("units", texts=("Always use metric units", "The office is in Bern")))
    rule, fact = (statement.id for statement in memory.statements)
    assert "standing" in scored(store, Candidate(memory.id, cosine=0.5, statement_id=rule))[memory.id].terms
    assert (
        "standing" not in scored(store, Candidate(memory.id, cosine=0.5, statement_id=fact))[memory.id].terms
    )


def test_memories_of_the_period_asked_for_score_higher(ctx):
    for days in (1, 14, 60):
        kept(ctx, f"I repaired bicycle number {days}", created_at=START - days * DAY)
    hits = recall(ctx, a_question("Which bicycle number did I repair two weeks ago?")).hits
    assert [hit.memory.created_at for hit in hits if "time" in hit.terms] == [START - 14 * DAY]
    assert hits[0].terms["time"] > 0
    assert all("time" not in hit.terms for hit in recall(ctx, a_question("Which bicycle was repaired?")).hits)
    for hit in hits:
        assert sum(hit.terms.values()) == pytest.approx(hit.score)


def test_a_time_alone_finds_nothing(ctx):
    kept(ctx, "I repaired the bicycle", created_at=START - DAY)
    assert recall(ctx, a_question("zebra yesterday")).hits == ()


def test_what_resembles_the_best_counts_more_where_several_are_asked_for(real):
    told = kept(real, "I visited the museum of natural history and saw the dinosaurs")
    kin = kept(real, "We saw the fossils and skeletons of dinosaurs at an exhibition")
    other = kept(real, "Which museum of my town should I recommend to a colleague?")
    asked = replace(a_question("How many museums have I visited?"), min_relevance=0.0)
    hits = {hit.memory.id: hit for hit in recall(real, asked).hits}
    assert hits[told.id].terms["alike"] == pytest.approx(0, abs=1e-6), "it resembles itself"
    assert hits[told.id].score == max(hit.score for hit in hits.values()) < 1
    assert sum(hits[kin.id].terms.values()) == pytest.approx(hits[kin.id].score)
    assert hits[kin.id].terms["alike"] > hits[other.id].terms["alike"]


def test_likeness_counts_nothing_where_one_answer_will_do_or_no_vector_is_known(real, store):
    kept(real, "I visited the museum of natural history")
    [hit] = recall(real, a_question("Which museum have I visited?")).hits
    assert "alike" not in hit.terms
    [memory] = put(store, a_draft("The museum shop"))
    [found] = scored(store, Candidate(memory.id, bm25=1.0), asked=a_question("How many museums?")).values()
    assert "alike" not in found.terms


def a_question(text):
    return Query(text=text, now=START)
