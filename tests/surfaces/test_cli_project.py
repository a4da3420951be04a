"""The namespace that `mnemic store` takes from the folder: the repository's name, else the folder's."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from mnemic.dialects.ai_memory import rules
from mnemic.surfaces.cli import project
from mnemic.surfaces.cli.project import cleaned, configured, namespace_here, origin, repository_name

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of a project, to stand in."""
    place = tmp_path / "my project"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return place


def git(folder, *words):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    "url, name",
    [
        ("https://example.org/acme/widgets.git", "widgets"),
        ("https://example.org/acme/widgets", "widgets"),
        ("https://example.org/acme/widgets/", "widgets"),
        ("git@example.org:acme/widgets.git", "widgets"),
        ("git@example.org:widgets.git", "widgets"),
        ("ssh://git@example.org:22/acme/widgets.git", "widgets"),
        ("../other/widgets", "widgets"),
        (r"C:\code\widgets.git", "widgets"),
        ("https://example.org/acme/my.site.git", "my.site"),
        ("", ""),
    ],
)
def test_a_repository_is_called_by_the_last_part_of_its_address(url, name):
    assert repository_name(url) == name


@pytest.mark.parametrize(
    "given, name",
    [("my project", "my-project"), (" a/b\\c ", "a-b-c"), ("\x07\n", ""), ("é" * 200, "é" * 64), ("-", "")],
)
def test_a_name_becomes_one_that_a_namespace_may_have(given, name):
    assert cleaned(given) == name
    assert not name or rules.namespace(name) == name


def test_the_configuration_is_read_as_git_reads_it():
    text = """
[core]
    url = nothing
[remote "upstream"]
    url = https://example.org/up.git
[Remote "origin"]
    fetch = +refs/heads/*:refs/remotes/origin/*
    URL=https://example.org/first.git
    url = https://example.org/last.git
[branch "main"]
    remote = origin
"""
    assert configured(text) == "https://example.org/last.git"
    assert configured("[core]\n") is None


def test_without_a_repository_it_is_the_folder_s_name(folder):
    assert namespace_here() == "my-project"


def test_a_folder_without_a_name_is_global(folder, monkeypatch):
    monkeypatch.chdir("/")
    assert namespace_here() == "global"


@needs_git
def test_a_repository_without_origin_has_the_folder_s_name(folder):
    git(folder, "init", "-q")
    assert namespace_here() == "my-project"


@needs_git
def test_a_folder_below_the_repository_has_the_repository_s_name(folder, monkeypatch):
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "git@example.org:acme/widgets.git")
    (folder / "src").mkdir()
    monkeypatch.chdir(folder / "src")
    monkeypatch.setattr(project, "_asked_of_git", lambda _: pytest.fail("git was started"))
    assert namespace_here() == "widgets"


@needs_git
def test_git_is_asked_where_the_configuration_is_not_plain(folder):
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "git@example.org:acme/widgets.git")
    git(folder, "commit", "-q", "--allow-empty", "-m", "x")
    git(folder, "worktree", "add", "-q", "../tree")
    assert (folder.parent / "tree" / ".git").is_file()
    assert origin(folder.parent / "tree") == "git@example.org:acme/widgets.git"
    (folder / ".git" / "more").write_text('[remote "origin"]\nurl = https://example.org/acme/included.git\n')
    (folder / ".git" / "config").write_text("[core]\nrepositoryformatversion = 0\n[include]\npath = more\n")
    assert namespace_here() == "included"


def test_what_looks_like_a_repository_and_is_none_does_no_harm(folder):
    (folder / ".git").write_text("gitdir: /nowhere\n")
    assert namespace_here() == "my-project"
