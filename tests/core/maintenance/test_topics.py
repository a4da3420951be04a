"""Topics: groups as average linkage makes them, under names that tell them apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.maintenance.topics import by_words, grouped, significant_words, topics_of

KITCHEN = [f"The kitchen recipe number {n} needs flour, butter and sugar" for n in range(4)]
TABLES = [f"Database migration {n} adds an index on the orders table" for n in range(4)]
GOALS = [f"Football match {n} ended with a late goal in extra time" for n in range(4)]


def slowly(vectors, cut):
    """Average linkage as it is defined: join the two nearest groups while they are near enough."""
    groups = [[place] for place in range(len(vectors))]
    distances = 1 - (vectors @ vectors.T).astype(np.float64)
    while len(groups) > 1:
        apart, one, other = min(
            (np.mean([distances[a, b] for a in groups[i] for b in groups[j]]), i, j)
            for i in range(len(groups))
            for j in range(i)
        )
        if apart > cut:
            break
        groups[other] += groups.pop(one)
    return sorted(map(sorted, groups))


@given(st.integers(1, 24), st.integers(0, 10_000), st.sampled_from([0.2, 0.5, 0.8, 1.1]))
def test_groups_are_those_of_average_linkage(count, seed, cut):
    chance = np.random.default_rng(seed)
    vectors = (
        chance.standard_normal((count, 6)) + 2 * chance.standard_normal((3, 6))[chance.integers(0, 3, count)]
    )
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    assert grouped(vectors, cut) == slowly(vectors, cut)


def test_equal_texts_are_one_group():
    assert grouped(np.array([[1, 0]] * 5, np.float32)) == [[0, 1, 2, 3, 4]]


def test_topics_are_separated_by_meaning_and_named_by_their_words(model):
    mixed = [text for three in zip(KITCHEN, TABLES, GOALS, strict=True) for text in three]
    topics = topics_of(mixed, model.embed(mixed), "Topic")
    assert [list(texts) for texts in topics.values()] == [KITCHEN, TABLES, GOALS]
    assert list(topics) == ["Kitchen Recipe", "Database Migration", "Football Match"]


def test_a_group_without_telling_words_has_a_number_and_a_name_is_given_once():
    vectors = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    assert list(topics_of(["1 2", "3 4", "heron", "heron"], vectors, "Topic")) == [
        "Topic_1",
        "Heron",
        "Heron_3",
    ]


@pytest.mark.parametrize("vectors", [None, np.eye(5, dtype=np.float32), np.ones((5, 1), np.float32)])
def test_words_decide_where_meaning_parts_all_or_nothing(vectors):
    texts = ["red fox", "grey heron lake", "another heron pond", "the lake freezes", "nothing shared"]
    topics = topics_of(texts, vectors, "Topic")
    assert topics == {
        "topic_1": ["red fox"],
        "Lake": ["grey heron lake", "the lake freezes"],
        "Heron": ["another heron pond"],
        "topic_5": ["nothing shared"],
    }


def test_four_texts_of_one_keyword_are_halved():
    texts = [f"heron {n}" for n in range(5)]
    assert by_words(texts, "Tema") == {"Tema_A": texts[:2], "Tema_B": texts[2:]}
    assert by_words(["heron one", "heron two"], "Tema") == {"Heron": ["heron one", "heron two"]}
    assert by_words([], "Tema") == {}


def test_words_that_stand_everywhere_name_nothing():
    assert significant_words("También the años sobre what FUNCIÓN_1 función because cada 2026 dog") == [
        "años",
        "función",
    ]
