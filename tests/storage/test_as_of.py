"""The store as it stood: what `at` shows is what was read then."""

from __future__ import annotations

import threading
import uuid
from dataclasses import replace

import pytest
from support import (
    START,
    WordEmbedder,
    a_draft,
    change,
    embed_all,
    embedding,
    faults,
    last_number,
    position_of,
    put,
    store_after,
    write,
)

from mnemic.core.stats import COUNTED
from mnemic.errors import Denied
from mnemic.model.enums import State
from mnemic.model.filter import ANY_EDGE, EdgeFilter, Filter
from mnemic.model.graph import EdgeDraft, EdgePatch
from mnemic.model.memory import MemoryPatch
from mnemic.model.time import DAY, HOUR
from mnemic.storage import queries
from mnemic.storage.queries import count, each_memory, edge_numbered, ids_titled, memory_numbered


def whole(store):
    """Every memory and link, without the counters, which are not part of the journal."""
    reader = store.read()
    memories = [
        replace(memory, access_count=0, accessed_at=None, days_used=0) for memory in each_memory(reader)
    ]
    return memories, list(reader.edges(ANY_EDGE)), count(reader), reader.select(Filter(), limit=100)


def found(store, word, **wanted):
    return [
        number
        for number, _ in queries.best_words(store.read(), [word], Filter(**wanted), every=True, limit=50)
    ]


@pytest.fixture
def eventful(store):
    """A store with a story, and what it looked like after each change."""
    seen = {0: whole(store)}

    def step(**_):
        seen[last_number(store)] = whole(store)

    apple, pear = put(store, a_draft("red apple", tags=("fruit",)), a_draft("green pear"))
    step()
    apple = change(store, apple, texts=("red apple", "sweet"), at=START + 1)
    step()
    apple = change(store, apple, texts=("sour",), title="Apple", tags=("fruit", "tree"), at=START + 2)
    step()
    edge = write(
        store,
        lambda tx: tx.insert_edge(EdgeDraft(apple.id, pear.id, "beside")),
        operation="link",
        at=START + 3,
    )
    step()
    pear = change(store, pear, state=State.FORGOTTEN, state_reason="eaten", at=START + 4)
    step()
    put(store, a_draft("blue plum", name="green pear"), at=START + 5)
    step()
    apple = change(store, apple, namespace="garden", metadata={"k": [1]}, at=START + 6)
    step()
    write(
        store, lambda tx: tx.update_edge(edge, EdgePatch(valid_to=START + 7)), operation="link", at=START + 7
    )
    step()
    apple = change(store, apple, texts=("red apple", "sweet"), at=START + 8)
    step()
    write(store, lambda tx: tx.count_use([apple.id], START), operation="use", at=START + 9)
    return seen


def test_every_moment_can_be_read_exactly_as_it_was(store, eventful):
    assert len(eventful) == 10
    for sequence, then in eventful.items():
        past = store_after(store, sequence)
        assert whole(past) == then
        assert last_number(past) == sequence
        assert faults(past) == []
        with past.snapshot() as reader:
            assert count(reader) == then[2]


def test_the_past_is_searched_by_the_words_and_names_it_had(store, eventful):
    past = store_after(store, 2)
    assert (
        found(past, "red") == [1] and found(store_after(store, 4), "red") == [] and found(store, "red") == [1]
    )
    assert found(store_after(store, 4), "sour") == [1] and found(past, "sour") == []
    assert found(past, "red", namespaces=("garden",)) == [] and found(
        past, "red", namespaces=("global",)
    ) == [1]
    assert found(past, "red", tags=("tree",)) == [] and found(
        store_after(store, 4), "sour", tags=("tree",)
    ) == [1]
    assert ids_titled(past.read(), "green pear", None) == [2] and ids_titled(
        store.read(), "green pear", None
    ) == [3]
    assert past.read().same_texts(["red apple"], None) == {"red apple": 1}
    assert queries.holders(past.read(), ["red", "plum"], None) == {"red": 1, "plum": 0}
    assert past.read().tally(Filter(states=COUNTED), "state") == {"living": 2}


def test_the_links_of_the_past_are_as_they_stood(store, eventful):
    assert store_after(store, 2).read().edges(EdgeFilter(at=(1,))) == []
    [edge] = store_after(store, 5).read().edges(EdgeFilter(at=(1,)))
    assert edge.valid_to is None and edge_numbered(store.read(), edge.id).valid_to == START + 7


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
    [then] = queries.nearest(store_after(store, 1).read(), vector, Filter(), limit=5)
    assert then.memory_id == memory.id and then.cosine == pytest.approx(1, abs=0.01)
    assert then.statement_id == memory.statements[0].id
    now = queries.nearest(store.read(), vector, Filter(), limit=5)
    assert now[0].memory_id == other.id and now[1].statement_id == changed.statements[0].id


def test_vectors_that_come_later_take_part_in_a_past_that_was_looked_at_before(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    put(store, a_draft("red apple"))
    embed_all(store, embedder)
    [late] = put(store, a_draft("green pear"))

    def nearest():
        near = queries.nearest(
            store_after(store, late.id).read(), embedding(embedder, "green pear"), Filter(), limit=1
        )
        return [one.memory_id for one in near]

    assert nearest() == [1]
    embed_all(store, embedder)
    assert nearest() == [late.id]
    assert store_after(store, late.id) is store_after(store, late.id)


def test_a_statement_stands_from_the_change_that_made_it_until_the_one_that_ended_it(store):
    def work(tx):
        memory = tx.insert(a_draft("x", texts=("one",)), uid=str(uuid.uuid4()))
        memory = tx.update(memory, MemoryPatch(texts=("two",)))
        return tx.update(memory, MemoryPatch(texts=("two", "three")))

    memory = write(store, work)
    bodies = [memory_numbered(store_after(store, sequence).read(), memory.id) for sequence in (1, 2, 3)]
    assert [body.content for body in bodies] == ["one", "two", "two\nthree"]


def test_the_past_cannot_be_changed(store, tmp_path):
    put(store, a_draft("one"))
    past = store_after(store, 1)
    with pytest.raises(Denied, match="past"):
        write(past, lambda tx: tx)
    with pytest.raises(Denied, match="past"):
        past.backup(tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()


def test_many_threads_look_back_at_once(store, eventful):
    past = store_after(store, 5)
    then = whole(past)
    failures = []

    def look():
        try:
            for _ in range(50):
                assert whole(past) == then
                found(past, "apple")
                queries.best_words(past.read(), ["apple", "sour"], Filter(), every=False, limit=5)
                assert past.newest() == position_of(store, 5)
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
    past = store_after(store, 1)
    change(store, memory, title="Changed", at=START + 1)
    assert (
        memory_numbered(past.read(), memory.id)
        == memory
        == memory_numbered(store_after(store, 1).read(), memory.id)
    )


def test_the_purged_are_gone_from_the_past_too(fresh):
    store, other = fresh(), fresh()
    gone, stays = put(store, a_draft("gone words"), a_draft("stays"))
    write(store, lambda tx: tx.insert_edge(EdgeDraft(gone.id, stays.id, "beside")), operation="link")
    change(store, gone, texts=("other words",), at=START + 1)
    assert [len(store_after(handle, 2).read().get([1, 2])) for handle in (store, other)] == [2, 2]
    write(store, lambda tx: tx.purge([gone.id]), operation="purge", at=START + 2)
    for handle in (store, other):
        for sequence in range(2, last_number(store) + 1):
            past = store_after(handle, sequence)
            assert [memory.id for memory in each_memory(past.read())] == [stays.id]
            assert list(past.read().edges(ANY_EDGE)) == [] and found(past, "words") == []


def test_what_is_alive_is_a_matter_of_the_moment_asked_for(store):
    [memory] = put(store, a_draft("brief", expires_at=START + HOUR))
    change(store, memory, state=State.ARCHIVED, at=START + DAY)
    past = store_after(store, 1)
    assert past.read().select(Filter(alive_at=START), limit=5) == [memory.id]
    assert past.read().select(Filter(alive_at=START + HOUR), limit=5) == []
    assert (
        found(past, "brief", alive_at=START) == [memory.id]
        and found(past, "brief", alive_at=START + HOUR) == []
    )


@pytest.mark.only_on("sqlite")
def test_a_purge_erases_every_version_from_the_file(fresh):
    store = fresh()
    gone, stays = put(store, a_draft("ancientword", name="firstname"), a_draft("stays"))

    def work(tx):
        edge = tx.insert_edge(EdgeDraft(gone.id, stays.id, "beside", reason="oldbecause"))
        tx.update_edge(edge, EdgePatch(reason="newbecause"))

    write(store, work, operation="link")
    gone = change(store, gone, texts=("middleword",), title="secondname", summary="shortword", at=START + 1)
    gone = change(store, gone, texts=("lastword",), summary=None, at=START + 2)
    assert found(store_after(store, 2), "ancientword") == [gone.id] and found(
        store_after(store, 5), "shortword"
    ) == [gone.id]
    write(store, lambda tx: tx.purge([gone.id]), operation="purge", at=START + 3)
    store.close()
    everything = b"".join(file.read_bytes() for file in store.path.parent.iterdir() if file.is_file())
    words = ("ancientword", "middleword", "lastword", "firstname", "secondname", "shortword", "because")
    assert [word for word in words if word.encode() in everything] == []
    assert b"stays" in everything


def test_a_memory_that_changed_often_is_found_by_its_words_of_each_moment(store):
    [memory] = put(store, a_draft("word0", name="Memory"))
    for number in range(1, 30):
        memory = change(store, memory, texts=(f"word{number}",), priority=1 + number % 10, at=START + number)
    for number in (0, 1, 15, 28, 29):
        past = store_after(store, number + 1)
        assert found(past, f"word{number}") == [memory.id]
        assert found(past, f"word{number + 1}") == [] and found(past, f"word{number - 1}") == []
        assert memory_numbered(past.read(), memory.id).content == f"word{number}"


def test_words_from_before_a_move_are_found_at_their_moments_alone(store):
    [memory] = put(store, a_draft("a red apple", title="apple"))
    seen = [("red", last_number(store))]
    for colour, namespace in (("green", None), ("blue", "garden"), ("white", None), ("black", "global")):
        fields = {"texts": (f"a {colour} apple",)}
        memory = change(store, memory, **fields)
        if namespace is not None:
            memory = change(store, memory, namespace=namespace)
        seen.append((colour, last_number(store)))
    for colour, number in seen:
        past = store.at(position_of(store, number))
        assert [other for other, _ in seen if found(past, other)] == [colour]
