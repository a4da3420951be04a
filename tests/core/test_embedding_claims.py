"""A statement that waits for its vector is claimed before it is embedded, so that it is embedded once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import WordEmbedder, a_query, faults, kept

from mnemic.core.embedding_queue import CLAIMED, embed_pending, unclaimed
from mnemic.core.memories import Note, forget, remember
from mnemic.core.recall import recall
from mnemic.errors import Unavailable
from mnemic.model.access import EVERYTHING
from mnemic.model.time import HOUR
from mnemic.storage.base import CLAIM_LIFETIME


def claim_all(ctx, owner="somebody else"):
    """Claim every pending statement, as another process does."""

    def work(tx):
        return tx.claim([item.statement_id for item in tx.pending(limit=100)], owner, ctx.now())

    return ctx.store.change(EVERYTHING, "embed", "other", ctx.now(), work)


def test_what_somebody_has_claimed_is_embedded_by_nobody_else(ctx, clock):
    kept(ctx, "the heron stands in the pond")
    assert len(claim_all(ctx)) == 1
    assert claim_all(ctx, "a third") == frozenset()
    assert unclaimed(ctx, 10) == [] and embed_pending(ctx, 10) == 0
    assert ctx.store.read().backlog() == 1
    clock.advance(hours=CLAIM_LIFETIME / HOUR)
    assert embed_pending(ctx, 10) == 1


def test_a_claim_of_a_clock_that_is_a_little_ahead_holds(ctx, clock):
    kept(ctx, "the heron stands in the pond")
    clock.advance(seconds=2)
    claim_all(ctx)
    clock.advance(seconds=-2)
    assert claim_all(ctx, "a third") == frozenset() and embed_pending(ctx, 10) == 0


def test_a_claim_of_a_clock_that_was_set_back_does_not_hold(ctx, clock):
    kept(ctx, "the heron stands in the pond")
    clock.advance(hours=5)
    claim_all(ctx)
    clock.advance(hours=-5)
    assert embed_pending(ctx, 10) == 1


def test_a_recall_leaves_claimed_statements_to_the_process_that_claimed_them(ctx):
    kept(ctx, "the heron stands in the pond")
    claim_all(ctx)
    found = recall(ctx, a_query("heron pond"))
    assert found.pending == 1 and len(found.hits) == 1, "found by its words"


def test_claims_end_with_the_vectors(ctx):
    remember(ctx, [Note(text=f"entry {number}") for number in range(CLAIMED + 5)])
    seen = []

    class Looking(WordEmbedder):
        def embed(self, texts):
            seen.append(len(unclaimed(ctx, 1_000)))
            return super().embed(texts)

    assert embed_pending(replace(ctx, embedder=Looking()), 1_000) == CLAIMED + 5
    assert seen[0] == 5 and seen[-1] == 0, "no more is claimed than is embedded next"
    assert ctx.store.read().backlog() == 0


def test_claims_end_when_embedding_fails(ctx):
    kept(ctx, "the heron stands in the pond")

    class Failing(WordEmbedder):
        def embed(self, texts):
            raise Unavailable("out of order")

    with pytest.raises(Unavailable):
        embed_pending(replace(ctx, embedder=Failing()), 10)
    assert embed_pending(ctx, 10) == 1


def test_what_left_or_has_its_vector_cannot_be_claimed(ctx):
    embedded = kept(ctx, "the heron stands in the pond")
    embed_pending(ctx, 10)
    left = kept(ctx, "the fox sleeps")
    waiting = kept(ctx, "the crow calls")
    forget(ctx, [left.id])
    numbers = [memory.statements[0].id for memory in (embedded, left, waiting)]
    got = ctx.store.change(
        EVERYTHING, "embed", "other", ctx.now(), lambda tx: tx.claim(numbers, "me", ctx.now())
    )
    assert waiting.statements[0].id in got and embedded.statements[0].id not in got
    assert faults(ctx.store) == []
