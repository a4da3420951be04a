"""Limbic order: the formula by hand, places in both lists, and what a question asks for."""

from __future__ import annotations

from math import exp, log2

import pytest
from support import START, WordEmbedder, a_draft, a_query, embed_all, embedding, put, write

from mnemic.dialects.mcp_memory.score import LIMBIC, Strategy, spread, strategy_for
from mnemic.model.graph import EdgeDraft
from mnemic.model.time import DAY, HOUR
from mnemic.search.recency import RECENT, recency
from mnemic.search.search import find_hits

EMBEDDER = WordEmbedder()


@pytest.fixture
def filled(store):
    store.use_models(EMBEDDER.name)
    return store


def stocked(store, *texts):
    memories = put(store, *map(a_draft, texts))
    embed_all(store, EMBEDDER)
    return [memory.id for memory in memories]


def used(store, number, *moments):
    def work(tx):
        for moment in moments:
            tx.count_use([number], moment)

    write(store, work, operation="use", durable=False)


def found(store, text, *, now=START, limit=10, profile=LIMBIC, **wanted):
    query = a_query(text, now=now, limit=limit, **wanted)
    return find_hits(store.read(), query, embedding(EMBEDDER, text), profile)


@pytest.mark.parametrize(
    "question, limit, strategy",
    [
        ("heron", 3, Strategy.COSINE_HEAVY),
        ("heron", 5, Strategy.HYBRID_BALANCED),
        ("heron", 10, Strategy.HYBRID_BALANCED),
        ("Qué es una garza en este estanque", 5, Strategy.COSINE_HEAVY),
        ("relación de la garza con el zorro", 5, Strategy.HYBRID_BALANCED),
        ("relación entre la garza y el zorro rojo", 10, Strategy.LIMBIC_HEAVY),
        ("relación entre la garza y el zorro rojo", 5, Strategy.HYBRID_BALANCED),
        ("what do we know of herons and foxes in this garden", 10, Strategy.LIMBIC_HEAVY),
    ],
)
def test_a_question_says_what_it_is_after(question, limit, strategy):
    assert strategy_for(question, limit) is strategy


def test_recency_halves_in_289_days_and_never_ends():
    assert recency(START, START) == 1 == recency(START + HOUR, START)
    assert recency(START, START + 289 * DAY) == pytest.approx(0.5, abs=0.001)
    assert recency(0, START) == 0.1


def test_values_are_spread_from_nought_to_one():
    assert spread({1: 3.0, 2: 5.0, 3: 4.0}) == {1: 0.0, 2: 1.0, 3: 0.5}
    assert spread({1: 3.0, 2: 3.0}) == {1: 0.0, 2: 0.0} and spread({}) == {}


def test_the_score_is_the_product_of_what_is_reported(filled):
    one, two, three = stocked(filled, "grey heron pond", "grey heron lake", "red fox hedge")
    used(filled, one, START, START + DAY, START + 2 * DAY)
    used(filled, two, START)

    def work(tx):
        tx.insert_edge(EdgeDraft(one, three, "fears"))
        tx.count_together([one, two], START)

    write(filled, work, operation="link")
    now = START + 30 * DAY
    hits = {hit.memory.id: hit for hit in found(filled, "grey heron", now=now, limit=5)}
    first, second = hits[one].terms, hits[two].terms
    days = log2(4) / log2(4)
    assert first["importance"] == pytest.approx(1 * (1 + 0.15 / 15) * (1 + 0.2 * days))
    assert second["importance"] == pytest.approx(log2(2) / log2(4) * (1 + 0.2 * log2(2) / log2(4)))
    assert hits[three].terms["importance"] == 0
    assert first["temporal_factor"] == pytest.approx(exp(-0.0001 * 28 * 24))
    assert second["temporal_factor"] == pytest.approx(exp(-0.0001 * 30 * 24))
    assert first["cooc_boost"] == second["cooc_boost"] == pytest.approx(log2(2) * exp(-0.0001 * 30 * 24))
    assert hits[three].terms["cooc_boost"] == 0
    assert first["rrf"] + second["rrf"] == pytest.approx(2 / 61 + 2 / 62)
    assert hits[three].terms["rrf"] == pytest.approx(1 / 63)
    for hit in hits.values():
        terms = hit.terms
        product = max(0, 1 - terms["distance"]) * (1 + 0.5 * terms["importance"]) * terms["temporal_factor"]
        assert hit.score == pytest.approx(product * (1 + 0.01 * terms["cooc_boost"]))


def test_without_a_memory_that_holds_all_words_there_is_no_fusion(filled):
    stocked(filled, "grey heron pond", "red fox hedge")
    assert all("rrf" not in hit.terms for hit in found(filled, "heron hedge"))
    assert all("rrf" in hit.terms for hit in found(filled, "heron pond"))


def test_what_only_the_words_found_is_weighed_by_its_place(filled):
    stocked(filled, *(f"pond word{number}" for number in range(12)))
    [far] = stocked(filled, "stones on the hill")
    hits = find_hits(filled.read(), a_query("stones", limit=4), embedding(EMBEDDER, "pond"), LIMBIC)
    [hit] = [one for one in hits if one.memory.id == far]
    assert hit.terms["rrf"] == pytest.approx(1 / 61), "first by words, not among the twelve nearest"
    assert hit.score == pytest.approx(0.8), "its likeness is told and does not count"
    asked, told = EMBEDDER.embed(["pond", "stones on the hill"])
    assert hit.terms["distance"] == pytest.approx(1 - asked @ told, abs=0.02)


def test_words_alone_answer_while_nothing_has_a_vector(filled):
    [memory] = put(filled, a_draft("heron without a vector"))
    assert [hit.memory.id for hit in found(filled, "heron")] == [memory.id]
    assert find_hits(filled.read(), a_query("heron"), None, LIMBIC) == []


def test_a_question_for_a_fact_is_answered_by_likeness(filled):
    exact, used_much = stocked(filled, "heron pond water", "heron pond hedge stone")
    for day in range(40):
        used(filled, used_much, START + day * DAY)
    now = START + 40 * DAY
    ranked = found(filled, "heron pond water", now=now, limit=5)
    best = max(ranked, key=lambda hit: hit.score)
    [fact] = found(filled, "heron pond water", now=now, limit=1)
    assert strategy_for("heron pond water", 1) is Strategy.COSINE_HEAVY
    assert fact.memory.id == exact and best.memory.id in (exact, used_much)
    assert [hit.score for hit in ranked] == sorted((hit.score for hit in ranked), reverse=True)


def test_recent_thoughts_come_before_old_ones(filled):
    old, new = put(
        filled,
        a_draft("heron pond", name="old", created_at=START - 300 * DAY),
        a_draft("heron pond", name="new", created_at=START),
    )
    embed_all(filled, EMBEDDER)
    hits = found(filled, "heron", profile=RECENT)
    assert [hit.memory.id for hit in hits] == [new.id, old.id]
    for hit in hits:
        assert hit.score == pytest.approx(hit.terms["rrf"] * hit.terms["recency"])
    [hit, _] = found(filled, "heron stone", profile=RECENT)
    assert hit.score == pytest.approx((1 - hit.terms["distance"]) * hit.terms["recency"])
