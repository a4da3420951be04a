"""Records of a graph file: entities and relations that are known by their names alone, wherever the caller looks.

An entity gets the observations and the type that the file gives it; nothing is removed by what a file lacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.core.entities import entity
from mnemic.core.memories import is_in_use
from mnemic.errors import Invalid
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Edge, Sketch, Triple
from mnemic.model.memory import Memory, Statement, name_key
from mnemic.storage.base import Writer
from mnemic.storage.queries import ids_titled, memory_numbered
from mnemic.transfer.batch import Numbers, Sessions
from mnemic.transfer.file_batch import FileBatch, FilePolicy
from mnemic.transfer.records import End, GivenFields, LinkKey, LinkRecord, MemoryRecord, Record


def graph_records(
    ctx: Context, graph: Iterable[Sketch | Triple], *, may_repeat: bool = False, kind: str = ""
) -> Iterator[Record]:
    """Entities, then relations. Equal ones come once, or, if they *may repeat*, as often as they are given.

    *kind* is the type of new entities that have none.
    """
    things = list(graph)
    for sketch in things:
        if isinstance(sketch, Sketch):
            yield _entity(ctx, sketch, kind, may_repeat)
    triples = Counter(triple for triple in things if isinstance(triple, Triple))
    for triple, times in triples.items():
        yield from [_relation(ctx, triple)] * (times if may_repeat else 1)


def _entity(ctx: Context, sketch: Sketch, kind: str, may_repeat: bool) -> MemoryRecord:
    texts = sketch.observations if may_repeat else dict.fromkeys(sketch.observations)
    memory = Memory(
        id=sketch.of or 0,
        uid="",
        namespace=ctx.home(),
        name=name_key(sketch.name),
        title=sketch.name,
        kind=sketch.kind or kind,
        created_at=ctx.now(),
        updated_at=ctx.now(),
        statements=tuple(Statement(0, text) for text in texts),
    )
    names = {"content", "kind"} if sketch.kind else {"content"}
    return MemoryRecord(sketch.name, memory, given=GivenFields(frozenset(names), adds=True))


def _relation(ctx: Context, triple: Triple) -> LinkRecord:
    source, target, type = triple
    edge = Edge(id=0, source_id=0, target_id=0, type=type, created_at=ctx.now())
    key = LinkKey(End(name=source), End(name=target), type, edge.created_at)
    return LinkRecord(f"{source} {type} {target}", edge, key, given=GivenFields(frozenset()))


@dataclass(frozen=True, slots=True)
class GraphPolicy(FilePolicy):
    """How the records of a graph file are imported."""

    may_dangle: bool = True
    """Whether a relation may lead to a name that no entity bears."""

    def batch(self, ctx: Context, tx: Writer, numbers: Numbers, sessions: Sessions) -> GraphBatch:
        """The batch of a transaction."""
        return GraphBatch(ctx, tx, numbers, sessions, policy=self, may_dangle=self.may_dangle)


@dataclass(slots=True, kw_only=True)
class GraphBatch(FileBatch):
    """One transaction that merges records of a graph file."""

    may_dangle: bool
    namesakes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """All entities and placeholders that are called as an end of a relation is, by its number."""

    def _match(self, coming: Memory, own: int | None) -> Memory | None:
        numbered = memory_numbered(self.tx, coming.id) if coming.id else None
        if numbered and numbered.title == coming.title and is_in_use(self.ctx, numbered):
            return numbered
        return entity(self.tx, self.ctx, coming.title)

    def _ends(self, key: LinkKey) -> tuple[int, int] | None:
        names = (key.source.name, key.target.name)
        source, target = map(self._named, names)
        if source is None or target is None:
            missing = [name for name in dict.fromkeys(names) if self._named(name) is None]
            raise Invalid(f"no entity is called {' or '.join(missing)}")
        return source, target

    def _named(self, name: str) -> int | None:
        """What a relation to *name* points to, made now if relations may dangle."""
        scope, home = self.ctx.scope(), self.ctx.home()
        found = entity(self.tx, self.ctx, name)
        own = found.id if found else next(iter(self.tx.ids_named(name, (home,), State.NAMED)), None)
        if own is None and self.may_dangle:
            own = titles.target(self.tx, self.ctx, home, name)
        if own is not None:
            others = (*ids_titled(self.tx, name, scope), *self.tx.ids_named(name, scope, State.NAMED))
            self.namesakes[own] = tuple(dict.fromkeys((own, *others)))
        return own

    def _links_between(self, source: int, target: int, type: str) -> list[Edge]:
        sources, targets = (self.namesakes.get(end, (end,)) for end in (source, target))
        # When a relation was made is nothing that a graph file tells, so an ended one is no reason against a new one.
        return self.tx.edges(EdgeFilter(sources=sources, targets=targets, types=(type,), is_current=True))
