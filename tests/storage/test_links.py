"""Links read in short and counted, and memories without any; filters on what a memory is not."""

from __future__ import annotations

import pytest
from support import START, a_draft, change, put, write

from mnemic.model.enums import State
from mnemic.model.filter import ALL_STATES, EdgeFilter, Filter
from mnemic.model.graph import Direction, EdgeDraft, EdgePatch, Link
from mnemic.model.shapes import Standing
from mnemic.model.time import DAY
from mnemic.storage import queries
from mnemic.storage.queries import edge_numbered, memory_numbered, passing, unlinked

KNOWN = frozenset({State.LIVING, State.SUPERSEDED})


@pytest.fixture
def graph(store):
    """a → b by `next`, b → c by `supports`, an ended a → c by `next`, and d alone: ids by name."""
    ids = {one.title: one.id for one in put(store, *(a_draft(name) for name in "abcd"))}

    def work(tx):
        tx.insert_edge(EdgeDraft(ids["a"], ids["b"], "next", weight=0.5))
        tx.insert_edge(EdgeDraft(ids["b"], ids["c"], "supports"))
        tx.insert_edge(EdgeDraft(ids["a"], ids["c"], "next", valid_to=START))

    write(store, work, operation="link", actor="tester")
    return ids


def test_links_are_given_in_short_without_those_that_ended(store, graph):
    a, b, c, d = graph.values()
    first, second = Link(1, a, b, "next", 0.5), Link(2, b, c, "supports", 1.0)
    reader = store.read()
    assert reader.look(EdgeFilter(at=(a,), direction=Direction.OUT, is_current=True), Link) == [first]
    assert (
        reader.look(EdgeFilter(at=(b,), is_current=True), Link)
        == reader.look(EdgeFilter(at=(a, b, d), is_current=True), Link)
        == [first, second]
    )
    assert reader.look(EdgeFilter(at=(b, c), direction=Direction.IN, is_current=True), Link) == [
        first,
        second,
    ]
    assert reader.look(
        EdgeFilter(at=(a, b), direction=Direction.OUT, types=("supports",), is_current=True), Link
    ) == [second]

    def between(*numbers):
        return reader.look(EdgeFilter(sources=numbers, targets=numbers, is_current=True), Link)

    assert between(a, b, d) == [first] and between(a, c) == []


def test_the_numbers_of_links_are_reported_in_whatever_state(store, graph):
    a, b, c, d = graph.values()
    write(
        store,
        lambda tx: tx.update_edge(edge_numbered(tx, 1), EdgePatch(state=State.FORGOTTEN)),
        operation="unlink",
        actor="tester",
    )
    told = [
        [edge.id for edge in store.read().edges(EdgeFilter(at=(number,), states=ALL_STATES))]
        for number in (a, b, c, d)
    ]
    assert told == [[1, 3], [1, 2], [2, 3], []]


def test_memories_that_pass_are_reported_from_a_list(store, graph):
    a, b, *_ = graph.values()
    change(store, memory_numbered(store.read(), b), state=State.SUPERSEDED)
    reader = store.read()
    assert passing(reader, [a, b, 99], Filter()) == {a}
    assert passing(reader, [a, b], Filter(states=KNOWN)) == {a, b}
    assert passing(reader, [], Filter()) == passing(reader, [a], Filter(namespaces=("work",))) == set()


def test_links_are_counted_between_memories_that_pass(store, graph):
    assert store.read().tally(EdgeFilter(ends=Filter(), is_current=True), "type") == {
        "next": 1,
        "supports": 1,
    }
    assert [
        one.id for one in store.read().edges(EdgeFilter(types=("next",), ends=Filter(), is_current=True))
    ] == [1]
    change(store, memory_numbered(store.read(), graph["c"]), state=State.FORGOTTEN)
    assert store.read().tally(EdgeFilter(ends=Filter(), is_current=True), "type") == {"next": 1}
    assert store.read().edges(EdgeFilter(types=("supports",), ends=Filter(), is_current=True)) == []
    assert store.read().tally(EdgeFilter(ends=Filter(namespaces=("work",)), is_current=True), "type") == {}
    change(store, memory_numbered(store.read(), graph["a"]), state=State.SUPERSEDED)
    assert store.read().tally(EdgeFilter(ends=Filter(), is_current=True), "type") == {}
    assert store.read().tally(
        EdgeFilter(ends=Filter(states=KNOWN, alive_at=START), is_current=True), "type"
    ) == {"next": 1}


def test_memories_without_links_are_found(store, graph):
    a, b, c, d = graph.values()
    assert unlinked(store.read(), Filter()) == [d]
    assert unlinked(store.read(), Filter(), Direction.OUT) == [c, d]
    assert unlinked(store.read(), Filter(), Direction.IN) == [a, d]
    assert unlinked(store.read(), Filter(), Direction.OUT, ("supports", "other")) == [a, c, d]
    change(store, memory_numbered(store.read(), b), state=State.SUPERSEDED)
    assert unlinked(store.read(), Filter()) == [d]
    change(store, memory_numbered(store.read(), b), state=State.FORGOTTEN)
    assert unlinked(store.read(), Filter()) == [a, c, d]


def test_memories_are_reported_by_kind_without_their_text(store):
    note, fact, old = put(
        store,
        a_draft("note"),
        a_draft("fact", kind="fact", confidence=0.5),
        a_draft("old", kind="fact", expires_at=START + DAY),
    )
    change(store, old, state=State.SUPERSEDED)
    write(store, lambda tx: tx.count_use([fact.id], START + 1), operation="use", actor="tester")
    reader = store.read()
    shown = [
        Standing(note.id, "note", 1, True, START, None, 0),
        Standing(fact.id, "fact", 0.5, True, START, START + 1, 1),
    ]
    assert reader.look(Filter(), Standing) == shown
    assert [one.is_living for one in reader.look(Filter(states=KNOWN), Standing)] == [True, True, False]
    assert reader.tally(Filter(states=KNOWN), "kind") == {"note": 1, "fact": 2}
    assert reader.tally(Filter(states=KNOWN, alive_at=START + DAY), "kind") == {"note": 1, "fact": 1}


def test_a_filter_can_say_what_a_memory_is_not(store):
    note, fact = put(store, a_draft("a sky note"), a_draft("a sky fact", kind="fact"))
    wanted = Filter(not_kinds=("fact", "skill"))
    assert store.read().select(wanted, limit=9) == [note.id]
    assert [
        number for number, _ in queries.best_words(store.read(), ["sky"], wanted, every=True, limit=9)
    ] == [note.id]
    assert not wanted.is_plain
    assert store.read().select(Filter(not_kinds=("note",)), limit=9) == [fact.id]


def test_the_room_a_store_takes_is_reported(store):
    assert store.read().size_bytes() > 0
