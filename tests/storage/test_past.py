"""The store as it stood: what `at` shows is what was read then."""

from __future__ import annotations

import threading
import uuid
from dataclasses import replace

import pytest

from mnemic.errors import Denied
from mnemic.model.graph import Direction
from mnemic.model.search import Filter
from mnemic.model.values import DAY, HOUR, State
from support import START, WordEmbedder, a_draft, change, embed_all, embedding, put


def whole(store):
    """Every memory and link, without the counters, which are not part of the journal."""
    reader = store.read()
    memories = [
        replace(memory, access_count=0, accessed_at=None, days_used=0) for memory in reader.all_memories()
    ]
    return memories, list(reader.all_edges()), reader.count(), reader.select(Filter(), limit=100)


def found(store, word, **wanted):
    return [number for number, _ in store.read().words([word], Filter(**wanted), every=True, limit=50)]


@pytest.fixture
def eventful(store):
    """A store with a story, and what it looked like after each change."""
    seen = {0: whole(store)}

    def step(**_):
        seen[store.sequence()] = whole(store)

    apple, pear = put(store, a_draft("red apple", tags=("fruit",)), a_draft("green pear"))
    step()
    apple = change(store, apple, texts=("red apple", "sweet"), at=START + 1)
    step()
    apple = change(store, apple, texts=("sour",), title="Apple", tags=("fruit", "tree"), at=START + 2)
    step()
    with store.write(operation="link", actor="x", at=START + 3) as tx:
        edge = tx.add_edge(apple.id, pear.id, "beside")
    step()
    pear = change(store, pear, state=State.FORGOTTEN, state_reason="eaten", at=START + 4)
    step()
    put(store, a_draft("blue plum", title="green pear"), at=START + 5)
    step()
    apple = change(store, apple, namespace="garden", metadata={"k": [1]}, at=START + 6)
    step()
    with store.write(operation="link", actor="x", at=START + 7) as tx:
        tx.change_edge(edge, valid_to=START + 7)
    step()
    apple = change(store, apple, texts=("red apple", "sweet"), at=START + 8)
    step()
    with store.write(operation="use", actor="x", at=START + 9) as tx:
        tx.touch([apple.id], START)
    return seen


def test_every_moment_can_be_read_exactly_as_it_was(store, eventful):
    assert len(eventful) == 10
    for sequence, then in eventful.items():
        past = store.at(sequence)
        assert whole(past) == then
        assert past.sequence() == sequence
        assert past.check() == []
        with past.snapshot() as reader:
            assert reader.count() == then[2]


def test_the_past_is_searched_by_the_words_and_names_it_had(store, eventful):
    past = store.at(2)
    assert found(past, "red") == [1] and found(store.at(4), "red") == [] and found(store, "red") == [1]
    assert found(store.at(4), "sour") == [1] and found(past, "sour") == []
    assert found(past, "red", namespaces=("garden",)) == [] and found(
        past, "red", namespaces=("global",)
    ) == [1]
    assert found(past, "red", tags=("tree",)) == [] and found(store.at(4), "sour", tags=("tree",)) == [1]
    assert past.read().ids_titled("green pear", None) == [2] and store.read().ids_titled(
        "green pear", None
    ) == [3]
    assert past.read().same_text("red apple", None) == 1
    assert past.read().frequencies(["red", "plum"], None) == {"red": 1, "plum": 0}
    assert past.read().counts(None, START).by_state == {"living": 2}


def test_the_links_of_the_past_are_as_they_stood(store, eventful):
    assert store.at(2).read().edges([1], Direction.BOTH) == []
    [edge] = store.at(5).read().edges([1], Direction.BOTH)
    assert edge.valid_to is None and store.read().edge(edge.id).valid_to == START + 7


def test_vectors_take_part_in_the_past(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    [memory] = put(store, a_draft("red apple"))
    embed_all(store, embedder)
    changed = change(store, memory, texts=("grey stone",), at=START + 1)
    embed_all(store, embedder)
    [other] = put(store, a_draft("red apples"), at=START + 2)
    embed_all(store, embedder)
    vector = embedding(embedder, "red apple")
    [then] = store.at(1).read().nearest(vector, Filter(), limit=5)
    assert then.memory_id == memory.id and then.similarity == pytest.approx(1, abs=0.01)
    assert then.statement_id == memory.statements[0].id
    now = store.read().nearest(vector, Filter(), limit=5)
    assert now[0].memory_id == other.id and now[1].statement_id == changed.statements[0].id


def test_vectors_that_come_later_take_part_in_a_past_that_was_looked_at_before(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    put(store, a_draft("red apple"))
    embed_all(store, embedder)
    [late] = put(store, a_draft("green pear"))

    def nearest():
        near = store.at(late.id).read().nearest(embedding(embedder, "green pear"), Filter(), limit=1)
        return [one.memory_id for one in near]

    assert nearest() == [1]
    embed_all(store, embedder)
    assert nearest() == [late.id]
    assert store.at(late.id) is store.at(late.id)


def test_a_statement_stands_from_the_change_that_made_it_until_the_one_that_ended_it(store):
    with store.write(operation="x", actor="x", at=START) as tx:
        memory = tx.add(a_draft("x", texts=("one",)), uid=str(uuid.uuid4()))
        memory = tx.change(memory, texts=("two",))
        memory = tx.change(memory, texts=("two", "three"))
    bodies = [store.at(sequence).read().memory(memory.id) for sequence in (1, 2, 3)]
    assert [body.content for body in bodies] == ["one", "two", "two\nthree"]


def test_the_past_cannot_be_changed(store, tmp_path):
    put(store, a_draft("one"))
    past = store.at(1)
    with pytest.raises(Denied, match="past"):
        past.write(operation="x", actor="x", at=START)
    with pytest.raises(Denied, match="past"):
        past.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_many_threads_look_back_at_once(store, eventful):
    past = store.at(5)
    then = whole(past)
    failures = []

    def look():
        try:
            for _ in range(50):
                assert whole(past) == then
                found(past, "apple")
                past.read().words(["apple", "sour"], Filter(), every=False, limit=5)
                past.sequence_at(START + 2)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []


def test_what_is_looked_at_is_not_moved_by_later_changes(store):
    [memory] = put(store, a_draft("one"))
    past = store.at(1)
    change(store, memory, title="Changed", at=START + 1)
    assert past.read().memory(memory.id) == memory == store.at(1).read().memory(memory.id)


def test_the_purged_are_gone_from_the_past_too(fresh):
    store, other = fresh(), fresh()
    gone, stays = put(store, a_draft("gone words"), a_draft("stays"))
    with store.write(operation="link", actor="x", at=START) as tx:
        tx.add_edge(gone.id, stays.id, "beside")
    change(store, gone, texts=("other words",), at=START + 1)
    assert [len(handle.at(2).read().memories([1, 2])) for handle in (store, other)] == [2, 2]
    with store.write(operation="purge", actor="x", at=START + 2) as tx:
        tx.purge([gone.id])
    for handle in (store, other):
        for sequence in range(2, store.sequence() + 1):
            past = handle.at(sequence)
            assert [memory.id for memory in past.read().all_memories()] == [stays.id]
            assert list(past.read().all_edges()) == [] and found(past, "words") == []


def test_what_is_alive_is_a_matter_of_the_moment_asked_for(store):
    [memory] = put(store, a_draft("brief", expires_at=START + HOUR))
    change(store, memory, state=State.ARCHIVED, at=START + DAY)
    past = store.at(1)
    assert past.read().select(Filter(alive_at=START), limit=5) == [memory.id]
    assert past.read().select(Filter(alive_at=START + HOUR), limit=5) == []
    assert (
        found(past, "brief", alive_at=START) == [memory.id]
        and found(past, "brief", alive_at=START + HOUR) == []
    )
