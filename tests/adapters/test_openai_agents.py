"""The session, used as the OpenAI Agents SDK uses it."""

from __future__ import annotations

import pytest
from agents.memory import Session

from mnemic.adapters.openai_agents import MnemicSession

pytestmark = pytest.mark.anyio

HELLO = {"role": "user", "content": "Hello, my cat is called Mitzi"}
CALL = {"type": "function_call", "name": "feed", "arguments": '{"cat": "Mitzi"}', "call_id": "c1"}
ANSWER = {"role": "assistant", "content": [{"type": "output_text", "text": "Fed.", "annotations": []}]}


async def test_items_come_back_as_they_were_added(memories):
    session = MnemicSession("a", memories)
    assert isinstance(session, Session)
    assert await session.get_items() == []
    await session.add_items([HELLO, CALL])
    await session.add_items([ANSWER])
    assert await session.get_items() == [HELLO, CALL, ANSWER]
    assert await session.get_items(limit=2) == [CALL, ANSWER]
    assert await session.get_items(limit=0) == []


async def test_equal_items_are_all_kept(memories):
    session = MnemicSession("a", memories)
    await session.add_items([HELLO, HELLO])
    assert await session.get_items() == [HELLO, HELLO]


async def test_sessions_do_not_mix(memories):
    one, other = MnemicSession("1", memories), MnemicSession("other", memories)
    await one.add_items([HELLO])
    await other.add_items([CALL])
    assert await one.get_items() == [HELLO]
    assert await other.get_items() == [CALL]
    assert await MnemicSession("1", memories, namespace="elsewhere").get_items() == []


async def test_pop_and_clear_delete_the_newest_and_all(memories):
    session = MnemicSession("a", memories)
    assert await session.pop_item() is None
    await session.add_items([HELLO, CALL, ANSWER])
    assert await session.pop_item() == ANSWER
    assert await session.get_items() == [HELLO, CALL]
    await session.clear_session()
    assert await session.get_items() == []
    await session.add_items([ANSWER])
    assert await session.get_items() == [ANSWER]


async def test_what_was_said_is_found_by_recall(memories):
    await MnemicSession("a", memories).add_items([HELLO])
    assert "Mitzi" in memories.recall("what is the cat called?", kinds=["turn"])[0].text
