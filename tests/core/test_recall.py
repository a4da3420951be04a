"""Recall: complete when it can be, honest when it cannot, and leaving a trace of use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import AbsentEmbedder, WordEmbedder, a_query, embedding, faults, kept, last_number

from mnemic.core.embedding_queue import EMBEDDED_ON_THE_WAY, UNATTENDED, embed_pending, read_as
from mnemic.core.memories import Note, Revision, find, forget, remember, revise
from mnemic.core.recall import recall
from mnemic.model.access import Grant
from mnemic.model.filter import Filter
from mnemic.storage import queries
from mnemic.storage.base import Pending

TEXTS = ["the heron stands in the pond", "the fox sleeps under the hedge", "rain falls on the roof"]


@pytest.fixture
def known(ctx):
    return [kept(ctx, text) for text in TEXTS]


def test_recall_finds_new_memories_by_words_and_vectors(ctx, known):
    found = recall(ctx, a_query("heron in the pond"))
    assert (found.mode, found.pending) == ("hybrid", 0)
    assert found.hits[0].memory.id == known[0].id
    assert found.hits[0].statement_id == known[0].statements[0].id, "vectors took part"
    assert ctx.store.read().backlog() == 0, "what waited was embedded on the way"


def test_recall_embeds_pending_texts_of_its_scope_only(ctx, known):
    kept(ctx, "the heron again", namespace="work")
    recall(ctx, a_query("heron", namespaces=("work",)))
    assert ctx.store.read().backlog() == len(known)


def test_recall_reports_a_large_backlog_without_waiting(ctx):
    kept(ctx, "the egret stands in the pond")
    embed_pending(ctx, 1)
    remember(ctx, [Note(text=f"entry {n} of the log") for n in range(EMBEDDED_ON_THE_WAY)])
    kept(ctx, "the heron stands in the pond")
    woken = []
    found = recall(replace(ctx, wake=lambda: woken.append(True)), a_query("heron in the pond"))
    assert found.pending == EMBEDDED_ON_THE_WAY + 1 and woken == [True]
    contents = [hit.memory.content for hit in found.hits]
    assert contents[:2] == ["the heron stands in the pond", "the egret stands in the pond"], (
        "what has no vector yet is not passed by what has one and fewer of the words"
    )
    assert embed_pending(ctx, 1000) == EMBEDDED_ON_THE_WAY + 1
    assert recall(ctx, a_query("heron")).pending == 0


def test_long_pending_texts_are_left_to_the_worker(ctx):
    kept(ctx, "the heron stands in the pond. " * 30)
    attended = replace(ctx, wake=lambda: None)
    assert recall(attended, a_query("heron")).pending == 1
    assert recall(ctx, a_query("heron")).pending == 0, "without a worker nobody else would embed it"


def test_without_a_worker_recall_embeds_a_larger_backlog(ctx):
    remember(ctx, [Note(text=f"entry {n} of the log") for n in range(UNATTENDED)])
    assert recall(replace(ctx, wake=lambda: None), a_query("log")).pending == UNATTENDED
    assert recall(ctx, a_query("log")).pending == 0


def test_recall_reports_a_long_pending_text_without_waiting(ctx):
    kept(ctx, "the pond lies still. " * 2_000)
    kept(ctx, "the heron stands in the pond")
    found = recall(ctx, a_query("heron"))
    assert found.pending == 1 and found.hits[0].statement_id is not None, (
        "what is short was embedded on the way"
    )
    assert embed_pending(ctx, 10) == 1 and recall(ctx, a_query("heron")).pending == 0


def test_without_a_model_words_answer(ctx, known):
    found = recall(replace(ctx, embedder=None), a_query("heron pond"))
    assert (found.mode, found.pending) == ("keyword", 0)
    assert [hit.memory.id for hit in found.hits] == [known[0].id]


def test_a_model_that_is_not_there_does_not_stop_an_answer(ctx, known):
    found = recall(replace(ctx, embedder=AbsentEmbedder()), a_query("heron pond"))
    assert (found.mode, found.pending) == ("keyword", len(known))
    assert [hit.memory.id for hit in found.hits] == [known[0].id]
    recall(ctx, a_query("heron"))
    found = recall(replace(ctx, embedder=AbsentEmbedder()), a_query("heron pond"))
    assert (found.mode, found.pending) == ("keyword", 0)


def test_a_new_model_re_embeds_without_mixing_vectors(ctx, known):
    recall(ctx, a_query("heron"))
    newer = replace(ctx, embedder=WordEmbedder("newer", dimension=32))
    ctx.store.use_models("newer")
    found = recall(newer, a_query("heron in the pond"))
    assert found.hits[0].memory.id == known[0].id and found.hits[0].statement_id is not None
    assert ctx.store.read().backlog() == 0 and faults(ctx.store) == []


def test_an_empty_store_recalls_nothing(ctx):
    assert recall(ctx, a_query("anything")).hits == ()


def test_the_terms_of_a_score_add_up_to_it(ctx, known):
    for hit in recall(ctx, a_query("the heron sleeps under rain")).hits:
        assert sum(hit.terms.values()) == pytest.approx(hit.score)


def test_the_limit_and_the_order(ctx):
    for number in range(20):
        kept(ctx, f"heron number {number}")
    hits = recall(ctx, a_query("heron number 7", limit=5)).hits
    assert len(hits) == 5 and hits[0].memory.content == "heron number 7"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("budget, expected", [(1000, 3), (20, 2), (14, 1), (1, 0)])
def test_a_budget_is_never_exceeded(ctx, budget, expected):
    kept(ctx, "heron " + "a" * 24, name="heron one")
    kept(ctx, "heron " + "b" * 24, name="heron two")
    kept(ctx, "heron " + "c" * 224, name="heron long")
    found = recall(ctx, a_query("heron"), budget_tokens=budget)
    hits = found.hits
    assert (len(hits), found.left_out) == (expected, 3 - expected)
    assert sum(len(hit.memory.title) + len(hit.memory.content) for hit in hits) <= budget * 4


def test_being_recalled_counts_as_use_of_the_hits_alone(ctx, clock, known):
    clock.advance(hours=1)
    hits = recall(ctx, a_query("heron", now=clock(), limit=1)).hits
    used, unused = find(ctx, hits[0].memory.id), find(ctx, known[1].id)
    assert (used.access_count, used.accessed_at) == (1, clock())
    assert (unused.access_count, unused.accessed_at) == (0, None)
    recall(ctx, a_query("heron", now=clock(), limit=1))
    assert find(ctx, used.id).access_count == 2
    assert last_number(ctx.store) == len(known), "use is not part of the journal"


def test_a_read_only_caller_records_no_usage(ctx, known):
    reader = ctx.limited_to(Grant(None, can_write=False))
    assert recall(reader, a_query("heron")).hits
    assert find(ctx, known[0].id).access_count == 0


def test_a_revised_text_is_found_by_its_new_words_alone(ctx, known):
    recall(ctx, a_query("heron"))
    revise(ctx, known[0].id, Revision(text="an otter swims by", name="Otter"))
    assert recall(ctx, a_query("otter swims")).hits[0].memory.id == known[0].id
    assert all(hit.terms.get("words", 0) == 0 for hit in recall(ctx, a_query("heron")).hits)
    forget(ctx, [known[0].id])
    assert known[0].id not in [hit.memory.id for hit in recall(ctx, a_query("otter swims")).hits]


def test_vectors_wait_in_batches_and_follow_a_filter(ctx):
    remember(ctx, [Note(text=f"entry {n}", namespace="work" if n % 2 else None) for n in range(10)])
    assert embed_pending(ctx, 3) == 3 and ctx.store.read().backlog() == 7
    assert embed_pending(ctx, 100, Filter(namespaces=("work",))) + 3 >= 5
    assert ctx.store.read().backlog(Filter(namespaces=("work",))) == 0
    embed_pending(ctx, 100)
    assert embed_pending(ctx, 100) == 0
    assert embed_pending(replace(ctx, embedder=None), 100) == 0


def test_a_memory_deleted_before_embedding_is_skipped(ctx):
    memory = kept(ctx, "short lived")

    class Slow(WordEmbedder):
        def embed(self, texts):
            revise(ctx, memory.id, Revision(text="changed meanwhile"))
            return super().embed(texts)

    assert embed_pending(replace(ctx, embedder=Slow()), 10) == 0
    assert [item.text for item in ctx.store.read().pending(limit=5)] == ["changed meanwhile"]
    assert faults(ctx.store) == []


def test_a_text_whose_title_changes_meanwhile_is_embedded_under_the_new_one(ctx):
    memory = kept(ctx, "it is grey", name="Walrus")

    class Slow(WordEmbedder):
        def embed(self, texts):
            vectors = super().embed(texts)
            revise(ctx, memory.id, Revision(name="Submarine"))
            return vectors

    assert embed_pending(replace(ctx, embedder=Slow()), 10) == 0
    assert embed_pending(ctx, 10) == 1
    vector = embedding(ctx.embedder, "Submarine\nit is grey")
    [near] = queries.nearest(ctx.store.read(), vector, Filter(), limit=1)
    assert near.cosine > 0.99


@pytest.mark.parametrize(
    "title, text, stretch, read",
    [
        ("Sky", "It is blue", (0, 10), "Sky\nIt is blue"),
        ("Sky", "It is blue", (6, 10), "Sky\nblue"),
        ("It is blue.", "It is blue. Mostly.", (0, 19), "It is blue. Mostly."),
        ("It is blue.", "It is blue. Mostly.", (12, 19), "Mostly."),
    ],
)
def test_a_model_reads_a_text_under_the_title_someone_chose(title, text, stretch, read):
    assert read_as(Pending(1, 1, title, text), *stretch) == read


def test_a_model_reads_the_summary_with_the_text():
    assert read_as(Pending(1, 1, "Sky", "It is blue", "A colour"), 0, 10) == "Sky\nA colour\nIt is blue"
    assert read_as(Pending(1, 1, "It is", "It is blue", "A colour"), 0, 10) == "A colour\nIt is blue"


def test_a_long_text_is_found_by_what_stands_deep_inside(ctx):
    filler = " ".join(f"word{number}" for number in range(300))
    memory = kept(ctx, f"{filler} the combination of the safe is mellon {filler}", name="Long")
    kept(ctx, "something else entirely")
    hit = recall(ctx, a_query("combination of the safe mellon")).hits[0]
    assert hit.memory.id == memory.id and hit.statement_id == memory.statements[0].id


def test_a_memory_is_dated_by_when_it_happened(ctx):
    day = 86_400_000_000
    long_ago = ctx.now() - 400 * day
    remember(ctx, [Note(text="the heron came back", occurred_at=long_ago)])
    kept(ctx, "the heron left")
    [old] = recall(ctx, a_query("heron", until=long_ago + day)).hits
    assert old.memory.content == "the heron came back" and old.memory.occurred_at == long_ago
    [new] = recall(ctx, a_query("heron", since=long_ago + day)).hits
    assert new.memory.content == "the heron left" and new.memory.occurred_at == new.memory.created_at


def test_equal_texts_are_shown_once(ctx):
    for text in ("The heron stands in the pond.", "the heron  stands in the pond.", "The heron flew away."):
        remember(ctx, [Note(text=text)], force=True)
    hits = recall(ctx, a_query("heron pond", limit=2)).hits
    assert [hit.memory.content for hit in hits][1:] == ["The heron flew away."]


def test_hits_below_min_relevance_are_left_out(ctx, known):
    found = recall(ctx, replace(a_query("heron in the pond"), min_relevance=0.0)).hits
    assert all(0 <= hit.relevance <= 1 for hit in found) and len(found) > 1
    least = found[0].relevance
    assert [
        hit.memory.id for hit in recall(ctx, replace(a_query("heron in the pond"), min_relevance=least)).hits
    ] == [known[0].id]
