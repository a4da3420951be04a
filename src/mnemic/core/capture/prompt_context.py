"""What the agent of a session is given without asking: the brief at its start, what bears on a prompt later."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from mnemic.core import brief as briefs
from mnemic.core.brief import BriefSection
from mnemic.core.capture import client_session, episode
from mnemic.core.capture.client_session import HookState
from mnemic.core.capture.secrets import cleaned, without_private
from mnemic.core.context import Context
from mnemic.core.recall import recall
from mnemic.errors import MnemicError
from mnemic.model.annotations import EPISODE, TURN
from mnemic.model.filter import Filter, Hit, Query
from mnemic.model.limits import MAX_QUERY_CHARACTERS
from mnemic.model.memory import Memory
from mnemic.model.session import Session
from mnemic.model.text_size import estimated_tokens
from mnemic.search.query import content_words
from mnemic.search.similarity import NEAR, jaccard
from mnemic.storage.base import Writer

MOST_HITS = 6
LOOKED_AT = 25
"""Hits that are considered, since those that were given before are passed over."""
LOOKED_BACK = 50
"""Of so many memories given before the words are compared."""
SHORTEST_REPEATED = 12
"""A shorter memory, such as a name, is not all that a turn says in which it stands."""
SHORTEST_PROMPT = 8
"""A shorter prompt, such as "yes", is no question."""
FEWEST_WORDS = 2
"""So many words that tell what it is about has a prompt that asks nothing; "continue" is given nothing."""
ASKS = re.compile(r"[?？]|(?:吗|呢|か)[。.]?\s*$")
FLOOR, FLOOR_OF_TURNS = 0.3, 0.65
"""Relevance that a hit needs, and that a turn of an earlier conversation needs if the prompt asks nothing.

Measured on `bench.week`: half as many prompts get something as with the floor of `recall`, and no fewer of the
questions get their evidence.
"""
SHARE_OF_BEST = 0.4
"""What is less relevant than this share of the best hit is left out."""


def opening(
    ctx: Context,
    name: str,
    budget_tokens: int,
    cost: Callable[[Memory], int],
    *,
    resumes: bool = False,
    is_known: Callable[[Memory], bool] = lambda memory: False,
) -> list[BriefSection]:
    """The brief for the session called *name*, which from now on has these memories and no others in view.

    A session that *resumes* still has in view what it was given before, and gets only news. What *is_known* to the
    agent from other sources is left out.
    """
    with suppress(MnemicError):
        episode.close_quiet(ctx, but=name)
    session = client_session.find(ctx.read(), ctx, name)
    kept = client_session.state_of(session) if resumes else HookState()
    sections = [
        BriefSection(one.title, tuple(memory for memory in one.memories if memory.id not in kept.given))
        for one in briefs.brief(ctx, budget_tokens=budget_tokens, cost=cost, is_known=is_known)
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
    ctx: Context,
    name: str,
    prompt: str,
    budget_tokens: int,
    shown: Callable[[Memory], str],
    *,
    is_known: Callable[[Memory], bool] = lambda memory: False,
    is_logged: bool = True,
) -> list[Memory]:
    """What bears on *prompt* and was not given in the session called *name*. Only that counts as used.

    What is *shown* of a memory takes of the budget. Nearly the same text is not given twice.

    What *is_known* to the agent from elsewhere is left out. Unless it *is_logged*, the prompt is not kept in the recall
    log.
    """
    # Private passages first: a cut may leave one tag alone. What is pasted below is not searched for secrets.
    text = cleaned(without_private(prompt)[: 2 * MAX_QUERY_CHARACTERS])[:MAX_QUERY_CHARACTERS]
    asks = ASKS.search(text) is not None
    if len(text) < SHORTEST_PROMPT or (not asks and len(content_words(text)) < FEWEST_WORDS):
        return []
    session = client_session.find(ctx.read(), ctx, name)
    state = client_session.state_of(session)

    def choose(hits: Sequence[Hit]) -> list[Hit]:
        new = [hit for hit in hits if _is_new(hit, session, state) and not is_known(hit.memory)]
        new = _without_repeated(ctx, new, state)
        return _within(_telling(new, asks=asks), budget_tokens, shown)

    # An episode tells of turns that are hits themselves.
    wanted = Filter(namespaces=ctx.scope(), without=(EPISODE,), alive_at=ctx.now())
    query = Query(text=text, filter=wanted, limit=LOOKED_AT, now=ctx.now())
    chosen = [hit.memory for hit in recall(ctx, query, choose=choose, is_logged=is_logged).hits]
    if chosen:
        _note(ctx, name, lambda state: state.with_given(tuple(memory.id for memory in chosen)))
    return chosen


def _is_new(hit: Hit, session: Session | None, state: HookState) -> bool:
    """Whether the agent does not have the memory of *hit* in view: neither given nor part of the conversation."""
    memory = hit.memory
    # A captured statement belongs to no session; it names the one it was said in.
    said_in = memory.session_id or memory.metadata.get("session")
    is_own = session is not None and said_in == session.id and memory.created_at >= state.in_view_since
    return memory.id not in state.given and not is_own


def _without_repeated(ctx: Context, hits: Sequence[Hit], state: HookState) -> list[Hit]:
    """*hits* without turns in which stands word for word what the agent was given before."""
    if not state.given or not any(hit.memory.kind in TURN for hit in hits):
        return list(hits)
    given = [memory.content for memory in ctx.read().get(state.given[-LOOKED_BACK:])]
    return [hit for hit in hits if not _repeats(hit, given)]


def _repeats(hit: Hit, given: Iterable[str]) -> bool:
    """Whether *hit* is a turn in which stands word for word what is *given*, such as a statement made in it."""
    said = hit.memory.content if hit.memory.kind in TURN else ""
    return any(len(one) >= SHORTEST_REPEATED and one in said for one in given)


def _telling(hits: Sequence[Hit], *, asks: bool) -> list[Hit]:
    """The hits that bear on a prompt clearly enough to be given unasked."""
    best = max((hit.relevance or 0.0 for hit in hits), default=0.0)
    return [hit for hit in hits if (hit.relevance or 0.0) >= max(_floor(hit, asks), SHARE_OF_BEST * best)]


def _floor(hit: Hit, asks: bool) -> float:
    return FLOOR if asks or hit.memory.kind not in TURN else FLOOR_OF_TURNS


def _within(hits: Sequence[Hit], budget_tokens: int, shown: Callable[[Memory], str]) -> list[Hit]:
    """The best hits that fit into the budget, without those that show nearly the same as a better one."""
    chosen: dict[str, Hit] = {}
    for hit in hits:
        text = shown(hit.memory)
        is_new = all(jaccard(text, one) < NEAR and hit.memory.content not in one for one in chosen)
        is_new = is_new and not _repeats(hit, (one.memory.content for one in chosen.values()))
        if is_new and (needed := estimated_tokens(text)) <= budget_tokens:
            budget_tokens -= needed
            chosen[text] = hit
        if len(chosen) == MOST_HITS:
            break
    return list(chosen.values())


def _note(ctx: Context, name: str, change: Callable[[HookState], HookState]) -> None:
    """Write down what the session called *name* was given; a caller that may not write is given it again."""
    if not ctx.may_write:
        return

    def work(tx: Writer) -> None:
        session = client_session.found_or_begun(tx, ctx, name)
        client_session.put_state(tx, session, change(client_session.state_of(session)))

    with suppress(MnemicError):  # a store that cannot be written can still be read
        ctx.change("hook", work, namespaces=ctx.usual)
