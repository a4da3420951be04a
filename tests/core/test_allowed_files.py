"""Files that tools may read: only below the allowed folders, whatever the path looks like."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from support import is_locked, kept

from mnemic.core.allowed_files import LARGEST, readable
from mnemic.errors import Denied, Invalid


@pytest.fixture
def allowed(tmp_path):
    folder = tmp_path / "allowed"
    folder.mkdir()
    (folder / "in.txt").write_text("inside")
    (tmp_path / "out.txt").write_text("outside")
    return folder


@pytest.fixture
def confined(ctx, allowed):
    return replace(ctx, roots=(allowed.resolve(),))


def test_a_file_below_an_allowed_folder_is_read(confined, allowed):
    (allowed / "deep" / "er").mkdir(parents=True)
    (allowed / "deep" / "er" / "x").write_bytes(b"\xff\0")
    assert readable(confined, allowed / "in.txt", "path") == b"inside"
    assert readable(confined, allowed / "deep" / "er" / "x", "path") == b"\xff\0"
    assert readable(confined, allowed / "deep" / ".." / "in.txt", "path") == b"inside"


@pytest.mark.parametrize(
    "path", ["../out.txt", "../allowed/../out.txt", "/etc/passwd", "../allowedly/x", ".."]
)
def test_anything_else_is_denied_whether_it_is_there_or_not(confined, allowed, path):
    with pytest.raises(Denied, match="path: files may be read below"):
        readable(confined, allowed / path, "path")


def test_no_folder_allowed_is_no_file_allowed(ctx, allowed):
    with pytest.raises(Denied):
        readable(ctx, allowed / "in.txt", "path")


def test_no_link_leads_out(confined, allowed, tmp_path):
    (allowed / "file").symlink_to(tmp_path / "out.txt")
    (allowed / "folder").symlink_to(tmp_path)
    for path in ("file", "folder/out.txt"):
        with pytest.raises(Denied):
            readable(confined, allowed / path, "path")
    assert readable(confined, allowed / "folder" / "allowed" / "in.txt", "path") == b"inside"


def test_a_link_from_outside_may_lead_in(confined, allowed, tmp_path):
    (tmp_path / "way").symlink_to(allowed / "in.txt")
    assert readable(confined, tmp_path / "way", "path") == b"inside"


def test_a_tilde_is_the_users_folder(confined, allowed, monkeypatch):
    monkeypatch.setenv("HOME", str(allowed))
    assert readable(confined, Path("~/in.txt"), "path") == b"inside"


@pytest.mark.parametrize("path", ["missing.txt", ".", "loop"])
def test_what_cannot_be_read_is_reported_without_its_place(confined, allowed, path):
    (allowed / "loop").symlink_to(allowed / "loop")
    with pytest.raises(Invalid, match=r"^path: ") as told:
        readable(confined, allowed / path, "path")
    assert str(allowed) not in str(told.value)


def test_only_a_file_is_read_and_a_pipe_is_not_waited_for(confined, allowed):
    os.mkfifo(allowed / "pipe")
    with pytest.raises(Invalid, match="path: not a file"):
        readable(confined, allowed / "pipe", "path")


def test_a_file_that_is_too_large_is_not_read(confined, allowed):
    with (allowed / "large").open("wb") as large:
        large.truncate(LARGEST + 1)
    with pytest.raises(Invalid, match="path: larger than 256 MB"):
        readable(confined, allowed / "large", "path")


@pytest.mark.only_on("sqlite")  # a server's files are not opened here
@pytest.mark.parametrize("name", ["mnemic.db", "mnemic.db-shm", "another name"])
def test_a_database_that_is_open_here_is_refused_and_stays_locked(ctx, tmp_path, name):
    # Whoever closes a file gives up every lock of the process on it, those of a database engine too.
    kept(ctx, "one")
    (tmp_path / "another name").hardlink_to(tmp_path / "mnemic.db")
    with pytest.raises(Invalid, match="path: a database that is open here"):
        readable(replace(ctx, roots=(tmp_path.resolve(),)), tmp_path / name, "path")
    assert is_locked(tmp_path / "mnemic.db")


@pytest.mark.parametrize("path", ["a\0b", "~nobody-by-this-name/x"])
def test_what_is_no_path_is_reported(confined, path):
    with pytest.raises(Invalid, match="path: not a path"):
        readable(confined, Path(path), "path")
