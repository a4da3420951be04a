"""Dialects that answer with an object whose keys are the tool's own, and list their arguments in full."""

from __future__ import annotations

from typing import Any

import orjson
from pydantic import BaseModel, RootModel

from mnemic.dialects.framework import Dialect, Operation, Rendered, listed_in_full


class Reply(RootModel[dict[str, Any]]):
    """An answer: an object whose keys are the tool's own."""


def answer(**content: Any) -> Reply:
    """A reply with these keys."""
    return Reply.model_construct(content)


class ObjectDialect(Dialect):
    """A dialect of such tools."""

    def render(self, reply: BaseModel) -> Rendered:
        """The reply as an object, nulls included."""
        assert isinstance(reply, Reply)
        return Rendered(orjson.dumps(reply.root).decode(), reply.root)

    def listed(self, operation: Operation) -> dict[str, Any]:
        """The `tools/list` entry with the full input schema."""
        return {
            **listed_in_full(operation),
            "outputSchema": {"type": "object", "additionalProperties": True},
        }
