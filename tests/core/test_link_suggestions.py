"""Links that could be: what speaks for them, and what is left out."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import pytest
from support import everything, kept

from mnemic.core.graph import link
from mnemic.core.link_suggestions import LinkSignals, suggest
from mnemic.core.reflections import Reflection
from mnemic.core.reflections import add as reflect
from mnemic.storage.queries import memory_numbered

COFFEE = {
    "pressure": "Espresso is brewed with nine bars of water pressure through finely ground coffee.",
    "grinder": "Coffee that is ground too coarse gives the espresso too little pressure, and it tastes sour.",
    "milk": "Steam the milk to sixty degrees before pouring it over the espresso.",
    "train": "The morning train to Lyon leaves from platform nine.",
}


def suggested(ctx, memory, **how):
    return suggest(ctx, memory.id, **{"namespaces": None, **how})


def titles(suggestions):
    return [one.memory.title for one in suggestions]


@pytest.fixture
def coffee(real):
    return {title: kept(real, text, name=title) for title, text in COFFEE.items()}


def test_the_best_is_what_is_alike_in_meaning_and_words(real, coffee):
    found = suggested(real, coffee["pressure"])
    assert titles(found)[0] == "grinder" and "pressure" not in titles(found)
    assert [one.weighted for one in found] == sorted((one.weighted for one in found), reverse=True)
    best = found[0]
    assert 0 < best.bm25 < 0.6, "the words are measured by the best of all, which is the memory itself"
    weighted = 0.5 * best.cosine + 0.3 * best.bm25 + 0.1 * best.entity + 0.1 * best.temporal
    assert best.weighted == pytest.approx(weighted)


def test_the_cosine_is_that_of_the_stored_vectors(real, coffee, model):
    [best, *_] = suggested(real, coffee["pressure"])
    one, other = model.embed([f"{title}\n{COFFEE[title]}" for title in ("pressure", "grinder")])
    assert best.cosine == pytest.approx(float(one @ other), abs=0.02)


def test_what_is_linked_either_way_is_left_out_until_the_link_ends(real, coffee):
    link(real, coffee["pressure"].id, coffee["grinder"].id, "related_to")
    link(real, coffee["milk"].id, coffee["pressure"].id, "related_to")
    assert not {"grinder", "milk"} & set(titles(suggested(real, coffee["pressure"])))


def test_weak_suggestions_are_dropped_and_the_number_is_bounded(real, coffee):
    assert suggested(real, coffee["pressure"], signals=LinkSignals(threshold=0.99)) == []
    assert len(suggested(real, coffee["pressure"], limit=1)) == 1
    everyone = suggested(real, coffee["pressure"], signals=LinkSignals(threshold=0.0))
    assert set(titles(everyone)) == {"grinder", "milk", "train"}


def test_nearness_in_time_fades(ctx, clock):
    one = kept(ctx, "alpha beta gamma")
    clock.advance(days=30)
    kept(ctx, "alpha beta delta")
    [found] = suggested(ctx, one)
    assert found.temporal == pytest.approx(exp(-1))


def test_common_names_count(ctx):
    one = kept(ctx, "We met Anna Berg about the budget in Oslo.")
    kept(ctx, "They saw Anna Berg about the budget there.")
    [found] = suggested(ctx, one)
    assert found.entity == pytest.approx(1 / 2)


def test_other_namespaces_reflections_and_unknown_memories_are_left_out(ctx):
    one = kept(ctx, "alpha beta gamma", namespace="a")
    kept(ctx, "alpha beta gamma delta", namespace="b")
    reflect(ctx, Reflection(text="alpha beta gamma epsilon"))
    assert suggested(ctx, one, namespaces=("a", "global")) == []
    assert len(suggested(ctx, one)) == 1
    assert suggest(ctx, 404, namespaces=None) == []


def test_one_common_word_is_a_small_share(ctx):
    one = kept(ctx, "alpha beta gamma delta epsilon")
    kept(ctx, "alpha zeta eta theta iota")
    [found] = suggested(ctx, one, signals=LinkSignals(threshold=0))
    assert 0 < found.bm25 < 0.3


def test_without_a_model_the_words_suggest(ctx):
    wordless = replace(ctx, embedder=None)
    one = kept(wordless, "alpha beta gamma")
    kept(wordless, "alpha beta delta")
    [found] = suggested(wordless, one)
    assert (found.cosine, found.bm25) == (0.0, 1.0)


def test_nothing_is_written(real, coffee):
    suggested(real, coffee["pressure"])
    before = everything(real.store)
    suggested(real, coffee["pressure"])
    assert everything(real.store) == before and memory_numbered(real.store.read(), 1).access_count == 0
