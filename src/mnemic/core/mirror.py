"""A file that shows the graph to other programs, in the form in which the vocabulary's first home kept it.

What stands in the file when we first see it, and what others change in it later, is taken in: added, never taken away,
since a file cannot say what was meant to go. Then the file is replaced, whole or not at all.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mnemic.core.context import Context
from mnemic.core.entities import read_graph, take_in
from mnemic.formats.graphs import Flaw, Record, read_document, read_lines, write_document, write_lines
from mnemic.model.graph import Entity, Relation

log = logging.getLogger(__name__)

FLAWS_TOLD = 5
DAMAGED = ".damaged"

Signature = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Form:
    """How a kind of file is read and written."""

    read: Callable[[str], Iterator[Record]]
    write: Callable[[Iterable[Entity], Iterable[Relation]], bytes]


LINES = Form(read_lines, write_lines)
DOCUMENT = Form(read_document, write_document)


class Mirror:
    """One file, kept equal to the graph that *ctx* sees."""

    def __init__(self, path: Path, form: Form):
        self.path = Path(os.path.realpath(path))
        self._form = form
        self._seen: Signature | None = None
        self._shown = -1

    def sync(self, ctx: Context) -> None:
        """Take in what others wrote, then show what has changed here."""
        with contextlib.suppress(FileNotFoundError):
            self._read(ctx)
        sequence = ctx.store.sequence()
        if sequence != self._shown or self._signature() != self._seen:
            self._write(ctx)
            self._shown = sequence

    def _read(self, ctx: Context) -> None:
        signature = self._signature()
        if signature is None or signature == self._seen:
            return
        content = self.path.read_bytes()
        self._seen = signature
        if _digest(content) == ctx.store.read().setting(self._key):
            return
        text = content.decode("utf-8-sig", errors="surrogateescape")
        taken = take_in(ctx, self._form.read(text), may_dangle=True)
        if taken.flaws:
            self._tell(taken.flaws)

    def _tell(self, flaws: Sequence[Flaw]) -> None:
        """Say what could not be read, and keep the file that has it beside the one that will take its place."""
        copy = self.path.with_name(self.path.name + DAMAGED)
        shutil.copy2(self.path, copy)
        told = "; ".join(f"{flaw.where}: {flaw.what}" for flaw in flaws[:FLAWS_TOLD])
        more = f" and {len(flaws) - FLAWS_TOLD} more" if len(flaws) > FLAWS_TOLD else ""
        log.warning("%s: skipped %s%s. The file as it was is kept as %s", self.path, told, more, copy.name)

    def _write(self, ctx: Context) -> None:
        graph = read_graph(ctx)
        if not (graph.entities or graph.relations or self._seen):
            return  # a file is made by the first thing there is to show
        content = self._form.write(graph.entities, graph.relations)
        digest = _digest(content)
        if digest == ctx.store.read().setting(self._key) and self._signature() == self._seen is not None:
            return
        self._seen = self._replace(content)
        with ctx.store.write(operation="mirror", actor=ctx.actor, at=ctx.now(), durable=False) as tx:
            tx.set_setting(self._key, digest)

    def _replace(self, content: bytes) -> Signature | None:
        """Put *content* in the place of the file, unless someone has just changed it: then it is read first."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if self._signature() != self._seen:
                return self._seen
            if self._seen is not None:
                shutil.copymode(self.path, name)
            Path(name).replace(self.path)
            return self._signature()
        finally:
            Path(name).unlink(missing_ok=True)

    @property
    def _key(self) -> str:
        return f"mirror {self.path}"

    def _signature(self) -> Signature | None:
        """What changes when the file does; None if it is not there."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
