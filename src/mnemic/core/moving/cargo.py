"""What another system keeps, read and ready to be taken in: memories, links, names and how often they were used."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mnemic.core.context import Context
from mnemic.core.hidden import TARGET
from mnemic.core.moving.arrivals import Arrival, Imported, Intake, Tie
from mnemic.core.moving.documents import arrival_of, ties_of
from mnemic.core.reflections import ABOUT
from mnemic.errors import Denied, Invalid
from mnemic.model.graph import Direction, Edge
from mnemic.model.memory import Memory
from mnemic.model.values import Moment, State
from mnemic.storage.base import Progress

FAMILY = uuid.UUID("0c5f6d5e-0f0c-4a86-9a3f-1f6b8f6a2c41")
"""Makes the uids of what has no id: the same thing has the same one whenever it comes into the same namespace."""
ORIGINAL_TARGET = "original_target_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A memory of another system: what the JSON document would say of it, and how it is spoken of there."""

    key: str
    entry: Mapping[str, Any]
    label: str
    identity: str | None = None
    """What makes it the same when it comes again; None if that is its id or, for want of one, its title."""
    adds: bool = False
    """Whether its statements join those that are known."""
    target: str | None = None
    """What it is a thought about: its number here goes into the metadata."""
    about: tuple[str, ...] = ()
    """The memories it is a thought about, by their keys."""


@dataclass(slots=True)
class Cargo:
    """Everything one system keeps. The keys of pieces and names are what links and pairs know them by."""

    pieces: list[Piece] = field(default_factory=list)
    links: list[Mapping[str, Any]] = field(default_factory=list)
    """As in the JSON document; `key` is what a piece may have as its target."""
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Namespace and title of what links point to and is no piece; an empty namespace is the caller's."""
    together: list[tuple[str, str, int, Moment]] = field(default_factory=list)
    """Pairs that were answered together: how often, and when last."""
    flaws: list[str] = field(default_factory=list)
    """What cannot be taken along, each with its reason."""


def unload(ctx: Context, cargo: Cargo, progress: Progress | None = None) -> Imported:
    """Take everything in. What is known is brought up to date, so that a second time changes nothing."""
    intake = Intake(ctx, keeps_forgotten=True)
    intake.done.errors += cargo.flaws
    plain = [piece for piece in cargo.pieces if piece.target is None]
    thoughts = [piece for piece in cargo.pieces if piece.target is not None]
    intake.take(_arrivals(intake, plain), len(cargo.pieces), progress)
    intake.take(_names(ctx, cargo.names), len(cargo.names))
    intake.tie(ties_of(ctx, cargo.links, intake.done))
    wanted = {piece.target for piece in thoughts}
    keyed = [link for link in cargo.links if link.get("key") in wanted]
    targets = {**intake.numbers, **_numbered(intake, keyed)}
    intake.take(_arrivals(intake, thoughts, targets), len(thoughts))
    intake.tie(_abouts(ctx, cargo.pieces, intake))
    intake.keep_together(cargo.together)
    ctx.wake()
    return intake.done


def _arrivals(
    intake: Intake, pieces: Iterable[Piece], targets: Mapping[str, int] | None = None
) -> Iterator[Arrival]:
    """The pieces that can be read; the others are told."""
    for piece in pieces:
        try:
            yield _arrival(intake.ctx, piece, targets or {})
        except (Invalid, Denied) as error:
            intake.done.errors.append(f"{piece.label}: {error}")


def _arrival(ctx: Context, piece: Piece, targets: Mapping[str, int]) -> Arrival:
    entry = dict(piece.entry)
    if piece.target is not None:
        entry["metadata"] = _aimed(entry["metadata"], targets.get(piece.target))
    if piece.identity is not None:
        home = ctx.home(entry.get("namespace") or None)
        entry["id"] = str(uuid.uuid5(FAMILY, f"{home}\n{piece.identity}"))
    return arrival_of(
        ctx, piece.label, entry, key=piece.key, has_name=piece.identity is None, adds=piece.adds
    )


def _aimed(metadata: Mapping[str, Any], number: int | None) -> dict[str, Any]:
    """The metadata of a thought with the number that what it is about has here, if that has come along."""
    if number is None:
        return dict(metadata)
    return {name: value for name, value in metadata.items() if name != ORIGINAL_TARGET} | {TARGET: number}


def _names(ctx: Context, names: Mapping[str, tuple[str, str]]) -> Iterator[Arrival]:
    for key, (namespace, title) in names.items():
        name = Memory(
            id=0,
            uid="",
            namespace=ctx.home(namespace or None),
            title=title,
            created_at=ctx.now(),
            updated_at=ctx.now(),
            state=State.NAMED,
        )
        yield Arrival(title, key, name)


def _numbered(intake: Intake, links: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The numbers of these links, which have keys."""
    reader, found = intake.ctx.store.read(), {}
    for link in links:
        source, target = (intake.numbers.get(link[end]) for end in ("source_id", "target_id"))
        if source is None or target is None:
            continue
        for edge in reader.edges([source], Direction.OUT, [link["relation"]]):
            if edge.target_id == target:
                found[link["key"]] = edge.id
    return found


def _abouts(ctx: Context, pieces: Iterable[Piece], intake: Intake) -> Iterator[Tie]:
    """The links from thoughts to what they are about; a thought may outlive that."""
    for piece in pieces:
        for key in piece.about:
            if piece.key in intake.numbers and key in intake.numbers:
                edge = Edge(id=0, source_id=0, target_id=0, type=ABOUT, created_at=ctx.now())
                yield Tie(piece.label, piece.key, key, edge)
