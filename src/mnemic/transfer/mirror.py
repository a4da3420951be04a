"""A file that shows the graph to other programs, in the form in which the dialect's first home kept it.

The first content of the file and later edits by others are imported: added, never removed,
since a file cannot say what was meant to go. Then the file is replaced atomically.
"""

from __future__ import annotations

import filecmp
import hashlib
import logging
import os
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path

from mnemic.core.context import Context
from mnemic.core.copies import Copy, note_copy
from mnemic.core.entities import Graph, read_graph
from mnemic.model.access import Scope
from mnemic.model.change import Position
from mnemic.model.graph import Entity, Relation, Sketch, Triple
from mnemic.storage.base import Writer
from mnemic.storage.files import make_folder, put_in_place, sync
from mnemic.transfer.graph_batch import GraphPolicy, graph_records
from mnemic.transfer.graph_file import (
    Flaw,
    GraphRecord,
    Surplus,
    read_document_or_lines,
    read_lines,
    write_document,
    write_lines,
)
from mnemic.transfer.importer import Importer

log = logging.getLogger(__name__)

FLAWS_TOLD = 5
DAMAGED = ".damaged"
MOST_COPIES = 10
"""So many files are kept of which nothing but fields unknown to us was left out: whoever writes these writes again."""

Signature = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class MirrorForm:
    """How a kind of file is read and written."""

    read: Callable[[str], Iterator[GraphRecord]]
    write: Callable[[Iterable[Entity], Iterable[Relation]], bytes]
    may_repeat: bool = False
    """Whether it means something that an observation or a relation stands there twice."""


LINES = MirrorForm(read_lines, write_lines)
DOCUMENT = MirrorForm(read_document_or_lines, write_document, may_repeat=True)


class Mirror:
    """One file, kept equal to the graph that *ctx* sees."""

    def __init__(self, path: Path, form: MirrorForm):
        self.path = Path(os.path.realpath(path))
        self._form = form
        self._seen: Signature | None = None
        self._content = ""
        """The digest of what is in the file."""
        self._shown: Position | None = None

    def sync(self, ctx: Context) -> None:
        """Take in what others wrote, then show what has changed here."""
        signature = self._signature()
        if self._shown is None:
            note_copy(ctx, Copy("file", self._key.removeprefix("mirror ")))
        if signature != self._seen:
            self._look(ctx, signature)
        newest = ctx.store.newest()
        if newest != self._shown and self._write(ctx):
            self._shown = newest

    def _look(self, ctx: Context, signature: Signature | None) -> None:
        """The file has come, gone or changed."""
        try:
            content = self.path.read_bytes() if signature else b""
        except FileNotFoundError:
            content, signature = b"", None
        digest = _digest(content)
        # One that is ours need not be our latest: another server may have written it.
        is_ours = signature is None or digest in self._known(ctx)
        if is_ours or not self._read(ctx, content.decode("utf-8-sig", errors="surrogateescape"), digest):
            self._shown = None
        self._seen, self._content = signature, digest

    def _read(self, ctx: Context, text: str, digest: str) -> bool:
        """Take in what others wrote: whether that is all there is to show."""
        records = list(self._form.read(text))
        news = self._news(records, read_graph(ctx))
        importer = Importer(ctx, GraphPolicy(is_live=True))
        importer.merge(graph_records(ctx, news, may_repeat=self._form.may_repeat))
        refused = [Flaw(*error.split(": ", 1)) for error in importer.finish().errors]
        lost = [*(one for one in records if isinstance(one, Flaw | Surplus)), *refused]
        if lost:
            self._tell(lost)
        self._note(ctx, digest)
        graph = read_graph(ctx)
        sketches = (Sketch(one.title, one.kind, tuple(one.texts)) for one in graph.entities)
        triples = (Triple(one.source, one.target, one.type) for one in graph.relations)
        return self._said(records) == self._said([*sketches, *triples])

    def _news(self, records: Sequence[GraphRecord], graph: Graph) -> list[Sketch | Triple]:
        """What the file says that *graph*, as we would show it, does not.

        A file has names and no namespaces, so what we showed ourselves must not be looked up by its name again.
        """
        triples = [one for one in records if isinstance(one, Triple)]
        shown = Counter(Triple(one.source, one.target, one.type) for one in graph.relations)
        said = Counter(triples) if self._form.may_repeat else Counter(set(triples))
        sketches = [one for one in records if isinstance(one, Sketch)]
        return [
            *_other_sketches(sketches, graph.entities),
            *(one for one in triples if said[one] > shown[one]),
        ]

    def _said(self, records: Iterable[GraphRecord]) -> object:
        """The content of *records* without their order, which may differ between two stores that share a file."""
        gather = _counted if self._form.may_repeat else frozenset
        return gather(
            (one.name, one.kind, gather(one.observations)) if isinstance(one, Sketch) else one
            for one in records
        )

    def _tell(self, lost: Sequence[Flaw | Surplus]) -> None:
        """Say what could not be taken in, and keep the file that has it beside the one that will take its place."""
        is_but_more = all(isinstance(one, Surplus) for one in lost)
        copy = self._kept(MOST_COPIES if is_but_more else None)
        told = "; ".join(f"{one.where}: {one.what}" for one in lost[:FLAWS_TOLD])
        more = f" and {len(lost) - FLAWS_TOLD} more" if len(lost) > FLAWS_TOLD else ""
        where = (
            f"The file as it was is kept as {copy.name}" if copy else "Enough such files are kept beside it"
        )
        log.warning("%s: skipped %s%s. %s", self.path, told, more, where)

    def _kept(self, most: int | None) -> Path | None:
        """A copy of the file as it is: one that was made before, by another server perhaps, or a new one.

        None if there are as many as there may be at *most*, and none of these is it.
        """
        for number in islice(count(), most):
            copy = self.path.with_name(f"{self.path.name}{DAMAGED}{number or ''}")
            if not copy.exists():
                shutil.copy2(self.path, copy)
                sync(copy)
                return copy
            if self._is_equal(copy):
                return copy
        return None

    def _is_equal(self, path: Path) -> bool:
        return path.is_file() and filecmp.cmp(self.path, path, shallow=False)

    def _write(self, ctx: Context) -> bool:
        """Show the graph: False if someone has just changed the file, which is to be read first."""
        graph = read_graph(ctx)
        if not (graph.entities or graph.relations or self._seen):
            return True  # a file is made by the first thing there is to show
        content = self._form.write(graph.entities, graph.relations)
        if self._seen and _digest(content) == self._content:
            return True
        return self._replace(ctx, content)

    def _replace(self, ctx: Context, content: bytes) -> bool:
        """Put *content* in the place of the file as we know it."""
        make_folder(self.path.parent)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if self._seen is not None:
                shutil.copymode(self.path, name)
            # Noted before, so that neither a crash here nor another server takes our own file for news.
            self._note(ctx, self._content, _digest(content))
            if self._signature() != self._seen:
                return False
            # Of the file before it gets its name: what another program writes there right afterwards is not ours.
            ours = _signature(Path(name))
            put_in_place(Path(name), self.path)
        finally:
            Path(name).unlink(missing_ok=True)
        self._seen, self._content = ours, _digest(content)
        return True

    def _known(self, ctx: Context) -> list[str]:
        """The digests of the file and of what was about to be written."""
        return (ctx.read().setting(self._key) or "").split()

    def _note(self, ctx: Context, *digests: str) -> None:
        def work(tx: Writer) -> None:
            tx.put_setting(self._key, " ".join(digests))

        ctx.store.change(Scope(asked=()), "mirror", ctx.actor, ctx.now(), work, durable=False)

    @property
    def _key(self) -> str:
        # A store takes no name that is not UTF-8, as a file's may be.
        return f"mirror {os.fsencode(self.path).decode(errors='backslashreplace')}"

    def _signature(self) -> Signature | None:
        """What changes when the file does; None if it is not there."""
        try:
            return _signature(self.path)
        except FileNotFoundError:
            return None


def _signature(path: Path) -> Signature:
    found = path.stat()
    return found.st_mtime_ns, found.st_size, found.st_ino


def _other_sketches(sketches: Sequence[Sketch], entities: Iterable[Entity]) -> list[Sketch]:
    """The sketches that show none of *entities* as it is, each with the number of the one that it is most like."""
    shown = defaultdict(list)
    for one in entities:
        shown[one.title].append(one)
    others = []
    for sketch in sketches:
        known = shown[sketch.name]
        twin = next((one for one in known if _is_shown(one, sketch)), None)
        if twin:
            known.remove(twin)
        else:
            others.append(sketch)
    return [replace(sketch, of=_nearest(sketch, shown[sketch.name])) for sketch in others]


def _is_shown(entity: Entity, sketch: Sketch) -> bool:
    return entity.kind == sketch.kind and sorted(entity.texts) == sorted(sketch.observations)


def _nearest(sketch: Sketch, entities: Iterable[Entity]) -> int | None:
    """The number of the entity that shares most observations with *sketch*; None if none shares any."""
    shared = {one.id: len({*one.texts} & {*sketch.observations}) for one in entities}
    best = max(shared, key=lambda number: shared[number], default=None)
    return best if best and shared[best] else None


def _counted(items: Iterable[Hashable]) -> frozenset[tuple[Hashable, int]]:
    return frozenset(Counter(items).items())


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
