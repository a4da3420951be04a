"""Standards: the memory that states the rules of a namespace, handed down from its parents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.core.memories import is_in_use, living
from mnemic.errors import Invalid
from mnemic.model.memory import Memory
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import memory_numbered

EVERYWHERE = "*"
"""The name under which the standard of all namespaces is set."""
MOST_PARENTS = 5

Settings = Mapping[str, tuple[int | None, str | None]]
"""The standard memory and the parent that are set, by namespace."""


@dataclass(frozen=True, slots=True)
class Standard:
    """Standard of a namespace: the memory, if living, and the configured parent."""

    namespace: str
    memory: Memory | None = None
    parent: str | None = None
    is_dangling: bool = False
    """A standard is set, but its memory is no longer living."""


def set_standard(ctx: Context, namespace: str, memory_id: int, parent: str | None = None) -> Standard:
    """Make a living memory the standard of *namespace*. Invalid if it were its own parent."""
    ctx.must_see(namespace)
    if parent == namespace:
        raise Invalid("namespace cannot be its own parent", "parent")

    def work(tx: Writer) -> Memory:
        memory = living(tx, ctx, memory_id)
        tx.put_standard(namespace, memory.id, parent)
        return memory

    memory = ctx.change("set_standard", work, namespaces=(namespace,))
    return Standard(namespace, memory, parent)


def standard_of(ctx: Context, namespace: str) -> Standard:
    """The entry of this namespace itself."""
    ctx.must_see(namespace)
    reader = ctx.read()
    number, parent = settings(reader).get(namespace, (None, None))
    memory = _memory(reader, ctx, number)
    return Standard(namespace, memory, parent, is_dangling=number is not None and memory is None)


def clear_standard(ctx: Context, namespace: str) -> bool:
    """Take the standard of *namespace* away; False if there was none."""
    ctx.must_see(namespace)

    def work(tx: Writer) -> bool:
        if namespace not in settings(tx):
            return False
        tx.put_standard(namespace, None, None)
        return True

    return ctx.change("clear_standard", work, namespaces=(namespace,))


def standards_for(ctx: Context, namespace: str | None) -> list[Memory]:
    """The standards that hold in *namespace*, the most general first: everywhere's, its parents', its own."""
    reader = ctx.read()
    held = settings(reader)
    if not held:
        return []
    line = [] if namespace is None else [*reversed(list(_parents(held, namespace))), namespace]
    numbers = (held.get(name, (None, None))[0] for name in dict.fromkeys((EVERYWHERE, *line)))
    found = (_memory(reader, ctx, number) for number in numbers)
    return list({memory.id: memory for memory in found if memory}.values())


def settings(reader: Reader) -> Settings:
    """All configured entries."""
    return {name: (number, parent) for name, number, parent in reader.standards()}


def _parents(held: Settings, namespace: str) -> Iterator[str]:
    """The namespaces above *namespace*, the nearest first; a circle is walked once."""
    seen, name = {namespace, EVERYWHERE}, namespace
    for _ in range(MOST_PARENTS):
        above = held.get(name, (None, None))[1] or _shorter(held, name)
        if above is None or above in seen:
            return
        yield above
        seen.add(above)
        name = above


def _shorter(held: Settings, namespace: str) -> str | None:
    """The namespace that is left when words are cut off behind, at hyphens, and that has a standard."""
    name, cut, _ = namespace.rpartition("-")
    while cut:
        if held.get(name, (None, None))[0] is not None:
            return name
        name, cut, _ = name.rpartition("-")
    return None


def _memory(reader: Reader, ctx: Context, number: int | None) -> Memory | None:
    memory = None if number is None else memory_numbered(reader, number)
    return memory if memory and is_in_use(ctx, memory) else None
