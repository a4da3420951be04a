"""Numbered migrations: a backup first, then all of them or none."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import apsw
import pytest

from mnemic.errors import StoreUnusable
from mnemic.model.search import Filter
from mnemic.retrieval.text import query_terms
from mnemic.storage.sqlite.connection import connect
from mnemic.storage.sqlite.migrating import migrate, version_of
from mnemic.storage.sqlite.schema import ENGLISH_WORDS, MIGRATIONS
from mnemic.storage.sqlite.store import SqliteStore
from support import a_draft, put

NOW = len(MIGRATIONS)
MOOD = "ALTER TABLE memory ADD COLUMN mood TEXT; UPDATE memory SET mood = 'calm'; CREATE TABLE extra (a);"
BROKEN = "CREATE TABLE half (a); INSERT INTO nowhere VALUES (1);"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "old.db"
    store = SqliteStore(path)
    put(store, a_draft("one"), a_draft("two"))
    store.close()
    return path


@pytest.fixture
def connection(path):
    connection = connect(path, durable=True)
    yield connection
    connection.close()


def tables(connection):
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}


def test_a_file_is_brought_up_to_date_after_a_backup(path, connection):
    migrate(connection, path, (*MIGRATIONS, MOOD, "DROP TABLE extra"))
    assert version_of(connection) == NOW + 2
    assert connection.execute("SELECT title, mood FROM memory").fetchall() == [
        ("one", "calm"),
        ("two", "calm"),
    ]
    assert "extra" not in tables(connection)
    backup = path.with_name(f"old.db.v{NOW}.bak")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    store = SqliteStore(backup)
    assert store.read().count() == 2 and store.check() == []
    store.close()


@pytest.mark.parametrize("later", [(BROKEN,), (MOOD, BROKEN)])
def test_a_migration_that_fails_leaves_the_file_as_it_was(path, connection, later):
    before = tables(connection)
    with pytest.raises(apsw.Error):
        migrate(connection, path, (*MIGRATIONS, *later))
    assert version_of(connection) == NOW and tables(connection) == before
    store = SqliteStore(path)
    assert store.read().count() == 2 and store.check() == []
    put(store, a_draft("three"))
    store.close()
    assert path.with_name(f"old.db.v{NOW}.bak").exists()


def test_several_who_come_at_once_leave_one_backup_of_the_file_as_it_was(path):
    put(store := SqliteStore(path), *(a_draft(f"memory {n} " + "lorem ipsum " * 400) for n in range(200)))
    store.close()

    def come(_):
        with closing(connect(path, durable=True)) as connection:
            migrate(connection, path, (*MIGRATIONS, MOOD))
            return version_of(connection)

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(come, range(4))) == {NOW + 1}
    with closing(connect(path.with_name(f"old.db.v{NOW}.bak"), durable=True)) as backup:
        assert version_of(backup) == NOW and backup.pragma("integrity_check") == "ok"
    assert not list(path.parent.glob("*.part"))


def test_a_file_of_the_present_needs_no_backup(path, connection):
    migrate(connection, path)
    assert [file.name for file in path.parent.glob("*.bak")] == []


def test_a_file_of_the_future_is_refused(path, connection):
    migrate(connection, path, (*MIGRATIONS, MOOD))
    connection.close()
    before = path.read_bytes()
    with pytest.raises(
        StoreUnusable, match=f"newer Mnemic .format {NOW + 1}, this one reads up to {NOW}.*Upgrade"
    ):
        SqliteStore(path)
    assert path.read_bytes() == before


ENGLISH_ROW = "INSERT INTO words (rowid, title, body, namespace) VALUES (?, ?, ?, ?)"


def test_the_words_of_an_older_file_are_indexed_anew(tmp_path):
    """Format 2 knew only English words: what it holds in other languages is found by any form after the upgrade."""
    path = tmp_path / "old.db"
    store = SqliteStore(path)
    texts = ["Die Straßen sind gesperrt 🎉", "旅館の露天風呂", "two old herons"]
    made = put(store, *(a_draft(text) for text in texts))
    store.close()
    with closing(apsw.Connection(str(path))) as old:
        old.execute("DROP TABLE words; DELETE FROM mark")
        old.execute(ENGLISH_WORDS)
        for memory in made:
            old.execute(ENGLISH_ROW, (memory.id, "", memory.content, "\ue0001"))
        old.pragma("user_version", 2)
    store = SqliteStore(path)
    for number, question in enumerate(["STRASSE", "露天", "heron", "🎉"]):
        terms = query_terms(store.read(), question, None).all
        [(found, _)] = store.read().words(terms, Filter(), every=False, limit=5)
        assert found == made[number % 3].id, question
    assert store.check() == []
    store.close()
    assert path.with_name("old.db.v2.bak").exists()
