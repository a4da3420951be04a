"""The second lock: the server itself shows a statement the rows of the namespaces alone that its transaction names."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from postgres_server import LOGIN, OWNER, SUPERUSER, shared_server
from read_calls import READS, arguments_of
from support import START, Uids, WordEmbedder, a_draft, embed_all, embedding, kept, put, write

from mnemic.app import dialect
from mnemic.core.embedding_queue import embed_pending
from mnemic.dialects.execution import answer
from mnemic.errors import StoreUnusable
from mnemic.index.index import open_index
from mnemic.model.access import EVERYTHING, Grant, Scope
from mnemic.model.candidates import Ask
from mnemic.model.filter import ALL_STATES, Filter
from mnemic.model.graph import EdgeDraft
from mnemic.model.memory import MemoryPatch
from mnemic.model.shapes import Content
from mnemic.storage.postgres import store as store_module
from mnemic.storage.postgres.connection import Held
from mnemic.storage.postgres.memories import NAMED
from mnemic.storage.postgres.row_security import row_scope
from mnemic.storage.postgres.schema import POLICIES
from mnemic.storage.postgres.store import PostgresStore
from mnemic.storage.postgres.writer import PostgresWriter
from mnemic.storage.queries import session_called

pytestmark = pytest.mark.only_on("postgres")

OPEN, SECRET = Scope(("open",)), Scope(("secret",))
EMBEDDER = WordEmbedder()
TABLES_WITH_TEXT = """
SELECT DISTINCT table_name FROM information_schema.columns
WHERE table_schema = 'mnemic' AND data_type IN ('text', 'ARRAY') AND table_name IN (
  SELECT table_name FROM information_schema.tables WHERE table_schema = 'mnemic' AND table_type = 'BASE TABLE')
"""
NO_TEXT_OF_MEMORIES = {
    *("words", "words_past", "term"),  # index tables: whoever asks them joins with `memory`
    *("namespace", "meta", "model", "claim", "version", "alias"),
}


def fill(store: PostgresStore) -> None:
    """A row in every table that has a policy, in two namespaces."""
    store.use_models(EMBEDDER.name)
    for space in ("open", "secret"):
        drafts = [
            a_draft(f"the {word} of {space}", namespace=space, name=word, tags=(space,))
            for word in ("heron", "pond")
        ]
        one, other = put(store, *drafts)

        def link(tx, space=space, one=one, other=other):
            edge = tx.insert_edge(EdgeDraft(one.id, other.id, "near", reason=space))
            tx.update_edge(edge, edge_patch())
            session = session_called(tx, space, "talk")
            tx.update_session(session, session_patch())
            tx.update(one, MemoryPatch(summary=f"a bird of {space}"))

        write(store, link)
    embed_all(store, EMBEDDER)


def edge_patch():
    from mnemic.model.graph import EdgePatch

    return EdgePatch(weight=0.25)


def session_patch():
    from mnemic.model.session import SessionPatch

    return SessionPatch(topic="birds")


@pytest.fixture
def url() -> Iterator[str]:
    """An empty database."""
    name = f"locked_{secrets.token_hex(6)}"
    yield shared_server().create(name)
    shared_server().drop(name)


@pytest.fixture
def filled(store: PostgresStore) -> PostgresStore:
    fill(store)
    return store


def counts(connection: psycopg.Connection) -> dict[str, int]:
    tables = [table for table in POLICIES if table not in ("recall_log", "token")]
    return {
        table: connection.execute(f"SELECT count(*) FROM mnemic.{table}").fetchone()[0] for table in tables
    }


def test_every_table_with_text_has_a_policy_that_binds_its_owner_too(filled):
    with filled.held() as db:
        with_text = {name for (name,) in db.run(TABLES_WITH_TEXT)}
        forced = {
            name
            for (name,) in db.run("SELECT relname FROM pg_class WHERE relforcerowsecurity AND relrowsecurity")
        }
    assert forced == POLICIES.keys() and with_text - POLICIES.keys() == NO_TEXT_OF_MEMORIES


def test_a_statement_without_a_scope_sees_no_row(filled):
    for role in (LOGIN, OWNER):
        with psycopg.connect(filled._pool._url) as connection:
            connection.execute(f"SET ROLE {role}")
            assert set(counts(connection).values()) == {0}
            connection.execute("SELECT set_config('mnemic.scope', '*', true)")
            assert 0 not in counts(connection).values()


def test_a_statement_under_a_wrong_scope_sees_changes_and_adds_nothing(filled):
    with psycopg.connect(filled._pool._url) as connection:
        connection.execute("SELECT set_config('mnemic.scope', '*', true)")
        spaces = dict(connection.execute("SELECT name, id FROM mnemic.namespace").fetchall())
        connection.execute("SELECT set_config('mnemic.scope', %s, true)", (row_scope(OPEN),))
        for table in counts(connection):
            sql = f"SELECT DISTINCT namespace_id FROM mnemic.{table}"
            assert connection.execute(sql).fetchall() == [(spaces["open"],)], table
            assert (
                connection.execute(
                    f"DELETE FROM mnemic.{table} WHERE namespace_id = %s", (spaces["secret"],)
                ).rowcount
                == 0
            )
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
            connection.execute("INSERT INTO mnemic.tag VALUES (%s, 'stolen', 1)", (spaces["secret"],))


def test_the_scope_does_not_outlive_its_transaction(filled):
    assert filled.read(OPEN).get([1]) and filled.read().get([3])
    with filled._pool.taken() as connection:
        assert connection.execute("SELECT current_setting('mnemic.scope', true)").fetchall() in (
            [("",)],
            [(None,)],
        )
        assert set(counts(connection).values()) == {0}
    assert filled.read(SECRET).get([1]) == [] and filled.read(SECRET).get([3])


def unlocked(store: PostgresStore, scope: Scope):
    """A reader that only the second lock narrows."""
    return store.read_all(store.row_scope(scope))


@pytest.mark.parametrize("index_bytes", [1 << 40, 0], ids=["index in memory", "index of the server"])
def test_a_search_finds_nothing_that_the_row_scope_hides(filled, index_bytes):
    ask = Ask(terms=("heron",), depth=10, text=embedding(EMBEDDER, "heron"), has_traits=False)
    with closing(PostgresStore(filled._pool._url, open_index, index_bytes=index_bytes)) as store:
        store.use_models(EMBEDDER.name)
        assert unlocked(store, EVERYTHING).candidates(ask).rows.keys() >= {1, 3}
        for scope, own in ((OPEN, {1, 2}), (SECRET, {3, 4}), (Scope(("nowhere",)), set())):
            reader = unlocked(store, scope)
            assert (
                reader.candidates(ask).rows.keys() == ({min(own)} if own else set())
                or reader.candidates(ask).rows.keys() == own
            )
            assert {one.id for one in reader.get([1, 2, 3, 4])} == own
            assert set(reader.select(Filter(states=ALL_STATES))) == own
            assert {one.id for one in reader.look(Filter(), Content)} == own
            assert {change.subject_id for change in reader.journal() if change.subject == "memory"} == own
            assert set(reader.search_substring("the", Filter())) == own
        assert unlocked(store, EVERYTHING).candidates(ask).rows.keys() >= {1, 3}, (
            "the index lost what a caller does not see"
        )


def test_a_limited_writer_cannot_write_elsewhere_whatever_the_first_lock_says(filled, monkeypatch):
    monkeypatch.setattr(store_module, "scoped_writer", lambda writer, scope, whole: writer)

    def intrude(tx: PostgresWriter) -> None:
        tx.insert(a_draft("stolen", namespace="secret"), uid=Uids()())

    with pytest.raises(StoreUnusable, match="row-level security"):
        filled.change(Scope(("open",), ("secret",)), "remember", "mallory", START, intrude)
    assert len(filled.read().select(Filter(namespaces=("secret",)))) == 2


@pytest.mark.parametrize("name", READS)
def test_no_tool_shows_a_contractor_what_the_second_lock_hides(ctx, monkeypatch, name):
    heron = kept(ctx, "the heron stands in the pond", name="Heron", namespace="open")
    for number in range(3):
        kept(
            ctx,
            f"the zebra number {number} hides",
            name=f"zebra {number}",
            namespace="secret",
            tags=("zebra",),
            kind="zebra",
        )
    embed_pending(ctx, 100)
    monkeypatch.setattr(store_module, "scoped_reader", lambda reader, scope, whole: reader)
    caller = ctx.limited_to(Grant(("open",), can_write=True))
    shown = 0
    for tool in READS[name]:
        told = answer(dialect(name), caller, tool, arguments_of(name, tool, heron))
        assert "zebra" not in told.rendered.text, tool
        shown += "heron" in told.rendered.text.lower()
    assert shown


def plan(db: Held, sql: str, values: object) -> str:
    return "\n".join(line for (line,) in db.run(f"EXPLAIN {sql}", values))


LEAKPROOF = """
SELECT bool_and(proleakproof) FROM pg_proc WHERE oid = ANY (ARRAY[
    'md5(text)'::regprocedure, 'texteq(text,text)'::regprocedure, 'int8eq(int8,int8)'::regprocedure,
    'int4eq(int4,int4)'::regprocedure, 'byteaeq(bytea,bytea)'::regprocedure, 'xid8gt(xid8,xid8)'::regprocedure
])
"""


def test_indexes_are_used_under_a_policy(filled):
    # Which index a nearly empty table is read by is chance, so the condition for it is asked: a leakproof comparison.
    with filled.held(filled.row_scope(OPEN)) as db:
        db.run("BEGIN")
        assert db.run(LEAKPROOF, ()) == [(True,)]
        assert "md5(" in next(iter(NAMED.values()))
        db.run("SET LOCAL enable_seqscan = off")
        db.run("SET LOCAL enable_indexscan = off")  # an index of words gives bitmaps alone
        by_words = "SELECT memory_id FROM words WHERE tokens && %s::text[]"
        assert "words_tokens" in plan(db, by_words, (["heron"],))
        db.run("ROLLBACK")


# -- set-ups


def test_a_superuser_is_warned_that_row_security_is_off(url):
    as_superuser = url.replace(f"{LOGIN}@", f"{SUPERUSER}@", 1)
    with closing(PostgresStore(as_superuser, open_index)) as store:
        fill(store)
        assert not store.has_row_security and "Row-level security is off" in (store.lack() or "")
        assert {one.namespace for one in store.read(OPEN).get([1, 2, 3, 4])} == {"open"}


def test_a_role_that_owns_the_tables_is_bound_too(url):
    owner = f"single_{secrets.token_hex(4)}"
    server = shared_server()
    name = url.split("?")[0].rpartition("/")[2]
    server.execute(f"CREATE ROLE {owner} LOGIN")
    server.execute(f'ALTER DATABASE "{name}" OWNER TO {owner}')
    with closing(PostgresStore(server.url(name, owner), open_index)) as store:
        fill(store)
        assert store.has_row_security
        assert {one.namespace for one in unlocked(store, OPEN).get([1, 2, 3, 4])} == {"open"}
    server.drop(name)
    server.execute(f"DROP ROLE {owner}")


def test_tables_belong_to_the_owner_and_the_daemon_is_not_it(filled):
    with filled.held(None) as db:
        assert db.run("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'mnemic'") == [(OWNER,)]
        assert db.run("SELECT current_user::text, session_user::text") == [(LOGIN, LOGIN)]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.run("ALTER TABLE memory DISABLE ROW LEVEL SECURITY")


def test_a_role_that_may_not_become_the_owner_works_but_does_not_migrate(url):
    role, server = f"plain_{secrets.token_hex(4)}", shared_server()
    name = url.split("?")[0].rpartition("/")[2]
    server.execute(f"CREATE ROLE {role} LOGIN")
    with pytest.raises(StoreUnusable, match="lacks a right"):
        PostgresStore(server.url(name, role), open_index)
    with closing(PostgresStore(url, open_index)) as store:
        fill(store)
    for grant in (
        "USAGE ON SCHEMA mnemic, mnemic_past",
        "SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA mnemic",
        "USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA mnemic",
    ):
        server.execute(f"GRANT {grant} TO {role}", name)
    with closing(PostgresStore(server.url(name, role), open_index)) as store:
        put(store, a_draft("by a role without more rights"))
        store.upkeep()
        assert len(store.read().select(Filter())) == 5
    server.drop(name)
    server.execute(f"DROP ROLE {role}")
