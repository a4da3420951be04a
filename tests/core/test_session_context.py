"""Recall with `around`: a hit brings the turns before and after it, hits first, nothing twice, within the budget."""

from __future__ import annotations

import pytest
from support import a_query, kept

from mnemic.core.memories import Note, forget, remember
from mnemic.core.recall import recall
from mnemic.model.text_size import estimated_tokens

TALK = [
    "hello there",
    "we met on Monday",
    "so who feeds the heron",
    "Anna does",
    "at noon",
    "good to know",
]


@pytest.fixture
def talk(ctx):
    outcome = remember(ctx, [Note(text=text, session="talk") for text in TALK])
    return [one.memory for one in outcome.kept]


def texts(memories):
    return [memory.content for memory in memories]


def test_a_hit_brings_the_turns_on_either_side(ctx, talk):
    [hit] = recall(ctx, a_query("heron", limit=1), around=2).hits
    assert hit.memory.id == talk[2].id
    assert (texts(hit.before), texts(hit.after)) == (TALK[:2], TALK[3:5])
    [plain] = recall(ctx, a_query("heron", limit=1)).hits
    assert (plain.before, plain.after) == ((), ())


def test_no_turn_is_shown_twice(ctx, talk):
    hits = recall(ctx, a_query("heron Anna feeds noon", limit=3), around=2).hits
    shown = [memory.id for hit in hits for memory in (*hit.before, hit.memory, *hit.after)]
    assert len(hits) == 3 and len(shown) == len(set(shown)) == len(TALK)


def test_the_budget_holds_for_the_turns_too_and_the_nearest_come_first(ctx, talk):
    hit_size = estimated_tokens(talk[2].title + talk[2].content)
    budget = hit_size + estimated_tokens(TALK[1])
    [hit] = recall(ctx, a_query("heron", limit=1), around=2, budget_tokens=budget).hits
    assert texts(hit.before) == [TALK[1]] and hit.after == ()
    [alone] = recall(ctx, a_query("heron", limit=1), around=2, budget_tokens=hit_size).hits
    assert (alone.before, alone.after) == ((), ())


def test_what_was_deleted_is_stepped_over_and_another_session_is_none(ctx, talk):
    remember(ctx, [Note(text="another matter altogether", session="other")])
    forget(ctx, [talk[3].id])
    [hit] = recall(ctx, a_query("heron", limit=1), around=3).hits
    assert (texts(hit.before), texts(hit.after)) == (TALK[:2], TALK[4:])


def test_a_memory_without_a_session_stands_alone(ctx):
    kept(ctx, "the heron stands in the pond")
    kept(ctx, "rain falls on the roof")
    [hit] = recall(ctx, a_query("heron", limit=1), around=2).hits
    assert (hit.before, hit.after) == ((), ())


def test_tokens_are_estimated_by_script():
    assert estimated_tokens("") == 0
    assert estimated_tokens("four char") == 3
    assert estimated_tokens("東京都") == 4
    assert estimated_tokens("привет") == 3
