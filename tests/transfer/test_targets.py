"""What is sent to another system is a file it reads; what it has no place for is told, and the rest comes back."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import lorekeeper_file
import pytest
from support import Uids, WordEmbedder, kept

from mnemic.app import SYSTEMS, export_to, import_from
from mnemic.core.context import Context
from mnemic.core.entities import OnTakenName, create, relate
from mnemic.core.graph import end_link, link
from mnemic.core.memories import forget, supersede
from mnemic.dialects.agentic_memory import amem_file
from mnemic.dialects.ai_memory import validation
from mnemic.model.access import Grant
from mnemic.model.enums import Tier
from mnemic.model.filter import ANY_EDGE
from mnemic.model.graph import Sketch, Triple
from mnemic.model.memory import MemoryPatch
from mnemic.model.time import DAY
from mnemic.storage.queries import each_memory

GRAPHS = ("anthropic", "simple-memory", "mcp-memory")
ODD = ['quotes " and \\ and é and 🙂', "lines\nof\ntext", " spaces ", "{json: [1]}", "\u2028 separators"]


@pytest.fixture
def elsewhere(fresh, clock):
    """An empty store beside it."""
    store = fresh("elsewhere")
    store.use_models(WordEmbedder().name)
    return Context(store=store, embedder=WordEmbedder(), now=clock, new_uid=Uids("elsewhere"))


@pytest.fixture
def story(ctx, clock):
    """A store with a bit of everything that lives, and something that does not."""
    create(ctx, [Sketch("Anna", "person", tuple(ODD)), Sketch("Tea", "drink")], OnTakenName.KEEP)
    relate(ctx, [Triple("Anna", "Tea", "likes"), Triple("Anna", "Nobody", "knows")], may_dangle=True)
    kept(
        ctx,
        "The pipeline runs at 02:00 UTC",
        name="Pipeline",
        kind="decision",
        summary="At night",
        tags=("ops", "data"),
        namespace="work",
        tier=Tier.MID,
        priority=9,
        confidence=0.5,
        source="claude",
        metadata={"k": [1]},
        session="talk",
    )
    link(ctx, "Pipeline", "Anna", "depends_on", 0.5, "she wrote it")
    supersede(ctx, kept(ctx, "It is old").id, "It is new", "wrong")
    forget(ctx, [kept(ctx, "It is gone").id])
    kept(ctx, "It is over", expires_at=clock() + DAY)
    clock.advance(days=2)
    return ctx


def carried(source, target, system, folder):
    """What became of everything in *source*, carried to *target* in a file of *system*."""
    file = folder / f"file.{system}"
    file.write_bytes(export_to(source, system).data)
    return import_from(target, system, file)


def living(ctx):
    now = ctx.now()
    found = [one for one in each_memory(ctx.store.read()) if one.state == "living"]
    return {one.title: one for one in found if one.expires_at is None or one.expires_at > now}


def links(ctx):
    reader = ctx.store.read()
    names = {memory.id: memory.title for memory in each_memory(reader)}
    return {
        (names[edge.source_id], edge.type, names[edge.target_id]): edge for edge in reader.edges(ANY_EDGE)
    }


def texts(memory):
    return [one.text for one in memory.statements]


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_lives_comes_back_and_nothing_else(story, elsewhere, tmp_path, system):
    done = carried(story, elsewhere, system, tmp_path)
    # A file of AgenticMemory also holds what was corrected.
    held = 5 if system == "agentic-memory" else 4
    assert (done.imported, done.skipped, done.errors) == (held, 0, [])
    again = carried(story, elsewhere, system, tmp_path)
    assert (again.imported, again.skipped, again.links) == (0, held, 0)
    told = "\n".join(f"{one.title}\n{one.content}" for one in living(elsewhere).values())
    for word in ("Anna", "Tea", "02:00 UTC", "It is new", *ODD):
        assert word in told
    assert "old" not in told and "gone" not in told and "over" not in told


@pytest.mark.parametrize("system", GRAPHS)
def test_a_graph_keeps_names_types_observations_and_relations(story, elsewhere, tmp_path, system):
    carried(story, elsewhere, system, tmp_path)
    found = living(elsewhere)
    assert (found["Anna"].kind, texts(found["Anna"])) == ("person", ODD)
    assert (found["Tea"].kind, texts(found["Tea"])) == ("drink", [])
    expected = {("Anna", "likes", "Tea"), ("Pipeline", "depends_on", "Anna")}
    assert links(elsewhere).keys() - {("Anna", "knows", "Nobody")} == expected
    assert (("Anna", "knows", "Nobody") in links(elsewhere)) == (system != "mcp-memory")
    assert export_to(elsewhere, system).data == export_to(story, system).data


def test_lorekeeper_keeps_its_fields(story, elsewhere, tmp_path):
    pipeline = living(story)["Pipeline"]
    story.change("rate", lambda tx: tx.update(pipeline, MemoryPatch(quality=7.5, rating=8.0, rating_count=2)))
    story.change(
        "use",
        lambda tx: tx.update(pipeline, MemoryPatch(access_count=3, accessed_at=story.now(), days_used=1)),
    )
    carried(story, elsewhere, "lorekeeper", tmp_path)
    before, after = living(story)["Pipeline"], living(elsewhere)["Pipeline"]
    for name in ("uid", "namespace", "summary", "quality", "rating", "rating_count", "created_at"):
        assert getattr(after, name) == getattr(before, name)
    assert (after.updated_at, after.access_count, after.accessed_at) == (before.updated_at, 3, story.now())
    edge = links(elsewhere)["Pipeline", "depends_on", "Anna"]
    assert edge.reason == "she wrote it"
    assert ("Anna", "related_to", "Tea") in links(elsewhere)
    assert living(elsewhere)["Tea"].content == "Tea"


def test_lorekeepers_own_database_takes_what_is_sent(story):
    document = json.loads(export_to(story, "lorekeeper").data)
    assert document.keys() == lorekeeper_file.export().keys()
    assert document["memories"][0].keys() == lorekeeper_file.MEMORIES[0].keys()
    assert document["links"][0].keys() == lorekeeper_file.LINKS[0].keys()
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(lorekeeper_file.SCHEMA)
        for table, name in (("memories", "memories"), ("memory_links", "links")):
            for row in document[name]:
                marks = ", ".join("?" * len(row))
                db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))
        assert db.execute("SELECT count(*) FROM memories").fetchone() == (4,)


def test_ai_memory_keeps_its_fields_and_ours(story, elsewhere, tmp_path):
    carried(story, elsewhere, "ai-memory", tmp_path)
    before, after = living(story)["Pipeline"], living(elsewhere)["Pipeline"]
    for name in ("uid", "namespace", "tags", "priority", "confidence", "tier", "source", "metadata"):
        assert getattr(after, name) == getattr(before, name)
    assert (after.kind, after.summary, texts(living(elsewhere)["Anna"])) == ("decision", "At night", ODD)
    assert ("Pipeline", "related_to", "Anna") in links(elsewhere)


def test_ai_memory_accepts_whatever_is_sent(ctx):
    kept(ctx, "x" * 65_536, name="t" * 600, namespace="a b/c", tags=[f"{n} " * 60 for n in range(60)])
    create(ctx, [Sketch("Empty", "thing")], OnTakenName.KEEP)
    kept(ctx, "bell \x07", name="control", source="mine-claude")
    relate(ctx, [Triple("Empty", "Empty", "is"), Triple("Empty", "control", "is")], may_dangle=False)
    sent = export_to(ctx, "ai-memory")
    document = json.loads(sent.data)
    for entry in document["memories"]:
        validation.entry({name: value for name, value in entry.items() if name != "statements"})
        validation.source(entry["source"])
    assert {link["relation"] for link in document["links"]} <= set(validation.RELATIONS)
    assert sent.lost["ends of long texts"] == 2 and sent.lost["links to itself"] == 1
    assert (sent.lost["types of links"], sent.lost["sources"], sent.lost["namespaces"]) == (1, 1, 1)


def test_agentic_memory_keeps_its_fields(story, elsewhere, tmp_path):
    carried(story, elsewhere, "agentic-memory", tmp_path)
    brain = amem_file.read((tmp_path / "file.agentic-memory").read_bytes())
    assert len(brain.nodes) == 5
    pipeline = next(one for one in living(elsewhere).values() if "02:00" in one.content)
    assert (pipeline.kind, pipeline.confidence, pipeline.session_id is None) == ("decision", 0.5, False)
    [edge] = [edge for (_, _, target), edge in links(elsewhere).items() if target.startswith("Anna")]
    assert (edge.type, edge.weight) == ("related_to", 0.5)


@pytest.mark.parametrize(
    "system, lost",
    [
        ("anthropic", {"namespaces": 1, "summaries": 1, "tags": 1, "reasons of links": 1, "times": 4}),
        ("mcp-memory", {"links to mere names": 1, "weights of links": 1, "metadata": 1}),
        ("ai-memory", {"kinds": 3, "summaries": 1, "types of links": 2, "links to mere names": 1}),
        ("lorekeeper", {"kinds": 3, "tags": 1, "priorities": 1, "types of links": 1, "lifetimes": 1}),
        ("agentic-memory", {"kinds": 2, "namespaces": 1, "types of links": 2, "statements apart": 1}),
    ],
)
def test_what_has_no_place_is_counted(story, system, lost):
    assert export_to(story, system).lost.items() >= lost.items()


def test_nothing_is_lost_of_what_fits(ctx):
    kept(ctx, "A plain note", name="Plain")
    assert export_to(ctx, "ai-memory").lost == {}
    assert export_to(ctx, "lorekeeper").lost == {}
    assert export_to(ctx, "anthropic").lost == {"times": 1}


def test_two_of_one_name_stay_two_in_a_graph(ctx, elsewhere, tmp_path):
    one, other = (kept(ctx, f"In {home}", name="Same", namespace=home) for home in ("a", "b"))
    link(ctx, one.id, other.id, "mirrors")
    assert export_to(ctx, "anthropic").lost["names that several bear"] == 1
    carried(ctx, elsewhere, "anthropic", tmp_path)
    assert {title: one.content for title, one in living(elsewhere).items()} == {
        "Same": "In a",
        "Same (b)": "In b",
    }
    assert links(elsewhere).keys() == {("Same", "mirrors", "Same (b)")}


@pytest.mark.parametrize("system", SYSTEMS)
def test_only_what_the_caller_may_see_is_sent(story, system):
    limited = story.limited_to(Grant(namespaces=("work",), can_write=False))
    data = export_to(limited, system).data
    assert b"Anna" not in data
    assert b"Pipeline" in data if system != "agentic-memory" else len(amem_file.read(data).nodes) == 1


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_empty_store_sends_an_empty_file(ctx, elsewhere, tmp_path, system):
    done = carried(ctx, elsewhere, system, tmp_path)
    assert (done.imported, done.skipped, done.errors, export_to(ctx, system).lost) == (0, 0, [], {})


def test_a_journey_through_every_system_loses_no_text(fresh, ctx, clock, tmp_path):
    create(ctx, [Sketch("Anna", "person", ("likes tea", "lives here"))], OnTakenName.KEEP)
    kept(ctx, "The pipeline runs at 02:00 UTC", name="Pipeline", tags=("ops",))
    link(ctx, "Anna", "Pipeline", "related_to")
    here = ctx
    for number, system in enumerate((*SYSTEMS, *reversed(SYSTEMS))):
        there = Context(store=fresh(f"store{number}"), embedder=None, now=clock, new_uid=Uids(system))
        assert carried(here, there, system, tmp_path).imported == 2
        here = there
    told = "\n".join(one.content for one in living(here).values())
    assert all(word in told for word in ("likes tea", "lives here", "02:00 UTC"))
    assert [type for _, type, _ in links(here)] == ["related_to"]


def test_links_that_ended_are_counted_as_left_out(ctx):
    one, other = kept(ctx, "Anna lives in Kiel"), kept(ctx, "Kiel is a port")
    link(ctx, one.id, other.id, "knows")
    end_link(ctx, one.id, other.id, "knows")
    for system in (*GRAPHS, "ai-memory", "lorekeeper", "agentic-memory"):
        assert export_to(ctx, system).lost["ended links"] == 1
