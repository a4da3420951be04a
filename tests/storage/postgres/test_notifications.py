"""Notifications: what one process commits another hears of, and what it does not hear it finds by polling."""

from __future__ import annotations

import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from postgres_server import QUICK, Server, server_folder
from proxy import Pooler, free_port
from support import a_draft, put

from mnemic.index.index import open_index
from mnemic.model.access import EVERYTHING
from mnemic.model.change import Position
from mnemic.storage.postgres import notifications
from mnemic.storage.postgres import store as store_module
from mnemic.storage.postgres.store import PostgresStore

pytestmark = pytest.mark.only_on("postgres")

LONG = 300.0
LISTENERS = "SELECT pid FROM pg_stat_activity WHERE query = 'LISTEN mnemic' AND datname = current_database()"


@pytest.fixture
def never_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits is told, or not at all."""
    monkeypatch.setattr(store_module, "POLL_SECONDS", LONG)


class Waiting:
    """A thread that waits for a change."""

    def __init__(self, store: PostgresStore):
        self._before = store.newest()
        self.heard: list[Position] = []
        self._thread = threading.Thread(target=lambda: self.heard.append(store.wait(self._before, LONG)))
        self._thread.start()

    def has_heard(self, store: PostgresStore) -> bool:
        """Whether it heard of what is the newest in *store*."""
        self._thread.join()
        return self.heard == [store.newest()] and self.heard != [self._before]


def listening(store) -> PostgresStore:
    """*store*, which has begun to listen."""
    store._listener.start()
    assert store._listener.is_listening.wait(LONG)
    return store


def test_a_change_through_one_process_is_heard_of_in_another(fresh, never_polls):
    store, other = listening(fresh()), fresh()
    waiting = Waiting(store)
    put(other, a_draft("news"))
    assert waiting.has_heard(other)


def test_a_wait_begins_to_listen(fresh, never_polls):
    store, other = fresh(), fresh()
    waiting = Waiting(store)
    assert store._listener.is_listening.wait(LONG)
    put(other, a_draft("news"))
    assert waiting.has_heard(other)


def test_a_lost_connection_is_made_anew_and_nothing_is_missed_meanwhile(fresh, never_polls):
    store, other = listening(fresh()), fresh()
    waiting = Waiting(store)
    with other.held() as db:
        [[pid]] = db.run(LISTENERS)
        db.run("SELECT pg_terminate_backend(%s)", (pid,))
    put(other, a_draft("news"))
    assert waiting.has_heard(other)


def test_what_is_not_heard_is_found_by_polling(fresh, monkeypatch):
    monkeypatch.setattr(notifications, "NOTIFY", "SELECT 1")
    store, other = listening(fresh()), fresh()
    waiting = Waiting(store)
    put(other, a_draft("news"))
    assert waiting.has_heard(other)


def test_many_commits_make_few_notifications_and_none_is_left_out(fresh, monkeypatch):
    monkeypatch.setattr(notifications, "GATHER_SECONDS", LONG)
    store = fresh()
    with psycopg.connect(store._pool._url, autocommit=True) as listener:
        listener.execute("LISTEN mnemic")
        for number in range(10):
            put(store, a_draft(f"news {number}"))
        store._announcer.close()
        listener.execute("NOTIFY mnemic, 'the end'")  # they come in the order of their commits
        told = []
        for one in listener.notifies():
            if one.payload == "the end":
                break
            told.append(one)
    assert 1 <= len(told) <= 2


def test_a_change_that_is_not_journaled_is_not_announced(fresh):
    store = fresh()
    store.change(EVERYTHING, "x", "x", 1, lambda tx: tx.put_setting("a", "b"))
    assert store._announcer._thread is None


@contextmanager
def pair() -> Iterator[tuple[Server, Server]]:
    """A server and a standby that follows it, which end with the block."""
    settings = {**QUICK, "wal_level": "replica", "hot_standby": "on"}
    primary, standby = Server(server_folder("primary"), settings), Server(server_folder("standby"), settings)
    try:
        primary.make()
        primary.start()
        primary.create("memories")
        PostgresStore(primary.url("memories"), open_index).close()
        standby.copy_of(primary)
        standby.start()
        yield primary, standby
    finally:
        for server in (primary, standby):
            server.stop(signal.SIGQUIT)
            shutil.rmtree(server.folder, ignore_errors=True)


def test_notifications_go_on_after_a_failover(engine, never_polls):
    with pair() as (primary, standby):
        hosts = f"host={primary.folder},{standby.folder}&port=5432,5432"
        url = f"postgresql://mnemic@/memories?{hosts}&target_session_attrs=read-write"
        store, other = listening(PostgresStore(url, open_index)), PostgresStore(url, open_index)
        primary.stop(signal.SIGQUIT)
        standby.promote()
        put(other, a_draft("after the failover"))
        waiting = Waiting(store)
        put(other, a_draft("news"))
        assert waiting.has_heard(other)
        store.close()
        other.close()


def test_behind_a_pooler_changes_are_found_by_polling(engine):
    server = Server(server_folder("pooled"), {**QUICK, "listen_addresses": "127.0.0.1"})
    try:
        server.port = free_port()
        server.make()
        server.start()
        server.create("memories")
        with Pooler(server.port) as pooler:
            url = f"postgresql://mnemic@127.0.0.1:{pooler.port}/memories"
            store, other = PostgresStore(url, open_index), PostgresStore(url, open_index)
            waiting = Waiting(store)
            put(other, a_draft("news"))
            assert waiting.has_heard(other)
            assert not store._listener.is_listening.is_set()
            assert server.execute(LISTENERS, "memories") == []
            store.close()
            other.close()
    finally:
        server.stop(signal.SIGQUIT)
        shutil.rmtree(server.folder, ignore_errors=True)
