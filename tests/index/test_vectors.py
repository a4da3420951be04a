"""What is taken into the matrix comes from one moment, whoever writes meanwhile."""

from __future__ import annotations

import pytest
from support import START, WordEmbedder, a_draft, change, embed_all, embedding, open_store, put, write

from mnemic.index.vectors import Matrix
from mnemic.model.filter import Filter
from mnemic.storage import queries
from mnemic.storage.base import Passage

EMBEDDER = WordEmbedder()


@pytest.fixture
def pair(tmp_path):
    """One store opened twice, as by two processes."""
    stores = open_store("sqlite", tmp_path), open_store("sqlite", tmp_path)
    for store in stores:
        store.use_models(EMBEDDER.name)
    yield stores
    for store in stores:
        store.close()


def test_vectors_replaced_while_they_are_read_are_not_missed(pair, monkeypatch):
    writer, reader = pair
    [apple] = put(writer, a_draft("red apple"))
    embed_all(writer, EMBEDDER)
    take_all = Matrix._take_all

    def overtaken(self, rows):
        monkeypatch.undo()
        change(writer, apple, title="A fruit", at=START + 1)
        embed_all(writer, EMBEDDER)
        take_all(self, rows)

    monkeypatch.setattr(Matrix, "_take_all", overtaken)
    found = queries.nearest(reader.read(), embedding(EMBEDDER, "red apple"), Filter(), limit=5)
    assert [near.memory_id for near in found] == [apple.id]


def test_the_second_to_embed_leaves_the_vectors_as_they_are(pair):
    store, _ = pair
    put(store, a_draft("red apple"))
    [waiting] = store.read().pending(limit=5)
    passage = Passage(waiting.statement_id, 0, len(waiting.text), EMBEDDER.embed([waiting.text])[0])

    def put_again():
        return write(
            store, lambda tx: tx.put_vectors(EMBEDDER.name, EMBEDDER.dimension, [passage]), operation="embed"
        )

    def numbers():
        return list(store._writer.execute("SELECT id FROM passage"))

    assert put_again() == 1
    first = numbers()
    assert put_again() == 1 and numbers() == first
