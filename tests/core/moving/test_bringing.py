"""What other systems keep comes over whole, once, and what cannot come is told."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import lorekeeper_file
from ai_memory_file import closed_ai_memory
from lorekeeper_file import ARGS, GONE, TOKENS, write_lorekeeper
from mcp_memory_file import write_mcp_memory
from mnemic.app import FOREIGN, SOURCES, bring
from mnemic.core.entities import Taken, create, observe
from mnemic.core.graph import end_link
from mnemic.core.learning import reflected
from mnemic.core.memories import Revision, forget, revise
from mnemic.core.moving.bringing import READERS
from mnemic.core.recall import recall
from mnemic.errors import Invalid
from mnemic.formats import amem
from mnemic.formats.amem import Brain, Link, Node
from mnemic.model.graph import Direction, Sketch
from mnemic.model.values import DAY, State
from support import START, a_query, everything, is_locked, kept

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
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def lines(*records):
    return "\n".join(map(json.dumps, records))


def held(ctx):
    return {memory.title: memory for memory in ctx.store.read().all_memories()}


def links(ctx):
    reader = ctx.store.read()
    names = {memory.id: memory.title for memory in reader.all_memories()}
    return {(names[edge.source_id], edge.type, names[edge.target_id]) for edge in reader.all_edges()}


def fingerprint(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_every_source_has_its_reader():
    assert set(SOURCES) == set(READERS) and FOREIGN.keys() <= READERS.keys()


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
    }
    nodes = [
        Node(id=0, type="fact", text="It is blue.", created_at=START, session=4, access_count=2),
        Node(id=1, type="decision", text="Paint it.", created_at=START, confidence=0.5),
    ]
    link = Link(source=1, target=0, type="caused_by", weight=0.5, created_at=START)
    made["agentic-memory"].write_bytes(amem.write(Brain(nodes, (link,))))
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
    first = bring(ctx, system, path)
    assert first.imported and not first.skipped and len(first.titles) == first.imported
    state, sequence = everything(ctx.store), ctx.store.sequence()
    clock.advance(days=1)
    again = bring(ctx, system, path)
    assert (again.imported, again.skipped, again.links, again.titles) == (0, first.imported, 0, [])
    assert again.errors == first.errors
    assert everything(ctx.store) == state and ctx.store.sequence() == sequence
    assert fingerprint(tmp_path / "theirs") == before and ctx.store.check() == []


BY_NAME = ("anthropic", "simple-memory", "mcp-memory")
"""Whose entities are known by their names alone."""


@pytest.mark.parametrize("system", [name for name in SOURCES if name not in BY_NAME])
def test_what_was_forgotten_here_stays_so(ctx, clock, tmp_path, system):
    path = deliveries(tmp_path)[system]
    for file in tmp_path.iterdir():
        os.utime(file, ns=(clock() * 1_000, clock() * 1_000))
    bring(ctx, system, path)
    clock.advance(days=1)
    living = [one.id for one in ctx.store.read().all_memories() if one.state is State.LIVING]
    forget(ctx, living)
    state = everything(ctx.store)
    again = bring(ctx, system, path)
    assert (again.imported, again.links) == (0, 0)
    assert everything(ctx.store) == state


@pytest.mark.parametrize("system", [name for name in SOURCES if name not in ("ai-memory", "lorekeeper")])
def test_what_names_no_namespace_goes_to_the_one_that_is_asked_for(ctx, tmp_path, system):
    bring(replace(ctx, namespace="mine"), system, deliveries(tmp_path)[system])
    assert {memory.namespace for memory in ctx.store.read().all_memories()} == {"mine"}


@pytest.mark.parametrize("system", [name for name in SOURCES if name != "markdown"])
@pytest.mark.parametrize("content", [b"\x00\xff rubbish", "rubbish", b"SQLite format 3\0 and then no more"])
def test_what_is_damaged_is_refused_in_a_sentence(ctx, tmp_path, system, content):
    path = write(tmp_path / "file", content)
    with pytest.raises(Invalid) as refused:
        bring(ctx, system, path)
    assert str(refused.value) and "Traceback" not in str(refused.value)
    assert ctx.store.read().count() == 0


@pytest.mark.parametrize("system", [name for name in SOURCES if name != "markdown"])
@pytest.mark.parametrize(
    "other", ["simple-memory", "mcp-memory", "ai-memory", "lorekeeper", "agentic-memory"]
)
def test_what_is_another_systems_is_refused(ctx, tmp_path, system, other):
    if system == other:
        return
    with pytest.raises(Invalid):
        bring(ctx, system, deliveries(tmp_path)[other])
    assert ctx.store.read().count() == 0


def test_a_file_that_is_not_there_is_refused(ctx, tmp_path):
    with pytest.raises(Invalid, match=r"memory\.json cannot be read"):
        bring(ctx, "simple-memory", tmp_path)


@pytest.mark.parametrize("system", SOURCES)
def test_the_database_that_is_open_is_refused_and_stays_locked(ctx, tmp_path, system):
    kept(ctx, "one")
    with pytest.raises(Invalid, match=r"mnemic\.db is the database that memories would come to"):
        bring(ctx, system, tmp_path / "mnemic.db")
    assert is_locked(tmp_path / "mnemic.db")


# -- graphs


def test_a_graph_is_added_to_what_is_known(ctx, tmp_path):
    create(ctx, [Sketch("Anna", "person", ("likes tea", "is tall"))], Taken.MERGE)
    done = bring(ctx, "anthropic", write(tmp_path / "f", lines(*LINES, {"type": "odd"}) + "\n{broken"))
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
    create(ctx, [Sketch("Anna", "person", ("likes tea",))], Taken.MERGE)
    untyped = [{"type": "entity", "name": name, "observations": ["is tall"]} for name in ("Anna", "Bob")]
    bring(ctx, system, write(tmp_path / "f", lines(*untyped)))
    assert (held(ctx)["Anna"].kind, held(ctx)["Anna"].texts) == ("person", ["likes tea", "is tall"])
    assert held(ctx)["Bob"].kind == usual


def test_a_folder_of_simple_memory_and_what_stands_behind_its_object(ctx, tmp_path):
    text = json.dumps({"entities": LINES[:2], "relations": LINES[2:3]})
    write(tmp_path / "memory.json", text + '"older": 1}')
    done = bring(ctx, "simple-memory", tmp_path)
    assert (done.imported, done.links, done.errors) == (2, 1, ["the end of the file: not JSON"])


def test_simple_memory_brings_lines_as_its_mirror_takes_them(ctx, tmp_path):
    done = bring(ctx, "simple-memory", write(tmp_path / "memory.json", lines(*LINES) + "\n{broken"))
    assert (done.imported, done.links, done.errors) == (2, 2, ["line 5: not JSON"])
    assert links(ctx) == {("Anna", "likes", "Tea"), ("Anna", "knows", "Nobody")}


def test_what_simple_memory_has_twice_comes_twice_and_no_more(ctx, tmp_path):
    content = {"entities": [{**LINES[0], "observations": ["a", "a"]}, LINES[1]], "relations": [LINES[2]] * 2}
    done = bring(ctx, "simple-memory", write(tmp_path / "memory.json", content))
    assert (done.imported, done.links) == (2, 2)
    again = bring(ctx, "simple-memory", tmp_path)
    assert (again.imported, again.links) == (0, 0)
    assert len(list(ctx.store.read().all_edges())) == 2


def test_an_empty_file_brings_nothing(ctx, tmp_path):
    for system, content in (
        ("anthropic", ""),
        ("simple-memory", '{"entities": [], "relations": []}'),
        ("claude", "[]"),
    ):
        assert bring(ctx, system, write(tmp_path / "f", content)).imported == 0


def test_the_lines_of_mcp_memory_link_entities_only(ctx, tmp_path):
    done = bring(ctx, "mcp-memory", write(tmp_path / "f", lines({"type": "entity", "name": "Tea"}, *LINES)))
    assert done.errors == ["Anna knows Nobody: no entity is called Nobody"]
    assert held(ctx)["Tea"].kind == "drink" and "Nobody" not in held(ctx)


def test_a_database_of_mcp_memory_comes_over(ctx, tmp_path):
    done = bring(ctx, "mcp-memory", write_mcp_memory(tmp_path / "memory.db"))
    assert (done.imported, done.links) == (6, 3)
    assert done.errors == [
        "CachorroSpace: 1 superseded observations",
        "CachorroSpace: the kinds of 1 observations, which came without",
    ]
    found = held(ctx)
    space, astro = found["CachorroSpace"], found["Astro"]
    assert [one.text for one in space.statements] == ["Stack: Astro", "On Vercel", "Teal"]
    assert (space.kind, space.metadata, astro.metadata) == ("Project", {}, {"status": "pausado"})
    assert astro.statements == () and space.updated_at - space.created_at == 2 * DAY
    assert (space.access_count, space.days_used, space.accessed_at - space.created_at) == (6, 2, 5 * DAY)
    [(one, other, together)] = ctx.store.read().all_companions()
    assert ({one, other}, together.times) == ({space.id, astro.id}, 2)


def test_relations_of_mcp_memory_keep_context_and_end(ctx, tmp_path):
    bring(ctx, "mcp-memory", write_mcp_memory(tmp_path / "memory.db"))
    uses, replaced, *_ = ctx.store.read().all_edges()
    assert (uses.type, uses.reason, uses.valid_to) == ("uses", "since v6", None)
    assert (replaced.type, replaced.valid_to - replaced.created_at) == ("replaced", 2 * DAY)


def test_reflections_of_mcp_memory_know_what_they_are_about(ctx, tmp_path):
    kept(ctx, "so that numbers differ")
    bring(ctx, "mcp-memory", write_mcp_memory(tmp_path / "memory.db"))
    found = held(ctx)
    grown, tool = found["A good start."], found["A good start. (2)"]
    assert grown.metadata == {
        "target_type": "entity",
        "target_id": found["CachorroSpace"].id,
        "author": "sofia",
        "mood": "satisfaccion",
    }
    [edge] = ctx.store.read().edges([grown.id], Direction.OUT)
    assert (edge.type, edge.target_id) == ("reflects_on", found["CachorroSpace"].id)
    relation = ctx.store.read().edge(tool.metadata["target_id"])
    assert (relation.type, tool.source) == ("uses", "nolan")
    assert found["All is well."].metadata == {"target_type": "global", "author": "nolan"}
    assert found["Of what is gone."].metadata["original_target_id"] == 99


def test_a_first_version_of_mcp_memory_has_less(ctx, tmp_path):
    done = bring(ctx, "mcp-memory", write_mcp_memory(tmp_path / "memory.db", is_first_version=True))
    assert (done.imported, done.links, done.errors) == (2, 1, [])


def test_what_was_observed_here_stays_when_mcp_memory_is_newer(ctx, tmp_path, clock):
    path = write_mcp_memory(tmp_path / "memory.db")
    bring(ctx, "mcp-memory", path)
    observe(ctx, [("CachorroSpace", ["Ours"])], may_repeat=False, must_exist=True)
    with sqlite3.connect(path) as db:
        db.execute(
            "INSERT INTO observations (entity_id, content, created_at) VALUES (3, 'New', '2028-01-01')"
        )
    db.close()
    done = bring(ctx, "mcp-memory", path)
    assert (done.imported, done.titles) == (1, ["CachorroSpace"])
    texts = [one.text for one in held(ctx)["CachorroSpace"].statements]
    assert texts == ["Stack: Astro", "On Vercel", "Teal", "Ours", "New"]


# -- Lorekeeper


def test_a_database_of_lorekeeper_comes_over(ctx, tmp_path):
    done = bring(ctx, "lorekeeper", write_lorekeeper(tmp_path / "lorekeeper.db"))
    assert (done.imported, done.links, done.errors) == (5, 2, [])
    by_uid = {memory.uid: memory for memory in ctx.store.read().all_memories()}
    args, tokens, gone = (by_uid[uid] for uid in (ARGS, TOKENS, GONE))
    assert (args.namespace, args.summary, args.quality) == ("shared", "Use None instead.", 7.5)
    assert (args.rating, args.rating_count, args.access_count) == (8.25, 3, 4)
    assert (args.metadata, tokens.metadata) == ({"source_type": "inferred"}, {})
    assert args.content.endswith("Across all calls.") and args.accessed_at == args.updated_at
    assert (tokens.namespace, tokens.summary, tokens.rating) == ("auth", None, None)
    assert gone.state is State.FORGOTTEN
    edge = next(edge for edge in ctx.store.read().all_edges() if edge.type == "used_in")
    assert (edge.source_id, edge.target_id) == (args.id, tokens.id)
    assert (edge.reason, edge.quality, edge.rating, edge.rating_count) == ("Both about gotchas", 1.5, 6.0, 2)


def test_what_lorekeeper_learnt_from_sessions_comes_along(ctx, tmp_path):
    bring(ctx, "lorekeeper", write_lorekeeper(tmp_path / "lorekeeper.db").parent)
    thought = held(ctx)["Reflection on session s-1"]
    assert thought.content == "Built the login.\nWhat was done:\nBuilt it.\nLessons learnt:\n- Check first"
    assert thought.metadata == {
        "target_type": "session",
        "session": "s-1",
        "session_date": "2026-05-19",
        "topic": "login",
        "task_type": "build",
    }
    session = ctx.store.read().session_numbered(thought.session_id)
    assert (session.name, thought.kind, thought.namespace) == ("s-1", "reflection", "shared")
    assert ("Reflection on session s-1", "reflects_on", "Mutable default args") in links(ctx)
    assert held(ctx)["A quiet week."].metadata == {"target_type": "global"}
    assert reflected(ctx.store.read(), None) == ["s-1"]


def test_an_export_of_lorekeeper_is_the_same(ctx, tmp_path):
    done = bring(ctx, "lorekeeper", write(tmp_path / "export.json", lorekeeper_file.export()))
    assert (done.imported, done.links, done.errors) == (2, 1, [])
    again = bring(ctx, "lorekeeper", write_lorekeeper(tmp_path / "lorekeeper.db"))
    assert (again.imported, again.skipped) == (3, 2)


def test_a_memory_of_lorekeeper_that_cannot_be_read_is_told(ctx, tmp_path):
    document = lorekeeper_file.export()
    document["memories"] = [{**document["memories"][0], "created_at": "soon"}, document["memories"][1]]
    done = bring(ctx, "lorekeeper", write(tmp_path / "export.json", document))
    assert done.imported == 1 and len(done.errors) == 2
    assert done.errors[0].startswith("Mutable default args: created_at: not a time")


# -- conversations


def test_conversations_are_mined_and_short_ones_told(ctx, tmp_path):
    brief = {"uuid": "c2", "name": "Greeting", "chat_messages": CONVERSATION["chat_messages"][:1]}
    done = bring(ctx, "claude", write(tmp_path / "f.json", [CONVERSATION, brief]))
    assert (done.imported, done.skipped, done.titles) == (1, 0, ["Choosing a database"])
    assert done.errors == ["Greeting: has only 1 messages; `mnemic mine --min-messages 1` takes it"]
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
    done = bring(ctx, "markdown", notes)
    assert (sorted(done.titles), done.errors) == (["Build", "Plan", "Soup", "Style"], [])
    found = held(ctx)
    assert {found[title].namespace for title in ("Build", "Style", "Plan")} == {"my-project"}
    assert (found["Soup"].namespace, found["Soup"].content) == ("Recipes", "Peel, boil.")
    assert (found["Build"].tags, found["Build"].content) == (("rules",), "make")
    assert found["Build"].metadata == {"owner": "Anna", "under": "Rules", "file": "CLAUDE.md"}
    assert links(ctx) == {
        ("Style", "related_to", "Build"),
        ("Plan", "related_to", "Style"),
        ("Plan", "related_to", "Soup"),
        ("Plan", "related_to", "Later"),
    }
    assert recall(ctx, a_query("boil", now=ctx.now())).hits


def test_the_folder_one_is_in_may_be_a_point(ctx, notes, monkeypatch):
    monkeypatch.chdir(notes)
    assert bring(ctx, "markdown", Path()).imported == 4


def test_a_note_that_changed_is_brought_up_to_date(ctx, notes, clock):
    bring(ctx, "markdown", notes)
    soup = write(notes / "Recipes" / "Soup.md", "Peel, boil, eat.")
    os.utime(soup, ns=(clock() * 1_000, clock() * 1_000))
    write(notes / "Later.md", "It came.")
    done = bring(ctx, "markdown", notes)
    assert (sorted(done.titles), done.skipped) == (["Later", "Soup"], 3)
    assert held(ctx)["Soup"].content == "Peel, boil, eat." and held(ctx)["Later"].state is State.LIVING
    assert ("Plan", "related_to", "Later") in links(ctx)
    clock.advance(hours=1)
    revise(ctx, held(ctx)["Soup"].id, Revision(text="Ours is newer."))
    assert bring(ctx, "markdown", notes / "Recipes" / "Soup.md").imported == 0
    assert held(ctx)["Soup"].content == "Ours is newer."


def test_a_link_that_was_ended_here_stays_so(ctx, notes):
    bring(ctx, "markdown", notes)
    found = held(ctx)
    end_link(ctx, found["Plan"].id, found["Soup"].id, "related_to")
    assert bring(ctx, "markdown", notes).links == 0


def test_sections_of_the_same_name_stay_apart(ctx, tmp_path):
    kept(ctx, "An agent's own", title="Usage", namespace="notes")
    (tmp_path / "notes").mkdir()
    write(tmp_path / "notes" / "a.md", "# Usage\nOne\n# Usage\nTwo")
    write(tmp_path / "notes" / "b.md", "# Usage\nThree\n# More\nFour")
    for expected in (4, 0):
        assert bring(ctx, "markdown", tmp_path / "notes").imported == expected
        texts = {memory.title: memory.content for memory in ctx.store.read().all_memories()}
        assert texts == {
            "Usage": "An agent's own",
            "Usage (2)": "One",
            "Usage (3)": "Two",
            "Usage (4)": "Three",
            "More": "Four",
        }


def test_what_is_no_note_is_told(ctx, tmp_path):
    write(tmp_path / "bytes.md", b"\xff\xfe")
    write(tmp_path / "empty.md", "")
    write(tmp_path / "heading.md", "# Only")
    write(tmp_path / "zero.md", b"a\0b")
    done = bring(ctx, "markdown", tmp_path)
    assert done.imported == 0 and done.errors == [
        "bytes.md: is no text in UTF-8",
        "empty.md: there is nothing in it",
        "heading.md: nothing below 'Only'",
        "zero.md: is no text",
    ]
    (tmp_path / "none").mkdir()
    with pytest.raises(Invalid, match="There is no Markdown file in none"):
        bring(ctx, "markdown", tmp_path / "none")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no file is called so")
def test_a_name_that_is_not_utf_8_is_told_and_the_others_come(ctx, notes):
    folder = notes / os.fsdecode(b"th\xe9")
    folder.mkdir()
    write(folder / "Tea.md", "Green.")
    write(notes / os.fsdecode(b"caf\xe9.md"), "Black.")
    done = bring(ctx, "markdown", notes)
    assert done.imported == 4 and done.errors == [
        "caf\\xe9.md: its name or its folder's is no text in UTF-8",
        "Tea.md: its name or its folder's is no text in UTF-8",
    ]
    assert bring(replace(ctx, namespace="mine"), "markdown", folder).imported == 1
