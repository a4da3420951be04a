"""Entities, observations and relations: memories, their statements and links, as the graph vocabularies see them.

The vocabularies agree on the things and differ in the rules: what happens to a name that is taken, to an end
that is not there, to a text that is known. The rules are arguments here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import product, zip_longest
from typing import NamedTuple

from mnemic.core.batches import batches
from mnemic.core.context import Context
from mnemic.core.leaving import taken_out
from mnemic.core.lifecycle import touch
from mnemic.core.memories import is_in_use, titled
from mnemic.core.upkeep import write_after_expiry
from mnemic.errors import NotFound
from mnemic.formats.graphs import Flaw, Record
from mnemic.model.graph import Direction, Edge, Entity, Relation, Sketch, Triple
from mnemic.model.hidden import HIDDEN, is_hidden
from mnemic.model.memory import Draft, Memory
from mnemic.model.search import Filter
from mnemic.model.values import State
from mnemic.storage.base import Progress, Reader, Writer

DELETED = "deleted"
PAGE = 2_000
BATCH = 1_000


class Taken(Enum):
    """What to do with an entity whose name is taken."""

    KEEP = auto()
    """Leave the known one as it is."""
    REPLACE = auto()
    """Let the new type and observations take the place of the old."""
    MERGE = auto()
    """Take the new type if there is one, and add the observations that are not known."""
    FILL = auto()
    """Take the new type if there is one, and add observations until each is known as often as it was given."""


@dataclass(frozen=True, slots=True)
class Related:
    """What became of a triple: the link, whether it was there before, and the ends that were not."""

    triple: Triple
    edge: Edge | None
    is_known: bool = False
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A relation seen from one of its ends: the name of the other, and which way it goes."""

    edge: Edge
    other: str
    is_outgoing: bool


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of the records of a file: the entities it names, and those of them that are new or changed."""

    made: list[Memory]
    news: list[Memory]
    related: list[Related]
    flaws: list[Flaw]


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities in the order of their making, and the relations that touch them."""

    entities: list[Entity]
    relations: list[Relation]


def visible(ctx: Context) -> Filter:
    """What counts as an entity for this caller."""
    return Filter(namespaces=ctx.scope(), without=HIDDEN, alive_at=ctx.now())


def entity(reader: Reader, ctx: Context, name: str) -> Memory | None:
    """The entity called exactly *name*."""
    found = titled(reader, ctx, name)
    return None if found is None or is_hidden(found) else found


def as_entity(memory: Memory) -> Entity:
    """*memory* as a listing shows it."""
    return Entity(memory.id, memory.title, memory.kind, memory.texts)


# -- making


def create(ctx: Context, sketches: Sequence[Sketch], taken: Taken) -> list[tuple[Memory, bool]]:
    """Make the entities in one transaction: each as it stands then, and whether it is new."""
    return [(memory, before is None) for memory, before in _made(ctx, sketches, taken)]


def _made(
    ctx: Context, sketches: Sequence[Sketch], taken: Taken, kind: str = ""
) -> list[tuple[Memory, Memory | None]]:
    """Each entity as it stands then and as it was before; *kind* is for new ones that name none."""
    with write_after_expiry(ctx, "create_entities") as tx:
        made = [_create(tx, ctx, sketch, taken, kind) for sketch in sketches]
    ctx.wake()
    return made


def _create(
    tx: Writer, ctx: Context, sketch: Sketch, taken: Taken, kind: str
) -> tuple[Memory, Memory | None]:
    """The entity as it stands then, and as it was before."""
    known = _meant(tx, ctx, sketch)
    if known is not None:
        return _changed(tx, known, sketch, taken), known
    draft = Draft(
        namespace=ctx.home(),
        title=sketch.name,
        texts=sketch.observations,
        kind=sketch.kind or kind,
        metadata=sketch.metadata,
    )
    return tx.add(draft, uid=ctx.new_uid()), None


def _meant(tx: Writer, ctx: Context, sketch: Sketch) -> Memory | None:
    """The known entity that *sketch* speaks of."""
    numbered = tx.memory(sketch.of) if sketch.of is not None else None
    if numbered and numbered.title == sketch.name and is_in_use(ctx, numbered):
        return numbered
    return entity(tx, ctx, sketch.name)


def _changed(tx: Writer, known: Memory, sketch: Sketch, taken: Taken) -> Memory:
    metadata = {**known.metadata, **sketch.metadata}
    match taken:
        case Taken.KEEP:
            return known
        case Taken.REPLACE:
            return tx.change(known, kind=sketch.kind, metadata=metadata, texts=sketch.observations)
        case Taken.MERGE:
            texts = (*known.texts, *_unknown(known, sketch.observations))
            return tx.change(known, kind=sketch.kind or known.kind, metadata=metadata, texts=texts)
        case Taken.FILL:
            texts = (*known.texts, *_lacking(known, sketch.observations))
            return tx.change(known, kind=sketch.kind or known.kind, metadata=metadata, texts=texts)


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

    An end that is not there becomes a name if relations *may dangle*, else the triple is passed over. One that
    stands already is passed over too, unless it *may repeat*. A type with an inverse is made both ways.
    """
    with write_after_expiry(ctx, "create_relations") as tx:
        ends = _Ends(tx, ctx, may_dangle)
        made = []
        for triple, reason in zip_longest(triples, reasons):
            made.append(_relate(tx, ends, triple, reason, may_repeat))
            inverse = (inverses or {}).get(triple.type)
            if made[-1].edge and inverse:
                _relate(tx, ends, Triple(triple.target, triple.source, inverse), reason, may_repeat)
    return made


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
    return Related(triple, tx.add_edge(source, target, triple.type, reason=reason))


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
            end = self._known[name] = end._replace(own=self._tx.named(self._ctx.home(), name))
        return end.own

    def _end(self, name: str) -> _End:
        if name not in self._known:
            self._known[name] = _end_of(self._tx, self._ctx, name)
        return self._known[name]

    def standing(self, triple: Triple) -> Edge | None:
        """The relation, if it is there and has not ended."""
        for source, target in product(self._end(triple.source).all, self._end(triple.target).all):
            if edge := self._tx.edge_between(source, target, triple.type):
                return edge
        return None

    def times(self, triple: Triple) -> int:
        """How often the relation stands between any that are called so."""
        targets = set(self._called(triple.target))
        edges = self._tx.edges(self._called(triple.source), Direction.OUT, [triple.type])
        return sum(1 for edge in edges if edge.is_current and edge.target_id in targets)

    def _called(self, name: str) -> list[int]:
        states = (State.LIVING, State.NAMED)
        return [number for state in states for number in self._tx.ids_titled(name, self._ctx.scope(), state)]


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
    names = reader.ids_titled(name, ctx.scope(), State.NAMED)
    found = entity(reader, ctx, name)
    if found:
        return _End(found.id, tuple(names))
    own = next(iter(reader.ids_titled(name, (ctx.home(),), State.NAMED)), None)
    return _End(own, tuple(number for number in names if number != own))


def observe(
    ctx: Context, additions: Sequence[tuple[str, Sequence[str]]], *, may_repeat: bool, must_exist: bool
) -> list[tuple[Memory | None, list[str]]]:
    """Add observations in one transaction: each entity as it stands then, and what was added to it.

    Texts that were known before the call are left out unless they *may repeat*. An entity that is not there is
    passed over, or, if it *must exist*, fails the call with nothing written.
    """
    with write_after_expiry(ctx, "add_observations") as tx:
        added = [_observe(tx, ctx, name, texts, may_repeat, must_exist) for name, texts in additions]
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
    return tx.change(known, texts=(*known.texts, *fresh)), fresh


def _unknown(memory: Memory, texts: Sequence[str]) -> list[str]:
    known = set(memory.texts)
    return [text for text in texts if text not in known]


def _lacking(memory: Memory, texts: Sequence[str]) -> list[str]:
    """Those of *texts* that *memory* has not, or not as often."""
    known = Counter(memory.texts)
    lacking = []
    for text in texts:
        if known[text]:
            known[text] -= 1
        else:
            lacking.append(text)
    return lacking


def take_in(
    ctx: Context,
    records: Iterable[Record],
    *,
    may_dangle: bool,
    may_repeat: bool = False,
    kind: str = "",
    progress: Progress | None = None,
) -> TakenIn:
    """Add what a file says to what is known, a thousand records at a time; *kind* is for new ones that name none.

    What is equal is kept once, or, if it *may repeat*, as often as the file says it.
    """
    found = list(records)
    sketches = [one for one in found if isinstance(one, Sketch)]
    triples = [one for one in found if isinstance(one, Triple)]
    made: list[tuple[Memory, Memory | None]] = []
    related: list[Related] = []
    for some in batches(sketches, BATCH):
        made += _made(ctx, some, Taken.FILL if may_repeat else Taken.MERGE, kind)
        _tell(progress, len(made), len(found))
    for several in batches(triples, BATCH):
        related += relate(ctx, several, may_dangle=may_dangle)
        _tell(progress, len(made) + len(related), len(found))
    if may_repeat:
        related += _repeated(ctx, triples, may_dangle)
    news = {memory.id: memory for memory, before in made if memory is not before}
    flaws = [one for one in found if isinstance(one, Flaw)]
    return TakenIn([memory for memory, _ in made], list(news.values()), related, flaws)


def _repeated(ctx: Context, triples: Sequence[Triple], may_dangle: bool) -> list[Related]:
    """Link until each of *triples* stands as often as it is given: what that took."""
    several = {triple: times for triple, times in Counter(triples).items() if times > 1}
    if not several:
        return []
    with write_after_expiry(ctx, "create_relations") as tx:
        ends = _Ends(tx, ctx, may_dangle)
        return [
            _relate(tx, ends, triple, None, may_repeat=True)
            for triple, times in several.items()
            for _ in range(times - ends.times(triple))
        ]


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress:
        progress(done, total)


# -- taking away


def delete(ctx: Context, names: Sequence[str], *, dangling: bool = False) -> list[Memory]:
    """Delete the named entities and with them their relations: those that were there.

    With *dangling*, also the relations to a name that no entity bears.
    """
    with ctx.write("delete_entities") as tx:
        found = {memory.id: memory for name in names if (memory := entity(tx, ctx, name))}
        for memory in found.values():
            taken_out(tx, memory, State.FORGOTTEN, DELETED, ctx.now())
        if dangling:
            known = {memory.title for memory in found.values()}
            _delete_dangling(tx, ctx, [name for name in names if name not in known])
    return list(found.values())


def _delete_dangling(tx: Writer, ctx: Context, names: Sequence[str]) -> None:
    ends = [number for name in names for number in tx.ids_titled(name, ctx.scope(), State.NAMED)]
    for edge in tx.edges(ends, Direction.BOTH) if ends else ():
        tx.change_edge(edge, state=State.FORGOTTEN)


def retract(
    ctx: Context, deletions: Sequence[tuple[str, Sequence[str]]], *, first_only: bool = False
) -> list[Memory | None]:
    """Take observations back in one transaction: each entity as it stands then, None for one that is not there."""
    with ctx.write("delete_observations") as tx:
        return [_retract(tx, ctx, name, texts, first_only) for name, texts in deletions]


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
    return tx.change(known, texts=tuple(left))


def unrelate(ctx: Context, triples: Sequence[Triple], *, first_only: bool = False) -> list[list[Edge]]:
    """Delete relations, ended ones too, in one transaction: for each triple the links that went."""
    with ctx.write("delete_relations") as tx:
        return [_unrelate(tx, ctx, triple, first_only) for triple in triples]


def _unrelate(tx: Writer, ctx: Context, triple: Triple, first_only: bool) -> list[Edge]:
    sources, targets = _end_of(tx, ctx, triple.source).all, set(_end_of(tx, ctx, triple.target).all)
    found = [edge for edge in tx.edges(sources, Direction.OUT, [triple.type]) if edge.target_id in targets]
    gone = found[:1] if first_only else found
    for edge in gone:
        tx.change_edge(edge, state=State.FORGOTTEN)
    return gone


# -- reading


def open_named(ctx: Context, names: Sequence[str], *, together: bool = False) -> list[Memory]:
    """The entities of these names, in the order asked, each once; names that are not there are left out.

    Counts as a use of each and, if asked, as a use of them *together*.
    """
    reader = ctx.store.read()
    found = {memory.id: memory for name in names if (memory := entity(reader, ctx, name))}
    opened = list(found.values())
    touch(ctx, opened, together=together)
    return opened


def containing(ctx: Context, needle: str) -> list[Entity]:
    """The entities whose name, type or one observation contains *needle*, whatever its case."""
    reader = ctx.store.read()
    return reader.entities(reader.ids_containing(needle, visible(ctx)))


def links_at(ctx: Context, memory_ids: Sequence[int]) -> dict[int, list[Link]]:
    """The links of each of these, ended ones too, by number; an end that has left takes its links along."""
    reader = ctx.store.read()
    edges = reader.edges(memory_ids, Direction.BOTH) if memory_ids else []
    ends = {number for edge in edges for number in (edge.source_id, edge.target_id)}
    names = {memory.id: memory.title for memory in reader.memories(sorted(ends)) if _stands(ctx, memory)}
    return {
        number: [
            Link(edge, names[other], is_outgoing=edge.source_id == number)
            for edge in edges
            if number in (edge.source_id, edge.target_id)
            and (other := edge.target_id if edge.source_id == number else edge.source_id) in names
        ]
        for number in memory_ids
    }


def _stands(ctx: Context, memory: Memory) -> bool:
    """Whether a relation to *memory* is shown: it is an entity in use, or no more than a name."""
    if is_hidden(memory):
        return False
    return is_in_use(ctx, memory) or (memory.state is State.NAMED and ctx.may_see(memory.namespace))


def end(ctx: Context, edge_id: int, inverses: Mapping[str, str]) -> Edge:
    """End the relation with this number, and its inverse with it; one that has ended stays as it is."""
    with ctx.write("end_relation") as tx:
        edge = tx.edge(edge_id)
        if edge is None or edge.state is not State.LIVING or not _shown(tx, ctx, edge):
            raise NotFound(f"Relation with id={edge_id} not found")
        if not edge.is_current:
            return edge
        inverse = inverses.get(edge.type)
        back = tx.edge_between(edge.target_id, edge.source_id, inverse) if inverse else None
        if back:
            tx.change_edge(back, valid_to=ctx.now())
        return tx.change_edge(edge, valid_to=ctx.now())


def _shown(reader: Reader, ctx: Context, edge: Edge) -> bool:
    ends = reader.memories(sorted({edge.source_id, edge.target_id}))
    return bool(ends) and all(_stands(ctx, memory) for memory in ends)


def relations_of(ctx: Context, memory_ids: Sequence[int]) -> list[Relation]:
    """Every relation with at least one end among these."""
    return ctx.store.read().relations(visible(ctx), at=memory_ids) if memory_ids else []


def read_graph(ctx: Context, after: str | None = None, limit: int | None = None) -> Graph:
    """Everything, as it stood at one moment.

    Or a page of it: *limit* entities behind the one called *after*, and the relations that touch them. Those of one
    name stand together where the first of them stands, on one page, which may be longer for that.
    """
    wanted = visible(ctx)
    with ctx.store.snapshot() as reader:
        if after is None and limit is None:
            return Graph(list(_entities(reader, wanted)), reader.relations(wanted))
        start = [0] if after is None else _namesakes(reader, after, wanted)
        if not start:
            raise NotFound(f"Entity with name {after} not found")
        numbers = _page(reader, wanted, start[0], limit)
        return Graph(reader.entities(numbers), reader.relations(wanted, at=numbers) if numbers else [])


def _page(reader: Reader, wanted: Filter, after: int, limit: int | None) -> list[int]:
    page: list[int] = []
    while limit is None or len(page) < limit:
        numbers = reader.ids_containing("", wanted, after=after, limit=min(limit or PAGE, PAGE))
        if not numbers:
            break
        for one in reader.entities(numbers):
            after = one.id
            alike = reader.ids_titled(one.title, wanted.namespaces)
            if len(alike) > 1:
                alike = _namesakes(reader, one.title, wanted)
            page += alike if alike[0] == one.id else ()
            if limit is not None and len(page) >= limit:
                break
    return page


def _namesakes(reader: Reader, name: str, wanted: Filter) -> list[int]:
    """The entities called *name*, one in each namespace at most, in the order of their making."""
    return sorted(reader.passing(reader.ids_titled(name, wanted.namespaces), wanted))


def _entities(reader: Reader, wanted: Filter) -> Iterator[Entity]:
    last = 0
    while numbers := reader.ids_containing("", wanted, after=last, limit=PAGE):
        yield from reader.entities(numbers)
        last = numbers[-1]
