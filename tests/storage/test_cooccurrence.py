"""Use and size: what was answered together, on how many days, how much a memory says and since when."""

from __future__ import annotations

import numpy as np
import pytest
from support import START, WordEmbedder, a_draft, change, embed_all, faults, last_number, put, write

from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.model.graph import EdgeDraft
from mnemic.model.shapes import Origins, Outline, Usage
from mnemic.model.time import DAY, HOUR


@pytest.fixture
def three(store):
    return [memory.id for memory in put(store, a_draft("one"), a_draft("two"), a_draft("three"))]


def together(store, *numbers, at=START):
    write(store, lambda tx: tx.count_together(numbers, at), operation="use", at=at, durable=False)


def test_every_pair_that_was_answered_together_is_counted(store, three):
    a, b, c = three
    together(store, c, a, b)
    together(store, b, a, at=START + HOUR)
    together(store, a, b, at=START)
    together(store, c)
    reader = store.read()
    pairs = [(a, b, (3, START + HOUR)), (a, c, (1, START)), (b, c, (1, START))]
    assert list(reader.companions(three)) == list(reader.companions()) == pairs
    assert list(reader.companions([a, c])) == [(a, c, (1, START))]
    assert [(one, other) for one, other, _ in reader.companions()] == [(a, b), (a, c), (b, c)]
    assert last_number(store) == 3 and faults(store) == []


def test_what_was_purged_before_it_is_counted_is_passed_over(store, three):
    write(store, lambda tx: tx.purge(three[:1]), operation="purge")
    together(store, *three)
    assert [pair[:2] for pair in store.read().companions(three)] == [(three[1], three[2])]


def test_a_purge_takes_companions_along(store, three):
    together(store, *three)
    write(store, lambda tx: tx.purge(three[:1]), operation="purge")
    assert [pair[:2] for pair in store.read().companions(three)] == [(three[1], three[2])]
    assert faults(store) == []


def test_more_companions_than_a_page_are_all_read(store):
    numbers = [memory.id for memory in put(store, *(a_draft(f"text {n}") for n in range(40)))]
    together(store, *numbers)
    assert len({(a, b) for a, b, _ in store.read().companions()}) == 40 * 39 // 2


def test_a_day_counts_once_however_often_a_memory_was_used(store, three):
    for moment in (START, START + HOUR, START + DAY, START + 3 * DAY, START + 2 * DAY):
        write(store, lambda tx: tx.count_use(three[:1], moment), operation="use", at=moment, durable=False)
    used = {one.id: one for one in store.read().look(three, Usage)}
    assert (used[three[0]].access_count, used[three[0]].days_used) == (5, 3)
    assert used[three[1]] == (three[1], START, None, 0, 0, 0)


def test_links_are_counted_at_both_ends_and_after_they_ended(store, three):
    a, b, c = three

    def work(tx):
        tx.insert_edge(EdgeDraft(a, b, "knows", valid_to=START))
        tx.insert_edge(EdgeDraft(c, a, "knows"))
        tx.insert_edge(EdgeDraft(a, c, "gone", state=State.FORGOTTEN))

    write(store, work, operation="link")
    assert [one.links for one in store.read().look([a, b, c], Usage)] == [2, 1, 1]


def test_an_outline_tells_how_much_a_memory_says(store):
    small, grown = put(store, a_draft("one", kind="x"), a_draft("a", name="Grown", texts=("a", "b")))
    [silent] = put(store, a_draft("none", texts=()))
    change(store, grown, texts=("b", "c", "d"))
    outlines = {one.id: one for one in store.read().look(Filter(), Outline)}
    assert {number: (one.statements, one.has_grown) for number, one in outlines.items()} == {
        small.id: (1, False),
        grown.id: (3, True),
        silent.id: (0, False),
    }
    assert (outlines[small.id].title, outlines[small.id].kind) == ("one", "x")
    assert [one.id for one in store.read().look(Filter(kinds=("x",)), Outline)] == [small.id]


def test_a_statement_knows_the_change_it_came_with(store):
    [memory] = put(store, a_draft("a", texts=("a", "b")))
    first = last_number(store)
    memory = change(store, memory, texts=("b", "c"))
    kept, added = (statement.id for statement in memory.statements)
    assert store.read().look([memory.id], Origins) == [
        Origins(memory.id, ((kept, first), (added, first + 1)))
    ]


def test_the_vectors_of_a_memory_are_those_of_its_statements(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    assert store.read().vectors([1]) == {}
    one, other = put(store, a_draft("a", texts=("red fox", "blue heron")), a_draft("other"))
    long = change(store, other, texts=("word " * 200,))
    embed_all(store, embedder)
    vectors = store.read().vectors([one.id])
    assert list(vectors)[:2] == [statement.id for statement in one.statements]
    wanted = embedder.embed(["red fox", "blue heron", "red fox\nblue heron"])
    assert np.allclose(np.array([one.vector for one in vectors.values()]), wanted, atol=0.02)
    [vector] = store.read().vectors([long.id]).values()
    assert vector.vector @ embedder.embed(["word"])[0] == pytest.approx(1, abs=0.01), (
        "several passages, one vector"
    )
