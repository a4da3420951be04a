"""The toolset, used by a real pydantic-ai agent with a scripted model."""

from __future__ import annotations

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from mnemic.adapters.pydantic_ai import memory_toolset

pytestmark = pytest.mark.anyio  # `run_sync` would leave its event loop open


def agent_that_calls(memories, *calls):
    """An agent whose model makes these calls, one a turn, and then answers with the last result."""
    waiting = list(calls)

    def model(messages, info):
        if waiting:
            name, arguments = waiting.pop(0)
            return ModelResponse(parts=[ToolCallPart(name, arguments)])
        returns = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        return ModelResponse(parts=[TextPart(str(returns[-1].content))])

    return Agent(FunctionModel(model), toolsets=[memory_toolset(memories)])


async def test_agent_remembers_and_recalls(memories):
    agent = agent_that_calls(
        memories,
        ("remember", {"text": "Ann has a cat called Mitzi", "tags": ["pets"]}),
        ("recall", {"query": "what is the cat called?"}),
    )
    assert "Mitzi" in (await agent.run("hello")).output
    assert memories.list()[0].tags == ("pets",)


async def test_the_agent_is_answered_that_nothing_is_known(memories):
    agent = agent_that_calls(memories, ("recall", {"query": "vpn"}))
    assert "Nothing" in (await agent.run("hello")).output


async def test_agent_corrects_and_forgets(memories):
    memories.remember("We deploy on Fridays")
    await agent_that_calls(memories, ("correct", {"id": 1, "text": "We deploy on Mondays"})).run("hello")
    assert [one.text for one in memories.list()] == ["We deploy on Mondays"]
    await agent_that_calls(memories, ("forget", {"id": 2})).run("hello")
    assert memories.list() == []


async def test_refusal_reaches_the_model_as_a_retry(memories):
    memories.remember("known")
    agent = agent_that_calls(memories, ("remember", {"text": "known"}), ("remember", {"text": "unknown"}))
    assert "Remembered" in (await agent.run("hello")).output
