"""The memory from Python: how it is opened, what it refuses, sessions and ratings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

import mnemic
from mnemic.api import Memories, Note, Revision
from mnemic.core import memories
from mnemic.errors import Invalid, NotFound


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
        (lambda memory: memory.remember("x\ud800"), "text"),
        (lambda memory: memory.remember_all([Note(text="fine"), Note(text="")]), "text"),
        (lambda memory: memory.recall(""), "query"),
        (lambda memory: memory.recall("x", limit=-1), "limit"),
        (lambda memory: memory.revise(1, Revision(confidence=7)), "confidence"),
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
        (lambda memory: memory.undo_since(None), ""),
    ],
)
def test_what_the_tools_would_refuse_is_refused_by_name_and_changes_nothing(ctx, call, field):
    memory = Memories(ctx)
    memory.remember("Tea is at four")
    memory.remember("Scones are baked at three")
    before = ctx.store.sequence()
    with pytest.raises(Invalid) as refusal:
        call(memory)
    assert (refusal.value.field or "").startswith(field)
    assert ctx.store.sequence() == before


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
def test_what_is_of_another_type_is_invalid(ctx, call, field):
    memory = Memories(ctx)
    memory.remember("Tea is at four")
    with pytest.raises(Invalid, match=field):
        call(memory)


def test_a_number_beyond_all_others_is_not_found(ctx):
    with pytest.raises(NotFound):
        memories.find(ctx, 10**30)


def test_a_moment_may_be_a_datetime(ctx, clock):
    memory = Memories(ctx)
    before = datetime.fromtimestamp(clock() / 1e6, UTC).astimezone(timezone(timedelta(hours=5)))
    clock.advance(hours=1)
    memory.remember("Tea is at four")
    assert not memory.as_of(before).recall("tea").hits
    assert memory.as_of(before + timedelta(hours=2)).recall("tea").hits
    assert memory.recall("tea", since=before).hits and not memory.recall("tea", until=before).hits
    assert memory.undo_since(before) and not memory.recall("tea").hits


def test_a_memory_is_revised_from_python(ctx):
    memory = Memories(ctx)
    memory.remember("Tea is at four", title="Tea")
    assert memory.revise("Tea", Revision(tags=("tea", "time"), priority=7)).tags == ("tea", "time")
    assert memory.revise("Tea", Revision(expires_at=memory.open("Tea").created_at + 10**12)).expires_at


def test_sessions_and_ratings_from_python(ctx):
    memory = Memories(ctx)
    started = memory.start_session("release")
    kept = memory.remember("Releases are on Mondays", kind="decision")
    turn = memory.log_turn("Ship it?", "On Monday.")
    assert kept.session_id == turn.session_id == started.session.id
    assert memory.rate(kept.id, useful=True, confidence=8).memories[0].quality == 5.4
    assert memory.end_session("All agreed").episode.content == "All agreed"
    assert [one.id for one in memory.resume_session().decisions] == [kept.id]
    memory.resume_session(started.session.id)
    assert memory.remember("later").session_id == started.session.id
    assert memory.remember("last", session=started.session.id).session_id == started.session.id
