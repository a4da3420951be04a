"""A client of one dialect that returns whole tool replies, without a transport."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mnemic.core.context import Context
from mnemic.dialects.framework import Dialect
from mnemic.transports.mcp.methods import Endpoint


@dataclass(frozen=True)
class Answer:
    """What came back."""

    content: list[dict[str, Any]]
    is_error: bool
    structured: dict[str, Any] | None

    @property
    def text(self) -> str:
        return str(self.content[0]["text"])

    @property
    def json(self) -> Any:
        """The text, read as JSON."""
        return json.loads(self.text)


class DialectClient:
    """One client of *dialect*."""

    def __init__(self, dialect: Dialect, ctx: Context):
        self._endpoint = Endpoint(dialect)
        self._ctx = ctx

    def say(self, method: str, **params: Any) -> dict[str, Any]:
        """The result of *method*."""
        return self._endpoint.handle(self._ctx, method, params)

    def __call__(self, tool: str, **arguments: Any) -> Answer:
        """The answer of *tool*."""
        result = self.say("tools/call", name=tool, arguments=arguments)
        return Answer(result["content"], result["isError"], result.get("structuredContent"))

    def ok(self, tool: str, **arguments: Any) -> Any:
        """The JSON of the answer, which must not be a failure."""
        answer = self(tool, **arguments)
        assert not answer.is_error, answer.text
        return answer.json


def an_entity(name: str, *observations: str, kind: str = "person") -> dict[str, Any]:
    """An entity as the three dialects write it."""
    return {"name": name, "entityType": kind, "observations": list(observations)}


def a_relation(source: str, target: str, type: str) -> dict[str, str]:
    """A relation as the three dialects write it."""
    return {"from": source, "to": target, "relationType": type}
