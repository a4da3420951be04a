"""lore_search: by meaning and words, or by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from mnemic.core.context import Context
from mnemic.core.recall import recall
from mnemic.core.retention import touch
from mnemic.dialects.framework import Shape
from mnemic.dialects.json_reply import Reply, answer
from mnemic.dialects.lorekeeper.dialect import LOREKEEPER, LoreError
from mnemic.dialects.lorekeeper.lookup import by_uid, links_of
from mnemic.dialects.lorekeeper.settings import Bearings, bearings
from mnemic.dialects.lorekeeper.types import UNSCORED, hit_entry, title_entry
from mnemic.dialects.validation import StorableText
from mnemic.model.annotations import HIDDEN
from mnemic.model.filter import Filter, Hit, Query
from mnemic.storage.queries import numbers

FULL, TITLE = "full", "title"
MOST_RESULTS = 1_000


class LoreSearch(Shape):
    """What to look for."""

    query: Annotated[StorableText | None, Field(description="what to look for; not needed with ids")] = ""
    limit: Annotated[int | None, Field(ge=0, description="most results; LORE_SEARCH_LIMIT, or 10")] = None
    min_score: Annotated[float, Field(description="least combined score, before time takes from it")] = 0.1
    include_links: Annotated[bool, Field(description="with their links; never with format 'title'")] = True
    include_deleted: Annotated[bool, Field(description="forgotten memories too")] = False
    refine_from: Annotated[
        list[StorableText] | None, Field(description="ids of an earlier result, to rank among these only")
    ] = None
    format: Annotated[StorableText, Field(description="'full', or 'title' for id, title and score")] = FULL
    ids: Annotated[
        list[StorableText] | None, Field(description="fetch these memories instead of searching")
    ] = None


@LOREKEEPER.operation(title="Search memories", read_only=True)
def lore_search(ctx: Context, request: LoreSearch) -> Reply:
    """Find memories by meaning and words, ranked also by how good they proved and how much they are used.

    With ids, fetch exactly those, in that order. List with format 'title' first and fetch what you need by ids to save
    tokens. Rate what you used with lore_update.
    """
    _check_format(request.format)
    at = bearings(ctx)
    hits = _searched(ctx, at, request) if request.ids is None else _fetched(ctx, at, request, request.ids)
    return answer(
        results=_entries(ctx, at, request, hits), total_matched=len(hits), query=request.query or ""
    )


def _check_format(format: str) -> None:
    if format not in (FULL, TITLE):
        raise LoreError(f"Unknown format {format[:80]!r}. Must be one of: {[FULL, TITLE]}")


def _fetched(ctx: Context, at: Bearings, request: LoreSearch, ids: Sequence[str]) -> list[Hit]:
    _check_cap("ids", ids, at.settings.max_search_ids)
    found = by_uid(ctx, list(dict.fromkeys(ids)), at.namespaces, forgotten=request.include_deleted)
    memories = list({memory.id: memory for memory in found.values()}.values())
    touch(ctx, memories)
    return [Hit(memory=memory, score=0.0, terms=UNSCORED) for memory in memories]


def _searched(ctx: Context, at: Bearings, request: LoreSearch) -> list[Hit]:
    if not request.query or not request.query.strip():
        raise LoreError("query is required when ids is not provided")
    profile = replace(at.settings.profile, least=request.min_score, with_forgotten=request.include_deleted)
    if request.refine_from is not None:
        _check_cap("refine_from", request.refine_from, at.settings.max_refine_from_ids)
        known = numbers(ctx.read(), request.refine_from)
        profile = replace(profile, among=tuple(known.values()))
    wanted = Filter(namespaces=at.namespaces, without=HIDDEN, alive_at=ctx.now())
    limit = at.settings.search_limit if request.limit is None else min(request.limit, MOST_RESULTS)
    query = Query(text=request.query, filter=wanted, limit=limit, now=ctx.now())
    return list(recall(ctx, query, profile=profile).hits)


def _check_cap(name: str, ids: Sequence[str], cap: int) -> None:
    if len(ids) > cap:
        raise LoreError(f"{name} exceeds cap of {cap} IDs (got {len(ids)})")


def _entries(ctx: Context, at: Bearings, request: LoreSearch, hits: Sequence[Hit]) -> list[dict[str, Any]]:
    if request.format == TITLE:
        return [title_entry(hit) for hit in hits]
    if not request.include_links:
        return [hit_entry(hit, None) for hit in hits]
    links = links_of(ctx, [hit.memory for hit in hits], at.namespaces, at.settings.max_links_per_memory)
    return [hit_entry(hit, links[hit.memory.id]) for hit in hits]
