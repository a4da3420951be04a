"""What other systems keep comes over whole, once, and what cannot come is told."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import lorekeeper_file
import pytest
from ai_memory_file import closed_ai_memory
from lorekeeper_file import ARGS, GONE, TOKENS, write_lorekeeper
from mcp_memory_file import write_mcp_memory
from support import START, a_query, everything, faults, is_locked, kept, last_number

from mnemic.app import SOURCES, SYSTEMS, files_of, import_from
from mnemic.client_config.instruction_block import with_block
from mnemic.core.entities import OnTakenName, create, observe
from mnemic.core.graph import end_link
from mnemic.core.memories import Revision, forget, revise
from mnemic.core.recall import recall
from mnemic.dialects.agentic_memory import amem_file
from mnemic.dialects.agentic_memory.amem_file import Brain, FileLink, Node
from mnemic.dialects.lorekeeper.lessons import reflected
from mnemic.errors import Invalid
from mnemic.model.enums import State
from mnemic.model.filter import ANY_EDGE, EdgeFilter
from mnemic.model.graph import Direction, Sketch
from mnemic.model.time import DAY
from mnemic.storage.queries import count, each_memory, edge_numbered, session_numbered
from mnemic.transfer.claude_code import memory_folder
from mnemic.transfer.sources import READERS

LINES = [
    {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["likes tea", "lives here"]},
    {"type": "entity", "name": "Tea", "entityType": "drink", "observations": []},
    {"type": "relation", "from": "Anna", "to": "Tea", "relationType": "likes"},
    {"type": "relation", "from": "Anna", "to": "Nobody", "relationType": "knows"},
]
CONVERSATION = {
    "uuid": "c1",
    "name": "Choosing a database",
    "chat_messages": [{"sender": "human", "text": text} for text in ("Which?", "PostgreSQL.", "Fine.")],
}


def write(path, content):
    """A file with *content*: a text, bytes, or something as JSON."""
    data = content if isinstance(content, str | bytes) else json.dumps(content)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def lines(*records):
    return "\n".join(map(json.dumps, records))


def held(ctx):
    return {memory.title: memory for memory in each_memory(ctx.store.read())}


def links(ctx):
    reader = ctx.store.read()
    names = {memory.id: memory.title for memory in each_memory(reader)}
    return {(names[edge.source_id], edge.type, names[edge.target_id]) for edge in reader.edges(ANY_EDGE)}


def fingerprint(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_every_source_has_its_reader():
    assert (*SYSTEMS, *READERS) == SOURCES
    assert all(files_of(system).read for system in SYSTEMS)


def deliveries(folder):
    """A file of each system."""
    made = {
        "anthropic": write(folder / "memory.jsonl", lines(*LINES)),
        "simple-memory": write(folder / "memory.json", {"entities": LINES[:2], "relations": LINES[2:]}),
        "mcp-memory": write_mcp_memory(folder / "mcp.db"),
        "ai-memory": closed_ai_memory(folder / "ai-memory.db"),
        "lorekeeper": write_lorekeeper(folder / "lorekeeper.db"),
        "agentic-memory": folder / "brain.amem",
        "claude": write(folder / "claude.json", [CONVERSATION]),
        "chatgpt": write(folder / "chatgpt.json", [CONVERSATION | {"mapping": MAPPING, "id": "g1"}]),
        "slack": write(
            folder / "general.json", [{"user": "u", "text": str(n), "ts": f"{n}.0"} for n in range(3)]
        ),
        "markdown": write(folder / "CLAUDE.md", "# Build\nRun make. See [[Style]].\n## Style\nShort."),
        "claude-code": write(folder / "project" / "CLAUDE.md", "# Tests\nRun make test.").parent,
    }
    nodes = [
        Node(id=0, type="fact", text="It is blue.", created_at=START, session=4, access_count=2),
        Node(id=1, type="decision", text="Paint it.", created_at=START, confidence=0.5),
    ]
    link = FileLink(source=1, target=0, type="caused_by", weight=0.5, created_at=START)
    made["agentic-memory"].write_bytes(amem_file.write(Brain(nodes, (link,))))
    return made


MAPPING = {
    str(n): {"message": {"author": {"role": "user"}, "content": {"parts": [f"Said {n}"]}, "create_time": n}}
    for n in range(3)
}


@pytest.mark.parametrize("system", SOURCES)
def test_a_second_time_changes_nothing(ctx, clock, tmp_path, system):
    (tmp_path / "theirs").mkdir()
    path = deliveries(tmp_path / "theirs")[system]
    before = fingerprint(tmp_path / "theirs")
    first = import_from(ctx, system, path)
    assert first.imported and not first.skipped and len(first.titles) == first.imported
    state, sequence = everything(ctx.store), last_number(ctx.store)
    clock.advance(days=1)
    again = import_from(ctx, system, path)
    assert (again.imported, again.skipped, again.links, again.titles) == (0, first.imported, 0, [])
    assert again.errors == first.errors
    assert everything(ctx.store) == state and last_number(ctx.store) == sequence
    assert fingerprint(tmp_path / "theirs") == before and faults(ctx.store) == []


BY_NAME = ("anthropic", "simple-memory", "mcp-memory")
"""Whose entities are known by their names alone."""


@pytest.mark.parametrize("system", [name for name in SOURCES if name not in BY_NAME])
def test_what_was_forgotten_here_stays_so(ctx, clock, tmp_path, system):
    path = deliveries(tmp_path)[system]
    for file in tmp_path.iterdir():
        os.utime(file, ns=(clock() * 1_000, clock() * 1_000))
    import_from(ctx, system, path)
    clock.advance(days=1)
    living = [one.id for one in each_memory(ctx.store.read()) if one.state is State.LIVING]
    forget(ctx, living)
    state = everything(ctx.store)
    again = import_from(ctx, system, path)
    assert (again.imported, again.links) == (0, 0)
    assert everything(ctx.store) == state


@pytest.mark.parametrize("system", [name for name in SOURCES if name not in ("ai-memory", "lorekeeper")])
def test_what_names_no_namespace_goes_to_the_one_that_is_asked_for(ctx, tmp_path, system):
    import_from(replace(ctx, namespace="mine"), system, deliveries(tmp_path)[system])
    assert {memory.namespace for memory in each_memory(ctx.store.read())} == {"mine"}


@pytest.mark.parametrize("system", [name for name in SOURCES if name not in ("markdown", "claude-code")])
@pytest.mark.parametrize("content", [b"\x00\xff rubbish", "rubbish", b"SQLite format 3\0 and then no more"])
def test_what_is_damaged_is_refused_in_a_sentence(ctx, tmp_path, system, content):
    path = write(tmp_path / "file", content)
    with pytest.raises(Invalid) as refused:
        import_from(ctx, system, path)
    assert str(refused.value) and "Traceback" not in str(refused.value)
    assert count(ctx.store.read()) == 0


@pytest.mark.parametrize("system", [name for name in SOURCES if name not in ("markdown", "claude-code")])
@pytest.mark.parametrize(
    "other", ["simple-memory", "mcp-memory", "ai-memory", "lorekeeper", "agentic-memory"]
)
def test_what_is_another_systems_is_refused(ctx, tmp_path, system, other):
    if system == other:
        return
    with pytest.raises(Invalid):
        import_from(ctx, system, deliveries(tmp_path)[other])
    assert count(ctx.store.read()) == 0


def test_a_file_that_is_not_there_is_refused(ctx, tmp_path):
    with pytest.raises(Invalid, match=r"memory\.json cannot be read"):
        import_from(ctx, "simple-memory", tmp_path)


@pytest.mark.only_on("sqlite")  # a server's files are not opened here
@pytest.mark.parametrize("system", SOURCES)
def test_the_database_that_is_open_is_refused_and_stays_locked(ctx, tmp_path, system):
    kept(ctx, "one")
    with pytest.raises(Invalid, match=r"mnemic\.db is the database that memories would come to"):
        import_from(ctx, system, tmp_path / "mnemic.db")
    assert is_locked(tmp_path / "mnemic.db")


# -- graphs


def test_a_graph_is_added_to_known_memories(ctx, tmp_path):
    create(ctx, [Sketch("Anna", "person", ("likes tea", "is tall"))], OnTakenName.MERGE)
    done = import_from(ctx, "anthropic", write(tmp_path / "f", lines(*LINES, {"type": "odd"}) + "\n{broken"))
    assert (done.imported, done.skipped, done.links) == (2, 0, 2)
    assert done.errors == ["line 5: of an unknown type", "line 6: not JSON"]
    anna = held(ctx)["Anna"]
    assert [one.text for one in anna.statements] == ["likes tea", "is tall", "lives here"]
    assert links(ctx) == {("Anna", "likes", "Tea"), ("Anna", "knows", "Nobody")}
    assert held(ctx)["Nobody"].state is State.NAMED


@pytest.mark.parametrize(
    "system, usual", [("anthropic", ""), ("simple-memory", ""), ("mcp-memory", "Generic")]
)
def test_an_entity_without_a_type_keeps_the_one_that_is_known(ctx, tmp_path, system, usual):
    create(ctx, [Sketch("Anna", "person", ("likes tea",))], OnTakenName.MERGE)
    untyped = [{"type": "entity", "name": name, "observations": ["is tall"]} for name in ("Anna", "Bob")]
    import_from(ctx, system, write(tmp_path / "f", lines(*untyped)))
    assert (held(ctx)["Anna"].kind, held(ctx)["Anna"].texts) == ("person", ["likes tea", "is tall"])
    assert held(ctx)["Bob"].kind == usual


def test_a_folder_of_simple_memory_and_what_stands_behind_its_object(ctx, tmp_path):
    text = json.dumps({"entities": LINES[:2], "relations": LINES[2:3]})
    write(tmp_path / "memory.json", text + '"older": 1}')
    done = import_from(ctx, "simple-memory", tmp_path)
    assert (done.imported, done.links, done.errors) == (2, 1, ["the end of the file: not JSON"])


def test_simple_memory_brings_lines_as_its_mirror_takes_them(ctx, tmp_path):
    done = import_from(ctx, "simple-memory", write(tmp_path / "memory.json", lines(*LINES) + "\n{broken"))
    assert (done.imported, done.links, done.errors) == (2, 2, ["line 5: not JSON"])
    assert links(ctx) == {("Anna", "likes", "Tea"), ("Anna", "knows", "Nobody")}


def test_what_simple_memory_has_twice_comes_twice_and_no_more(ctx, tmp_path):
    content = {"entities": [{**LINES[0], "observations": ["a", "a"]}, LINES[1]], "relations": [LINES[2]] * 2}
    done = import_from(ctx, "simple-memory", write(tmp_path / "memory.json", content))
    assert (done.imported, done.links) == (2, 2)
    again = import_from(ctx, "simple-memory", tmp_path)
    assert (again.imported, again.links) == (0, 0)
    assert len(list(ctx.store.read().edges(ANY_EDGE))) == 2


def test_an_empty_file_brings_nothing(ctx, tmp_path):
    for system, content in (
        ("anthropic", ""),
        ("simple-memory", '{"entities": [], "relations": []}'),
        ("claude", "[]"),
    ):
        assert import_from(ctx, system, write(tmp_path / "f", content)).imported == 0


def test_the_lines_of_mcp_memory_link_entities_only(ctx, tmp_path):
    done = import_from(
        ctx, "mcp-memory", write(tmp_path / "f", lines({"type": "entity", "name": "Tea"}, *LINES))
    )
    assert done.errors == ["Anna knows Nobody: no entity is called Nobody"]
    assert held(ctx)["Tea"].kind == "drink" and "Nobody" not in held(ctx)


def test_a_database_of_mcp_memory_comes_over(ctx, tmp_path):
    done = import_from(ctx, "mcp-memory", write_mcp_memory(tmp_path / "memory.db"))
    assert (done.imported, done.links) == (6, 3)
    assert done.errors == []
    found = held(ctx)
    space, astro = found["CachorroSpace"], found["Astro"]
    assert [one.text for one in space.statements] == ["Stack: Astro", "On Vercel", "Teal"]
    assert (space.kind, astro.metadata) == ("Project", {"status": "pausado"})
    assert space.metadata == {
        "observation_kinds": {"Teal": "metadata"},
        "superseded_observations": ["Blue"],
    }
    again = import_from(ctx, "mcp-memory", tmp_path / "memory.db")
    assert (again.imported, again.errors) == (0, [])
    assert astro.statements == () and space.updated_at - space.created_at == 2 * DAY
    assert (space.access_count, space.days_used, space.accessed_at - space.created_at) == (6, 2, 5 * DAY)
    [(one, other, together)] = ctx.store.read().companions()
    assert ({one, other}, together.times) == ({space.id, astro.id}, 2)


def test_relations_of_mcp_memory_keep_context_and_end(ctx, tmp_path):
    import_from(ctx, "mcp-memory", write_mcp_memory(tmp_path / "memory.db"))
    uses, replaced, *_ = ctx.store.read().edges(ANY_EDGE)
    assert (uses.type, uses.reason, uses.valid_to) == ("uses", "since v6", None)
    assert (replaced.type, replaced.valid_to - replaced.created_at) == ("replaced", 2 * DAY)


def test_reflections_of_mcp_memory_know_what_they_are_about(ctx, tmp_path):
    kept(ctx, "so that numbers differ")
    import_from(ctx, "mcp-memory", write_mcp_memory(tmp_path / "memory.db"))
    found = held(ctx)
    grown, tool = (one for one in each_memory(ctx.store.read()) if one.title == "A good start.")
    assert grown.metadata == {
        "target_type": "entity",
        "target_id": found["CachorroSpace"].id,
        "author": "sofia",
        "mood": "satisfaccion",
    }
    [edge] = ctx.store.read().edges(EdgeFilter(at=(grown.id,), direction=Direction.OUT))
    assert (edge.type, edge.target_id) == ("reflects_on", found["CachorroSpace"].id)
    relation = edge_numbered(ctx.store.read(), tool.metadata["target_id"])
    assert (relation.type, tool.source) == ("uses", "nolan")
    assert found["All is well."].metadata == {"target_type": "global", "author": "nolan"}
    assert found["Of what is gone."].metadata["original_target_id"] == 99


def test_a_first_version_of_mcp_memory_has_less(ctx, tmp_path):
    done = import_from(ctx, "mcp-memory", write_mcp_memory(tmp_path / "memory.db", is_first_version=True))
    assert (done.imported, done.links, done.errors) == (2, 1, [])


def test_what_was_observed_here_stays_when_mcp_memory_is_newer(ctx, tmp_path, clock):
    path = write_mcp_memory(tmp_path / "memory.db")
    import_from(ctx, "mcp-memory", path)
    observe(ctx, [("CachorroSpace", ["Ours"])], may_repeat=False, must_exist=True)
    with sqlite3.connect(path) as db:
        db.execute(
            "INSERT INTO observations (entity_id, content, created_at) VALUES (3, 'New', '2028-01-01')"
        )
    db.close()
    done = import_from(ctx, "mcp-memory", path)
    assert (done.imported, done.titles) == (1, ["CachorroSpace"])
    texts = [one.text for one in held(ctx)["CachorroSpace"].statements]
    assert texts == ["Stack: Astro", "On Vercel", "Teal", "Ours", "New"]


# -- Lorekeeper


def test_a_database_of_lorekeeper_comes_over(ctx, tmp_path):
    done = import_from(ctx, "lorekeeper", write_lorekeeper(tmp_path / "lorekeeper.db"))
    assert (done.imported, done.links, done.errors) == (5, 2, [])
    by_uid = {memory.uid: memory for memory in each_memory(ctx.store.read())}
    args, tokens, gone = (by_uid[uid] for uid in (ARGS, TOKENS, GONE))
    assert (args.namespace, args.summary, args.quality) == ("shared", "Use None instead.", 7.5)
    assert (args.rating, args.rating_count, args.access_count) == (8.25, 3, 4)
    assert (args.metadata, tokens.metadata) == ({"source_type": "inferred"}, {})
    assert args.content.endswith("Across all calls.") and args.accessed_at == args.updated_at
    assert (tokens.namespace, tokens.summary, tokens.rating) == ("auth", None, None)
    assert gone.state is State.FORGOTTEN
    edge = next(edge for edge in ctx.store.read().edges(ANY_EDGE) if edge.type == "used_in")
    assert (edge.source_id, edge.target_id) == (args.id, tokens.id)
    assert (edge.reason, edge.quality, edge.rating, edge.rating_count) == ("Both about gotchas", 1.5, 6.0, 2)


def test_what_lorekeeper_learnt_from_sessions_comes_along(ctx, tmp_path):
    import_from(ctx, "lorekeeper", write_lorekeeper(tmp_path / "lorekeeper.db").parent)
    thought = held(ctx)["Reflection on session s-1"]
    assert thought.content == "Built the login.\nWhat was done:\nBuilt it.\nLessons learnt:\n- Check first"
    assert thought.metadata == {
        "target_type": "session",
        "session": "s-1",
        "session_date": "2026-05-19",
        "topic": "login",
        "task_type": "build",
    }
    session = session_numbered(ctx.store.read(), thought.session_id)
    assert (session.name, thought.kind, thought.namespace) == ("s-1", "reflection", "shared")
    assert ("Reflection on session s-1", "reflects_on", "Mutable default args") in links(ctx)
    assert held(ctx)["A quiet week."].metadata == {"target_type": "global"}
    assert reflected(ctx.store.read(), None) == ["s-1"]


def test_an_export_of_lorekeeper_is_the_same(ctx, tmp_path):
    done = import_from(ctx, "lorekeeper", write(tmp_path / "export.json", lorekeeper_file.export()))
    assert (done.imported, done.links, done.errors) == (2, 1, [])
    again = import_from(ctx, "lorekeeper", write_lorekeeper(tmp_path / "lorekeeper.db"))
    assert (again.imported, again.skipped) == (3, 2)


def test_a_memory_of_lorekeeper_that_cannot_be_read_is_reported(ctx, tmp_path):
    document = lorekeeper_file.export()
    document["memories"] = [{**document["memories"][0], "created_at": "soon"}, document["memories"][1]]
    done = import_from(ctx, "lorekeeper", write(tmp_path / "export.json", document))
    assert done.imported == 1 and len(done.errors) == 2
    assert done.errors[0].startswith("Mutable default args: created_at: not a time")


# -- conversations


def test_conversations_are_mined_and_short_ones_reported(ctx, tmp_path):
    brief = {"uuid": "c2", "name": "Greeting", "chat_messages": CONVERSATION["chat_messages"][:1]}
    done = import_from(ctx, "claude", write(tmp_path / "f.json", [CONVERSATION, brief]))
    assert (done.imported, done.skipped, done.titles) == (1, 0, ["Choosing a database"])
    assert done.errors == ["Greeting: has 1 messages, fewer than 3"]
    assert held(ctx)["Choosing a database"].namespace == "claude-export"


# -- Markdown


@pytest.fixture
def notes(tmp_path):
    """A folder of notes."""
    folder = tmp_path / "my project"
    (folder / ".claude").mkdir(parents=True)
    (folder / "node_modules").mkdir()
    write(folder / "node_modules" / "README.md", "Not ours.")
    write(
        folder / ".claude" / "CLAUDE.md",
        "---\ntags: [rules]\nowner: Anna\n---\n# Rules\n## Build\nmake\n## Style\n[[#Build]]",
    )
    write(folder / "Plan.md", "# Plan\nSee [[CLAUDE#Style]], [[Recipes/Soup|soup]], [[Plan]], [[Later]].")
    (folder / "Recipes").mkdir()
    write(folder / "Recipes" / "Soup.md", "Peel, boil.\n")
    return folder


def test_a_folder_of_notes(ctx, notes):
    done = import_from(ctx, "markdown", notes)
    assert (sorted(done.titles), done.errors) == (["Plan", "Rules › Build", "Rules › Style", "Soup"], [])
    found = held(ctx)
    build = found["Rules › Build"]
    assert {memory.namespace for memory in found.values()} == {"global"}
    assert found["Soup"].content == "Peel, boil."
    assert (build.tags, build.content) == (("rules",), "make")
    assert build.metadata == {"owner": "Anna", "headings": ["Rules", "Build"], "file": ".claude/CLAUDE.md"}
    assert links(ctx) == {
        ("Rules › Style", "related_to", "Rules › Build"),
        ("Plan", "related_to", "Rules › Style"),
        ("Plan", "related_to", "Soup"),
        ("Plan", "related_to", "Later"),
    }
    assert recall(ctx, a_query("boil", now=ctx.now())).hits


def test_files_of_one_name_in_several_folders_stay_apart(ctx, tmp_path):
    for service in ("billing", "search"):
        write(tmp_path / service / "0001.md", f"# Decision\n\n{service} keeps its own database")
    import_from(ctx, "markdown", tmp_path)
    write(tmp_path / "auth" / "0001.md", "# Decision\n\nauth comes first in the alphabet")
    done = import_from(ctx, "markdown", tmp_path)
    assert (done.imported, done.skipped) == (1, 2)


def decisions_of(root, *services):
    for service in services:
        write(
            root / "services" / service / "adr" / "0001.md",
            f"# Database\n\n## Context\nNeeded by {service}.\n\n## Decision\nPostgres for {service}.\n",
        )


@pytest.mark.parametrize("mark", [None, ".git", ".obsidian"])
def test_decisions_of_one_name_in_folders_of_one_name_stay_apart(ctx, tmp_path, mark):
    decisions_of(tmp_path, "billing", "search")
    if mark:
        (tmp_path / mark).mkdir()
    import_from(ctx, "markdown", tmp_path)
    decisions_of(tmp_path, "auth")
    done = import_from(ctx, "markdown", tmp_path)
    assert (done.imported, done.skipped, done.conflicts) == (2, 4, [])
    before = {memory.uid: memory.content for memory in each_memory(ctx.store.read())}
    files = {memory.content: memory.metadata["file"] for memory in each_memory(ctx.store.read())}
    assert files["Postgres for search."] == "services/search/adr/0001.md"
    import_from(ctx, "markdown", tmp_path / "services" / "search")
    assert {memory.uid: memory.content for memory in each_memory(ctx.store.read())} == before


def test_a_link_means_the_nearest_note_of_that_name(ctx, tmp_path):
    decisions_of(tmp_path, "auth", "billing", "search")
    write(tmp_path / "services" / "search" / "README.md", "Why: [[0001#Decision]]")
    import_from(ctx, "markdown", tmp_path)
    [edge] = ctx.store.read().edges(ANY_EDGE)
    [target] = ctx.store.read().get([edge.target_id])
    assert target.content == "Postgres for search."


def test_the_folder_one_is_in_may_be_a_point(ctx, notes, monkeypatch):
    monkeypatch.chdir(notes)
    assert import_from(ctx, "markdown", Path()).imported == 4


def test_a_note_that_changed_is_updated(ctx, notes, clock):
    import_from(ctx, "markdown", notes)
    soup = write(notes / "Recipes" / "Soup.md", "Peel, boil, eat.")
    os.utime(soup, ns=(clock() * 1_000, clock() * 1_000))
    write(notes / "Later.md", "It came.")
    done = import_from(ctx, "markdown", notes)
    assert (sorted(done.titles), done.skipped) == (["Later", "Soup"], 3)
    assert held(ctx)["Soup"].content == "Peel, boil, eat." and held(ctx)["Later"].state is State.LIVING
    assert ("Plan", "related_to", "Later") in links(ctx)
    clock.advance(hours=1)
    revise(ctx, held(ctx)["Soup"].id, Revision(text="Ours is newer."))
    assert import_from(ctx, "markdown", notes / "Recipes" / "Soup.md").imported == 0
    assert held(ctx)["Soup"].content == "Ours is newer."


def test_a_link_that_was_ended_here_stays_so(ctx, notes):
    import_from(ctx, "markdown", notes)
    found = held(ctx)
    end_link(ctx, found["Plan"].id, found["Soup"].id, "related_to")
    assert import_from(ctx, "markdown", notes).links == 0


def test_a_section_is_found_by_the_title_of_its_page(ctx, tmp_path):
    for number, name in enumerate(("Use managed databases", "Write logs as JSON"), 1):
        write(tmp_path / f"000{number}.md", f"# {name}\n## Context\nWhy.\n## Decision\nWe do.")
    import_from(ctx, "markdown", tmp_path)
    hits = recall(ctx, a_query("decision managed databases", now=ctx.now())).hits
    assert hits[0].memory.title == "Use managed databases › Decision"
    assert hits[0].memory.metadata["file"] == f"{tmp_path.name}/0001.md"


def test_sections_of_the_same_name_stay_apart(ctx, tmp_path):
    kept(ctx, "An agent's own", name="Usage", namespace="notes")
    (tmp_path / "notes").mkdir()
    write(tmp_path / "notes" / "a.md", "# Usage\nOne\n# Usage\nTwo")
    write(tmp_path / "notes" / "b.md", "# Usage\nThree\n# More\nFour")
    for expected in (4, 0):
        assert import_from(ctx, "markdown", tmp_path / "notes").imported == expected
        texts = [(memory.title, memory.content) for memory in each_memory(ctx.store.read())]
        assert texts == [
            ("Usage", "An agent's own"),
            ("a › Usage", "One"),
            ("a › Usage", "Two"),
            ("b › Usage", "Three"),
            ("b › More", "Four"),
        ]


OBSIDIAN = """\
---
title: "Anna: \\"tea\\""
aliases:
  - Tea
tags: [drinks/tea, 2026, no, "#hot"]
up: "[[Drinks]]"
created: 2026-01-01
version: 1.10
rating: 5
cssclasses: []
---
Green, [[Drinks|others]].
"""


def test_a_note_of_obsidian(ctx, tmp_path):
    write(tmp_path / "Tea.md", OBSIDIAN.replace("\n", "\r\n").encode("utf-8-sig"))
    done = import_from(replace(ctx, namespace="notes"), "markdown", tmp_path)
    assert (done.imported, done.errors) == (1, [])
    tea = held(ctx)['Anna: "tea"']
    assert (tea.content, tea.tags) == ("Green, [[Drinks|others]].", ("drinks/tea", "2026", "no", "hot"))
    assert tea.metadata == {
        "title": 'Anna: "tea"',
        "aliases": ["Tea"],
        "up": "[[Drinks]]",
        "created": "2026-01-01",
        "version": "1.10",
        "rating": "5",
        "cssclasses": [],
        "file": f"{tmp_path.name}/Tea.md",
    }


@pytest.mark.parametrize(
    "line, tags",
    [
        ("tags: a, b c", ("a", "b", "c")),
        ("tags: #a #b/c", ("a", "b/c")),
        ("tag: yes", ("yes",)),
        ("tags: [[a, b], c]", ("a", "b", "c")),
        ("tags:\n- a b\n- '#'\n-", ("a b",)),
        ("tags:", ()),
        ("tags: null", ()),
    ],
)
def test_tags_of_a_note(ctx, tmp_path, line, tags):
    import_from(ctx, "markdown", write(tmp_path / "Note.md", f"---\n{line}\n---\nText"))
    assert (held(ctx)["Note"].tags, held(ctx)["Note"].metadata) == (
        tags,
        {"file": f"{tmp_path.name}/Note.md"},
    )


def test_tags_that_are_no_texts_are_kept_as_metadata(ctx, tmp_path):
    import_from(ctx, "markdown", write(tmp_path / "Note.md", "---\ntags: [a, {b: c}]\n---\nText"))
    note = held(ctx)["Note"]
    assert (note.tags, note.metadata) == (
        ("a",),
        {"tags": ["a", {"b": "c"}], "file": f"{tmp_path.name}/Note.md"},
    )


def test_front_matter_that_is_no_yaml_is_kept_as_text_and_reported(ctx, tmp_path):
    write(tmp_path / "Good.md", "---\ntags: [a]\n---\nText")
    write(tmp_path / "Bad.md", "---\ntags: [a]\nuse: this: that\n---\n# Plan\nWords")
    for expected in (2, 0):
        done = import_from(ctx, "markdown", tmp_path)
        assert done.imported == expected
        assert len(done.errors) == 1 and "/Bad.md: line 3: not valid YAML: " in done.errors[0]
    assert held(ctx)["Plan"].content == "---\ntags: [a]\nuse: this: that\n---\n# Plan\nWords"
    assert held(ctx)["Good"].tags == ("a",)


def test_what_is_no_note_is_reported(ctx, tmp_path):
    write(tmp_path / "bytes.md", b"\xff\xfe")
    write(tmp_path / "empty.md", "")
    write(tmp_path / "heading.md", "# Only")
    write(tmp_path / "zero.md", b"a\0b")
    done = import_from(ctx, "markdown", tmp_path)
    told = [error.removeprefix(f"{tmp_path.name}/") for error in done.errors]
    assert done.imported == 0 and told == [
        "bytes.md: is no text in UTF-8",
        "empty.md: there is nothing in it",
        "heading.md: nothing below 'Only'",
        "zero.md: is no text",
    ]
    (tmp_path / "none").mkdir()
    with pytest.raises(Invalid, match="There is no Markdown file in none"):
        import_from(ctx, "markdown", tmp_path / "none")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no file is called so")
def test_a_name_that_is_not_utf_8_is_reported_and_the_others_come(ctx, notes):
    folder = notes / os.fsdecode(b"th\xe9")
    folder.mkdir()
    write(folder / "Tea.md", "Green.")
    write(notes / os.fsdecode(b"caf\xe9.md"), "Black.")
    done = import_from(ctx, "markdown", notes)
    assert done.imported == 5 and done.errors == ["caf\\xe9.md: its name is no text in UTF-8"]
    assert import_from(replace(ctx, namespace="mine"), "markdown", folder).imported == 1


def test_claude_codes_notes_and_instructions_come_together(ctx, tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    project = tmp_path / "my.shop"
    (project / ".git").mkdir(parents=True)
    write(project / "CLAUDE.md", with_block("# Rules\nNever edit migrations.\n"))
    write(project / ".claude" / "rules" / "style.md", "Short functions.")
    folder = memory_folder(project / "src", {"CLAUDE_CONFIG_DIR": str(tmp_path / "claude")})
    assert folder.parent.name.endswith("-my-shop")
    write(folder / "MEMORY.md", "# Memory\n- [Tests](tests.md) — how to run them")
    note = "---\nname: Tests\ndescription: how to run them\nmetadata:\n  type: feedback\n---\nRun make test."
    write(folder / "tests.md", note)
    done = import_from(ctx, "claude-code", project)
    assert (done.imported, done.errors) == (3, [])
    held = {memory.title: memory for memory in each_memory(ctx.store.read())}
    assert held["Rules"].content == "Never edit migrations."
    assert held.keys() == {"Tests", "Rules", "style"} and {m.namespace for m in held.values()} == {"my.shop"}
    assert (held["Tests"].summary, held["Tests"].kind) == ("how to run them", "feedback")
    assert import_from(ctx, "claude-code", project).imported == 0
