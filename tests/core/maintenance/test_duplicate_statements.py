"""Duplicates: alike by meaning or contained, in groups, and dropped without losing the longest."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import AbsentEmbedder, a_draft, change, kept, put

from mnemic.core.maintenance import duplicate_statements
from mnemic.core.maintenance.duplicate_statements import (
    StatementMatch,
    contained,
    drop,
    find,
    flagged,
    matched,
    superfluous,
)
from mnemic.core.memories import Revision, forget, revise
from mnemic.core.memories import find as known
from mnemic.errors import Conflict, NotFound, Unavailable
from mnemic.model.filter import Filter
from mnemic.model.shapes import Outline

SAME = ("Deployed on Vercel with custom domain", "Deployment: Vercel, custom domain configured")
LONG, SHORT = "Stack: FastMCP + SQLite + ONNX Runtime for embeddings", "FastMCP"
APART = "The office cat is called Biscuit"


@pytest.fixture
def project(real):
    [memory] = put(real.store, a_draft("", name="My Project", texts=(*SAME, LONG, SHORT, APART)))
    return memory


@pytest.mark.parametrize(
    "short, long, share",
    [
        ("Fox!", "the (fox) sleeps", 1),
        ("red fox", "a fox", 0.5),
        ("", "a", 1),
        ("...", "a", 1),
        ("¿Qué?", "qué", 1),
    ],
)
def test_containment_is_the_share_of_words(short, long, share):
    assert contained(short, long) == share


@pytest.mark.parametrize(
    "one, other, cosine, match",
    [
        ("a fox", "the fox", 0.85, StatementMatch.COSINE),
        ("a fox", "the fox", 0.84, None),
        ("fox", "the fox sleeps", 0.1, StatementMatch.CONTAINMENT),
        ("the fox sleeps", "fox", 0.9, StatementMatch.COSINE),
        ("fox", "a fox", 0.1, None),
        ("fox cub", "the fox sleeps under the hedge", 0.1, None),
    ],
)
def test_two_texts_match_by_meaning_or_if_one_is_much_longer_by_its_words(one, other, cosine, match):
    assert matched(one, other, cosine) is match


def test_paraphrases_and_short_inside_long_are_found(real, project):
    found = find(real, "My Project")
    pairs = {(pair.one.text, pair.other.text): pair for pair in found.pairs}
    assert {key: pair.match for key, pair in pairs.items()} == {
        SAME: StatementMatch.COSINE,
        (LONG, SHORT): StatementMatch.CONTAINMENT,
    }
    assert 0.85 <= pairs[SAME].similarity <= 1.0001 and pairs[LONG, SHORT].similarity < 0.85
    assert [tuple(one.text for one in group) for group in found.groups] == [SAME, (LONG, SHORT)]
    assert known(real, project.id).texts == project.texts


def test_both_thresholds_are_obeyed(real, project):
    assert {pair.match for pair in find(real, project.id, cosine=0.999).pairs} == {StatementMatch.CONTAINMENT}
    assert {pair.match for pair in find(real, project.id, containment=1.01).pairs} == {StatementMatch.COSINE}


def test_a_chain_of_pairs_is_one_group(ctx):
    texts = ("fox", "the red fox sleeps", "a fox and a cat and a dog and a hen", "otter")
    [memory] = put(ctx.store, a_draft("", name="Animals", texts=texts))
    found = find(ctx, memory.id, cosine=1.1)
    assert [[one.text for one in group] for group in found.groups] == [list(texts[:3])]
    assert [one.text for one in superfluous(found)] == ["fox", "the red fox sleeps"]


def test_what_is_superfluous_can_be_dropped(real, project):
    left = drop(real, find(real, project.id))
    assert left.texts == [SAME[1], LONG, APART] == known(real, project.id).texts
    assert find(real, project.id).pairs == ()


def test_nothing_is_dropped_from_a_memory_that_has_changed(real, project):
    found = find(real, project.id)
    revise(real, project.id, Revision(append="later"))
    with pytest.raises(Conflict, match="changed meanwhile"):
        drop(real, found)
    forget(real, [project.id])
    with pytest.raises(Conflict, match="restore it first"):
        drop(real, found)


def test_a_memory_with_little_in_it_has_no_duplicates(ctx):
    [memory] = put(ctx.store, a_draft("", name="Silent", texts=()))
    assert find(ctx, memory.id).pairs == () == find(ctx, kept(ctx, "one").id).pairs
    with pytest.raises(NotFound):
        find(ctx, "Nothing")


@pytest.mark.parametrize("embedder", [None, AbsentEmbedder()])
def test_without_a_model_nothing_can_be_compared(ctx, embedder):
    memory = kept(ctx, "one")
    with pytest.raises(Unavailable, match="no embedding model"):
        find(replace(ctx, embedder=embedder), memory.id)


def told(ctx):
    found = flagged(ctx, Filter(), ctx.store.read().look(Filter(), Outline))
    return [(one.memory.title, one.statement.text, one.earlier.text) for one in found]


def test_what_is_said_again_later_is_flagged(real):
    [memory] = put(real.store, a_draft("", name="My Project", texts=(SAME[0], LONG)))
    assert told(real) == []
    change(real.store, memory, texts=(SAME[0], LONG, SAME[1], APART))
    assert told(real) == [("My Project", SAME[1], SAME[0])]


def test_what_came_together_is_not_flagged(real):
    put(real.store, a_draft("", name="My Project", texts=SAME))
    assert told(real) == []


def test_a_common_title_alone_flags_nothing(real):
    [memory] = put(
        real.store, a_draft("", name="Quarterly report of the payment service", texts=("Due in May",))
    )
    change(real.store, memory, texts=("Due in May", "Written by Anna"))
    assert told(real) == []


def test_of_too_many_suspects_the_stored_vectors_decide(real, monkeypatch):
    monkeypatch.setattr(duplicate_statements, "LOOKED_AT_CLOSELY", 0)
    [memory] = put(real.store, a_draft("", name="My Project", texts=(SAME[0],)))
    change(real.store, memory, texts=SAME)
    assert told(real) == [("My Project", SAME[1], SAME[0])]
