"""Faults of the server and of the way to it: nothing acknowledged is lost, nothing is half written."""

from __future__ import annotations

import shutil
import signal
import threading
import time
import uuid

import psycopg
import pytest
from postgres_server import QUICK, Server, server_folder
from proxy import Proxy, free_port
from support import START, a_draft, put, write

from mnemic.errors import Busy, StoreUnusable
from mnemic.index.index import open_index
from mnemic.model.filter import Filter
from mnemic.storage.postgres.store import PostgresStore
from mnemic.storage.queries import count

pytestmark = pytest.mark.only_on("postgres")


def opened(address: str) -> PostgresStore:
    return PostgresStore(address, open_index)


@pytest.fixture
def servers(engine):
    """Makes servers of a test's own, which end with it."""
    made: list[Server] = []

    def make(name: str, settings: dict[str, str] | None = None) -> Server:
        made.append(Server(server_folder(name), settings))
        return made[-1]

    yield make
    for server in made:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(server.folder, ignore_errors=True)


@pytest.fixture
def server(servers) -> Server:
    """A running server."""
    one = servers("one")
    one.make()
    one.start()
    return one


def titles(store) -> set[str]:
    reader = store.read()
    return {memory.title for memory in reader.get(reader.select(Filter()))}


class Load:
    """A thread that writes one memory after the other and notes which were acknowledged."""

    def __init__(self, store):
        self.acknowledged: list[str] = []
        self.failed: list[Exception] = []
        self._store, self._ends = store, threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._ends.is_set():
            title = f"memory {len(self.acknowledged)}"
            try:
                put(self._store, a_draft(title))
            except Exception as error:
                self.failed.append(error)
                return
            self.acknowledged.append(title)

    def await_more(self, more: int) -> None:
        wanted = len(self.acknowledged) + more
        for _ in range(1200):
            if len(self.acknowledged) >= wanted or self.failed:
                return
            time.sleep(0.05)
        raise AssertionError("nothing is written any more")

    def end(self) -> None:
        self._ends.set()
        self._thread.join()


def test_clients_outlive_a_restart_of_the_server(server):
    store = opened(server.create("memories"))
    load = Load(store)
    load.await_more(10)
    server.stop()
    server.start()
    load.await_more(10)
    load.end()
    assert load.failed == [] and titles(store) == set(load.acknowledged)
    assert len(list(store.read().journal())) == len(load.acknowledged)
    store.close()


def test_a_standby_takes_over_and_nothing_acknowledged_is_lost(servers):
    settings = {**QUICK, "synchronous_commit": "on", "wal_level": "replica", "hot_standby": "on"}
    primary, standby = servers("primary", settings), servers("standby", settings)
    primary.make()
    primary.start()
    primary.create("memories")
    standby.copy_of(primary)
    standby.start()
    primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
    primary.execute("SELECT pg_reload_conf()")
    for _ in range(600):
        if primary.execute("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"):
            break
        time.sleep(0.05)
    hosts = f"host={primary.folder},{standby.folder}&port=5432,5432"
    store = opened(f"postgresql://mnemic@/memories?{hosts}&target_session_attrs=read-write")
    load = Load(store)
    load.await_more(20)
    primary.stop(signal.SIGQUIT)
    standby.promote()
    standby.execute("ALTER SYSTEM RESET synchronous_standby_names")
    standby.execute("SELECT pg_reload_conf()")
    load.await_more(20)
    load.end()
    assert load.failed == [] and len(load.acknowledged) >= 40
    assert titles(store) == set(load.acknowledged)
    assert count(store.read(), Filter()) == len(load.acknowledged)
    store.close()


def test_a_standby_can_be_read_and_says_that_it_cannot_be_written(servers):
    primary, standby = servers("primary"), servers("standby")
    primary.make()
    primary.start()
    primary.create("memories")
    store = opened(primary.url("memories"))
    put(store, a_draft("a heron"))
    standby.copy_of(primary)
    standby.start()
    reading = opened(standby.url("memories"))
    assert titles(reading) == {"a heron"}
    with pytest.raises(StoreUnusable, match="standby that can only be read"):
        put(reading, a_draft("another"))
    put(store, a_draft("later"))
    for _ in range(600):
        if len(titles(reading)) == 2:
            break
        time.sleep(0.05)
    assert titles(reading) == {"a heron", "later"}
    store.close()
    reading.close()


def test_a_commit_whose_answer_is_lost_is_not_made_twice(server, monkeypatch):
    store = opened(server.create("memories"))
    lost: list[str] = []
    execute = psycopg.Connection.execute

    def losing(connection, query, *values, **how):
        if query == "COMMIT" and not lost:
            lost.append(query)
            with connection.pipeline():  # at whose end the server has answered
                execute(connection, query, *values, **how)
            connection.close()
            raise psycopg.OperationalError("the connection is lost")
        return execute(connection, query, *values, **how)

    monkeypatch.setattr(psycopg.Connection, "execute", losing)
    put(store, a_draft("kept once"))
    assert lost == ["COMMIT"] and count(store.read(), Filter()) == 1
    assert len(list(store.read().journal())) == 1
    store.close()


def test_a_commit_that_never_arrived_is_made_again(server, monkeypatch):
    store = opened(server.create("memories"))
    lost: list[str] = []
    execute = psycopg.Connection.execute

    def losing(connection, query, *values, **how):
        if query == "COMMIT" and not lost:
            lost.append(query)
            connection.close()
            raise psycopg.OperationalError("the connection is lost")
        return execute(connection, query, *values, **how)

    monkeypatch.setattr(psycopg.Connection, "execute", losing)
    put(store, a_draft("kept once"))
    assert lost == ["COMMIT"] and count(store.read(), Filter()) == 1
    store.close()


def test_a_statement_that_takes_too_long_leaves_nothing(server):
    address = server.create("memories")
    store = opened(address)

    def work(tx):
        tx.insert(a_draft("half"), uid=str(uuid.uuid4()))
        tx._db.run("SET LOCAL statement_timeout = '50ms'")
        tx._db.run("SELECT pg_sleep(10)")

    with pytest.raises(Busy, match="Nothing was written"):
        write(store, work, operation="remember", actor="tester", at=START)
    assert list(store.read().journal()) == [] and titles(store) == set()
    store.close()


FULL = """
CREATE FUNCTION mnemic.fill_up() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON mnemic.journal EXECUTE FUNCTION mnemic.fill_up()
"""


def test_a_full_disk_is_reported_and_leaves_nothing_half_written(server):
    store = opened(server.create("memories"))
    put(store, a_draft("a heron"))
    server.execute(
        FULL, "memories"
    )  # the server's answer when its disk is full, after the memory's row was written
    with pytest.raises(StoreUnusable, match="out of room"):
        put(store, a_draft("a crow"))
    assert titles(store) == {"a heron"} and store.check() == []
    server.execute("DROP TRIGGER full_disk ON mnemic.journal", "memories")
    put(store, a_draft("a crow"))
    assert titles(store) == {"a heron", "a crow"} and store.check() == []
    store.close()


def test_a_connection_that_is_cut_is_made_anew(servers):
    one = servers("one", {**QUICK, "listen_addresses": "127.0.0.1"})
    one.port = free_port()
    one.make()
    one.start()
    one.create("memories")
    with Proxy(one.port) as proxy:
        store = opened(f"postgresql://mnemic@127.0.0.1:{proxy.port}/memories")
        load = Load(store)
        load.await_more(5)
        proxy.cut()
        load.await_more(5)
        load.end()
        assert load.failed == [] and titles(store) == set(load.acknowledged)
        store.close()
