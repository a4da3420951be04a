"""How the files of another memory system are read and written; each dialect declares its own as `FILES`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mnemic.core.context import Context
    from mnemic.storage.base import Progress
    from mnemic.transfer.importer import Policy
    from mnemic.transfer.records import Record


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file or folder to import, and where to report progress."""

    path: Path
    progress: Progress | None = None

    @property
    def name(self) -> str:
        """The name of the file or folder."""
        return self.path.name


@dataclass(frozen=True, slots=True)
class RecordSource:
    """What a reader found: records, how many they are if that is known, and how they are to be merged."""

    records: Iterable[Record]
    total: int = 0
    policy: Policy | None = None
    """None: as those of a file."""


@dataclass(frozen=True, slots=True)
class ExportFile:
    """The bytes of a file for another system, and how often each thing occurs that the format cannot hold."""

    data: bytes
    lost: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFiles:
    """Reader and writer of the files of one memory system."""

    read: Callable[[Context, ImportSource], RecordSource]
    write: Callable[[Context], ExportFile]
    is_text: bool = True
    """False if the file is binary: it is neither printed to a terminal nor read from standard input."""
    database_marks: Mapping[str, str] = field(default_factory=dict)
    """Tables that identify a database of the system, each with a column that only this system has; empty: none."""
