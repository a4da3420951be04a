"""Databases of others: read as they are at the moment, never written, nothing left beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from support import a_draft, put, store_after

from mnemic.app import engines, open_sqlite
from mnemic.errors import Denied, StoreUnusable
from mnemic.model.filter import EdgeFilter, Filter
from mnemic.storage import queries
from mnemic.storage.base import Reader
from mnemic.storage.queries import count
from mnemic.storage.sqlite import connection, other_stores
from mnemic.storage.sqlite.other_stores import MemoryStore
from mnemic.storage.sqlite.schema import MIGRATIONS


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A database that nobody has open, alone in its folder."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    store = open_sqlite(folder / "their.db")
    put(store, a_draft("Cranes lift steel"))
    store.close()
    for left in folder.glob("*-turn"):
        left.unlink()
    return folder / "their.db"


def texts(reader: Reader) -> set[str]:
    found = queries.best_words(reader, ["steel"], Filter(), every=True, limit=10)
    return {memory.content for memory in reader.get([number for number, _ in found])}


def everything(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_a_database_without_users_is_read_without_a_trace(theirs: Path):
    before = everything(theirs.parent)
    other = engines().elsewhere(theirs)
    assert other.asked(texts) == {"Cranes lift steel"}
    assert other.asked(lambda reader: reader.tally(EdgeFilter(), "type")) == {}
    assert other.asked(lambda reader: reader.search_substring("lift", Filter())) == [1]
    assert everything(theirs.parent) == before
    del other
    assert everything(theirs.parent) == before


def test_a_database_in_use_is_read_with_its_newest_changes_and_its_user_can_tidy_up(theirs: Path):
    store = open_sqlite(theirs)
    put(store, a_draft("Trucks carry steel"))
    other = engines().elsewhere(theirs)
    assert other.asked(texts) == {"Cranes lift steel", "Trucks carry steel"}
    put(store, a_draft("Magnets hold steel"))
    assert len(other.asked(texts)) == 3
    store.close()
    assert not list(theirs.parent.glob("*-wal"))
    assert len(other.asked(texts)) == 3
    assert not list(theirs.parent.glob("*-wal"))


def test_changes_of_a_database_that_was_still_are_seen(theirs: Path):
    other = engines().elsewhere(theirs)
    assert len(other.asked(texts)) == 1
    store = open_sqlite(theirs)
    put(store, a_draft("Trucks carry steel"))
    assert len(other.asked(texts)) == 2
    store.close()
    assert len(other.asked(texts)) == 2


def test_a_question_during_which_someone_wrote_is_asked_again(theirs: Path):
    other, asked = engines().elsewhere(theirs), []

    def question(reader: Reader) -> set[str]:
        asked.append(count(reader))
        if len(asked) == 1:
            store = open_sqlite(theirs)
            put(store, a_draft("Trucks carry steel"))
            store.close()
        return texts(reader)

    assert len(other.asked(question)) == 2
    assert asked == [1, 2]


def test_a_failure_while_someone_wrote_is_not_the_answer(theirs: Path):
    other, asked = engines().elsewhere(theirs), []

    def question(reader: Reader) -> str:
        asked.append(1)
        if len(asked) == 1:
            os.utime(theirs, ns=(1, 1))
            raise StoreUnusable("their.db is damaged.")
        return "whole"

    assert other.asked(question) == "whole"


def test_a_failure_of_the_question_is_reported(theirs: Path):
    def question(reader: Reader) -> str:
        raise StoreUnusable("no")

    with pytest.raises(StoreUnusable, match="no"):
        engines().elsewhere(theirs).asked(question)


def test_a_database_that_never_stands_still_is_read_all_the_same(theirs: Path):
    other, moments = engines().elsewhere(theirs), iter(range(1, 100))

    def question(reader: Reader) -> set[str]:
        os.utime(theirs, ns=(1, next(moments)))
        return texts(reader)

    assert other.asked(question) == {"Cranes lift steel"}
    assert next(moments) == other_stores.TRIES + 2


def test_another_process_may_have_it_open(theirs: Path):
    script = (
        "import sys; from pathlib import Path; from mnemic.app import open_sqlite\n"
        "from mnemic.model.memory import Draft\n"
        "store = open_sqlite(Path(sys.argv[1]))\n"
        "with store.write(operation='add', actor='them', at=1) as tx:\n"
        "    tx.insert(Draft(namespace='global', name='t', texts=('Ropes pull steel',)), uid=sys.argv[2])\n"
        "    print('writing', flush=True); sys.stdin.readline()\n"
        "print('written', flush=True); sys.stdin.readline(); store.close()\n"
    )
    command = [sys.executable, "-c", script, str(theirs), "8c0ad0a5-1b6a-4c63-8a5e-6d1f2f0b9d11"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as them:
        assert them.stdin and them.stdout
        assert them.stdout.readline() == "writing\n"
        other = engines().elsewhere(theirs)
        assert len(other.asked(texts)) == 1
        them.stdin.write("\n")
        them.stdin.flush()
        assert them.stdout.readline() == "written\n"
        assert len(other.asked(texts)) == 2
        them.stdin.write("\n")
    assert them.returncode == 0
    assert len(other.asked(texts)) == 2


def test_what_a_stopped_process_left_in_its_log_is_read(theirs: Path, tmp_path: Path):
    store = open_sqlite(theirs)
    put(store, a_draft("Trucks carry steel"))
    for name in ("their.db", "their.db-wal"):
        shutil.copy(theirs.with_name(name), tmp_path / name)
    store.close()
    before = (tmp_path / "their.db").read_bytes(), (tmp_path / "their.db-wal").read_bytes()
    assert len(engines().elsewhere(tmp_path / "their.db").asked(texts)) == 2
    assert ((tmp_path / "their.db").read_bytes(), (tmp_path / "their.db-wal").read_bytes()) == before


def test_it_cannot_be_written(theirs: Path):
    def write(reader: Reader) -> None:
        reader._db.execute("DELETE FROM memory")  # type: ignore[attr-defined]

    def begin(reader: Reader) -> None:
        reader._store.write(operation="x", actor="x", at=1)  # type: ignore[attr-defined]

    other = engines().elsewhere(theirs)
    with pytest.raises(StoreUnusable, match="cannot be written"):
        other.asked(write)
    with pytest.raises(Denied):
        other.asked(begin)
    assert len(other.asked(texts)) == 1


def test_what_is_not_there_is_refused_and_not_made(tmp_path: Path):
    with pytest.raises(StoreUnusable, match="cannot be opened"):
        engines().elsewhere(tmp_path / "nowhere.db")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_ours_is_refused_and_not_changed(tmp_path: Path, theirs: Path):
    files = {name: tmp_path / name for name in ("text.db", "empty.db", "foreign.db", "cut.db")}
    files["text.db"].write_text("This is a text, and a long one too. " * 10)
    files["empty.db"].touch()
    apsw.Connection(str(files["foreign.db"])).execute("CREATE TABLE t (a); PRAGMA user_version = 9")
    files["cut.db"].write_bytes(theirs.read_bytes()[:-4096])
    (tmp_path / "folder.db").mkdir()
    before = {path: path.read_bytes() for path in files.values()}
    for path in (*files.values(), tmp_path / "folder.db"):
        with pytest.raises(StoreUnusable, match=path.name):
            engines().elsewhere(path)
    assert {path: path.read_bytes() for path in files.values()} == before


def test_other_formats_are_refused(theirs: Path, monkeypatch: pytest.MonkeyPatch):
    newer = theirs.with_name("newer.db")
    shutil.copy(theirs, newer)
    with apsw.Connection(str(newer)) as writer:
        writer.pragma("user_version", 99)
    with pytest.raises(StoreUnusable, match="newer Mnemic"):
        engines().elsewhere(newer)
    for module in (other_stores, connection):
        monkeypatch.setattr(module, "MIGRATIONS", (*MIGRATIONS, ""))
    with pytest.raises(StoreUnusable, match="older Mnemic"):
        engines().elsewhere(theirs)


def test_a_database_that_goes_away_is_reported(theirs: Path):
    other = engines().elsewhere(theirs)
    theirs.unlink()
    with pytest.raises(StoreUnusable, match="cannot be opened"):
        other.asked(texts)


def test_a_store_in_memory_keeps_and_finds(store):
    scratch = engines().in_memory()
    assert isinstance(scratch, MemoryStore)
    put(scratch, a_draft("Cranes lift steel"), a_draft("Wood floats"))
    assert scratch.asked(texts) == {"Cranes lift steel"}
    assert scratch.check() == []
    assert count(store.read()) == 0
    for impossible in (lambda: store_after(scratch, 1), lambda: scratch.backup(Path("x"))):
        with pytest.raises(Denied):
            impossible()
    scratch.close()
    with pytest.raises(StoreUnusable, match="closed"):
        scratch.asked(texts)
