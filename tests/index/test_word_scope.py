"""Word statistics are those of the namespaces searched: nobody learns which words others hold."""

from __future__ import annotations

import pytest
from support import START, a_draft, change, put

from mnemic.model.candidates import Ask, Weights
from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.search.query import Vocabulary, query_terms
from mnemic.storage import queries
from mnemic.storage.queries import each_memory

MINE = ("mine",)
TEXTS = [
    "the heron stands in the pond",
    "the pond is frozen and the heron is gone",
    "a letter about the budget of the garden",
    "the garden has a pond",
    "Der Reiher steht im Teich und wartet auf die Fische",
]
THEIRS = [
    *("heron heron heron in every line of theirs" for _ in range(30)),
    *("the budget is quite secret and long, " * 20 for _ in range(30)),
    "herron plate secrets",
    "Die Reiher und die Teiche sind geheim",
]
WEIGHTS = Weights(priority=0.5, use=0.1, most_uses=50, confidence=2.0, tiers={}, aging=0.1, now=START)
QUESTIONS = ["heron pond", "budget of the garden", "herron", "secrit budget", "Welcher Reiher ist im Teich?"]


@pytest.fixture(params=["first questions", "kept in memory"])
def stores(request, fresh, tmp_path_factory, engine):
    """A store that holds my memories alone, and one in which others have far more."""
    from support import open_store

    alone, shared = fresh(), open_store(engine, tmp_path_factory.mktemp("shared"))
    put(alone, *(a_draft(text, namespace="mine") for text in TEXTS))
    for place, mine in enumerate(TEXTS):
        some = THEIRS[place::5]
        put(
            shared,
            *(a_draft(f"{at}. {text}", namespace="theirs") for at, text in enumerate(some, 100 * place)),
        )
        put(shared, a_draft(mine, namespace="mine"))
    if request.param == "kept in memory":
        for store in (alone, shared):
            for _ in range(5):
                queries.best_words(store.read(), ["pond"], Filter(), every=False, limit=5)
    yield alone, shared
    shared.close()


def answers(store, question):
    """All that words tell of my namespace, with memories by their text."""
    reader, wanted = store.read(), Filter(namespaces=MINE)
    terms = query_terms(Vocabulary(reader, MINE), question)
    texts = {memory.id: memory.content for memory in each_memory(reader) if memory.namespace == "mine"}
    found = {
        every: [
            (texts[number], round(score, 9))
            for number, score in queries.best_words(reader, terms.all, wanted, every=every, limit=9)
        ]
        for every in (True, False)
    }
    weighed = reader.candidates(Ask(terms=terms.all, filter=wanted, weights=WEIGHTS, depth=9))
    each = reader.candidates(Ask(shares=terms.all, filter=wanted, ids=tuple(texts)))
    return (
        terms,
        found,
        {texts[number]: round(one.bm25, 9) for number, one in weighed.rows.items()},
        [{texts[number]: round(adds, 9) for number, adds in held.items()} for held in each.shares],
        queries.holders(reader, ["heron", "budget", "secret", "pond"], MINE),
        reader.statistics((), MINE).total,
        reader.spellings("herom", 5, MINE),
        reader.spellings("plxte", 5, MINE),
    )


@pytest.mark.parametrize("question", QUESTIONS)
def test_others_change_nothing_that_words_tell_of_mine(stores, question):
    alone, shared = stores
    assert answers(shared, question) == answers(alone, question)


def test_a_word_that_only_others_hold_stands_nowhere(stores):
    _, shared = stores
    reader = shared.read()
    assert queries.holders(reader, ["secret"], MINE) == {"secret": 0}
    assert queries.holders(reader, ["secret"], None) == {"secret": 31}
    assert reader.spellings("secrxt", 3, MINE) == []
    assert reader.spellings("secrxt", 3, None) == ["secret"]
    assert query_terms(Vocabulary(reader, MINE), "secrxt pond").corrected == ()


def test_what_others_write_and_forget_changes_nothing(stores):
    alone, shared = stores
    before = answers(shared, "heron pond")
    [new] = put(shared, a_draft("heron pond heron pond", namespace="theirs"))
    assert answers(shared, "heron pond") == before
    change(shared, new, state=State.FORGOTTEN)
    assert answers(shared, "heron pond") == before == answers(alone, "heron pond")


def test_names_numbers_and_identifiers_are_never_corrected(store):
    put(store, a_draft("Melanie met Joan about parse_config, PROJ-512 in 2024 and the cluster"))
    reader = store.read()
    for question in ("Where did Joan see Melania?", "what is PROJ-513", "in 2025", "call parse_confg"):
        assert query_terms(Vocabulary(reader, None), question).corrected == (), question
    assert query_terms(Vocabulary(reader, None), "which clustr").corrected == ("cluster",)
