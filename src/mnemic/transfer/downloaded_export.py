"""An export as it was downloaded: a file, a folder of files, or either in a zip."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mnemic.errors import Invalid

KINDS = (".json", ".jsonl", ".ndjson")

Files = Mapping[str, Callable[[], bytes]]
"""What reads each file of an export, by its name below the export, parts separated by `/`."""


@contextmanager
def opened(path: Path) -> Iterator[Files]:
    """The JSON files of the export at *path*, or a single file of any name."""
    if path.is_dir():
        # Under its own name too, which tells the channel of a folder that is one.
        base = path.resolve()
        yield _chosen({found.relative_to(base.parent).as_posix(): found.read_bytes for found in _below(base)})
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield _chosen({name: partial(_unpacked, archive, name) for name in archive.namelist()})
    else:
        yield {path.name: path.read_bytes}


def _below(folder: Path) -> list[Path]:
    return sorted(found for found in folder.rglob("*") if found.is_file())


def _chosen(files: Files) -> Files:
    return {
        name: read for name, read in sorted(files.items()) if name.endswith(KINDS) and not _is_litter(name)
    }


def _is_litter(name: str) -> bool:
    """Whether this is what macOS leaves beside a file."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")


def _unpacked(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError):
        raise Invalid(f"{name}: cannot be unpacked; the zip is damaged or encrypted") from None
