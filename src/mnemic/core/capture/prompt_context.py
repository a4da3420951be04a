"""What the agent of a session is given without asking: the brief at its start, what bears on a prompt later."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from mnemic.core import brief as briefs
from mnemic.core.brief import BriefSection
from mnemic.core.capture import client_session, episode
from mnemic.core.capture.client_session import HookState
from mnemic.core.capture.secrets import cleaned
from mnemic.core.context import Context
from mnemic.core.recall import recall
from mnemic.errors import MnemicError
from mnemic.model.annotations import EPISODE
from mnemic.model.filter import Filter, Hit, Query
from mnemic.model.limits import MAX_QUERY_CHARACTERS
from mnemic.model.memory import Memory
from mnemic.model.session import Session
from mnemic.storage.base import Writer

MOST_HITS = 5
LOOKED_AT = 25
"""Hits that are considered, since those that were given before are passed over."""
SHORTEST_PROMPT = 8
"""A shorter prompt, such as "yes", is no question."""


def opening(
    ctx: Context, name: str, budget_tokens: int, cost: Callable[[Memory], int], *, resumes: bool = False
) -> list[BriefSection]:
    """The brief for the session called *name*, which from now on has these memories and no others in view.

    A session that *resumes* still has in view what it was given before, and gets only news.
    """
    with suppress(MnemicError):
        episode.close_quiet(ctx, but=name)
    session = client_session.find(ctx.read(), ctx, name)
    kept = client_session.state_of(session) if resumes else HookState()
    sections = [
        BriefSection(one.title, tuple(memory for memory in one.memories if memory.id not in kept.given))
        for one in briefs.brief(ctx, budget_tokens=budget_tokens, cost=cost)
    ]
    given = tuple(memory.id for section in sections for memory in section.memories)
    if given or session:
        since = kept.in_view_since or ctx.now()
        _note(
            ctx,
            name,
            lambda state: replace(kept.with_given(given), position=state.position, in_view_since=since),
        )
    return [section for section in sections if section.memories]


def relevant(
    ctx: Context, name: str, prompt: str, budget_tokens: int, cost: Callable[[Memory], int]
) -> list[Memory]:
    """What bears on *prompt* above the floor of relevance and was not given in the session called *name*."""
    text = cleaned(prompt)[:MAX_QUERY_CHARACTERS]
    if len(text) < SHORTEST_PROMPT:
        return []
    session = client_session.find(ctx.read(), ctx, name)
    state = client_session.state_of(session)
    # An episode tells of turns that are hits themselves.
    wanted = Filter(namespaces=ctx.scope(), without=(EPISODE,), alive_at=ctx.now())
    found = recall(ctx, Query(text=text, filter=wanted, limit=LOOKED_AT, now=ctx.now()))
    memories = [hit.memory for hit in found.hits if _is_new(hit, session, state)]
    chosen = _within(memories, budget_tokens, cost)
    if chosen:
        _note(ctx, name, lambda state: state.with_given(tuple(memory.id for memory in chosen)))
    return chosen


def _is_new(hit: Hit, session: Session | None, state: HookState) -> bool:
    """Whether the agent does not have the memory of *hit* in view: neither given nor part of the conversation."""
    memory = hit.memory
    is_own = (
        session is not None and memory.session_id == session.id and memory.created_at >= state.in_view_since
    )
    return memory.id not in state.given and not is_own


def _within(memories: list[Memory], budget_tokens: int, cost: Callable[[Memory], int]) -> list[Memory]:
    chosen: list[Memory] = []
    for memory in memories[:MOST_HITS]:
        if (needed := cost(memory)) <= budget_tokens:
            budget_tokens -= needed
            chosen.append(memory)
    return chosen


def _note(ctx: Context, name: str, change: Callable[[HookState], HookState]) -> None:
    """Write down what the session called *name* was given; a caller that may not write is given it again."""
    if not ctx.may_write:
        return

    def work(tx: Writer) -> None:
        session = client_session.found_or_begun(tx, ctx, name)
        client_session.put_state(tx, session, change(client_session.state_of(session)))

    with suppress(MnemicError):  # a store that cannot be written can still be read
        ctx.change("hook", work, namespaces=ctx.usual)
