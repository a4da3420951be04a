"""`mnemic ai-memory shell` and `mnemic shell`: commands, errors, completion, and a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import time

import pytest

from mnemic.app import open_app
from mnemic.console.run import Run
from mnemic.dialects.ai_memory.cli.shell import SHORTER, Shell
from mnemic.settings import load


@pytest.fixture
def key(ai):
    """A memory of the kitchen."""
    return ai.json("store", "-T", "Walnut cake", "-c", "flour and eggs", "-n", "kitchen")["id"]


@pytest.mark.parametrize(
    "line, said",
    [
        ("recall cake", "1 memory(ies) recalled"),
        ("r cake", "1 memory(ies) recalled"),
        ("search walnut", "1 memory(ies) found"),
        ("S walnut", "1 memory(ies) found"),
        ("list", "Walnut cake"),
        ("ls kitchen", "Walnut cake"),
        ("ls garden", "0 memory(ies) listed"),
        ("get 1", "flour and eggs"),
        ("stats", "memories"),
        ("namespaces", "kitchen  1"),
        ("ns", "kitchen  1"),
        ("help", "delete a memory"),
        ("?", "del, rm"),
    ],
)
def test_a_line_is_answered(ai, key, line, said):
    done = ai("shell", stdin=f"{line}\n")
    assert done.code == 0 and said in done.out, done
    assert "ai-memory>" not in done.out  # nobody is there to be asked


@pytest.mark.parametrize("verb", ["delete", "del", "rm"])
def test_a_memory_can_be_deleted(ai, key, verb):
    assert ai("shell", stdin=f"{verb} {key}\n").out == f"deleted: {key}\n"
    assert ai.json("stats")["total"] == 0


def test_bad_lines_are_reported_and_skipped(ai, key):
    done = ai("shell", stdin=f"nonsense\nget\nget 77\nrecall\n\n  \ndelete {key[:8]}")
    assert done.code == 0 and done.out == f"deleted: {key}\n"
    assert done.err.splitlines() == [
        "Error: unknown command; `help` lists them",
        "Error: usage: get ID",
        "not found: 77",
        "Error: usage: recall CONTEXT",
    ]


@pytest.mark.parametrize("word", ["quit", "exit", "q"])
def test_lines_after_exit_are_not_read(ai, key, word):
    ai("shell", stdin=f"{word}\ndelete {key}\n")
    assert ai.json("stats")["total"] == 1


def test_answers_can_be_json(ai, key):
    done = ai("--json", "shell", stdin="list\nget 1\n")
    assert [list(json.loads(line)) for line in done.out.splitlines()] == [
        ["memories", "count"],
        ["memory", "links"],
    ]


def test_lines_that_are_not_utf8_are_reported(ai, key):
    done = ai("shell", stdin=b"recall \xff\nnamespaces\n")
    assert (done.code, done.out, done.err) == (0, "kitchen  1\n", "Error: line: is not UTF-8 text\n")


def test_verbs_and_namespaces_are_completed(ai, key):
    with open_app(load({"db": str(ai.home / "memory.db"), "embedder": "none"})) as app:
        talk = Shell(Run(), app.ctx)
        assert talk.completions("", "") == [*talk.verbs, "quit"]
        assert talk.completions("s", "") == ["search", "stats"]
        assert talk.completions("k", "ls ") == talk.completions("", "list ") == ["kitchen"]
        assert talk.completions("", "get ") == talk.completions("", "ls kitchen ") == []
        assert set(SHORTER.values()) <= {*talk.verbs, "quit"}


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_has_a_prompt_completion_and_a_history_of_one_s_own(ai, key):
    import pty

    pid, handle = pty.fork()
    if pid == 0:
        environment = {**ai.environment, "TERM": "xterm", "XDG_DATA_HOME": str(ai.home / "data")}
        os.execve(sys.executable, [sys.executable, "-m", "mnemic", "ai-memory", "shell"], environment)
    seen = bytearray()

    def read_until(wanted: bytes) -> None:
        deadline = time.monotonic() + 30
        while wanted not in seen and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                seen.extend(os.read(handle, 65536))

    read_until(b"ai-memory> ")
    os.write(handle, b"nam\t\n")
    read_until(b"kitchen")
    # Not Ctrl-D: between two prompts the terminal itself would take it, and the shell would wait for ever.
    os.write(handle, b"quit\n")
    with contextlib.suppress(OSError):
        while piece := os.read(handle, 65536):
            seen += piece
    _, status = os.waitpid(pid, 0)
    os.close(handle)
    assert os.waitstatus_to_exitcode(status) == 0
    history = ai.home / "data" / "mnemic" / "shell_history"
    assert "namespaces" in history.read_text()
    assert stat.S_IMODE(history.stat().st_mode) == 0o600


def test_a_line_of_the_native_shell_is_a_command(cli):
    done = cli("shell", stdin="remember Tea is at four --tags tea\nrecall tea\nopen 1 --json\nlist\n")
    assert done.code == 0 and done.err == ""
    assert (
        done.out.startswith("Remembered 1 Tea is at four in global\n")
        and done.out.count("Tea is at four") >= 4
    )
    assert '"id":1' in done.out


def test_the_native_shell_continues_after_errors(cli):
    done = cli(
        "shell", stdin="nonsense\nopen 77\nrecall --limit 0 x\nremember don't panic\nquit\nremember late\n"
    )
    assert done.code == 0 and "No such command: nonsense." in done.err and "No memory '77'" in done.err
    assert done.out == "Remembered 1 don't panic in global\n"


def test_the_native_shell_explains_commands(cli):
    assert "Usage: mnemic open" in cli("shell", stdin="help open\n").out
    assert "\n  remember " in cli("shell", stdin="help\n").out


def test_the_native_shell_completes_commands_and_options(cli):
    import click

    from mnemic.cli.commands.shell import _complete
    from mnemic.cli.program import program

    root = program()
    ctx = click.Context(root, info_name="mnemic")
    assert _complete(root, ctx, "rem", "") == ["remember"]
    assert _complete(root, ctx, "--li", "recall tea ") == ["--limit"]
    assert _complete(root, ctx, "", "session ") == ["start", "end", "resume", "log"]
