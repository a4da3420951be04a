"""The documents tell the truth: every command and every Python line they show is run, in order.

In a `console` block a line that begins with `$` is run by a shell, and the lines below it are what it
must print. `…` stands for anything within a line, alone on a line for any lines, and any age will do. A
command that ends with `&` goes on until the document ends; the daemon's usual port is replaced by a free one.
`pycon` blocks are doctests.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
PORT = "9077"
_BLOCK = re.compile(r"^```(console|pycon)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

_AGE = re.compile(r"\b\d+[smh] ago\b")


@dataclass
class Shown:
    """A command and what the document says it prints."""

    command: str
    lines: list[str] = field(default_factory=list)


def shown(block: str) -> Iterator[Shown]:
    """The commands of a block."""
    current: Shown | None = None
    for line in block.splitlines():
        if line.startswith("$ "):
            if current:
                yield current
            current = Shown(line[2:])
        elif current:
            current.lines.append(line)
    if current:
        yield current


def pattern(lines: list[str]) -> re.Pattern[str]:
    """What the output must match."""
    parts = [
        r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*?") + r"\s*\n" for line in lines
    ]
    return re.compile("".join(parts))


class Shell:
    """A shell in a home of its own in which `mnemic` is the one under test."""

    def __init__(self, home: Path):
        self.home = home
        self.running: list[subprocess.Popen[str]] = []
        self.port = str(_free_port())
        commands = home / "bin"
        commands.mkdir()
        script = commands / "mnemic"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mnemic "$@"\n')
        script.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MNEMIC_", "XDG_"))}
        path = f"{commands}{os.pathsep}{os.environ['PATH']}"
        self.environment = {
            **kept,
            "HOME": str(home),
            "PATH": path,
            "COLUMNS": "80",
            "MNEMIC_PORT": self.port,
        }

    def run(self, command: str) -> str:
        """What *command* prints, with the usual port in place of the one it used."""
        done = subprocess.run(
            ["bash", "-c", command.replace(PORT, self.port)],
            env=self.environment,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
        )
        return done.stdout.replace(self.port, PORT)

    def start(self, command: str, lines: int) -> str:
        """The first *lines* that *command* prints; it goes on in the background."""
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            env=self.environment,
            cwd=self.home,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.running.append(process)
        assert process.stdout is not None
        return "".join(process.stdout.readline() for _ in range(lines)).replace(self.port, PORT)

    def close(self) -> None:
        """End what still runs."""
        for process in self.running:
            process.terminate()
            process.communicate(timeout=60)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """A shell in a fresh home."""
    made = Shell(tmp_path)
    yield made
    made.close()


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_and_code_in_documents_work(document, shell, monkeypatch):
    for kind, block in _BLOCK.findall(document.read_text()):
        if kind == "pycon":
            _check_python(block, shell, monkeypatch)
            continue
        for step in shown(block):
            if step.command.startswith("curl") and not shutil.which("curl"):
                continue
            if step.command.endswith(" &"):
                got = shell.start(step.command.removesuffix(" &"), len(step.lines))
            else:
                got = shell.run(step.command)
            got = _AGE.sub("just now", got if got.endswith("\n") or not got else got + "\n")
            assert pattern(step.lines).fullmatch(got), f"$ {step.command}\n{got}"


def _check_python(block: str, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shell.home)
    monkeypatch.setenv("HOME", str(shell.home))
    test = doctest.DocTestParser().get_doctest(block, {}, "pycon", None, 0)
    told: list[str] = []
    results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=told.append)
    assert results.failed == 0, "".join(told)


def test_the_architecture_page_lists_every_folder_and_table():
    told = (ROOT / "docs" / "architecture.md").read_text()
    folders = [path.parent.name for path in (ROOT / "src" / "mnemic").glob("*/__init__.py")]
    assert [name for name in folders if not re.search(rf"^{name}/ +\w", told, re.MULTILINE)] == []
    schema = (ROOT / "src" / "mnemic" / "storage" / "sqlite" / "schema.py").read_text()
    tables = re.findall(r"^CREATE (?:VIRTUAL )?TABLE (\w+)", schema, re.MULTILINE)
    dropped = re.findall(r"^DROP TABLE (\w+)", schema, re.MULTILINE)
    assert tables and [name for name in tables if f"`{name}`" not in told and name not in dropped] == []


def test_contributing_names_files_and_folders_that_exist():
    named = re.findall(r"`([a-z_/]+(?:\.py|\.md|/))`", (ROOT / "CONTRIBUTING.md").read_text())
    places = [ROOT, ROOT / "src" / "mnemic", ROOT / "src" / "mnemic" / "dialects"]
    places += [ROOT / "src" / "mnemic" / "dialects" / "native", ROOT / "src" / "mnemic" / "storage"]
    assert "storage/sqlite/schema.py" in named
    assert [name for name in named if not any((place / name).exists() for place in places)] == []


def test_links_in_documents_resolve():
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_the_reference_is_up_to_date():
    """Made by `python tools/reference.py`."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "reference.py", "--check"], capture_output=True, text=True
    )
    assert (done.stdout, done.returncode) == ("up to date\n", 0), done.stderr


def test_links_between_the_documents_lead_somewhere():
    pages = [*DOCUMENTS, *(ROOT / "docs" / "reference").glob("*.md")]
    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text())
        if not (page.parent / target).exists()
    ]
    assert not broken
