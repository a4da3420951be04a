"""Entities, observations and relations: each rule in each of its variants, and what the past says of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import START, Uids, WordEmbedder, everything, faults, kept, last_number

from mnemic.core import entities
from mnemic.core.entities import (
    OnTakenName,
    create,
    delete,
    end,
    observe,
    relate,
    retract,
    unrelate,
)
from mnemic.core.history import as_of, undo
from mnemic.core.memories import forget, restore
from mnemic.core.reflections import Reflection, add, search
from mnemic.core.sessions import Event, record, start
from mnemic.core.sessions import end as finish
from mnemic.errors import Denied, NotFound
from mnemic.model.access import Grant
from mnemic.model.enums import State
from mnemic.model.filter import ANY_EDGE
from mnemic.model.graph import Sketch, Triple
from mnemic.model.time import HOUR
from mnemic.storage.queries import memory_numbered
from mnemic.transfer.jsonl import export_lines, import_lines

INVERSES = {"has": "part_of", "part_of": "has"}
KNOWS = Triple("Anna", "Bob", "knows")


def make(ctx, *sketches, taken=OnTakenName.KEEP):
    return create(ctx, [Sketch(*one) for one in sketches], taken)


def link(ctx, *triples, may_dangle=True, **rules):
    return relate(ctx, [Triple(*one) for one in triples], may_dangle=may_dangle, **rules)


def graph(ctx, **page):
    """The names and observations, and the relations, of what `read_graph` shows."""
    whole = entities.read_graph(ctx, **page)
    return (
        {one.title: one.texts for one in whole.entities},
        [(one.source, one.target, one.type) for one in whole.relations],
    )


def relations(ctx):
    return graph(ctx)[1]


def observations(ctx, name):
    return graph(ctx)[0][name]


@pytest.fixture
def people(ctx):
    """Anna and Bob, who is known twice to be tall."""
    return [
        memory
        for memory, _ in make(ctx, ("Anna", "person", ("kind",)), ("Bob", "person", ("tall", "old", "tall")))
    ]


# -- making entities


def test_an_entity_is_made_with_its_type_and_observations(ctx):
    [(memory, is_new)] = make(ctx, ("Anna", "person", ("kind", "kind")))
    assert is_new
    assert (memory.title, memory.kind, memory.namespace) == ("Anna", "person", "global")
    assert observations(ctx, "Anna") == ["kind", "kind"]


def test_an_entity_may_be_empty(ctx):
    make(ctx, ("", "", ()))
    assert graph(ctx) == ({"": []}, [])
    assert faults(ctx.store) == []


@pytest.mark.parametrize(
    "taken, kind, texts",
    [
        (OnTakenName.KEEP, "person", ["kind"]),
        (OnTakenName.REPLACE, "cat", ["fast", "kind"]),
        (OnTakenName.MERGE, "cat", ["kind", "fast"]),
    ],
)
def test_a_name_that_is_taken(ctx, people, taken, kind, texts):
    [(memory, is_new)] = make(ctx, ("Anna", "cat", ("fast", "kind")), taken=taken)
    assert not is_new and memory.id == people[0].id
    assert memory.kind == kind
    assert observations(ctx, "Anna") == texts


@pytest.mark.parametrize(
    "taken, texts", [(OnTakenName.KEEP, ["a"]), (OnTakenName.REPLACE, ["b"]), (OnTakenName.MERGE, ["a", "b"])]
)
def test_a_name_twice_in_one_call_is_one_entity(ctx, taken, texts):
    made = make(ctx, ("x", "k", ("a",)), ("x", "k", ("b",)), taken=taken)
    assert [is_new for _, is_new in made] == [True, False]
    assert graph(ctx) == ({"x": texts}, [])


@pytest.mark.parametrize(
    "taken, metadata",
    [
        (OnTakenName.KEEP, {"a": 1}),
        (OnTakenName.REPLACE, {"a": 1, "b": 2}),
        (OnTakenName.MERGE, {"a": 1, "b": 2}),
    ],
)
def test_what_else_is_known_of_an_entity_is_not_lost(ctx, taken, metadata):
    create(ctx, [Sketch("x", "k", (), {"a": 1})], taken)
    [(memory, _)] = create(ctx, [Sketch("x", "k", (), {"b": 2})], taken)
    assert memory.metadata == metadata


@pytest.mark.parametrize("name", ["anna", "Anna ", "ANNA", "Ánna", "Anna\u0301"])
def test_names_differ_by_every_character(ctx, people, name):
    [(_, is_new)] = make(ctx, (name, "person"))
    assert is_new and name in graph(ctx)[0]


def test_a_thought_is_no_entity(ctx, people):
    thought = add(ctx, Reflection(text="Tea"))
    assert "Tea" not in graph(ctx)[0] and entities.containing(ctx, "tea") == []
    assert observe(ctx, [("Tea", ["x"])], may_repeat=True, must_exist=False) == [(None, [])]
    assert delete(ctx, ["Tea"]) == [] and entities.open_named(ctx, ["Tea"]) == []
    assert memory_numbered(ctx.store.read(), thought.id) == thought


def test_and_leaves_its_words_free_as_a_name(ctx, people):
    thought = add(ctx, Reflection(text="Tea"))
    link(ctx, ("Anna", "Tea", "drinks"))
    assert relations(ctx) == [("Anna", "Tea", "drinks")]
    make(ctx, ("Tea", "drink"))
    link(ctx, ("Anna", "Tea", "drinks"))
    assert relations(ctx) == [("Anna", "Tea", "drinks")]
    assert memory_numbered(ctx.store.read(), thought.id).title == "Tea"
    assert faults(ctx.store) == []


def an_episode(ctx, text):
    start(ctx)
    return finish(ctx, summary=text).episode


HIDDEN_ONES = [
    lambda ctx, text: add(ctx, Reflection(text=text)),
    an_episode,
    lambda ctx, text: record(ctx, [Event(text=text, kind="turn", metadata={"conversation": {}})])[0],
]
"""Ways to write something that is no entity and has its text as its title."""


@pytest.mark.parametrize("write", HIDDEN_ONES)
def test_nor_does_what_is_hidden_take_over_the_relations_of_a_name(ctx, people, write):
    link(ctx, ("Anna", "Tea", "drinks"))
    write(ctx, "Tea")
    assert relations(ctx) == [("Anna", "Tea", "drinks")]
    make(ctx, ("Tea", "drink", ("hot",)))
    assert relations(ctx) == [("Anna", "Tea", "drinks")]
    assert faults(ctx.store) == []


@pytest.mark.parametrize(
    "bring_back",
    [
        lambda ctx, number, left_at: restore(ctx, [number]),
        lambda ctx, number, left_at: undo(ctx, left_at),
    ],
)
@pytest.mark.parametrize("write", HIDDEN_ONES)
def test_nor_when_it_comes_back(ctx, people, write, bring_back):
    hidden = write(ctx, "Tea")
    forget(ctx, [hidden.id])
    left_at = last_number(ctx.store)
    link(ctx, ("Anna", "Tea", "drinks"))
    bring_back(ctx, hidden.id, left_at)
    assert memory_numbered(ctx.store.read(), hidden.id).state is State.LIVING
    assert relations(ctx) == [("Anna", "Tea", "drinks")]


@pytest.mark.parametrize("kind", ["reflection", "turn", "episode", "note"])
def test_an_entity_is_one_whatever_its_type_is_called(ctx, people, kind):
    make(ctx, ("Pilot", kind, ("one",)))
    link(ctx, ("Anna", "Pilot", "wrote"))
    make(ctx, ("Pilot", kind, ("two",)), taken=OnTakenName.MERGE)
    assert observations(ctx, "Pilot") == ["one", "two"]
    assert relations(ctx) == [("Anna", "Pilot", "wrote")]
    assert [one.title for one in entities.containing(ctx, kind)] == ["Pilot"]
    add(ctx, Reflection(text="one or two"))
    assert [hit.memory.title for hit in search(ctx, "one two")] == ["one or two"]


def test_an_entity_whose_time_is_over_is_made_anew(ctx, clock):
    old = kept(ctx, "old", name="Anna", ttl=HOUR)
    clock.advance(hours=2)
    [(memory, is_new)] = make(ctx, ("Anna", "person", ("new",)))
    assert is_new and memory.id != old.id
    assert graph(ctx)[0] == {"Anna": ["new"]}


# -- relations


def test_a_relation_to_a_name_of_another_namespace_is_one_like_any_other(ctx):
    there = replace(ctx, namespace="proj")
    make(there, ("Anna", "person"))
    link(there, ("Anna", "Tea", "drinks"))
    [again] = link(ctx, ("Anna", "Tea", "drinks"))
    assert again.is_known and relations(ctx) == [("Anna", "Tea", "drinks")]
    [gone] = unrelate(ctx, [Triple("Anna", "Tea", "drinks")])
    assert len(gone) == 1 and relations(ctx) == relations(there) == []


def test_a_new_relation_points_to_a_name_at_home(ctx):
    link(replace(ctx, namespace="proj"), KNOWS)
    link(ctx, ("Carl", "Bob", "knows"))
    make(ctx, ("Bob", "person"))
    [found] = entities.open_named(ctx, ["Bob"])
    assert [one.other for one in entities.links_at(ctx, [found.id])[found.id]] == ["Carl"]


def test_a_relation_to_what_is_not_there_may_dangle(ctx):
    [made] = link(ctx, KNOWS)
    assert made.edge and not made.is_known and made.missing == ()
    assert graph(ctx) == ({}, [KNOWS])


@pytest.mark.parametrize(
    "triple, missing",
    [
        (("Anna", "Carl", "r"), ("Carl",)),
        (("Carl", "Anna", "r"), ("Carl",)),
        (("Carl", "Dora", "r"), ("Carl", "Dora")),
        (("Carl", "Carl", "r"), ("Carl",)),
    ],
)
def test_or_is_passed_over_and_the_missing_ends_are_reported(ctx, people, triple, missing):
    passed, made = link(ctx, triple, KNOWS, may_dangle=False)
    assert passed.edge is None and passed.missing == missing
    assert made.edge and relations(ctx) == [KNOWS]


def test_a_mere_name_is_an_end_where_relations_may_not_dangle(ctx, people):
    link(ctx, ("Anna", "Carl", "r"))
    [made] = link(ctx, ("Bob", "Carl", "r"), may_dangle=False)
    assert made.edge and made.missing == ()


@pytest.mark.parametrize("may_dangle", [True, False])
def test_a_relation_that_exists_is_not_made_again(ctx, people, may_dangle):
    [first] = link(ctx, KNOWS, may_dangle=may_dangle)
    again = link(ctx, KNOWS, KNOWS, may_dangle=may_dangle)
    assert [(one.is_known, one.edge) for one in again] == [(True, first.edge)] * 2
    assert relations(ctx) == [KNOWS]


def test_unless_it_may_repeat(ctx, people):
    link(ctx, KNOWS, KNOWS, may_repeat=True)
    assert relations(ctx) == [KNOWS, KNOWS]


def test_a_relation_twice_in_one_call_is_made_once(ctx):
    made = link(ctx, KNOWS, KNOWS)
    assert [one.is_known for one in made] == [False, True]


def test_direction_and_type_tell_relations_apart(ctx, people):
    others = [("Bob", "Anna", "knows"), ("Anna", "Bob", "likes"), ("Anna", "Anna", "knows")]
    link(ctx, KNOWS, *others)
    assert relations(ctx) == [KNOWS, *others]


def test_a_type_with_an_inverse_is_made_both_ways(ctx, people):
    made = link(ctx, ("Anna", "Bob", "has"), may_dangle=False, inverses=INVERSES)
    assert len(made) == 1
    assert relations(ctx) == [("Anna", "Bob", "has"), ("Bob", "Anna", "part_of")]
    link(ctx, ("Bob", "Anna", "part_of"), may_dangle=False, inverses=INVERSES)
    assert len(relations(ctx)) == 2, "both stand already"


def test_a_relation_keeps_its_reason(ctx, people):
    told = link(ctx, KNOWS, ("Bob", "Anna", "knows"), reasons=["met in 2020", None])
    assert [one.edge.reason for one in told] == ["met in 2020", None]


def test_who_comes_to_live_under_a_name_has_its_relations(ctx):
    link(ctx, KNOWS)
    make(ctx, ("Bob", "person", ("tall",)))
    assert graph(ctx) == ({"Bob": ["tall"]}, [KNOWS])
    link(ctx, KNOWS)
    assert relations(ctx) == [KNOWS], "it is the relation that was there"
    assert [edge.type for [edge] in [unrelate(ctx, [KNOWS])[0]]] == ["knows"]


def test_a_name_is_of_the_callers_own_namespace(ctx):
    work = replace(ctx, namespace="work")
    link(work, KNOWS)
    assert relations(work) == [KNOWS]
    make(ctx, ("Bob", "person"))
    assert unrelate(work, [KNOWS]) != [[]]


# -- observations


def test_observations_that_are_known_are_left_out(ctx, people):
    [(memory, fresh)] = observe(ctx, [("Anna", ["kind", "old"])], may_repeat=False, must_exist=True)
    assert fresh == ["old"] and memory.title == "Anna"
    assert observations(ctx, "Anna") == ["kind", "old"]


def test_the_same_text_twice_in_one_call_is_not_known_before_it(ctx, people):
    [(_, fresh)] = observe(ctx, [("Anna", ["old", "old"])], may_repeat=False, must_exist=True)
    assert fresh == ["old", "old"]
    [(_, fresh)] = observe(ctx, [("Anna", ["old"])], may_repeat=False, must_exist=True)
    assert fresh == []


def test_an_entity_twice_in_one_call_knows_what_came_first(ctx, people):
    both = [("Anna", ["old"]), ("Anna", ["old", "wise"])]
    assert [fresh for _, fresh in observe(ctx, both, may_repeat=False, must_exist=True)] == [
        ["old"],
        ["wise"],
    ]
    assert observations(ctx, "Anna") == ["kind", "old", "wise"]


def test_observations_may_repeat(ctx, people):
    observe(ctx, [("Anna", ["kind"])], may_repeat=True, must_exist=True)
    assert observations(ctx, "Anna") == ["kind", "kind"]


@pytest.mark.parametrize("order", [1, -1])
def test_a_call_that_fails_writes_nothing(ctx, people, order):
    before = everything(ctx.store), last_number(ctx.store)
    with pytest.raises(NotFound, match="Entity with name Carl not found"):
        observe(ctx, [("Anna", ["old"]), ("Carl", ["x"])][::order], may_repeat=False, must_exist=True)
    assert (everything(ctx.store), last_number(ctx.store)) == before


def test_or_passes_over_who_is_not_there(ctx, people):
    added = observe(ctx, [("Carl", ["x"]), ("Anna", ["old"])], may_repeat=True, must_exist=False)
    assert [(memory and memory.title, fresh) for memory, fresh in added] == [(None, []), ("Anna", ["old"])]
    assert observations(ctx, "Anna") == ["kind", "old"]


def test_a_mere_name_has_no_observations(ctx):
    link(ctx, KNOWS)
    with pytest.raises(NotFound):
        observe(ctx, [("Bob", ["x"])], may_repeat=True, must_exist=True)


@pytest.mark.parametrize(
    "texts, first_only, left",
    [
        (["tall"], False, ["old"]),
        (["tall"], True, ["old", "tall"]),
        (["tall", "tall"], True, ["old"]),
        (["tall", "tall", "tall"], True, ["old"]),
        (["small"], False, ["tall", "old", "tall"]),
        (["TALL", "tal"], False, ["tall", "old", "tall"]),
        ([], True, ["tall", "old", "tall"]),
        (["old", "tall"], False, []),
    ],
)
def test_observations_are_taken_back_by_their_exact_text(ctx, people, texts, first_only, left):
    carl, bob = retract(ctx, [("Carl", ["x"]), ("Bob", texts)], first_only=first_only)
    assert carl is None and bob.title == "Bob"
    assert observations(ctx, "Bob") == left


# -- taking away


def test_a_deleted_entity_takes_its_relations_along(ctx, people):
    link(ctx, KNOWS, ("Bob", "Anna", "likes"), ("Bob", "Carl", "likes"))
    gone = delete(ctx, ["Anna", "Nobody", "Anna"])
    assert [memory.title for memory in gone] == ["Anna"]
    assert graph(ctx) == ({"Bob": ["tall", "old", "tall"]}, [("Bob", "Carl", "likes")])


def test_deleting_a_mere_name_leaves_the_relations_to_it_alone(ctx, people):
    link(ctx, KNOWS, ("Bob", "Carl", "likes"))
    assert delete(ctx, ["Carl"]) == []
    assert relations(ctx) == [KNOWS, ("Bob", "Carl", "likes")]


def test_a_deleted_entity_can_be_had_back_with_its_relations(ctx, people):
    link(ctx, KNOWS)
    delete(ctx, ["Anna"])
    restore(ctx, [people[0].id])
    assert relations(ctx) == [KNOWS]


def test_an_entity_made_anew_does_not_have_the_relations_of_the_old(ctx, people):
    link(ctx, KNOWS)
    delete(ctx, ["Bob"])
    make(ctx, ("Bob", "person"))
    assert graph(ctx) == ({"Anna": ["kind"], "Bob": []}, [])
    link(ctx, KNOWS)
    assert relations(ctx) == [KNOWS]


def test_a_relation_to_one_who_was_deleted_points_to_the_name(ctx, people):
    delete(ctx, ["Bob"])
    link(ctx, KNOWS)
    assert relations(ctx) == [KNOWS]
    assert faults(ctx.store) == []


@pytest.mark.parametrize("first_only, left", [(False, 0), (True, 1)])
def test_relations_are_deleted_by_their_ends_and_type(ctx, people, first_only, left):
    others = [("Bob", "Anna", "knows"), ("Anna", "Bob", "likes")]
    link(ctx, KNOWS, KNOWS, *others, may_repeat=True)
    gone, none = unrelate(ctx, [KNOWS, Triple("Anna", "Nobody", "knows")], first_only=first_only)
    assert len(gone) == 2 - left and none == []
    assert relations(ctx) == [KNOWS] * left + others


def test_relations_between_names_are_deleted_too(ctx):
    link(ctx, KNOWS)
    assert unrelate(ctx, [KNOWS]) != [[]]
    assert graph(ctx) == ({}, [])
    link(ctx, KNOWS)
    assert relations(ctx) == [KNOWS]


def test_a_relation_that_ended_is_deleted_too(ctx, people):
    [made] = link(ctx, KNOWS)
    end(ctx, made.edge.id, {})
    assert [edge.id for edge in unrelate(ctx, [KNOWS])[0]] == [made.edge.id]


# -- ending


def test_an_ended_relation_is_shown_only_at_its_ends(ctx, people, clock):
    [made] = link(ctx, KNOWS)
    clock.advance(hours=1)
    ended = end(ctx, made.edge.id, INVERSES)
    assert ended.valid_to == START + HOUR
    assert relations(ctx) == []
    [seen] = entities.links_at(ctx, [people[1].id])[people[1].id]
    assert (seen.edge, seen.other, seen.is_outgoing) == (ended, "Anna", False)
    clock.advance(hours=1)
    assert end(ctx, made.edge.id, INVERSES) == ended, "it stays as it is"


def test_one_that_ended_can_be_made_again(ctx, people):
    [made] = link(ctx, KNOWS)
    end(ctx, made.edge.id, {})
    [again] = link(ctx, KNOWS)
    assert not again.is_known and again.edge.id != made.edge.id


def test_an_inverse_ends_with_its_relation(ctx, people):
    [made] = link(ctx, ("Anna", "Bob", "has"), ("Anna", "Bob", "likes"), inverses=INVERSES)[:1]
    end(ctx, made.edge.id, INVERSES)
    assert relations(ctx) == [("Anna", "Bob", "likes")]


def test_a_relation_that_is_not_there_cannot_end(ctx, people):
    [made] = link(ctx, KNOWS)
    with pytest.raises(NotFound, match="Relation with id=404 not found"):
        end(ctx, 404, {})
    unrelate(ctx, [KNOWS])
    with pytest.raises(NotFound):
        end(ctx, made.edge.id, {})
    [made] = link(ctx, KNOWS)
    delete(ctx, ["Bob"])
    with pytest.raises(NotFound):
        end(ctx, made.edge.id, {})


def test_nor_one_that_the_caller_may_not_see(ctx, people):
    [made] = link(ctx, KNOWS)
    stranger = ctx.limited_to(Grant(("work",), can_write=True))
    with pytest.raises(NotFound):
        end(stranger, made.edge.id, {})


# -- reading


@pytest.mark.parametrize(
    "needle, names",
    [
        ("", ["Anna", "Bob"]),
        ("AN", ["Anna"]),
        ("person", ["Anna", "Bob"]),
        ("tal", ["Bob"]),
        ("tall old", []),
        ("%", []),
        ("_", []),
        ('"', []),
    ],
)
def test_entities_are_found_by_any_stretch_of_name_type_or_observation(ctx, people, needle, names):
    assert [one.title for one in entities.containing(ctx, needle)] == names


def test_named_entities_come_in_the_order_asked_each_once(ctx, people):
    found = entities.open_named(ctx, ["Bob", "Nobody", "Anna", "Bob"])
    assert [memory.title for memory in found] == ["Bob", "Anna"]
    assert [memory_numbered(ctx.store.read(), one.id).access_count for one in people] == [1, 1]
    assert list(ctx.store.read().companions()) == []
    entities.open_named(ctx, ["Bob", "Anna"], together=True)
    assert len(list(ctx.store.read().companions())) == 1


def test_relations_with_one_end_among_some(ctx, people):
    make(ctx, ("Carl", "person"))
    link(ctx, KNOWS, ("Bob", "Carl", "knows"), ("Carl", "Dora", "knows"))
    found = entities.relations_of(ctx, [people[0].id, people[1].id])
    assert [(one.source, one.target) for one in found] == [("Anna", "Bob"), ("Bob", "Carl")]
    assert entities.relations_of(ctx, []) == []


def test_the_graph_comes_in_pages(ctx):
    names = [f"e{number}" for number in range(7)]
    make(ctx, *((name, "k") for name in names))
    link(ctx, ("e0", "e6", "r"), ("e3", "n", "r"))
    assert graph(ctx, limit=3) == ({"e0": [], "e1": [], "e2": []}, [("e0", "e6", "r")])
    assert graph(ctx, limit=3, after="e2") == ({"e3": [], "e4": [], "e5": []}, [("e3", "n", "r")])
    assert graph(ctx, after="e5") == ({"e6": []}, [("e0", "e6", "r")])
    assert graph(ctx, after="e6", limit=3) == ({}, [])
    with pytest.raises(NotFound, match="Entity with name e7 not found"):
        graph(ctx, after="e7")


@pytest.mark.parametrize("limit", [1, 2, 3, 4, None])
def test_pages_reach_every_entity_once_where_namespaces_share_a_name(ctx, limit):
    for name, namespace in (
        ("a", "x"),
        ("b", "x"),
        ("a", "y"),
        ("c", "x"),
        ("b", "y"),
        ("a", "z"),
        ("d", "z"),
    ):
        kept(ctx, f"{name} of {namespace}", name=name, namespace=namespace)
    seen, page = [], entities.read_graph(ctx, limit=limit or 1).entities
    while page and len(seen) < 20:
        seen += [one.id for one in page]
        page = entities.read_graph(ctx, after=page[-1].title, limit=limit).entities
    assert seen == [1, 3, 6, 2, 5, 4, 7]


def test_a_page_begins_behind_an_entity_though_a_thought_bears_its_name(ctx):
    add(ctx, Reflection(text="a"))
    for name in ("a", "b"):
        kept(ctx, f"{name} of x", name=name, namespace="x")
    assert graph(ctx, after="a") == ({"b": ["b of x"]}, [])


def test_a_graph_larger_than_a_page_is_whole(ctx, monkeypatch):
    monkeypatch.setattr(entities, "PAGE", 3)
    make(ctx, *((f"e{number}", "k", (str(number),)) for number in range(10)))
    assert graph(ctx)[0] == {f"e{number}": [str(number)] for number in range(10)}


# -- who may see


def test_a_caller_sees_and_changes_only_what_is_granted(ctx, people):
    stranger = ctx.limited_to(Grant(("work",), can_write=True))
    link(ctx, KNOWS, ("Anna", "Carl", "knows"))
    assert graph(stranger) == ({}, [])
    assert delete(stranger, ["Anna"]) == [] and unrelate(stranger, [KNOWS]) == [[]]
    assert retract(stranger, [("Bob", ["tall"])]) == [None]
    [(_, is_new)] = make(stranger, ("Anna", "cat"))
    assert is_new and observations(ctx, "Bob") == ["tall", "old", "tall"]
    assert graph(stranger) == ({"Anna": []}, [])


def test_a_caller_who_may_only_read_writes_nothing(ctx, people):
    reader = ctx.limited_to(Grant(None, can_write=False))
    for write in (
        lambda: make(reader, ("x", "k")),
        lambda: link(reader, KNOWS),
        lambda: observe(reader, [("Anna", ["x"])], may_repeat=True, must_exist=True),
        lambda: delete(reader, ["Anna"]),
        lambda: retract(reader, [("Bob", ["tall"])]),
        lambda: unrelate(reader, [KNOWS]),
    ):
        with pytest.raises(Denied):
            write()
    assert [one.title for one in entities.open_named(reader, ["Anna"])] == ["Anna"]


# -- the past


def test_undo_gives_a_name_its_links_back(ctx):
    link(ctx, KNOWS)
    make(ctx, ("Anna", "person"), ("Bob", "person"))
    undo(ctx, last_number(ctx.store))
    assert graph(ctx) == ({}, [KNOWS])
    [edge] = ctx.store.read().edges(ANY_EDGE)
    states = {memory_numbered(ctx.store.read(), number).state for number in (edge.source_id, edge.target_id)}
    assert states == {State.NAMED}
    assert faults(ctx.store) == []


def test_undo_of_a_restoring_gives_the_links_back(ctx, people):
    delete(ctx, ["Bob"])
    link(ctx, KNOWS)
    restore(ctx, [people[1].id])
    assert relations(ctx) == [KNOWS]
    undo(ctx, last_number(ctx.store))
    assert graph(ctx) == ({"Anna": ["kind"]}, [KNOWS])
    assert faults(ctx.store) == []


def test_the_graph_as_it_was(ctx, clock):
    link(ctx, KNOWS)
    clock.advance(hours=1)
    make(ctx, ("Bob", "person", ("tall",)))
    clock.advance(hours=1)
    delete(ctx, ["Bob"])
    assert graph(ctx) == ({}, [])
    assert graph(as_of(ctx, START + HOUR)) == ({"Bob": ["tall"]}, [KNOWS])
    assert graph(as_of(ctx, START)) == ({}, [KNOWS])


@pytest.fixture
def elsewhere(ctx, fresh):
    """An empty store beside it."""
    store = fresh("elsewhere")
    store.use_models(WordEmbedder().name)
    return replace(ctx, store=store, new_uid=Uids("elsewhere"))


@pytest.mark.parametrize("journal", [False, True])
def test_names_and_their_links_survive_an_export(ctx, elsewhere, people, journal):
    link(ctx, KNOWS, ("Anna", "Carl", "knows"), ("Dora", "Carl", "knows"))
    lines = list(export_lines(ctx, journal=journal))
    assert import_lines(elsewhere, lines).errors == []
    assert graph(elsewhere) == graph(ctx)
    assert everything(elsewhere.store) == everything(ctx.store)
    make(elsewhere, ("Carl", "person"))
    assert relations(elsewhere) == relations(ctx)
    assert faults(elsewhere.store) == []


def test_an_import_joins_names_that_are_known(ctx, elsewhere):
    link(ctx, KNOWS)
    lines = list(export_lines(ctx))
    make(elsewhere, ("Bob", "person", ("tall",)))
    link(elsewhere, ("Anna", "Zoe", "likes"))
    for _ in range(2):
        assert import_lines(elsewhere, lines).errors == []
        assert graph(elsewhere) == ({"Bob": ["tall"]}, [("Anna", "Zoe", "likes"), KNOWS])
    assert faults(elsewhere.store) == []


# -- names in other dialects


def test_a_name_is_no_memory_to_bring_back(ctx):
    [made] = link(ctx, KNOWS)
    with pytest.raises(NotFound):
        restore(ctx, [made.edge.target_id])
    with pytest.raises(NotFound):
        forget(ctx, [made.edge.target_id])
    assert graph(ctx) == ({}, [KNOWS])
