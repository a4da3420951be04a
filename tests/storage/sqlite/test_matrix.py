"""What is taken into the matrix comes from one moment, whoever writes meanwhile."""

from __future__ import annotations

import pytest

from mnemic.model.search import Filter
from mnemic.storage.base import Passage
from mnemic.storage.sqlite.store import SqliteStore
from mnemic.storage.sqlite.vectors import Matrix
from support import START, WordEmbedder, a_draft, change, embed_all, embedding, put

EMBEDDER = WordEmbedder()


@pytest.fixture
def pair(tmp_path):
    """One store opened twice, as by two processes."""
    stores = SqliteStore(tmp_path / "m.db"), SqliteStore(tmp_path / "m.db")
    for store in stores:
        store.use_models(EMBEDDER.name)
    yield stores
    for store in stores:
        store.close()


def test_vectors_replaced_while_they_are_read_are_not_missed(pair, monkeypatch):
    writer, reader = pair
    [apple] = put(writer, a_draft("red apple"))
    embed_all(writer, EMBEDDER)
    take_in = Matrix._take_in

    def overtaken(self, connection, span):
        monkeypatch.undo()
        change(writer, apple, title="A fruit", at=START + 1)
        embed_all(writer, EMBEDDER)
        take_in(self, connection, span)

    monkeypatch.setattr(Matrix, "_take_in", overtaken)
    found = reader.read().nearest(embedding(EMBEDDER, "red apple"), Filter(), limit=5)
    assert [near.memory_id for near in found] == [apple.id]


def test_whoever_is_second_to_embed_leaves_the_vectors_as_they_are(pair):
    store, _ = pair
    put(store, a_draft("red apple"))
    [waiting] = store.read().pending(limit=5)
    passage = Passage(waiting.statement_id, 0, len(waiting.text), EMBEDDER.embed([waiting.text])[0])

    def put_again():
        with store.write(operation="embed", actor="x", at=START) as tx:
            return tx.put_passages(EMBEDDER.name, EMBEDDER.dimension, [passage])

    def numbers():
        return list(store._writer.execute("SELECT id FROM passage"))

    assert put_again() == 1
    first = numbers()
    assert put_again() == 1 and numbers() == first
