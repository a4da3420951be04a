"""Faults between the rows of a store and its journal, in sentences. Engines give the rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from mnemic.model.memory import Memory
from mnemic.storage.change_fields import JOURNALED, NO_FIELDS
from mnemic.storage.decoders import EDGE_FIELDS
from mnemic.storage.tokenizer import normalized

Fields = dict[str, Any]


def replayed(changes: Iterable[Sequence[Any]]) -> dict[int, Fields]:
    """Each thing as the journal leaves it, by number; what was purged is not there.

    *changes* are numbers with the fields after a change as JSON, in order.
    """
    left: dict[int, Fields] = {}
    for number, after in changes:
        if after is None:
            left.pop(number, None)
        else:
            left.setdefault(number, {}).update(orjson.loads(after))
    return left


def memory_faults(memories: Iterable[Memory], logged: Mapping[int, Fields]) -> Iterator[str]:
    """The faults of all *memories* of a store against the *replayed* journal."""
    seen = 0
    for memory in memories:
        fields = logged.get(memory.id)
        seen += fields is not None
        if fields is None:
            yield f"memory {memory.id} is not in the journal"
        elif not _agrees(memory, fields):
            yield f"memory {memory.id} differs from what the journal says of it"
    if seen != len(logged):
        yield f"{len(logged) - seen} memories of the journal are missing"


def _agrees(memory: Memory, fields: Fields) -> bool:
    """Whether each field has its last journaled value; without one, the value at creation."""
    if [one.id for one in memory.statements] != fields.get("statements", []):
        return False
    expected = {name: fields.get(name, FROM_BIRTH[name]) for name in JOURNALED}
    return expected == _plain({name: getattr(memory, name) for name in JOURNALED})


def edge_faults(edges: Iterable[Sequence[Any]], logged: Mapping[int, Fields]) -> Iterator[str]:
    """The faults of all *edges* of a store, as rows of EDGE_FIELDS, against the *replayed* journal."""
    missing = dict(logged)
    for number, *values in edges:
        fields = missing.pop(number, {})
        if any(fields.get(name) != value for name, value in zip(EDGE_FIELDS[1:], values, strict=True)):
            yield f"link {number} differs from what the journal says of it"
    if missing:
        yield f"{len(missing)} links of the journal are missing"


def first_phrase(memory: Memory) -> str:
    """The first token of the body, or of the title if there is none, by which the words index must find it."""
    return next(iter(normalized(memory.content or memory.title).split()), "")


def _plain(fields: Fields) -> Fields:
    """*fields* as the journal has them."""
    plain: Fields = orjson.loads(orjson.dumps(fields, default=dict))
    return plain


FROM_BIRTH = _plain({name: NO_FIELDS[name] for name in JOURNALED})
