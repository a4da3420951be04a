"""The dialect itself: its name, the order of its tools, and how it words answers and failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from pydantic import BaseModel, RootModel, ValidationError

from mnemic.dialects.ai_memory.prompts import PROMPTS
from mnemic.dialects.framework import Dialect, Operation, Rendered, Shape, listed_in_full
from mnemic.dialects.validation import invalid
from mnemic.errors import Invalid, MnemicError

TOOLS = (
    *("memory_store", "memory_recall", "memory_search", "memory_list", "memory_get", "memory_update"),
    *("memory_delete", "memory_promote", "memory_forget", "memory_stats", "memory_link", "memory_get_links"),
    *("memory_consolidate", "memory_capabilities", "memory_expand_query", "memory_auto_tag"),
    *("memory_detect_contradiction", "memory_archive_list", "memory_archive_restore"),
    *("memory_archive_purge", "memory_archive_stats", "memory_gc", "memory_session_start"),
    *("memory_namespace_set_standard", "memory_namespace_get_standard", "memory_namespace_clear_standard"),
)
"""Order of the tools in `tools/list`, independent of their modules."""

AN_ID, ANOTHER_ID = "a1b2c3d4-e5f6-4789-8abc-def012345678", "b2c3d4e5-f6a7-489a-9bcd-ef0123456789"
"""The ids that the examples speak of."""


class AiMemory(Dialect):
    """The dialect, with its way of answering: text alone, and a failure is a bare sentence."""

    def operation(self, **hints: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Declare the decorated function as a tool."""
        declare = super().operation(**hints)

        def in_its_place(function: Callable[..., Any]) -> Callable[..., Any]:
            declared = declare(function)
            self.operations = {name: self.operations[name] for name in TOOLS if name in self.operations}
            return declared

        return in_its_place

    def parse(self, operation: Operation, arguments: Mapping[str, Any]) -> Shape:
        """Build the request; a null argument counts as not given."""
        given = {name: value for name, value in arguments.items() if value is not None}
        return super().parse(operation, given)

    def refusal(self, operation: Operation, error: ValidationError) -> Invalid:
        """Missing arguments in schema order; every other fault has the message of its rule."""
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        for item in faults:
            if item["type"] == "missing":
                field = str(item["loc"][0])
                return Invalid(f"{field} is required", field)
        return invalid(error)

    def render(self, reply: BaseModel) -> Rendered:
        """An object as JSON with two spaces, a text as it is."""
        assert isinstance(reply, AiMemoryReply)
        if isinstance(reply.root, str):
            return Rendered(reply.root)
        return Rendered(orjson.dumps(reply.root, option=orjson.OPT_INDENT_2).decode(), is_json=True)

    def render_error(self, name: str, error: MnemicError) -> Rendered:
        """A sentence that begins with the argument at fault (native messages put a colon after it)."""
        text = str(error)
        if isinstance(error, Invalid) and error.field and text.startswith(f"{error.field}: "):
            text = text.replace(": ", " ", 1)
        return Rendered(text, is_error=True)

    def unknown_tool(self, name: str) -> Rendered:
        """A result, not a protocol error."""
        return Rendered(f"unknown tool: {name[:80]}", is_error=True)

    def listed(self, operation: Operation) -> dict[str, Any]:
        """The `tools/list` entry. Replies are text only, so there is no output schema."""
        return listed_in_full(operation)


AI_MEMORY = AiMemory(
    name="ai-memory",
    title="ai-memory",
    instructions="",
    server={"name": "ai-memory"},
    service="ai-memory",
    offers=("prompts", "tools"),
    prompts=PROMPTS,
)


class AiMemoryReply(RootModel[dict[str, Any] | str]):
    """An answer: an object whose keys are the tool's own, or a text in TOON."""


def answer(**content: Any) -> AiMemoryReply:
    """An answer with these keys."""
    return AiMemoryReply.model_construct(content)
