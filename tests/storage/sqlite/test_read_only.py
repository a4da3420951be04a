"""A database that cannot be written can still be read."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from support import a_draft, a_query, kept, put

from mnemic.app import dialect, open_sqlite
from mnemic.core import backups
from mnemic.core.embedding_queue import embed_pending
from mnemic.core.recall import recall
from mnemic.dialects.execution import answer
from mnemic.errors import StoreUnusable
from mnemic.storage.queries import count, each_memory
from mnemic.storage.sqlite import read_only

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
    kept(ctx, "the heron stands in the pond", name="Heron")
    kept(ctx, "the egret stands near the pond", name="Egret")
    embed_pending(ctx, 10)
    kept(ctx, "the swan is pending", name="Swan")
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
        store = open_sqlite(mount)
        there = replace(ctx, store=store)
        store.use_models(ctx.embedder.name)
        assert recall(there, a_query("heron in the pond")).hits[0].memory.title == "Heron"
        assert count(store.read()) == 3 and store.check() == []
        store.close()
    assert [one.name for one in mount.parent.iterdir()] == ["backup.db"]


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_it_is_not_written(ctx, mount):
    before = mount.read_bytes()
    with without_rights():
        store = open_sqlite(mount)
        there = replace(ctx, store=store)
        refused = answer(dialect("mnemic"), there, "remember", {"text": "something new"})
        assert "backup.db cannot be written" in refused.rendered.text
        with pytest.raises(StoreUnusable, match="cannot be written"):
            kept(there, "something new")
        store.close()
    assert mount.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_it_is_backed_up(ctx, mount):
    with without_rights(), tempfile.TemporaryDirectory() as folder:
        there = replace(ctx, store=open_sqlite(mount))
        backups.make(there, Path(folder))
        there.store.close()
        [made] = backups.listed(Path(folder))
        copy = open_sqlite(made.path)
        assert count(copy.read()) == 3
        copy.close()


def test_a_mount_that_cannot_be_written_is_given_as_the_reason(ctx, monkeypatch):
    given = os.statvfs(ctx.store.path.parent)
    mounted = os.statvfs_result((*given[:8], given.f_flag | os.ST_RDONLY, given.f_namemax))
    monkeypatch.setattr(os, "statvfs", lambda path: mounted)
    monkeypatch.setattr(read_only, "_may_write", lambda path: False)
    store = open_sqlite(ctx.store.path)
    with pytest.raises(StoreUnusable, match="it is on a file system that is mounted read-only"):
        put(store, a_draft("one more"))
    store.close()


def test_one_that_can_be_written_is(ctx):
    assert not read_only.is_read_only(ctx.store.path)
    assert not read_only.is_read_only(ctx.store.path.with_name("nowhere.db"))


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_an_older_one_is_refused_with_what_to_do(mount, monkeypatch):
    monkeypatch.setattr(read_only, "MIGRATIONS", (*read_only.MIGRATIONS, ""))
    with without_rights(), pytest.raises(StoreUnusable, match="Copy it to a folder that can be written"):
        open_sqlite(mount)


def test_on_a_full_disk_what_is_there_can_be_read(tmp_path, monkeypatch):
    path = tmp_path / "full.db"
    store = open_sqlite(path)
    put(store, a_draft("known before"))
    store.close()

    def full(path, durable):
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr("mnemic.storage.sqlite.store.to_write", full)
    store = open_sqlite(path)
    assert [memory.title for memory in each_memory(store.read())] == ["known before"]
    with pytest.raises(StoreUnusable, match=r"full\.db cannot be written: the disk is full or failing"):
        put(store, a_draft("one more"))
    store.close()
    with pytest.raises(StoreUnusable, match="full or failing"):
        open_sqlite(tmp_path / "new.db")
