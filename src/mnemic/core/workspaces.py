"""Workspaces: several stores, each a database of ours or an `.amem` file, asked as one and never written to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from mnemic.core.context import Context
from mnemic.core.files import SQLITE, allowed
from mnemic.core.memories import KNOWN
from mnemic.core.moving.carrying import FIRST, fill, load
from mnemic.core.shelf import Stamp
from mnemic.errors import Denied, Invalid, MnemicError, NotFound
from mnemic.formats.amem import is_amem
from mnemic.model.search import Filter, Hit
from mnemic.model.values import Moment
from mnemic.model.workspace import Member, Role, Workspace
from mnemic.retrieval.text import exact_terms
from mnemic.storage.base import Asked, Reader
from mnemic.storage.files import HELD


@dataclass(frozen=True, slots=True)
class Size:
    """How much a store holds."""

    memories: int
    links: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What one store of a workspace said: its best matches or its size, or why it could not be asked."""

    member: Member
    hits: tuple[Hit, ...] = ()
    size: Size | None = None
    error: str | None = None


def create(ctx: Context, name: str) -> Workspace:
    """A new workspace without stores. It is kept like everything else."""
    _must_see_all(ctx)
    with ctx.write("create_workspace") as tx:
        return tx.add_workspace(name)


def find(ctx: Context, number: int) -> Workspace | None:
    """The workspace with this number, or None."""
    _must_see_all(ctx)
    return next((one for one in ctx.store.read().workspaces() if one.id == number), None)


def add(
    ctx: Context, workspace: Workspace, path: str, role: Role = Role.PRIMARY, label: str | None = None
) -> tuple[Workspace, Member]:
    """Put the store at *path* into a workspace, called after its file unless there is a *label*.

    NotFound if there is no file, Denied if it is not below the allowed folders, and an error that says what is wrong
    if it is no store.
    """
    _must_see_all(ctx)
    _opened(ctx, Path(path))
    place = Path(path).expanduser().absolute()
    with ctx.write("add_to_workspace") as tx:
        member = tx.add_member(workspace.id, str(place), role, label or place.stem)
    return replace(workspace, members=(*workspace.members, member)), member


def sizes(ctx: Context, workspace: Workspace) -> list[Answer]:
    """How much each store of a workspace holds."""

    def size(member: Member) -> Answer:
        store, _ = _opened(ctx, Path(member.path))
        return Answer(member, size=store.asked(lambda reader: _size(reader, ctx.now())))

    return _each(workspace, size)


def _size(reader: Reader, now: Moment) -> Size:
    wanted = Filter(states=KNOWN, alive_at=now)
    return Size(sum(reader.tally(wanted).values()), sum(reader.edge_tally(wanted).values()))


def search(ctx: Context, workspace: Workspace, text: str, limit: int) -> list[Answer]:
    """The best *limit* memories of each store that hold a telling word of *text*, by BM25, in the stores' order."""

    def matches(member: Member) -> Answer:
        store, first = _opened(ctx, Path(member.path))
        hits = store.asked(lambda reader: _matches(reader, text, limit, ctx.now()))
        return Answer(member, tuple(_renumbered(hit, first) for hit in hits))

    return _each(workspace, matches)


def _matches(reader: Reader, text: str, limit: int, now: Moment) -> list[Hit]:
    found = reader.words(exact_terms(reader, text, None), Filter(alive_at=now), every=False, limit=limit)
    scores = dict(found)
    memories = reader.memories(list(scores))
    return [
        Hit(memory=memory, score=scores[memory.id], terms={"bm25": scores[memory.id]}) for memory in memories
    ]


def _renumbered(hit: Hit, first: int) -> Hit:
    """*hit* under the number it has in its file, whose first number became *first*."""
    return replace(hit, memory=replace(hit.memory, id=hit.memory.id - first)) if first else hit


def _each(workspace: Workspace, ask: Callable[[Member], Answer]) -> list[Answer]:
    """What every store says, in their order. One after another: side by side they would fight for the interpreter."""
    return [_answered(member, ask) for member in workspace.members]


def _answered(member: Member, ask: Callable[[Member], Answer]) -> Answer:
    """What *member* says; one that cannot be asked keeps nobody from asking the others."""
    try:
        return ask(member)
    except MnemicError as error:
        return Answer(member, error=str(error))


def _must_see_all(ctx: Context) -> None:
    if ctx.granted is not None:
        raise Denied("This token may not use workspaces: it is limited to some namespaces.")


def _opened(ctx: Context, path: Path) -> tuple[Asked, int]:
    """The store at *path*, and by how much its numbers are higher than in the file.

    Its folder and the links on the way are looked at anew each time: they may have changed since it was added.
    """
    real = allowed(ctx, path, "path")
    if not _is_file(real):
        raise NotFound(f"File not found: {path}")
    head, stamp = _look(real)
    if is_amem(head):
        return ctx.shelf.take(real, stamp, lambda: _unpacked(ctx, real)), FIRST
    if head == SQLITE:
        # A database notices its changes itself, but not that another has come in its place.
        return ctx.shelf.take(
            real, stamp._replace(size=0, changed_at=0), lambda: ctx.store.elsewhere(real)
        ), 0
    raise Invalid(f"{real.name} is neither an .amem file nor a Mnemic database", "path")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for any file
        return False


def _look(path: Path) -> tuple[bytes, Stamp]:
    try:
        told = path.stat()
        return HELD.beginning(path, len(SQLITE)), Stamp(told.st_ino, told.st_size, told.st_mtime_ns)
    except OSError as error:
        raise Invalid(f"{path.name} cannot be read: {error.strerror}", "path") from None


def _unpacked(ctx: Context, path: Path) -> Asked:
    """An `.amem` file as a store of ours."""
    store = ctx.store.in_memory()
    brain = load(path)
    try:
        fill(store, brain, ctx.now())
    except Invalid as error:
        raise Invalid(f"{path.name}: {error}", "path") from None
    return store
