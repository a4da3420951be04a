"""The conversation: what was said, turn by turn."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mnemic.core import sessions
from mnemic.core.context import Context
from mnemic.dialects.agentic_memory.dialect import AGENTIC_MEMORY
from mnemic.dialects.agentic_memory.types import fitting
from mnemic.dialects.framework import Example, Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.validation import StorableText
from mnemic.errors import Invalid
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Link


class ConversationLog(Shape):
    """A turn."""

    user_message: Annotated[StorableText | None, Field(description="What the user said or asked")] = None
    agent_response: Annotated[
        StorableText | None, Field(description="Summary of the agent's response or action taken")
    ] = None
    topic: Annotated[
        StorableText | None, Field(description="Topic or category, such as project-setup or debugging")
    ] = None


@AGENTIC_MEMORY.operation(
    title="Log the conversation",
    examples=[
        Example(
            "Keep a turn", {"user_message": "Which wood?", "agent_response": "Cedar", "topic": "greenhouse"}
        )
    ],
)
def conversation_log(ctx: Context, request: ConversationLog) -> Reply:
    """Log a user prompt and/or agent response; it is linked into the session's temporal chain."""
    if not (request.user_message or request.agent_response):
        raise Invalid("At least one of 'user_message' or 'agent_response' must be provided", "user_message")
    fitting(request.user_message, "user_message")
    fitting(request.agent_response, "agent_response")
    turn = sessions.log_turn(ctx, request.user_message, request.agent_response, request.topic or None)
    return answer(
        node_id=turn.id,
        edges_created=len(ctx.read().look(EdgeFilter(at=(turn.id,), is_current=True), Link)),
        message="Conversation logged and linked to temporal chain",
    )
