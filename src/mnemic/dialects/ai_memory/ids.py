"""ai-memory ids: a UUID, a unique prefix of one, or the id an imported memory had."""

from __future__ import annotations

from mnemic.core.context import Context
from mnemic.dialects.ai_memory import validation
from mnemic.errors import Invalid, NotFound
from mnemic.model.enums import State
from mnemic.model.memory import Memory
from mnemic.storage.queries import ids_with_uid
from mnemic.transfer.document_entry import uid_of

PREFIXES_LOOKED_AT = 1_000
PREFIXES_SHOWN = 10
SHORTEST_PREFIX_OF_DIGITS = 7
"""On the command line, fewer digits than this are Mnemic's own number."""


class MissingMemory(NotFound):
    """No such memory; over HTTP `message` is always the documented one."""

    message = "Memory not found"


def meant(
    ctx: Context,
    id: str,
    *,
    missing: str = "memory not found",
    state: State = State.LIVING,
    numbers: bool = False,
) -> Memory:
    """The memory with this id or unique id prefix; NotFound with *missing* otherwise.

    An id that is no UUID is first compared with the ids of imported memories.
    With *numbers* a short run of digits is the number that native commands show.
    """
    reader = ctx.read()
    wanted = validation.identifier(id)
    if numbers and wanted.isdecimal() and len(wanted) < SHORTEST_PREFIX_OF_DIGITS:
        found = [memory for memory in reader.get([int(wanted)]) if memory.state is state]
    else:
        exactly = ids_with_uid(reader, uid_of(wanted), 1)
        begun = reader.get(exactly or ids_with_uid(reader, wanted, PREFIXES_LOOKED_AT))
        found = [memory for memory in begun if memory.state is state]
    if len(found) > 1:
        shown = "\n".join(memory.uid for memory in found[:PREFIXES_SHOWN])
        raise Invalid(f"ambiguous ID prefix '{wanted}': {len(found)} matches\n{shown}", "id")
    if not found:
        raise (MissingMemory if state is State.LIVING else NotFound)(missing)
    return found[0]
