"""A real pgbouncer in transaction mode in front of a server of a test."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time

import psycopg
from postgres_server import LOGIN, SUPERUSER, Server, server_folder, unprivileged

CONFIGURATION = """
[databases]
* = host={server} port={port}
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 3
max_client_conn = 100
server_reset_query =
logfile = {folder}/log
"""


def program() -> str:
    """Where pgbouncer is."""
    found = os.environ.get("PGBOUNCER") or shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
    assert found, (
        "No pgbouncer was found: install it (`apt-get install pgbouncer`) or set PGBOUNCER to its path."
    )
    return found


class Pgbouncer:
    """Three sessions of *server* shared by all clients, a transaction at a time, while the block lasts."""

    def __init__(self, server: Server):
        self._server = server
        self.folder = server_folder("bouncer")
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Pgbouncer:
        (self.folder / "users").write_text(f'"{SUPERUSER}" ""\n"{LOGIN}" ""\n')
        written = CONFIGURATION.format(server=self._server.folder, port=self._server.port, folder=self.folder)
        (self.folder / "configuration").write_text(written)
        command = unprivileged([program(), "-q", self.folder / "configuration"])
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(600):
            try:
                psycopg.connect(self.url("postgres", SUPERUSER), connect_timeout=5).close()
                return self
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self.folder / "log").read_text()[-2000:]
                time.sleep(0.05)
        raise RuntimeError("pgbouncer does not answer")

    def __exit__(self, *exception: object) -> None:
        assert self._process
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str, user: str = LOGIN) -> str:
        """The address of a database of the server, through the pooler."""
        return f"postgresql://{user}@/{database}?host={self.folder}&port=6432"
