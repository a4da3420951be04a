"""Splitting: when it is due, what is proposed, and that it happens whole or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import a_draft, faults, last_number, living, put

from mnemic.core.embedding_queue import embed_pending
from mnemic.core.history import undo
from mnemic.core.maintenance.split import SplitPart, Thresholds, analyse, candidates, propose, split
from mnemic.core.memories import find, forget
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.model.filter import EdgeFilter, Filter

THEMES = (
    "The kitchen recipe number {} needs flour, butter and sugar",
    "Database migration {} adds an index on the orders table",
    "Football match {} ended with a late goal in extra time",
)
TABLE = Thresholds(default=20, by_kind={"session": 15})


def big(ctx, title, count, **fields):
    texts = tuple(THEMES[number % 3].format(number) for number in range(count))
    [memory] = put(ctx.store, a_draft("", name=title, texts=texts, **fields))
    return memory


@pytest.mark.parametrize(
    "kind, count, score, due",
    [("session", 15, 1.0, False), ("session", 18, 1.2, True), ("note", 18, 0.9, False)],
)
def test_a_memory_is_due_when_it_says_more_than_its_kind_may(ctx, kind, count, score, due):
    big(ctx, "Big", count, kind=kind)
    analysis = analyse(ctx, "Big", TABLE)
    assert (analysis.score, analysis.needs_split, bool(analysis.topics)) == (pytest.approx(score), due, due)
    assert [bool(propose(analysis)), [one.memory.title for one in candidates(ctx, Filter(), TABLE)]] == [
        due,
        ["Big"] if due else [],
    ]


def test_what_is_not_there_is_not_found(ctx):
    with pytest.raises(NotFound):
        analyse(ctx, "Nothing", TABLE)


def test_the_topics_hold_every_statement_once_and_nothing_changes(real):
    memory = big(real, "Big", 24, kind="project")
    before = living(real.store)
    parts = propose(analyse(real, memory.id, TABLE))
    assert len(parts) == 3 and {part.kind for part in parts} == {"project"}
    assert [part.title for part in parts] == [
        "Big - Kitchen Recipe",
        "Big - Database Migration",
        "Big - Football Match",
    ]
    assert sorted(text for part in parts for text in part.texts) == sorted(memory.texts)
    assert living(real.store) == before


def test_a_look_at_everything_finds_the_same_topics(real):
    small, large = big(real, "Small", 22), big(real, "Large", 30)
    big(real, "Fine", 20)
    big(real, "Elsewhere", 40, namespace="work")
    embed_pending(real, 1000)
    found = candidates(real, Filter(namespaces=("global",)), TABLE)
    assert [one.memory.id for one in found] == [large.id, small.id], "the fullest first"
    for one in found:
        assert one.topics == analyse(real, one.memory.id, TABLE).topics


def test_without_a_model_words_part_them(ctx):
    bare = replace(ctx, embedder=None)
    big(ctx, "Big", 24)
    analysis = analyse(bare, "Big", TABLE)
    assert len(analysis.topics) > 1
    assert [one.topics for one in candidates(bare, Filter(), TABLE)] == [analysis.topics]


def test_a_split_moves_statements_and_links_both_ways(ctx):
    whole = big(ctx, "Big", 24, kind="project", tags=("a",), priority=8)
    texts = whole.texts
    parts = [
        SplitPart(title="Big - A", texts=texts[:2]),
        SplitPart(title="Big - B", texts=texts[2:5], kind="area"),
    ]
    done = split(ctx, "Big", parts, contains="contiene", part_of="parte_de")
    assert (done.moved, done.links) == (5, 4) and find(ctx, "Big").texts == texts[5:]
    first, second = find(ctx, "Big - A"), find(ctx, "Big - B")
    assert (first.texts, first.kind, first.tags, first.priority) == (texts[:2], "project", ("a",), 8)
    assert (second.texts, second.kind) == (texts[2:5], "area")
    edges = ctx.store.read().edges(EdgeFilter(at=(first.id,)))
    assert {(edge.source_id, edge.target_id, edge.type) for edge in edges} == {
        (whole.id, first.id, "contiene"),
        (first.id, whole.id, "parte_de"),
    }
    assert faults(ctx.store) == []


def test_a_part_that_is_known_takes_more_in(ctx):
    whole = big(ctx, "Big", 24)
    texts = whole.texts
    put(ctx.store, a_draft("", name="Big - A", texts=("older", texts[0])))
    assert split(ctx, "Big", [SplitPart(title="Big - A", texts=[texts[0], texts[1]])]).links == 2
    assert find(ctx, "Big - A").texts == ["older", texts[0], texts[1]]
    again = split(ctx, "Big", [SplitPart(title="Big - A", texts=[texts[2], "of its own"])])
    assert (again.moved, again.links) == (1, 0)
    assert find(ctx, "Big - A").texts[-2:] == [texts[2], "of its own"]


def test_a_split_is_one_change_that_can_be_taken_back(ctx):
    whole = big(ctx, "Big", 24)
    before = living(ctx.store)
    split(ctx, "Big", [SplitPart(title="Big - A", texts=whole.texts)])
    assert find(ctx, "Big").texts == []
    undo(ctx, last_number(ctx.store))
    memories, edges = living(ctx.store)
    assert memories.keys() == before[0].keys() and edges == {}
    assert memories[whole.id]["statements"] == before[0][whole.id]["statements"]


def test_a_split_happens_whole_or_not_at_all(ctx):
    whole = big(ctx, "Big", 24)
    before = living(ctx.store)
    texts = whole.texts
    with pytest.raises(Invalid, match="a title of its own"):
        split(
            ctx, "Big", [SplitPart(title="Big - A", texts=texts[:2]), SplitPart(title="Big", texts=texts[2:])]
        )
    assert living(ctx.store) == before
    forget(ctx, ["Big"])
    with pytest.raises(Conflict, match="restore it first"):
        split(ctx, whole.id, [SplitPart(title="Big - A", texts=texts[:2])])
