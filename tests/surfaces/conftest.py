"""What the tests of the surfaces share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import CommandLine

from mnemic.core.context import Context
from mnemic.storage.base import Store
from support import Uids


@pytest.fixture
def twin(fresh: Callable[[str], Store], ctx: Context) -> Context:
    """The same context as `ctx` over a store of its own."""
    store = fresh("twin")
    assert ctx.embedder
    store.use_models(ctx.embedder.name)
    return replace(ctx, store=store, new_uid=Uids())


@pytest.fixture
def ai(cli: CommandLine) -> CommandLine:
    """`mnemic ai-memory` in the home of `cli`."""
    return cli.below("ai-memory")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """`mnemic` in a home of its own."""
    home = tmp_path / "home"
    home.mkdir()
    return CommandLine(home, monkeypatch, capsys)
