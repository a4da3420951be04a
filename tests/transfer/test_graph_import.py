"""Graph files are added to what is known by name: nothing doubled, nothing lost, nothing brought back."""

from __future__ import annotations

import pytest
from support import everything

from mnemic.core.entities import OnTakenName, create, delete, end, read_graph, relate, retract
from mnemic.model.graph import Sketch, Triple
from mnemic.storage.queries import each_memory
from mnemic.transfer import exporter
from mnemic.transfer.graph_batch import GraphPolicy, graph_records
from mnemic.transfer.importer import Importer

KNOWS = Triple("Anna", "Bob", "knows")
BOTH = pytest.mark.parametrize("is_live", [False, True], ids=["file", "mirror"])


@pytest.fixture
def people(ctx):
    """Anna and Bob, who is known twice to be tall."""
    anna, bob = Sketch("Anna", "person", ("kind",)), Sketch("Bob", "person", ("tall", "old", "tall"))
    return [memory for memory, _ in create(ctx, [anna, bob], OnTakenName.KEEP)]


def taken(ctx, *graph, may_dangle=True, is_live=False, **rules):
    importer = Importer(ctx, GraphPolicy(may_dangle=may_dangle, is_live=is_live))
    importer.merge(graph_records(ctx, graph, **rules))
    return importer.finish()


def relations(ctx):
    return [(one.source, one.target, one.type) for one in read_graph(ctx).relations]


def observations(ctx, name):
    [found] = [one.texts for one in read_graph(ctx).entities if one.title == name]
    return found


@BOTH
def test_what_a_file_says_is_added_to_known_memories(ctx, people, is_live):
    graph = [Triple("Anna", "Carl", "knows"), Sketch("Anna", "", ("wise",)), KNOWS]
    done = taken(ctx, *graph, kind="Generic", is_live=is_live)
    assert (done.imported, done.links, done.errors) == (1, 2, [])
    assert [one.kind for one in each_memory(ctx.store.read()) if one.title == "Anna"] == ["person"]
    assert observations(ctx, "Anna") == ["kind", "wise"]
    assert relations(ctx) == [("Anna", "Carl", "knows"), KNOWS]
    before = everything(ctx.store)
    taken(ctx, *graph, kind="Generic", is_live=is_live)
    assert everything(ctx.store) == before, "a second time adds nothing"


@BOTH
def test_what_a_file_says_several_times_stands_as_often(ctx, people, is_live):
    anna = Sketch("Anna", "person", ("kind", "wise", "kind"))
    graph = [anna, KNOWS, Triple("x", "y", "r"), KNOWS, KNOWS]
    assert taken(ctx, *graph, may_repeat=True, is_live=is_live).links == 4
    assert sorted(observations(ctx, "Anna")) == ["kind", "kind", "wise"]
    assert sorted(relations(ctx)) == [KNOWS, KNOWS, KNOWS, ("x", "y", "r")]
    before = everything(ctx.store)
    taken(ctx, *graph, may_repeat=True, is_live=is_live)
    taken(ctx, *graph[-2:], may_repeat=True, is_live=is_live)
    assert everything(ctx.store) == before, "a second time adds nothing"


def test_a_relation_that_has_ended_does_not_stand(ctx, people):
    [made] = relate(ctx, [KNOWS], may_dangle=True)
    end(ctx, made.edge.id, {})
    taken(ctx, KNOWS, KNOWS, may_repeat=True)
    assert relations(ctx) == [KNOWS, KNOWS]


def test_a_relation_of_a_file_finds_the_entities_behind_it(ctx):
    assert taken(ctx, KNOWS, Sketch("Bob", "p"), Sketch("Anna", "p"), may_dangle=False).errors == []
    assert relations(ctx) == [KNOWS]


def test_a_relation_without_its_ends_is_listed_with_both(ctx):
    done = taken(ctx, KNOWS, may_dangle=False)
    assert done.errors == ["Anna knows Bob: no entity is called Anna or Bob"]


def test_an_entity_of_a_file_may_be_known_by_its_number(ctx, people):
    known = people[0]
    more = Sketch("Anna", "person", ("wise",), of=known.id)
    taken(ctx, more)
    assert observations(ctx, "Anna") == ["kind", "wise"]
    delete(ctx, ["Anna"])
    taken(ctx, more)
    assert observations(ctx, "Anna") == ["wise"], "one that has gone is made anew"


def test_a_file_of_many_records_is_imported_completely(ctx, monkeypatch):
    monkeypatch.setattr(exporter, "BATCH", 3)
    names = [f"e{number}" for number in range(8)]
    graph = [*(Sketch(name, "k") for name in names), *(Triple("e0", name, "r") for name in names)]
    done = taken(ctx, *graph, may_dangle=False)
    assert (done.imported, done.links) == (8, 8)
    assert len(read_graph(ctx).entities) == len(relations(ctx)) == 8


def test_an_observation_that_was_deleted_here_comes_back_from_a_mirror_alone(ctx, people, clock):
    bob = Sketch("Bob", "person", ("tall", "old"))
    taken(ctx, bob)
    clock.advance(hours=1)
    retract(ctx, [("Bob", ["old"])])
    assert taken(ctx, bob).imported == 0
    assert observations(ctx, "Bob") == ["tall", "tall"]
    taken(ctx, bob, is_live=True)
    assert observations(ctx, "Bob") == ["tall", "tall", "old"]
