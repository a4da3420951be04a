"""Names that links point to before anything lives under them, relations by name, and settings."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from support import START, a_draft, change, faults, last_number, put, write

from mnemic.core.stats import COUNTED
from mnemic.errors import Conflict
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter, Filter
from mnemic.model.graph import EdgeDraft, EdgePatch, Entity, Relation
from mnemic.model.memory import Memory
from mnemic.model.time import HOUR
from mnemic.storage import queries
from mnemic.storage.queries import count, each_memory, ids_titled, memory_numbered


def placeholder(tx, name, namespace="global"):
    """The number of a new placeholder."""
    uid, fields = str(uuid.uuid4()), {"created_at": START, "updated_at": START, "state": State.NAMED}
    return tx.import_memory(Memory(id=0, uid=uid, namespace=namespace, name=name, title=name, **fields)).id


def pointed(store, source, name, type="knows", *, at=START, namespace="global"):
    """A link from memory *source* to a mere *name*: the number of the name."""

    def work(tx):
        number = placeholder(tx, name, namespace)
        tx.insert_edge(EdgeDraft(source, number, type))
        return number

    return write(store, work, at=at)


def relations(store, wanted=None, **rest):
    return [(one.source, one.target, one.type) for one in looked(store, wanted, **rest)]


def looked(store, wanted=None, *, at=None, **page):
    """The relations whose ends pass *wanted* or are mere names."""
    ends = replace(wanted or Filter(), states=frozenset({State.LIVING, State.NAMED}))
    return store.read().look(EdgeFilter(at=at, ends=ends, is_current=True), Relation, **page)


@pytest.fixture
def linked(store):
    """Bob knows Anna, of whom nothing more is known: a memory of that name was forgotten long ago."""
    bob, gone = put(store, a_draft("Bob"), a_draft("An old story", name="Anna"))
    change(store, gone, state=State.FORGOTTEN)
    return bob, pointed(store, bob.id, "Anna")


# -- a name


def test_a_link_may_point_to_a_name(store, linked):
    _, name = linked
    assert relations(store) == [("Bob", "Anna", "knows")]
    found = memory_numbered(store.read(), name)
    assert (found.state, found.title, found.statements) == (State.NAMED, "Anna", ())
    assert store.read().ids_named("Anna", ("global",), State.NAMED) == [name]
    assert store.read().ids_named("Anna", ("global",)) == []
    assert ids_titled(store.read(), "Anna", ("global",)) == []
    assert faults(store) == []


def test_a_name_is_in_no_number_no_list_and_no_search(store, linked):
    bob, _ = linked
    reader = store.read()
    assert count(reader) == 1
    assert reader.tally(Filter(states=COUNTED), "state") == {"living": 1, "forgotten": 1}
    assert (
        reader.tally(Filter(), "namespace") == {"global": 1}
        and sum(reader.tally(Filter(), "kind").values()) == 1
    )
    assert reader.select(Filter(), limit=10) == reader.search_substring("", Filter()) == [bob.id]
    assert reader.search_substring("anna", Filter()) == []
    assert queries.best_words(reader, ["anna"], Filter(), every=True, limit=10) == []
    assert [one.title for one in each_memory(reader, Filter())] == ["Bob"]
    assert reader.backlog() == 1


def test_two_names_alike_cannot_be_imported(store, linked):
    _, number = linked
    name = memory_numbered(store.read(), number)
    with pytest.raises(Conflict):
        write(store, lambda tx: tx.import_memory(replace(name, id=0, uid=str(uuid.uuid4()))))
    assert faults(store) == []


# -- relations


@pytest.fixture
def graph(store):
    """A small graph: a -> b -> c, a -> name, c in another namespace, and a link that has ended."""
    a, b, c, d = put(
        store,
        a_draft("a"),
        a_draft("b", kind="thought", metadata={"about": 1}),
        a_draft("c", namespace="work"),
        a_draft("d", expires_at=START + HOUR),
    )

    def work(tx):
        tx.insert_edge(EdgeDraft(a.id, b.id, "one"))
        tx.insert_edge(EdgeDraft(b.id, c.id, "two"))
        tx.insert_edge(EdgeDraft(a.id, placeholder(tx, "n"), "three"))
        tx.insert_edge(EdgeDraft(a.id, d.id, "four"))
        tx.insert_edge(EdgeDraft(a.id, b.id, "ended", valid_to=START))
        tx.update_edge(tx.insert_edge(EdgeDraft(b.id, a.id, "deleted")), EdgePatch(state=State.FORGOTTEN))

    write(store, work)
    return a, b, c, d


ALL = [("a", "b", "one"), ("b", "c", "two"), ("a", "n", "three"), ("a", "d", "four")]


def test_relations_are_those_that_stand_in_the_order_of_their_making(store, graph):
    assert relations(store) == ALL


@pytest.mark.parametrize(
    "wanted, types",
    [
        (Filter(namespaces=("global",)), ["one", "three", "four"]),
        (Filter(namespaces=("work",)), []),
        (Filter(namespaces=("global", "work"), without=(("thought", "about"),)), ["three", "four"]),
        (Filter(alive_at=START), ["one", "two", "three", "four"]),
        (Filter(alive_at=START + HOUR), ["one", "two", "three"]),
    ],
)
def test_both_ends_have_to_pass_or_be_names(store, graph, wanted, types):
    assert [type for _, _, type in relations(store, wanted)] == types


def test_names_of_a_namespace_that_is_not_asked_for_are_left_out(store, graph):
    a = graph[0]
    pointed(store, a.id, "secret", "five", namespace="work")
    assert "five" not in [type for _, _, type in relations(store, Filter(namespaces=("global",)))]


def test_relations_can_be_asked_for_at_some_memories_and_in_pages(store, graph):
    a, b, c, _ = graph
    assert relations(store, at=(b.id,)) == ALL[:2]
    assert relations(store, at=(c.id,)) == ALL[1:2]
    assert relations(store, at=(b.id, a.id)) == ALL, "one that touches both is there once"
    assert relations(store, at=()) == []
    first = looked(store, limit=2)
    assert [one.type for one in first] == ["one", "two"]
    rest = looked(store, after=first[-1].id)
    assert [one.type for one in rest] == ["three", "four"]


def test_what_is_forgotten_takes_its_relations_along(store, graph):
    change(store, graph[1], state=State.FORGOTTEN)
    assert relations(store) == ALL[2:]


# -- entities


def test_entities_are_titles_kinds_and_texts_by_number(store):
    one, two = put(
        store, a_draft("x", name="one", texts=("second", "first"), kind="k"), a_draft("two", texts=())
    )
    found = store.read().look([two.id, 404, one.id], Entity)
    assert [tuple(entity) for entity in found] == [
        (one.id, "one", "k", ["second", "first"]),
        (two.id, "two", two.kind, []),
    ]


# -- settings


def test_a_setting_is_kept_and_replaced_and_no_part_of_the_journal(store, fresh):
    assert store.read().setting("mirror x") is None
    for value in ("one", "two", ""):

        def work(tx):
            tx.put_setting("mirror x", value)
            assert tx.setting("mirror x") == value

        write(store, work)
        assert fresh().read().setting("mirror x") == value
    assert store.read().setting("mirror") is None
    assert last_number(store) == 0


def test_a_setting_of_a_failed_transaction_is_not_kept(store):

    def work(tx):
        tx.put_setting("name", "value")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write(store, work)
    assert store.read().setting("name") is None
