"""The vectors in a mapped file: shared, followed, rebuilt when it does not fit, and erased by a purge."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from support import START, WordEmbedder, a_draft, change, embed_all, embedding, open_store, put, write

from mnemic.index import index, matrix_file
from mnemic.index.vectors import Matrix
from mnemic.model.filter import Filter
from mnemic.model.memory import MemoryPatch
from mnemic.storage import queries
from mnemic.storage.queries import memory_numbered

EMBEDDER = WordEmbedder("words-64", dimension=64)
WORDS = [f"word{number}" for number in range(200)]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A few vectors are worth a file."""
    monkeypatch.setattr(index, "MAPPED_FROM", 20)
    monkeypatch.setattr(index, "UNMAPPED", 10)


@pytest.fixture
def path(tmp_path):
    """A database with a hundred vectors, closed."""
    store = opened(tmp_path / "m.db")
    put(store, *drafts(100))
    embed_all(store, EMBEDDER)
    store.close()
    return tmp_path / "m.db"


@pytest.fixture
def file(path):
    """The file of vectors, written by whoever asked first."""
    answers(path)
    return files(path)[0]


def opened(path):
    store = open_store("sqlite", path.parent, path.stem, durable=False)
    store.use_models(EMBEDDER.name)
    return store


def drafts(count, seed=1):
    chance = random.Random(seed)
    return [a_draft(" ".join(chance.choices(WORDS, k=6)), name=f"{seed}.{n}") for n in range(count)]


def files(path):
    return sorted(path.with_name(f"{path.name}{index.FOLDER}").glob(f"{matrix_file.PREFIX}*"))


def nearest(store, text="word1 word2 word3"):
    return queries.nearest(store.read(), embedding(EMBEDDER, text), Filter(), limit=200)


def answers(path):
    """What a process that has just opened the database finds near."""
    store = opened(path)
    try:
        return nearest(store)
    finally:
        store.close()


def exact(path, monkeypatch):
    """What is near by the database alone."""
    with monkeypatch.context() as patched:
        patched.setattr(index, "can_map", lambda: False)
        return answers(path)


def rows_read(monkeypatch):
    """How many vectors are read from the database from now on."""
    read = []
    append = Matrix._append
    monkeypatch.setattr(Matrix, "_append", lambda self, fresh: read.extend(fresh) or append(self, fresh))
    return read


def test_a_new_process_reads_the_file_instead_of_the_database(path, file, monkeypatch):
    expected = exact(path, monkeypatch)
    read = rows_read(monkeypatch)
    assert answers(path) == expected and len(expected) == 100
    assert read == []
    assert file.stat().st_mode & 0o077 == 0 and file.parent.stat().st_mode & 0o077 == 0


def test_what_came_since_is_read_from_the_database(path, file, monkeypatch):
    store = opened(path)
    fresh = put(store, *drafts(5, seed=2))
    embed_all(store, EMBEDDER)
    changed = memory_numbered(store.read(), 7)
    change(store, changed, texts=("word1 word2 word3",), title="moved", at=START + 1)
    embed_all(store, EMBEDDER)
    store.close()
    read = rows_read(monkeypatch)
    found = answers(path)
    assert found == exact(path, monkeypatch) and found[0].memory_id == 7
    assert {row.memory_id for row in read[: len(fresh) + 1]} == {7, *(memory.id for memory in fresh)}


def test_the_file_is_written_anew_when_much_came_since(path, file):
    before = file.stat().st_ino
    store = opened(path)
    put(store, *drafts(60, seed=3))
    embed_all(store, EMBEDDER)
    assert len(nearest(store)) == 160
    assert file.stat().st_ino != before
    [matrix] = store.index._matrices()
    assert matrix.unmapped == 0 and len(nearest(store)) == 160
    store.close()


def damaged_header(file):
    content = bytearray(file.read_bytes())
    content[20] ^= 1
    file.write_bytes(content)


def damaged_column(file):
    content = bytearray(file.read_bytes())
    content[matrix_file.HEADER + 3] ^= 1
    file.write_bytes(content)


def damaged_vectors(file):
    content = bytearray(file.read_bytes())
    start = len(content) - 100 * EMBEDDER.dimension
    content[start:] = bytes(byte ^ 1 for byte in content[start:])
    file.write_bytes(content)


def cut(file):
    file.write_bytes(file.read_bytes()[:-1])


def emptied(file):
    file.write_bytes(b"")


def of_another_version(file):
    content = bytearray(file.read_bytes())
    content[7] += 1
    file.write_bytes(content)


@pytest.mark.parametrize(
    "harm", [damaged_header, damaged_column, damaged_vectors, cut, emptied, of_another_version]
)
def test_a_file_that_does_not_fit_is_made_anew(path, file, monkeypatch, harm):
    expected = exact(path, monkeypatch)
    harm(file)
    assert answers(path) == expected
    read = rows_read(monkeypatch)
    assert answers(path) == expected and read == []


def test_a_file_is_not_used_for_another_database_in_its_place(path, file, tmp_path, monkeypatch):
    other = opened(tmp_path / "other.db")
    put(other, *drafts(100, seed=9))
    embed_all(other, EMBEDDER)
    other.close()
    shutil.copy(tmp_path / "other.db", path)
    assert answers(path) == exact(path, monkeypatch) == answers(tmp_path / "other.db")


def test_a_file_is_not_used_after_an_older_copy_went_its_own_way(path, tmp_path, monkeypatch):
    shutil.copy(path, tmp_path / "backup.db")
    for seed, texts in ((4, "a"), (5, "b")):
        store = opened(path)
        put(store, *drafts(30, seed=seed))
        embed_all(store, EMBEDDER)
        assert len(nearest(store)) == 130, texts
        store.close()
        assert answers(path) == exact(path, monkeypatch)
        shutil.copy(tmp_path / "backup.db", path)
    assert len(answers(path)) == 100 and answers(path) == exact(path, monkeypatch)


def test_a_purge_leaves_no_vector_in_any_file(path, file):
    store = opened(path)
    vector = (
        store.read()
        ._db.execute(
            "SELECT vector FROM passage JOIN statement s ON s.id = statement_id WHERE memory_id = 42"
        )
        .fetchone()[0]
    )
    assert vector in file.read_bytes()
    (file.parent / f"{file.name}.part").write_bytes(vector)
    write(store, lambda tx: tx.purge([42]), operation="purge")
    assert 42 not in {near.memory_id for near in nearest(store)}
    store.close()
    kept = [one for one in path.parent.rglob("*") if one.is_file() and vector in one.read_bytes()]
    assert kept == []
    assert 42 not in {near.memory_id for near in answers(path)} and len(answers(path)) == 99


def test_a_purge_that_is_taken_back_leaves_the_vector(path, file):
    before = file.read_bytes()
    store = opened(path)

    def work(tx):
        tx.purge([42])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write(store, work, operation="purge")
    store.close()
    assert file.read_bytes() == before


def test_a_file_that_cannot_be_written_does_not_stop_answers(path, monkeypatch):
    path.with_name(f"{path.name}{index.FOLDER}").write_text("in the way")
    assert answers(path) == exact(path, monkeypatch)


WRITER = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from test_matrix_file import index, matrix_file, nearest, opened
from mnemic.storage.sqlite.index_source import SqliteSource
index.MAPPED_FROM, index.UNMAPPED, index.UNMAPPED_SHARE = 20, -1, -1.0
index.OVERDUE = -200.0
store = opened(Path(sys.argv[1]))
print(len(nearest(store)), flush=True)
def stuck(handle):
    print("writing", flush=True)
    sys.stdin.read()
matrix_file.os.fsync = stuck
store.index.save(SqliteSource(store._connection()))
"""


def test_a_process_killed_while_it_writes_does_no_harm(path, file, monkeypatch):
    expected, before = exact(path, monkeypatch), file.read_bytes()
    paths = [str(Path(__file__).parent), *(entry for entry in sys.path if "tests" in entry)]
    command = [sys.executable, "-c", WRITER, str(path), *paths]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "100\n"
        assert child.stdout.readline() == "writing\n"
        assert [one.name for one in files(path)] == [file.name, f"{file.name}.part"]
        assert answers(path) == expected, "another process goes on meanwhile"
        os.kill(child.pid, signal.SIGKILL)
    assert file.read_bytes() == before and answers(path) == expected
    store = opened(path)
    put(store, *drafts(60, seed=3))
    embed_all(store, EMBEDDER)
    assert len(nearest(store)) == 160
    store.close()
    assert [one.name for one in files(path)] == [file.name]


def test_readers_see_one_moment_while_others_write(path, monkeypatch):
    """Every pair of memories is written and forgotten together: nobody ever sees one of them alone."""
    writer, reader = opened(path), opened(path)
    stop = threading.Event()
    failures = []

    def add():
        number = 0
        while not stop.is_set():
            number += 1
            pair = put(writer, *(a_draft("heron iris", name=f"pair {number} {side}") for side in "ab"))
            embed_all(writer, EMBEDDER)

            def work(tx):
                for memory in pair:
                    tx.purge([memory.id]) if number % 2 else tx.update(memory, MemoryPatch(priority=9))

            write(writer, work)

    def look():
        try:
            while not stop.is_set():
                one = reader.read()
                with one.at_one_moment():
                    held = {n for n, _ in queries.best_words(one, ["heron"], Filter(), limit=10_000)}
                    near = queries.nearest(one, embedding(EMBEDDER, "heron iris"), Filter(), limit=10_000)
                    close = {each.memory_id for each in near if each.cosine > 0.9}
                    listed = {n for n in one.select(Filter(), limit=10_000) if n > 100}
                    rows = {memory.id for memory in one.get(sorted(held))}
                assert len(held) % 2 == 0 and held == listed == rows
                assert close <= held and len(held - close) in (0, 2)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=look) for _ in range(3)] + [threading.Thread(target=add)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    stop.set()
    for thread in threads:
        thread.join()
    found = len(queries.best_words(reader.read(), ["heron"], Filter(), every=False, limit=10_000))
    for store in (writer, reader):
        store.close()
    assert failures == [] and found > 4
