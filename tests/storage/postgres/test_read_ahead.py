"""All words of a store that is asked often are read ahead, in short steps, and followed from then on."""

from __future__ import annotations

import random
import threading

import pytest
from support import a_draft, put, write

from mnemic.index import warmup
from mnemic.index.warmup import THREAD
from mnemic.model.enums import State
from mnemic.model.filter import Filter
from mnemic.model.memory import MemoryPatch
from mnemic.storage import queries
from mnemic.storage.postgres import index_source
from mnemic.storage.postgres.index_source import PostgresSource

WORDS = [f"bird{number}" for number in range(60)]
SCOPES = (Filter(), Filter(namespaces=("work",)), Filter(namespaces=("work", "home")))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The single words whose postings the server was asked for."""
    asked: list[str] = []
    postings = PostgresSource.postings

    def noted(self, phrases, **limit):
        asked.extend(phrase[0] for phrase in phrases if len(phrase) == 1)
        return postings(self, phrases, **limit)

    monkeypatch.setattr(PostgresSource, "postings", noted)
    monkeypatch.setattr(warmup, "FIRST_SECONDS", 0.0)
    monkeypatch.setattr(index_source, "AT_ONCE", 50)
    return asked


@pytest.fixture
def filled(store):
    """A store of 200 memories in three namespaces."""
    chance = random.Random(7)
    put(store, *(a_text(chance, space) for _ in range(70) for space in ("work", "home", "global")))
    return store


def a_text(chance, namespace):
    return a_draft(" ".join(chance.choices(WORDS, k=8)), namespace=namespace)


def answers(store):
    reader = store.read()
    return [queries.best_words(reader, (word,), wanted, limit=300) for word in WORDS for wanted in SCOPES]


def wait_until_read():
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join()


def test_words_are_read_before_they_are_asked_for(filled, fresh, read):
    for _ in range(5):
        queries.best_words(filled.read(), ("bird0",), Filter(), limit=5)
    wait_until_read()
    assert set(read) >= set(WORDS)
    read.clear()
    found = answers(filled)
    assert read == []
    assert found == answers(fresh())


def test_what_changes_afterwards_is_seen(filled, fresh, read):
    answers(filled)
    wait_until_read()
    put(filled, *(a_text(random.Random(9), "work") for _ in range(20)))
    write(
        filled, lambda tx: [tx.update(one, MemoryPatch(state=State.FORGOTTEN)) for one in tx.get([1, 2, 3])]
    )
    assert answers(filled) == answers(fresh())


def test_a_short_command_reads_nothing_ahead(filled, read):
    queries.best_words(filled.read(), ("bird0",), Filter(), limit=5)
    assert read == ["bird0"]
    assert not any(thread.name == THREAD for thread in threading.enumerate())


def test_a_store_is_closed_while_it_reads_ahead(filled, read, monkeypatch):
    monkeypatch.setattr(index_source, "AT_ONCE", 1)
    answers(filled)
    filled.close()
    assert not any(thread.name == THREAD for thread in threading.enumerate())
