"""ai-memory's order: the six factors by hand, the blend with likeness, and the second ranking."""

from __future__ import annotations

import pytest
from support import START, WordEmbedder, a_draft, a_query, embed_all, embedding, put, write

from mnemic.dialects.ai_memory.score import HYBRID, RECALLED, SEARCHED
from mnemic.model.enums import Tier
from mnemic.model.memory import MemoryPatch
from mnemic.model.time import DAY
from mnemic.search.query import Vocabulary, rarity
from mnemic.search.search import find_hits

EMBEDDER = WordEmbedder()


@pytest.fixture
def filled(store):
    store.use_models(EMBEDDER.name)
    return store


def titles(hits):
    return [hit.memory.title for hit in hits]


def found(store, text, profile=RECALLED, *, now=START, **wanted):
    return find_hits(store.read(), a_query(text, now=now, **wanted), None, profile)


def blended(store, text):
    embed_all(store, EMBEDDER)
    return find_hits(store.read(), a_query(text), embedding(EMBEDDER, text), HYBRID)


def test_the_score_is_the_sum_of_six_factors(store):
    [memory] = put(store, a_draft("heron pond", priority=8, confidence=0.5, tier=Tier.MID))
    write(
        store,
        lambda tx: tx.update(memory, MemoryPatch(access_count=70, accessed_at=START, days_used=1)),
        operation="use",
    )
    [hit] = found(store, "heron", now=START + 10 * DAY)
    words = hit.terms["words"]
    assert hit.terms == pytest.approx(
        {"words": words, "priority": 4.0, "use": 5.0, "confidence": 1.0, "tier": 1.0, "recency": 0.5}
    )
    assert hit.score == pytest.approx(words + 11.5) and words > 0


@pytest.mark.parametrize(
    "fields",
    [
        ({"priority": 2}, {"priority": 9}),
        ({"confidence": 0.1}, {"confidence": 1.0}),
        ({"tier": Tier.SHORT}, {"tier": Tier.MID}),
        ({"tier": Tier.MID}, {"tier": Tier.LONG}),
        ({"created_at": START - 100 * DAY}, {"created_at": START}),
    ],
)
def test_each_factor_decides_between_equals(store, fields):
    put(store, *(a_draft("the same words", name=f"note {n}", **more) for n, more in enumerate(fields)))
    assert titles(found(store, "same words")) == ["note 1", "note 0"]


def test_recall_wants_any_word_and_search_every_one(store):
    put(store, a_draft("zebra crossing"), a_draft("quartz clock"), a_draft("nothing of the kind"))
    assert set(titles(found(store, "zebra quartz"))) == {"zebra crossing", "quartz clock"}
    assert found(store, "zebra quartz", SEARCHED) == []
    assert titles(found(store, "crossing zebra", SEARCHED)) == ["zebra crossing"]


def test_search_does_not_look_at_the_tier(store):
    put(
        store,
        a_draft("the same words", name="long", tier=Tier.LONG, priority=5),
        a_draft("the same words", name="short", tier=Tier.SHORT, priority=7),
    )
    assert titles(found(store, "same words")) == ["long", "short"]
    hits = found(store, "same words", SEARCHED)
    assert titles(hits) == ["short", "long"] and hits[0].terms["tier"] == 0.0


def test_filters_hold_inside_the_search(store):
    put(
        store,
        *(a_draft(f"walnut {n}", namespace="many") for n in range(20)),
        a_draft("walnut", namespace="few"),
    )
    assert titles(found(store, "walnut", namespaces=("few",))) == ["walnut"]


def test_likeness_and_words_are_blended_six_to_four(filled):
    put(filled, a_draft("heron fish"), a_draft("heron pond"))
    hits = blended(filled, "heron pond")
    assert titles(hits) == ["heron pond", "heron fish"]
    assert hits[0].terms["keyword"] == pytest.approx(0.4)
    assert hits[0].terms["semantic"] == pytest.approx(0.6, abs=0.01)
    assert hits[0].score == pytest.approx(sum(hits[0].terms.values()))


def test_what_is_not_alike_and_holds_no_word_is_left_out(filled):
    put(filled, a_draft("heron"), a_draft("completely different"))
    assert titles(blended(filled, "Heron")) == ["heron"]


def test_a_rare_word_says_more(store):
    put(store, *(a_draft(f"heron {n}") for n in range(5)), a_draft("quartz"))
    weights = rarity(Vocabulary(store.read(), None), "the heron quartz")
    assert weights["quartz"] > weights["heron"] > 0 and "the" not in weights
