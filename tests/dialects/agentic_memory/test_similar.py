"""Memories that resemble a text or a vector."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import kept

from mnemic.dialects.agentic_memory.similar import dimension, nearest, resembling
from mnemic.errors import Invalid
from mnemic.model.filter import Filter

TEXTS = ("Guitar strings are replaced every spring", "Tomatoes need water", "The train leaves at nine")


@pytest.fixture
def known(ctx):
    return [kept(ctx, text) for text in TEXTS]


def test_a_text_finds_what_shares_its_words_best_first(ctx, known):
    found = resembling(ctx, "when were the guitar strings replaced", Filter(), 10)
    assert found[0].memory.id == known[0].id
    assert found[0].terms == ("guitar", "strings", "replaced") and found[0].bm25 > 0
    assert found[0].similarity == pytest.approx(1 - (1 - found[0].cosine) / 2)
    likeness = [match.similarity for match in found]
    assert likeness == sorted(likeness, reverse=True) and likeness[0] <= 1
    assert len(resembling(ctx, "guitar", Filter(), 1)) == 1


def test_without_a_model_the_share_of_words_counts(ctx, known):
    [match] = resembling(replace(ctx, embedder=None), "guitar music", Filter(), 10)
    assert (match.memory.id, match.similarity, match.cosine) == (known[0].id, 0.5, 0.0)


def test_meaning_is_enough(real):
    kept(real, "The cat naps on the sofa every afternoon")
    for text in TEXTS:
        kept(real, text)
    best = resembling(real, "feline sleeping on a couch", Filter(), 10)[0]
    assert best.memory.title.startswith("The cat") and best.terms == ()


def test_a_vector_finds_the_nearest_exactly(ctx, known):
    vector = ctx.embedder.embed([TEXTS[1]])[0].astype(float)
    for scale in (1.0, 1e300, 1e-300):
        (best, near), *others = nearest(ctx, [*(vector * scale)], Filter(), 10)
        assert best.id == known[1].id and near == pytest.approx(1, abs=1e-3) and len(others) == 2
    (_, opposite), *_ = nearest(ctx, [*-vector], Filter(namespaces=("global",)), 10)[::-1]
    assert opposite == pytest.approx(-1, abs=1e-3)


def test_a_vector_must_fit(ctx, known):
    assert dimension(ctx) == 64 and dimension(replace(ctx, embedder=None)) == 0
    with pytest.raises(Invalid, match="has 3 numbers; vectors here have 64"):
        nearest(ctx, [1.0, 2.0, 3.0], Filter(), 10)
    with pytest.raises(Invalid, match="zeros"):
        nearest(ctx, [0.0] * 64, Filter(), 10)
