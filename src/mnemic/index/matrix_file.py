"""The file beside the database that holds the vectors of one model, mapped and shared by all processes.

It is a cache. It is written under another name and then renamed, so no reader sees half of it. It names the history it
was made from, and some of its rows are compared with the database before it is used; what does not fit is made anew.
"""

from __future__ import annotations

import mmap
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from mnemic.index.vectors import COLUMNS, Matrix
from mnemic.model.change import Position
from mnemic.numeric import np, npt
from mnemic.storage.source import Extent, Source

if sys.platform != "win32":
    import fcntl

MAGIC = b"MNVEC002"
HEADER = 4096
ALIGNED = 64
SAMPLE, LAST = 24, 8
"""Rows over the whole file, and of its end, that are compared with the database."""
PREFIX, PART, LOCK = "vectors-", ".part", "lock"


class Model(NamedTuple):
    """Whose vectors they are."""

    id: int
    dimension: int
    name: str


@contextmanager
def locked(folder: Path, *, waits: bool) -> Iterator[bool]:
    """Hold the right to write in *folder*; False if somebody else has it and the caller does not wait."""
    handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        assert sys.platform != "win32", "there are no such locks, so no files either"
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


def opened(folder: Path, model: Model, source: Source, position: Extent) -> Matrix | None:
    """The vectors in the file, as of when it was written; None if there is none that fits this database."""
    with suppress(OSError, ValueError, KeyError):
        with (folder / f"{PREFIX}{model.id}").open("rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        head = _header(content[:HEADER])
        written = Extent(Position.parse(str(head["change"])), head["passage"])
        is_ours = (head["model"], head["dimension"]) == (model.name, model.dimension)
        is_past = written.change <= position.change and written.passage <= position.passage
        if is_ours and is_past and head["history"] == source.history(written.change):
            return _mapped(content, head, model, written, source)
    return None


def _header(content: bytes) -> dict[str, Any]:
    """What the header tells; ValueError if it is damaged or of another version."""
    size, check = int.from_bytes(content[8:12], "little"), int.from_bytes(content[12:16], "little")
    head = content[16 : 16 + size]
    if content[:8] != MAGIC or zlib.crc32(head) != check:
        raise ValueError("no header of ours")
    found: dict[str, Any] = orjson.loads(head)
    return found


def _mapped(
    content: mmap.mmap, head: dict[str, Any], model: Model, written: Extent, source: Source
) -> Matrix | None:
    count = head["count"]
    if len(content) != _size(count, model.dimension):
        return None
    columns: dict[str, npt.NDArray[Any]] = {}
    for name, start in _places(count).items():
        columns[name] = np.frombuffer(content, COLUMNS[name], count, start)
    if _check(columns) != head["check"]:
        return None
    vectors = np.frombuffer(content, np.int8, count * model.dimension, _vectors_at(count))
    vectors = vectors.reshape(count, model.dimension)
    if not _agrees(columns, vectors, model, source):
        return None
    return Matrix.mapped(model.id, written, vectors, columns)


def _agrees(
    columns: dict[str, npt.NDArray[Any]], vectors: npt.NDArray[np.int8], model: Model, source: Source
) -> bool:
    """Whether the database says the same of a sample of rows; most must still be there."""
    count = len(vectors)
    rows = sorted({*range(0, count, max(1, count // SAMPLE)), *range(max(0, count - LAST), count)})
    known = source.vectors_of(columns["passage"][rows].tolist())
    compared = zip(rows, columns["passage"][rows].tolist(), columns["statement"][rows].tolist(), strict=True)
    same = [
        known[passage] == (statement, model.id, vectors[row].tobytes())
        for row, passage, statement in compared
        if passage in known and vectors[row].any()
    ]
    return all(same) and 2 * len(same) >= len(rows)


def write(folder: Path, model: Model, matrix: Matrix, source: Source) -> None:
    """Put the living rows of *matrix* in the place of what the file holds. The caller has the lock."""
    columns = {name: matrix.living_column(name) for name in COLUMNS}
    count = len(columns["passage"])
    head = orjson.dumps(
        {
            "model": model.name,
            "dimension": model.dimension,
            "count": count,
            "change": str(matrix.position.change),
            "passage": matrix.position.passage,
            "history": source.history(matrix.position.change),
            "check": _check(columns),
        }
    )
    header = MAGIC + len(head).to_bytes(4, "little") + zlib.crc32(head).to_bytes(4, "little") + head
    target = folder / f"{PREFIX}{model.id}"
    part = target.with_name(target.name + PART)
    os.close(os.open(part, os.O_CREAT | os.O_WRONLY, 0o600))
    with part.open("wb") as file:
        file.write(header.ljust(HEADER, b"\0"))
        for name, start in _places(count).items():
            file.seek(start)
            file.write(np.ascontiguousarray(columns[name]).data)
        file.seek(_vectors_at(count))
        for some in matrix.parts():
            file.write(np.ascontiguousarray(some).data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(target)


def erase(folder: Path, memory_ids: Sequence[int]) -> None:
    """Overwrite the vectors of these memories wherever they stand in *folder*; a file that cannot be is deleted."""
    if not folder.is_dir():
        return
    with locked(folder, waits=True):
        for file in folder.glob(f"{PREFIX}*"):
            try:
                if file.name.endswith(PART):  # left by a process that was killed
                    file.unlink()
                else:
                    _erase_in(file, memory_ids)
            except (OSError, ValueError, KeyError):
                file.unlink(missing_ok=True)


def _erase_in(file: Path, memory_ids: Sequence[int]) -> None:
    with file.open("r+b", buffering=0) as opened:
        head = _header(opened.read(HEADER))
        count, dimension = head["count"], head["dimension"]
        opened.seek(_places(count)["memory"])
        memories = np.frombuffer(opened.read(8 * count), np.int64)
        rows = np.flatnonzero(np.isin(memories, list(memory_ids)))
        for row in rows.tolist():
            opened.seek(_vectors_at(count) + row * dimension)
            opened.write(bytes(dimension))
        if len(rows):
            os.fsync(opened.fileno())


def _check(columns: dict[str, npt.NDArray[Any]]) -> int:
    check = 0
    for name in COLUMNS:
        check = zlib.crc32(np.ascontiguousarray(columns[name]).data, check)
    return check


def _places(count: int) -> dict[str, int]:
    """Where each column begins."""
    places, at = {}, HEADER
    for name, kind in COLUMNS.items():
        places[name] = at
        at = _aligned(at + count * np.dtype(kind).itemsize)
    return places


def _vectors_at(count: int) -> int:
    """Where the vectors begin."""
    return _aligned(HEADER + sum(_aligned(count * np.dtype(kind).itemsize) for kind in COLUMNS.values()))


def _size(count: int, dimension: int) -> int:
    return _vectors_at(count) + count * dimension


def _aligned(at: int) -> int:
    return -(-at // ALIGNED) * ALIGNED
