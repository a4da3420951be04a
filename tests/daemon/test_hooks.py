"""Hooks beside a running daemon: done by it, quick, and quiet when it fails."""

from __future__ import annotations

import json
import os
import signal
import sys
import time

import pytest
import transcripts
from local_daemon import client, command, status, told

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no local daemon on Windows")


@pytest.fixture
def folder(tmp_path):
    """A repository called `widgets`."""
    (tmp_path / "widgets" / ".git").mkdir(parents=True)
    return tmp_path / "widgets"


def called(tmp_path, folder, event, session="s1", **fields):
    payload = {"session_id": session, "cwd": str(folder), **fields}
    return command(tmp_path, "hook", event, "--client", "claude-code", stdin=json.dumps(payload).encode())


def test_a_hook_is_done_by_the_running_daemon(tmp_path, folder):
    said = [("Always run make check before you commit.", "I will.")]
    file = transcripts.claude_code(tmp_path / "t.jsonl", said)
    with client(tmp_path) as one:
        told(one, "remember", text="The build runs on Tuesdays", namespace="widgets")
        before = status(tmp_path)
        assert called(tmp_path, folder, "SessionEnd", transcript_path=str(file)).returncode == 0
        start = called(tmp_path, folder, "SessionStart", "s2")
        after = status(tmp_path)
        assert b"make check" in start.stdout and b"Tuesdays" in start.stdout and start.stderr == b""
        assert before and after and after["served"] == before["served"] + 2
    assert not (tmp_path / "hooks.log").exists()


def test_what_the_daemon_cannot_read_is_one_line_in_the_log(tmp_path):
    with client(tmp_path):
        done = command(tmp_path, "hook", "SessionStart", stdin=b"{broken")
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (tmp_path / "hooks.log").read_text().count("\n") == 1


def test_a_hook_that_the_daemon_cannot_do_is_done_by_its_own_process(tmp_path, folder):
    with client(tmp_path) as one:
        told(one, "remember", text="The build runs on Tuesdays", namespace="widgets")
        payload = json.dumps({"session_id": "s", "cwd": str(folder)}).encode()
        done = command(
            *(tmp_path, "hook", "SessionStart"),
            stdin=payload,
            MNEMIC_EMBEDDER="openai",
            MNEMIC_EMBED_URL="http://x",
            MNEMIC_EMBED_MODEL="m",
            HTTPS_PROXY="http://proxy.invalid",
        )
        assert b"Tuesdays" in done.stdout and done.returncode == 0


def test_a_hook_ends_well_while_the_daemon_stands_still(tmp_path, folder, monkeypatch):
    monkeypatch.setattr("mnemic.daemon_client.commands.HOOK_SECONDS", 1.0)
    with client(tmp_path):
        facts = status(tmp_path)
        assert facts
        os.kill(facts["process"], signal.SIGSTOP)
        try:
            began = time.monotonic()
            pid = os.fork()
            if pid == 0:
                _hook_in_child(tmp_path, folder)
            _, code = os.waitpid(pid, 0)
        finally:
            os.kill(facts["process"], signal.SIGCONT)
        assert code == 0 and time.monotonic() - began < 10


def _hook_in_child(tmp_path, folder):
    """Never returns: becomes a hook whose daemon does not answer."""
    from mnemic.daemon_client import commands

    os.environ["MNEMIC_DB"] = str(tmp_path / "memory.db")
    commands.forwarded(["hook", "SessionStart"])
    os._exit(9)
