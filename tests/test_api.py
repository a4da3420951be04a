"""The Python API: how it is opened, what it takes and returns, what it refuses, and its async counterpart."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from support import last_number

import mnemic
from mnemic.api import Fate, Format, Memories, Note, Order, State, Tier
from mnemic.async_api import AsyncMemories
from mnemic.core import memories
from mnemic.errors import Duplicate, Invalid, NotFound


def moment(clock) -> datetime:
    """The present of the tests' clock."""
    return datetime.fromtimestamp(clock() / 1e6, UTC)


def test_a_path_may_be_one(tmp_path):
    with mnemic.open(tmp_path / "notes.db", embedder="none") as memory:
        memory.remember("Tea is at four")
    with mnemic.open(str(tmp_path / "notes.db"), embedder="none") as memory:
        assert memory.open(1).title == "Tea is at four"


@pytest.mark.parametrize("path", [":memory:", "./:memory:"])
def test_there_is_no_database_in_memory(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Invalid, match="db: there is no database in memory"):
        mnemic.open(path, embedder="none")
    assert not list(tmp_path.iterdir())


def test_the_user_s_settings_count_unless_others_are_given(tmp_path, monkeypatch):
    monkeypatch.setenv("MNEMIC_EMBEDDER", "none")
    with mnemic.open(tmp_path / "notes.db") as memory:
        assert memory.context.embedder is None
    with mnemic.open(tmp_path / "notes.db", embedder="local") as memory:
        assert memory.context.embedder is not None


@pytest.mark.parametrize(
    "call, field",
    [
        (lambda memory: memory.remember(" "), "text"),
        (lambda memory: memory.remember("x" * 70_000), "text"),
        (lambda memory: memory.remember("x", tags="deploy"), "tags"),
        (lambda memory: memory.remember("x", kind=""), "kind"),
        (lambda memory: memory.remember("x", confidence=4), "confidence"),
        (lambda memory: memory.remember("x", priority=99), "priority"),
        (lambda memory: memory.remember("x", ttl=timedelta(0)), "ttl"),
        (lambda memory: memory.remember("x", occurred_at="someday"), "occurred_at"),
        (lambda memory: memory.remember("x\ud800"), "text"),
        (lambda memory: memory.remember_all([Note(text="fine"), Note(text="")]), "text"),
        (lambda memory: memory.upsert("", "x"), "title"),
        (lambda memory: memory.recall(""), "query"),
        (lambda memory: memory.recall("x", limit=-1), "limit"),
        (lambda memory: memory.recall("x", min_relevance=2), "min_relevance"),
        (lambda memory: memory.recall("x", around=-1), "around"),
        (lambda memory: memory.list(limit=0), "limit"),
        (lambda memory: memory.list(order="random"), "order"),
        (lambda memory: memory.revise(1, confidence=7), "confidence"),
        (lambda memory: memory.revise(1), ""),
        (lambda memory: memory.supersede(1, ""), "text"),
        (lambda memory: memory.link(1, 2, weight=7), "weight"),
        (lambda memory: memory.link(1, 2, type=""), "type"),
        (lambda memory: memory.explore(1, depth=0), "depth"),
        (lambda memory: memory.rate(1, useful=True, confidence=50), "confidence"),
        (lambda memory: memory.verify(""), "claim"),
        (lambda memory: memory.history(limit=-1), "limit"),
        (lambda memory: memory.open("x" * 600), "ids"),
        (lambda memory: memory.forget(1, 0), "ids"),
        (lambda memory: memory.forget(1, reason=5), "reason"),
        (lambda memory: memory.restore(1, ""), "ids"),
        (lambda memory: memory.end_link(1, 2, type="x" * 200), "type"),
        (lambda memory: memory.path(1, 2**63), "to"),
        (lambda memory: memory.start_session("x" * 500), "topic"),
        (lambda memory: memory.end_session(" "), "summary"),
        (lambda memory: memory.end_session(number=0), "id"),
        (lambda memory: memory.resume_session(limit=0), "limit"),
        (lambda memory: memory.log_turn("y" * 100_000), "user"),
        (lambda memory: memory.log_turn(agent="y" * 100_000), "agent"),
        (lambda memory: memory.log_turn("Well?", topic="x" * 500), "topic"),
        (lambda memory: memory.undo(2**63), "change"),
        (lambda memory: memory.undo_since(None), "when"),
        (lambda memory: memory.import_file("x.json", system="emacs"), "system"),
        (lambda memory: memory.export_file("x.json", format=Format.JSON, journal=True), "journal"),
    ],
)
def test_the_api_refuses_what_the_tools_refuse(ctx, call, field):
    memory = Memories(ctx)
    memory.remember("Tea is at four")
    memory.remember("Scones are baked at three")
    before = last_number(ctx.store)
    with pytest.raises(Invalid) as refusal:
        call(memory)
    assert (refusal.value.field or "").startswith(field)
    assert last_number(ctx.store) == before


@pytest.mark.parametrize(
    "call, field",
    [
        (lambda memory: memories.find(memory.context, [1]), "reference"),
        (lambda memory: memories.find(memory.context, None), "reference"),
        (lambda memory: memories.find(memory.context, 1.5), "reference"),
        (lambda memory: memory.recall("x", limit="5"), "limit"),
        (lambda memory: memory.recall("x", since=5), "since"),
        (lambda memory: memory.remember("x", priority=5.0), "priority"),
        (lambda memory: memory.remember("x", metadata=[1]), "metadata"),
        (lambda memory: memory.remember("x", ttl=7), "ttl"),
        (lambda memory: memory.rate(1, useful="yes"), "useful"),
        (lambda memory: memory.as_of(None), "when"),
        (lambda memory: mnemic.open(5), "path"),
    ],
)
def test_a_wrong_type_is_invalid(ctx, call, field):
    memory = Memories(ctx)
    memory.remember("Tea is at four")
    with pytest.raises(Invalid, match=field):
        call(memory)


def test_a_number_beyond_all_others_is_not_found(ctx):
    with pytest.raises(NotFound):
        memories.find(ctx, 10**30)


def test_times_are_datetimes_in_and_out(ctx, clock):
    memory = Memories(ctx)
    before = moment(clock).astimezone(timezone(timedelta(hours=5)))
    clock.advance(hours=1)
    kept = memory.remember(
        "Tea is at four", ttl=timedelta(days=2), occurred_at=datetime(2020, 5, 17, tzinfo=UTC)
    )
    assert kept.created_at == before + timedelta(hours=1) and kept.created_at.tzinfo is UTC
    assert kept.expires_at == kept.created_at + timedelta(days=2)
    assert kept.occurred_at == datetime(2020, 5, 17, tzinfo=UTC)
    assert memory.history(1)[0].at == kept.created_at
    assert not memory.as_of(before).recall("tea")
    assert memory.as_of(before + timedelta(hours=2)).recall("tea")
    assert memory.undo_since(before) and not memory.recall("tea")


def test_a_naive_datetime_is_in_the_zone_of_the_settings(tmp_path, monkeypatch):
    monkeypatch.setenv("MNEMIC_TIMEZONE", "Asia/Tokyo")
    with mnemic.open(tmp_path / "notes.db", embedder="none") as memory:
        kept = memory.remember("Tea is at four", occurred_at=datetime(2026, 1, 31, 9))
        assert kept.occurred_at == datetime(2026, 1, 31, 0, tzinfo=UTC)
        assert [one.id for one in memory.list(since="2026-01-31", until="2026-01-31T09:30")] == [1]
        assert memory.list(since="2026-01-31T09:30") == []


def test_a_recollection_is_a_sequence_of_hits(ctx):
    memory = Memories(ctx)
    memory.remember("Tea is at four", tags=["<b>tea</b>"])
    memory.remember("Tea is served with scones")
    found = memory.recall("when is tea served", min_relevance=0)
    assert found and len(found) == len(list(found)) == len(found.hits) == 2
    assert found[0] is found.hits[0] and found[-1] in found and found[:1] == found.hits[:1]
    assert found[0].text == found[0].memory.text and found[0].id == found[0].memory.id
    assert found[0].relevance is None or 0 <= found[0].relevance <= 1
    assert found[0].text in str(found)
    html = found._repr_html_()
    assert "<table>" in html and "&lt;b&gt;tea" in html and "<b>tea" not in html
    assert "<table>" in found[0].memory._repr_html_()


def test_an_empty_recollection_is_false_and_says_so(ctx):
    memory = Memories(ctx)
    found = memory.recall("zebras")
    assert not found and len(found) == 0 and str(found) == "Nothing relevant is known."
    assert "Nothing relevant is known." in found._repr_html_()


def test_explain_says_why_a_memory_was_not_found(ctx):
    memory = Memories(ctx)
    memory.remember("Tea is at four")
    memory.remember("The gutter was repaired")
    found, missed = (memory.explain("tea at four", id) for id in (1, 2))
    assert found.is_hit and found.reason == "found, place 1" and found.signals and found.terms
    assert not missed.is_hit and missed.memory.text == "The gutter was repaired" and missed.reason
    with pytest.raises(NotFound):
        memory.explain("tea", 99)


def test_recall_explains_and_has_a_floor(ctx):
    memory = Memories(ctx)
    memory.remember("Tea is at four")
    memory.remember("Scones are baked at three")
    assert memory.recall("tea at four")[0].terms == {}
    assert memory.recall("tea at four", explain=True)[0].terms
    assert len(memory.recall("tea at four", min_relevance=0)) >= len(memory.recall("tea at four"))
    assert not memory.recall("three", min_relevance=1.0) or memory.recall("three")[0].relevance == 1.0


def test_metadata_is_a_filter(ctx):
    memory = Memories(ctx)
    memory.remember("Tea is at four", metadata={"room": "hall", "seats": 4, "open": True})
    memory.remember("Tea is at five", metadata={"room": "hall", "seats": 5, "open": None})
    memory.remember("Tea is at six")
    assert [one.id for one in memory.list(metadata={"room": "hall"}, order=Order.NEWEST)] == [2, 1]
    assert [one.id for one in memory.list(metadata={"room": "hall", "seats": 4})] == [1]
    assert [one.id for one in memory.list(metadata={"open": True})] == [1]
    assert [one.id for one in memory.list(metadata={"open": 1})] == []
    assert [hit.id for hit in memory.recall("tea", metadata={"seats": 5})] == [2]
    assert not memory.recall("tea", metadata={"room": "kitchen"})
    assert memory.recall("tea", metadata={"room": "hall"}, limit=1)


def test_memories_are_listed(ctx, clock):
    memory = Memories(ctx)
    for number, tag in enumerate(["tea", "tea", "cake"], 1):
        memory.remember(f"fact {number}", tags=[tag], namespace="kitchen" if tag == "tea" else None)
        clock.advance(hours=1)
    memory.forget(2, fate=Fate.ARCHIVED)
    assert [one.id for one in memory.list()] == [3, 1]
    assert [one.id for one in memory.list(tags=["tea"])] == [1]
    assert [one.id for one in memory.list(namespace="kitchen")] == [1]
    assert [one.id for one in memory.list(state=State.ARCHIVED)] == [2]
    assert [one.id for one in memory.list(limit=1, offset=1)] == [1]
    assert [one.id for one in memory.list(since=moment(clock) - timedelta(hours=1))] == [3]
    assert memory.namespaces() == {"global": 1, "kitchen": 1}


def test_a_memory_is_got_by_namespace_and_name(ctx):
    memory = Memories(ctx)
    memory.remember("Tea is at four", name="Tea", namespace="hall")
    memory.remember("Tea is at five", name="Tea", namespace="kitchen")
    found = memory.get("kitchen", "Tea")
    assert found is not None and found.text == "Tea is at five"
    assert memory.get("garden", "Tea") is None and memory.get("hall", "Cake") is None


def test_upsert_updates_by_name(ctx):
    memory = Memories(ctx)
    first = memory.upsert("Tea", "Tea is at four", tags=["tea"], namespace="hall", priority=7)
    second = memory.upsert("Tea", "Tea is at five", namespace="hall", metadata={"by": "Anna"})
    assert (second.id, second.text, second.tags, second.priority) == (first.id, "Tea is at five", (), 7)
    assert memory.upsert("Tea", "Tea is at six", namespace="kitchen").id != first.id
    with pytest.raises(Duplicate):
        memory.remember("Something else", name="Tea", namespace="hall")


def test_a_memory_is_revised_from_python(ctx, clock):
    memory = Memories(ctx)
    memory.remember("Tea is at four", name="Tea", tier=Tier.MID)
    assert memory.revise("Tea", tags=["tea", "time"], priority=7).tags == ("tea", "time")
    end = moment(clock) + timedelta(days=9)
    assert memory.revise("Tea", expires_at=end).expires_at == end
    assert memory.revise("Tea", expires_at="never").expires_at is None
    assert memory.revise("Tea", ttl="1d").expires_at == moment(clock) + timedelta(days=1)


def test_many_notes_are_stored_at_once_and_refused_one_by_one(ctx):
    memory = Memories(ctx)
    outcome = memory.remember_all([Note(text="one", tags=["x"]), Note(text="two"), Note(text="one")])
    assert [one.text for one in outcome.stored] == ["one", "two"]
    assert [(one.index, one.known.id) for one in outcome.refused] == [(2, 1)]


def test_sessions_and_ratings_from_python(ctx):
    memory = Memories(ctx)
    started = memory.start_session("release")
    kept = memory.remember("Releases are on Mondays", kind="decision")
    turn = memory.log_turn("Ship it?", "On Monday.")
    assert kept.session == turn.session == started.session.id
    assert started.session.started_at.tzinfo is UTC
    assert memory.rate(kept.id, useful=True, confidence=8).memories[0].quality == 5.4
    episode = memory.end_session("All agreed").episode
    assert episode is not None and episode.text == "All agreed"
    assert [one.id for one in memory.resume_session().decisions] == [kept.id]
    memory.resume_session(started.session.id)
    assert memory.remember("later").session == started.session.id
    assert memory.remember("last", session=started.session.id).session == started.session.id


def test_links_and_paths_from_python(ctx):
    memory = Memories(ctx)
    for text in ("one", "two", "three"):
        memory.remember(text)
    link = memory.link(1, 2, "depends_on", reason="because")
    assert (link.source, link.target, link.type, link.ended_at) == (1, 2, "depends_on", None)
    assert [(one.id, distance) for one, distance in memory.explore(1).memories] == [(1, 0), (2, 1)]
    assert memory.path(1, 3).memories == ()
    assert memory.end_link(1, 2, "depends_on").ended_at is not None


@pytest.mark.parametrize("form", list(Format))
def test_memories_are_exported_and_imported(tmp_path, form):
    with mnemic.open(tmp_path / "one.db", embedder="none") as memory:
        memory.remember("Tea is at four", name="Tea")
        file = memory.export_file(tmp_path / "tea.json", format=form)
    with mnemic.open(tmp_path / "two.db", embedder="none") as memory:
        assert memory.import_file(file).imported == 1
        assert memory.import_file(file).skipped == 1
        assert [one.text for one in memory.list()] == ["Tea is at four"]
        with pytest.raises(Invalid, match=r"path: .* is a database"):
            memory.import_file(tmp_path / "one.db")
        (tmp_path / "notes.md").write_text("# Cake\n\nWalnut cake needs eggs.\n")
        assert memory.import_file(tmp_path / "notes.md", system="markdown").imported == 1


def test_a_conflict_of_an_import_tells_both_versions(tmp_path):
    note = tmp_path / "tea.md"
    with mnemic.open(tmp_path / "one.db", embedder="none") as memory:
        for text, moment in (("At four.", 1_000_000), ("At five.", 4_000_000_000)):
            note.write_text(f"# Tea\n\n{text}\n")
            os.utime(note, (moment, moment))
            done = memory.import_file(note, system="markdown")
            memory.revise(1, text="At six.")
        [conflict] = done.conflicts
        assert (conflict.title, conflict.field) == ("Tea", "text")
        assert (conflict.here, conflict.there, conflict.kept) == (["At six."], ["At five."], ["At five."])


def test_every_method_has_an_async_counterpart_with_the_same_parameters():
    methods = {
        name: method
        for name, method in inspect.getmembers(Memories, inspect.isfunction)
        if not name.startswith("_")
    }
    assert len(methods) > 25
    for name, method in methods.items():
        twin = getattr(AsyncMemories, name)
        assert inspect.signature(twin) == inspect.signature(method) or name in ("as_of", "close"), name
        assert inspect.iscoroutinefunction(inspect.unwrap(twin)) or inspect.iscoroutinefunction(twin)


def test_the_async_memory_remembers_and_recalls(tmp_path):
    async def work() -> None:
        async with mnemic.open_async(tmp_path / "notes.db", embedder="none") as memory:
            await asyncio.gather(*(memory.remember(f"fact {number}") for number in range(20)))
            assert len(await memory.list()) == 20
            found = await memory.recall("fact 7", limit=3)
            assert found and found[0].text == "fact 7"
            with pytest.raises(Invalid):
                await memory.recall("")
            past = await memory.as_of("1d")
            assert not await past.recall("fact 7")
        memory = await mnemic.open_async(tmp_path / "notes.db", embedder="none")
        assert (await memory.stats()).total == 20
        await memory.close()

    asyncio.run(work())


def test_the_event_loop_is_not_blocked_by_the_store(tmp_path):
    async def work() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        async with mnemic.open_async(tmp_path / "notes.db", embedder="none") as memory:
            ticking = asyncio.create_task(tick())
            await memory.remember_all([Note(text=f"fact {number}") for number in range(500)])
            ticking.cancel()
        return ticks

    assert asyncio.run(work()) > 10


def test_types_are_checked_for_users_of_the_api(tmp_path):
    """A user's program, right and wrong, as mypy sees it."""
    file = tmp_path / "program.py"
    file.write_text(
        "import mnemic\n"
        "from mnemic.api import Memory, Recollection\n"
        "with mnemic.open('x.db') as memory:\n"
        "    found: Recollection = memory.recall('tea', limit=3)\n"
        "    texts: list[str] = [hit.text for hit in found]\n"
        "async def work() -> None:\n"
        "    async with mnemic.open_async('x.db') as memory:\n"
        "        kept: Memory = await memory.remember('tea', tags=['x'])\n"
        "        wrong: int = await memory.remember('tea')\n"
        "        await memory.recall('tea', limt=3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(file)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[1] for line in errors] == ["9", "10"], done.stdout
