"""What the tests of the surfaces share."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import CommandLine


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """`mnemic` in a home of its own."""
    home = tmp_path / "home"
    home.mkdir()
    return CommandLine(home, monkeypatch, capsys)
