"""A database of ai-memory is read whole, whatever state it is in, and never touched."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

import pytest
from ai_memory_file import AXUM, GONE, OVER, RULES, closed_ai_memory, write_ai_memory
from support import faults

from mnemic.app import open_store
from mnemic.dialects.ai_memory.database import read
from mnemic.errors import Invalid, StoreUnusable
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ANY_EDGE
from mnemic.settings import Settings
from mnemic.storage.queries import each_memory
from mnemic.transfer.document import import_json

MOMENT = 1_775_392_496_123_456


def fingerprint(folder):
    """Every file of *folder* with what it holds."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.fixture
def source(tmp_path):
    """A folder for databases of ai-memory."""
    (tmp_path / "theirs").mkdir()
    return tmp_path / "theirs"


def state(ctx):
    return {memory.uid: memory for memory in each_memory(ctx.store.read())}


def test_everything_comes_over(ctx, source):
    document = read(closed_ai_memory(source / "ai-memory.db"))
    done = import_json(ctx, document)
    assert (done.imported, done.errors) == (4, [])
    held = state(ctx)
    axum, rules, over, gone = (held[uid] for uid in (AXUM, RULES, OVER, GONE))
    assert (axum.content, axum.tags, axum.priority) == ("Content of Project uses Axum", ("rust", "web"), 8)
    assert (axum.confidence, axum.source, axum.access_count) == (0.9, "claude", 3)
    assert (axum.metadata, axum.created_at) == ({"agent": {"id": "x"}}, MOMENT)
    assert (rules.tier, rules.state, rules.accessed_at) == (Tier.MID, State.LIVING, MOMENT)
    assert (over.state, over.content) == (State.ARCHIVED, "Content of Over")
    assert (gone.state, gone.state_at, gone.state_reason) == (State.ARCHIVED, MOMENT, "forget")
    [edge] = ctx.store.read().edges(ANY_EDGE)
    assert (edge.source_id, edge.target_id, edge.type) == (axum.id, rules.id, "derived_from")
    assert edge.created_at == MOMENT
    assert ctx.store.read().standards() == [("app", rules.id, "org")]
    again = import_json(ctx, document)
    assert (again.imported, again.skipped, again.errors) == (0, 4, []) and state(ctx) == held
    assert faults(ctx.store) == []


def test_what_stands_in_both_tables_is_in_use(ctx, source):
    db = write_ai_memory(source / "ai-memory.db")
    with db:
        db.execute("UPDATE archived_memories SET id = ?", (AXUM,))
    db.close()
    done = import_json(ctx, read(source / "ai-memory.db"))
    assert (done.imported, done.errors) == (3, []) and state(ctx)[AXUM].state is State.LIVING


def test_an_older_version_has_less(ctx, source):
    document = read(closed_ai_memory(source / "ai-memory.db", version=3))
    assert document["standards"] == []
    assert import_json(ctx, document).imported == 3 and state(ctx)[AXUM].metadata == {}


def test_what_is_still_in_the_log_is_read_and_nothing_is_touched(ctx, source):
    db = write_ai_memory(source / "ai-memory.db")
    assert (source / "ai-memory.db-wal").stat().st_size > 0
    before = fingerprint(source)
    assert len(read(source / "ai-memory.db")["memories"]) == 4
    assert fingerprint(source) == before
    db.close()
    before = fingerprint(source)
    assert len(read(source / "ai-memory.db")["memories"]) == 4
    assert fingerprint(source) == before and set(before) == {"ai-memory.db"}


def test_a_row_that_is_damaged_is_reported_and_the_others_come(ctx, source):
    closed_ai_memory(source / "ai-memory.db")
    with closing(sqlite3.connect(source / "ai-memory.db")) as db, db:
        db.execute("UPDATE memories SET tags = '[broken' WHERE id = ?", (AXUM,))
        db.execute("UPDATE memories SET content = x'00ff' WHERE id = ?", (OVER,))
        db.execute("UPDATE namespace_meta SET standard_id = 'nowhere'")
    done = import_json(ctx, read(source / "ai-memory.db"))
    assert done.imported == 2
    assert [error.partition(":")[0] for error in done.errors] == [
        "Project uses Axum",
        "Over",
        "links.0",
        "standards.0",
    ]


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + b"\1" * 500, b"rubbish"])
def test_what_is_no_database_is_refused(source, content):
    (source / "file.db").write_bytes(content)
    with pytest.raises(Invalid, match=r"file\.db is .*no database of ai-memory"):
        read(source / "file.db")


def test_a_database_of_something_else_is_refused(source):
    open_store(Settings(db=str(source / "ours.db"))).close()
    with pytest.raises(Invalid, match="no database of ai-memory"):
        read(source / "ours.db")


def test_it_is_not_opened_as_ours(source):
    closed_ai_memory(source / "ai-memory.db")
    before = fingerprint(source)
    with pytest.raises(StoreUnusable, match=r"mnemic import --from ai-memory ai-memory\.db"):
        open_store(Settings(db=str(source / "ai-memory.db")))
    assert fingerprint(source) == before
