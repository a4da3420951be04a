"""Reflections: kept as memories of their own kind, linked to what they are about, found by meaning."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import kept

from mnemic.core.memories import find
from mnemic.core.reflections import ABOUT, KIND, Reflection, add, search
from mnemic.errors import Invalid, Unavailable
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Direction
from mnemic.storage.queries import each_memory


def test_a_reflection_is_a_memory_linked_to_what_it_is_about(ctx):
    memory = kept(ctx, "The API is deployed on Fridays")
    thought = add(
        ctx, Reflection(text="We came to regret it.", target_type="entity", target_id=memory.id, mood="doubt")
    )
    assert (find(ctx, thought.id).kind, thought.content) == (KIND, "We came to regret it.")
    assert thought.metadata == {"target_type": "entity", "target_id": memory.id, "mood": "doubt"}
    [edge] = ctx.store.read().edges(EdgeFilter(at=(memory.id,), direction=Direction.IN))
    assert (edge.source_id, edge.type) == (thought.id, ABOUT)


def test_what_it_is_about_need_not_be_there(ctx):
    thought = add(ctx, Reflection(text="Of something gone.", target_type="entity", target_id=77))
    assert thought.metadata["target_id"] == 77
    assert ctx.store.read().edges(EdgeFilter(at=(thought.id,))) == []
    again = add(ctx, Reflection(text="Of something gone.", target_type="relation", target_id=7))
    assert again.title == thought.title == "Of something gone."


@pytest.mark.parametrize(
    "fields, at_fault",
    [
        ({"text": " "}, "text"),
        ({"target_type": "planet"}, "target_type"),
        ({"target_type": "entity"}, "target_id"),
        ({"target_type": "relation"}, "target_id"),
        ({"target_id": 1}, "target_id"),
        ({"author": "bob"}, "author"),
        ({"author": None}, "author"),
        ({"mood": "happy"}, "mood"),
    ],
)
def test_what_breaks_a_rule_is_refused(ctx, fields, at_fault):
    reflection = Reflection(**{"text": "A thought", "author": "sofia", **fields})
    with pytest.raises(Invalid) as refused:
        add(ctx, reflection, authors=("nolan", "sofia"), moods=("doubt",))
    assert refused.value.field == at_fault
    assert list(each_memory(ctx.store.read())) == []


@pytest.mark.parametrize(
    "fields", [{"target_type": "session"}, {"target_type": "session", "target_id": 3}, {}]
)
def test_a_session_may_be_named_and_everything_has_no_number(ctx, fields):
    assert add(ctx, Reflection(text="A calm day.", **fields)).metadata.get("target_id") == fields.get(
        "target_id"
    )


def test_reflections_alone_are_searched_and_recent_ones_come_first(ctx, clock):
    kept(ctx, "the heron in the pond")
    old = add(ctx, Reflection(text="the heron troubles me"))
    clock.advance(days=100)
    new = add(ctx, Reflection(text="the heron troubles me"))
    add(ctx, Reflection(text="the fox pleases me"))
    hits = search(ctx, "heron", limit=2)
    assert [hit.memory.id for hit in hits] == [new.id, old.id] and hits[0].score > hits[1].score


def test_filters_reach_what_lies_deep(ctx):
    for number in range(40):
        add(ctx, Reflection(text=f"heron heron {number}", author="nolan"))
    deep = add(
        ctx, Reflection(text="the fox thinks of a heron", author="sofia", mood="doubt", target_type="session")
    )
    for asked in ({"author": "sofia"}, {"mood": "doubt"}, {"target_type": "session"}):
        assert [hit.memory.id for hit in search(ctx, "heron", limit=2, **asked)] == [deep.id]
    assert search(ctx, "heron", author="nolan", mood="doubt") == []
    assert len(search(ctx, "heron", limit=4)) == 4


def test_without_a_model_there_is_no_search(ctx):
    add(ctx, Reflection(text="heron"))
    with pytest.raises(Unavailable):
        search(replace(ctx, embedder=None), "heron")
