"""Postings: how much is kept of the words that were asked for."""

from __future__ import annotations

import pytest

from mnemic.storage.sqlite import postings
from mnemic.storage.sqlite.connection import connect
from mnemic.storage.sqlite.postings import Postings
from support import a_draft, put


def test_words_that_nobody_holds_are_not_kept_forever(store, monkeypatch):
    monkeypatch.setattr(postings, "MOST_KEPT", 40 * postings.A_WORD)
    put(store, a_draft("blue sky"))
    connection = connect(store.path, durable=False)
    kept = Postings()
    for number in range(200):
        memories, _ = kept.ranked(connection, [(f"unheard{number}",)], None, every=False, can_read=True)
        assert not len(memories)
    assert 0 < len(kept._kept) <= 40
    connection.close()


def test_a_damaged_index_answers_with_what_it_has(store):
    put(store, *(a_draft(f"heron {number}") for number in range(1_030)))
    connection = connect(store.path, durable=False)
    connection.execute("DELETE FROM words WHERE rowid > 1000")
    memories, _ = Postings().ranked(connection, [("heron",)], (1,), every=False, can_read=True)
    assert len(memories) == 1_000
    connection.close()


def test_what_was_read_ahead_before_much_changed_is_not_kept(store, monkeypatch):
    monkeypatch.setattr(postings, "FEW", 1)
    put(store, a_draft("heron"), a_draft("iris"))
    connection = connect(store.path, durable=False)
    kept = Postings()
    parsed = postings._parsed

    def while_others_write(numbers):
        monkeypatch.setattr(postings, "_parsed", parsed)
        put(store, a_draft("heron, again"), a_draft("heron, once more"))
        kept.ranked(connection, [("iris",)], None, every=False, can_read=True)
        return parsed(numbers)

    monkeypatch.setattr(postings, "_parsed", while_others_write)
    list(kept.read_ahead(connection))
    memories, _ = kept.ranked(connection, [("heron",)], None, every=False, can_read=True)
    assert memories.tolist() == [1, 3, 4]
    connection.close()


@pytest.mark.parametrize("room", [100, 100_000], ids=["for their places", "for so many different words"])
def test_where_there_is_no_room_for_all_no_word_is_read_ahead(store, monkeypatch, room):
    put(store, *(a_draft(" ".join(f"word{number}x{other}" for other in range(20))) for number in range(50)))
    connection = connect(store.path, durable=False)
    kept = Postings()
    monkeypatch.setattr(postings, "MOST_KEPT", room)
    assert kept.wants_words
    assert list(kept.read_ahead(connection)) == [] and not kept._kept
    assert not kept.wants_words, "it would be tried again and again"
    memories, _ = kept.ranked(connection, [("word7x7",)], None, every=False, can_read=True)
    assert memories.tolist() == [8]
    connection.close()
