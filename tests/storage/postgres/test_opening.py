"""Opening a server's database: what is wrong with it is said in one sentence."""

from __future__ import annotations

import secrets
import shutil
from contextlib import ExitStack, closing

import psycopg
import pytest
from postgres_server import LOGIN, QUICK, SUPERUSER, Server, server_folder, shared_server
from proxy import free_port
from support import START, a_draft, put

from mnemic.app import engines
from mnemic.core.context import Context
from mnemic.dialects.agentic_memory.federation import Member, Role, Workspace, find
from mnemic.errors import Invalid, MnemicError, StoreUnusable, Unavailable
from mnemic.index.index import open_index
from mnemic.model.change import BEGINNING
from mnemic.storage.postgres.schema import WORKSPACES
from mnemic.storage.postgres.store import PostgresStore

pytestmark = pytest.mark.only_on("postgres")


def opened(address: str) -> PostgresStore:
    return PostgresStore(address, open_index)


@pytest.fixture
def url(engine):
    """A database with nothing in it."""
    name = f"opening_{secrets.token_hex(6)}"
    yield shared_server().create(name)
    shared_server().drop(name)


def refusal(address: str, kind: type[MnemicError]) -> str:
    with pytest.raises(kind) as caught:
        opened(address)
    return str(caught.value)


def test_a_wrong_address_user_database_or_server_is_named(engine):
    server = shared_server()
    assert "not a PostgreSQL address" in refusal("postgresql://a b@@:x/::", Invalid)
    assert "no such database" in refusal(server.url("nowhere"), StoreUnusable)
    assert "no such user" in refusal(server.url("postgres", user="stranger"), StoreUnusable)
    assert "does not answer" in refusal("postgresql://someone:secret@127.0.0.1:1/x", Unavailable)


def test_a_password_is_never_shown(engine):
    assert "secret" not in refusal("postgresql://someone:secret@127.0.0.1:1/x", Unavailable)


def test_a_server_that_refuses_says_why_and_is_not_waited_for(engine):
    server = Server(
        server_folder("refusing"), {**QUICK, "listen_addresses": "127.0.0.1", "max_connections": "9"}
    )
    server.port = free_port()
    try:
        server.make()
        with (server.data / "pg_hba.conf").open("w") as rules:
            rules.write("local all all trust\nhost m all 127.0.0.1/32 scram-sha-256\n")
        server.start()
        server.create("m")
        server.execute(f"ALTER ROLE {LOGIN} PASSWORD 'right'")
        address = f"postgresql://{LOGIN}:right@127.0.0.1:{server.port}/m"
        opened(address).close()
        assert "refuses this user or password" in refusal(address.replace("right", "wrong"), StoreUnusable)
        assert "pg_hba.conf" in refusal(address.replace("/m", "/postgres"), StoreUnusable)
        assert "does not support SSL" in refusal(f"{address}?sslmode=require", StoreUnusable)
        assert "not a PostgreSQL address" in refusal(address.replace(f":{server.port}", ":port"), Invalid)
        with ExitStack() as held:
            while True:
                try:
                    held.enter_context(psycopg.connect(address))
                except psycopg.OperationalError:
                    break
            assert "no connection left" in refusal(address, Unavailable)
    finally:
        server.stop()
        shutil.rmtree(server.folder, ignore_errors=True)


def test_a_role_without_rights_is_refused_with_those_it_lacks(url):
    with psycopg.connect(url, user=SUPERUSER, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS poor")
        owner.execute("CREATE ROLE poor LOGIN")
    told = refusal(url.replace("mnemic@", "poor@", 1), StoreUnusable)
    assert "lacks a right" in told and "permission denied" in told and "as the owner" in told


def test_a_role_that_may_only_read_is_refused_with_the_reason(url):
    opened(url).close()
    with psycopg.connect(url, user=SUPERUSER, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS reading")
        owner.execute("CREATE ROLE reading LOGIN IN ROLE pg_read_all_data")
    with closing(opened(url.replace("mnemic@", "reading@", 1))) as store:
        assert "may read, but not write" in (store.lack() or "")
        with pytest.raises(StoreUnusable, match="lacks a right"):
            put(store, a_draft("a heron"))


def test_a_newer_format_is_refused_and_left_alone(url):
    opened(url).close()
    with psycopg.connect(url, user=SUPERUSER, autocommit=True) as owner:
        owner.execute("UPDATE mnemic.meta SET value = '99' WHERE key = 'format'")
    assert "newer Mnemic (format 99" in refusal(url, StoreUnusable)


def test_many_open_a_new_database_at_once(url):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(6) as threads:
        stores = list(threads.map(opened, [url] * 6))
    put(stores[0], a_draft("a heron"))
    assert all(len(list(store.read().journal())) == 1 for store in stores)
    for store in stores:
        store.close()


def test_what_was_restored_from_another_server_is_settled(url):
    first = opened(url)
    put(first, a_draft("a heron"))
    first.close()
    with psycopg.connect(url, user=SUPERUSER, autocommit=True) as owner:
        owner.execute("UPDATE mnemic.journal SET xid = '99999999999'")
    store = opened(url)
    assert [change.subject_id for change in store.read().changes(BEGINNING)] == [1]
    put(store, a_draft("another"))
    assert [change.subject_id for change in store.read().changes(BEGINNING)] == [1, 2]
    store.close()


def test_a_text_with_a_nul_is_refused_and_nothing_is_kept(fresh):
    store = fresh()
    with pytest.raises(Invalid, match="NUL"):
        put(store, a_draft("a\0b"))
    with pytest.raises(Invalid, match="NUL"):
        put(store, a_draft("a", metadata={"key": ["\0"]}))
    assert list(store.read().journal()) == []


OLD_WORKSPACES = """
SET search_path TO mnemic;
CREATE TABLE workspace (id bigint, name text);
CREATE TABLE member (id bigint, workspace_id bigint, path text, role text, label text);
INSERT INTO workspace VALUES (1, 'planning'), (3, 'empty');
INSERT INTO member VALUES (2, 1, '/garden.amem', 'archive', 'garden'), (1, 1, '/office.db', 'primary', 'the "office"');
"""


def test_workspaces_of_an_older_database_are_kept(url):
    opened(url).close()
    with psycopg.connect(url, user=SUPERUSER, autocommit=True) as owner:
        owner.execute(OLD_WORKSPACES)
        owner.execute(WORKSPACES)
    with closing(opened(url)) as store:
        ctx = Context(store=store, engines=engines(), embedder=None, now=lambda: START)
        office = Member("/office.db", Role.PRIMARY, 'the "office"')
        garden = Member("/garden.amem", Role.ARCHIVE, "garden")
        assert find(ctx, 1) == Workspace(1, "planning", (office, garden))
        assert (find(ctx, 2), find(ctx, 3)) == (None, Workspace(3, "empty"))
