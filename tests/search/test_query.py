"""From a question to the terms it is searched by."""

from __future__ import annotations

import pytest
from support import a_draft, put

from mnemic.search import query
from mnemic.search.query import (
    MAX_TERMS,
    MOST_MISSPELT,
    Vocabulary,
    asked_words,
    content_words,
    exact_terms,
    query_terms,
)


@pytest.mark.parametrize(
    "question, words",
    [
        ("When do we deploy the API?", ["deploy", "api"]),
        ("deploy deploy Deploy", ["deploy"]),
        ("who are you", ["who", "are", "you"]),
        ("", []),
        ("?!", []),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("don't panic", ["panic"]),
    ],
)
def test_content_words_tell_what_a_question_is_about(question, words):
    assert content_words(question) == words


@pytest.mark.parametrize(
    "question, words",
    [
        ("Which shoes did I clean two weeks ago?", ("shoes", "clean")),
        ("What did I spend on feed in the past three months?", ("spend", "feed")),
        ("What did I do yesterday?", ("yesterday",)),
        ("two weeks ago I spent two weeks in Rome", ("two", "weeks", "spent", "rome")),
        ("Which race did I run in June?", ("race", "run", "june")),
    ],
)
def test_a_time_counted_from_now_is_not_searched_for_unless_it_stands_alone(question, words):
    assert asked_words(question) == words


def test_words_of_a_question_are_limited():
    assert len(content_words(" ".join(f"w{number}" for number in range(1000)))) == MAX_TERMS


def test_words_of_nearly_every_memory_are_left_out_of_a_large_store(store, monkeypatch):
    monkeypatch.setattr(query, "LARGE", 10)
    put(store, *(a_draft(f"project note {number}") for number in range(20)), a_draft("project heron pond"))
    assert query_terms(Vocabulary(store.read(), None), "project heron pond").exact == ("heron", "pond")
    assert query_terms(Vocabulary(store.read(), None), "project heron").exact == ("project", "heron"), (
        "too few others remain"
    )
    assert query_terms(Vocabulary(store.read(), None), "project").exact == ("project",)


def test_exact_terms_are_the_same_without_near_spellings(store, monkeypatch):
    monkeypatch.setattr(query, "LARGE", 10)
    put(store, *(a_draft(f"project note {number}") for number in range(20)), a_draft("project heron pond"))
    assert exact_terms(Vocabulary(store.read(), None), "the project heron pond") == ("heron", "pond")
    assert exact_terms(Vocabulary(store.read(), None), "herron") == ("herron",)
    assert exact_terms(Vocabulary(store.read(), None), "?!") == ()


def test_in_a_small_store_every_word_counts(store):
    put(store, *(a_draft(f"project note {number}") for number in range(5)), a_draft("project heron pond"))
    assert query_terms(Vocabulary(store.read(), None), "project heron pond").exact == (
        "project",
        "heron",
        "pond",
    )


def test_unknown_words_are_joined_by_near_spellings(store):
    put(store, a_draft("kubernetes cluster"), a_draft("the then there"))
    assert query_terms(Vocabulary(store.read(), None), "kubernetis cluster").corrected == ("kubernetes",)
    assert query_terms(Vocabulary(store.read(), None), "kubernetes").corrected == ()
    assert query_terms(Vocabulary(store.read(), None), "thew").corrected == (), (
        "a word of no meaning is no correction"
    )
    assert query_terms(Vocabulary(store.read(), None), "東亰").corrected == ()
    assert query_terms(Vocabulary(store.read(), None), "").all == ()


def test_a_question_with_many_unknown_words_is_not_corrected(store):
    put(store, a_draft("kubernetes cluster upgrade window"))
    misspelt = "kubernetis clustr upgrzde windwo".split()
    most = " ".join(misspelt[:MOST_MISSPELT])
    assert query_terms(Vocabulary(store.read(), None), most).corrected == ("kubernetes", "cluster")
    assert query_terms(Vocabulary(store.read(), None), " ".join(misspelt)).corrected == ()


def test_common_words_are_not_spell_corrected(store):
    put(store, a_draft("the shop in the harbour"), a_draft("kubernetes"))
    assert query_terms(Vocabulary(store.read(), None), "when do we ship").corrected == ()
    assert query_terms(Vocabulary(store.read(), None), "the shpp").corrected == ("shop",)
