"""Keeping a conversation: its turns and episodes in a session, its lasting statements as memories to be reviewed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from mnemic.core import sessions
from mnemic.core.capture import client_session, episode, review
from mnemic.core.capture.secrets import cleaned, without_private
from mnemic.core.capture.statements import LastingStatement, lasting_statements
from mnemic.core.context import Context
from mnemic.core.expiry import change_after_expiry
from mnemic.core.memories import Note, keep
from mnemic.model.memory import Memory, title_of
from mnemic.model.session import Session
from mnemic.storage.base import Writer

SAID_IN = "said_in"
"""The link from a captured statement to the turn it was said in."""
LONGEST_USER, LONGEST_AGENT = 4_000, 2_000
"""Characters that are kept of what each side said in a turn."""
MARGIN = 1_000
"""So much more is searched for secrets, so that one across the cut is seen whole."""
LONGEST_SAID = 20_000
"""Of a longer message, which is mostly pasted, the beginning and the end are looked at."""
TURNS_AT_ONCE = 25
"""Turns in one transaction, so that other writers do not wait for a long transcript."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a person said and what the agent answered, and where in the client's transcript that ends."""

    user: str
    agent: str = ""
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Captured:
    """What was kept of a conversation."""

    session: Session | None
    position: int
    turns: tuple[Memory, ...] = ()
    statements: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A turn without secrets, and the lasting statements in it."""

    turn: Turn
    statements: tuple[LastingStatement, ...]


def position(ctx: Context, name: str) -> int:
    """How much of the transcript of the session called *name* is kept."""
    return client_session.state_of(client_session.find(ctx.read(), ctx, name)).position


def capture(ctx: Context, name: str, turns: Sequence[Turn], *, closes: bool = False) -> Captured:
    """Keep the new ones of *turns* in the session called *name*; if that *closes* a stretch of it, with an episode.

    A turn that ends at or before the position kept so far is known. Lasting statements become memories unless they are
    known or were rejected. Secrets and private passages are removed first.
    """
    kept = Captured(None, 0)
    for start in range(0, max(1, len(turns)), TURNS_AT_ONCE):
        prepared = [_prepared(turn) for turn in turns[start : start + TURNS_AT_ONCE]]
        work = partial(_kept, ctx=ctx, name=name, prepared=prepared)
        part = change_after_expiry(ctx, "capture", work, namespaces=(ctx.home(),))
        kept = replace(part, turns=kept.turns + part.turns, statements=kept.statements + part.statements)
    if kept.turns:
        ctx.wake()
    if closes and kept.session is not None:
        episode.close(ctx, kept.session.id)
    return kept


def pass_over(ctx: Context, name: str, turns: Iterable[Turn]) -> None:
    """Count *turns* of the session called *name* as known without keeping any: capture is off or paused.

    The transcript keeps them. When capture goes on, it must not catch up with what was said meanwhile.
    """
    reached = max((turn.position or 0 for turn in turns), default=0)
    if reached > position(ctx, name):

        def work(tx: Writer) -> None:
            session = client_session.found_or_begun(tx, ctx, name)
            state = client_session.state_of(session)
            client_session.put_state(tx, session, replace(state, position=max(state.position, reached)))

        ctx.change("hook", work, namespaces=(ctx.home(),))


def _prepared(turn: Turn) -> _Prepared:
    # The middle of a long text may hold one tag of a private passage, so that is taken out of the whole first.
    user, agent = cleaned(_bounded(without_private(turn.user))), cleaned(turn.agent[: LONGEST_AGENT + MARGIN])
    shown = Turn(_cut(user, LONGEST_USER), _cut(agent, LONGEST_AGENT), turn.position)
    return _Prepared(shown, tuple(lasting_statements(user)))


def _bounded(text: str) -> str:
    half = LONGEST_SAID // 2
    return text if len(text) <= LONGEST_SAID else f"{text[:half]}\n{text[-half:]}"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"


def _kept(tx: Writer, ctx: Context, name: str, prepared: Sequence[_Prepared]) -> Captured:
    session = client_session.find(tx, ctx, name)
    state = client_session.state_of(session)
    new = [one for one in prepared if one.turn.position is None or one.turn.position > state.position]
    by_user = [one for one in new if one.turn.user]
    if not new:
        return Captured(session, state.position)
    session = session or client_session.found_or_begun(tx, ctx, name)
    turns, statements = [], []
    for one in by_user:
        turn = sessions.add_event(tx, ctx, session.id, sessions.turn_event(one.turn.user, one.turn.agent))
        turns.append(turn)
        statements += [memory for each in one.statements if (memory := _stated(tx, ctx, turn, each))]
    reached = max((one.turn.position or 0 for one in new), default=0)
    state = client_session.HookState(
        position=max(state.position, reached),
        given=state.given,
        in_view_since=state.in_view_since,
        topic=title_of(by_user[0].turn.user) if by_user else None,
    )
    session = client_session.put_state(tx, session, state)
    return Captured(session, state.position, tuple(turns), tuple(statements))


def _stated(tx: Writer, ctx: Context, turn: Memory, statement: LastingStatement) -> Memory | None:
    """*statement* as a memory; None if it is known, which makes it surer, or was rejected before."""
    if review.was_rejected(tx, ctx, statement.text):
        return None
    if known := review.known(tx, ctx, statement.text):
        review.confirm(tx, known)
        return None
    note = Note(
        text=statement.text,
        kind=statement.kind,
        tags=(review.UNREVIEWED,),
        confidence=statement.confidence,
        source=review.SOURCE,
        metadata={"session": turn.session_id},
        links=((turn.id, SAID_IN, 1.0),),
    )
    return keep(tx, ctx, note)
