"""The live feed: changes and recalls as server-sent events, for callers who may see them."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
from starlette.requests import Request
from starlette.responses import StreamingResponse

from mnemic.core import live
from mnemic.dialects.execution import guarded
from mnemic.errors import MnemicError
from mnemic.model.time import iso
from mnemic.transports.http.auth import ADMIT, CALLER
from mnemic.transports.mcp.sse import ALIVE, ALIVE_SECONDS, Watch

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from mnemic.core.live import NamedMemory
    from mnemic.model.change import Change
    from mnemic.model.recall_entry import RecallEntry

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.5
"""Recalls are logged by whatever process answers them, so the log is looked at."""


class Live:
    """ASGI app of the live feed."""

    def __init__(self, watch: Watch):
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the client leaves, loses access, or the daemon ends."""
        request = Request(scope, receive)
        caller = request.scope[CALLER]
        self._watch.check_room(caller.client)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        with self._watch.watching(caller.client):
            stream = StreamingResponse(self._events(scope), headers=headers, media_type="text/event-stream")
            await stream(scope, receive, send)

    async def _events(self, scope: Scope) -> AsyncIterator[bytes]:
        caller = replace(scope[CALLER], has_left=None)
        try:
            ctx = await scope[ADMIT]()
            place = await caller.run(guarded, live.present, ctx)
            yield b"event: open\r\ndata: {}\r\n\r\n"
            alive_at = time.monotonic() + ALIVE_SECONDS
            while not self._watch.is_closed:
                fresh = await caller.run(guarded, live.news, ctx, place)
                place = fresh.place
                for piece in _pieces(fresh):
                    yield piece
                if time.monotonic() >= alive_at:
                    ctx = await scope[ADMIT]()
                    yield ALIVE
                    alive_at = time.monotonic() + ALIVE_SECONDS
                await self._watch.wait(LOOK_SECONDS)
        except MnemicError as error:
            log.info("a live feed ends: %s", error)


def _pieces(fresh: live.News) -> Iterator[bytes]:
    for change, named in fresh.changes:
        yield _event("change", _shown_change(change, named))
    for entry in fresh.recalls:
        yield _event("recall", _shown_recall(entry))


def _event(name: str, content: dict[str, Any]) -> bytes:
    return b"event: " + name.encode() + b"\r\ndata: " + orjson.dumps(content) + b"\r\n\r\n"


def _shown_change(change: Change, named: NamedMemory | None) -> dict[str, Any]:
    return {
        "change": change.sequence,
        "at": iso(change.at),
        "actor": change.actor,
        "operation": change.operation,
        "subject": change.subject,
        "id": change.subject_id,
        "title": named and named.title,
        "namespace": named and named.namespace,
    }


def _shown_recall(entry: RecallEntry) -> dict[str, Any]:
    return {
        "at": iso(entry.at),
        "actor": entry.actor,
        "query": entry.query,
        "namespaces": entry.namespaces,
        "hits": entry.hits,
        "relevance": entry.relevance,
        "milliseconds": entry.milliseconds,
        "ids": entry.memory_ids,
    }
