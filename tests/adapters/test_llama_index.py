"""The memory block, used by LlamaIndex's own Memory."""

from __future__ import annotations

import gc

import pytest
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import Memory

from mnemic.adapters.llama_index import MnemicMemoryBlock

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.filterwarnings("ignore"),  # LlamaIndex and what it imports warn of their own deprecations
]


@pytest.fixture(autouse=True)
def left_connections_are_closed_here():
    """LlamaIndex leaves the connection of its chat history to the garbage collector: not to that of a later test."""
    yield
    gc.collect()


def user(text):
    return ChatMessage(role="user", content=text)


async def test_stored_messages_are_recalled_for_the_last_question(memories):
    block = MnemicMemoryBlock(memories=memories)
    await block.aput([user("My cat is called Mitzi"), ChatMessage(role="assistant", content="A nice name")])
    assert "Mitzi" in await block.aget([user("What is my cat called?")])
    assert await block.aget([user("Where is the VPN server?")]) == ""
    assert await block.aget([]) == ""


async def test_messages_become_turns_of_the_session(memories):
    await MnemicMemoryBlock(memories=memories).aput([user("first"), user("second")], session_id="chat-7")
    turns = memories.list()
    assert {one.kind for one in turns} == {"turn"}
    assert len({one.session for one in turns}) == 1
    assert turns[0].session is not None


async def test_memory_flushes_into_the_block_and_brings_back(memories):
    block = MnemicMemoryBlock(memories=memories)
    memory = Memory.from_defaults(
        session_id="s",
        token_limit=60,
        chat_history_token_ratio=0.5,
        token_flush_size=20,
        memory_blocks=[block],
    )
    for number in range(12):
        await memory.aput(user(f"Fact {number}: the heron number {number} stands in the pond at noon"))
    assert memories.list()
    shown = await memory.aget()
    assert any("LongTermMemory" in (message.content or "") for message in shown)


async def test_truncation_drops_the_last_lines(memories):
    block = MnemicMemoryBlock(memories=memories)
    assert await block.atruncate("- one\n- two", 1) == "- one"
    assert await block.atruncate("- one", 100) is None
