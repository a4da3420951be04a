"""One daemon serves all clients of a database, and is gone when nobody needs it."""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path

import pytest
from local_daemon import address, client, command, is_running, status, told, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no local daemon on Windows")

PRIVATE = 0o600


def test_clients_of_one_database_share_a_process(tmp_path):
    with client(tmp_path) as first, client(tmp_path) as second:
        told(first, "remember", text="The build runs on Tuesdays")
        assert "Tuesdays" in told(second, "recall", query="build")
        facts = status(tmp_path)
        assert facts and facts["clients"] == 2
        assert facts["process"] not in (first.process.pid, second.process.pid)


def test_the_socket_is_closed_to_others(tmp_path):
    with client(tmp_path):
        where = Path(address(tmp_path).socket)
        assert stat.S_IMODE(where.stat().st_mode) == PRIVATE
        assert stat.S_IMODE(where.parent.stat().st_mode) == 0o700
        assert where.stat().st_uid == os.getuid()


def test_an_idle_daemon_ends_and_leaves_nothing_behind(tmp_path):
    with client(tmp_path) as one:
        facts = status(tmp_path)
        assert facts
        assert one.end() == ([], 0)
        until(lambda: not is_running(facts["process"]))
        assert not Path(address(tmp_path).socket).exists() and not Path(address(tmp_path).lock).exists()


def test_the_database_is_complete_in_its_file_when_the_last_client_has_left(tmp_path):
    with client(tmp_path) as one:
        told(one, "remember", text="The build runs on Tuesdays")
        one.end()
        assert status(tmp_path), "the daemon is still there"
        assert not (tmp_path / "memory.db-wal").exists()


def test_a_daemon_ends_when_its_database_is_deleted(tmp_path):
    with client(tmp_path, MNEMIC_DAEMON_IDLE_SECS="600") as one:
        facts = status(tmp_path)
        assert facts
        one.end()
        (tmp_path / "memory.db").unlink()
        until(lambda: not is_running(facts["process"]))


def test_a_client_after_the_database_was_replaced_sees_the_new_one(tmp_path):
    with client(tmp_path) as one:
        told(one, "remember", text="An old fact")
        for file in tmp_path.glob("memory.db*"):
            file.unlink()
        with client(tmp_path) as other:
            assert "An old fact" not in told(other, "recall", query="old fact")


def test_a_command_is_done_by_the_running_daemon(tmp_path):
    with client(tmp_path) as one:
        told(one, "remember", text="The build runs on Tuesdays")
        before = status(tmp_path)
        done = command(tmp_path, "recall", "build")
        after = status(tmp_path)
        assert b"Tuesdays" in done.stdout and before and after
        assert after["served"] == before["served"] + 1


def test_a_command_starts_no_daemon_unless_the_setting_says_so(tmp_path):
    assert command(tmp_path, "remember", "A fact").returncode == 0
    assert status(tmp_path) is None
    assert command(tmp_path, "recall", "fact", MNEMIC_DAEMON="always").returncode == 0
    assert status(tmp_path)


def test_never_keeps_clients_in_processes_of_their_own(tmp_path):
    with client(tmp_path, MNEMIC_DAEMON="never") as one:
        assert "stored" in told(one, "remember", text="A fact")
        assert status(tmp_path) is None
    with client(tmp_path, "--in-process") as one:
        assert status(tmp_path) is None


def test_doctor_and_status_show_the_daemon(tmp_path):
    assert b"not running" in command(tmp_path, "daemon", "status").stdout
    with client(tmp_path), client(tmp_path):
        facts = json.loads(command(tmp_path, "--json", "daemon", "status").stdout)
        assert facts["running"] and facts["clients"] == 2 and facts["memory_bytes"] > 10_000_000
        checks = json.loads(command(tmp_path, "--json", "doctor").stdout)["checks"]
        [found] = [check for check in checks if check["check"] == "daemon"]
        assert found["health"] == "ok" and "2 clients" in found["detail"]


def test_stop_ends_the_daemon_and_clients_go_on_with_another(tmp_path):
    with client(tmp_path) as one:
        told(one, "remember", text="The build runs on Tuesdays")
        before = status(tmp_path)
        assert before and b"Ended" in command(tmp_path, "daemon", "stop").stdout
        assert status(tmp_path) is None
        until(lambda: not is_running(before["process"]))
        assert "Tuesdays" in told(one, "recall", id=2, query="build")
        assert b"not running" not in command(tmp_path, "daemon", "stop").stdout
        assert b"not running" in command(tmp_path, "daemon", "stop").stdout
