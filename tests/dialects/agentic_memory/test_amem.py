"""Carrying AgenticMemory's files in and out: nothing twice, nothing lost without a word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from amem_files import CORRECTED, GREENHOUSE, WHEN, a_file
from support import kept, last_number

from mnemic.app import import_from
from mnemic.core.context import Context
from mnemic.core.graph import link
from mnemic.core.memories import Revision, forget, revise, supersede
from mnemic.core.sessions import log_turn
from mnemic.dialects.agentic_memory import amem, amem_file
from mnemic.dialects.agentic_memory.amem import Carried, load, packed, uid_of
from mnemic.dialects.agentic_memory.amem_file import Brain, FileLink, Node
from mnemic.errors import Denied, Invalid
from mnemic.model.access import Grant
from mnemic.model.enums import State
from mnemic.model.filter import ANY_EDGE, EdgeFilter, Filter
from mnemic.model.graph import Direction
from mnemic.storage import queries
from mnemic.storage.queries import count, each_memory
from mnemic.transfer import exporter


def taken(ctx: Context, path: Path) -> tuple[int, int, int]:
    """Import a file: how many memories and links are new, and how many memories were known."""
    done = import_from(ctx, "agentic-memory", path)
    assert done.errors == []
    return done.imported, done.links, done.skipped


def all_of(ctx: Context) -> dict[str, object]:
    return {memory.content: memory for memory in each_memory(ctx.store.read())}


def test_nodes_become_memories_with_their_kind_confidence_times_and_use(ctx: Context, tmp_path: Path):
    assert taken(ctx, a_file(tmp_path / "garden.amem")) == (3, 1, 0)
    reader = ctx.store.read()
    fact, decision, episode = each_memory(reader)
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
    [edge] = reader.edges(EdgeFilter(at=(decision.id,), direction=Direction.OUT))
    assert (edge.target_id, edge.type, edge.weight, edge.created_at) == (fact.id, "caused_by", 0.5, WHEN + 1)


def test_what_came_in_is_found(ctx: Context, tmp_path: Path):
    taken(ctx, a_file(tmp_path / "garden.amem"))
    found = queries.best_words(ctx.store.read(), ["pellets"], Filter(), every=True, limit=5)
    assert [number for number, _ in found] == [1]
    assert ctx.store.read().backlog() == 3, "our model makes vectors of its own"


def test_a_second_import_changes_nothing_even_under_another_name(ctx: Context, tmp_path: Path):
    taken(ctx, a_file(tmp_path / "garden.amem"))
    before = last_number(ctx.store)
    assert taken(ctx, a_file(tmp_path / "copy.amem")) == (0, 0, 3)
    assert last_number(ctx.store) == before


def test_a_file_that_has_grown_brings_only_news(ctx: Context, tmp_path: Path):
    taken(ctx, a_file(tmp_path / "garden.amem"))
    more = Node(id=3, type="skill", text="Graft in spring", created_at=WHEN + 3)
    links = (*GREENHOUSE.links, FileLink(source=3, target=0, type="supports", created_at=WHEN + 3))
    grown = Brain((*GREENHOUSE.nodes, more), links, 0)
    path = a_file(tmp_path / "garden.amem", grown)
    assert taken(ctx, path) == (1, 1, 3)


def test_what_was_forgotten_here_does_not_come_back(ctx: Context, tmp_path: Path):
    path = a_file(tmp_path / "garden.amem")
    taken(ctx, path)
    forget(ctx, [1])
    assert taken(ctx, path)[0] == 0
    assert count(ctx.store.read()) == 2


def test_progress_is_reported_to_the_end(ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(exporter, "BATCH", 2)
    told: list[tuple[int, int]] = []
    path = a_file(tmp_path / "a.amem")
    import_from(ctx, "agentic-memory", path, lambda done, total: told.append((done, total)))
    assert told == [(2, 4), (3, 4), (4, 4)]


def test_a_corrected_node_comes_in_as_superseded(ctx: Context, tmp_path: Path):
    taken(ctx, a_file(tmp_path / "pump.amem", CORRECTED))
    known = all_of(ctx)
    assert known["The pump is red"].state is State.SUPERSEDED
    assert known["The pump is red"].state_at == WHEN + 9
    assert known["The pump is blue"].state is State.LIVING


def test_equal_and_empty_texts_and_odd_characters_come_in(ctx: Context, tmp_path: Path):
    texts = ["Same", "Same", "", " \n", "a\0b"]
    nodes = [Node(id=n, type="fact", text=text, created_at=WHEN) for n, text in enumerate(texts)]
    assert taken(ctx, a_file(tmp_path / "odd.amem", Brain(nodes)))[0] == 5
    titles = [memory.title for memory in each_memory(ctx.store.read())]
    assert titles == ["Same", "Same", "Node 2", "Node 3", "a\N{REPLACEMENT CHARACTER}b"]


def test_a_link_to_itself_stays_behind(ctx: Context, tmp_path: Path):
    node = Node(id=7, type="fact", text="x", created_at=WHEN)
    loop = FileLink(source=7, target=7, type="supersedes", created_at=WHEN)
    path = a_file(tmp_path / "loop.amem", Brain((node,), (loop,)))
    assert taken(ctx, path) == (1, 0, 0)
    assert count(ctx.store.read()) == 1


def test_a_caller_who_may_not_write_takes_nothing_in(ctx: Context, tmp_path: Path):
    reading = ctx.limited_to(Grant(namespaces=None, can_write=False))
    with pytest.raises(Denied):
        taken(reading, a_file(tmp_path / "a.amem"))


@pytest.mark.parametrize("data", [b"", b"hello", amem_file.write(GREENHOUSE)[:-3]])
def test_a_file_that_is_none_is_refused_by_name(ctx: Context, tmp_path: Path, data: bytes):
    (tmp_path / "bad.amem").write_bytes(data)
    with pytest.raises(Invalid, match=r"bad\.amem"):
        taken(ctx, tmp_path / "bad.amem")
    assert last_number(ctx.store) == 0


def test_a_file_that_is_missing_or_too_large_is_refused(
    ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(Invalid, match=r"none\.amem cannot be read: No such file"):
        taken(ctx, tmp_path / "none.amem")
    monkeypatch.setattr(amem, "LARGEST_FILE", 100)
    with pytest.raises(Invalid, match="larger than 100 bytes"):
        taken(ctx, a_file(tmp_path / "a.amem"))


def written(ctx: Context, path: Path) -> Carried:
    data, done = packed(ctx)
    path.write_bytes(data)
    return done


def test_living_memories_go_out_and_come_in_again(ctx: Context, fresh, tmp_path: Path):
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
    assert taken(other, path) == (2, 1, 0)
    assert set(all_of(other)) == {"Cedar resists rot", "Use cedar"}


def test_numbers_come_back_as_they_were_given(ctx: Context, fresh, tmp_path: Path):
    sure, unsure = kept(ctx, "Cedar resists rot", confidence=0.9), kept(ctx, "So does larch", confidence=0.3)
    link(ctx, sure.id, unsure.id, "supports", weight=0.7)
    written(ctx, tmp_path / "out.amem")
    other = replace(ctx, store=fresh("other"))
    taken(other, tmp_path / "out.amem")
    reader = other.store.read()
    assert [memory.confidence for memory in each_memory(reader)] == [0.9, 0.3]
    assert [edge.weight for edge in reader.edges(ANY_EDGE)] == [0.7]
    assert reader.select(Filter(min_confidence=0.9), limit=2) == [sure.id]


def test_kinds_and_links_that_agentic_memory_has_not_get_the_nearest(ctx: Context, tmp_path: Path):
    entity = kept(ctx, "likes tea", name="Alice", kind="person")
    turn = log_turn(ctx, "Who likes tea?", "Alice.")
    link(ctx, entity.id, turn.id, "mentioned_in", weight=0.7)
    written(ctx, tmp_path / "out.amem")
    brain = load(tmp_path / "out.amem")
    assert [(node.type, node.text) for node in brain.nodes] == [
        ("fact", "Alice\nlikes tea"),
        ("inference", "User: Who likes tea?\nAgent: Alice."),
    ]
    assert [(one.type, one.weight) for one in brain.links] == [("related_to", 0.7)]
    assert brain.nodes[1].session == turn.session_id


def test_a_corrected_memory_goes_out_with_its_correction(ctx: Context, fresh, tmp_path: Path):
    first = kept(ctx, "The pump is red")
    second, _ = supersede(ctx, first.id, "The pump is blue", None)
    supersede(ctx, second.id, "The pump is green", None)
    assert written(ctx, tmp_path / "out.amem") == Carried(memories=3, links=2)
    other = replace(ctx, store=fresh("other"))
    assert taken(other, tmp_path / "out.amem") == (3, 2, 0)
    states = {text: memory.state for text, memory in all_of(other).items()}
    assert states == {
        "The pump is red": State.SUPERSEDED,
        "The pump is blue": State.SUPERSEDED,
        "The pump is green": State.LIVING,
    }


def test_what_nothing_living_corrects_stays_here(ctx: Context, tmp_path: Path):
    first = kept(ctx, "The pump is red")
    second, _ = supersede(ctx, first.id, "The pump is blue", None)
    forget(ctx, [second.id])
    kept(ctx, "The tap drips")
    assert written(ctx, tmp_path / "out.amem") == Carried(memories=1)
    assert [node.text for node in load(tmp_path / "out.amem").nodes] == ["The tap drips"]


def test_what_is_too_large_is_cut_and_reported(ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    long = revise(ctx, kept(ctx, "é" * 30_000).id, Revision(append="ü" * 10_000))
    others = [kept(ctx, f"Other {n}") for n in range(3)]
    for other in others:
        link(ctx, long.id, other.id, "supports")
    monkeypatch.setattr(amem_file, "MOST_LINKS", 2)
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
