"""A command that the daemon does prints what it prints in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from loaded_modules import HEAVY
from local_daemon import address, client, command, status, told, until
from server_process import environment

from mnemic.cli.command_index import listed
from mnemic.daemon_client.address import database_of, option, verb_of
from mnemic.daemon_client.client import run
from mnemic.daemon_client.commands import FORWARDED
from mnemic.settings import load

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no local daemon on Windows")

LEFT_ALONE = {"restore"}
"""Native commands that do more than their operation: `restore --from` replaces the database."""
READING = [
    ("recall", "when does the build run?"),
    ("--json", "recall", "build"),
    ("recall", "build", "--explain"),
    ("recall", "--", "-build"),
    ("open", "1"),
    ("open", "99"),
    ("list", "--limit", "1"),
    ("stats",),
    ("history", "--json"),
    ("namespaces",),
    ("verify", "The build runs on Fridays"),
    ("call", "mnemic", "recall", '{"query": "build"}'),
    ("call", "mnemic", "recall", "{"),
    ("call", "ai-memory", "memory_search", '{"query": "build"}'),
    ("recall", "build", "--no-such-option"),
    ("recall", "build", "--limit", "many"),
    ("recall", "--help"),
    ("remember",),
]
ALONE = {"MNEMIC_DAEMON": "never"}


def outcome(done: subprocess.CompletedProcess[bytes]) -> tuple[int, bytes, bytes]:
    """What there is to see of a command, but for what the time and the number of recalls make of it."""
    shown = re.sub(rb"just now|\d+s ago|recalled +\d+ times?", b"-", done.stdout)
    return done.returncode, shown, done.stderr


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A home whose daemon runs and holds two memories at least; the tests here share it."""
    home = tmp_path_factory.mktemp("served")
    with client(home) as one:
        told(one, "remember", text="The build runs on Tuesdays", occurred_at="2025-01-07", tags=["ci"])
        told(one, "remember", text="Tea is at four – 茶", occurred_at="2025-01-08")
        yield home


def test_every_native_command_is_forwarded_or_left_alone_on_purpose():
    native = {item.name for item in listed().values() if item.dialect == "mnemic"}
    assert native <= FORWARDED | LEFT_ALONE and FORWARDED.isdisjoint(LEFT_ALONE)


def test_output_errors_and_exit_codes_are_the_same(served):
    before = status(served)["served"]
    for words in READING:
        shared, alone = command(served, *words), command(served, *words, **ALONE)
        assert outcome(shared) == outcome(alone), words
    assert status(served)["served"] > before + 8, "the daemon did most of them"


def test_flags_and_variables_of_the_client_count(served):
    for words, variables in [
        (("recall", "build"), {"MNEMIC_NAMESPACE": "elsewhere"}),
        (("--namespace", "elsewhere", "remember", "Only there"), {}),
        (("recall", "build"), {"COLUMNS": "61"}),
        (("recall", "build"), {"FORCE_COLOR": "1"}),
        (("recall", "build"), {"MNEMIC_TIMEZONE": "Asia/Tokyo"}),
        (("stats",), {"TZ": "Asia/Tokyo"}),
        (("recall", "build"), {"MNEMIC_TIMEZONE": "Nowhere/At_all"}),
        (("recall", "build"), {"PYTHONIOENCODING": "latin-1"}),
    ]:
        if "remember" in words:
            assert command(served, *words, **variables).returncode == 0
            assert (
                b"Only there" in command(served, "recall", "only there", MNEMIC_NAMESPACE="elsewhere").stdout
            )
        else:
            shared = command(served, *words, **variables)
            assert outcome(shared) == outcome(command(served, *words, **variables, **ALONE)), variables


def test_a_text_is_read_from_a_pipe(served):
    done = command(served, "remember", stdin=b"From a pipe\nin two lines")
    assert done.returncode == 0
    assert b"in two lines" in command(served, "--json", "recall", "from a pipe").stdout
    assert command(served, "remember", "-", stdin=b"\xff\xfe").stderr.startswith(b"Error:")


def test_the_project_is_that_of_the_clients_folder(served, tmp_path_factory):
    project = tmp_path_factory.mktemp("widgets")
    (project / ".git").mkdir()
    words = [sys.executable, "-m", "mnemic", "--json", "remember", "Widgets are blue"]
    done = subprocess.run(words, cwd=project, env=environment(served), capture_output=True)
    assert project.name.encode() in done.stdout


def test_a_relative_database_is_that_of_the_clients_folder(served):
    words = [sys.executable, "-m", "mnemic", "--db", "memory.db", "recall", "build"]
    before = status(served)["served"]
    done = subprocess.run(words, cwd=served, env=environment(served), capture_output=True)
    assert b"Tuesdays" in done.stdout
    until(lambda: status(served)["served"] == before + 1)  # counted after the client has its answer


def test_a_terminal_gets_colours_and_its_width(served):
    import pty

    def seen(**variables: str) -> bytes:
        leader, follower = pty.openpty()
        subprocess.run(
            [sys.executable, "-m", "mnemic", "recall", "build"],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env={**environment(served), "TERM": "xterm", **variables},
            check=True,
        )
        os.close(follower)
        shown = os.read(leader, 65536)
        os.close(leader)
        return shown

    assert seen() == seen(**ALONE) and b"\x1b[" in seen()


def test_a_reader_that_leaves_is_no_error(served):
    words = f"{sys.executable} -m mnemic --json history | head -c 1"
    done = subprocess.run(words, shell=True, env=environment(served), capture_output=True)
    assert done.stderr == b"" and done.stdout == b"{"


def test_a_client_in_python_gets_the_outcome_or_none(served, monkeypatch):
    variables = environment(served)
    done = run(["call", "mnemic", "recall", '{"query": "build"}'], environment=variables)
    assert done and done.code == 0 and b"Tuesdays" in done.out
    assert run(["recall", "build"], environment={**variables, "MNEMIC_DB": str(served / "none.db")}) is None
    piped = run(["remember"], b"From Python", environment=variables)
    assert piped and piped.code == 0


def test_the_client_loads_the_standard_library_alone(served):
    code = (
        "import sys; before = set(sys.modules)\n"
        "from mnemic.daemon_client.commands import forwarded\n"
        "assert forwarded(['recall', 'build']) == 0\n"
        "import mnemic.daemon_client.shim\n"
        "print(*(set(sys.modules) - before), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(served), capture_output=True, text=True
    )
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert loaded - {"mnemic"} <= set(sys.stdlib_module_names) and "mnemic" in loaded, done.stderr
    assert loaded.isdisjoint({*HEAVY, "click", "typing", "dataclasses", "pathlib", "asyncio", "logging"})


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        ((), {}),
        ((), {"XDG_DATA_HOME": "/data"}),
        ((), {"MNEMIC_DB": "~/mine.db"}),
        ((), {"AI_MEMORY_DB": "/theirs.db"}),
        ((), {"MNEMIC_DB": "/ours.db", "AI_MEMORY_DB": "/theirs.db"}),
        (("--db", "/flag.db"), {"MNEMIC_DB": "/ours.db"}),
        (("--db=/flag.db",), {"MNEMIC_DB": "/ours.db"}),
        ((), {"MNEMIC_CONFIG": "CONFIG"}),
    ],
)
def test_the_database_is_found_as_the_settings_find_it(tmp_path, monkeypatch, words, variables):
    config = tmp_path / "some.toml"
    config.write_text('db = "/configured.db"')
    variables = {name: str(config) if value == "CONFIG" else value for name, value in variables.items()}
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "MNEMIC_DB"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": str(tmp_path), **variables}.items():
        monkeypatch.setenv(name, value)
    settings = load({"db": option(words, "--db")})
    assert database_of(words, os.environ) == str(Path(settings.database).expanduser())


def test_words_are_read_as_the_program_reads_them():
    assert verb_of(["--json", "--db", "recall", "stats"]) == "stats"
    assert verb_of(["--namespace=x", "recall"]) == "recall"
    assert verb_of(["--version"]) is None and verb_of([]) is None
    assert option(["remember", "--", "--db", "x"], "--db") is None


def test_two_databases_have_two_daemons(tmp_path):
    places = {address(tmp_path / name).socket for name in ("a", "b")}
    assert len(places) == 2
