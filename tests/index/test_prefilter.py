"""The prefilter leaves few rows, the nearest among them, however the vectors came in."""

from __future__ import annotations

import numpy as np
import pytest

from mnemic.index.prefilter import BLOCK, PART, Prefilter
from mnemic.storage.quantisation import quantised

COUNT = BLOCK + 3 * PART + 7


def signs(vectors, prefilter=None, at_most=COUNT):
    """The signs of *vectors*, packed by a prefilter that saw none or the first of them before."""
    return (prefilter or Prefilter()).signs(lambda start, end: vectors[start:end], len(vectors), at_most)


def some_vectors(count, dimension, seed=1):
    """Unit vectors that lie around a hundred others, as texts do around topics."""
    chance = np.random.default_rng(seed)
    topics = chance.standard_normal((100, dimension))
    scattered = topics[chance.integers(0, 100, count)] + chance.standard_normal((count, dimension))
    return (scattered / np.linalg.norm(scattered, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("dimension", [384, 1024, 100])
def test_few_are_kept_and_the_nearest_are_among_them(dimension):
    vectors = some_vectors(COUNT, dimension)
    signed = signs(quantised(vectors))
    for question in some_vectors(10, dimension):
        kept = signed.kept(question, None, 500, COUNT)
        assert 500 <= np.count_nonzero(kept) < 700
        assert kept[np.argsort(vectors @ question)[-10:]].all()


@pytest.mark.parametrize("dimension", [384, 1024])
def test_all_that_come_so_near_are_kept_and_few_others(dimension):
    vectors = some_vectors(COUNT, dimension)
    signed = signs(quantised(vectors))
    for question in vectors[::1_000]:
        kept = signed.within(question, None, 0.7, COUNT)
        assert kept[vectors @ question >= 0.7].all()
        assert np.count_nonzero(kept[: COUNT - PART]) < COUNT / 4
        assert not signed.within(question, np.zeros(COUNT, np.bool_), 0.7, COUNT).any()


def test_what_came_in_little_by_little_is_kept_as_if_it_had_come_at_once():
    vectors = quantised(some_vectors(COUNT, 64))
    once, growing = signs(vectors), Prefilter()
    for end in (0, 100, PART, 3 * PART + 1, BLOCK - 1, BLOCK, COUNT, COUNT):
        slowly = signs(vectors[:end], growing)
    for question in some_vectors(5, 64, seed=2):
        one, other = (signed.kept(question, None, 500, COUNT) for signed in (once, slowly))
        assert (one == other).all()


def test_only_what_is_seen_is_kept_and_fills_the_places():
    vectors = some_vectors(COUNT, 64)
    seen = np.arange(COUNT) % 4 == 0
    signed = signs(quantised(vectors))
    [question] = some_vectors(1, 64, seed=3)
    kept = signed.kept(question, seen, 500, COUNT)
    assert not kept[~seen].any() and 500 <= np.count_nonzero(kept) < 700
    assert not signed.kept(question, np.zeros(COUNT, np.bool_), 500, COUNT).any()
    assert (signed.kept(question, seen, COUNT, COUNT) == seen).all(), "fewer than wanted: all of them"


def test_rows_that_have_no_signs_yet_are_all_kept():
    vectors = some_vectors(COUNT, 64)
    part = signs(quantised(vectors), at_most=4 * PART)
    assert part.rows == 4 * PART
    [question] = some_vectors(1, 64, seed=4)
    kept = part.kept(question, None, 500, COUNT)
    assert kept[part.rows :].all() and 500 <= np.count_nonzero(kept[: part.rows]) < 700
