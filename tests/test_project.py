"""The namespace of a project: read from its git repository, the same for every place that belongs to it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from mnemic import project
from mnemic.app import connected_namespace
from mnemic.project import cleaned, current_namespace, last_part, namespace_of
from mnemic.settings import Settings

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
HOME = Path("/home/nobody")


@pytest.fixture(autouse=True)
def no_git_settings(tmp_path, monkeypatch):
    """git as on a fresh machine."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(folder, *words):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def repository(folder, *remotes, **more):
    """A repository in *folder* with remotes given as name=address, made by git itself."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    for name, address in more.items():
        git(folder, "remote", "add", name, address)
    return folder


@needs_git
@pytest.mark.parametrize(
    "remotes, expected",
    [
        ({"origin": "git@example.org:acme/widgets.git"}, "widgets"),
        (
            {"origin": "https://example.org/acme/widgets", "upstream": "https://example.org/up/other"},
            "widgets",
        ),
        ({"github": "https://example.org/acme/widgets.git"}, "widgets"),
        ({"one": "https://example.org/a/b.git", "two": "https://example.org/c/d.git"}, "my-folder"),
        ({}, "my-folder"),
    ],
)
def test_a_project_is_named_after_its_remote_or_else_its_folder(tmp_path, remotes, expected):
    tree = repository(tmp_path / "my folder", **remotes)
    below = tree / "src" / "deep"
    below.mkdir(parents=True)
    assert namespace_of(tree, HOME) == namespace_of(below, HOME) == expected


@needs_git
def test_a_remote_added_later_under_the_folder_s_name_keeps_the_namespace(tmp_path):
    tree = repository(tmp_path / "widgets")
    before = namespace_of(tree, HOME)
    git(tree, "remote", "add", "origin", "git@example.org:acme/widgets.git")
    assert before == namespace_of(tree, HOME) == "widgets"


@needs_git
def test_a_name_chosen_in_the_git_configuration_counts_first(tmp_path):
    tree = repository(tmp_path / "api", origin="git@example.org:acme/api.git")
    git(tree, "config", "mnemic.namespace", "acme api # 2")
    assert namespace_of(tree, HOME) == "acme-api-#-2"


@needs_git
@pytest.mark.parametrize("remotes", [{"origin": "git@example.org:acme/widgets.git"}, {}])
def test_a_linked_worktree_belongs_to_the_project_of_the_main_one(tmp_path, remotes):
    tree = repository(tmp_path / "widgets", **remotes)
    git(tree, "commit", "-q", "--allow-empty", "-m", "first")
    git(tree, "worktree", "add", "-q", str(tmp_path / "hotfix"))
    assert namespace_of(tmp_path / "hotfix", HOME) == "widgets"


@needs_git
def test_worktrees_of_a_bare_repository_share_its_name(tmp_path):
    tree = repository(tmp_path / "first")
    git(tree, "commit", "-q", "--allow-empty", "-m", "first")
    git(tmp_path, "clone", "-q", "--bare", str(tree), str(tmp_path / "widgets.git"))
    git(tmp_path / "widgets.git", "remote", "remove", "origin")
    git(tmp_path / "widgets.git", "worktree", "add", "-q", str(tmp_path / "feature"))
    assert namespace_of(tmp_path / "feature", HOME) == "widgets"


@needs_git
def test_a_submodule_is_a_project_of_its_own(tmp_path):
    library = repository(tmp_path / "library")
    git(library, "commit", "-q", "--allow-empty", "-m", "first")
    tree = repository(tmp_path / "app", origin="git@example.org:acme/app.git")
    git(tree, "submodule", "--quiet", "add", str(library), "vendor/lib")
    assert namespace_of(tree / "vendor" / "lib", HOME) == "library"
    git(tree / "vendor" / "lib", "remote", "remove", "origin")
    assert namespace_of(tree / "vendor" / "lib", HOME) == "lib"
    assert namespace_of(tree / "vendor", HOME) == "app"


def test_outside_a_repository_there_is_no_project(tmp_path):
    assert namespace_of(tmp_path, HOME) is None


def test_a_home_folder_kept_in_git_is_no_project_nor_is_what_lies_in_it(tmp_path):
    home = tmp_path / "home"
    (home / ".git").mkdir(parents=True)
    (home / "notes").mkdir()
    (home / "code" / "widgets" / ".git").mkdir(parents=True)
    assert namespace_of(home, home) is None
    assert namespace_of(home / "notes", home) is None
    assert namespace_of(home / "code" / "widgets", home) == "widgets"


@pytest.mark.parametrize("config", [None, b"", b"\xff\xfe\0", b'[remote "origin"\nurl = x', b"[remote]\nurl"])
def test_a_configuration_that_cannot_be_read_leaves_the_folder_s_name(tmp_path, config):
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    if config is not None:
        (tmp_path / "tree" / ".git" / "config").write_bytes(config)
    assert namespace_of(tmp_path / "tree", HOME) == "tree"


@pytest.mark.parametrize("pointer", [b"", b"nonsense", b"\xff\xfe"])
def test_a_broken_pointer_to_a_repository_is_no_project(tmp_path, pointer):
    (tmp_path / ".git").write_bytes(pointer)
    assert namespace_of(tmp_path, HOME) is None


def test_the_configuration_is_read_as_git_reads_it(tmp_path):
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    (tmp_path / "tree" / ".git" / "config").write_text(
        '[core]\n\turl = nothing\n[Remote "origin"] fetch = x\n\tURL="https://example.org/first.git"\n'
        '\turl = https://example.org/last.git ; the one that counts\n[branch "main"]\n\turl = no\n'
    )
    assert namespace_of(tmp_path / "tree", HOME) == "last"


@pytest.mark.parametrize(
    "address, name",
    [
        ("https://example.org/acme/widgets.git", "widgets"),
        ("https://example.org/acme/widgets/", "widgets"),
        ("git@example.org:widgets.git", "widgets"),
        ("ssh://git@example.org:22/acme/widgets.git", "widgets"),
        ("../other/widgets", "widgets"),
        (r"C:\code\widgets.git", "widgets"),
        ("https://example.org/acme/my.site.git", "my.site"),
        ("", ""),
    ],
)
def test_a_repository_is_called_by_the_last_part_of_its_address(address, name):
    assert last_part(address) == name


@pytest.mark.parametrize(
    "given, name",
    [
        ("my project", "my-project"),
        (" a/b\\c ", "a-b-c"),
        ("\x07\n", ""),
        ("é" * 200, "é" * 64),
        ("cafe\u0301", "café"),
        ("global", "global-project"),
        ("auto", "auto-project"),
        ("*", ""),
    ],
)
def test_a_name_becomes_one_that_every_dialect_takes(given, name):
    assert cleaned(given) == name


def test_a_deleted_working_folder_is_no_project(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert current_namespace() is None


def test_the_setting_names_a_namespace_the_project_or_all(monkeypatch):
    monkeypatch.setattr("mnemic.app.current_namespace", lambda folder: "widgets")
    assert connected_namespace(Settings(), Path()) is None
    assert connected_namespace(Settings().for_project(), Path()) == "widgets"
    assert connected_namespace(Settings(namespace="auto"), Path()) == "widgets"
    assert connected_namespace(Settings(namespace="x").for_project(), Path()) == "x"
    assert connected_namespace(Settings(namespace="*").for_project(), Path()) is None


def test_no_process_is_started_to_find_the_project(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    assert not hasattr(project, "subprocess")
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    assert namespace_of(tmp_path / "tree", HOME) == "tree"
