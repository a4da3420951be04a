"""A session of the OpenAI Agents SDK: the items of a conversation, kept as turns of a work session.

The items come back exactly as they were added. Their text is found by every search that asks for turns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any, cast

from agents.items import TResponseInputItem
from agents.memory import SessionABC, SessionSettings

from mnemic.api import Memories, Note
from mnemic.model.filter import Filter, Order, SessionFilter
from mnemic.model.limits import MAX_STATEMENT_BYTES
from mnemic.model.memory import Memory

ITEM = "item"


class MnemicSession(SessionABC):
    """The conversation *session_id* in *namespace* of *memories*, for `Runner.run(agent, text, session=…)`."""

    def __init__(
        self,
        session_id: str,
        memories: Memories,
        *,
        namespace: str | None = None,
        session_settings: SessionSettings | None = None,
    ):
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self.memories = memories
        self.namespace = namespace or memories.context.home()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The last *limit* items, or all of them, the oldest first."""
        most = self.session_settings.limit if limit is None and self.session_settings else limit
        turns = await asyncio.to_thread(self._turns, most)
        return [cast(TResponseInputItem, turn.metadata[ITEM]) for turn in reversed(turns)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Keep *items* behind those there are, all or none."""
        notes = [self._note(cast(Mapping[str, Any], item)) for item in items]
        if notes:
            await asyncio.to_thread(self.memories.remember_all, notes, force=True)

    async def pop_item(self) -> TResponseInputItem | None:
        """Delete the last item and return it; None if there is none."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Delete all items. They can be restored with `mnemic restore`."""
        await asyncio.to_thread(self._clear)

    def _note(self, item: Mapping[str, Any]) -> Note:
        return Note(
            text=_text(item),
            kind="turn",
            namespace=self.namespace,
            session=self.session_id,
            metadata={"conversation": self.session_id, ITEM: dict(item)},
        )

    def _pop(self) -> TResponseInputItem | None:
        for turn in self._turns(1):
            self.memories.forget(turn.id)
            return cast(TResponseInputItem, turn.metadata[ITEM])
        return None

    def _clear(self) -> None:
        self.memories.forget(*(turn.id for turn in self._turns(None)))

    def _turns(self, limit: int | None) -> list[Memory]:
        """The last *limit* turns that hold an item, the newest first."""
        reader = self.memories.context.read()
        known = reader.sessions(SessionFilter(namespaces=(self.namespace,), name=self.session_id))
        if not known or limit == 0:
            return []
        wanted = Filter(
            namespaces=(self.namespace,), kinds=("turn",), session_ids=tuple(one.id for one in known)
        )
        numbers = reader.select(wanted, limit=limit, order=Order.LAST)
        return [turn for turn in reader.get(numbers) if ITEM in turn.metadata]


def _text(item: Mapping[str, Any]) -> str:
    """What *item* says, under the role or type of who says it."""
    text = " ".join(_strings(item.get("content") or item.get("arguments") or item.get("output") or ""))
    who = item.get("role") or item.get("type") or ITEM
    return f"{who}: {text}".encode()[:MAX_STATEMENT_BYTES].decode(errors="ignore")


def _strings(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from _strings(part.get("text", "") if isinstance(part, Mapping) else part)
