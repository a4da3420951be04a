"""Carrying AgenticMemory's files in and out: nothing twice, nothing lost without a word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from brains import CORRECTED, GREENHOUSE, WHEN, a_file
from mnemic.core.context import Context
from mnemic.core.graph import link
from mnemic.core.memories import forget, supersede
from mnemic.core.moving import carrying
from mnemic.core.moving.carrying import Carried, load, packed, read_amem, uid_of
from mnemic.core.sessions import log_turn
from mnemic.errors import Denied, Invalid
from mnemic.formats import amem
from mnemic.formats.amem import Brain, Link, Node
from mnemic.model.access import Grant
from mnemic.model.graph import Direction
from mnemic.model.search import Filter
from mnemic.model.values import State
from support import kept


def all_of(ctx: Context) -> dict[str, object]:
    return {memory.content: memory for memory in ctx.store.read().all_memories()}


def test_nodes_become_memories_with_their_kind_confidence_times_and_use(ctx: Context, tmp_path: Path):
    assert read_amem(ctx, a_file(tmp_path / "garden.amem")) == Carried(memories=3, links=1)
    reader = ctx.store.read()
    fact, decision, episode = reader.all_memories()
    assert [one.kind for one in (fact, decision, episode)] == ["fact", "decision", "episode"]
    assert (decision.title, decision.content) == ("Chose cedar for the greenhouse frame",) * 2
    assert (decision.confidence, decision.created_at, decision.access_count) == (0.75, WHEN + 1, 3)
    assert (decision.accessed_at, fact.accessed_at, fact.access_count) == (WHEN + 50, None, 0)
    assert (fact.source, fact.namespace) == ("agentic-memory", "global")
    sessions = {one.id: one.name for one in reader.sessions()}
    assert [sessions[one.session_id] for one in (fact, decision, episode)] == [
        "amem:garden:1",
        "amem:garden:1",
        "amem:garden:2",
    ]
    [edge] = reader.edges([decision.id], Direction.OUT)
    assert (edge.target_id, edge.type, edge.weight, edge.created_at) == (fact.id, "caused_by", 0.5, WHEN + 1)


def test_what_came_in_is_found(ctx: Context, tmp_path: Path):
    read_amem(ctx, a_file(tmp_path / "garden.amem"))
    found = ctx.store.read().words(["pellets"], Filter(), every=True, limit=5)
    assert [number for number, _ in found] == [1]
    assert ctx.store.read().pending_count() == 3, "our model makes vectors of its own"


def test_a_second_import_changes_nothing_even_under_another_name(ctx: Context, tmp_path: Path):
    read_amem(ctx, a_file(tmp_path / "garden.amem"))
    before = ctx.store.sequence()
    assert read_amem(ctx, a_file(tmp_path / "copy.amem")) == Carried(skipped=3)
    assert ctx.store.sequence() == before


def test_a_file_that_has_grown_brings_only_what_is_new(ctx: Context, tmp_path: Path):
    read_amem(ctx, a_file(tmp_path / "garden.amem"))
    more = Node(id=3, type="skill", text="Graft in spring", created_at=WHEN + 3)
    links = (*GREENHOUSE.links, Link(source=3, target=0, type="supports", created_at=WHEN + 3))
    grown = Brain((*GREENHOUSE.nodes, more), links, 0)
    path = a_file(tmp_path / "garden.amem", grown)
    assert read_amem(ctx, path) == Carried(memories=1, links=1, skipped=3)


def test_what_was_forgotten_here_does_not_come_back(ctx: Context, tmp_path: Path):
    path = a_file(tmp_path / "garden.amem")
    read_amem(ctx, path)
    forget(ctx, [1])
    assert read_amem(ctx, path).memories == 0
    assert ctx.store.read().count() == 2


def test_progress_is_told_to_the_end(ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(carrying, "BATCH", 2)
    told: list[tuple[int, int]] = []
    read_amem(ctx, a_file(tmp_path / "a.amem"), progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 4), (3, 4), (4, 4)]


def test_a_corrected_node_comes_in_as_superseded(ctx: Context, tmp_path: Path):
    read_amem(ctx, a_file(tmp_path / "pump.amem", CORRECTED))
    known = all_of(ctx)
    assert known["The pump is red"].state is State.SUPERSEDED
    assert known["The pump is red"].state_at == WHEN + 9
    assert known["The pump is blue"].state is State.LIVING


def test_equal_and_empty_texts_and_odd_characters_come_in(ctx: Context, tmp_path: Path):
    texts = ["Same", "Same", "", " \n", "a\0b"]
    nodes = [Node(id=n, type="fact", text=text, created_at=WHEN) for n, text in enumerate(texts)]
    assert read_amem(ctx, a_file(tmp_path / "odd.amem", Brain(nodes))).memories == 5
    titles = [memory.title for memory in ctx.store.read().all_memories()]
    assert titles == ["Same", "Same (2)", "Node 2", "Node 3", "a\N{REPLACEMENT CHARACTER}b"]


def test_a_link_to_itself_stays_behind(ctx: Context, tmp_path: Path):
    node = Node(id=7, type="fact", text="x", created_at=WHEN)
    loop = Link(source=7, target=7, type="supersedes", created_at=WHEN)
    path = a_file(tmp_path / "loop.amem", Brain((node,), (loop,)))
    assert read_amem(ctx, path) == Carried(memories=1)
    assert ctx.store.read().count() == 1


def test_a_caller_who_may_not_write_takes_nothing_in(ctx: Context, tmp_path: Path):
    reading = ctx.limited_to(Grant(namespaces=None, can_write=False))
    with pytest.raises(Denied):
        read_amem(reading, a_file(tmp_path / "a.amem"))


@pytest.mark.parametrize("data", [b"", b"hello", amem.write(GREENHOUSE)[:-3]])
def test_a_file_that_is_none_is_refused_by_name(ctx: Context, tmp_path: Path, data: bytes):
    (tmp_path / "bad.amem").write_bytes(data)
    with pytest.raises(Invalid, match=r"bad\.amem"):
        read_amem(ctx, tmp_path / "bad.amem")
    assert ctx.store.sequence() == 0


def test_a_file_that_is_missing_or_too_large_is_refused(
    ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(Invalid, match=r"none\.amem cannot be read: No such file"):
        read_amem(ctx, tmp_path / "none.amem")
    monkeypatch.setattr(carrying, "LARGEST_FILE", 100)
    with pytest.raises(Invalid, match="larger than 100 bytes"):
        read_amem(ctx, a_file(tmp_path / "a.amem"))


def written(ctx: Context, path: Path) -> Carried:
    data, done = packed(ctx)
    path.write_bytes(data)
    return done


def test_what_is_living_goes_out_and_comes_in_again(ctx: Context, fresh, tmp_path: Path):
    first = kept(ctx, "Cedar resists rot", kind="fact", confidence=0.5)
    second = kept(ctx, "Use cedar", kind="decision")
    gone = kept(ctx, "Nobody knows this")
    link(ctx, second.id, first.id, "derived_from", weight=0.25)
    link(ctx, second.id, gone.id, "supports")
    forget(ctx, [gone.id])
    path = tmp_path / "out.amem"
    assert written(ctx, path) == Carried(memories=2, links=1)
    brain = load(path)
    assert [(node.id, node.type, node.text, node.confidence) for node in brain.nodes] == [
        (first.id, "fact", "Cedar resists rot", 0.5),
        (second.id, "decision", "Use cedar", 1.0),
    ]
    [edge] = brain.links
    assert (edge.source, edge.target, edge.type, edge.weight) == (second.id, first.id, "caused_by", 0.25)
    other = replace(ctx, store=fresh("other"))
    assert read_amem(other, path) == Carried(memories=2, links=1)
    assert set(all_of(other)) == {"Cedar resists rot", "Use cedar"}


def test_numbers_come_back_as_they_were_given(ctx: Context, fresh, tmp_path: Path):
    sure, unsure = kept(ctx, "Cedar resists rot", confidence=0.9), kept(ctx, "So does larch", confidence=0.3)
    link(ctx, sure.id, unsure.id, "supports", weight=0.7)
    written(ctx, tmp_path / "out.amem")
    other = replace(ctx, store=fresh("other"))
    read_amem(other, tmp_path / "out.amem")
    reader = other.store.read()
    assert [memory.confidence for memory in reader.all_memories()] == [0.9, 0.3]
    assert [edge.weight for edge in reader.all_edges()] == [0.7]
    assert reader.select(Filter(min_confidence=0.9), limit=2) == [sure.id]


def test_kinds_and_links_that_agentic_memory_has_not_get_the_nearest(ctx: Context, tmp_path: Path):
    entity = kept(ctx, "likes tea", title="Alice", kind="person")
    turn = log_turn(ctx, "Who likes tea?", "Alice.")
    link(ctx, entity.id, turn.id, "mentioned_in", weight=7.0)
    written(ctx, tmp_path / "out.amem")
    brain = load(tmp_path / "out.amem")
    assert [(node.type, node.text) for node in brain.nodes] == [
        ("fact", "Alice\nlikes tea"),
        ("inference", "User: Who likes tea?\nAgent: Alice."),
    ]
    assert [(one.type, one.weight) for one in brain.links] == [("related_to", 1.0)]
    assert brain.nodes[1].session == turn.session_id


def test_what_was_superseded_stays_here(ctx: Context, tmp_path: Path):
    first = kept(ctx, "The pump is red")
    supersede(ctx, first.id, "The pump is blue", None)
    assert written(ctx, tmp_path / "out.amem") == Carried(memories=1)
    assert [node.text for node in load(tmp_path / "out.amem").nodes] == ["The pump is blue"]


def test_what_is_too_large_is_cut_and_told(ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    long = kept(ctx, "é" * 30_000 + "\n" + "ü" * 10_000)
    others = [kept(ctx, f"Other {n}") for n in range(3)]
    for other in others:
        link(ctx, long.id, other.id, "supports")
    monkeypatch.setattr(amem, "MOST_LINKS", 2)
    done = written(ctx, tmp_path / "out.amem")
    assert done.notes == [
        f"memory {long.id}: cut to 65536 of 80001 bytes",
        f"memory {long.id}: 1 of 3 links left out",
    ]
    assert (done.memories, done.links) == (4, 2)
    assert len(load(tmp_path / "out.amem").nodes[0].text.encode()) in (65_535, 65_536)


def test_only_what_the_caller_may_see_goes_out(ctx: Context, tmp_path: Path):
    kept(ctx, "Secret", namespace="private")
    kept(ctx, "Open")
    limited = ctx.limited_to(Grant(namespaces=("global",), can_write=False))
    assert written(limited, tmp_path / "out.amem").memories == 1


def test_the_uid_of_a_node_tells_nodes_apart():
    node = GREENHOUSE.nodes[0]
    others = [replace(node, id=9), replace(node, created_at=1), replace(node, text="x")]
    assert len({uid_of(one) for one in (node, *others, replace(node, confidence=0.1))}) == 4
