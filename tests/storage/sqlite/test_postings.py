"""Postings: how much is kept of the words that were asked for."""

from __future__ import annotations

from mnemic.storage.sqlite import postings
from mnemic.storage.sqlite.connection import connect
from mnemic.storage.sqlite.postings import Postings
from support import a_draft, put


def test_words_that_nobody_holds_are_not_kept_forever(store, monkeypatch):
    monkeypatch.setattr(postings, "MOST_KEPT", 1_000)
    put(store, a_draft("blue sky"))
    connection = connect(store.path, durable=False)
    kept = Postings()
    for number in range(200):
        memories, _ = kept.ranked(connection, [f"unheard{number}"], None)
        assert not len(memories)
    assert 0 < len(kept._kept) <= 1_000 / 25
    connection.close()


def test_a_damaged_index_answers_with_what_it_has(store):
    put(store, *(a_draft(f"heron {number}") for number in range(1_030)))
    connection = connect(store.path, durable=False)
    connection.execute("DELETE FROM words WHERE rowid > 1000")
    memories, _ = Postings().ranked(connection, ["heron"], [1])
    assert len(memories) == 1_000
    connection.close()
