"""Numbered migrations: a backup first, then all of them or none."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import apsw
import pytest
from old_store import ADD_CHANGE, OldMemory, write_old_store
from story import Story
from support import START, a_draft, put, store_after

from mnemic.app import engines, open_sqlite
from mnemic.core.context import Context
from mnemic.dialects.agentic_memory.federation import Member, Role, Workspace, create, find
from mnemic.errors import StoreUnusable
from mnemic.model.filter import EdgeFilter, Filter
from mnemic.search.query import Vocabulary, query_terms
from mnemic.storage import queries
from mnemic.storage.change_fields import USE
from mnemic.storage.queries import count, memory_numbered
from mnemic.storage.sqlite import edges, memories, sessions
from mnemic.storage.sqlite.connection import connect
from mnemic.storage.sqlite.migrations import migrate, version_of
from mnemic.storage.sqlite.schema import MIGRATIONS

NOW = len(MIGRATIONS)
MOOD = "ALTER TABLE memory ADD COLUMN mood TEXT; UPDATE memory SET mood = 'calm'; CREATE TABLE extra (a);"
BROKEN = "CREATE TABLE half (a); INSERT INTO nowhere VALUES (1);"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "old.db"
    store = open_sqlite(path)
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


def columns(connection, table):
    return {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")}


def columns_of_format(version, table):
    with closing(apsw.Connection(":memory:")) as old:
        for script in MIGRATIONS[:version]:
            old.execute(script).fetchall()
        return columns(old, table)


def test_a_file_is_updated_after_a_backup(path, connection):
    migrate(connection, path, (*MIGRATIONS, MOOD, "DROP TABLE extra"))
    assert version_of(connection) == NOW + 2
    assert connection.execute("SELECT title, mood FROM memory").fetchall() == [
        ("one", "calm"),
        ("two", "calm"),
    ]
    assert "extra" not in tables(connection)
    backup = path.with_name(f"old.db.v{NOW}.bak")
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    store = open_sqlite(backup)
    assert count(store.read()) == 2 and store.check() == []
    store.close()


@pytest.mark.parametrize("later", [(BROKEN,), (MOOD, BROKEN)])
def test_a_migration_that_fails_leaves_the_file_as_it_was(path, connection, later):
    before = tables(connection)
    with pytest.raises(apsw.Error):
        migrate(connection, path, (*MIGRATIONS, *later))
    assert version_of(connection) == NOW and tables(connection) == before
    store = open_sqlite(path)
    assert count(store.read()) == 2 and store.check() == []
    put(store, a_draft("three"))
    store.close()
    assert path.with_name(f"old.db.v{NOW}.bak").exists()


def test_several_who_come_at_once_leave_one_backup_of_the_file_as_it_was(path):
    put(store := open_sqlite(path), *(a_draft(f"memory {n} " + "lorem ipsum " * 400) for n in range(200)))
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
        open_sqlite(path)
    assert path.read_bytes() == before


WITHOUT_HISTORY_AND_NAMES = """
DROP TABLE memory_past; DROP TABLE edge_past; DROP TABLE session_past; DROP TABLE words_past;
DROP INDEX statement_never_embedded; DROP TABLE recall_log; DROP INDEX journal_creation;
DROP INDEX memory_title; DROP INDEX memory_name; DROP INDEX memory_placeholder;
CREATE INDEX memory_title ON memory (namespace, title); CREATE INDEX memory_named ON memory (state);
ALTER TABLE memory DROP CONSTRAINT memory_priority; ALTER TABLE memory DROP CONSTRAINT memory_confidence;
ALTER TABLE memory DROP CONSTRAINT memory_quality; ALTER TABLE memory DROP CONSTRAINT memory_rating;
ALTER TABLE edge DROP CONSTRAINT edge_weight; ALTER TABLE edge DROP CONSTRAINT edge_quality;
ALTER TABLE edge DROP CONSTRAINT edge_rating;
ALTER TABLE edge DROP COLUMN since; ALTER TABLE session DROP COLUMN since;
ALTER TABLE token DROP COLUMN expires_at; ALTER TABLE token DROP COLUMN used_at;
ALTER TABLE token DROP COLUMN max_memories; ALTER TABLE token DROP COLUMN max_bytes;
ALTER TABLE token DROP COLUMN max_requests;
CREATE TABLE workspace (id, name); CREATE TABLE member (id, workspace_id, path, role, label);
"""
HISTORY = (
    f"SELECT since, until, worded, {', '.join(name for name in memories.COLUMNS if name not in {*USE, 'name'})} "
    "FROM memory_past ORDER BY id, until",
    f"SELECT since, until, {', '.join(edges.COLUMNS)} FROM edge_past ORDER BY id, until",
    f"SELECT since, until, {', '.join(sessions.COLUMNS)} FROM session_past ORDER BY id, until",
    "SELECT id, since FROM memory ORDER BY id",
    "SELECT id, since FROM edge ORDER BY id",
    "SELECT id, since FROM session ORDER BY id",
    "SELECT p.id, p.until FROM words_past w JOIN memory_past p ON p.version = w.rowid "
    "WHERE words_past MATCH 'heron' ORDER BY p.id, p.until",
)


def test_the_history_of_an_older_file_is_filled_from_its_journal(tmp_path):
    story = Story(str(tmp_path), seed=7)
    for _ in range(80):
        story.go_on()
    story.store.close()
    path = tmp_path / "story.db"
    with closing(apsw.Connection(str(path))) as old:
        kept = [old.execute(sql).fetchall() for sql in HISTORY]
        old.execute(WITHOUT_HISTORY_AND_NAMES)
        for later in columns(old, "memory") - columns_of_format(5, "memory"):
            old.execute(f"ALTER TABLE memory DROP COLUMN {later}")
        old.pragma("user_version", 5)
    assert all(kept), "there is something to compare"
    open_sqlite(path).close()
    with closing(apsw.Connection(str(path))) as upgraded:
        assert [upgraded.execute(sql).fetchall() for sql in HISTORY] == kept
    assert path.with_name("story.db.v5.bak").exists()


ENGLISH_ROW = "INSERT INTO words (rowid, title, body, namespace) VALUES (?, ?, ?, ?)"


def test_the_words_of_an_older_file_are_indexed_anew(tmp_path):
    """Format 2 knew only English words: what it holds in other languages is found by any form after the upgrade."""
    path = tmp_path / "old.db"
    texts = ["Die Straßen sind gesperrt 🎉", "旅館の露天風呂", "two old herons"]
    write_old_store(path, 2, *(OldMemory(text, (text,)) for text in texts))
    with closing(apsw.Connection(str(path))) as old:
        for number, text in enumerate(texts, 1):
            old.execute(ENGLISH_ROW, (number, "", text, "\ue0001"))
    store = open_sqlite(path)
    for number, question in enumerate(["STRASSE", "露天", "heron", "🎉"]):
        terms = query_terms(Vocabulary(store.read(), None), question).all
        [(found, _)] = queries.best_words(store.read(), terms, Filter(), every=False, limit=5)
        assert found == number % 3 + 1, question
    assert store.check() == []
    store.close()
    assert path.with_name("old.db.v2.bak").exists()


def test_a_file_without_claims_gets_a_table_for_them(tmp_path):
    path = tmp_path / "old.db"
    write_old_store(path, 3, OldMemory("one", ("one",)), OldMemory("two", ("two",)))
    store = open_sqlite(path)
    with store.write(operation="embed", actor="x", at=START) as tx:
        assert len(tx.claim([one.statement_id for one in tx.pending(limit=9)], "me", START)) == 2
    store.close()
    assert path.with_name("old.db.v3.bak").exists()


# -- names, since format 7

DERIVED, LONG = "We deploy on Fridays.", "We deploy on Fridays. Never on Mondays."
OLD_TITLES = [
    (OldMemory("Anna", ("likes tea",), "create_entities", kind="person"), "Anna", "Anna"),
    (OldMemory("Tea", ("Tea",), "create_entities"), "Tea", "Tea"),
    (OldMemory("Release day", ("on Mondays",), "store"), "Release day", "Release day"),
    (OldMemory("Deploys", ("on Fridays",), "remember"), "Deploys", "Deploys"),
    (OldMemory(DERIVED, (LONG,), "remember"), None, DERIVED),
    (OldMemory(f"{DERIVED} (2)", (LONG + " Or Tuesdays.",), "record"), None, DERIVED),
    (OldMemory("Decision", ("one",), "import"), "Decision", "Decision"),
    (OldMemory("Decision (19)", ("two",), "import"), None, "Decision"),
    (OldMemory("Plan (2)", ("three",), "import"), "Plan (2)", "Plan (2)"),
    (OldMemory("Chat of May", ("[user]: hi",), "mine"), None, "Chat of May"),
    (OldMemory("A week", ("of cedar",), "end", "episode", {"episode_of": 1}), None, "A week"),
    (OldMemory("Bob", (), "create_relations", state="named"), "Bob", "Bob"),
    (OldMemory("Anna", ("an older one",), "create_entities", state="forgotten"), "Anna", "Anna"),
    (OldMemory("Zoe\u0308", ("is here",), "create_entities"), "Zo\u00eb", "Zoe\u0308"),
    (OldMemory("Zo\u00eb", ("is there",), "create_entities"), None, "Zo\u00eb"),
]


@pytest.mark.parametrize("version", [1, 5, 6])
def test_titles_that_somebody_chose_become_names(tmp_path, version):
    path = tmp_path / "old.db"
    write_old_store(path, version, *(old for old, _, _ in OLD_TITLES))
    store = open_sqlite(path)
    found = [memory_numbered(store.read(), number) for number in range(1, len(OLD_TITLES) + 1)]
    assert [(one.name, one.title) for one in found] == [(name, title) for _, name, title in OLD_TITLES]
    assert [one.texts for one in found] == [list(old.texts) for old, _, _ in OLD_TITLES]
    assert store.read().ids_named("Zo\u00eb", None) == [14]
    assert version > 1 or store.check() == [], "the words of the first are indexed anew"
    store.close()
    with closing(connect(path.with_name(f"old.db.v{version}.bak"), durable=True)) as backup:
        assert version_of(backup) == version
        assert backup.execute("SELECT count(*) FROM memory").fetchall() == [(len(OLD_TITLES),)]


def test_the_journal_tells_the_names_of_before(tmp_path):
    """What was renamed before the upgrade gets its old name back with its old title."""
    path = tmp_path / "old.db"
    write_old_store(path, 5, OldMemory("Anne", ("likes tea",), "create_entities"))
    with closing(apsw.Connection(str(path))) as old:
        old.execute("UPDATE memory SET title = 'Anna'")
        values = (2, START, "revise", 1, '{"title": "Anne"}', '{"title": "Anna"}')
        old.execute(ADD_CHANGE, values)
    store = open_sqlite(path)
    *_, renamed = store.read().journal()
    assert (renamed.before, renamed.after) == (
        {"title": "Anne", "name": "Anne"},
        {"title": "Anna", "name": "Anna"},
    )
    past = store_after(store, 1).read()
    assert (memory_numbered(past, 1).name, past.ids_named("Anne", None)) == ("Anne", [1])
    store.close()


def test_names_of_the_past_are_those_that_titles_had(tmp_path):
    path = tmp_path / "old.db"
    numbered = OldMemory(f"{DERIVED} (2)", (LONG + " Or Tuesdays.",))
    write_old_store(path, 6, OldMemory("Anna", ("likes tea",), "create_entities"), numbered)
    with closing(apsw.Connection(str(path))) as old:
        known = columns(old, "memory_past")
        kept = ", ".join(name for name in memories.COLUMNS if name in known)
        old.execute(
            f"INSERT INTO memory_past (since, until, {kept}) SELECT 1, 3, {kept} FROM memory;"
            "UPDATE memory SET since = 3; UPDATE memory SET title = 'Anne' WHERE id = 1"
        )
    store = open_sqlite(path)
    past, present = store_after(store, 2).read(), store.read()
    assert [(one.name, one.title) for one in past.get([1, 2])] == [("Anna", "Anna"), (None, DERIVED)]
    assert (past.ids_named("Anna", None), past.ids_named("Anne", None)) == ([1], [])
    assert (present.ids_named("Anna", None), present.ids_named("Anne", None)) == ([], [1])
    store.close()


# -- ranges, since format 8

OUT_OF_RANGE = """
UPDATE memory SET priority = 9999, confidence = -3.5, quality = 11, rating = NULL WHERE id = 2;
INSERT INTO edge (source_id, target_id, type, weight, created_at, state, rating_count)
VALUES (1, 2, 'near', 7.0, 0, 'living', 0), (2, 1, 'near', 0.5, 0, 'living', 0);
"""


@pytest.mark.parametrize("version", [1, 5, 7])
def test_what_lies_out_of_range_gets_the_nearest_bound_and_the_journal_tells_it(tmp_path, version):
    path = tmp_path / "old.db"
    write_old_store(path, version, OldMemory("one", ("one",)), OldMemory("two", ("two",)))
    with closing(apsw.Connection(str(path))) as old:
        if version == 7:
            old.execute("UPDATE memory SET since = id")
        old.execute(OUT_OF_RANGE).fetchall()
        if version == 7:
            old.execute("UPDATE edge SET since = 2")
    store = open_sqlite(path)
    one, two = store.read().get([1, 2])
    assert (one.priority, one.confidence) == (5, 1.0)
    assert (two.priority, two.confidence, two.quality, two.rating) == (10, 0.0, 10.0, None)
    assert [edge.weight for edge in store.read().edges(EdgeFilter())] == [1.0, 0.5]
    *_, of_memory, of_edge = store.read().journal()
    assert (of_memory.subject_id, of_memory.operation, of_memory.before["priority"]) == (2, "upgrade", 9999)
    assert (of_edge.subject, of_edge.before["weight"]) == ("edge", 7.0)
    before = store_after(store, 2).read()
    assert memory_numbered(before, 2).priority == 9999 and memory_numbered(before, 1) == one, (
        "the past is as it was"
    )
    store.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE memory SET priority = 11",
        "UPDATE memory SET confidence = 1.5",
        "UPDATE memory SET quality = -1",
        "INSERT INTO edge (source_id, target_id, type, weight, created_at, state, rating_count) "
        "VALUES (1, 2, 'x', 2, 0, 'living', 0)",
    ],
)
def test_the_schema_refuses_what_the_model_would_refuse(connection, sql):
    with pytest.raises(apsw.ConstraintError, match="CHECK"):
        connection.execute(sql)


# -- workspaces, in tables until format 10

TWO_WORKSPACES = """
INSERT INTO workspace (id, name, created_at) VALUES (1, 'planning', 0), (3, 'empty', 0);
INSERT INTO member (workspace_id, path, role, label, added_at)
VALUES (1, '/office.db', 'primary', 'the "office"', 0), (1, '/garden.amem', 'archive', 'garden', 0);
"""


def test_workspaces_of_an_older_file_are_kept(tmp_path):
    write_old_store(tmp_path / "mnemic.db", 10, OldMemory("one", ("one",)))
    with closing(apsw.Connection(str(tmp_path / "mnemic.db"))) as old:
        old.execute(TWO_WORKSPACES).fetchall()
    with closing(open_sqlite(tmp_path / "mnemic.db")) as store:
        ctx = Context(store=store, engines=engines(), embedder=None, now=lambda: START)
        office = Member("/office.db", Role.PRIMARY, 'the "office"')
        garden = Member("/garden.amem", Role.ARCHIVE, "garden")
        assert find(ctx, 1) == Workspace(1, "planning", (office, garden))
        assert (find(ctx, 2), find(ctx, 3)) == (None, Workspace(3, "empty"))
        assert create(ctx, "next").id == 4
