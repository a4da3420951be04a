"""Operations for the owner of a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import kept

from mnemic.app import dialect
from mnemic.core.context import Context
from mnemic.errors import Denied
from mnemic.model.access import Grant
from mnemic.transfer.jsonl import export_lines

COMMANDS = ("tokens", "settings", "clients", "backups", "checks", "import_content")


@pytest.mark.parametrize("grant", [Grant(("acme",), True), Grant(None, False)])
@pytest.mark.parametrize("name", COMMANDS)
def test_limited_tokens_may_not_administer(ctx: Context, name: str, grant: Grant):
    operation = dialect("mnemic").commands[name]
    arguments = {"content": "{}"} if name == "import_content" else {}
    with pytest.raises(Denied):
        operation.function(ctx.limited_to(grant), operation.parse(arguments))


def run(ctx: Context, name: str, **arguments: Any) -> Any:
    """The reply of the command *name*."""
    operation = dialect("mnemic").commands[name]
    return operation.function(ctx, operation.parse(arguments))


def test_a_preview_changes_nothing_and_says_what_is_known_where_it_can_compare(ctx: Context, engine: str):
    kept(ctx, "Tea is at four")
    content = "\n".join(export_lines(ctx))
    before = ctx.store.newest()
    told = run(ctx, "import_content", content=content)
    is_compared = engine == "sqlite"
    assert (told.known, told.new, told.is_compared) == (is_compared, not is_compared, is_compared)
    assert not told.is_applied and ctx.store.newest() == before


def test_a_preview_shows_how_known_memories_would_change(ctx: Context, engine: str):
    memory = kept(ctx, "Tea is at four")
    content = "\n".join(export_lines(ctx)).replace("Tea is at four", "Tea is at five")
    told = run(ctx, "import_content", content=content)
    if engine == "sqlite":
        assert (told.changed, told.new) == (1, 0)
        assert any(change.id == memory.id and change.before for change in told.changes)
    applied = run(ctx, "import_content", content=content, apply=True)
    assert applied.is_applied and applied.changed == 1 and applied.changes is None


@pytest.mark.only_on("sqlite")
def test_a_backup_is_gone_back_to_after_a_dry_run(ctx: Context, engine: str, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    made = run(ctx, "backups", make=True).backups[0].file
    kept(ctx, "Tea is at four")
    assert run(ctx, "backups", restore=Path(made).name).undone == 1
    assert run(ctx, "list").total == 1
    assert run(ctx, "backups", restore=made, apply=True).undone == 1
    assert run(ctx, "list").total == 0
