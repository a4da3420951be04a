"""MCP sessions over HTTP: ids that carry the client's name, and their subscriptions."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from mnemic.transports.mcp.methods import clean_name, client_name, shows_apps
from mnemic.transports.mcp.sse import MAX_STREAMS, SubscribedClient

MAX_SESSIONS = 4 * MAX_STREAMS
IDLE_SECONDS = 3600.0
"""Seconds a session without a stream is kept."""

APPS = "+apps"
"""What the name in a session id ends with if the client shows MCP Apps; a quoted name holds no plus."""
_OURS = re.compile(r"[!-}]{0,1000}~[0-9a-f]{16}")


def new_session(hello: Mapping[str, Any]) -> str:
    """The session id for an `initialize` with these parameters.

    The id carries the client's name and whether it shows MCP Apps, which later requests of the older revisions do not
    say; so it survives a restart of the daemon.
    """
    name = quote(client_name(hello.get("clientInfo")) or "", safe="")
    return f"{name}{APPS if shows_apps(hello.get('capabilities')) else ''}~{secrets.token_hex(8)}"


def session_name(session: str | None) -> str | None:
    """The client's name in one of our session ids."""
    name, mark, _ = (session or "").rpartition("~")
    return clean_name(unquote(name.removesuffix(APPS))) if mark else None


def session_shows_apps(session: str | None) -> bool:
    """Whether the client of one of our session ids shows MCP Apps."""
    return (session or "").rpartition("~")[0].endswith(APPS)


def is_session(session: str) -> bool:
    """Whether *session* has the form of our session ids."""
    return _OURS.fullmatch(session) is not None


class Sessions:
    """Sessions with subscriptions or streams; others need no state."""

    def __init__(self) -> None:
        self._kept: dict[str, SubscribedClient] = {}

    def of(self, id: str) -> SubscribedClient:
        """The subscriptions of session *id*. Idle sessions are dropped on the way."""
        listener = self._kept[id] = self._kept.pop(id, SubscribedClient())
        listener.used_at = time.monotonic()
        self._let_go()
        return listener

    def end(self, id: str) -> None:
        """End session *id* and its streams, and remember that it ended."""
        self.of(id).is_ended = True

    def has_ended(self, id: str | None) -> bool:
        """Whether session *id* was ended recently."""
        listener = self._kept.get(id or "")
        return listener is not None and listener.is_ended

    def _let_go(self) -> None:
        """Drop idle sessions without a stream, and the least recently used beyond the maximum."""
        quiet = [id for id, listener in self._kept.items() if not listener.streams]
        idle_since = time.monotonic() - IDLE_SECONDS
        idle = [id for id in quiet if self._kept[id].used_at < idle_since]
        surplus = quiet[: max(0, len(self._kept) - MAX_SESSIONS)]
        for id in {*idle, *surplus}:
            del self._kept[id]
