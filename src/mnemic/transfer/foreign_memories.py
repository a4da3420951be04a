"""The memories of another system, ready to be imported, with their links, names and use."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from mnemic.core.context import Context
from mnemic.core.reflections import ABOUT
from mnemic.errors import Denied, Invalid
from mnemic.model.graph import Edge
from mnemic.model.time import Moment
from mnemic.storage.queries import alias_numbers, numbers
from mnemic.transfer import document_entry
from mnemic.transfer.document import link_of, record_of
from mnemic.transfer.records import (
    End,
    FlawRecord,
    GivenFields,
    LinkKey,
    LinkRecord,
    MemoryRecord,
    PairRecord,
    Record,
    TargetRecord,
)
from mnemic.transfer.system_files import RecordSource

FAMILY = uuid.UUID("0c5f6d5e-0f0c-4a86-9a3f-1f6b8f6a2c41")
"""Makes the uids of what has no id: the same thing has the same one whenever it comes into the same namespace."""
ORIGINAL_TARGET = "original_target_id"


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMemory:
    """A memory of another system: what the JSON document would say of it, and how it is spoken of there."""

    key: str
    entry: Mapping[str, Any]
    label: str
    identity: str | None = None
    """What makes it the same when it comes again; None if that is its id or, for want of one, its title."""
    uid: str = ""
    """Its uid, if it says that of itself: it is a memory that was written to a file."""
    former: tuple[str, ...] = ()
    """Under what else it may have come before: the first that is known counts."""
    adds: bool = False
    """Whether its statements join those that are known."""
    target: str | None = None
    """What it is a thought about: its number here goes into the metadata."""
    about: tuple[str, ...] = ()
    """The memories it is a thought about, by their keys."""


@dataclass(slots=True)
class ForeignContent:
    """Everything one system keeps. The keys of memories and names are what links and pairs know them by."""

    memories: list[ForeignMemory] = field(default_factory=list)
    links: list[Mapping[str, Any]] = field(default_factory=list)
    """As in the JSON document; `key` is what a memory may have as its target."""
    names: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Namespace and title of what links point to and is no memory of it; an empty namespace is the caller's."""
    together: list[tuple[str, str, int, Moment]] = field(default_factory=list)
    """Pairs that were answered together: how often, and when last."""
    flaws: list[FlawRecord] = field(default_factory=list)
    """What cannot be taken along, each with its reason."""


def content_source(ctx: Context, content: ForeignContent) -> RecordSource:
    """Everything as records, for the importer."""
    content.memories = _recognised(ctx, content.memories)
    return RecordSource(records_of(ctx, content), len(content.memories))


def _recognised(ctx: Context, memories: Sequence[ForeignMemory]) -> list[ForeignMemory]:
    """The memories, each with the identity under which the store knows it already, if it knows one."""
    found, depth = list(memories), 0
    left: Collection[int] = [place for place, coming in enumerate(memories) if coming.former]
    while tried := {place: one for place in left if (one := _known_as(memories[place], depth))}:
        uids = {place: _uid(one, ctx.home(one.entry.get("namespace"))) for place, one in tried.items()}
        asked = list(uids.values())
        known = numbers(ctx.read(), asked) | alias_numbers(ctx.read(), asked)
        met = {place: one for place, one in tried.items() if uids[place] in known}
        found = [met.get(place, coming) for place, coming in enumerate(found)]
        left, depth = tried.keys() - met.keys(), depth + 1
    return found


def _known_as(coming: ForeignMemory, depth: int) -> ForeignMemory | None:
    """The memory under its present identity (0) or a former one; None if it has fewer."""
    names = (coming.identity, *coming.former)
    return replace(coming, identity=names[depth]) if depth < len(names) else None


def records_of(ctx: Context, content: ForeignContent) -> Iterator[Record]:
    """Everything as records; what cannot be read becomes a flaw."""
    yield from content.flaws
    ends = _ForeignEnds(ctx, content)
    for coming in content.memories:
        try:
            yield _record(ctx, coming, ends)
        except (Invalid, Denied) as error:
            yield FlawRecord(coming.label, str(error))
    for index, link in enumerate(content.links):
        try:
            source, target = ends.end(link["source_id"]), ends.end(link["target_id"])
            yield link_of(ctx, f"links.{index}", link, source, target)
        except (Invalid, Denied) as error:
            yield FlawRecord(f"links.{index}", str(error))
    yield from _abouts(ctx, content.memories, ends)
    for one, other, count, last in content.together:
        if one in ends and other in ends:
            yield PairRecord(f"pair {one} {other}", ends.end(one), ends.end(other), count, last)


class _ForeignEnds:
    """The ends that keys mean, among the memories that come and those that are known."""

    def __init__(self, ctx: Context, content: ForeignContent):
        self._ends = {
            key: End(namespace=ctx.home(namespace or None), name=name)
            for key, (namespace, name) in content.names.items()
        }
        for coming in content.memories:
            with suppress(Denied, Invalid):
                self._ends[coming.key] = _end(ctx, coming)
        self._links: dict[str, LinkKey] = {}
        for link in content.links:
            with suppress(Invalid):
                if "key" in link:
                    ends = self.end(link["source_id"]), self.end(link["target_id"])
                    self._links[link["key"]] = link_of(ctx, "", link, *ends).key

    def __contains__(self, key: str) -> bool:
        return key in self._ends

    def end(self, key: Any) -> End:
        """The memory that *key* means; one that does not come may be known by it."""
        return self._ends.get(key) or End(document_entry.uid_of(str(key)), name=str(key))

    def target(self, key: str | None) -> End | LinkKey | None:
        """The memory or link that *key* means, if that comes too."""
        return None if key is None else self._ends.get(key) or self._links.get(key)


def _end(ctx: Context, coming: ForeignMemory) -> End:
    home = ctx.home(coming.entry.get("namespace") or None)
    if uid := _uid(coming, home):
        return End(uid, name=coming.key)
    return End(namespace=home, name=str(coming.entry["title"]))


def _uid(coming: ForeignMemory, home: str) -> str:
    """The uid of a memory, or nothing if it is known by its name alone."""
    if coming.uid:
        return coming.uid
    if coming.identity is not None:
        return str(uuid.uuid5(FAMILY, f"{home}\n{coming.identity}"))
    key = document_entry.key_of(coming.entry) if coming.entry.get("id") is not None else ""
    return document_entry.uid_of(key) if key else ""


def _record(ctx: Context, coming: ForeignMemory, ends: _ForeignEnds) -> MemoryRecord:
    entry = dict(coming.entry)
    if ends.target(coming.target):
        items = entry["metadata"].items()
        entry["metadata"] = {name: value for name, value in items if name != ORIGINAL_TARGET}
    if coming.identity is not None:
        entry["id"] = _uid(coming, ctx.home(entry.get("namespace") or None))
    return record_of(ctx, coming.label, entry, has_name=coming.identity is None, adds=coming.adds)


def _abouts(ctx: Context, memories: Iterable[ForeignMemory], ends: _ForeignEnds) -> Iterator[Record]:
    """The links from thoughts to what they are about, and which of these is their target; either may be missing."""
    targets = []
    for coming in memories:
        source = ends.end(coming.key)
        for key in coming.about:
            if key in ends:
                edge = Edge(id=0, source_id=0, target_id=0, type=ABOUT, created_at=ctx.now())
                link = LinkKey(source, ends.end(key), ABOUT, edge.created_at)
                yield LinkRecord(coming.label, edge, link, given=GivenFields(frozenset()))
        if target := ends.target(coming.target):
            targets.append(TargetRecord(coming.label, source.uid, target))
    yield from targets
