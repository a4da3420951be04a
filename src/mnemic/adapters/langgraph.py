"""LangGraph's `BaseStore`: items under a path of labels, found by key, by filter and by meaning.

A path is the namespace `a.b` (LangGraph allows no dot in a label), a key the name of a memory. The value is kept as
JSON in the metadata of the memory, its text is what searches find. Memories that were stored in another way are items
too: their value is `{"text": …}`, and one without a name has its uid for a key.
"""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

import orjson
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    validate_op_namespace,
)

from mnemic.api import Memories, Memory, Recollection, Tier
from mnemic.core.recall import recall
from mnemic.model.filter import Filter, Query
from mnemic.model.limits import MAX_STATEMENT_BYTES

VALUE = "value"
MINUTES = "ttl_minutes"
KIND = "item"
PAGE = 500
EVERYTHING = "$"
COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


class MnemicStore(BaseStore):
    """A LangGraph store over *memories*. Safe between threads; the async methods run on a thread.

    *fields* are the JSON paths of a value whose texts are searched, by default all of it. *ttl* is LangGraph's own
    configuration: default minutes, and whether a read starts them anew.
    """

    supports_ttl = True

    def __init__(
        self, memories: Memories, *, fields: Sequence[str] = (EVERYTHING,), ttl: TTLConfig | None = None
    ):
        self.memories = memories
        self.fields = tuple(fields)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The results of *ops* in their order. Reads see the store as it was before the puts among them."""
        operations = list(ops)
        for op in operations:
            validate_op_namespace(op)
        results = [None if isinstance(op, PutOp) else self._read(op) for op in operations]
        puts = {(op.namespace, op.key): op for op in operations if isinstance(op, PutOp)}
        for op in puts.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """`batch`, without keeping the event loop waiting."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: GetOp | SearchOp | ListNamespacesOp) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._list(op)
        raise ValueError(f"Unknown operation type: {type(op)}")

    def _get(self, op: GetOp) -> Item | None:
        found = self._find(op.namespace, op.key)
        if found is None:
            return None
        return _item(self._refreshed(found) if op.refresh_ttl else found)

    def _find(self, namespace: tuple[str, ...], key: str) -> Memory | None:
        place = _joined(namespace)
        if found := self.memories.get(place, key):
            return found
        return next((one for one in self._each((place,)) if one.name is None and one.uid == key), None)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        places = tuple(
            place
            for place in self._places()
            if place[: len(op.namespace_prefix)] == tuple(op.namespace_prefix)
        )
        found = self._found(op, tuple(map(_joined, places))) if places else iter(())
        passing = ((memory, score) for memory, score in found if _passes(_value(memory), op.filter or {}))
        page = list(islice(passing, op.offset, op.offset + op.limit))
        if op.refresh_ttl:
            page = [(self._refreshed(memory), score) for memory, score in page]
        return [_search_item(memory, score) for memory, score in page]

    def _found(self, op: SearchOp, places: tuple[str, ...]) -> Iterator[tuple[Memory, float | None]]:
        """The memories of *places*, the most relevant first where there is a query, and then the others."""
        given = set()
        if op.query:
            enough = PAGE if op.filter else op.offset + op.limit
            for hit in self._relevant(places, op.query, enough):
                given.add(hit.id)
                yield hit.memory, hit.relevance
        for memory in self._each(places):
            if memory.id not in given:
                yield memory, None

    def _relevant(self, places: tuple[str, ...], query: str, limit: int) -> Recollection:
        ctx = self.memories.context
        wanted = Filter(namespaces=places, alive_at=ctx.now())
        wanted_query = Query(text=query, filter=wanted, limit=limit, now=ctx.now(), min_relevance=0.0)
        return Recollection.of(recall(ctx, wanted_query), explain=False)

    def _each(self, places: tuple[str, ...]) -> Iterator[Memory]:
        for place in places:
            offset = 0
            while page := self.memories.list(namespace=place, limit=PAGE, offset=offset):
                yield from page
                offset += len(page)

    def _places(self) -> list[tuple[str, ...]]:
        return sorted(tuple(name.split(".")) for name in self.memories.namespaces())

    def _list(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        places = [
            place
            for place in self._places()
            if all(_matches(condition, place) for condition in op.match_conditions or ())
        ]
        cut = sorted({place[: op.max_depth] for place in places}) if op.max_depth is not None else places
        return cut[op.offset : op.offset + op.limit]

    def _put(self, op: PutOp) -> None:
        if op.value is None:
            if found := self._find(op.namespace, op.key):
                self.memories.forget(found.id)
            return
        kept: dict[str, object] = {VALUE: dict(op.value)}
        if op.ttl is not None:
            kept[MINUTES] = op.ttl
        memory = self.memories.upsert(
            op.key,
            self._text(op),
            kind=KIND,
            namespace=_joined(op.namespace),
            tier=Tier.LONG if op.ttl is None else Tier.MID,
            metadata=kept,
        )
        self._refreshed(memory)

    def _refreshed(self, memory: Memory) -> Memory:
        """*memory*, its minutes beginning anew if it has any."""
        minutes = memory.metadata.get(MINUTES)
        if not isinstance(minutes, int | float):
            return memory
        return self.memories.revise(memory.id, tier=Tier.MID, ttl=timedelta(minutes=minutes))

    def _text(self, op: PutOp) -> str:
        """The text by which the item is found; its key if it is not to be."""
        fields = self.fields if op.index is None else op.index or ()
        texts = [text for field in fields for text in _texts(op.value, field)]
        return _cut("\n".join(texts).strip() or op.key)


def _joined(namespace: Sequence[str]) -> str:
    return ".".join(namespace)


def _texts(value: Any, field: str) -> list[str]:
    if field == EVERYTHING:
        return list(_strings(value))
    return [text for text in get_text_at_path(value, field) if text]


def _strings(value: Any) -> Iterator[str]:
    """The texts and numbers in *value*, in order."""
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def _cut(text: str) -> str:
    """As much of *text* as a statement holds."""
    return text.encode()[:MAX_STATEMENT_BYTES].decode(errors="ignore")


def _value(memory: Memory) -> dict[str, Any]:
    value = memory.metadata.get(VALUE)
    return dict(value) if isinstance(value, Mapping) else {"text": memory.text}


def _item(memory: Memory) -> Item:
    return Item(
        value=_value(memory),
        key=memory.name or memory.uid,
        namespace=tuple(memory.namespace.split(".")),
        created_at=memory.created_at,
        updated_at=memory.updated_at,
    )


def _search_item(memory: Memory, score: float | None) -> SearchItem:
    return SearchItem(
        namespace=tuple(memory.namespace.split(".")),
        key=memory.name or memory.uid,
        value=_value(memory),
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        score=score,
    )


def _passes(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_compares(value.get(key), condition) for key, condition in wanted.items())


def _compares(value: Any, condition: Any) -> bool:
    if not isinstance(condition, Mapping):
        return _as_json(value) == _as_json(condition)
    if not any(key.startswith("$") for key in condition):
        return isinstance(value, Mapping) and _passes(value, condition)
    return all(_holds(name, value, other) for name, other in condition.items())


def _holds(name: str, value: Any, other: Any) -> bool:
    if name not in COMPARISONS:
        raise ValueError(f"Unsupported operator: {name}")
    if name in ("$eq", "$ne"):
        return COMPARISONS[name](_as_json(value), _as_json(other))
    try:
        return COMPARISONS[name](float(value), float(other))
    except (TypeError, ValueError):
        return False


def _as_json(value: Any) -> bytes:
    """*value* in a form in which equal JSON compares equal, a tuple and a list too."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)


def _matches(condition: MatchCondition, place: tuple[str, ...]) -> bool:
    path = condition.path
    if len(place) < len(path):
        return False
    part = place[: len(path)] if condition.match_type == "prefix" else place[len(place) - len(path) :]
    return all(label in ("*", known) for label, known in zip(path, part, strict=True))
