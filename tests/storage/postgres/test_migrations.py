"""A database of an older format is brought up to the present one with everything in it."""

from __future__ import annotations

import secrets
from contextlib import closing

import psycopg
import pytest
from postgres_server import SUPERUSER, shared_server
from support import START, a_draft, faults, put, write

from mnemic.index.index import open_index
from mnemic.model.change import Subject
from mnemic.model.filter import ANY_SESSION, EdgeFilter
from mnemic.model.session import SessionDraft
from mnemic.storage.base import Companionship
from mnemic.storage.postgres import migrations
from mnemic.storage.postgres.connection import connected
from mnemic.storage.postgres.schema import COPIED, MIGRATIONS, SHARDED
from mnemic.storage.postgres.store import PostgresStore

pytestmark = pytest.mark.only_on("postgres")

BEFORE_NAMESPACES_LED = 4
LATE = START + 10**12
"""A moment that the clock of the tests is far from."""
OLD_ROWS = f"""
SET search_path TO mnemic;
INSERT INTO namespace (id, name) VALUES (1, 'open'), (2, 'other');
INSERT INTO memory (namespace_id, id, since, uid, title, kind, priority, confidence, rating_count, tier, created_at,
    updated_at, access_count, days_used, state)
SELECT space, id, id, decode(lpad(id::text, 32, '0'), 'hex'), 'heron ' || id, 'fact', 5, 1, 0, 'long', {START}, {START},
    0, 0, 'living'
FROM (VALUES (1, 1), (1, 2), (2, 3)) m (space, id);
INSERT INTO statement (namespace_id, memory_id, id, position, text, digest, since)
SELECT namespace_id, id, id, 1, title, 0, id FROM memory;
INSERT INTO words SELECT namespace_id, id, 3, ARRAY['heron', id::text], ARRAY[4, 4], ARRAY[1, 2, 0, 1, 2, 0, 0, 0, 0, 0]
FROM memory;
INSERT INTO edge (namespace_id, id, since, source_id, target_id, type, weight, created_at, state, rating_count)
VALUES (2, 6, 4, 3, 1, 'near', 1, {START}, 'living', 0);
INSERT INTO session (namespace_id, id, since, name, started_at) VALUES (1, 7, 5, 'spring', {START});
INSERT INTO companion (a, b, count, last) VALUES (1, 2, 3, {START}), (2, 3, 1, {START}), (90, 91, 1, {START});
INSERT INTO claim (statement_id, owner, expires_at) VALUES (1, 'somebody', {START});
INSERT INTO version (subject, number, stamps) VALUES
    ('memory', 3, '{{"stamps": {{}}}}'), ('edge', 6, '{{"stamps": {{}}}}'), ('session', 7, '{{"stamps": {{}}}}');
INSERT INTO journal (namespace_id, sequence, batch, at, actor, operation, subject, subject_id, after)
VALUES (1, 1, 1, {LATE}, 'ann', 'remember', 'memory', 1, '{{}}');
SELECT setval('memory_number', 3), setval('statement_number', 3), setval('edge_number', 6), setval('journal_number', 5);
"""
KEYS = """
SELECT c.relname, i.relname, a.attname FROM pg_index x
JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
WHERE x.indisunique AND c.relnamespace = 'mnemic'::regnamespace
"""
TABLES = """
SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'mnemic'::regnamespace
"""


@pytest.fixture
def old(engine, monkeypatch):
    """The address of a database from before the keys of all tables began with the namespace."""
    name = f"old_{secrets.token_hex(6)}"
    url = shared_server().create(name)
    with monkeypatch.context() as patched, connected(url) as connection:
        patched.setattr(migrations, "MIGRATIONS", MIGRATIONS[:BEFORE_NAMESPACES_LED])
        migrations.migrate(connection, url)
    with psycopg.connect(url, user=SUPERUSER, autocommit=True) as superuser:
        superuser.execute(OLD_ROWS)
    yield url
    shared_server().drop(name)


def namespaces_of(url: str, sql: str) -> dict[object, str]:
    """What *sql* gives, by its first column: the name of a namespace for its id."""
    with psycopg.connect(url, user=SUPERUSER, options="-c search_path=mnemic") as superuser:
        names = dict(superuser.execute("SELECT id, name FROM namespace").fetchall())
        return {row[0]: names.get(row[1], "") for row in superuser.execute(sql.encode()).fetchall()}


def test_pairs_versions_and_claims_get_the_namespace_of_what_they_are_about(old):
    with closing(PostgresStore(old, open_index)) as store:
        reader = store.read()
        pairs = list(reader.companions())
        assert pairs[:2] == [(1, 2, Companionship(3, START)), (2, 3, Companionship(1, START))]
        for subject, number in ((Subject.MEMORY, 3), (Subject.EDGE, 6), (Subject.SESSION, 7)):
            assert list(reader.versions(subject, [number])) == [number]
    assert namespaces_of(old, "SELECT a, namespace_id FROM companion") == {1: "open", 2: "open", 90: ""}
    versions = namespaces_of(old, "SELECT subject, namespace_id FROM version")
    assert versions == {"memory": "other", "edge": "other", "session": "open"}
    assert namespaces_of(old, "SELECT statement_id, namespace_id FROM claim") == {}


def test_numbers_and_moments_go_on_where_they_were(old):
    with closing(PostgresStore(old, open_index)) as store:
        assert [one.id for one in store.read().sessions(ANY_SESSION)] == [7]
        begun = write(store, lambda tx: tx.insert_session(SessionDraft("open")))
        [memory] = put(store, a_draft("A stork", namespace="other"))
        assert (begun.id, memory.id) == (8, 4)
        newest = next(store.read().journal(newest_first=True))
        assert newest.subject_id == 4 and newest.at == LATE
        assert [edge.id for edge in store.read().edges(EdgeFilter(at=(1,)))] == [6]


def test_an_older_database_has_no_new_faults(old):
    with closing(PostgresStore(old, open_index)) as store:
        assert [fault for fault in faults(store) if "words" in fault or "statement" in fault] == []
        assert store.read().same_texts(["A stork"], ("open",)) == {}


def test_every_key_of_a_sharded_table_begins_with_the_namespace(old):
    PostgresStore(old, open_index).close()
    with psycopg.connect(old, user=SUPERUSER) as superuser:
        keys = superuser.execute(KEYS).fetchall()
        tables = {row[0] for row in superuser.execute(TABLES).fetchall()}
    led = {(table, index) for table, index, column in keys if column == "namespace_id"}
    assert {table for table, _ in led} == set(SHARDED) and len(led) > len(SHARDED)
    assert led == {(table, index) for table, index, _ in keys if table in SHARDED}
    assert tables - {*SHARDED, *COPIED} == {"alias", "meta", "recall_log", "token"}
