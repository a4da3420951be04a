"""Names and titles: who bears a name, what happens when it is taken, and placeholders that links point to.

A name is what somebody chose; one living memory of a namespace bears it. A title is only shown; `title_of` in
`model/memory.py` makes one of the first sentence of a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from mnemic.core.context import Context
from mnemic.errors import Conflict
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import moved_end
from mnemic.model.memory import Draft, Memory, MemoryPatch, name_key, title_of
from mnemic.storage.base import Reader, Writer


def bearers(reader: Reader, name: str, namespaces: Sequence[str] | None) -> list[Memory]:
    """The living memories of this name, at most one in each of these namespaces, or anywhere."""
    return reader.get(reader.ids_named(name, namespaces))


def refuse_taken(reader: Reader, name: str, namespace: str, memory_id: int | None = None) -> None:
    """Conflict if another memory than this one bears *name* in *namespace*."""
    for other in bearers(reader, name, (namespace,)):
        if other.id != memory_id:
            raise Conflict(f"title '{name}' already exists in namespace '{namespace}' (memory {other.uid})")


def is_derived(memory: Memory) -> bool:
    """Whether the title of *memory* is the first sentence of its text."""
    return memory.name is None and memory.title == title_of(memory.content)


class Naming(TypedDict):
    """The fields that say what a memory is called."""

    name: str
    title: str


def named(name: str) -> Naming:
    """The fields of a memory that is to be called *name*."""
    return {"name": name_key(name), "title": name}


def retitled(memory: Memory, texts: Sequence[str]) -> MemoryPatch:
    """Lets a derived title follow the text, which is to be *texts*."""
    follows = is_derived(memory) and any(texts)
    return MemoryPatch(title=title_of("\n".join(texts))) if follows else MemoryPatch()


def insert(tx: Writer, ctx: Context, draft: Draft) -> Memory:
    """Store *draft*, with the links of the placeholder of its name. Conflict if the name is taken."""
    return _owner(tx, tx.insert(draft, uid=ctx.new_uid()))


def import_memory(tx: Writer, memory: Memory, *, is_checked: bool = False) -> Memory:
    """The same for a memory that comes from another store, or from a file."""
    return _owner(tx, tx.import_memory(memory, is_checked=is_checked))


def update(tx: Writer, memory: Memory, patch: MemoryPatch) -> Memory:
    """Change a memory that may get another name or namespace, or come back. Conflict if the name is taken there."""
    return _owner(tx, tx.update(memory, patch))


def _owner(tx: Writer, memory: Memory) -> Memory:
    """*memory*, to which links point that pointed to the placeholder of its name."""
    if memory.name is None or memory.state is not State.LIVING:
        return memory
    for placeholder in tx.ids_named(memory.name, (memory.namespace,), State.NAMED):
        for edge in tx.edges(EdgeFilter(at=(placeholder,))):
            tx.update_edge(edge, moved_end(edge, placeholder, memory.id))
    return memory


def target(tx: Writer, ctx: Context, namespace: str, name: str) -> int:
    """The number of what a link to *name* points to: the memory of that name, else its placeholder, made if needed."""
    known = tx.ids_named(name, (namespace,)) or tx.ids_named(name, (namespace,), State.NAMED)
    if known:
        return known[0]
    now = ctx.now()
    placeholder = Memory(
        id=0,
        uid=ctx.new_uid(),
        namespace=namespace,
        **named(name),
        state=State.NAMED,
        created_at=now,
        updated_at=now,
    )
    return tx.import_memory(placeholder, is_checked=True).id
