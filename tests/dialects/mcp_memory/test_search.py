"""Association: use shapes what comes to mind, and coming to mind is use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import AbsentEmbedder, a_query, kept

from mnemic.core.embedding_queue import FRESH
from mnemic.core.memories import find
from mnemic.dialects.mcp_memory.search import search
from mnemic.errors import Unavailable
from mnemic.model.access import Grant


@pytest.fixture
def known(ctx):
    return [kept(ctx, text).id for text in ("grey heron in the pond", "grey heron at the lake", "red fox")]


def test_what_is_answered_was_used_and_used_together(ctx, clock, known):
    found = search(ctx, a_query("grey heron", limit=2))
    assert [hit.memory.id for hit in found.hits] == sorted(
        known[:2], key=[h.memory.id for h in found.hits].index
    )
    assert list(ctx.store.read().companions(known)) == [(known[0], known[1], (1, clock()))]
    assert find(ctx, known[0]).access_count == 1 and find(ctx, known[2]).access_count == 0
    again = search(ctx, a_query("grey heron", limit=2))
    assert all(hit.terms["cooc_boost"] == pytest.approx(1) for hit in again.hits)
    assert all(hit.terms["cooc_boost"] == 0 for hit in found.hits), "the first time nothing was known of it"


def test_what_was_just_stored_is_found_by_meaning_and_a_large_backlog_is_reported(ctx):
    attended = replace(ctx, wake=lambda: None)
    for number in range(FRESH):
        kept(attended, f"grey heron number {number}")
    found = search(attended, a_query("grey heron", limit=50))
    assert (len(found.hits), found.pending) == (FRESH, 0)
    for number in range(FRESH + 1):
        kept(attended, f"red fox number {number}")
    assert search(attended, a_query("grey heron", limit=50)).pending == FRESH + 1


def test_who_may_only_read_leaves_no_trace(ctx, known):
    search(ctx.limited_to(Grant(None, can_write=False)), a_query("grey heron"))
    assert list(ctx.store.read().companions(known)) == [] and find(ctx, known[0]).access_count == 0


def test_what_is_weighed_down_falls_back(ctx, known):
    first = search(ctx, a_query("grey heron in the pond", limit=3)).hits[0]
    found = search(
        ctx, a_query("grey heron in the pond", limit=3), lambda memory: 0.01 if memory.id == known[0] else 1.0
    )
    assert first.memory.id == known[0] != found.hits[0].memory.id
    assert [hit.score for hit in found.hits] == sorted((hit.score for hit in found.hits), reverse=True)


@pytest.mark.parametrize("embedder", [None, AbsentEmbedder()])
def test_without_a_model_there_is_no_association(ctx, known, embedder):
    with pytest.raises(Unavailable, match="no embedding model"):
        search(replace(ctx, embedder=embedder), a_query("heron"))


def test_an_empty_store_brings_nothing_to_mind(ctx):
    assert search(ctx, a_query("anything")).hits == ()
