"""lore_reflect and lore_processed_sessions: what came of a session, kept once."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from mnemic.core.context import Context
from mnemic.dialects.framework import Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.lorekeeper.dialect import LOREKEEPER, LoreError
from mnemic.dialects.lorekeeper.lessons import Account, Learning, learn, reflected
from mnemic.dialects.lorekeeper.lookup import by_uid
from mnemic.dialects.lorekeeper.settings import bearings
from mnemic.dialects.lorekeeper.types import title_of
from mnemic.dialects.validation import StorableText
from mnemic.model.limits import MAX_ITEMS
from mnemic.model.time import iso

Items = Annotated[list[StorableText] | None, Field(max_length=MAX_ITEMS)]


class Reflect(Shape):
    """What came of a session."""

    session_id: Annotated[StorableText, Field(description="which session it was")]
    summary: Annotated[StorableText, Field(description="what happened, in short")]
    session_date: Annotated[StorableText | None, Field(description="as in 2026-05-19; today if left out")] = (
        None
    )
    topic: StorableText | None = None
    task_type: Annotated[StorableText | None, Field(description="build, debug, review, design …")] = None
    what_was_done: StorableText | None = None
    decisions: Annotated[StorableText | None, Field(description="what was decided, and why")] = None
    lessons_learnt: Items = None
    good_patterns: Items = None
    user_profile_updates: Items = None
    factual_discoveries: Items = None
    memory_ids: Annotated[Items, Field(description="ids of memories it has to do with")] = None
    auto_insert: Annotated[
        bool, Field(description="keep each discovery and lesson as a memory of its own")
    ] = True


@LOREKEEPER.operation(title="Reflect on a session", idempotent=True)
def lore_reflect(ctx: Context, request: Reflect) -> Reply:
    """Keep what came of a session, once: session_id and summary are enough.

    Each discovery and lesson becomes a memory too, unless it is known. For a session that was reflected on before,
    already_processed is true and nothing is kept.
    """
    if not request.session_id.strip() or not request.summary.strip():
        raise LoreError("session_id and summary must not be empty")
    at = bearings(ctx)
    learnt = learn(
        ctx,
        _account(ctx, request, at.namespaces),
        at.gate,
        namespace=at.home,
        keeps_learnings=request.auto_insert,
        title=title_of,
    )
    metadata = {
        "reflection_id": learnt.reflection.uid,
        "session_id": request.session_id,
        "created_at": iso(learnt.reflection.created_at),
    }
    known = {"already_processed": True} if learnt.is_known else {}
    return answer(**metadata, **known, memories_created=[_created(one) for one in learnt.learnings])


def _account(ctx: Context, request: Reflect, namespaces: tuple[str, ...] | None) -> Account:
    about = by_uid(ctx, list(dict.fromkeys(request.memory_ids or [])), namespaces)
    return Account(
        session=request.session_id,
        summary=request.summary,
        date=request.session_date or iso(ctx.now())[:10],
        topic=request.topic,
        task_type=request.task_type,
        what_was_done=request.what_was_done,
        decisions=request.decisions,
        lessons=tuple(request.lessons_learnt or ()),
        patterns=tuple(request.good_patterns or ()),
        profile=tuple(request.user_profile_updates or ()),
        discoveries=tuple(request.factual_discoveries or ()),
        about=tuple(memory.id for memory in about.values()),
    )


def _created(one: Learning) -> dict[str, Any]:
    return {
        "id": one.memory.uid,
        "title": one.memory.title,
        "relation": one.relation,
        "status": "duplicate" if one.is_known else "inserted",
    }


class NoArguments(Shape):
    """Nothing."""


@LOREKEEPER.operation(title="List processed sessions", read_only=True, idempotent=True)
def lore_processed_sessions(ctx: Context, request: NoArguments) -> Reply:
    """List the ids of all sessions that lore_reflect was called for."""
    return answer(session_ids=reflected(ctx.read(), bearings(ctx).namespaces))
