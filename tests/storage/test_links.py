"""Links read in short and counted, and memories without any; filters on what a memory is not."""

from __future__ import annotations

import pytest

from mnemic.model.graph import Direction, Link
from mnemic.model.search import Filter
from mnemic.model.values import DAY, State
from mnemic.storage.base import Standing
from support import START, a_draft, change, put

KNOWN = frozenset({State.LIVING, State.SUPERSEDED})


@pytest.fixture
def graph(store):
    """a → b by `next`, b → c by `supports`, an ended a → c by `next`, and d alone: ids by name."""
    ids = {one.title: one.id for one in put(store, *(a_draft(name) for name in "abcd"))}
    with store.write(operation="link", actor="tester", at=START) as tx:
        tx.add_edge(ids["a"], ids["b"], "next", weight=0.5)
        tx.add_edge(ids["b"], ids["c"], "supports")
        tx.add_edge(ids["a"], ids["c"], "next", valid_to=START)
    return ids


def test_links_are_given_in_short_without_those_that_ended(store, graph):
    a, b, c, d = graph.values()
    first, second = Link(1, a, b, "next", 0.5), Link(2, b, c, "supports", 1.0)
    reader = store.read()
    assert reader.links([a], Direction.OUT) == [first]
    assert reader.links([b], Direction.BOTH) == reader.links([a, b, d], Direction.BOTH) == [first, second]
    assert reader.links([b, c], Direction.IN) == [first, second]
    assert reader.links([a, b], Direction.OUT, ["supports"]) == [second]
    assert reader.links_between([a, b, d]) == [first] and reader.links_between([a, c]) == []


def test_the_numbers_of_links_are_told_in_whatever_state(store, graph):
    a, b, c, d = graph.values()
    with store.write(operation="unlink", actor="tester", at=START) as tx:
        tx.change_edge(tx.edge(1), state=State.FORGOTTEN)
    told = [sorted(store.read().edge_ids(number)) for number in (a, b, c, d)]
    assert told == [[1, 3], [1, 2], [2, 3], []]


def test_memories_that_pass_are_told_from_a_list(store, graph):
    a, b, *_ = graph.values()
    change(store, store.read().memory(b), state=State.SUPERSEDED)
    reader = store.read()
    assert reader.passing([a, b, 99], Filter()) == {a}
    assert reader.passing([a, b], Filter(states=KNOWN)) == {a, b}
    assert reader.passing([], Filter()) == reader.passing([a], Filter(namespaces=("work",))) == set()


def test_links_are_counted_between_memories_that_pass(store, graph):
    assert store.read().edge_tally(Filter()) == {"next": 1, "supports": 1}
    assert [one.id for one in store.read().edges_typed("next", Filter())] == [1]
    change(store, store.read().memory(graph["c"]), state=State.FORGOTTEN)
    assert store.read().edge_tally(Filter()) == {"next": 1}
    assert store.read().edges_typed("supports", Filter()) == []
    assert store.read().edge_tally(Filter(namespaces=("work",))) == {}
    change(store, store.read().memory(graph["a"]), state=State.SUPERSEDED)
    assert store.read().edge_tally(Filter()) == {}
    assert store.read().edge_tally(Filter(states=KNOWN, alive_at=START)) == {"next": 1}


def test_memories_without_links_are_found(store, graph):
    a, b, c, d = graph.values()
    assert store.read().unlinked(Filter()) == [d]
    assert store.read().unlinked(Filter(), Direction.OUT) == [c, d]
    assert store.read().unlinked(Filter(), Direction.IN) == [a, d]
    assert store.read().unlinked(Filter(), Direction.OUT, ["supports", "other"]) == [a, c, d]
    change(store, store.read().memory(b), state=State.SUPERSEDED)
    assert store.read().unlinked(Filter()) == [d]
    change(store, store.read().memory(b), state=State.FORGOTTEN)
    assert store.read().unlinked(Filter()) == [a, c, d]


def test_memories_are_told_by_kind_without_their_text(store):
    note, fact, old = put(
        store,
        a_draft("note"),
        a_draft("fact", kind="fact", confidence=0.5),
        a_draft("old", kind="fact", expires_at=START + DAY),
    )
    change(store, old, state=State.SUPERSEDED)
    with store.write(operation="use", actor="tester", at=START) as tx:
        tx.touch([fact.id], START + 1)
    reader = store.read()
    shown = [
        Standing(note.id, "note", 1, True, START, None, 0),
        Standing(fact.id, "fact", 0.5, True, START, START + 1, 1),
    ]
    assert reader.standings(Filter()) == shown
    assert [one.is_living for one in reader.standings(Filter(states=KNOWN))] == [True, True, False]
    assert reader.tally(Filter(states=KNOWN)) == {"note": 1, "fact": 2}
    assert reader.tally(Filter(states=KNOWN, alive_at=START + DAY)) == {"note": 1, "fact": 1}


def test_a_filter_can_say_what_a_memory_is_not(store):
    note, fact = put(store, a_draft("a sky note"), a_draft("a sky fact", kind="fact"))
    wanted = Filter(not_kinds=("fact", "skill"))
    assert store.read().select(wanted, limit=9) == [note.id]
    assert [number for number, _ in store.read().words(["sky"], wanted, every=True, limit=9)] == [note.id]
    assert not wanted.is_plain
    assert store.read().select(Filter(not_kinds=("note",)), limit=9) == [fact.id]


def test_the_room_a_store_takes_is_told(store):
    assert store.read().size_bytes() == store.read().counts(None, START).size_bytes > 0
