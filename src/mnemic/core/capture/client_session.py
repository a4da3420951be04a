"""The session of a client's conversation: found by the client's own id, with what hooks must know of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mnemic.core.context import Context
from mnemic.model.filter import SessionFilter
from mnemic.model.session import Session, SessionPatch
from mnemic.model.time import Moment
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import session_called

STATE = "hooks"
"""Where the metadata of a session keep its HookState."""
MOST_GIVEN = 500
"""So many memories are remembered as given; the oldest are dropped first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookState:
    """How much of a conversation is kept, which memories its agent was given, and since when it has them in view."""

    position: int = 0
    given: tuple[int, ...] = ()
    in_view_since: Moment = 0
    topic: str | None = None

    def with_given(self, memory_ids: tuple[int, ...]) -> HookState:
        """The same after these memories were given as well."""
        return replace(self, given=tuple(dict.fromkeys((*self.given, *memory_ids)))[-MOST_GIVEN:])


def find(reader: Reader, ctx: Context, name: str) -> Session | None:
    """The session called *name* in the caller's namespace, or None."""
    found = reader.sessions(SessionFilter(namespaces=(ctx.home(),), name=name), limit=1)
    return found[0] if found else None


def found_or_begun(tx: Writer, ctx: Context, name: str) -> Session:
    """The session called *name* in the caller's namespace; it begins if there is none."""
    return session_called(tx, ctx.home(), name)


def state_of(session: Session | None) -> HookState:
    """What hooks know of *session*."""
    kept = session.metadata.get(STATE) if session else None
    if not isinstance(kept, dict):
        return HookState()
    return HookState(
        position=int(kept.get("position", 0)),
        given=tuple(kept.get("given", ())),
        in_view_since=int(kept.get("in_view_since", 0)),
    )


def put_state(tx: Writer, session: Session, state: HookState) -> Session:
    """*session* with *state*, open again if it had ended."""
    kept = {"position": state.position, "given": list(state.given), "in_view_since": state.in_view_since}
    patch = SessionPatch(ended_at=None, metadata={**session.metadata, STATE: kept})
    if state.topic and not session.topic:
        patch = replace(patch, topic=state.topic)
    return tx.update_session(session, patch)
