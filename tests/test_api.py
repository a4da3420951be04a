"""The memory from Python: sessions and ratings."""

from __future__ import annotations

from mnemic.api import Memories


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
