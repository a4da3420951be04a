"""Changing the store: memories, links and vectors, and what a transaction leaves behind."""

from __future__ import annotations

import uuid
from dataclasses import asdict, replace

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
    put,
    store_after,
    write,
)

from mnemic.errors import Conflict, Invalid
from mnemic.model.access import Grant, Token
from mnemic.model.change import Subject
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ANY_EDGE, ChangeFilter, Filter
from mnemic.model.graph import EdgeDraft, EdgePatch
from mnemic.model.memory import Memory, MemoryPatch, Statement
from mnemic.model.session import SessionDraft
from mnemic.model.time import DAY, HOUR
from mnemic.storage import queries
from mnemic.storage.base import Passage
from mnemic.storage.queries import each_memory, edge_numbered, ids_titled, memory_numbered, session_called


def found(store, word, **wanted):
    return [
        number
        for number, _ in queries.best_words(store.read(), [word], Filter(**wanted), every=True, limit=50)
    ]


def everything(store):
    """All a reader can see of the store, in values that can be compared."""
    reader = store.read()
    return (
        list(each_memory(reader)),
        list(reader.edges(ANY_EDGE)),
        list(reader.journal()),
        reader.sessions(),
        reader.tokens(),
        reader.pending(limit=1000),
        [queries.holders(reader, [word], None) for word in ("sky", "sea", "blue", "new")],
    )


def test_a_name_belongs_to_one_living_memory_of_a_namespace(store):
    [memory] = put(store, a_draft("one", name="Sky"))
    put(store, a_draft("two", name="Sky", namespace="work"), a_draft("three", name="sky"))
    with pytest.raises(Conflict, match="'Sky' is taken in namespace 'global'"):
        put(store, a_draft("four", name="Sky"))
    change(store, memory, state=State.ARCHIVED)
    [heir] = put(store, a_draft("five", name="Sky"))
    with pytest.raises(Conflict, match="taken"):
        change(store, memory_numbered(store.read(), memory.id), state=State.LIVING)
    change(store, heir, name="Heaven")
    assert change(store, memory_numbered(store.read(), memory.id), state=State.LIVING).title == "Sky"


@pytest.mark.parametrize("fields", [{"name": "Sky"}, {"namespace": "work", "name": "Sea"}])
def test_a_name_cannot_be_changed_into_a_taken_one(store, fields):
    put(store, a_draft("one", name="Sky"), a_draft("two", name="Sea", namespace="work"))
    [third] = put(store, a_draft("three", name="Third"))
    before = everything(store)
    with pytest.raises(Conflict, match="taken"):
        change(store, third, **fields)
    assert everything(store) == before


def test_titles_may_be_equal(store):
    put(store, *(a_draft("the same") for _ in range(3)))
    assert ids_titled(store.read(), "the same", ("global",)) == [1, 2, 3]
    assert ids_titled(store.read(), "the same", None) == [1, 2, 3]
    assert store.read().ids_named("the same", None) == []


def test_every_field_can_be_changed(store):
    [memory] = put(store, a_draft("one", tags=("a",)))
    fields = {
        "namespace": "work",
        "name": "Two",
        "title": "Two",
        "kind": "fact",
        "summary": "short",
        "tags": ("b", "c"),
        "priority": 1,
        "confidence": 0.5,
        "quality": 7.5,
        "rating": 4.0,
        "rating_count": 2,
        "tier": Tier.SHORT,
        "source": "here",
        "metadata": {"k": [1]},
        "expires_at": START + DAY,
        "valid_from": START,
        "valid_to": START + DAY,
    }
    changed = change(store, memory, at=START + HOUR, **fields)
    assert changed == replace(memory, updated_at=START + HOUR, **fields)
    assert memory_numbered(store.read(), memory.id) == changed
    assert found(store, "two") == found(store, "short") == found(store, "c") == [memory.id]
    assert found(store, "a") == []
    assert found(store, "two", namespaces=("global",)) == []
    assert found(store, "two", namespaces=("work",)) == [memory.id]
    assert faults(store) == []


def test_a_body_keeps_the_statements_that_stay(store):
    [memory] = put(store, a_draft("x", texts=("one", "two", "three")))
    ids = {statement.text: statement.id for statement in memory.statements}
    changed = change(store, memory, texts=("one", "three", "four"), at=START + 1)
    assert changed.content == "one\nthree\nfour"
    assert [statement.id for statement in changed.statements[:2]] == [ids["one"], ids["three"]]
    assert changed.statements[2].id not in ids.values()
    assert memory_numbered(store.read(), memory.id) == changed
    assert found(store, "two") == [] and found(store, "four") == [memory.id]


@pytest.mark.parametrize(
    "texts",
    [
        (),
        ("c", "b", "a"),
        ("b",),
        ("a", "a", "b", "c"),
        ("a", "b", "c", "c"),
        ("new", "a", "b", "c"),
        ("c", "a"),
    ],
)
def test_a_body_reads_as_it_was_written(store, texts):
    [memory] = put(store, a_draft("x", texts=("a", "b", "c")))
    changed = change(store, memory, texts=texts, at=START + 1)
    assert tuple(statement.text for statement in changed.statements) == texts
    assert memory_numbered(store.read(), memory.id) == changed
    back = change(store, changed, texts=("a", "b", "c"), at=START + 2)
    assert tuple(statement.text for statement in memory_numbered(store.read(), memory.id).statements) == (
        "a",
        "b",
        "c",
    )
    assert memory_numbered(store.read(), memory.id) == back
    assert faults(store) == []


def test_a_body_can_change_while_the_clock_stands_still(store):
    [memory] = put(store, a_draft("old words"), at=START)
    changed = change(store, memory, texts=("new words",), at=START)
    assert memory_numbered(store.read(), memory.id) == changed and changed.content == "new words"


def test_leaving_and_returning_moves_a_memory_out_of_and_into_every_index(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    [memory] = put(store, a_draft("blue sky", tags=("colour",)))
    embed_all(store, embedder)
    vector = embedding(embedder, "blue sky")

    def indexes():
        reader = store.read()
        return (
            found(store, "sky"),
            [near.memory_id for near in queries.nearest(reader, vector, Filter(), limit=5)],
            ids_titled(reader, "blue sky", None),
            reader.select(Filter(tags=("colour",)), limit=5),
            reader.same_texts(["Blue  Sky"], None),
        )

    living = indexes()
    assert living == ([memory.id], [memory.id], [memory.id], [memory.id], {"Blue  Sky": memory.id})
    for state in (State.ARCHIVED, State.FORGOTTEN, State.SUPERSEDED):
        left = change(store, memory, state=state, state_reason="why", state_at=START)
        assert indexes() == ([], [], [], [], {})
        assert memory_numbered(store.read(), memory.id) == left
        memory = change(store, left, state=State.LIVING, state_reason=None, state_at=None)
        assert indexes() == living
    assert store.read().backlog() == 0, "its vectors were kept"


def test_use_is_counted_and_not_journaled(store):
    one, two = put(store, a_draft("one"), a_draft("two"))
    before = last_number(store)

    def work(tx):
        tx.count_use([one.id, two.id, 99], START + HOUR)
        tx.count_use([one.id], START)

    write(store, work, operation="use", durable=False)
    used = memory_numbered(store.read(), one.id)
    assert (used.access_count, used.accessed_at) == (2, START + HOUR), (
        "the latest use counts, not the last told"
    )
    assert used == replace(one, access_count=2, accessed_at=START + HOUR, days_used=1)
    assert last_number(store) == before and faults(store) == []


def test_a_purge_leaves_a_tombstone_and_nothing_else(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    secret, other = put(store, a_draft("the secret word", tags=("hush",)), a_draft("other"))
    embed_all(store, embedder)
    change(store, secret, texts=("the second secret",), title="Secret", at=START + 1)
    edge = write(
        store,
        lambda tx: tx.insert_edge(EdgeDraft(other.id, secret.id, "hides", reason="a secret reason")),
        operation="link",
        at=START + 2,
    )

    def work(tx):
        assert tx.purge([secret.id, 99, secret.id]) == 1

    write(store, work, operation="purge", at=START + 3)
    reader = store.read()
    assert memory_numbered(reader, secret.id) is None and edge_numbered(reader, edge.id) is None
    assert found(store, "secret") == [] and queries.holders(reader, ["secret", "hush"], None) == {
        "secret": 0,
        "hush": 0,
    }
    assert reader.spellings("secrit", 5, None) == []
    assert [
        near.memory_id for near in queries.nearest(reader, embedding(embedder, "secret"), Filter(), limit=5)
    ] == [other.id]
    told = [row for row in reader.journal() if row.subject_id == secret.id and row.subject == "memory"]
    assert [(row.before, row.after) for row in told] == [(None, None)] * 3
    assert told[-1].operation == "purge" and told[-1].sequence == last_number(store)
    assert "secret" not in repr(list(reader.journal()))
    assert memory_numbered(store_after(store, 2).read(), secret.id) is None
    assert memory_numbered(reader, other.id) == other and faults(store) == []
    put(store, a_draft("newer"))
    assert memory_numbered(store.read(), secret.id) is None, "its number is not given again"


def test_links_are_made_and_changed(store):
    a, b = put(store, a_draft("a"), a_draft("b"))

    def work(tx):
        edge = tx.insert_edge(EdgeDraft(a.id, b.id, "knows", weight=0.5, reason="met", valid_from=START))
        assert (edge.created_at, edge.state, edge.valid_to) == (START + 5, State.LIVING, None)
        assert tx.update_edge(edge, EdgePatch(weight=0.5)) == edge
        changed = tx.update_edge(edge, EdgePatch(weight=0.75, valid_to=START + 6))
        return edge, changed

    edge, changed = write(store, work, operation="link", at=START + 5)
    assert edge_numbered(store.read(), edge.id) == changed == replace(edge, weight=0.75, valid_to=START + 6)
    assert [row.operation for row in store.read().journal(ChangeFilter(subject=Subject.EDGE))] == [
        "link",
        "link",
    ]


@pytest.mark.parametrize("ends", [(1, 99), (99, 1), (98, 99)])
def test_both_ends_of_a_link_must_exist(store, ends):
    put(store, a_draft("a"))
    before = everything(store)
    with pytest.raises(Conflict):
        write(store, lambda tx: tx.insert_edge(EdgeDraft(*ends, "knows")), operation="link")
    assert everything(store) == before


def test_a_imported_memory_keeps_all_it_has(store):
    foreign = Memory(
        id=70,
        uid=str(uuid.uuid4()),
        namespace="work",
        title="Foreign",
        tags=("far",),
        created_at=5,
        updated_at=6,
        accessed_at=7,
        access_count=8,
        state=State.ARCHIVED,
        state_reason="old",
        state_at=9,
        rating=3.0,
        rating_count=1,
        statements=(Statement(0, "one"), Statement(0, "two")),
    )

    def work(tx):
        taken = tx.import_memory(foreign)
        second = tx.import_memory(replace(foreign, uid=str(uuid.uuid4()), state=State.LIVING))
        return taken, second

    taken, second = write(store, work, operation="import")
    assert replace(taken, statements=foreign.statements) == foreign
    assert taken.content == "one\ntwo" and memory_numbered(store.read(), 70) == taken
    assert second.id > 70, "the number was taken"
    assert found(store, "one") == [second.id] and faults(store) == []


def test_a_number_far_beyond_all_others_is_not_taken_over(store):
    [known] = put(store, a_draft("known"))
    far = replace(known, uid=str(uuid.uuid4()), title="far", id=2**40)

    def work(tx):
        near = tx.import_memory(replace(far, uid=str(uuid.uuid4()), title="near", id=1_000_000 + known.id))
        taken = tx.import_memory(far)
        return near, taken

    near, taken = write(store, work, operation="import")
    assert near.id == 1_000_000 + known.id
    assert taken.id == near.id + 1
    for _ in range(5):
        assert {*found(store, "known")} == {known.id, near.id, taken.id}


def test_what_is_said_of_a_memory_is_its_own(store):
    said = {"colour": "blue"}
    plain, coloured = put(store, a_draft("plain"), a_draft("coloured", metadata=said))
    said["colour"] = "red"
    assert coloured.metadata == {"colour": "blue"}
    assert [asdict(one)["metadata"] for one in (plain, coloured)] == [{}, {"colour": "blue"}]


def test_a_memory_that_cannot_be_imported_leaves_nothing(store):
    [known] = put(store, a_draft("known", name="Known"))
    broken = replace(
        known, id=9, uid=str(uuid.uuid4()), name="Broken", statements=(Statement(0, "fine"), Statement(0, 7))
    )

    def work(tx):
        with pytest.raises(Conflict):
            tx.import_memory(replace(known, id=9, name="Twin"))
        with pytest.raises(Conflict):
            tx.import_memory(replace(known, id=9, uid=str(uuid.uuid4())))
        with pytest.raises(Invalid, match="text: must be a text, not int"):
            tx.import_memory(broken)

    write(store, work, operation="import")
    assert list(each_memory(store.read())) == [known] and faults(store) == []


def test_how_often_a_memory_was_used_elsewhere_can_be_said(store):
    [memory] = put(store, a_draft("one"))
    write(
        store,
        lambda tx: tx.update(memory, MemoryPatch(access_count=5, accessed_at=START, days_used=2)),
        operation="import",
    )
    assert memory_numbered(store.read(), memory.id) == replace(
        memory, access_count=5, accessed_at=START, days_used=2
    )


def test_a_tombstone_says_that_something_was_here(store):
    write(store, lambda tx: tx.tombstone(Subject.MEMORY, 7), operation="import")
    [row] = store.read().journal()
    assert (row.subject, row.subject_id, row.before, row.after) == (Subject.MEMORY, 7, None, None)
    assert memory_numbered(store.read(), 7) is None and faults(store) == []


def test_memories_that_say_nearly_the_same_are_alike(store):
    text = "the quarterly review meeting takes place every second thursday afternoon"
    one, two, other = put(store, a_draft(text), a_draft(f"{text} in june"), a_draft("nothing of that kind"))

    def alike(body, **wanted):
        return write(store, lambda tx: tx.near_duplicates(body, Filter(**wanted), limit=5), operation="look")

    assert set(alike(text)) == {one.id, two.id}
    assert alike(text, namespaces=("work",)) == [] and alike("entirely different words") == []
    change(store, one, state=State.FORGOTTEN, at=START + 1)
    changed = change(store, two, texts=("something new altogether now",), at=START + 2)
    assert alike(text) == [] and alike("something new altogether now") == [two.id]
    write(store, lambda tx: tx.purge([changed.id]), operation="purge", at=START + 3)
    assert alike("something new altogether now") == []
    assert alike("nothing of that kind") == [other.id]


def test_vectors_replace_older_ones_and_pass_over_what_has_gone(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    stays, leaves = put(store, a_draft("stays"), a_draft("leaves", texts=("was",)))
    change(store, leaves, texts=("is",), at=START + 1)
    statement, gone = stays.statements[0].id, leaves.statements[0].id
    near, far = embedder.embed(["north", "south"])

    def put_vectors(*passages):
        return write(
            store, lambda tx: tx.put_vectors(embedder.name, embedder.dimension, passages), operation="embed"
        )

    before = last_number(store)
    made = put_vectors(
        Passage(statement, 0, 2, near), Passage(statement, 2, 5, far), Passage(gone, 0, 3, near)
    )
    assert made == 1
    asked = embedding(embedder, "north")
    assert queries.nearest(store.read(), asked, Filter(), limit=5)[0].cosine == pytest.approx(1, abs=0.01)
    change(store, stays, title="a new title", at=START + 2)  # the vectors were made under the old one
    before = last_number(store)
    assert put_vectors(Passage(statement, 0, 5, far)) == 1
    [hit] = queries.nearest(store.read(), asked, Filter(), limit=5)
    assert hit.memory_id == stays.id and hit.cosine < 0.9, "the older vectors are gone"
    assert put_vectors() == 0 and put_vectors(Passage(999, 0, 1, near)) == 0
    assert last_number(store) == before and faults(store) == []


def test_a_text_that_returns_has_its_vectors_already(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    [memory] = put(store, a_draft("first text"))
    embed_all(store, embedder)
    memory = change(store, memory, texts=("second text",), at=START + 1)
    assert [item.text for item in store.read().pending(limit=5)] == ["second text"]
    memory = change(store, memory, texts=("first text",), at=START + 2)
    assert store.read().pending(limit=5) == []
    [hit] = queries.nearest(store.read(), embedding(embedder, "first text"), Filter(), limit=5)
    assert hit.cosine == pytest.approx(1, abs=0.01)
    assert hit.statement_id == memory.statements[0].id
    assert faults(store) == []


def test_a_text_that_returns_under_another_title_waits(store):
    store.use_models(WordEmbedder().name)
    [memory] = put(store, a_draft("first text"))
    embed_all(store, WordEmbedder())
    memory = change(store, memory, texts=("second text",), title="New", at=START + 1)
    change(store, memory, texts=("first text",), at=START + 2)
    assert [item.text for item in store.read().pending(limit=5)] == ["first text"]


def test_a_text_that_returns_under_another_model_waits(store):
    store.use_models("older")
    [memory] = put(store, a_draft("first text"))
    embed_all(store, WordEmbedder("older"))
    memory = change(store, memory, texts=("second text",), at=START + 1)
    store.use_models("newer")
    embed_all(store, WordEmbedder("newer"))
    change(store, memory, texts=("first text",), at=START + 2)
    assert [item.text for item in store.read().pending(limit=5)] == ["first text"]


def test_an_exception_leaves_nothing_behind(store):
    sky, sea = put(store, a_draft("blue sky", tags=("t",)), a_draft("blue sea"))
    before = everything(store)

    def work(tx):
        tx.insert(a_draft("new sky", namespace="new"), uid=str(uuid.uuid4()))
        tx.update(sky, MemoryPatch(texts=("new words",), tags=("new",)))
        tx.update(sea, MemoryPatch(state=State.FORGOTTEN))
        tx.insert_edge(EdgeDraft(sky.id, sea.id, "above"))
        session_called(tx, "new", "talk")
        tx.count_use([sky.id], START)
        tx.put_token(Token(name="t", grant=Grant(), created_at=START), b"1" * 32)
        tx.put_vectors("m", 64, [Passage(sea.statements[0].id, 0, 1, WordEmbedder().embed(["x"])[0])])
        tx.purge([sky.id])
        assert memory_numbered(tx, sky.id) is None, "a transaction sees its own changes"
        1 / 0  # noqa: B018

    with pytest.raises(ZeroDivisionError):
        write(store, work, at=START + 1)
    assert everything(store) == before
    assert found(store, "new", namespaces=("new",)) == []
    assert faults(store) == []


def test_a_namespace_that_was_taken_back_can_be_made_again(fresh):
    """The number a namespace had in a failed transaction may be another's by the next."""
    left, right = fresh(), fresh()

    def work(tx):
        tx.insert(a_draft("one", namespace="first"), uid=str(uuid.uuid4()))
        1 / 0  # noqa: B018

    with pytest.raises(ZeroDivisionError):
        write(left, work)
    [theirs] = put(right, a_draft("words of theirs", namespace="second"))
    [ours] = put(left, a_draft("words of ours", namespace="first"))
    for store in (left, right):
        assert found(store, "words", namespaces=("first",)) == [ours.id]
        assert found(store, "words", namespaces=("second",)) == [theirs.id]


def test_a_failed_change_can_be_passed_over_inside_a_transaction(store):
    put(store, a_draft("one", name="Sky"))

    def work(tx):
        with pytest.raises(Conflict):
            tx.insert(a_draft("two", name="Sky"), uid=str(uuid.uuid4()))
        tx.insert(a_draft("three", name="Sea"), uid=str(uuid.uuid4()))

    write(store, work)
    assert {memory.title for memory in each_memory(store.read())} == {"Sky", "Sea"}
    assert faults(store) == []


def test_a_writer_reads_its_own_changes(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    [memory] = put(store, a_draft("blue sky"))
    embed_all(store, embedder)
    vector = embedding(embedder, "blue sky")
    assert queries.nearest(store.read(), vector, Filter(), limit=5)

    def work(tx):
        changed = tx.update(memory, MemoryPatch(state=State.FORGOTTEN))
        new = tx.insert(a_draft("grey rain"), uid=str(uuid.uuid4()))
        assert memory_numbered(tx, memory.id) == changed
        assert [number for number, _ in queries.best_words(tx, ["grey"], Filter(), every=True, limit=5)] == [
            new.id
        ]
        assert queries.nearest(tx, vector, Filter(), limit=5) == []
        assert [row.subject_id for row in tx.journal()] == [memory.id, memory.id, new.id]
        assert memory_numbered(store.read(), memory.id) == memory, "others see what is committed"
        1 / 0  # noqa: B018

    with pytest.raises(ZeroDivisionError):
        write(store, work)
    assert [near.memory_id for near in queries.nearest(store.read(), vector, Filter(), limit=5)] == [
        memory.id
    ]


def test_a_writer_refuses_what_breaks_a_limit_however_it_comes(store):
    one, two = put(store, a_draft("one"), a_draft("two"))

    def work(tx):
        for refused, field in (
            (lambda: tx.import_memory(replace(one, id=0, uid=str(uuid.uuid4()), priority=9999)), "priority"),
            (lambda: tx.update(one, MemoryPatch(confidence=-3.5)), "confidence"),
            (lambda: tx.update(one, MemoryPatch(texts=("x" * 65_537,))), "text"),
            (lambda: tx.insert_edge(EdgeDraft(one.id, two.id, "near", weight=7)), "weight"),
            (lambda: tx.insert_session(SessionDraft("global", topic="x" * 65_537)), "topic"),
        ):
            with pytest.raises(Invalid, match=f"^{field}: "):
                refused()

    write(store, work)
    assert list(each_memory(store.read())) == [one, two] and faults(store) == []
