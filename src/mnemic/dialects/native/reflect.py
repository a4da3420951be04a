"""Thinking it over: reflect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import model_validator

from mnemic.core import memories, reflections
from mnemic.core.annotations import TARGET
from mnemic.core.context import Context
from mnemic.core.reflections import ENTITY, EVERYTHING, TARGET_TYPE, Reflection
from mnemic.dialects.framework import Example, Positional, Shape
from mnemic.dialects.native.dialect import MNEMIC
from mnemic.dialects.native.types import Name, Reference, Request, Text, Time, described
from mnemic.dialects.validation import StorableText
from mnemic.model.limits import MAX_QUERY_CHARACTERS
from mnemic.model.memory import Memory


class ReflectRequest(Request):
    """A thought to keep, or words to look for among those kept."""

    text: Annotated[
        Text | None,
        described("The reflection to save (default: see query)"),
        Positional("TEXT", stdin=True, unless=("query",)),
    ] = None
    about: Annotated[
        Reference | None, described("The memory it is about: id, uid or title (default: the whole store)")
    ] = None
    mood: Annotated[Name | None, described("Its mood, or only those of it (default: any)")] = None
    author: Annotated[Name | None, described("Its author, or only theirs (default: this client; any)")] = None
    query: Annotated[
        StorableText | None,
        described("Search reflections instead (default: see text)", max_length=MAX_QUERY_CHARACTERS),
    ] = None
    limit: Annotated[int, described("Most hits of a search", ge=1, le=100)] = 10

    @model_validator(mode="after")
    def _one_of(self) -> ReflectRequest:
        if (self.text is None) == (self.query is None):
            raise ValueError("give either `text` or `query`")
        if self.query is not None and not self.query.strip():
            raise ValueError("`query` must not be empty")
        if self.query is not None and self.about is not None:
            raise ValueError("`about` goes with `text`")
        return self


class ReflectionShape(Shape):
    """A reflection, and how well it answers a search."""

    id: int
    text: str
    about: int | None = None
    mood: str | None = None
    author: str | None = None
    created_at: Time
    score: float | None = None


class ReflectReply(Shape):
    """The reflection that was kept, or those that were found."""

    reflections: list[ReflectionShape]


@MNEMIC.operation(
    title="Reflect",
    cli="reflect",
    about="Store a reflection, or search reflections.",
    examples=[
        Example("", {"text": "Fridays hurt", "about": "12"}),
        Example("search reflections", {"query": "mistakes we made"}),
    ],
)
def reflect(ctx: Context, request: ReflectRequest) -> ReflectReply:
    """Save a reflection about one memory or the whole store, or search reflections."""
    if request.query is not None:
        hits = reflections.search(
            ctx, request.query, limit=request.limit, author=request.author, mood=request.mood
        )
        found = [_shown(hit.memory, hit.score) for hit in hits]
        return ReflectReply(reflections=found)
    about = None if request.about is None else memories.find(ctx, request.about).id
    thought = Reflection(
        text=request.text or "",
        target_type=EVERYTHING if about is None else ENTITY,
        target_id=about,
        author=request.author or ctx.actor,
        mood=request.mood,
    )
    return ReflectReply(reflections=[_shown(reflections.add(ctx, thought))])


def _shown(memory: Memory, score: float | None = None) -> ReflectionShape:
    metadata: Mapping[str, object] = memory.metadata
    return ReflectionShape.model_construct(
        None,
        id=memory.id,
        text=memory.content,
        about=metadata.get(TARGET) if metadata.get(TARGET_TYPE) == ENTITY else None,
        mood=metadata.get("mood"),
        author=metadata.get("author"),
        created_at=memory.created_at,
        score=score if score is None else round(score, 4),
    )
