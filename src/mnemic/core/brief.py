"""The brief of a project: what to know before work begins, most important first, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from mnemic.core import sessions
from mnemic.core.context import Context
from mnemic.core.standards import standards_for
from mnemic.model.annotations import HIDDEN
from mnemic.model.filter import Filter, Order
from mnemic.model.memory import Memory
from mnemic.model.session import Session
from mnemic.model.time import Moment

MOST_RULES = 20
MOST_IMPORTANT = 10
MOST_RECENT = 20
IMPORTANT = 7
"""From this priority on a memory belongs in the brief."""
RULES = ("rule", "preference", "correction")
"""The kinds of memories that say how things are done."""


@dataclass(frozen=True, slots=True)
class BriefSection:
    """A part of the brief: its title and its memories, each in one section only."""

    title: str
    memories: tuple[Memory, ...]


def brief(
    ctx: Context,
    *,
    budget_tokens: int | None = None,
    cost: Callable[[Memory], int] | None = None,
    is_known: Callable[[Memory], bool] = lambda memory: False,
) -> list[BriefSection]:
    """What to know before work begins here: rules, the last session, decisions, news, facts.

    With a budget, as much of it as fits, by the *cost* of each memory as the caller shows it. What *is_known* to the
    reader is left out.
    """
    room = budget_tokens if budget_tokens is not None and cost is not None else None
    shown: set[int] = set()
    found: list[BriefSection] = []
    for title, memories in _parts(ctx):
        kept: list[Memory] = []
        for memory in memories:
            needed = cost(memory) if room is not None and cost is not None else 0
            if memory.id in shown or is_known(memory) or (room is not None and needed > room):
                continue
            shown.add(memory.id)
            kept.append(memory)
            room = None if room is None else room - needed
        if kept:
            found.append(BriefSection(title, tuple(kept)))
    return found


def _parts(ctx: Context) -> Iterator[tuple[str, Sequence[Memory]]]:
    resumed = sessions.resume(ctx, limit=MOST_RECENT, others=None)
    rules = _select(ctx, MOST_RULES, Order.CONFIDENCE, kinds=RULES)
    yield "Rules", (*standards_for(ctx, ctx.namespace), *rules)
    yield "Where we were", [resumed.last_episode] if resumed.last_episode else []
    yield "Important", _select(ctx, MOST_IMPORTANT, Order.PRIORITY, min_priority=IMPORTANT)
    yield "Decisions", resumed.decisions
    since = _end_of(resumed.previous)
    yield (
        "New since the last session",
        _select(ctx, MOST_IMPORTANT, Order.NEWEST, since=since) if since else [],
    )
    yield "Facts", resumed.facts
    yield "Conclusions", resumed.inferences
    yield "Other recent memories", resumed.other


def _end_of(session: Session | None) -> Moment | None:
    return session.ended_at if session else None


def _select(
    ctx: Context,
    limit: int,
    order: Order,
    *,
    kinds: tuple[str, ...] | None = None,
    min_priority: int | None = None,
    since: Moment | None = None,
) -> list[Memory]:
    reader = ctx.read()
    wanted = Filter(
        namespaces=ctx.scope(),
        kinds=kinds,
        without=HIDDEN,
        min_priority=min_priority,
        since=since,
        alive_at=ctx.now(),
    )
    return reader.get(reader.select(wanted, limit=limit, order=order))
