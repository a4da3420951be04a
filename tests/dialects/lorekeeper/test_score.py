"""Lore order: the sum by hand, what fades, what is let through, lists, and forgotten memories."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log2

import pytest
from support import START, WordEmbedder, a_draft, a_query, change, embed_all, embedding, put, write

from mnemic.dialects.lorekeeper import score
from mnemic.dialects.lorekeeper.score import Lore
from mnemic.model.enums import State
from mnemic.model.memory import MemoryPatch
from mnemic.model.time import DAY
from mnemic.search.search import find_hits

EMBEDDER = WordEmbedder()
LORE = Lore()


@pytest.fixture
def filled(store):
    store.use_models(EMBEDDER.name)
    return store


def found(store, text, profile=LORE, *, now=START, vectors=True, **wanted):
    embed_all(store, EMBEDDER)
    vector = embedding(EMBEDDER, text) if vectors else None
    return find_hits(store.read(), a_query(text, now=now, **wanted), vector, profile)


def titles(hits):
    return [hit.memory.title for hit in hits]


def used(store, memory, times, at=START):
    write(
        store,
        lambda tx: tx.update(memory, MemoryPatch(access_count=times, accessed_at=at, days_used=1)),
        operation="use",
        at=at,
    )


def test_the_score_is_a_weighted_sum_times_what_time_left(filled):
    memory, _ = put(filled, a_draft("heron pond", quality=8.0), a_draft("red apple"))
    used(filled, memory, 3)
    hit = found(filled, "heron pond", now=START + 10 * DAY)[0]
    assert hit.terms == pytest.approx(
        {
            "semantic": 1.0,
            "keyword": 1.0,
            "quality": 0.8,
            "usage": log2(4) / log2(101),
            "decay": exp(-0.077),
        },
        abs=0.01,
    )
    terms = hit.terms
    combined = 0.45 * terms["semantic"] + 0.3 + 0.15 * 0.8 + 0.1 * terms["usage"]
    assert hit.score == pytest.approx(combined * terms["decay"])


def test_use_counts_up_to_a_cap(filled):
    [memory] = put(filled, a_draft("heron pond"))
    used(filled, memory, 5000)
    assert found(filled, "heron")[0].terms["usage"] == 1.0
    assert found(filled, "heron", replace(LORE, usage_cap=10_000))[0].terms["usage"] < 1.0


def test_time_runs_from_the_last_use_or_the_making(filled):
    [memory] = put(filled, a_draft("heron pond"))
    assert found(filled, "heron", now=START + 90 * DAY)[0].terms["decay"] == pytest.approx(0.5, abs=0.01)
    used(filled, memory, 1, at=START + 80 * DAY)
    hit = found(filled, "heron", now=START + 90 * DAY)[0]
    weights = {"semantic": 0.45, "keyword": 0.30, "quality": 0.15, "usage": 0.10}
    combined = sum(weight * hit.terms[name] for name, weight in weights.items())
    assert hit.terms["decay"] == pytest.approx(exp(-0.077))
    assert hit.score == pytest.approx(combined * hit.terms["decay"])
    still = replace(LORE, decay=0.0)
    assert found(filled, "heron", still, now=START + 900 * DAY)[0].terms["decay"] == 1.0


def test_the_least_score_counts_before_time_takes_from_it(filled):
    put(filled, a_draft("heron pond"))
    late = START + 3000 * DAY
    [hit] = found(filled, "heron pond", replace(LORE, least=0.5), now=late)
    assert hit.score < 0.001
    assert found(filled, "heron pond", replace(LORE, least=0.9), now=late) == []


def test_the_weights_decide(filled):
    put(filled, a_draft("heron pond", quality=2.0), a_draft("red apple", quality=9.0))
    alone = Lore(semantic=0, keyword=0, quality=1, usage=0)
    hits = found(filled, "heron pond", alone)
    assert [(hit.memory.title, hit.score) for hit in hits] == [("red apple", 0.9), ("heron pond", 0.2)]


def test_without_vectors_the_words_find(filled):
    put(filled, a_draft("heron pond"), a_draft("red apple"))
    [hit] = found(filled, "heron", vectors=False)
    assert (hit.memory.title, hit.terms["semantic"], hit.terms["keyword"]) == ("heron pond", 0.0, 1.0)


def test_all_of_a_list_compete_with_the_scores_they_have_among_all(filled):
    best, worse, other = put(
        filled, a_draft("heron heron pond"), a_draft("a heron far from any pond at all"), a_draft("red apple")
    )
    among = {hit.memory.id: hit.terms for hit in found(filled, "heron pond")}
    listed = found(filled, "heron pond", Lore(least=0.0, among=(worse.id, other.id, 404)))
    assert [hit.memory.id for hit in listed] == [worse.id, other.id]
    assert listed[0].terms == among[worse.id] and among[worse.id]["keyword"] < 1 == among[best.id]["keyword"]


def test_a_list_shows_nothing_that_the_filter_hides(filled):
    [hidden] = put(filled, a_draft("heron pond", namespace="secret"))
    assert found(filled, "heron", Lore(among=(hidden.id,)), namespaces=("global",)) == []


@pytest.fixture
def parted(filled):
    """A living memory and one that was forgotten after it had its vectors."""
    living, gone = put(filled, a_draft("a heron by the water"), a_draft("heron pond"))
    embed_all(filled, EMBEDDER)
    return living, change(filled, gone, state=State.FORGOTTEN, state_at=START)


def test_forgotten_memories_are_found_only_if_asked_for(filled, parted):
    living, gone = parted
    assert [hit.memory.id for hit in found(filled, "heron pond")] == [living.id]
    hits = found(filled, "heron pond", Lore(with_forgotten=True))
    assert [hit.memory.id for hit in hits] == [gone.id, living.id]
    assert hits[0].terms["semantic"] == pytest.approx(1, abs=0.01) and hits[0].terms["keyword"] == 1.0


def test_forgotten_memories_do_not_weaken_the_words_of_the_living(filled, parted):
    living, _ = parted
    hits = found(filled, "heron pond", Lore(with_forgotten=True))
    terms = {hit.memory.id: hit.terms for hit in hits}
    assert terms[living.id] == found(filled, "heron pond")[0].terms


def test_a_list_may_name_forgotten_memories(filled, parted):
    _, gone = parted
    [hit] = found(filled, "pond", Lore(with_forgotten=True, among=(gone.id,)))
    assert hit.memory.id == gone.id
    assert found(filled, "pond", Lore(among=(gone.id,))) == []


def test_only_the_last_forgotten_are_looked_at(filled, monkeypatch):
    old, new = put(filled, a_draft("heron one"), a_draft("heron two"))
    change(filled, new, state=State.FORGOTTEN, state_at=START + 2)
    change(filled, old, state=State.FORGOTTEN, state_at=START + 1)
    everyone = found(filled, "heron", Lore(with_forgotten=True))
    assert len(everyone) == 2
    monkeypatch.setattr(score, "FORGOTTEN_LOOKED_AT", 1)
    assert titles(found(filled, "heron", Lore(with_forgotten=True))) == ["heron two"]


def test_forgotten_memories_of_other_namespaces_stay_hidden(filled):
    [gone] = put(filled, a_draft("heron pond", namespace="secret"))
    change(filled, gone, state=State.FORGOTTEN, state_at=START)
    assert found(filled, "heron", Lore(with_forgotten=True), namespaces=("global",)) == []
