"""Search by words and by vectors: every filter works inside the search, checked against brute force."""

from __future__ import annotations

import math
import random
import uuid
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import START, WordEmbedder, a_draft, embed_all, embedding, open_store, put, write

from mnemic.model.enums import State, Tier
from mnemic.model.filter import Filter, Order
from mnemic.model.memory import Draft, MemoryPatch
from mnemic.model.time import DAY, HOUR, iso
from mnemic.storage import queries
from mnemic.storage.queries import each_memory, session_called
from mnemic.storage.sqlite import database

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron"]
NAMESPACES, KINDS, TAGS = ("global", "work", "home"), ("note", "fact", "event"), ("red", "green", "blue")
PAIRS = [(kind, key) for kind in (*KINDS, "none") for key in ("about", "of", "none")]
BY_ANN = 100
"""So many memories were stored by ann, the others by bob."""
EMBEDDER = WordEmbedder(window=40)


@pytest.fixture(scope="module", params=[0, math.inf], ids=["kept in memory", "asked anew"])
def library(engine, tmp_path_factory, request):
    """A store of 150 memories of all sorts, with vectors for most, and the memories as it holds them.

    What it is asked is soon kept in memory, or never.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "WORTH_KEEPING", request.param)
        yield from filled(engine, tmp_path_factory)


def filled(engine, tmp_path_factory):
    store = open_store(engine, tmp_path_factory.mktemp("library"))
    store.use_models(EMBEDDER.name)
    chance = random.Random(7)

    for actor, numbers in {"ann": range(BY_ANN), "bob": range(BY_ANN, 150)}.items():

        def work(tx, numbers=numbers):
            sessions = [session_called(tx, "global", "one").id, session_called(tx, "global", "two").id]
            for number in numbers:
                tx.insert(a_random_draft(chance, number, sessions), uid=str(uuid.uuid4()))

        write(store, work, actor=actor)
    embed_all(store, EMBEDDER)

    def work(tx):
        for memory in list(each_memory(tx)):
            if chance.random() < 0.2:
                tx.update(
                    memory,
                    MemoryPatch(state=chance.choice([State.FORGOTTEN, State.ARCHIVED, State.SUPERSEDED])),
                )
            elif chance.random() < 0.1:
                tx.update(memory, MemoryPatch(texts=(" ".join(chance.choices(WORDS, k=3)),)))

    write(store, work)
    queries.best_words(store.read(), ["amber"], Filter(), every=False, limit=1)
    yield store, list(each_memory(store.read()))
    store.close()


def a_random_draft(chance, number, sessions):
    return Draft(
        namespace=chance.choice(NAMESPACES),
        name=f"{number}",
        texts=tuple(
            " ".join(chance.choices(WORDS, k=chance.randint(1, 12))) for _ in range(chance.randint(1, 3))
        ),
        kind=chance.choice(KINDS),
        tags=tuple(chance.sample(TAGS, chance.randint(0, 2))),
        priority=chance.randint(1, 10),
        confidence=chance.choice([0.0, 0.5, 0.7, 1.0]),
        tier=chance.choice(list(Tier)),
        session_id=chance.choice([None, *sessions]),
        metadata=chance.choice([{}, {"about": 1}, {"of": None, "x": [2]}]),
        created_at=START - chance.randint(0, 10) * DAY,
        expires_at=chance.choice([None, None, START - HOUR, START, START + HOUR]),
    )


def actor_of(memory):
    return "ann" if int(memory.name) < BY_ANN else "bob"


def passes(memory, wanted):
    """What a filter means, said again in Python."""
    return (
        (wanted.namespaces is None or memory.namespace in wanted.namespaces)
        and (wanted.kinds is None or memory.kind in wanted.kinds)
        and (wanted.ids is None or memory.id in wanted.ids)
        and (wanted.not_kinds is None or memory.kind not in wanted.not_kinds)
        and not any(memory.kind == kind and key in memory.metadata for kind, key in wanted.without or ())
        and (wanted.tags is None or bool(set(wanted.tags) & set(memory.tags)))
        and (wanted.tier is None or memory.tier is wanted.tier)
        and (wanted.session_ids is None or memory.session_id in wanted.session_ids)
        and (wanted.actor is None or actor_of(memory) == wanted.actor)
        and (wanted.min_priority is None or memory.priority >= wanted.min_priority)
        and (wanted.min_confidence is None or memory.confidence >= wanted.min_confidence)
        and (wanted.max_confidence is None or memory.confidence <= wanted.max_confidence)
        and (wanted.since is None or memory.created_at >= wanted.since)
        and (wanted.until is None or memory.created_at <= wanted.until)
        and (wanted.alive_at is None or memory.expires_at is None or memory.expires_at > wanted.alive_at)
        and memory.state in wanted.states
    )


def some(values):
    return st.none() | st.lists(st.sampled_from(values), min_size=0, max_size=2).map(tuple)


days = st.none() | st.integers(0, 10).map(lambda back: START - back * DAY)
numbers = st.none() | st.sets(st.integers(-9, 160), max_size=80).map(tuple)
filters = st.builds(
    Filter,
    namespaces=some((*NAMESPACES, "nowhere")),
    ids=numbers,
    kinds=some((*KINDS, "none")),
    not_kinds=some((*KINDS, "none")),
    without=some(PAIRS),
    tags=some((*TAGS, "none")),
    tier=st.none() | st.sampled_from(list(Tier)),
    session_ids=st.sampled_from([None, None, (0,), (1,), (2, 3)]),
    actor=st.sampled_from([None, None, "ann", "bob", "nobody"]),
    min_priority=st.none() | st.integers(1, 10),
    min_confidence=st.none() | st.sampled_from([0.0, 0.5, 1.0]),
    max_confidence=st.none() | st.sampled_from([0.5, 1.0]),
    since=days,
    until=days,
    states=st.just(frozenset({State.LIVING})) | st.frozensets(st.sampled_from(list(State))),
    alive_at=st.sampled_from([None, START - 2 * HOUR, START, START + DAY]),
)
one_filter = st.one_of(
    st.builds(Filter, namespaces=some((*NAMESPACES, "nowhere")), alive_at=st.sampled_from([None, START])),
    *(
        st.builds(Filter, **{name: strategy})
        for name, strategy in {
            "ids": numbers,
            "kinds": some(KINDS),
            "not_kinds": some(KINDS),
            "without": some(PAIRS),
            "tags": some(TAGS),
            "tier": st.sampled_from(list(Tier)),
            "session_ids": st.sampled_from([(0,), (1,), (1, 2)]),
            "actor": st.sampled_from(["ann", "bob", "nobody"]),
            "min_priority": st.integers(1, 10),
            "min_confidence": st.sampled_from([0.5, 1.0]),
            "max_confidence": st.sampled_from([0.0, 0.5]),
            "since": days,
            "until": days,
            "states": st.frozensets(st.sampled_from(list(State))),
            "alive_at": st.sampled_from([None, START]),
        }.items()
    ),
)
any_filter = one_filter | filters


@settings(max_examples=150)
@given(wanted=any_filter)
def test_a_selection_is_what_passes(library, wanted):
    store, memories = library
    expected = {memory.id for memory in memories if passes(memory, wanted)}
    selected = store.read().select(wanted, limit=1000)
    assert len(selected) == len(set(selected)) and set(selected) == expected


ORDERS = {
    Order.PRIORITY: lambda memory: (-memory.priority, -memory.updated_at, memory.id),
    Order.NEWEST: lambda memory: (-memory.created_at, -memory.id),
    Order.CONFIDENCE: lambda memory: (-memory.confidence, -memory.created_at, -memory.id),
    Order.USE: lambda memory: (-memory.access_count, -memory.created_at, -memory.id),
    Order.NUMBER: lambda memory: memory.id,
    Order.LAST: lambda memory: -memory.id,
    Order.LEFT: lambda memory: (-(memory.state_at or -1), -memory.id),
    Order.UPDATED: lambda memory: (-memory.updated_at, -memory.id),
    Order.USED: lambda memory: (-(memory.accessed_at or -1), -memory.id),
    Order.EXPIRY: lambda memory: (memory.expires_at is None, memory.expires_at or 0, memory.id),
    Order.TITLE: lambda memory: (memory.title.lower(), memory.id),
    Order.KIND: lambda memory: (memory.kind, -memory.id),
    Order.NAMESPACE: lambda memory: (memory.namespace, -memory.id),
}


@settings(max_examples=150)
@given(
    wanted=any_filter,
    order=st.sampled_from(list(Order)),
    limit=st.sampled_from([0, 1, 7, 500]),
    offset=st.sampled_from([0, 3, 200]),
    is_reversed=st.booleans(),
)
def test_a_selection_is_in_order(library, wanted, order, limit, offset, is_reversed):
    store, memories = library
    expected = sorted(
        (memory for memory in memories if passes(memory, wanted)), key=ORDERS[order], reverse=is_reversed
    )
    selected = store.read().select(wanted, limit=limit, offset=offset, order=order, is_reversed=is_reversed)
    assert selected == [memory.id for memory in expected][offset : offset + limit]


VALUES = {
    "kind": lambda memory: [memory.kind],
    "namespace": lambda memory: [memory.namespace],
    "tier": lambda memory: [str(memory.tier)],
    "state": lambda memory: [str(memory.state)],
    "tag": lambda memory: memory.tags,
    "session": lambda memory: [str(memory.session_id)] if memory.session_id else [],
    "actor": lambda memory: [actor_of(memory)],
    "day": lambda memory: [iso(memory.created_at)[:10]],
}


@settings(max_examples=200)
@given(wanted=any_filter, by=st.sampled_from(list(VALUES)))
def test_a_tally_counts_what_passes(library, wanted, by):
    store, memories = library
    expected = Counter(value for memory in memories if passes(memory, wanted) for value in VALUES[by](memory))
    found = store.read().tally(wanted, by)
    assert found == expected
    assert list(found.values()) == sorted(found.values(), reverse=True)


@settings(max_examples=150)
@given(wanted=any_filter, after=st.integers(0, 160), limit=st.sampled_from([1, 7, 500]))
def test_a_page_is_what_passes_by_number(library, wanted, after, limit):
    store, memories = library
    expected = [memory.id for memory in memories if memory.id > after and passes(memory, wanted)]
    selected = store.read().select(wanted, order=Order.NUMBER, after=after, limit=limit)
    assert selected == expected[:limit]


@settings(max_examples=150)
@given(
    wanted=any_filter,
    after=st.integers(0, 160),
    needle=st.sampled_from(["", "am", "ember h", "RCH", "note", "10"]),
)
def test_substrings_are_found_in_what_passes(library, wanted, after, needle):
    store, memories = library
    holding = [
        memory.id
        for memory in memories
        if memory.id > after
        and passes(memory, wanted)
        and any(
            needle.lower() in text
            for text in (memory.title, memory.kind, *(s.text for s in memory.statements))
        )
    ]
    assert store.read().search_substring(needle, wanted, after=after) == holding


@settings(max_examples=150)
@given(
    wanted=any_filter,
    terms=st.lists(st.sampled_from([*WORDS, "absent"]), min_size=1, max_size=3),
    every=st.booleans(),
)
def test_words_find_what_holds_them_and_passes(library, wanted, terms, every):
    store, memories = library
    holds = all if every else any
    expected = {
        memory.id
        for memory in memories
        if memory.state is State.LIVING
        and passes(memory, wanted)
        and holds(term in memory.content.split() for term in terms)
    }
    found = queries.best_words(store.read(), terms, wanted, every=every, limit=1000)
    scores = [score for _, score in found]
    assert {number for number, _ in found} == expected and len(found) == len(expected)
    assert scores == sorted(scores, reverse=True)
    few = queries.best_words(store.read(), terms, wanted, every=every, limit=3)
    assert [score for _, score in few] == scores[:3], "the limit cuts after the filter"


def vectors_of(memory):
    """The vectors of all passages of a memory, in float32; of its whole too, if that is not one statement."""
    texts = [s.text for s in memory.statements]
    whole = [] if len(texts) == 1 else [memory.content]
    return EMBEDDER.embed(
        [text[start:end] for text in texts + whole for start, end in EMBEDDER.windows(text)]
    )


def similarities(embedded, wanted, text):
    """For every living memory that passes and has vectors, the best cosine of its passages."""
    seen = [
        (memory, vectors)
        for memory, vectors in embedded
        if memory.state is State.LIVING and passes(memory, wanted)
    ]
    [vector] = EMBEDDER.embed([text])
    return {memory.id: float((vectors @ vector).max()) for memory, vectors in seen}


@pytest.fixture(scope="module")
def embedded(library):
    """The memories whose every statement has its vectors, with these."""
    store, memories = library
    waiting = {item.memory_id for item in store.read().pending(limit=1000)}
    assert waiting, "some wait, and must not be found"
    return [(memory, vectors_of(memory)) for memory in memories if memory.id not in waiting]


@settings(max_examples=150)
@given(
    wanted=any_filter,
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
    limit=st.sampled_from([1, 5, 500]),
)
def test_the_nearest_are_the_nearest_of_those_that_pass(library, embedded, wanted, words, limit):
    store, _ = library
    text = " ".join(words)
    expected = similarities(embedded, wanted, text)
    found = queries.nearest(store.read(), embedding(EMBEDDER, text), wanted, limit=limit)
    assert len(found) == min(limit, len(expected))
    assert len({near.memory_id for near in found}) == len(found)
    for near, best in zip(found, sorted(expected.values(), reverse=True), strict=False):
        assert near.cosine == pytest.approx(best, abs=0.02)
        assert near.cosine == pytest.approx(expected[near.memory_id], abs=0.02)


def test_similarities_are_given_for_those_that_have_vectors(library, embedded):
    store, memories = library
    asked = embedding(EMBEDDER, "amber birch")
    told = queries.similarities(store.read(), asked, [memory.id for memory in memories] + [9999])
    expected = similarities(embedded, Filter(), "amber birch")
    assert told.keys() == expected.keys()
    for number, similarity in told.items():
        assert similarity == pytest.approx(expected[number], abs=0.02)
    assert queries.similarities(store.read(), asked, []) == {}


def test_the_statement_that_matched_is_named(library, embedded):
    store, _ = library
    [vector] = EMBEDDER.embed(["heron"])
    by_id = {memory.id: memory for memory, _ in embedded}
    for near in queries.nearest(store.read(), embedding(EMBEDDER, "heron"), Filter(), limit=20):
        memory = by_id[near.memory_id]
        matched = [s.text for s in memory.statements if s.id == near.statement_id]
        assert matched or len(memory.statements) != 1, "only the whole of several statements is none of them"
        [text] = matched or [memory.content]
        parts = [text[start:end] for start, end in EMBEDDER.windows(text)]
        assert max(float(v @ vector) for v in EMBEDDER.embed(parts)) == pytest.approx(near.cosine, abs=0.02)


@settings(max_examples=50)
@given(wanted=any_filter)
def test_what_waits_is_counted_under_the_same_filters(library, wanted):
    store, memories = library
    waiting = {
        item.memory_id: item
        for item in store.read().pending(limit=1000, wanted=Filter(states=frozenset(State)))
    }
    expected = {memory.id for memory in memories if memory.id in waiting and passes(memory, wanted)}
    found = store.read().pending(limit=1000, wanted=wanted)
    assert {item.memory_id for item in found} == expected
    assert store.read().backlog(wanted) == len(found)


def test_nothing_is_near_without_a_model(engine, tmp_path):
    store = open_store(engine, tmp_path)
    store.use_models("unknown")
    asked = embedding(WordEmbedder("unknown"), "sky")
    assert queries.nearest(store.read(), asked, Filter(), limit=5) == []
    assert queries.similarities(store.read(), asked, [1]) == {}
    assert store.read().models(Filter()) == []
    store.close()


def test_memories_that_may_say_nearly_the_same_come_in_pairs(store):
    same = "The API of the whole shop is deployed on Fridays"
    one, _, three, _ = put(
        store,
        a_draft(same),
        a_draft("Tea is served at four in the kitchen"),
        a_draft(f"{same}!"),
        a_draft(same, namespace="far"),
    )
    reader = store.read()
    assert reader.near_duplicate_pairs(Filter(), limit=10) == [(one.id, three.id)]
    assert reader.near_duplicate_pairs(Filter(namespaces=("far",)), limit=10) == []
    assert reader.near_duplicate_pairs(Filter(), limit=0) == []


def test_of_many_that_share_a_mark_each_is_paired_with_a_few(store):
    put(store, *(a_draft("The API of the whole shop is deployed", name=f"t{n}") for n in range(50)))
    pairs = store.read().near_duplicate_pairs(Filter(), limit=10_000)
    assert len(pairs) < 50 * 5
    assert {(n, n + 1) for n in range(1, 50)} <= set(pairs)
