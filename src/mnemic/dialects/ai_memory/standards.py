"""The standard of a namespace: the memory with its rules, which recall and session start show first."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core import standards as core
from mnemic.core.context import Context
from mnemic.dialects.ai_memory.arguments import Arguments, Id, KnownNamespace, Namespace, Parent
from mnemic.dialects.ai_memory.dialect import AI_MEMORY, AN_ID, AiMemoryReply, answer
from mnemic.dialects.ai_memory.ids import meant
from mnemic.dialects.framework import Example

GONE = "standard memory not found — may have been deleted"


class SetStandard(Arguments):
    """A namespace and its standard."""

    namespace: Annotated[Namespace, Field(description="namespace; * is everywhere")]
    id: Annotated[Id, Field(description="id of the memory with the rules")]
    parent: Parent | None = None


@AI_MEMORY.operation(
    title="Set a standard",
    idempotent=True,
    examples=[Example("", {"namespace": "web-app", "id": AN_ID, "parent": "company"})],
)
def memory_namespace_set_standard(ctx: Context, request: SetStandard) -> AiMemoryReply:
    """Make a memory the standard of a namespace, below the standards of its parents and everywhere's."""
    memory = meant(ctx, request.id, missing=f"memory not found: {request.id}")
    core.set_standard(ctx, request.namespace, memory.id, request.parent)
    parent = {} if request.parent is None else {"parent": request.parent}
    return answer(set=True, namespace=request.namespace, standard_id=memory.uid, **parent)


class OfNamespace(Arguments):
    """A namespace."""

    namespace: Annotated[KnownNamespace, Field(description="namespace; * is everywhere")]


@AI_MEMORY.operation(
    title="Get a standard",
    read_only=True,
    idempotent=True,
    examples=[Example("", {"namespace": "web-app"})],
)
def memory_namespace_get_standard(ctx: Context, request: OfNamespace) -> AiMemoryReply:
    """Get the standard that is set for a namespace; standard_id is null if there is none."""
    found = core.standard_of(ctx, request.namespace)
    parent = {} if found.parent is None else {"parent": found.parent}
    if found.memory is None:
        warning = {"warning": GONE} if found.is_dangling else {}
        return answer(namespace=request.namespace, standard_id=None, **parent, **warning)
    return answer(
        namespace=request.namespace,
        standard_id=found.memory.uid,
        title=found.memory.title,
        content=found.memory.content,
        priority=found.memory.priority,
        **parent,
    )


@AI_MEMORY.operation(
    title="Clear a standard", idempotent=True, examples=[Example("", {"namespace": "web-app"})]
)
def memory_namespace_clear_standard(ctx: Context, request: OfNamespace) -> AiMemoryReply:
    """Take the standard of a namespace away. The memory itself stays."""
    return answer(cleared=core.clear_standard(ctx, request.namespace), namespace=request.namespace)
