"""Entities, observations and relations: memories, their statements and links, as the graph dialects see them.

The dialects agree on the things and differ in the rules: what happens to a name that is taken, to an end
that is not there, to a text that is known. The rules are arguments here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from itertools import product, zip_longest
from typing import NamedTuple

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.core.memories import called, is_in_use, titled
from mnemic.core.retention import touch
from mnemic.core.states import taken_out
from mnemic.errors import NotFound
from mnemic.model.annotations import HIDDEN, is_hidden
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter, Filter
from mnemic.model.graph import Direction, Edge, EdgeDraft, EdgePatch, Entity, Relation, Sketch, Triple
from mnemic.model.memory import Draft, Memory, MemoryPatch
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import edge_between, edge_numbered, ids_titled, passing

DELETED = "deleted"
PAGE = 2_000


class OnTakenName(Enum):
    """What to do with an entity whose name is taken."""

    KEEP = auto()
    """Leave the known one as it is."""
    REPLACE = auto()
    """Let the new type and observations take the place of the old."""
    MERGE = auto()
    """Take the new type if there is one, and add the observations that are not known."""


@dataclass(frozen=True, slots=True)
class Related:
    """What became of a triple: the link, whether it was there before, and the ends that were not."""

    triple: Triple
    edge: Edge | None
    is_known: bool = False
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntityLink:
    """A relation seen from one of its ends: the name of the other, and which way it goes."""

    edge: Edge
    other: str
    is_outgoing: bool


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities in the order of their making, and the relations that touch them."""

    entities: list[Entity]
    relations: list[Relation]


def visible(ctx: Context) -> Filter:
    """What counts as an entity for this caller."""
    return Filter(namespaces=ctx.scope(), without=HIDDEN, alive_at=ctx.now())


def entity(reader: Reader, ctx: Context, name: str) -> Memory | None:
    """The entity of this name, else the oldest that is shown under it."""
    found = called(reader, ctx, name)
    if found is not None:
        return found
    return next((memory for memory in titled(reader, ctx, name) if not is_hidden(memory)), None)


def as_entity(memory: Memory) -> Entity:
    """*memory* as a listing shows it."""
    return Entity(memory.id, memory.title, memory.kind, memory.texts)


# -- making


def create(ctx: Context, sketches: Sequence[Sketch], taken: OnTakenName) -> list[tuple[Memory, bool]]:
    """Create the entities in one transaction: each as stored, and whether it is new."""
    made = change_after_expiry(
        ctx,
        "create_entities",
        lambda tx: [_create(tx, ctx, sketch, taken) for sketch in sketches],
        namespaces=(ctx.home(),),
    )
    ctx.wake()
    return made


def _create(tx: Writer, ctx: Context, sketch: Sketch, taken: OnTakenName) -> tuple[Memory, bool]:
    """The entity as stored, and whether it is new."""
    known = entity(tx, ctx, sketch.name)
    if known is not None:
        return _changed(tx, known, sketch, taken), False
    draft = Draft(
        namespace=ctx.home(),
        name=sketch.name,
        texts=sketch.observations,
        kind=sketch.kind,
        metadata=sketch.metadata,
    )
    return titles.insert(tx, ctx, draft), True


def _changed(tx: Writer, known: Memory, sketch: Sketch, taken: OnTakenName) -> Memory:
    metadata = {**known.metadata, **sketch.metadata}
    match taken:
        case OnTakenName.KEEP:
            return known
        case OnTakenName.REPLACE:
            return tx.update(
                known, MemoryPatch(kind=sketch.kind, metadata=metadata, texts=sketch.observations)
            )
        case OnTakenName.MERGE:
            texts = (*known.texts, *_unknown(known, sketch.observations))
            return tx.update(
                known, MemoryPatch(kind=sketch.kind or known.kind, metadata=metadata, texts=texts)
            )


def relate(
    ctx: Context,
    triples: Sequence[Triple],
    *,
    may_dangle: bool,
    may_repeat: bool = False,
    inverses: Mapping[str, str] | None = None,
    reasons: Sequence[str | None] = (),
) -> list[Related]:
    """Link the named entities in one transaction.

    A missing end becomes a placeholder if relations *may dangle*, else the triple is skipped. An existing relation is
    skipped too, unless it *may repeat*. A type with an inverse is created both ways.
    """

    def work(tx: Writer) -> list[Related]:
        ends = _Ends(tx, ctx, may_dangle)
        made = []
        for triple, reason in zip_longest(triples, reasons):
            made.append(_relate(tx, ends, triple, reason, may_repeat))
            inverse = (inverses or {}).get(triple.type)
            if made[-1].edge and inverse:
                _relate(tx, ends, Triple(triple.target, triple.source, inverse), reason, may_repeat)
        return made

    return change_after_expiry(ctx, "create_relations", work, namespaces=(ctx.home(),))


def _relate(tx: Writer, ends: _Ends, triple: Triple, reason: str | None, may_repeat: bool) -> Related:
    standing = None if may_repeat else ends.standing(triple)
    if standing:
        return Related(triple, standing, is_known=True)
    source, target = ends.number(triple.source), ends.number(triple.target)
    if source is None or target is None:
        missing = [
            name for name, number in ((triple.source, source), (triple.target, target)) if number is None
        ]
        return Related(triple, None, missing=tuple(dict.fromkeys(missing)))
    return Related(triple, tx.insert_edge(EdgeDraft(source, target, triple.type, reason=reason)))


class _Ends:
    """The numbers behind the names that the relations of one call speak of."""

    def __init__(self, tx: Writer, ctx: Context, may_dangle: bool):
        self._tx = tx
        self._ctx = ctx
        self._may_dangle = may_dangle
        self._known: dict[str, _End] = {}

    def number(self, name: str) -> int | None:
        """What a new relation to *name* points to, made now if relations may dangle."""
        end = self._end(name)
        if end.own is None and self._may_dangle:
            end = self._known[name] = end._replace(
                own=titles.target(self._tx, self._ctx, self._ctx.home(), name)
            )
        return end.own

    def _end(self, name: str) -> _End:
        if name not in self._known:
            self._known[name] = _end_of(self._tx, self._ctx, name)
        return self._known[name]

    def standing(self, triple: Triple) -> Edge | None:
        """The relation, if it is there and has not ended."""
        for source, target in product(self._end(triple.source).all, self._end(triple.target).all):
            if edge := edge_between(self._tx, source, target, triple.type):
                return edge
        return None


class _End(NamedTuple):
    """What relations to a name point to."""

    own: int | None
    """Where a new one leads, if that is there: the entity of that name, else the mere name at home."""
    others: tuple[int, ...]
    """The other mere names where the caller looks."""

    @property
    def all(self) -> list[int]:
        return [*(() if self.own is None else (self.own,)), *self.others]


def _end_of(reader: Reader, ctx: Context, name: str) -> _End:
    names = reader.ids_named(name, ctx.scope(), State.NAMED)
    found = entity(reader, ctx, name)
    if found:
        return _End(found.id, tuple(names))
    own = next(iter(reader.ids_named(name, (ctx.home(),), State.NAMED)), None)
    return _End(own, tuple(number for number in names if number != own))


def observe(
    ctx: Context, additions: Sequence[tuple[str, Sequence[str]]], *, may_repeat: bool, must_exist: bool
) -> list[tuple[Memory | None, list[str]]]:
    """Add observations in one transaction: each entity as stored, and what was added to it.

    Texts that were known before the call are left out unless they *may repeat*. A missing entity is
    skipped, or, if it *must exist*, fails the call with nothing written.
    """
    added = change_after_expiry(
        ctx,
        "add_observations",
        lambda tx: [_observe(tx, ctx, name, texts, may_repeat, must_exist) for name, texts in additions],
        namespaces=ctx.usual,
    )
    ctx.wake()
    return added


def _observe(
    tx: Writer, ctx: Context, name: str, texts: Sequence[str], may_repeat: bool, must_exist: bool
) -> tuple[Memory | None, list[str]]:
    known = entity(tx, ctx, name)
    if known is None:
        if must_exist:
            raise NotFound(f"Entity with name {name} not found")
        return None, []
    fresh = list(texts) if may_repeat else _unknown(known, texts)
    return tx.update(known, MemoryPatch(texts=(*known.texts, *fresh))), fresh


def _unknown(memory: Memory, texts: Sequence[str]) -> list[str]:
    known = set(memory.texts)
    return [text for text in texts if text not in known]


# -- taking away


def delete(ctx: Context, names: Sequence[str], *, dangling: bool = False) -> list[Memory]:
    """Delete the named entities and with them their relations: those that were there.

    With *dangling*, also the relations to a name that no entity bears.
    """

    def work(tx: Writer) -> dict[int, Memory]:
        found = {memory.id: memory for name in names if (memory := entity(tx, ctx, name))}
        for memory in found.values():
            taken_out(tx, memory, State.FORGOTTEN, DELETED, ctx.now())
        if dangling:
            known = {memory.title for memory in found.values()}
            _delete_dangling(tx, ctx, [name for name in names if name not in known])
        return found

    found = ctx.change("delete_entities", work, namespaces=ctx.usual)
    return list(found.values())


def _delete_dangling(tx: Writer, ctx: Context, names: Sequence[str]) -> None:
    ends = [number for name in names for number in tx.ids_named(name, ctx.scope(), State.NAMED)]
    for edge in tx.edges(EdgeFilter(at=tuple(ends))) if ends else ():
        tx.update_edge(edge, EdgePatch(state=State.FORGOTTEN))


def retract(
    ctx: Context, deletions: Sequence[tuple[str, Sequence[str]]], *, first_only: bool = False
) -> list[Memory | None]:
    """Delete observations in one transaction: each entity as stored, None for a missing one."""
    return ctx.change(
        "delete_observations",
        lambda tx: [_retract(tx, ctx, name, texts, first_only) for name, texts in deletions],
        namespaces=ctx.usual,
    )


def _retract(tx: Writer, ctx: Context, name: str, texts: Sequence[str], first_only: bool) -> Memory | None:
    known = entity(tx, ctx, name)
    if known is None:
        return None
    left = known.texts
    for text in texts:
        if not first_only:
            left = [other for other in left if other != text]
        elif text in left:
            left.remove(text)
    return tx.update(known, MemoryPatch(texts=tuple(left)))


def unrelate(ctx: Context, triples: Sequence[Triple], *, first_only: bool = False) -> list[list[Edge]]:
    """Delete relations, ended ones too, in one transaction: for each triple the links that went."""
    return ctx.change(
        "delete_relations",
        lambda tx: [_unrelate(tx, ctx, triple, first_only) for triple in triples],
        namespaces=ctx.usual,
    )


def _unrelate(tx: Writer, ctx: Context, triple: Triple, first_only: bool) -> list[Edge]:
    sources, targets = _end_of(tx, ctx, triple.source).all, set(_end_of(tx, ctx, triple.target).all)
    found = [
        edge
        for edge in tx.edges(EdgeFilter(at=tuple(sources), direction=Direction.OUT, types=(triple.type,)))
        if edge.target_id in targets
    ]
    gone = found[:1] if first_only else found
    for edge in gone:
        tx.update_edge(edge, EdgePatch(state=State.FORGOTTEN))
    return gone


# -- reading


def open_named(ctx: Context, names: Sequence[str], *, together: bool = False) -> list[Memory]:
    """The entities of these names, in the given order, each once; unknown names are left out.

    Counts as a use of each and, with *together*, of each pair.
    """
    reader = ctx.read()
    found = {memory.id: memory for name in names if (memory := entity(reader, ctx, name))}
    opened = list(found.values())
    touch(ctx, opened, together=together)
    return opened


def containing(ctx: Context, needle: str) -> list[Entity]:
    """The entities whose name, type or one observation contains *needle*, ignoring case."""
    reader = ctx.read()
    return reader.look(reader.search_substring(needle, visible(ctx)), Entity)


def links_at(ctx: Context, memory_ids: Sequence[int]) -> dict[int, list[EntityLink]]:
    """The links of each of these, ended ones too, by number; an end that has left takes its links along."""
    reader = ctx.read()
    edges = reader.edges(EdgeFilter(at=tuple(memory_ids))) if memory_ids else []
    ends = {number for edge in edges for number in (edge.source_id, edge.target_id)}
    names = {memory.id: memory.title for memory in reader.get(sorted(ends)) if _stands(ctx, memory)}
    return {
        number: [
            EntityLink(edge, names[other], is_outgoing=edge.source_id == number)
            for edge in edges
            if number in (edge.source_id, edge.target_id)
            and (other := edge.target_id if edge.source_id == number else edge.source_id) in names
        ]
        for number in memory_ids
    }


def _stands(ctx: Context, memory: Memory) -> bool:
    """Whether a relation to *memory* is shown: it is a living entity or a placeholder."""
    if is_hidden(memory):
        return False
    return is_in_use(ctx, memory) or memory.state is State.NAMED


def end(ctx: Context, edge_id: int, inverses: Mapping[str, str]) -> Edge:
    """End the relation with this number, and its inverse with it; one that has ended stays as it is."""

    def work(tx: Writer) -> Edge:
        edge = edge_numbered(tx, edge_id)
        if edge is None or edge.state is not State.LIVING or not _shown(tx, ctx, edge):
            raise NotFound(f"Relation with id={edge_id} not found")
        if not edge.is_current:
            return edge
        inverse = inverses.get(edge.type)
        back = edge_between(tx, edge.target_id, edge.source_id, inverse) if inverse else None
        if back:
            tx.update_edge(back, EdgePatch(valid_to=ctx.now()))
        return tx.update_edge(edge, EdgePatch(valid_to=ctx.now()))

    return ctx.change("end_relation", work, namespaces=ctx.usual)


def _shown(reader: Reader, ctx: Context, edge: Edge) -> bool:
    ends = reader.get(sorted({edge.source_id, edge.target_id}))
    return bool(ends) and all(_stands(ctx, memory) for memory in ends)


def relations_of(ctx: Context, memory_ids: Sequence[int]) -> list[Relation]:
    """Every relation with at least one end among these."""
    return _relations(ctx.read(), visible(ctx), memory_ids)


def _relations(reader: Reader, wanted: Filter, at: Sequence[int] | None = None) -> list[Relation]:
    """The current relations whose ends pass *wanted* or are mere names, all or those that touch some memories."""
    ends = replace(wanted, states=wanted.states | {State.NAMED})
    touched = None if at is None else tuple(at)
    return reader.look(EdgeFilter(at=touched, ends=ends, is_current=True), Relation)


def read_graph(ctx: Context, after: str | None = None, limit: int | None = None) -> Graph:
    """The whole graph, as of one moment.

    Or a page of it: *limit* entities behind the one called *after*, and the relations that touch them. Those of one
    name come together, at the place of the first, on one page, which may be longer for that.
    """
    wanted = visible(ctx)
    with ctx.snapshot() as reader:
        if after is None and limit is None:
            return Graph(list(_entities(reader, wanted)), _relations(reader, wanted))
        start = [0] if after is None else _namesakes(reader, after, wanted)
        if not start:
            raise NotFound(f"Entity with name {after} not found")
        numbers = _page(reader, wanted, start[0], limit)
        found = {one.id: one for one in reader.look(numbers, Entity)}
        return Graph([found[number] for number in numbers], _relations(reader, wanted, numbers))


def _page(reader: Reader, wanted: Filter, after: int, limit: int | None) -> list[int]:
    page: list[int] = []
    seen: set[str] = set()
    while limit is None or len(page) < limit:
        numbers = reader.search_substring("", wanted, after=after, limit=min(limit or PAGE, PAGE))
        if not numbers:
            break
        for one in reader.look(numbers, Entity):
            after = one.id
            if one.title in seen:
                continue
            seen.add(one.title)
            alike = ids_titled(reader, one.title, wanted.namespaces)
            if len(alike) > 1:
                alike = _namesakes(reader, one.title, wanted)
            page += alike if alike[0] == one.id else ()
            if limit is not None and len(page) >= limit:
                break
    return page


def _namesakes(reader: Reader, name: str, wanted: Filter) -> list[int]:
    """The entities shown as *name*, in the order of their making."""
    return sorted(passing(reader, ids_titled(reader, name, wanted.namespaces), wanted))


def _entities(reader: Reader, wanted: Filter) -> Iterator[Entity]:
    last = 0
    while numbers := reader.search_substring("", wanted, after=last, limit=PAGE):
        yield from reader.look(numbers, Entity)
        last = numbers[-1]
