"""The command line as the tests use it: in this process, its streams caught, or as a process of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mnemic.cli.program import run


@dataclass
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


class CommandLine:
    """`mnemic` in a home of its own, with a database of its own and no model unless it is asked for."""

    def __init__(
        self,
        home: Path,
        patch: pytest.MonkeyPatch,
        capture: pytest.CaptureFixture[str],
        group: tuple[str, ...] = (),
    ):
        self.group = group
        self.home = home
        self.patch = patch
        self.capture = capture
        self.environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("MNEMIC_", "XDG_", "CLAUDE", "CODEX"))
            },
            "HOME": str(home),
            "USERPROFILE": str(home),
            "MNEMIC_DB": str(home / "memory.db"),
            "MNEMIC_EMBEDDER": "none",
            "MNEMIC_DAEMON_IDLE_SECS": "1",
            "COLUMNS": "100",
        }
        patch.chdir(home)
        for name in set(os.environ) - set(self.environment):
            patch.delenv(name)
        for name, value in self.environment.items():
            patch.setenv(name, value)

    def __call__(self, *words: str, stdin: str | bytes = "", **variables: str) -> Done:
        """Run `mnemic` with *words* in this process."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        with self.patch.context() as patch:
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
            for name, value in variables.items():
                patch.setenv(name, value)
            self.capture.readouterr()
            code = run((*self.group, *words))
        caught = self.capture.readouterr()
        return Done(code, caught.out, caught.err)

    def below(self, *group: str) -> CommandLine:
        """The same for the commands below *group*, as in `mnemic ai-memory`."""
        return CommandLine(self.home, self.patch, self.capture, group)

    def json(self, *words: str, stdin: str = "") -> Any:
        """What `mnemic` answers in JSON."""
        return self("--json", *words, stdin=stdin).json

    def terminal(self, *words: str, **variables: str) -> str:
        """What a person sees who runs `mnemic` with *words* at a terminal."""
        import pty

        pid, handle = pty.fork()
        if pid == 0:
            os.execve(
                sys.executable,
                [sys.executable, "-m", "mnemic", *self.group, *words],
                {**self.environment, "TERM": "xterm", **variables},
            )
        seen = bytearray()
        with contextlib.suppress(OSError):  # how Linux tells that the other end has closed
            while piece := os.read(handle, 65536):
                seen += piece
        os.waitpid(pid, 0)
        os.close(handle)
        return seen.decode()

    def process(self, *words: str, stdin: str = "", **variables: str) -> Done:
        """Run `mnemic` with *words* as a process."""
        done = subprocess.run(
            [sys.executable, "-m", "mnemic", *self.group, *words],
            input=stdin.encode(),
            capture_output=True,
            env={**self.environment, **variables},
            cwd=self.home,
            timeout=120,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())
