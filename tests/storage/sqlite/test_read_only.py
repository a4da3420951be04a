"""A database that cannot be written can still be read."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from mnemic.app import dialect
from mnemic.core.recall import recall
from mnemic.core.upkeep import embed_pending
from mnemic.errors import StoreUnusable
from mnemic.storage.sqlite import read_only
from mnemic.storage.sqlite.store import SqliteStore
from mnemic.surfaces.bridge import answer
from support import a_query, kept

NOBODY = 65_534


@contextmanager
def without_rights() -> Iterator[None]:
    """Let the permissions of files count, as they do not for the superuser."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@pytest.fixture
def mount(ctx) -> Iterator[Path]:
    """A database in a folder that cannot be written."""
    kept(ctx, "the heron stands in the pond", title="Heron")
    kept(ctx, "the egret stands near the pond", title="Egret")
    embed_pending(ctx, 10)
    kept(ctx, "the swan is pending", title="Swan")
    # What is needed below is imported now: the interpreter's own files have permissions too.
    answer(dialect("mnemic"), ctx, "remember", {"text": ""})
    recall(ctx, a_query("swan"))
    ctx.store.check()
    folder = Path(tempfile.mkdtemp(prefix="mnemic-mount-"))
    ctx.store.backup(folder / "backup.db")
    (folder / "backup.db").chmod(0o444)
    folder.chmod(0o555)
    yield folder / "backup.db"
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_a_file_on_a_read_only_mount_is_read(ctx, mount):
    with without_rights():
        assert read_only.is_read_only(mount)
        store = SqliteStore(mount)
        there = replace(ctx, store=store)
        store.use_models(ctx.embedder.name)
        assert recall(there, a_query("heron in the pond")).hits[0].memory.title == "Heron"
        assert store.read().count() == 3 and store.check() == []
        store.close()
    assert [one.name for one in mount.parent.iterdir()] == ["backup.db"]


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_it_is_not_written(ctx, mount):
    before = mount.read_bytes()
    with without_rights():
        store = SqliteStore(mount)
        there = replace(ctx, store=store)
        refused = answer(dialect("mnemic"), there, "remember", {"text": "something new"})
        assert "backup.db cannot be written" in refused.rendered.text
        with pytest.raises(StoreUnusable, match="cannot be written"):
            kept(there, "something new")
        store.close()
    assert mount.read_bytes() == before


def test_one_that_can_be_written_is(ctx):
    assert not read_only.is_read_only(ctx.store.path)
    assert not read_only.is_read_only(ctx.store.path.with_name("nowhere.db"))


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_an_older_one_is_refused_with_what_to_do(mount, monkeypatch):
    monkeypatch.setattr(read_only, "MIGRATIONS", (*read_only.MIGRATIONS, ""))
    with without_rights(), pytest.raises(StoreUnusable, match="Copy it to a folder that can be written"):
        SqliteStore(mount)
