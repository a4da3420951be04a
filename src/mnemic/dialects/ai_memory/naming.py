"""Which memory an id of ai-memory means: a UUID, the beginning of one, or the id it had elsewhere."""

from __future__ import annotations

from mnemic.core.context import Context
from mnemic.dialects.ai_memory import rules
from mnemic.errors import Invalid, NotFound
from mnemic.formats.document import uid_of
from mnemic.model.memory import Memory
from mnemic.model.values import State

PREFIXES_LOOKED_AT = 1_000
PREFIXES_SHOWN = 10
SHORTEST_PREFIX_OF_DIGITS = 7
"""On the command line fewer digits are the number that the house shows."""


class MissingMemory(NotFound):
    """There is no such memory; over HTTP the `message` is the documented one, whatever `error` says."""

    message = "Memory not found"


def meant(
    ctx: Context,
    id: str,
    *,
    missing: str = "memory not found",
    state: State = State.LIVING,
    numbers: bool = False,
) -> Memory:
    """The memory with this id or unique beginning of one, or NotFound saying *missing*.

    An id that is no UUID is first of all the one that an imported memory came with.
    With *numbers* a short run of digits is the number that the house's own commands show.
    """
    reader = ctx.store.read()
    wanted = rules.identifier(id)
    if numbers and wanted.isdecimal() and len(wanted) < SHORTEST_PREFIX_OF_DIGITS:
        found = [memory for memory in reader.memories([int(wanted)]) if memory.state is state]
    else:
        exactly = reader.ids_with_uid(uid_of(wanted), 1)
        begun = reader.memories(exactly or reader.ids_with_uid(wanted, PREFIXES_LOOKED_AT))
        found = [memory for memory in begun if memory.state is state and ctx.may_see(memory.namespace)]
    if len(found) > 1:
        shown = "\n".join(memory.uid for memory in found[:PREFIXES_SHOWN])
        raise Invalid(f"ambiguous ID prefix '{wanted}': {len(found)} matches\n{shown}", "id")
    if not found or not ctx.may_see(found[0].namespace):
        raise (MissingMemory if state is State.LIVING else NotFound)(missing)
    return found[0]
