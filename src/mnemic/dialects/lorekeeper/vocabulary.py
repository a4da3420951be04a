"""The dialect itself: its name, and how it words answers and failures."""

from __future__ import annotations

from typing import Any

import orjson
from pydantic import BaseModel, RootModel

from mnemic.dialects.lorekeeper.settings import database
from mnemic.dialects.operation import Dialect, Operation, Rendered, hints
from mnemic.dialects.schemas import whole_schema
from mnemic.errors import MnemicError


class Refused(MnemicError):
    """A call that breaks a rule of this vocabulary, in its words."""

    code = "invalid"


class Lorekeeper(Dialect):
    """The dialect, with its way of answering: nothing that is null is left out, a failure names the tool."""

    def render(self, reply: BaseModel) -> Rendered:
        """See Dialect."""
        assert isinstance(reply, Reply)
        return Rendered(orjson.dumps(reply.root).decode(), reply.root)

    def render_error(self, name: str, error: MnemicError) -> Rendered:
        """See Dialect."""
        return Rendered(f"Error calling tool '{name}': {error}", is_error=True)

    def unknown_tool(self, name: str) -> Rendered:
        """See Dialect."""
        return Rendered(f"Unknown tool: '{name[:80]}'", is_error=True)

    def listed(self, operation: Operation) -> dict[str, Any]:
        """See Dialect."""
        return {
            "name": operation.name,
            "title": operation.title,
            "description": operation.description,
            "inputSchema": whole_schema(operation.request),
            "outputSchema": {"type": "object", "additionalProperties": True},
            "annotations": hints(operation),
        }


LOREKEEPER = Lorekeeper(
    name="lorekeeper",
    title="Lorekeeper",
    instructions="",
    server={"name": "lorekeeper-mcp-server"},
    database=database,
)


class Reply(RootModel[dict[str, Any]]):
    """An answer: an object whose keys are the tool's own."""


def answer(**content: Any) -> Reply:
    """A reply with these keys."""
    return Reply.model_construct(content)
