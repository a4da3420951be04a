"""The sessions of clients that shook hands over HTTP: an id that carries a name, and who of them subscribed."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from mnemic.surfaces.mcp import clean_name, client_name
from mnemic.surfaces.streams import MAX_STREAMS, Listener

MAX_SESSIONS = 4 * MAX_STREAMS
IDLE_SECONDS = 3600.0
"""How long a session without a stream is remembered."""

_OURS = re.compile(r"[!-}]{0,1000}~[0-9a-f]{16}")


def new_session(hello: Mapping[str, Any]) -> str:
    """The session id to hand out for an `initialize` with these parameters.

    The id carries the client's name, so that the requests that follow, which would not say it in the
    older revisions, bring it along: even to a daemon that was restarted meanwhile.
    """
    return f"{quote(client_name(hello.get('clientInfo')) or '', safe='')}~{secrets.token_hex(8)}"


def session_name(session: str | None) -> str | None:
    """The client's name in a session id of ours."""
    name, mark, _ = (session or "").rpartition("~")
    return clean_name(unquote(name)) if mark else None


def is_session(session: str) -> bool:
    """True if *session* looks like an id that we handed out."""
    return _OURS.fullmatch(session) is not None


class Sessions:
    """The sessions that subscribe or listen. All others need no memory of ours."""

    def __init__(self) -> None:
        self._kept: dict[str, Listener] = {}

    def of(self, id: str) -> Listener:
        """Who listens in session *id*. Sessions that have been quiet for long are let go meanwhile."""
        listener = self._kept[id] = self._kept.pop(id, Listener())
        listener.used_at = time.monotonic()
        self._let_go()
        return listener

    def end(self, id: str) -> None:
        """End session *id* and its streams. It is remembered as ended for as long as others are remembered."""
        self.of(id).is_ended = True

    def has_ended(self, id: str | None) -> bool:
        """True if session *id* was ended not long ago."""
        listener = self._kept.get(id or "")
        return listener is not None and listener.is_ended

    def _let_go(self) -> None:
        """Forget who has no stream and has been idle, and of too many those used longest ago."""
        quiet = [id for id, listener in self._kept.items() if not listener.streams]
        idle_since = time.monotonic() - IDLE_SECONDS
        idle = [id for id in quiet if self._kept[id].used_at < idle_since]
        surplus = quiet[: max(0, len(self._kept) - MAX_SESSIONS)]
        for id in {*idle, *surplus}:
            del self._kept[id]
