"""Postings: how much is kept of the words that were asked for, and that no more is read ahead."""

from __future__ import annotations

from contextlib import closing

import pytest
from support import a_draft, put

from mnemic.index import postings
from mnemic.index.index import Index
from mnemic.storage.sqlite.connection import connect
from mnemic.storage.sqlite.index_source import SqliteSource


@pytest.fixture
def source(store):
    """The rows of the store, through a connection of their own."""
    with closing(connect(store.path, durable=False)) as connection:
        yield SqliteSource(connection)


def holding(index, source, word, scope=None):
    """The numbers of the memories that hold *word*."""
    with index.moment(source) as at:
        found = at.words.ranked(source, [(word,)], scope, every=False, can_read=True)
        return at.words.slots.numbers[found.slots].tolist()


def kept(index):
    return index._kept_postings()._kept


def test_words_that_nobody_holds_are_not_kept_forever(store, source, monkeypatch):
    monkeypatch.setattr(postings, "MOST_KEPT", 40 * postings.A_WORD)
    put(store, a_draft("blue sky"))
    index = Index()
    for number in range(200):
        assert holding(index, source, f"unheard{number}") == []
    assert 0 < len(kept(index)) <= 40


def test_a_damaged_index_answers_with_what_it_has(store, source):
    put(store, *(a_draft(f"heron {number}") for number in range(1_030)))
    source._connection.execute("DELETE FROM words WHERE rowid > 1000")
    assert len(holding(Index(), source, "heron", scope=(1,))) == 1_000


def test_reading_ahead_ends_when_what_was_read_is_dropped(store, source, monkeypatch):
    monkeypatch.setattr(postings, "FEW", 1)
    put(store, a_draft("heron"), a_draft("iris"))
    index = Index()
    steps = index.read_ahead(source)
    next(steps)
    put(store, a_draft("heron, again"), a_draft("heron, once more"))
    assert list(steps) == [] and index.wants_postings
    assert holding(index, source, "heron") == [1, 3, 4]


@pytest.mark.parametrize("room", [100, 100_000], ids=["for their tokens", "for so many different words"])
def test_where_there_is_no_room_for_all_no_word_is_read_ahead(store, source, monkeypatch, room):
    put(store, *(a_draft(" ".join(f"word{number}x{other}" for other in range(20))) for number in range(50)))
    index = Index()
    monkeypatch.setattr(postings, "MOST_KEPT", room)
    holding(index, source, "nothing")
    assert index.wants_postings
    assert len(list(index.read_ahead(source))) == 1, "the columns alone"
    assert not index.wants_postings, "it would be tried again and again"
    assert holding(index, source, "word7x7") == [8]
