"""Warm-up: when it begins, when it does not, and what it does with what cannot be read."""

from __future__ import annotations

import threading

import pytest

from mnemic.errors import StoreUnusable
from mnemic.index import warmup
from mnemic.index.warmup import THREAD, Warmup


@pytest.fixture
def begun(monkeypatch):
    """How often a piece of work that may begin at once has begun, and who does it."""
    monkeypatch.setattr(warmup, "FIRST_SECONDS", 0.0)
    begun = []

    def steps():
        begun.append(threading.current_thread().name)
        yield

    return begun, Warmup(steps)


def wait():
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join()


def test_it_begins_in_a_thread_of_its_own_and_again_after_a_pause(begun, monkeypatch):
    times, work = begun
    for _ in range(3):
        work.start()
        wait()
    assert times == [THREAD]
    monkeypatch.setattr(warmup.time, "monotonic", lambda: float("inf"))
    work.start()
    wait()
    assert times == [THREAD] * 2


def test_once_stopped_it_does_not_begin(begun):
    times, work = begun
    work.stop()
    work.start()
    wait()
    assert times == []


def test_a_process_that_ends_before_it_began_does_not_wait(begun, monkeypatch):
    times, work = begun
    monkeypatch.setattr(warmup, "FIRST_SECONDS", 60.0)
    work.start()
    work.stop()
    assert times == []


def test_what_cannot_be_read_ends_it(monkeypatch):
    monkeypatch.setattr(warmup, "FIRST_SECONDS", 0.0)
    raised = []
    monkeypatch.setattr(threading, "excepthook", raised.append)

    def steps():
        yield
        raise StoreUnusable("damaged")

    Warmup(steps).start()
    wait()
    assert raised == []
