"""Behind pgbouncer in transaction mode: no session is ours for longer than a transaction."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from engine_check import check_engine
from pgbouncer import Pgbouncer
from postgres_server import shared_server

from mnemic.storage.postgres.connection import connected

pytestmark = pytest.mark.only_on("postgres")


@pytest.fixture
def database(engine):
    """The address of an empty database and the one through pgbouncer."""
    server = shared_server()
    direct = server.create()
    name = direct.split("?")[0].rpartition("/")[2]
    with Pgbouncer(server) as pooler:
        yield direct, pooler.url(name)
    server.drop(name)


def test_everything_works_through_pgbouncer(database, tmp_path):
    check_engine(database[1], str(tmp_path / "copy.db"))


def test_more_readers_than_sessions_load_the_index_together(database):
    from copy_places import context, fill
    from support import Clock

    from mnemic.api import Memories
    from mnemic.app import open_store
    from mnemic.settings import Settings

    with closing(open_store(Settings(db=database[0]))) as store:
        fill(context(store, clock := Clock()), clock)
    for _ in range(5):
        with closing(open_store(Settings(db=database[1]))) as store, ThreadPoolExecutor(12) as threads:
            api = Memories(context(store, clock))
            found = list(threads.map(lambda _, api=api: api.recall("heron at the weir").hits, range(12)))
        assert all(hits[0].memory.id == 1 for hits in found)


def test_a_copy_is_made_through_pgbouncer(database, tmp_path, fresh):
    from copy_places import context, copied, fill
    from support import Clock, everything, faults

    from mnemic.app import open_store
    from mnemic.settings import Settings

    source = fresh("source")
    clock = Clock()
    fill(context(source, clock), clock)
    copied(source, database[1])
    store = open_store(Settings(db=database[1]))
    assert everything(store) == everything(source) and faults(store) == []
    store.close()


def test_a_pooler_is_noticed_and_a_server_is_not_taken_for_one(database):
    for address, is_pooled in zip(database, (False, True), strict=True):
        connection = connected(address)
        assert connection.is_pooled is is_pooled
        connection.close()


def test_settings_hold_in_every_transaction_and_not_beyond(database):
    connections = [connected(database[1]) for _ in range(5)]
    for _ in range(3):
        for connection in connections:
            assert connection.execute("SHOW search_path").fetchall() == [("mnemic",)]
            connection.execute("BEGIN")
            assert connection.execute("SHOW jit").fetchall() == [("off",)]
            connection.execute("ROLLBACK")
            with connection.transaction():
                assert connection.execute("SHOW statement_timeout").fetchall() == [("1min",)]
    for connection in connections:
        connection.close()
