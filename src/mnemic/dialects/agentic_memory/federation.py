"""Workspaces: several stores, each a database of ours or an `.amem` file, asked as one and never written to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

import orjson

from mnemic.core.allowed_files import SQLITE, allowed
from mnemic.core.context import Context
from mnemic.core.memories import KNOWN
from mnemic.dialects.agentic_memory.amem import FIRST, fill, load
from mnemic.dialects.agentic_memory.amem_file import is_amem
from mnemic.dialects.agentic_memory.store_cache import FileStamp, StoreCache
from mnemic.errors import Denied, Invalid, MnemicError, NotFound
from mnemic.model.filter import EdgeFilter, Filter, Hit
from mnemic.model.time import Moment
from mnemic.search.query import Vocabulary, exact_terms
from mnemic.storage.base import Reader, Writer
from mnemic.storage.engines import Asked
from mnemic.storage.files import HELD
from mnemic.storage.queries import best_words, count

SETTING = "agentic-memory workspaces"


class Role(StrEnum):
    """What a store is to a workspace."""

    PRIMARY = "primary"
    SECONDARY = "secondary"
    REFERENCE = "reference"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True)
class Member:
    """A store in a workspace: where it lies, what it is to it, and what it is called there."""

    path: str
    role: Role
    label: str


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace and its stores, in the order they were added."""

    id: int
    name: str
    members: tuple[Member, ...] = ()


@dataclass(frozen=True, slots=True)
class Size:
    """How much a store holds."""

    memories: int
    links: int


@dataclass(frozen=True, slots=True)
class WorkspaceAnswer:
    """What one store of a workspace said: its best matches or its size, or why it could not be asked."""

    member: Member
    hits: tuple[Hit, ...] = ()
    size: Size | None = None
    error: str | None = None


def create(ctx: Context, name: str) -> Workspace:
    """A new workspace without stores. It is kept like everything else."""
    _must_see_all(ctx)

    def work(tx: Writer) -> Workspace:
        known = _workspaces(tx)
        made = Workspace(max(known, default=0) + 1, name)
        _keep(tx, {**known, made.id: made})
        return made

    return ctx.change("create_workspace", work)


def find(ctx: Context, number: int) -> Workspace | None:
    """The workspace with this number, or None."""
    _must_see_all(ctx)
    return _workspaces(ctx.read()).get(number)


def _workspaces(reader: Reader) -> dict[int, Workspace]:
    """Every workspace, by number."""
    kept = orjson.loads(reader.setting(SETTING) or "[]")
    return {one["id"]: Workspace(one["id"], one["name"], _members(one["members"])) for one in kept}


def _members(kept: list[dict[str, str]]) -> tuple[Member, ...]:
    return tuple(Member(one["path"], Role(one["role"]), one["label"]) for one in kept)


def _keep(tx: Writer, workspaces: dict[int, Workspace]) -> None:
    tx.put_setting(SETTING, orjson.dumps([asdict(one) for one in workspaces.values()]).decode())


def add(
    ctx: Context, workspace: Workspace, path: str, role: Role = Role.PRIMARY, label: str | None = None
) -> tuple[Workspace, Member]:
    """Add the store at *path* to a workspace, labelled by its file name unless *label* is given.

    NotFound without a file, Denied outside the allowed folders, and an error with the fault if it is
    no store.
    """
    _must_see_all(ctx)
    _opened(ctx, Path(path))
    place = (ctx.folder / Path(path).expanduser()).absolute()
    member = Member(str(place), role, label or place.stem)

    def work(tx: Writer) -> Workspace:
        known = _workspaces(tx)
        one = known[workspace.id]
        changed = replace(one, members=(*one.members, member))
        _keep(tx, {**known, changed.id: changed})
        return changed

    return ctx.change("add_to_workspace", work), member


def sizes(ctx: Context, workspace: Workspace) -> list[WorkspaceAnswer]:
    """How much each store of a workspace holds."""

    def size(member: Member) -> WorkspaceAnswer:
        store, _ = _opened(ctx, Path(member.path))
        return WorkspaceAnswer(member, size=store.asked(lambda reader: _size(reader, ctx.now())))

    return _each(workspace, size)


def _size(reader: Reader, now: Moment) -> Size:
    wanted = Filter(states=KNOWN, alive_at=now)
    return Size(
        sum(reader.tally(wanted, "kind").values()),
        count(reader, EdgeFilter(ends=wanted, is_current=True)),
    )


def search(ctx: Context, workspace: Workspace, text: str, limit: int) -> list[WorkspaceAnswer]:
    """The best *limit* memories of each store that hold a telling word of *text*, by BM25, in the stores' order."""

    def matches(member: Member) -> WorkspaceAnswer:
        store, first = _opened(ctx, Path(member.path))
        hits = store.asked(lambda reader: _matches(reader, text, limit, ctx.now()))
        return WorkspaceAnswer(member, tuple(_renumbered(hit, first) for hit in hits))

    return _each(workspace, matches)


def _matches(reader: Reader, text: str, limit: int, now: Moment) -> list[Hit]:
    terms = exact_terms(Vocabulary(reader, None), text)
    scores = dict(best_words(reader, terms, Filter(alive_at=now), limit=limit))
    memories = reader.get(list(scores))
    return [
        Hit(memory=memory, score=scores[memory.id], terms={"bm25": scores[memory.id]}) for memory in memories
    ]


def _renumbered(hit: Hit, first: int) -> Hit:
    """*hit* under the number it has in its file, whose first number became *first*."""
    return replace(hit, memory=replace(hit.memory, id=hit.memory.id - first)) if first else hit


def _each(workspace: Workspace, ask: Callable[[Member], WorkspaceAnswer]) -> list[WorkspaceAnswer]:
    """What every store says, in their order. One after another: side by side they would fight for the interpreter."""
    return [_answered(member, ask) for member in workspace.members]


def _answered(member: Member, ask: Callable[[Member], WorkspaceAnswer]) -> WorkspaceAnswer:
    """The answer of *member*; a failing member does not affect the others."""
    try:
        return ask(member)
    except MnemicError as error:
        return WorkspaceAnswer(member, error=str(error))


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
    cache = ctx.resources.of(StoreCache)
    if is_amem(head):
        return cache.take(real, stamp, lambda: _unpacked(ctx, real)), FIRST
    if head == SQLITE:
        # A database notices its changes itself, but not that another has come in its place.
        return cache.take(real, stamp._replace(size=0, changed_at=0), lambda: ctx.engines.elsewhere(real)), 0
    raise Invalid(f"{real.name} is neither an .amem file nor a Mnemic database", "path")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long for any file
        return False


def _look(path: Path) -> tuple[bytes, FileStamp]:
    try:
        status = path.stat()
        return HELD.beginning(path, len(SQLITE)), FileStamp(status.st_ino, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise Invalid(f"{path.name} cannot be read: {error.strerror}", "path") from None


def _unpacked(ctx: Context, path: Path) -> Asked:
    """An `.amem` file as a store of ours."""
    store = ctx.engines.in_memory()
    brain = load(path)
    try:
        fill(store, brain, ctx.now())
    except Invalid as error:
        raise Invalid(f"{path.name}: {error}", "path") from None
    return store
