"""Everything a store holds, as records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import TypeVar

from mnemic.core.context import Context
from mnemic.core.reflections import ENTITY, TARGET_TYPE, target_of
from mnemic.errors import MnemicError
from mnemic.model.access import EVERYTHING
from mnemic.model.change import Subject
from mnemic.model.enums import State
from mnemic.model.filter import ANY_EDGE, AliasFilter
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader
from mnemic.storage.queries import alias_numbers, alias_uids, each_edge, each_memory, edge_numbered
from mnemic.transfer import versions
from mnemic.transfer.records import (
    End,
    LinkKey,
    LinkRecord,
    MemoryRecord,
    PairRecord,
    PurgeRecord,
    Record,
    SessionKey,
    SessionRecord,
    StandardRecord,
    TargetRecord,
)
from mnemic.transfer.session_keys import session_key
from mnemic.transfer.versions import OPERATION, Knowledge

BATCH = 500
T = TypeVar("T")


def knowledge_of(ctx: Context) -> Knowledge:
    """What the store of *ctx* knows, with its own journal read to the end if it can be written."""
    with suppress(MnemicError):
        return ctx.store.change(
            EVERYTHING, OPERATION, ctx.actor, ctx.now(), lambda tx: versions.catch_up(ctx, tx)
        )
    return versions.known(ctx.store.read())


def read_records(ctx: Context, reader: Reader) -> Iterator[Record]:
    """Everything that *ctx* may see: sessions, purges, memories in every state, links and what belongs to them."""
    ends = dict[int, End]()
    sessions = {one.id: session_key(one) for one in reader.sessions() if ctx.may_see(one.namespace)}
    yield from _sessions(reader, sessions)
    if ctx.granted is None:
        for uid, _ in reader.aliases(AliasFilter(is_purged=True)):
            yield PurgeRecord(uid, uid)
    reflections: list[Memory] = []
    for batch in batched(each_memory(reader)):
        seen = [memory for memory in batch if ctx.may_see(memory.namespace)]
        yield from _memories(reader, seen, sessions, ends)
        reflections += [memory for memory in seen if target_of(memory) is not None]
    yield from _links(reader, ends)
    yield from _targets(reader, reflections, ends)
    yield from _pairs(reader, ends)
    yield from _standards(ctx, reader, ends)


def _sessions(reader: Reader, keys: dict[int, SessionKey]) -> Iterator[SessionRecord]:
    kept = reader.versions(Subject.SESSION, list(keys))
    for session in reader.sessions():
        if session.id in keys:
            yield SessionRecord(session.name, session, kept.get(session.id))


def _memories(
    reader: Reader, batch: Sequence[Memory], sessions: dict[int, SessionKey], ends: dict[int, End]
) -> Iterator[MemoryRecord]:
    """The memories of a batch; one that was merged into another is left to that one."""
    numbers = [memory.id for memory in batch]
    kept, aliases = reader.versions(Subject.MEMORY, numbers), alias_uids(reader, numbers)
    merged = alias_numbers(reader, [memory.uid for memory in batch])
    for memory in batch:
        if memory.uid in merged:
            continue
        is_placeholder = memory.state is State.NAMED
        ends[memory.id] = End("", memory.namespace, memory.title) if is_placeholder else End(memory.uid)
        yield MemoryRecord(
            memory.title,
            memory,
            sessions.get(memory.session_id or 0),
            kept.get(memory.id),
            tuple(aliases.get(memory.id, ())),
        )


def _links(reader: Reader, ends: dict[int, End]) -> Iterator[LinkRecord]:
    """The links between exported memories, those of the same ends and type together."""
    told = [edge for edge in each_edge(reader, ANY_EDGE) if edge.source_id in ends and edge.target_id in ends]
    told.sort(key=lambda edge: (edge.source_id, edge.target_id, edge.type, edge.created_at, edge.id))
    for batch in batched(told):
        kept = reader.versions(Subject.EDGE, [edge.id for edge in batch])
        for edge in batch:
            yield LinkRecord(f"link {edge.id}", edge, _key(edge, ends), kept.get(edge.id))


def _key(edge: Edge, ends: dict[int, End]) -> LinkKey:
    return LinkKey(ends[edge.source_id], ends[edge.target_id], edge.type, edge.created_at)


def _targets(reader: Reader, reflections: Iterable[Memory], ends: dict[int, End]) -> Iterator[TargetRecord]:
    for memory in reflections:
        number = target_of(memory) or 0
        if memory.metadata[TARGET_TYPE] == ENTITY:
            target: End | LinkKey | None = ends.get(number)
        else:
            edge = edge_numbered(reader, number)
            is_told = edge and edge.source_id in ends and edge.target_id in ends
            target = _key(edge, ends) if edge and is_told else None
        if target:
            yield TargetRecord(memory.title, memory.uid, target)


def _pairs(reader: Reader, ends: dict[int, End]) -> Iterator[PairRecord]:
    for one, other, (count, last) in reader.companions():
        if one in ends and other in ends:
            yield PairRecord(f"pair {one} {other}", ends[one], ends[other], count, last)


def _standards(ctx: Context, reader: Reader, ends: dict[int, End]) -> Iterator[StandardRecord]:
    for namespace, number, parent in reader.standards():
        if ctx.may_see(namespace) and (number is None or number in ends):
            memory = None if number is None else ends[number]
            yield StandardRecord(namespace, namespace, memory, parent)


def batched(items: Iterable[T]) -> Iterator[list[T]]:
    """A few hundred of *items* at a time."""
    waiting = iter(items)
    while batch := list(islice(waiting, BATCH)):
        yield batch
