"""Workspaces: several stores asked as one, read where they lie and never written to."""

from __future__ import annotations

import os
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from amem_files import CORRECTED, GREENHOUSE, a_file
from support import a_draft, kept, open_store, put

from mnemic.app import open_sqlite
from mnemic.core.context import Context
from mnemic.core.memories import forget
from mnemic.core.resources import Resources
from mnemic.dialects.agentic_memory import amem_file
from mnemic.dialects.agentic_memory import federation as workspaces
from mnemic.dialects.agentic_memory import store_cache as cache_module
from mnemic.dialects.agentic_memory.amem_file import Brain, Node
from mnemic.dialects.agentic_memory.federation import (
    Role,
    Size,
    Workspace,
    WorkspaceAnswer,
    add,
    create,
    find,
    search,
    sizes,
)
from mnemic.dialects.agentic_memory.store_cache import IDLE_SECONDS, MOST, FileStamp, StoreCache
from mnemic.errors import Denied, Invalid, MnemicError, NotFound, StoreUnusable
from mnemic.model.access import Grant


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The only folder from which files may be read."""
    path = tmp_path / "allowed"
    path.mkdir()
    return path


@pytest.fixture
def confined(ctx: Context, folder: Path) -> Context:
    return replace(ctx, roots=(folder.resolve(),))


def a_database(path: Path, *texts: str) -> Path:
    store = open_sqlite(path)
    put(store, *(a_draft(text) for text in texts))
    store.close()
    return path


def a_workspace(ctx: Context, *paths: Path) -> Workspace:
    workspace = create(ctx, "planning")
    for path in paths:
        workspace, _ = add(ctx, workspace, str(path))
    return workspace


def contents(answer: WorkspaceAnswer) -> list[str]:
    return [hit.memory.content for hit in answer.hits]


def test_stores_of_both_kinds_are_searched_together(confined: Context, folder: Path):
    office = a_database(folder / "office.db", "The greenhouse budget is small", "Cranes lift steel")
    workspace = a_workspace(confined, office, a_file(folder / "garden.amem"))
    ours, theirs = search(confined, workspace, "What about the greenhouse?", 10)
    assert contents(ours) == ["The greenhouse budget is small"]
    assert len(theirs.hits) == 3
    assert {hit.memory.id for hit in theirs.hits} == {0, 1, 2}, (
        "nodes keep the numbers they have in their file"
    )
    assert [hit.score for hit in theirs.hits] == sorted((hit.score for hit in theirs.hits), reverse=True)
    decision = next(hit.memory for hit in theirs.hits if hit.memory.id == 1)
    assert (decision.kind, decision.confidence) == ("decision", 0.75)
    assert [answer.member.label for answer in (ours, theirs)] == ["office", "garden"]


def test_matches_from_each_store_are_limited(confined: Context, folder: Path):
    many = a_database(folder / "many.db", *(f"Kite number {n}" for n in range(9)))
    workspace = a_workspace(confined, many, many)
    assert [len(answer.hits) for answer in search(confined, workspace, "kite", 4)] == [4, 4]


def test_a_word_that_is_only_similar_is_not_found(confined: Context, folder: Path):
    workspace = a_workspace(confined, a_database(folder / "a.db", "Crates are stacked"))
    assert contents(search(confined, workspace, "crater", 5)[0]) == []


@pytest.mark.parametrize("nothing", ["", "?!", "\0", '"', "AND"])
def test_a_question_without_telling_words_finds_nothing(confined: Context, folder: Path, nothing: str):
    workspace = a_workspace(confined, a_file(folder / "garden.amem"))
    [answer] = search(confined, workspace, nothing, 5)
    assert answer.hits == () and answer.error is None


def test_a_store_tells_how_much_it_holds(confined: Context, folder: Path):
    paths = (
        a_database(folder / "a.db", "One", "Two"),
        a_file(folder / "b.amem"),
        a_file(folder / "c.amem", CORRECTED),
    )
    told = [answer.size for answer in sizes(confined, a_workspace(confined, *paths))]
    assert told == [Size(2, 0), Size(3, 1), Size(2, 1)]


def test_what_is_superseded_forgotten_or_expired_is_not_found(confined: Context, folder: Path, clock):
    store = open_store("sqlite", folder, "a")
    other = replace(confined, store=store)
    forget(other, [kept(other, "The pump is gone").id])
    kept(other, "The pump leaks", expires_at=clock() + 10)
    store.close()
    clock.advance(seconds=1)
    workspace = a_workspace(confined, folder / "a.db", a_file(folder / "b.amem", CORRECTED))
    ours, theirs = search(confined, workspace, "pump", 5)
    assert (contents(ours), contents(theirs)) == ([], ["The pump is blue"])


def test_workspaces_are_still_there_when_the_store_is_opened_again(confined: Context, folder: Path, fresh):
    workspace, member = add(
        confined, create(confined, "planning"), str(a_file(folder / "a.amem")), Role.ARCHIVE, "old"
    )
    again = replace(confined, store=fresh(), resources=Resources())
    assert find(again, workspace.id) == workspace
    assert find(again, 99) is None
    assert (member.role, member.label, member.path) == (Role.ARCHIVE, "old", str(folder / "a.amem"))
    assert len(search(again, workspace, "greenhouse", 5)[0].hits) == 3


def test_workspaces_made_at_once_get_numbers_and_members_of_their_own(confined: Context, folder: Path):
    path = a_file(folder / "a.amem")
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda name: a_workspace(confined, path, path), "abcd"))
    assert sorted(one.id for one in made) == [1, 2, 3, 4]
    assert [len(find(confined, one.id).members) for one in made] == [2, 2, 2, 2]


def test_reading_leaves_files_and_folders_as_they_were(confined: Context, folder: Path):
    a_database(folder / "a.db", "Steel is hard")
    a_file(folder / "b.amem")
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}
    workspace = a_workspace(confined, folder / "a.db", folder / "b.amem")
    search(confined, workspace, "steel greenhouse", 5)
    sizes(confined, workspace)
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before
    confined.resources.of(StoreCache).close()
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()} == before


def test_a_store_that_others_write_is_read_as_it_is_now(confined: Context, folder: Path):
    store = open_store("sqlite", folder, "a")
    put(store, a_draft("Steel is hard"))
    workspace = a_workspace(confined, folder / "a.db")
    assert len(search(confined, workspace, "steel", 5)[0].hits) == 1
    put(store, a_draft("Steel is heavy"))
    assert len(search(confined, workspace, "steel", 5)[0].hits) == 2
    store.close()
    assert len(search(confined, workspace, "steel", 5)[0].hits) == 2


@pytest.mark.only_on("sqlite")  # a member is a file
def test_our_own_store_can_be_a_member(ctx: Context, tmp_path: Path):
    kept(ctx, "Steel is hard")
    own = replace(ctx, roots=(tmp_path.resolve(),))
    workspace = a_workspace(own, tmp_path / "mnemic.db")
    assert contents(search(own, workspace, "steel", 5)[0]) == ["Steel is hard"]
    kept(ctx, "Steel is heavy")
    assert len(search(own, workspace, "steel", 5)[0].hits) == 2


def test_a_file_that_has_changed_is_read_anew(confined: Context, folder: Path):
    workspace = a_workspace(confined, a_file(folder / "a.amem"))
    assert len(search(confined, workspace, "pump", 5)[0].hits) == 0
    a_file(folder / "a.amem", CORRECTED)
    assert contents(search(confined, workspace, "pump", 5)[0]) == ["The pump is blue"]
    (folder / "a.amem").unlink()
    a_database(folder / "a.amem", "The pump is a database now")
    assert contents(search(confined, workspace, "pump", 5)[0]) == ["The pump is a database now"]


def test_a_file_that_has_not_changed_is_not_read_again(
    confined: Context, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    workspace = a_workspace(confined, a_file(folder / "a.amem"))
    monkeypatch.setattr(workspaces, "load", None)
    assert len(search(confined, workspace, "greenhouse", 5)[0].hits) == 3


def test_a_store_that_is_gone_or_spoilt_does_not_prevent_asking_the_others(confined: Context, folder: Path):
    gone, spoilt, whole = (a_file(folder / f"{name}.amem") for name in ("gone", "spoilt", "whole"))
    database = a_database(folder / "cut.db", "The greenhouse is green")
    workspace = a_workspace(confined, gone, spoilt, whole, database)
    gone.unlink()
    spoilt.write_bytes(amem_file.write(GREENHOUSE)[:-9])
    database.write_bytes(database.read_bytes()[:-4096])
    for answers in (search(confined, workspace, "greenhouse", 5), sizes(confined, workspace)):
        assert [answer.error is None for answer in answers] == [False, False, True, False]
        assert "File not found" in answers[0].error
        assert "spoilt.amem: The file is damaged" in answers[1].error
        assert "cut.db is cut short" in answers[3].error
    a_file(gone)
    assert search(confined, workspace, "greenhouse", 5)[0].error is None


def test_a_file_whose_nodes_are_numbered_far_apart_is_refused(confined: Context, folder: Path):
    nodes = [Node(id=number, type="fact", text=f"Node {number}", created_at=1) for number in (0, 2**40)]
    path = folder / "far.amem"
    path.write_bytes(amem_file.write(Brain(tuple(nodes), ())))
    with pytest.raises(Invalid, match=r"far\.amem: node 1099511627776 is numbered too far beyond the others"):
        a_workspace(confined, path)


def test_only_files_below_allowed_folders_are_added(confined: Context, folder: Path, tmp_path: Path):
    outside = a_file(tmp_path / "outside.amem")
    (folder / "link.amem").symlink_to(outside)
    workspace = create(confined, "w")
    for path in (outside, folder / "link.amem", folder / ".." / "outside.amem", tmp_path / "nowhere.amem"):
        with pytest.raises(Denied):
            add(confined, workspace, str(path))
    with pytest.raises(Invalid):
        add(confined, workspace, "a\0b")
    assert find(confined, workspace.id).members == ()


def test_a_member_that_became_a_link_out_is_not_read(confined: Context, folder: Path, tmp_path: Path):
    workspace = a_workspace(confined, a_file(folder / "a.amem"))
    (folder / "a.amem").unlink()
    (folder / "a.amem").symlink_to(a_file(tmp_path / "outside.amem"))
    [answer] = search(confined, workspace, "greenhouse", 5)
    assert answer.hits == () and "may be read below" in answer.error


@pytest.mark.parametrize(
    "content, error, told",
    [
        (None, NotFound, "File not found"),
        (b"", Invalid, r"x\.file is neither"),
        (b"plain text", Invalid, r"x\.file is neither"),
        (b"AMEM\x02\0\0\0" + bytes(80), Invalid, "version 2"),
        (b"SQLite format 3\0" + bytes(200), StoreUnusable, "another program|damaged"),
    ],
)
def test_what_is_no_store_is_not_added(confined: Context, folder: Path, content, error, told):
    if content is not None:
        (folder / "x.file").write_bytes(content)
    workspace = create(confined, "w")
    with pytest.raises(error, match=told):
        add(confined, workspace, str(folder / "x.file"))
    assert find(confined, workspace.id).members == ()


def test_a_folder_or_a_pipe_is_no_file(confined: Context, folder: Path):
    os.mkfifo(folder / "pipe.amem")
    for path in (folder, folder / "pipe.amem"):
        with pytest.raises(NotFound):
            add(confined, create(confined, "w"), str(path))


def test_a_relative_path_stays_the_same_file(
    confined: Context, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    a_file(folder / "a.amem")
    monkeypatch.chdir(folder)
    workspace, member = add(confined, create(confined, "w"), "a.amem")
    monkeypatch.chdir(tmp_path)
    assert member.path == str(folder / "a.amem")
    assert search(confined, workspace, "greenhouse", 5)[0].error is None


def test_a_token_for_some_namespaces_may_not_look_into_other_stores(confined: Context, folder: Path):
    workspace = a_workspace(confined, a_file(folder / "a.amem"))
    limited = confined.limited_to(Grant(namespaces=("team",), can_write=True))
    for attempt in (lambda: create(limited, "x"), lambda: find(limited, workspace.id)):
        with pytest.raises(Denied):
            attempt()
    reading = confined.limited_to(Grant(namespaces=None, can_write=False))
    assert len(search(reading, workspace, "greenhouse", 5)[0].hits) == 3
    with pytest.raises(Denied):
        create(reading, "x")


def test_many_threads_may_ask_while_files_change(confined: Context, folder: Path):
    database = a_database(folder / "a.db", "The greenhouse is green")
    workspace = a_workspace(confined, database, a_file(folder / "b.amem"))
    wrong: list[object] = []

    def ask() -> None:
        for _ in range(10):
            for answer in search(confined, workspace, "greenhouse", 50):
                if answer.error or not answer.hits:
                    wrong.append(answer)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(5):
        store = open_store("sqlite", database.parent, database.stem)
        put(store, a_draft(f"Greenhouse number {n}"))
        store.close()
        os.utime(folder / "b.amem", ns=(n, n))
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(search(confined, workspace, "greenhouse", 50)[0].hits) == 6


class Stopwatch:
    """Seconds that pass when told to."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_store_cache_lets_go_of_what_is_idle_and_of_the_oldest():
    watch = Stopwatch()
    cache, opened = StoreCache(clock=watch), []

    def take(name: str) -> object:
        def opening() -> str:
            opened.append(name)
            return name

        return cache.take(Path(name), FileStamp(1, 1, 1), opening)  # type: ignore[arg-type]

    for n in range(MOST):
        take(str(n))
    take("0")
    assert len(opened) == len(cache) == MOST
    take("more")
    assert len(cache) == MOST
    take("0")
    assert opened[-1] == "more", "what was used last is still there"
    take("1")
    assert opened[-1] == "1", "what was used longest ago is not"
    watch.now += IDLE_SECONDS + 1
    take("new")
    assert len(cache) == 1


def test_what_is_idle_goes_even_if_nobody_asks_any_more(confined: Context, folder: Path, monkeypatch):
    monkeypatch.setattr(cache_module, "IDLE_SECONDS", 0.05)
    workspace = a_workspace(confined, a_file(folder / "a.amem"))
    kept_store = weakref.ref(next(iter(confined.resources.of(StoreCache)._kept.values())).store)
    deadline = time.monotonic() + 20
    while len(confined.resources.of(StoreCache)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(confined.resources.of(StoreCache)) == 0
    assert kept_store() is None
    assert len(search(confined, workspace, "greenhouse", 5)[0].hits) == 3
    confined.resources.of(StoreCache).close()
    assert confined.resources.of(StoreCache)._timer is None


def test_a_store_that_cannot_be_opened_is_not_kept():
    cache = StoreCache()

    def failing() -> object:
        raise MnemicError("no")

    with pytest.raises(MnemicError):
        cache.take(Path("x"), FileStamp(1, 1, 1), failing)  # type: ignore[arg-type]
    assert len(cache) == 0
