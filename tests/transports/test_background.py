"""The worker in the background: it embeds what waits, ends what has expired, and does not die of errors."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from support import AbsentEmbedder, WordEmbedder, kept, write

from mnemic.core.memories import find
from mnemic.core.retention import touch
from mnemic.core.usage import Uses
from mnemic.llm_client.ollama import Ollama
from mnemic.model.access import EVERYTHING
from mnemic.model.enums import Features, State
from mnemic.model.limits import MAX_STATEMENT_BYTES
from mnemic.model.memory import MemoryPatch
from mnemic.model.retention import Lives
from mnemic.model.time import MINUTE
from mnemic.storage.queries import memory_numbered
from mnemic.transports import background
from mnemic.transports.background import Settler, Worker


@pytest.fixture
def worker(ctx):
    """A worker over `ctx` that has not begun."""
    made = Worker(ctx)
    yield made
    made.stop()


def until(condition: Callable[[], bool]) -> None:
    """Wait for *condition*, which the worker is about to make true."""
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never happened")


def test_what_is_written_gets_its_vector(ctx, worker):
    ctx = replace(ctx, wake=worker.wake)
    worker.start()
    for number in range(background.BATCH * 2 + 1):
        kept(ctx, f"Fact number {number}")
    worker.wake()
    until(lambda: ctx.store.read().backlog() == 0)


def test_a_long_text_does_not_block_others(ctx):
    read: list[int] = []

    class Recording(WordEmbedder):
        def embed(self, texts):
            read.append(sum(map(len, texts)))
            return super().embed(texts)

    worker = Worker(replace(ctx, embedder=Recording()))
    kept(ctx, "A short one before it")
    kept(ctx, "long " * (MAX_STATEMENT_BYTES // 5))
    kept(ctx, "A short one behind it")
    worker.start()
    worker.wake()
    until(lambda: ctx.store.read().backlog() == 0)
    worker.stop()
    assert len(read) > 1 and read[0] < 100


def test_what_was_left_waiting_is_found_without_being_woken(ctx, worker, monkeypatch):
    monkeypatch.setattr(background, "FIRST_LOOK_SECONDS", 0.01)
    kept(ctx, "Left over from another process")
    worker.start()
    until(lambda: ctx.store.read().backlog() == 0)


def test_what_has_expired_leaves(ctx, clock, worker, monkeypatch):
    monkeypatch.setattr(background, "FIRST_LOOK_SECONDS", 0.01)
    memory = kept(ctx, "For an hour", ttl=3_600_000_000)
    clock.advance(hours=2)
    worker.start()
    until(lambda: memory_numbered(ctx.store.read(), memory.id).state is State.ARCHIVED)


def test_what_was_long_in_the_archive_is_deleted(ctx, clock, monkeypatch):
    monkeypatch.setattr(background, "FIRST_LOOK_SECONDS", 0.01)
    old, fresh = (kept(ctx, text, ttl=3_600_000_000) for text in ("For an hour", "For another hour"))
    write(
        ctx.store,
        lambda tx: tx.update(old, MemoryPatch(state=State.ARCHIVED, state_reason="forget", state_at=clock())),
        operation="archive",
        actor="tester",
        at=ctx.now(),
    )
    clock.advance(days=31)
    worker = Worker(replace(ctx, lives=Lives(archive_days=30)))
    worker.start()
    until(lambda: memory_numbered(ctx.store.read(), old.id) is None)
    worker.stop()
    assert memory_numbered(ctx.store.read(), fresh.id).state is State.ARCHIVED


def test_an_error_is_reported_once_and_tried_again_later_and_later(ctx, monkeypatch, caplog):
    pauses: list[float] = []
    worker = Worker(replace(ctx, embedder=AbsentEmbedder()))
    kept(ctx, "Waits for a server that is down")

    def pause(seconds: float) -> bool:
        pauses.append(seconds)
        worker.wake()
        if len(pauses) == 10:
            threading.Event.set(worker._stopped)
        return False

    monkeypatch.setattr(worker._stopped, "wait", pause)
    with caplog.at_level(logging.WARNING):
        worker.start()
        worker.wake()
        until(lambda: len(pauses) == 10)
        worker.stop()
    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    assert [record.message for record in caplog.records] == [
        "embedding failed: The embedding server does not answer"
    ]


def test_stopping_does_not_wait_for_the_next_look(worker):
    worker.start()
    worker.stop(30)
    assert not worker._thread.is_alive()


def test_a_worker_that_never_began_can_be_stopped(worker):
    worker.stop()


@pytest.mark.parametrize("features, told", [(Features.SMART, 1), (Features.SEMANTIC, 0)])
def test_what_is_missing_of_the_tier_is_reported_once_even_if_the_end_comes_early(
    ctx, caplog, features, told
):
    worker = Worker(replace(ctx, features=features, language=Ollama("127.0.0.1:9", "gemma4:e2b")))
    with caplog.at_level(logging.WARNING):
        worker.start()
        worker.stop(30)
    assert [("gemma4:e2b cannot be reached" in record.message) for record in caplog.records] == [True] * told


def test_uses_are_written_down_a_moment_later_and_at_the_end(ctx):
    waiting = replace(ctx, uses=Uses())
    memory = kept(ctx, "walnut cake")
    settler = Settler(waiting)
    settler.start()
    touch(waiting, [memory])
    until(lambda: find(ctx, memory.id).access_count == 1)
    touch(waiting, [memory])
    settler.stop()
    assert find(ctx, memory.id).access_count == 2


def test_uses_that_cannot_be_written_down_end_nothing(ctx, caplog):
    waiting = replace(ctx, uses=Uses())
    memory = kept(ctx, "walnut cake")
    settler = Settler(waiting)
    settler.start()
    waiting.store.close()
    touch(waiting, [memory])
    settler.stop()
    assert "uses were not counted" in caplog.text


def test_embedding_makes_way_for_calls(ctx):
    kept(ctx, "A fact")
    worker = Worker(ctx)
    with ctx.activity.call():
        worker.start()
        worker.wake()
        time.sleep(background.LONGEST_WAIT_SECONDS / 5)
        assert ctx.store.read().backlog() == 1
    until(lambda: ctx.store.read().backlog() == 0)
    worker.stop()


def test_what_another_process_claimed_is_looked_for_again_when_its_claim_is_over(ctx, worker, monkeypatch):
    monkeypatch.setattr(background, "CLAIM_LIFETIME", 20_000)
    kept(ctx, "A fact")
    now, later = ctx.now(), []
    ctx.store.change(
        EVERYTHING,
        "embed",
        "other",
        now,
        lambda tx: tx.claim([item.statement_id for item in tx.pending(limit=9)], "other", now),
    )
    worker._ctx = replace(ctx, now=lambda: now + (MINUTE if later else 0))
    worker.start()
    worker.wake()
    time.sleep(0.1)
    assert ctx.store.read().backlog() == 1
    later.append(True)
    until(lambda: ctx.store.read().backlog() == 0)
