"""The vectors in memory follow the database: through changes, other writers, and other models."""

from __future__ import annotations

import random

import pytest
from support import START, WordEmbedder, a_draft, change, embed_all, embedding, faults, put, write

from mnemic.index import vectors
from mnemic.model.enums import State
from mnemic.model.filter import ALL_STATES, Filter
from mnemic.model.memory import MemoryPatch
from mnemic.model.vectors import Embedding, Reading, Scale
from mnemic.storage import queries
from mnemic.storage.base import Passage

EMBEDDER = WordEmbedder()


def nearest(store, text, embedder=EMBEDDER, **wanted):
    found = queries.nearest(store.read(), embedding(embedder, text), Filter(**wanted), limit=50)
    return {near.memory_id: near.cosine for near in found}


@pytest.fixture
def pair(fresh):
    """One store opened twice, as by two processes."""
    left, right = fresh(), fresh()
    for store in (left, right):
        store.use_models(EMBEDDER.name)
    return left, right


def test_what_another_writes_is_near_at_once(pair):
    left, right = pair
    assert nearest(right, "red apple") == {}
    [memory] = put(left, a_draft("red apple"))
    assert nearest(right, "red apple") == {}, "it has no vector yet"
    embed_all(left, EMBEDDER)
    for store in pair:
        assert nearest(store, "red apple") == {memory.id: pytest.approx(1, abs=0.01)}


def test_what_another_changes_is_near_as_it_is_now(pair):
    left, right = pair
    apple, pear = put(left, a_draft("red apple"), a_draft("green pear"))
    embed_all(left, EMBEDDER)
    assert nearest(right, "red apple").keys() == {apple.id, pear.id}
    apple = change(left, apple, texts=("grey stone",), at=START + 1)
    assert nearest(right, "red apple").keys() == {pear.id}, "the text and its vector are gone"
    embed_all(left, EMBEDDER)
    assert nearest(right, "grey stone")[apple.id] == pytest.approx(1, abs=0.01)
    change(left, pear, namespace="garden", at=START + 2)
    assert nearest(right, "green pear", namespaces=("garden",)).keys() == {pear.id}
    assert nearest(right, "green pear", namespaces=("global",)).keys() == {apple.id}
    assert nearest(right, "green pear", namespaces=("nowhere",)) == {}


def test_what_another_forgets_restores_or_purges_leaves_and_returns(pair):
    left, right = pair
    apple, pear = put(left, a_draft("red apple"), a_draft("green pear"))
    embed_all(left, EMBEDDER)
    gone = change(left, apple, state=State.FORGOTTEN, at=START + 1)
    assert nearest(right, "red apple").keys() == {pear.id}
    change(left, gone, state=State.LIVING, at=START + 2)
    assert nearest(right, "red apple").keys() == {apple.id, pear.id}
    write(left, lambda tx: tx.purge([apple.id]), operation="purge", at=START + 3)
    assert nearest(right, "red apple").keys() == {pear.id}


def test_a_memory_restored_into_an_empty_index_is_near_again(pair):
    left, right = pair
    [apple] = put(left, a_draft("red apple"))
    embed_all(left, EMBEDDER)
    gone = change(left, apple, state=State.FORGOTTEN, at=START + 1)
    assert nearest(right, "red apple") == {}
    change(left, gone, state=State.LIVING, at=START + 2)
    assert nearest(right, "red apple").keys() == {apple.id}


def test_new_vectors_take_the_place_of_old_ones(pair):
    left, right = pair
    [apple] = put(left, a_draft("red apple"))
    embed_all(left, EMBEDDER)
    assert nearest(right, "red apple")[apple.id] == pytest.approx(1, abs=0.01)
    change(left, apple, title="A fruit", at=START + 1)
    assert nearest(right, "red apple")[apple.id] == pytest.approx(1, abs=0.01), (
        "the old one serves until then"
    )
    [item] = write(left, lambda tx: tx.pending(limit=5), operation="embed", at=START + 1)
    other = WordEmbedder()
    vector = other.embed([f"{item.title}\n{item.text}"])[0]
    write(
        left,
        lambda tx: tx.put_vectors(
            other.name, other.dimension, [Passage(item.statement_id, 0, len(item.text), vector)]
        ),
        operation="embed",
        at=START + 1,
    )
    for store in pair:
        expected = float(vector @ EMBEDDER.embed(["red apple"])[0])
        assert nearest(store, "red apple")[apple.id] == pytest.approx(expected, abs=0.02)
        assert nearest(store, "a fruit red apple")[apple.id] == pytest.approx(1, abs=0.01)


def test_many_changes_leave_the_same_answers_as_a_fresh_start(fresh, pair):
    left, _ = pair
    made = put(left, *(a_draft(f"memory {number} of many words") for number in range(1500)))
    embed_all(left, EMBEDDER)
    nearest(left, "memory 7")
    for turn in range(4):
        made = write(
            left,
            lambda tx: [tx.update(memory, MemoryPatch(namespace=f"turn {turn}")) for memory in made],
            at=START + turn,
        )
        nearest(left, "memory 7")
    late = fresh()
    late.use_models(EMBEDDER.name)
    for text in ("memory 7", "memory 1499 of many words"):
        for wanted in ({}, {"namespaces": ("turn 3",)}, {"namespaces": ("turn 1",)}):
            assert nearest(left, text, **wanted) == nearest(late, text, **wanted)


def test_another_model_makes_everything_wait_and_never_mixes(fresh):
    store = fresh()
    older, newer = WordEmbedder("older"), WordEmbedder("newer", dimension=32)
    store.use_models(older.name)
    apple, pear = put(store, a_draft("red apple"), a_draft("green pear"))
    embed_all(store, older)
    assert nearest(store, "red apple", older).keys() == {apple.id, pear.id} and store.read().backlog() == 0

    store.use_models(newer.name)
    assert store.read().backlog() == 2
    assert nearest(store, "red apple", newer) == {}
    [first] = [item for item in store.read().pending(limit=5) if item.memory_id == apple.id]
    write(
        store,
        lambda tx: tx.put_vectors(
            "newer", 32, [Passage(first.statement_id, 0, 9, newer.embed(["red apple"])[0])]
        ),
        operation="embed",
    )
    assert nearest(store, "red apple", newer).keys() == {apple.id}, (
        "the other has only a vector of the old model"
    )
    embed_all(store, newer)
    assert nearest(store, "red apple", newer)[apple.id] == pytest.approx(1, abs=0.01)
    assert faults(store) == []

    again = fresh()
    again.use_models(newer.name)
    assert again.read().backlog() == 0
    assert nearest(again, "red apple", newer).keys() == {apple.id, pear.id}
    again.use_models(older.name)
    assert again.read().backlog() == 2 and nearest(again, "red apple", older) == {}


def put_vector(store, memory, model, text):
    """Give the one statement of *memory* the vector of *text* by *model*."""
    [vector] = model.embed([text])
    write(
        store,
        lambda tx: tx.put_vectors(
            model.name, model.dimension, [Passage(memory.statements[0].id, 0, 9, vector)]
        ),
        operation="embed",
    )


def test_two_models_find_together_and_each_compares_its_own_vectors(fresh):
    store = fresh()
    one, other = WordEmbedder("one"), WordEmbedder("other", dimension=32)
    store.use_models(one.name, other.name)
    apple, pear, plum = put(
        store, a_draft("red apple"), a_draft("green pear"), a_draft("red plum", namespace="x")
    )
    put_vector(store, apple, one, "red apple")
    put_vector(store, pear, other, "green pear")
    assert store.read().backlog() == 1
    put_vector(store, plum, other, "red plum")
    both = Embedding((*embedding(one, "red apple").readings, *embedding(other, "red apple").readings))
    reader = store.read()
    assert queries.nearest(reader, embedding(one, "red apple"), Filter(), limit=5)[0].memory_id == apple.id
    assert {near.memory_id for near in queries.nearest(reader, both, Filter(), limit=5)} == {
        apple.id,
        pear.id,
        plum.id,
    }
    near = queries.nearest(reader, both, Filter(), limit=2)
    assert [one.memory_id for one in near] == [apple.id, plum.id], "the best of both models, in one order"
    assert queries.similarities(reader, both, [apple.id, pear.id]).keys() == {apple.id, pear.id}
    assert {vector.model for vector in reader.vectors([apple.id, pear.id]).values()} == {"one", "other"}
    assert reader.models(Filter()) == ["one", "other"]
    assert reader.models(Filter(namespaces=("x",))) == ["other"]
    assert reader.models(Filter(namespaces=("nowhere",))) == []
    assert faults(store) == []


def test_similarities_are_given_on_the_scale_of_the_question(fresh):
    store = fresh()
    store.use_models(EMBEDDER.name)
    [apple] = put(store, a_draft("red apple"))
    embed_all(store, EMBEDDER)
    [vector] = EMBEDDER.embed(["red plum"])
    plain = queries.nearest(store.read(), Embedding.by(EMBEDDER.name, vector), Filter(), limit=5)[0].cosine
    scale = Scale(zero=0.2, trust=0.5)
    asked = Embedding((Reading(EMBEDDER.name, vector, scale),))
    [near] = queries.nearest(store.read(), asked, Filter(), limit=5)
    assert near.cosine == pytest.approx(0.5 * (plain - 0.2) / 0.8)
    assert queries.nearest(store.read(), asked, Filter(), limit=5, at_least=near.cosine - 0.001) == [near]
    assert queries.nearest(store.read(), asked, Filter(), limit=5, at_least=near.cosine + 0.001) == []
    change(store, apple, state=State.FORGOTTEN, at=START + 1)
    assert left_similarities(store, asked, apple.id) == {apple.id: pytest.approx(near.cosine)}


def test_a_text_that_another_model_reads_anew_leaves_the_vectors_of_the_first(fresh):
    store, again = fresh(), fresh()
    one, other = WordEmbedder("one"), WordEmbedder("other", dimension=32)
    for each in (store, again):
        each.use_models(one.name, other.name)
    apple, pear = put(store, a_draft("red apple"), a_draft("green pear"))
    for memory in (apple, pear):
        put_vector(store, memory, one, memory.texts[0])
    assert nearest(again, "red apple", one).keys() == {apple.id, pear.id}
    change(store, apple, title="Apfel", at=START + 1)
    put_vector(store, apple, other, "Apfel red apple")
    for each in (store, again):
        assert nearest(each, "red apple", one).keys() == {pear.id}
        assert nearest(each, "red apple", other).keys() == {apple.id}


def test_a_long_statement_is_near_by_its_best_stretch(fresh):
    store, embedder = fresh(), WordEmbedder(window=60)
    store.use_models(embedder.name)
    filler = "nothing of interest stands in this part of the text. " * 5
    [memory] = put(store, a_draft("long", texts=(f"{filler}the treasure is under the old oak. {filler}",)))
    embed_all(store, embedder)
    [near] = queries.nearest(
        store.read(), embedding(embedder, "the treasure is under the old oak."), Filter(), limit=5
    )
    assert near.memory_id == memory.id and near.cosine > 0.6


def left_similarities(store, text, *memory_ids):
    return queries.similarities(store.read(), text, memory_ids, ALL_STATES)


def test_a_memory_that_has_left_is_near_by_the_vectors_it_left_with(pair):
    left, right = pair
    apple, pear = put(left, a_draft("red apple"), a_draft("green pear"))
    vector = embedding(EMBEDDER, "red apple")
    assert left_similarities(right, vector, apple.id) == {}, "there is no vector yet"
    embed_all(left, EMBEDDER)
    change(left, apple, state=State.FORGOTTEN, at=START + 1)
    near = left_similarities(right, vector, apple.id, pear.id, 404)
    assert near[apple.id] == pytest.approx(1, abs=0.01) and near.keys() == {apple.id, pear.id}
    assert left_similarities(right, vector) == {}
    change(left, pear, texts=("yellow plum",), at=START + 2)
    assert left_similarities(right, vector, pear.id) == {}, "the text it had a vector for has gone"


def test_another_summary_wants_a_new_vector(pair):
    left, _ = pair
    [apple] = put(left, a_draft("red apple"))
    embed_all(left, EMBEDDER)
    changed = change(left, apple, summary="a fruit", at=START + 1)
    assert [(item.statement_id, item.summary) for item in left.read().pending(limit=5)] == [
        (apple.statements[0].id, "a fruit")
    ]
    embed_all(left, EMBEDDER)
    changed = change(left, changed, texts=("green pear",), at=START + 2)
    changed = change(left, changed, summary=None, at=START + 3)
    change(left, changed, texts=("red apple",), at=START + 4)
    assert [item.text for item in left.read().pending(limit=5)] == ["red apple"], (
        "the vector it had was of another summary"
    )


WIDE = WordEmbedder("words-384", dimension=384)
WORDS = [f"word{number}" for number in range(300)]


@pytest.fixture
def sifting(monkeypatch):
    """Every search that could see a thousand passages goes the way of those that see very many."""
    monkeypatch.setattr(vectors, "PREFILTERED_FROM", 1_000)
    monkeypatch.setattr(vectors, "LEAST_KEPT", 200)


def drafts(count, seed, **fields):
    chance = random.Random(seed)
    return [a_draft(" ".join(chance.choices(WORDS, k=6)), name=f"{seed}.{n}", **fields) for n in range(count)]


def assert_nearest(store, wanted):
    """What is found under *wanted* is what comes first when everything that passes is compared."""
    reader = store.read()
    passing = reader.select(wanted, limit=10_000)
    chance = random.Random(len(passing))
    for _ in range(20):
        vector = embedding(WIDE, " ".join(chance.choices(WORDS, k=5)))
        told = queries.similarities(reader, vector, passing)
        expected = sorted(told.values(), reverse=True)
        found = queries.nearest(reader, vector, wanted, limit=5)
        assert [near.cosine for near in found] == expected[:5]
        assert all(told[near.memory_id] == near.cosine for near in found)
        for least in (0.3, 0.7):
            near_enough = queries.nearest(reader, vector, wanted, limit=5, at_least=least)
            assert near_enough == [near for near in found if near.cosine >= least]


def test_among_very_many_the_nearest_are_those_of_an_exact_comparison(fresh, sifting):
    store = fresh()
    store.use_models(WIDE.name)
    here = put(store, *drafts(1_400, 1))
    put(
        store,
        *drafts(1_200, 2, namespace="garden"),
        *drafts(300, 3, kind="entity", metadata={"hidden": True}),
    )
    embed_all(store, WIDE)
    everywhere, garden = Filter(), Filter(namespaces=("garden",))
    for wanted in (
        everywhere,
        garden,
        Filter(without=(("entity", "hidden"),)),
        Filter(not_kinds=("entity",)),
    ):
        assert_nearest(store, wanted)

    def work(tx):
        for memory in here[::3]:
            tx.update(memory, MemoryPatch(state=State.FORGOTTEN))

    write(store, work, operation="forget")
    assert_nearest(store, everywhere)
    put(store, *drafts(700, 4, namespace="garden"))
    embed_all(store, WIDE)
    for wanted in (everywhere, garden):
        assert_nearest(store, wanted)


def test_very_many_that_change_over_and_over_are_near_as_they_are_now(fresh, sifting):
    store = fresh()
    store.use_models(WIDE.name)
    made = put(store, *drafts(1_500, 5))
    embed_all(store, WIDE)
    for turn in range(4):
        made = write(
            store,
            lambda tx: [tx.update(memory, MemoryPatch(namespace=f"turn {turn}")) for memory in made],
            at=START + turn,
        )
        for wanted in (Filter(), Filter(namespaces=(f"turn {turn}",))):
            assert_nearest(store, wanted)


def test_memories_of_many_passages_hide_no_others(fresh, sifting):
    store, embedder = fresh(), WordEmbedder("words-384", dimension=384, window=60)
    store.use_models(embedder.name)
    long = "the treasure lies under the old oak beside the river bend. " * 300
    put(store, *(a_draft(f"{long}{number}", name=str(number)) for number in range(4)), a_draft("grey stone"))
    embed_all(store, embedder)
    vector = embedding(embedder, "the treasure lies under the old oak")
    assert len(queries.nearest(store.read(), vector, Filter(), limit=5)) == 5
