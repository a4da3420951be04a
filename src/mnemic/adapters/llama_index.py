"""A LlamaIndex memory block: stores what leaves the short-term memory, recalls what is relevant to the chat."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.llms import ChatMessage
from llama_index.core.memory import BaseMemoryBlock

from mnemic.api import Memories, Note


class MnemicMemoryBlock(BaseMemoryBlock[str]):
    """A block over *memories*, for `Memory.from_defaults(memory_blocks=[…])`.

    Messages become turns of the work session of the chat; the last user message is the question that it recalls by.
    """

    name: str = "LongTermMemory"
    description: str | None = "What is known from earlier conversations."
    memories: Memories
    namespace: str | None = None
    limit: int = 5

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """The memories that bear on the last message of the user, a line each; "" if there are none."""
        query = next((_text(one) for one in reversed(messages or []) if one.role == "user"), "")
        if not query.strip():
            return ""
        found = await asyncio.to_thread(
            self.memories.recall, query[:10_000], limit=self.limit, namespace=self.namespace
        )
        return "\n".join(f"- {hit.memory.text}" for hit in found)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store the messages as turns."""
        notes = [
            Note(
                text=f"{message.role.value}: {_text(message)}",
                kind="turn",
                namespace=self.namespace,
                session=str(message.additional_kwargs.get("session_id") or self.name),
                metadata={"conversation": True, "role": message.role.value},
            )
            for message in messages
            if _text(message).strip()
        ]
        if notes:
            await asyncio.to_thread(self.memories.remember_all, notes, force=True)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """*content* without its last lines, about that many tokens shorter; None if nothing is left."""
        lines, dropped = content.split("\n"), 0
        while lines and dropped < tokens_to_truncate:
            dropped += len(lines.pop()) // 4 + 1
        return "\n".join(lines) or None


def _text(message: ChatMessage) -> str:
    return message.content or ""
