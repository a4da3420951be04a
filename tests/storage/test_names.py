"""Names that links point to before anything lives under them, relations by name, and settings."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from mnemic.errors import Conflict
from mnemic.model.graph import Direction
from mnemic.model.journal import Subject
from mnemic.model.memory import Memory, Statement
from mnemic.model.search import Filter
from mnemic.model.values import HOUR, State
from support import START, a_draft, change, put


def writing(store, *, at=START, operation="create_relations"):
    return store.write(operation=operation, actor="tester", at=at)


def pointed(store, source, name, type="knows", *, at=START, namespace="global"):
    """A link from memory *source* to a mere *name*: the number of the name."""
    with writing(store, at=at) as tx:
        number = tx.named(namespace, name)
        tx.add_edge(source, number, type)
    return number


def relations(store, wanted=None, **rest):
    found = store.read().relations(wanted or Filter(), **rest)
    return [(one.source, one.target, one.type) for one in found]


def arrive_added(store, namespace="global"):
    return put(store, a_draft("She is here", title="Anna", namespace=namespace), at=START + HOUR)[0]


def arrive_renamed(store):
    [memory] = put(store, a_draft("She is here", title="Ann"), at=START + HOUR)
    return change(store, memory, title="Anna", at=START + HOUR)


def arrive_moved(store):
    return change(store, arrive_added(store, "elsewhere"), namespace="global", at=START + HOUR)


def arrive_restored(store):
    """A memory of the name that was forgotten before the link was made comes back."""
    forgotten = next(one for one in store.read().all_memories() if one.state is State.FORGOTTEN)
    return change(store, forgotten, state=State.LIVING, at=START + HOUR)


def arrive_taken_in(store):
    with writing(store, at=START + HOUR, operation="import") as tx:
        return tx.take_in(from_elsewhere(statements=(Statement(0, "She is here"),)))


def from_elsewhere(**fields):
    """Anna as another store has her."""
    uid = str(uuid.uuid4())
    return Memory(
        id=0, uid=uid, namespace="global", title="Anna", created_at=START, updated_at=START, **fields
    )


ARRIVALS = [arrive_added, arrive_renamed, arrive_moved, arrive_restored, arrive_taken_in]


@pytest.fixture
def linked(store):
    """Bob knows Anna, of whom nothing more is known: a memory of that name was forgotten long ago."""
    bob, gone = put(store, a_draft("Bob"), a_draft("An old story", title="Anna"))
    change(store, gone, state=State.FORGOTTEN)
    return bob, pointed(store, bob.id, "Anna")


# -- a name


def test_a_link_may_point_to_a_name(store, linked):
    _, name = linked
    assert relations(store) == [("Bob", "Anna", "knows")]
    found = store.read().memory(name)
    assert (found.state, found.title, found.statements) == (State.NAMED, "Anna", ())
    assert store.read().ids_titled("Anna", ("global",), State.NAMED) == [name]
    assert store.read().ids_titled("Anna", ("global",)) == []
    assert store.check() == []


def test_a_name_is_one_however_often_it_is_used(store):
    with writing(store) as tx:
        first = tx.named("global", "Anna")
        assert tx.named("global", "Anna") == first
        assert tx.named("work", "Anna") != first
        assert tx.named("global", "anna") != first
    with writing(store) as tx:
        assert tx.named("global", "Anna") == first


def test_the_name_of_what_lives_is_what_lives(store):
    [bob] = put(store, a_draft("Bob"))
    with writing(store) as tx:
        assert tx.named("global", "Bob") == bob.id


def test_a_name_is_in_no_number_no_list_and_no_search(store, linked):
    bob, _ = linked
    reader = store.read()
    counts = reader.counts(None, START)
    assert reader.count() == 1
    assert counts.by_state == {"living": 1, "forgotten": 1}
    assert sum(counts.by_namespace.values()) == sum(counts.by_kind.values()) == 1
    assert reader.select(Filter(), limit=10) == reader.ids_containing("", Filter()) == [bob.id]
    assert reader.ids_containing("anna", Filter()) == []
    assert reader.words(["anna"], Filter(), every=True, limit=10) == []
    assert [one.title for one in reader.page(Filter(), limit=10)] == ["Bob"]
    assert reader.pending_count() == 1


# -- coming to live under a name


@pytest.mark.parametrize("arrive", ARRIVALS)
def test_what_comes_to_live_under_a_name_takes_over_its_links(store, linked, arrive):
    bob, name = linked
    anna = arrive(store)
    assert anna.id != name
    assert [edge.target_id for edge in store.read().edges([bob.id], Direction.OUT)] == [anna.id]
    assert store.read().edges([name], Direction.BOTH) == []
    assert relations(store) == [("Bob", "Anna", "knows")]
    assert store.check() == []


@pytest.mark.parametrize("arrive", ARRIVALS)
def test_the_taking_over_is_journaled_with_the_arrival(store, linked, arrive):
    _, name = linked
    anna = arrive(store)
    arrival, taking = list(store.read().journal())[-2:]
    assert (arrival.subject, arrival.subject_id) == (Subject.MEMORY, anna.id)
    assert (taking.subject, taking.before, taking.after) == (
        Subject.EDGE,
        {"target_id": name},
        {"target_id": anna.id},
    )
    assert taking.batch == arrival.batch


@pytest.mark.parametrize("arrive", ARRIVALS)
def test_the_past_still_points_to_the_name(store, linked, arrive):
    bob, name = linked
    then = store.sequence()
    arrive(store)
    past = store.at(then)
    assert [edge.target_id for edge in past.read().edges([bob.id], Direction.OUT)] == [name]
    assert relations(past) == [("Bob", "Anna", "knows")]
    assert past.read().memory(name).state is State.NAMED
    assert past.check() == []


def test_every_link_in_both_directions_is_taken_over(store):
    bob, eve = put(store, a_draft("Bob"), a_draft("Eve"))
    name = pointed(store, bob.id, "Anna")
    with writing(store) as tx:
        tx.add_edge(name, eve.id, "likes")
        tx.add_edge(name, name, "is")
        tx.add_edge(bob.id, name, "met", valid_to=START)
    anna = arrive_added(store)
    ends = [
        (edge.source_id, edge.target_id, edge.type) for edge in store.read().edges([anna.id], Direction.BOTH)
    ]
    assert ends == [
        (bob.id, anna.id, "knows"),
        (anna.id, eve.id, "likes"),
        (anna.id, anna.id, "is"),
        (bob.id, anna.id, "met"),
    ]
    assert relations(store) == [
        ("Bob", "Anna", "knows"),
        ("Anna", "Eve", "likes"),
        ("Anna", "Anna", "is"),
    ]


def test_a_name_of_another_namespace_or_case_keeps_its_links(store, linked):
    bob, name = linked
    put(store, a_draft("x", title="Anna", namespace="work"), a_draft("y", title="anna"))
    assert [edge.target_id for edge in store.read().edges([bob.id], Direction.OUT)] == [name]


def test_a_name_is_there_for_new_links_when_its_memory_has_left(store, linked):
    bob, name = linked
    change(store, arrive_added(store), state=State.FORGOTTEN, at=START + HOUR)
    assert relations(store) == [], "the link went with the memory"
    assert pointed(store, bob.id, "Anna", "misses", at=START + HOUR) == name
    assert relations(store) == [("Bob", "Anna", "misses")]
    assert store.check() == []


def test_a_name_that_was_just_taken_in_gives_its_links_to_who_bears_it(store):
    with writing(store) as tx:
        bob = tx.add(a_draft("Bob"), uid=str(uuid.uuid4()))
        name = tx.take_in(from_elsewhere(state=State.NAMED))
        tx.add_edge(bob.id, name.id, "knows")
        anna = tx.add(a_draft("She is here", title="Anna"), uid=str(uuid.uuid4()))
        assert [edge.target_id for edge in tx.edges([bob.id], Direction.OUT)] == [anna.id]
    assert store.check() == []


def test_two_names_alike_cannot_be_taken_in(store, linked):
    _, number = linked
    name = store.read().memory(number)
    with pytest.raises(Conflict), writing(store) as tx:
        tx.take_in(replace(name, id=0, uid=str(uuid.uuid4())))
    assert store.check() == []


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
    with writing(store) as tx:
        tx.add_edge(a.id, b.id, "one")
        tx.add_edge(b.id, c.id, "two")
        tx.add_edge(a.id, tx.named("global", "n"), "three")
        tx.add_edge(a.id, d.id, "four")
        tx.add_edge(a.id, b.id, "ended", valid_to=START)
        tx.change_edge(tx.add_edge(b.id, a.id, "deleted"), state=State.FORGOTTEN)
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
    assert relations(store, at=[b.id]) == ALL[:2]
    assert relations(store, at=[c.id]) == ALL[1:2]
    assert relations(store, at=[b.id, a.id]) == ALL, "one that touches both is there once"
    assert relations(store, at=[]) == []
    first = store.read().relations(Filter(), limit=2)
    assert [one.type for one in first] == ["one", "two"]
    rest = store.read().relations(Filter(), after=first[-1].id)
    assert [one.type for one in rest] == ["three", "four"]


def test_what_is_forgotten_takes_its_relations_along(store, graph):
    change(store, graph[1], state=State.FORGOTTEN)
    assert relations(store) == ALL[2:]


# -- entities


def test_entities_are_titles_kinds_and_texts_in_the_order_asked(store):
    one, two = put(
        store, a_draft("x", title="one", texts=("second", "first"), kind="k"), a_draft("two", texts=())
    )
    found = store.read().entities([two.id, 404, one.id])
    assert [tuple(entity) for entity in found] == [
        (two.id, "two", two.kind, []),
        (one.id, "one", "k", ["second", "first"]),
    ]


# -- settings


def test_a_setting_is_kept_and_replaced_and_no_part_of_the_journal(store, fresh):
    assert store.read().setting("mirror x") is None
    for value in ("one", "two", ""):
        with writing(store) as tx:
            tx.set_setting("mirror x", value)
            assert tx.setting("mirror x") == value
        assert fresh().read().setting("mirror x") == value
    assert store.read().setting("mirror") is None
    assert store.sequence() == 0


def test_a_setting_of_a_failed_transaction_is_not_kept(store):
    with pytest.raises(RuntimeError), writing(store) as tx:
        tx.set_setting("name", "value")
        raise RuntimeError
    assert store.read().setting("name") is None
