"""Calls: each has a result, in a thread or at once, and an unexpected failure reveals nothing."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

import orjson
from support import WordEmbedder, kept
from toy_dialect import SECRET, TOY

from mnemic.app import dialect
from mnemic.core.memories import find
from mnemic.core.retention import settle
from mnemic.core.usage import Uses
from mnemic.dialects.execution import answer, perform
from mnemic.dialects.framework import Tool
from mnemic.model.enums import Tier
from mnemic.transports.http import rest
from mnemic.transports.http.rest import is_quick, serve
from mnemic.transports.workers import Caller, Workers

CALLER = Caller("tester", Workers())


def test_an_answer_is_what_the_dialect_tells(ctx):
    outcome = answer(TOY, ctx, "greet", {"name": "you"})
    assert outcome.error is None
    assert outcome.rendered.structured == {"greeting": "Hello you"}


def test_an_error_of_ours_is_reported_in_the_dialects_words(ctx):
    outcome = answer(TOY, ctx, "fail", {"error": "Conflict"})
    assert outcome.error and outcome.error.code == "conflict"
    assert outcome.rendered.is_error and outcome.rendered.text == "as you wished"


def test_any_other_is_logged_and_reported_as_internal(ctx, caplog):
    with caplog.at_level(logging.ERROR):
        outcome = answer(TOY, ctx, "crash", {})
    assert outcome.error and outcome.error.code == "internal"
    assert outcome.rendered.text == "internal error"
    assert SECRET in caplog.text


def test_the_crossing_answers_the_same(ctx):
    greeted = asyncio.run(CALLER.run(answer, TOY, ctx, "greet", {"name": "you"}))
    assert greeted == answer(TOY, ctx, "greet", {"name": "you"})


def test_what_does_not_let_its_uses_wait_sees_every_use(ctx):
    waiting = replace(ctx, uses=Uses())
    memory = kept(ctx, "walnut cake")
    native = dialect("mnemic")
    for _ in range(3):
        answer(native, waiting, "recall", {"query": "walnut"})
    assert find(ctx, memory.id).access_count == 0
    [opened] = answer(native, waiting, "open", {"ids": [memory.id]}).rendered.structured["memories"]
    assert opened["access_count"] == 3 and find(ctx, memory.id).access_count == 4


def test_stats_after_a_recall_writes_nothing(ctx):
    waiting = replace(ctx, uses=Uses())
    memory = kept(ctx, "walnut cake")
    answer(dialect("mnemic"), waiting, "recall", {"query": "walnut"})
    assert waiting.uses.are_waiting.is_set()
    assert answer(dialect("mnemic"), waiting, "stats", {}).rendered.structured["total"] == 1
    assert waiting.uses.are_waiting.is_set() and find(ctx, memory.id).access_count == 0


def test_uses_that_wait_show_in_the_next_answer(ctx):
    waiting = replace(ctx, embedder=None, uses=Uses())
    kept(ctx, "walnut cake", tier=Tier.MID)
    spoken, recall = recalling()
    shown = [
        orjson.loads(perform(Tool(spoken, recall), waiting, {"context": "walnut"}))["memories"][0]
        for _ in range(6)
    ]
    assert [one["access_count"] for one in shown] == [0, 1, 2, 3, 4, 5]
    assert [one["tier"] for one in shown] == ["mid"] * 5 + ["long"]
    settle(waiting)
    [written] = ctx.store.read().get([1])
    assert (written.access_count, written.tier, written.expires_at) == (6, Tier.LONG, None)


def recalling():
    """ai-memory, and its endpoint that recalls."""
    spoken = dialect("ai-memory")
    return spoken, next(one for one in spoken.endpoints.values() if "POST /recall" in one.http)


def test_a_few_words_asked_of_a_store_that_is_not_large_are_answered_at_once(ctx, monkeypatch):
    ctx = replace(ctx, embedder=None, uses=Uses())
    spoken, recall = recalling()
    asked = {"context": "walnut cake"}
    assert is_quick(recall, ctx, asked)
    assert not is_quick(recall, ctx, {"context": "walnut " * 1_000})
    assert not is_quick(recall, replace(ctx, embedder=WordEmbedder()), asked)
    assert not is_quick(recall, replace(ctx, uses=None), asked), "it would wait for the disk"
    assert not is_quick(spoken.endpoints["search_memories"], ctx, asked), "it may have uses to write down"
    kept(ctx, "walnut cake")
    monkeypatch.setattr(rest, "QUICK_MEMORIES", 0)
    assert not is_quick(recall, ctx, asked)


def test_an_endpoint_answers_the_same_at_once_and_from_a_thread(ctx, monkeypatch):
    ctx = replace(ctx, embedder=None, uses=Uses())
    spoken, recall = recalling()
    kept(ctx, "walnut cake")
    asked = {"context": "walnut"}
    at_once = asyncio.run(serve(CALLER, Tool(spoken, recall), ctx, asked))
    monkeypatch.setattr(rest, "QUICK_CHARACTERS", 0)
    ctx = replace(ctx, uses=Uses())
    assert at_once == asyncio.run(serve(CALLER, Tool(spoken, recall), ctx, asked))
    assert at_once == perform(Tool(spoken, recall), replace(ctx, uses=Uses()), asked)
    assert b"walnut cake" in at_once
