"""LangGraph's store interface, called as LangGraph calls it."""

from __future__ import annotations

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp

import mnemic
from mnemic.adapters.langgraph import MnemicStore

ANN, BEN = ("users", "ann"), ("users", "ben")


@pytest.fixture
def store(memories):
    return MnemicStore(memories)


def test_value_is_returned_as_it_was_put(store):
    value = {"food": "pizza", "tags": ["a", "b"], "deep": {"n": 1.5, "none": None, "yes": True}}
    store.put(ANN, "likes", value)
    item = store.get(ANN, "likes")
    assert item is not None
    assert (item.value, item.key, item.namespace) == (value, "likes", ANN)
    assert item.created_at.tzinfo is not None
    assert store.get(BEN, "likes") is None
    assert store.get(ANN, "hates") is None


def test_put_replaces_the_value_and_keeps_the_creation_time(store):
    store.put(ANN, "likes", {"food": "pizza"})
    first = store.get(ANN, "likes")
    store.put(ANN, "likes", {"food": "soup"})
    second = store.get(ANN, "likes")
    assert second.value == {"food": "soup"}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at


def test_equal_values_under_different_keys_are_both_kept(store):
    store.put(ANN, "one", {"text": "same"})
    store.put(ANN, "two", {"text": "same"})
    assert {item.key for item in store.search(ANN)} == {"one", "two"}


def test_deleted_item_is_gone_and_can_be_put_again(store):
    store.put(ANN, "likes", {"food": "pizza"})
    store.delete(ANN, "likes")
    assert store.get(ANN, "likes") is None
    store.delete(ANN, "likes")
    store.put(ANN, "likes", {"food": "soup"})
    assert store.get(ANN, "likes").value == {"food": "soup"}


def test_search_by_prefix_filter_limit_and_offset(store):
    for number in range(6):
        store.put(ANN if number % 2 else BEN, f"k{number}", {"n": number, "even": number % 2 == 0})
    store.put(("docs",), "other", {"n": 9, "even": False})
    assert len(store.search(("users",))) == 6
    assert len(store.search(())) == 7
    assert {item.key for item in store.search(("users",), filter={"even": True})} == {"k0", "k2", "k4"}
    assert {item.key for item in store.search(("users",), filter={"n": {"$gte": 2, "$lt": 4}})} == {
        "k2",
        "k3",
    }
    assert len(store.search(("users",), limit=4)) == 4
    assert len(store.search(("users",), limit=4, offset=4)) == 2


def test_nested_and_unequal_filters(store):
    store.put(ANN, "a", {"meta": {"colour": "red"}, "n": 1})
    store.put(ANN, "b", {"meta": {"colour": "blue"}, "n": "text"})
    assert [item.key for item in store.search(ANN, filter={"meta": {"colour": "red"}})] == ["a"]
    assert [item.key for item in store.search(ANN, filter={"n": {"$ne": 1}})] == ["b"]
    assert [item.key for item in store.search(ANN, filter={"n": {"$gt": 0}})] == ["a"]
    with pytest.raises(ValueError, match=r"\$near"):
        store.search(ANN, filter={"n": {"$near": 0}})


def test_query_puts_the_relevant_item_first_and_scores_it(tmp_path):
    with mnemic.open(tmp_path / "agent.db", embedder="none") as memories:
        store = MnemicStore(memories)
        store.put(ANN, "pet", {"text": "Ann has a cat called Mitzi"})
        store.put(ANN, "job", {"text": "Ann works as a carpenter"})
        found = store.search(ANN, query="what is the cat called?")
        assert found[0].key == "pet"
        assert 0 < found[0].score <= 1
        assert {item.key for item in found} == {"pet", "job"}


def test_only_indexed_fields_are_searched(memories):
    store = MnemicStore(memories, fields=["title"])
    store.put(ANN, "one", {"title": "Heron", "body": "walrus"})
    store.put(ANN, "two", {"title": "Walrus", "body": "heron"}, index=["body"])
    store.put(ANN, "three", {"title": "heron walrus"}, index=False)
    scored = [item.key for item in store.search(ANN, query="heron") if item.score]
    assert set(scored) == {"one", "two"}


def test_namespaces_are_listed_by_prefix_suffix_wildcard_and_depth(store):
    for place in (("a", "x", "v1"), ("a", "y", "v1"), ("b", "x", "v2")):
        store.put(place, "k", {"text": "t"})
    assert store.list_namespaces() == [("a", "x", "v1"), ("a", "y", "v1"), ("b", "x", "v2")]
    assert store.list_namespaces(prefix=("a",)) == [("a", "x", "v1"), ("a", "y", "v1")]
    assert store.list_namespaces(suffix=("v2",)) == [("b", "x", "v2")]
    assert store.list_namespaces(prefix=("*", "x")) == [("a", "x", "v1"), ("b", "x", "v2")]
    assert store.list_namespaces(max_depth=1) == [("a",), ("b",)]
    assert store.list_namespaces(limit=1, offset=1) == [("a", "y", "v1")]


def test_batch_reads_before_it_writes_and_the_last_put_wins(store):
    store.put(ANN, "k", {"n": 0})
    results = store.batch(
        [
            GetOp(ANN, "k"),
            PutOp(ANN, "k", {"n": 1}),
            PutOp(ANN, "k", {"n": 2}),
            SearchOp(ANN, limit=10),
        ]
    )
    assert results[0].value == {"n": 0}
    assert results[1] is None
    assert [item.value for item in results[3]] == [{"n": 0}]
    assert store.get(ANN, "k").value == {"n": 2}


@pytest.mark.parametrize("namespace", [(), ("",), ("a.b",), ("langgraph", "x")])
def test_invalid_namespaces_are_refused(store, namespace):
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"n": 1})


def test_ttl_ends_an_item_and_a_read_renews_it(store, memories):
    store.put(ANN, "soon", {"n": 1}, ttl=10)
    first = memories.get("users.ann", "soon").expires_at
    assert first is not None
    assert store.get(ANN, "soon", refresh_ttl=False) is not None
    assert memories.get("users.ann", "soon").expires_at == first
    store.get(ANN, "soon")
    assert memories.get("users.ann", "soon").expires_at > first
    store.put(ANN, "soon", {"n": 2})
    assert memories.get("users.ann", "soon").expires_at is None


def test_long_values_are_kept_whole(store):
    value = {"text": "é" * 100_000}
    store.put(ANN, "long", value)
    assert store.get(ANN, "long").value == value


def test_memories_stored_otherwise_are_items_too(store, memories):
    kept = memories.remember("Ann is left-handed", namespace="users.ann")
    assert store.search(ANN)[0].value == {"text": "Ann is left-handed"}
    assert store.get(ANN, kept.uid).value == {"text": "Ann is left-handed"}


@pytest.mark.anyio
async def test_async_methods_do_the_same(store):
    await store.aput(ANN, "likes", {"food": "pizza"})
    assert (await store.aget(ANN, "likes")).value == {"food": "pizza"}
    assert [item.key for item in await store.asearch(ANN, query="pizza")] == ["likes"]
    assert await store.alist_namespaces() == [ANN]
    await store.adelete(ANN, "likes")
    assert await store.aget(ANN, "likes") is None
