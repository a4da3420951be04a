"""Opening a file: a new one is its owner's alone; a foreign or damaged one is refused and left as it is."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import sys
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from support import START, a_draft, is_locked, last_number, put, store_after

from mnemic.app import open_sqlite
from mnemic.errors import Busy, Invalid, MnemicError, StoreUnusable
from mnemic.model.filter import Filter
from mnemic.storage import queries
from mnemic.storage.queries import count, each_memory, memory_numbered
from mnemic.storage.sqlite import write_lock


def files(folder: Path) -> dict[str, str]:
    """The hash of every file below *folder*, without the index of the log, which any reader may write."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith("-shm")
    }


@pytest.fixture
def path(tmp_path) -> Path:
    """A good database of some pages, closed."""
    path = tmp_path / "folder" / "good.db"
    store = open_sqlite(path)
    put(store, *(a_draft(f"memory {number} " + "with some words " * 20) for number in range(100)))
    store.close()
    return path


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_its_owners_alone(tmp_path):
    store = open_sqlite(tmp_path / "new" / "deep" / "mine.db")
    put(store, a_draft("one"))
    assert mode(tmp_path / "new" / "deep") == 0o700
    made = sorted((tmp_path / "new" / "deep").iterdir())
    assert [file.name for file in made] == ["mine.db", "mine.db-shm", "mine.db-turn", "mine.db-wal"]
    assert {mode(file) for file in made} == {0o600}
    store.close()


def test_every_new_folder_is_its_owners_alone(tmp_path):
    before = os.umask(0)
    try:
        open_sqlite(tmp_path / "new" / "deep" / "mine.db").close()
    finally:
        os.umask(before)
    assert {mode(tmp_path / "new"), mode(tmp_path / "new" / "deep")} == {0o700}


def test_a_power_cut_does_not_take_new_folders_away(tmp_path, synced):
    open_sqlite(tmp_path / "new" / "deep" / "mine.db").close()
    assert set(synced) == {tmp_path, tmp_path / "new"}


def test_an_acknowledged_write_is_in_the_log_on_disk(tmp_path):
    store = open_sqlite(tmp_path / "safe.db")
    settings = store._writer
    assert (settings.pragma("journal_mode"), settings.pragma("synchronous")) == ("wal", 2)
    with store.write(operation="use", actor="x", at=START, durable=False):
        assert settings.pragma("synchronous") == 1
    with store.write(operation="note", actor="x", at=START):
        assert settings.pragma("synchronous") == 2
    store.close()
    fast = open_sqlite(tmp_path / "safe.db", durable=False)
    assert fast._writer.pragma("synchronous") == 1
    put(fast, a_draft("one"))
    assert fast._writer.pragma("synchronous") == 1
    fast.close()


def foreign_database(path):
    with apsw.Connection(str(path)) as other:
        other.execute("CREATE TABLE recipe (name TEXT)")
    other.close()


def foreign_application(path):
    other = apsw.Connection(str(path))
    other.pragma("application_id", 12345)
    other.execute("CREATE TABLE recipe (name TEXT)")
    other.close()


def foreign_empty_database(path):
    other = apsw.Connection(str(path))
    other.pragma("user_version", 1)
    other.close()


def newer_database(path):
    open_sqlite(path).close()
    ours = apsw.Connection(str(path))
    ours.pragma("user_version", 99)
    ours.close()


def some_text(path):
    path.write_text("Dear diary, today I wrote no database.\n" * 50)


def a_few_bytes(path):
    path.write_bytes(b"SQLite format 3\0")


def lost_beginning(path):
    path.write_bytes(b"\0" * 100 + path.read_bytes()[100:])


def broken_definitions(path):
    path.write_bytes(path.read_bytes()[:100] + b"\xff" * 3996 + path.read_bytes()[4096:])


def cut_in_half(path):
    os.truncate(path, path.stat().st_size // 2)


def cut_by_a_page(path):
    os.truncate(path, path.stat().st_size - 4096)


def cut_to_nothing_beside_its_log(path):
    path.with_name(path.name + "-wal").write_bytes(b"acknowledged writes")
    path.write_bytes(b"")


def gone_from_beside_its_log(path):
    path.with_name(path.name + "-wal").write_bytes(b"acknowledged writes")
    path.unlink()


@pytest.mark.parametrize(
    "spoil, sentence",
    [
        (some_text, "good.db is not a Mnemic database"),
        (a_few_bytes, "good.db is not a Mnemic database"),
        (lost_beginning, "damaged at its beginning.*restore"),
        (broken_definitions, "good.db is damaged.*Restore a backup"),
        (cut_in_half, "good.db is cut short.*Restore a backup"),
        (cut_by_a_page, "good.db is cut short.*Restore a backup"),
        (cut_to_nothing_beside_its_log, "good.db is empty or missing but its log good.db-wal is not"),
        (gone_from_beside_its_log, "good.db is empty or missing but its log good.db-wal is not"),
        (newer_database, "newer Mnemic.*Upgrade"),
    ],
)
def test_a_damaged_file_is_refused_with_a_sentence_and_left_as_it_is(path, spoil, sentence):
    spoil(path)
    refused_as_it_is(path, sentence)


@pytest.mark.parametrize(
    "make, sentence",
    [
        (foreign_database, "belongs to another program"),
        (foreign_application, "belongs to another program"),
        (foreign_empty_database, "belongs to another program"),
        (Path.mkdir, "is a folder"),
    ],
)
def test_a_foreign_file_is_refused_with_a_sentence_and_left_as_it_is(tmp_path, make, sentence):
    path = tmp_path / "folder" / "other.db"
    path.parent.mkdir()
    make(path)
    refused_as_it_is(path, sentence)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreUnusable, match="pipe is no file"):
        open_sqlite(tmp_path / "pipe")


def refused_as_it_is(path, sentence):
    before = files(path.parent)
    with pytest.raises(StoreUnusable, match=sentence) as refusal:
        open_sqlite(path)
    assert files(path.parent) == before
    assert str(path.parent) not in str(refusal.value), "no path leaves the process"


def test_damage_further_in_is_reported_when_it_is_met_and_left_as_it_is(path):
    whole = path.read_bytes()
    # Every page but the first holds its type in its first byte; this is none.
    pages = [whole[start : start + 4096] for start in range(0, len(whole), 4096)]
    path.write_bytes(pages[0] + b"".join(b"\xee" * 64 + page[64:] for page in pages[1:]))
    before = files(path.parent)
    attempts = {
        "read": lambda store: memory_numbered(store.read(), 1),
        "walk": lambda store: list(each_memory(store.read())),
        "search": lambda store: queries.best_words(store.read(), ["memory"], Filter(), every=True, limit=5),
        "journal": lambda store: list(store.read().journal()),
        "write": lambda store: put(store, a_draft("new")),
        "at": lambda store: store_after(store, 1),
        "sequence": lambda store: last_number(store),
    }
    for name, attempt in attempts.items():
        with pytest.raises(StoreUnusable, match=r"is damaged.*Restore a backup"):
            attempt(open_sqlite(path))
        assert files(path.parent)["good.db"] == before["good.db"], name


def test_an_empty_file_becomes_a_database(tmp_path):
    (tmp_path / "empty.db").touch()
    store = open_sqlite(tmp_path / "empty.db")
    put(store, a_draft("one"))
    assert count(store.read()) == 1
    store.close()


def test_a_move_of_the_log_that_was_stopped_half_way_is_finished(tmp_path):
    """After a power cut the header may tell of pages that are only in the log yet."""
    store = open_sqlite(tmp_path / "left.db")
    put(store, *(a_draft(f"memory {number} " + "lorem ipsum " * 100) for number in range(50)))
    before, log = (tmp_path / "left.db").read_bytes(), (tmp_path / "left.db-wal").read_bytes()
    store.close()
    after = (tmp_path / "left.db").read_bytes()
    assert len(after) > len(before)
    stopped = tmp_path / "stopped.db"
    stopped.write_bytes(after[:4096] + before[4096:])
    stopped.with_name("stopped.db-wal").write_bytes(log)
    store = open_sqlite(stopped)
    assert count(store.read()) == 50 and store.check() == []
    store.close()


@pytest.mark.parametrize("page", [bytes(4096), b"SQLite format 3\0", b"\0" * 512 + b"\x0d" * 3584])
def test_a_file_that_was_being_made_when_the_power_failed_is_made_anew(tmp_path, page):
    path = tmp_path / "torn.db"
    path.write_bytes(page)
    beginning = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", 0, 0x4BBD92B6, 0, 512, 4096)
    path.with_name("torn.db-journal").write_bytes(beginning.ljust(512, b"\0"))
    store = open_sqlite(path)
    put(store, a_draft("one"))
    assert count(store.read()) == 1 and store.check() == []
    store.close()


@contextmanager
def without_privileges():
    """Root may write anywhere, so be nobody for a while if we are root."""
    ours = os.geteuid()
    if ours == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(ours)


@pytest.fixture
def public(tmp_path):
    """A folder anyone may enter."""
    entered = [folder for folder in (tmp_path, *tmp_path.parents) if not mode(folder) & 0o001]
    modes = [mode(folder) for folder in entered]
    for folder in entered:
        folder.chmod(0o711)
    yield
    for folder, before in zip(entered, modes, strict=True):
        folder.chmod(before)


@pytest.mark.usefixtures("public")
def test_a_file_that_may_not_be_read_is_refused(path):
    before = files(path.parent)
    path.chmod(0o000)
    path.parent.chmod(0o755)
    with without_privileges(), pytest.raises(StoreUnusable, match=r"good\.db cannot be opened"):
        open_sqlite(path)
    path.parent.chmod(0o700)
    path.chmod(0o600)
    assert files(path.parent) == before


@pytest.mark.parametrize("file_mode, folder_mode", [(0o444, 0o555), (0o444, 0o755), (0o644, 0o555)])
@pytest.mark.usefixtures("public")
def test_a_file_that_may_not_be_written_is_read_and_left_as_it_is(path, file_mode, folder_mode):
    before = files(path.parent)
    path.chmod(file_mode)
    path.parent.chmod(folder_mode)
    with without_privileges():
        store = open_sqlite(path)
        assert count(store.read()) > 0
        with pytest.raises(StoreUnusable, match=r"good\.db cannot be written"):
            store.write(operation="test", actor="tester", at=0)
        store.close()
    path.parent.chmod(0o700)
    path.chmod(0o600)
    assert files(path.parent) == before


@pytest.mark.usefixtures("public")
def test_a_folder_that_may_not_be_written_is_reported(path):
    path.parent.chmod(0o555)
    with without_privileges(), pytest.raises(StoreUnusable, match=r"new\.db cannot be opened"):
        open_sqlite(path.with_name("new.db"))
    with without_privileges(), pytest.raises(StoreUnusable, match=r"new\.db cannot be opened"):
        open_sqlite(path.parent / "deeper" / "new.db")


def test_who_waits_too_long_is_reported_and_nothing_is_written(path, monkeypatch):
    monkeypatch.setattr(write_lock, "PATIENCE_SECONDS", 0.05)
    store = open_sqlite(path)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE")
    for durable in (True, False):
        writing = store.write(operation="x", actor="x", at=START, durable=durable)
        with pytest.raises(Busy, match="Nothing was written; try again"), writing as tx:
            tx.count_use([1], START)
    other.execute("ROLLBACK")
    other.close()
    put(store, a_draft("afterwards"))
    assert store._writer.pragma("synchronous") == 2, "the next write is as safe as ever"
    assert count(store.read()) == 101
    store.close()


def test_a_copy_is_complete_though_others_write(path, tmp_path):
    store, other = open_sqlite(path), open_sqlite(path)
    put(store, *(a_draft(f"big {number} " + "lorem ipsum " * 400) for number in range(1000)))
    written, told = [], []

    def meanwhile(done, total):
        told.append((done, total))
        assert len(told) < 100, "the copy starts over with every write"
        written.append(put(other, *(a_draft(f"meanwhile {len(written)} {half}") for half in "ab")))

    store.backup(tmp_path / "copy.db", meanwhile)
    assert len(written) > 1 and told[-1][0] == told[-1][1]
    assert mode(tmp_path / "copy.db") == 0o600
    assert not list(tmp_path.glob("*.part"))
    copy = open_sqlite(tmp_path / "copy.db")
    assert copy.check() == []
    assert count(copy.read()) == 1100, "it is the store as it was when the copy began"
    for each in (store, other, copy):
        each.close()


def test_a_copy_never_replaces_what_it_should_not(path, tmp_path):
    store = open_sqlite(path)
    before = path.read_bytes()
    with pytest.raises(Invalid, match="is the database itself"):
        store.backup(path)
    with pytest.raises(Invalid, match="cannot be written"):
        store.backup(tmp_path / "nowhere" / "copy.db")
    assert path.read_bytes() == before
    store.backup(tmp_path / "copy.db")

    def interrupted(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.backup(tmp_path / "copy.db", interrupted)
    assert [file.name for file in tmp_path.iterdir() if file.is_file()] == ["copy.db"]
    put(store, a_draft("meanwhile"))
    put(store, a_draft("later"))
    store.backup(tmp_path / "copy.db")
    again = open_sqlite(tmp_path / "copy.db")
    assert count(again.read()) == 102
    again.close()
    store.close()


def test_a_power_cut_does_not_take_a_copy_away(path, tmp_path, synced):
    store = open_sqlite(path)
    store.backup(tmp_path / "copy.db")
    store.close()
    assert synced == [tmp_path]


def test_purged_words_are_nowhere_in_the_files(tmp_path):
    store = open_sqlite(tmp_path / "purged.db")
    markers = ["quixotism", "xylophone", "zyzzyvas", "wombatish", "vuvuzelas"]
    [memory] = put(
        store,
        a_draft(
            "quixotism",
            name="The xylophone",
            summary="wombatish",
            tags=("zyzzyvas",),
            metadata={"k": "vuvuzelas"},
        ),
    )
    put(store, a_draft("something else"))

    def seen():
        return [
            word for word in markers for file in tmp_path.iterdir() if word[:6].encode() in file.read_bytes()
        ]

    assert set(seen()) == set(markers)
    with store.write(operation="purge", actor="x", at=START) as tx:
        tx.purge([memory.id])
    assert seen() == []
    assert store._writer.pragma("secure_delete") == 1
    store.close()
    assert seen() == []


def test_every_refusal_is_of_our_tree(path):
    cut_in_half(path)
    with pytest.raises(MnemicError) as refusal:
        open_sqlite(path)
    assert refusal.value.code == "store_unusable"


@pytest.mark.skipif(sys.platform == "win32", reason="there locks belong to a handle, not to a process")
def test_a_store_that_is_opened_twice_keeps_its_locks(path):
    """Without them another process that is the last to go deletes the log that we still write to."""
    store = open_sqlite(path)
    count(store.read())
    assert is_locked(path)
    for _ in range(3):
        open_sqlite(path).close()
    assert is_locked(path)
    store.close()
    assert not is_locked(path)
