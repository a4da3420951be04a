"""What goes wrong with a daemon is noticed by no client, or told in a sentence. Nothing acknowledged is lost."""

from __future__ import annotations

import fcntl
import json
import os
import random
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from local_daemon import address, client, command, end, is_running, status, told, until
from server_process import HELLO, Process, call, environment

from mnemic.daemon_client import client as daemon_client
from mnemic.daemon_client.frames import packed_json, received

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no local daemon on Windows")


def kill(home: Path) -> int:
    """End the daemon of *home* without notice."""
    facts = status(home)
    assert facts
    os.kill(facts["process"], signal.SIGKILL)
    until(lambda: not is_running(facts["process"]))
    return int(facts["process"])


def texts(home: Path) -> list[str]:
    """The texts in the database of *home*."""
    with closing(sqlite3.connect(home / "memory.db")) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM statement ORDER BY id")]


def is_waiting(home: Path) -> bool:
    """Whether the daemon of *home* holds the turn to write, which it does while SQLite's lock is another's."""
    with (home / "memory.db-turn").open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


@pytest.fixture
def held(tmp_path):
    """Holds the write lock of the database, so that a write waits."""
    connection = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)

    class Held:
        def take(self):
            connection.execute("BEGIN IMMEDIATE")

        def release(self):
            connection.execute("ROLLBACK")

    yield Held()
    connection.close()


def test_a_client_goes_on_after_the_daemon_was_killed(tmp_path):
    with client(tmp_path) as one:
        told(one, "remember", text="The build runs on Tuesdays")
        killed = kill(tmp_path)
        assert "Tuesdays" in told(one, "recall", id=2, query="build")
        facts = status(tmp_path)
        assert facts and facts["process"] != killed


def test_a_work_session_goes_on_after_the_daemon_was_killed(tmp_path):
    with client(tmp_path) as one, client(tmp_path) as other:
        told(one, "session", action="start", topic="Heron upgrade")
        told(other, "session", action="start", topic="Office party")
        kill(tmp_path)
        assert "Heron upgrade" in told(one, "session", id=2, action="end", summary="Done")
        assert "Office party" in told(other, "session", id=2, action="end", summary="Done")


def test_the_new_daemon_knows_who_the_client_is(tmp_path):
    with client(tmp_path) as one:
        told(one, "remember", text="Before")
        kill(tmp_path)
        told(one, "remember", id=2, text="After")
        changes = json.loads(command(tmp_path, "--json", "history").stdout)["changes"]
        assert {change["actor"] for change in changes} == {"tester"}


def test_a_request_that_waits_when_the_daemon_is_killed_is_done_once_by_another(tmp_path, held):
    with client(tmp_path) as one:
        told(one, "remember", text="Before")
        held.take()
        one.write(call("remember", {"text": "While it was killed"}, id=7))
        until(lambda: is_waiting(tmp_path))
        kill(tmp_path)
        held.release()
        answer = one.read()
        assert answer["id"] == 7 and "stored" in answer["result"]["content"][0]["text"]
        assert texts(tmp_path).count("While it was killed") == 1


def test_acknowledged_writes_survive_and_none_is_made_twice_however_often_the_daemon_is_killed(tmp_path):
    chance = random.Random(7)
    answers = {}
    with client(tmp_path) as one:
        for number in range(24):
            text = f"Fact {number:03}"
            if number % 3 == 2:
                process = status(tmp_path)["process"]
                threading.Timer(chance.uniform(0.0, 0.03), os.kill, (process, signal.SIGKILL)).start()
            one.write(call("remember", {"text": text, "force": True}, id=number + 10))
            answers[text] = one.read()
            assert answers[text]["id"] == number + 10
    found = texts(tmp_path)
    acknowledged = [text for text, answer in answers.items() if "result" in answer]
    assert len(acknowledged) > 12
    assert all(found.count(text) == 1 for text in acknowledged)
    for text in answers.keys() - set(acknowledged):
        assert found.count(text) == ("was stored" in answers[text]["error"]["message"])


def test_a_command_that_loses_its_daemon_is_done_by_its_own_process(tmp_path, held):
    with client(tmp_path) as one:
        told(one, "remember", text="Before")
        held.take()
        running = subprocess.Popen(
            [sys.executable, "-m", "mnemic", "remember", "By a command"],
            env=environment(tmp_path),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        until(lambda: status(tmp_path)["commands"] == 1 and is_waiting(tmp_path))
        kill(tmp_path)
        held.release()
        _, err = running.communicate(timeout=60)
        assert running.returncode == 0, err
        assert texts(tmp_path).count("By a command") == 1


def test_sigterm_lets_a_call_finish(tmp_path, held):
    with client(tmp_path) as one:
        told(one, "remember", text="Before")
        facts = status(tmp_path)
        held.take()
        one.write(call("remember", {"text": "In the middle"}, id=5))
        until(lambda: is_waiting(tmp_path))
        os.kill(facts["process"], signal.SIGTERM)
        held.release()
        answer = one.read()
        assert "stored" in answer["result"]["content"][0]["text"]
        until(lambda: not is_running(facts["process"]))
        assert texts(tmp_path).count("In the middle") == 1


def test_a_stale_socket_is_replaced(tmp_path):
    where = address(tmp_path)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(where.socket)
    Path(where.lock).write_bytes(b"")
    with client(tmp_path) as one:
        assert "stored" in told(one, "remember", text="A fact")
        assert status(tmp_path)


def test_clients_that_start_at_once_share_one_daemon(tmp_path):
    clients = [Process(tmp_path) for _ in range(6)]
    try:
        for one in clients:
            one.write(
                json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}).encode()
            )
        assert all("result" in one.read() for one in clients)
        facts = status(tmp_path)
        assert facts and facts["clients"] == 6
    finally:
        for one in clients:
            one.__exit__()
        end(tmp_path)


def test_a_client_of_another_version_is_refused_in_a_sentence_while_others_are_served(tmp_path):
    with client(tmp_path):
        greeting = {"version": "99.0", "code": "/elsewhere", "database": str(tmp_path / "memory.db")}
        message = packed_json(b"H", {**greeting, "kind": "run", "argv": ["mcp"]})
        with pytest.raises(daemon_client.Refused, match=r"version 0\.\d.*99\.0.*`mnemic daemon stop`"):
            daemon_client.introduced(address(tmp_path), message, starts=False)
        assert status(tmp_path)["clients"] == 1


def test_an_idle_daemon_of_another_version_makes_room(tmp_path):
    with client(tmp_path, MNEMIC_DAEMON_IDLE_SECS="600") as one:
        facts = status(tmp_path)
        one.end()
        greeting = {"version": "99.0", "code": "/elsewhere", "database": str(tmp_path / "memory.db")}
        message = packed_json(b"H", {**greeting, "kind": "run", "argv": ["mcp"]})
        assert daemon_client.introduced(address(tmp_path), message, starts=False) is None
        until(lambda: not is_running(facts["process"]))


def test_a_client_of_another_version_is_served_by_its_own_process(tmp_path):
    code = "import mnemic; mnemic.__version__ = '99.0'; from mnemic.cli import main; main()"
    with client(tmp_path) as one, Process(tmp_path, "-c", code, "mcp") as other:
        assert "result" in other.ask("initialize", HELLO)
        other.write(call("remember", {"text": "From another version"}))
        assert "stored" in other.read()["result"]["content"][0]["text"]
        assert "another version" in told(one, "recall", query="another version")
        other.process.terminate()
        assert b"`mnemic daemon stop`" in other.process.stderr.read()


def test_without_leave_to_start_a_process_the_client_serves_itself(tmp_path):
    if os.getuid() == 0:
        pytest.skip("root is not limited in processes")
    limit = (resource.RLIMIT_NPROC, (0, 0))
    code = f"import resource; resource.setrlimit(*{limit}); from mnemic.cli import main; main()"
    with Process(tmp_path, "-c", code, "mcp") as one:
        assert "result" in one.ask("initialize", HELLO)
    assert status(tmp_path) is None


def test_without_leave_to_start_a_thread_calls_are_answered_all_the_same(tmp_path):
    """A limit on processes counts threads too. Root has none, so the system's answer is put in its place."""
    code = (
        "import os, threading\n"
        "def refused(*_, **__): raise PermissionError(1, 'not allowed')\n"
        'def full(*_): raise RuntimeError("can\'t start new thread")\n'
        "os.posix_spawn, threading._start_new_thread = refused, full\n"
        "from mnemic.cli import main; main()"
    )
    with Process(tmp_path, "-c", code, "mcp") as one:
        assert "result" in one.ask("initialize", HELLO)
        for text in ("A fact", "Another one"):
            one.write(call("remember", {"text": text}))
            assert "stored" in one.read()["result"]["content"][0]["text"]
        assert "Another one" in told(one, "recall", query="another one")
    given = json.dumps({"session_id": "s", "cwd": str(Path.cwd())})
    hook = [sys.executable, "-c", code, "hook", "SessionStart"]
    done = subprocess.run(hook, env=environment(tmp_path), input=given, capture_output=True, text=True)
    assert done.returncode == 0 and "Another one" in done.stdout


@pytest.mark.parametrize("failing", ["posix_spawn", "mkdir"])
def test_what_the_system_does_not_allow_is_done_without(tmp_path, failing):
    code = (
        "import os, mnemic.daemon_client.address as a\n"
        "def refused(*_, **__): raise PermissionError(1, 'not allowed')\n"
        f"os.{failing} = refused\n"
        "a._is_ours = lambda folder: False if os.mkdir is refused else True\n"
        "from mnemic.cli import main; main()"
    )
    with Process(tmp_path, "-c", code, "mcp") as one:
        assert "result" in one.ask("initialize", HELLO)
        one.write(call("remember", {"text": "A fact"}))
        assert "stored" in one.read()["result"]["content"][0]["text"]
        assert status(tmp_path) is None


def journal(home: Path) -> list[tuple[int, str]]:
    """When and by whom each change was made."""
    changes = json.loads(command(home, "--json", "history").stdout)["changes"]
    assert changes
    with closing(sqlite3.connect(home / "memory.db")) as connection:
        return list(connection.execute("SELECT at, actor FROM journal ORDER BY rowid"))


class LastWords:
    """A daemon that accepts one client, hears one request, says one thing more and dies."""

    def __init__(self, home: Path, mark: dict[str, object]):
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(address(home).socket)
        self._listener.listen()
        self._mark = mark
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        wire, _ = self._listener.accept()
        self._listener.close()
        with wire:
            messages = received(wire)
            next(messages)
            wire.sendall(packed_json(b"A", {}))
            next(messages)
            wire.sendall(packed_json(b"M", self._mark))
            wire.shutdown(socket.SHUT_WR)

    def join(self) -> None:
        """Wait until it is dead."""
        self._thread.join()


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_change_that_was_stored_but_not_acknowledged_is_reported_and_not_repeated(tmp_path, is_kept):
    assert command(tmp_path, "remember", "A fact").returncode == 0
    at, actor = journal(tmp_path)[0]
    dying = LastWords(tmp_path, {"id": 3, "actor": actor, "at": at if is_kept else at + 1})
    try:
        with Process(tmp_path) as one:
            one.write(call("remember", {"text": "A fact"}, id=3))
            answer = one.read()
            dying.join()
        if is_kept:
            assert "the change was stored" in answer["error"]["message"]
        else:
            assert "the same text is known" in answer["result"]["content"][0]["text"], "another daemon did it"
        assert texts(tmp_path) == ["A fact"]
    finally:
        end(tmp_path)


def test_a_full_disk_is_reported_and_reading_goes_on(tmp_path):
    with client(tmp_path) as one:
        told(one, "remember", text="The build runs on Tuesdays")
        room = max(file.stat().st_size for file in tmp_path.glob("memory.db*"))
        resource.prlimit(status(tmp_path)["process"], resource.RLIMIT_FSIZE, (room, room))
        one.write(call("remember", {"items": [{"text": f"No room for {n} " * 500} for n in range(99)]}, id=2))
        answer = one.read()["result"]
        assert answer["isError"] and "disk is full" in answer["content"][0]["text"], answer
        assert "Tuesdays" in told(one, "recall", id=3, query="build")
    assert texts(tmp_path) == ["The build runs on Tuesdays"]


def test_a_disk_that_is_full_at_the_start_is_reported_as_in_a_process_of_its_own(tmp_path):
    limited = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    code = f"{limited}; from mnemic.cli import main; main()"
    answers = []
    for words in (("mcp",), ("mcp", "--in-process")):
        with Process(tmp_path, "-c", code, *words) as one:
            answers.append(one.process.communicate(b""))
    assert answers[0] == answers[1] and answers[0][1].startswith(b"Error: ")


def test_a_home_that_cannot_be_written_needs_no_log(tmp_path):
    with client(tmp_path, HOME="/proc/self/nothing") as one:
        assert "stored" in told(one, "remember", text="A fact")
        assert status(tmp_path)["clients"] == 1


def test_a_database_at_a_long_path_has_a_daemon_too(tmp_path):
    deep = tmp_path / ("d" * 200) / ("e" * 200)
    deep.mkdir(parents=True)
    with client(deep) as one:
        assert "stored" in told(one, "remember", text="A fact")
        assert len(address(deep).socket) < 100 and status(deep)["clients"] == 1


def test_a_strange_file_is_refused_as_in_a_process_of_its_own_and_leaves_no_daemon(tmp_path):
    (tmp_path / "memory.db").write_bytes(b"This is no database. " * 400)
    shared = command(tmp_path, "mcp")
    alone = command(tmp_path, "mcp", "--in-process")
    assert (shared.returncode, shared.stderr) == (alone.returncode, alone.stderr)
    assert alone.returncode == 1
    until(lambda: not Path(address(tmp_path).lock).exists())
