"""The dialect itself: its name, and how it words answers and failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from mnemic.dialects.agentic_memory.prompts import PROMPTS
from mnemic.dialects.agentic_memory.resources import RESOURCES
from mnemic.dialects.agentic_memory.types import pretty
from mnemic.dialects.framework import Operation, Rendered, Shape, Unknown
from mnemic.dialects.json_reply import ObjectDialect, Reply
from mnemic.dialects.validation import invalid
from mnemic.errors import Invalid, MnemicError

UNHEEDED = frozenset(("include_content", "intent", "since", "token_budget", "max_results", "cursor"))
"""What AgenticMemory lists as arguments of every tool and reads in none that does not describe them."""
OUT_OF_RANGE = frozenset(("greater_than_equal", "less_than_equal"))


class AgenticMemory(ObjectDialect):
    """The dialect, with its way of answering: JSON that a person can read, and failures in its words."""

    def parse(self, operation: Operation, arguments: Mapping[str, Any]) -> Shape:
        """Build the request; arguments that AgenticMemory clients send to every tool are ignored."""
        passed_over = UNHEEDED - operation.request.model_fields.keys()
        heeded = {name: value for name, value in arguments.items() if name not in passed_over}
        return super().parse(operation, heeded)

    def render(self, reply: BaseModel) -> Rendered:
        """The reply as a JSON object and its text."""
        assert isinstance(reply, Reply)
        return Rendered(pretty(reply.root), reply.root)

    def render_error(self, name: str, error: MnemicError) -> Rendered:
        """A failure in AgenticMemory's words."""
        text = f"Invalid params: {error}" if isinstance(error, Invalid) else str(error)
        return Rendered(text, is_error=True)

    def refusal(self, operation: Operation, error: ValidationError) -> Invalid:
        """The validation error in AgenticMemory's words."""
        first = error.errors(include_url=False)[0]
        if first["loc"][-1:] == ("confidence",) and first["type"] in OUT_OF_RANGE:
            return Invalid(f"confidence must be between 0.0 and 1.0, got {first['input']}", "confidence")
        return invalid(error)


AGENTIC_MEMORY = AgenticMemory(
    name="agentic-memory",
    title="AgenticMemory",
    instructions=(
        "A graph of what happened and what is known: facts, decisions, inferences, corrections, skills and episodes, "
        "linked by cause, support and time. Call memory_session_resume at the start of a conversation, memory_ground "
        "before you claim to remember something, memory_correct when a belief proves wrong, session_end when done."
    ),
    prompts=PROMPTS,
    resources=RESOURCES,
    server={"name": "agentic-memory-mcp"},
    unknown={
        "tool": Unknown(-32803, "Tool not found"),
        "prompt": Unknown(-32804, "Prompt not found"),
        "resource": Unknown(-32802, "Resource not found"),
    },
)
