"""The oldest PostgreSQL that is supported, from the same wheel as the newest."""

from __future__ import annotations

import shutil
import signal

import pytest
from engine_check import check_engine
from postgres_server import Server, server_folder

from mnemic.storage.postgres.migrations import OLDEST_SERVER

pytestmark = pytest.mark.only_on("postgres")


@pytest.fixture
def server(engine):
    """A running server of the oldest version."""
    one = Server(server_folder("oldest"), version=str(OLDEST_SERVER))
    one.make()
    one.start()
    yield one
    one.stop(signal.SIGQUIT)
    shutil.rmtree(one.folder, ignore_errors=True)


def test_everything_works_on_the_oldest_server(server):
    [[version]] = server.execute("SHOW server_version_num")
    assert int(str(version)) // 10_000 == OLDEST_SERVER
    check_engine(server.create(), server.create())
