"""Changing the store: memories, links and vectors, and what a transaction leaves behind."""

from __future__ import annotations

import uuid
from dataclasses import asdict, replace

import pytest

from mnemic.errors import Conflict
from mnemic.model.access import Grant, Token
from mnemic.model.journal import Subject
from mnemic.model.memory import Memory, Statement
from mnemic.model.search import Filter
from mnemic.model.values import DAY, HOUR, State, Tier
from mnemic.storage.base import Passage
from support import START, WordEmbedder, a_draft, change, embed_all, embedding, put


def found(store, word, **wanted):
    return [number for number, _ in store.read().words([word], Filter(**wanted), every=True, limit=50)]


def everything(store):
    """All a reader can see of the store, in values that can be compared."""
    reader = store.read()
    return (
        list(reader.all_memories()),
        list(reader.all_edges()),
        list(reader.journal()),
        reader.sessions(),
        reader.tokens(),
        reader.pending(limit=1000),
        [reader.frequencies([word], None) for word in ("sky", "sea", "blue", "new")],
    )


def test_a_title_belongs_to_one_living_memory_of_a_namespace(store):
    [memory] = put(store, a_draft("one", title="Sky"))
    put(store, a_draft("two", title="Sky", namespace="work"), a_draft("three", title="sky"))
    with pytest.raises(Conflict, match="'Sky' is taken in namespace 'global'"):
        put(store, a_draft("four", title="Sky"))
    change(store, memory, state=State.ARCHIVED)
    [heir] = put(store, a_draft("five", title="Sky"))
    with pytest.raises(Conflict, match="taken"):
        change(store, store.read().memory(memory.id), state=State.LIVING)
    change(store, heir, title="Heaven")
    assert change(store, store.read().memory(memory.id), state=State.LIVING).title == "Sky"


@pytest.mark.parametrize("fields", [{"title": "Sky"}, {"namespace": "work", "title": "Sea"}])
def test_a_title_cannot_be_changed_into_a_taken_one(store, fields):
    put(store, a_draft("one", title="Sky"), a_draft("two", title="Sea", namespace="work"))
    [third] = put(store, a_draft("three", title="Third"))
    before = everything(store)
    with pytest.raises(Conflict, match="taken"):
        change(store, third, **fields)
    assert everything(store) == before


def test_titles_are_numbered_in_order(store):
    titles = []
    with store.write(operation="x", actor="x", at=START) as tx:
        for number in range(12):
            titles.append(tx.unused_title("global", "Sky"))
            tx.add(a_draft(f"text {number}", title=titles[-1]), uid=str(uuid.uuid4()))
        assert tx.unused_title("work", "Sky") == "Sky"
    assert titles == ["Sky", *(f"Sky ({number})" for number in range(2, 13))]


@pytest.mark.parametrize("taken", [{2}, {2, 4}, {3}, {2, 3, 5, 8}, {4, 8, 16}, set(range(2, 40)) - {7, 23}])
def test_a_number_is_unused_even_where_numbers_are_missing(store, taken):
    put(store, a_draft("t", title="Sky"), *(a_draft(f"t{n}", title=f"Sky ({n})") for n in taken))
    with store.write(operation="x", actor="x", at=START) as tx:
        title = tx.unused_title("global", "Sky")
        assert title.startswith("Sky (")
        tx.add(a_draft("new", title=title), uid=str(uuid.uuid4()))


def test_every_field_can_be_changed(store):
    [memory] = put(store, a_draft("one", tags=("a",)))
    fields = {
        "namespace": "work",
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
    assert store.read().memory(memory.id) == changed
    assert found(store, "two") == found(store, "short") == found(store, "c") == [memory.id]
    assert found(store, "a") == []
    assert found(store, "two", namespaces=("global",)) == []
    assert found(store, "two", namespaces=("work",)) == [memory.id]
    assert store.check() == []


def test_a_body_keeps_the_statements_that_stay(store):
    [memory] = put(store, a_draft("x", texts=("one", "two", "three")))
    ids = {statement.text: statement.id for statement in memory.statements}
    changed = change(store, memory, texts=("one", "three", "four"), at=START + 1)
    assert changed.content == "one\nthree\nfour"
    assert [statement.id for statement in changed.statements[:2]] == [ids["one"], ids["three"]]
    assert changed.statements[2].id not in ids.values()
    assert store.read().memory(memory.id) == changed
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
    assert store.read().memory(memory.id) == changed
    back = change(store, changed, texts=("a", "b", "c"), at=START + 2)
    assert tuple(statement.text for statement in store.read().memory(memory.id).statements) == ("a", "b", "c")
    assert store.read().memory(memory.id) == back
    assert store.check() == []


def test_a_body_can_change_while_the_clock_stands_still(store):
    [memory] = put(store, a_draft("old words"), at=START)
    changed = change(store, memory, texts=("new words",), at=START)
    assert store.read().memory(memory.id) == changed and changed.content == "new words"


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
            [near.memory_id for near in reader.nearest(vector, Filter(), limit=5)],
            reader.ids_titled("blue sky", None),
            reader.select(Filter(tags=("colour",)), limit=5),
            reader.same_text("Blue  Sky", None),
        )

    living = indexes()
    assert living == ([memory.id], [memory.id], [memory.id], [memory.id], memory.id)
    for state in (State.ARCHIVED, State.FORGOTTEN, State.SUPERSEDED):
        left = change(store, memory, state=state, state_reason="why", state_at=START)
        assert indexes() == ([], [], [], [], None)
        assert store.read().memory(memory.id) == left
        memory = change(store, left, state=State.LIVING, state_reason=None, state_at=None)
        assert indexes() == living
    assert store.read().pending_count() == 0, "its vectors were kept"


def test_use_is_counted_and_not_journaled(store):
    one, two = put(store, a_draft("one"), a_draft("two"))
    before = store.sequence()
    with store.write(operation="use", actor="x", at=START, durable=False) as tx:
        tx.touch([one.id, two.id, 99], START + HOUR)
        tx.touch([one.id], START)
    used = store.read().memory(one.id)
    assert (used.access_count, used.accessed_at) == (2, START + HOUR), (
        "the latest use counts, not the last told"
    )
    assert used == replace(one, access_count=2, accessed_at=START + HOUR, days_used=1)
    assert store.sequence() == before and store.check() == []


def test_a_purge_leaves_a_tombstone_and_nothing_else(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    secret, other = put(store, a_draft("the secret word", tags=("hush",)), a_draft("other"))
    embed_all(store, embedder)
    change(store, secret, texts=("the second secret",), title="Secret", at=START + 1)
    with store.write(operation="link", actor="x", at=START + 2) as tx:
        edge = tx.add_edge(other.id, secret.id, "hides", reason="a secret reason")
    with store.write(operation="purge", actor="x", at=START + 3) as tx:
        assert tx.purge([secret.id, 99, secret.id]) == 1
    reader = store.read()
    assert reader.memory(secret.id) is None and reader.edge(edge.id) is None
    assert found(store, "secret") == [] and reader.frequencies(["secret", "hush"], None) == {
        "secret": 0,
        "hush": 0,
    }
    assert reader.spellings("secrit", 5, None) == []
    assert [near.memory_id for near in reader.nearest(embedding(embedder, "secret"), Filter(), limit=5)] == [
        other.id
    ]
    told = [row for row in reader.journal() if row.subject_id == secret.id and row.subject == "memory"]
    assert [(row.before, row.after) for row in told] == [(None, None)] * 3
    assert told[-1].operation == "purge" and told[-1].sequence == store.sequence()
    assert "secret" not in repr(list(reader.journal()))
    assert store.at(2).read().memory(secret.id) is None
    assert reader.memory(other.id) == other and store.check() == []
    put(store, a_draft("newer"))
    assert store.read().memory(secret.id) is None, "its number is not given again"


def test_links_are_made_and_changed(store):
    a, b = put(store, a_draft("a"), a_draft("b"))
    with store.write(operation="link", actor="x", at=START + 5) as tx:
        edge = tx.add_edge(a.id, b.id, "knows", weight=0.5, reason="met", valid_from=START)
        assert (edge.created_at, edge.state, edge.valid_to) == (START + 5, State.LIVING, None)
        assert tx.change_edge(edge, weight=0.5) == edge
        changed = tx.change_edge(edge, weight=0.75, valid_to=START + 6)
    assert store.read().edge(edge.id) == changed == replace(edge, weight=0.75, valid_to=START + 6)
    assert [row.operation for row in store.read().journal(subject="edge")] == ["link", "link"]


@pytest.mark.parametrize("ends", [(1, 99), (99, 1), (98, 99)])
def test_both_ends_of_a_link_must_exist(store, ends):
    put(store, a_draft("a"))
    before = everything(store)
    with pytest.raises(Conflict), store.write(operation="link", actor="x", at=START) as tx:
        tx.add_edge(*ends, "knows")
    assert everything(store) == before


def test_a_memory_from_elsewhere_keeps_all_it_has(store):
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
    with store.write(operation="import", actor="x", at=START) as tx:
        taken = tx.take_in(foreign)
        second = tx.take_in(replace(foreign, uid=str(uuid.uuid4()), state=State.LIVING))
    assert replace(taken, statements=foreign.statements) == foreign
    assert taken.content == "one\ntwo" and store.read().memory(70) == taken
    assert second.id > 70, "the number was taken"
    assert found(store, "one") == [second.id] and store.check() == []


def test_a_number_far_beyond_all_others_is_not_taken_over(store):
    [known] = put(store, a_draft("known"))
    far = replace(known, uid=str(uuid.uuid4()), title="far", id=2**40)
    with store.write(operation="import", actor="x", at=START) as tx:
        near = tx.take_in(replace(far, uid=str(uuid.uuid4()), title="near", id=1_000_000 + known.id))
        taken = tx.take_in(far)
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


def test_a_memory_that_cannot_be_taken_in_leaves_nothing(store):
    [known] = put(store, a_draft("known", title="Known"))
    broken = replace(
        known, id=9, uid=str(uuid.uuid4()), title="Broken", statements=(Statement(0, "fine"), Statement(0, 7))
    )
    with store.write(operation="import", actor="x", at=START) as tx:
        with pytest.raises(Conflict):
            tx.take_in(replace(known, id=9, title="Twin"))
        with pytest.raises(Conflict):
            tx.take_in(replace(known, id=9, uid=str(uuid.uuid4())))
        with pytest.raises(TypeError):
            tx.take_in(broken)
    assert list(store.read().all_memories()) == [known] and store.check() == []


def test_how_often_a_memory_was_used_elsewhere_can_be_said(store):
    [memory] = put(store, a_draft("one"))
    with store.write(operation="import", actor="x", at=START) as tx:
        tx.set_use(memory.id, 5, START, 2)
    assert store.read().memory(memory.id) == replace(memory, access_count=5, accessed_at=START, days_used=2)


def test_a_tombstone_says_that_something_was_here(store):
    with store.write(operation="import", actor="x", at=START) as tx:
        tx.tombstone(Subject.MEMORY, 7)
    [row] = store.read().journal()
    assert (row.subject, row.subject_id, row.before, row.after) == (Subject.MEMORY, 7, None, None)
    assert store.read().memory(7) is None and store.check() == []


def test_memories_that_say_nearly_the_same_are_alike(store):
    text = "the quarterly review meeting takes place every second thursday afternoon"
    one, two, other = put(store, a_draft(text), a_draft(f"{text} in june"), a_draft("nothing of that kind"))

    def alike(body, **wanted):
        with store.write(operation="look", actor="x", at=START) as tx:
            return tx.alike(body, Filter(**wanted), limit=5)

    assert set(alike(text)) == {one.id, two.id}
    assert alike(text, namespaces=("work",)) == [] and alike("entirely different words") == []
    change(store, one, state=State.FORGOTTEN, at=START + 1)
    changed = change(store, two, texts=("something new altogether now",), at=START + 2)
    assert alike(text) == [] and alike("something new altogether now") == [two.id]
    with store.write(operation="purge", actor="x", at=START + 3) as tx:
        tx.purge([changed.id])
    assert alike("something new altogether now") == []
    assert alike("nothing of that kind") == [other.id]


def test_vectors_replace_older_ones_and_pass_over_what_has_gone(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    stays, leaves = put(store, a_draft("stays"), a_draft("leaves", texts=("was",)))
    change(store, leaves, texts=("is",), at=START + 1)
    statement, gone = stays.statements[0].id, leaves.statements[0].id
    near, far = embedder.embed(["north", "south"])

    def put_passages(*passages):
        with store.write(operation="embed", actor="x", at=START) as tx:
            return tx.put_passages(embedder.name, embedder.dimension, passages)

    before = store.sequence()
    made = put_passages(
        Passage(statement, 0, 2, near), Passage(statement, 2, 5, far), Passage(gone, 0, 3, near)
    )
    assert made == 1
    asked = embedding(embedder, "north")
    assert store.read().nearest(asked, Filter(), limit=5)[0].similarity == pytest.approx(1, abs=0.01)
    change(store, stays, title="a new title", at=START + 2)  # the vectors were made under the old one
    before = store.sequence()
    assert put_passages(Passage(statement, 0, 5, far)) == 1
    [hit] = store.read().nearest(asked, Filter(), limit=5)
    assert hit.memory_id == stays.id and hit.similarity < 0.9, "the older vectors are gone"
    assert put_passages() == 0 and put_passages(Passage(999, 0, 1, near)) == 0
    assert store.sequence() == before and store.check() == []


def test_a_text_that_returns_has_its_vectors_already(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    [memory] = put(store, a_draft("first text"))
    embed_all(store, embedder)
    memory = change(store, memory, texts=("second text",), at=START + 1)
    assert [item.text for item in store.read().pending(limit=5)] == ["second text"]
    memory = change(store, memory, texts=("first text",), at=START + 2)
    assert store.read().pending(limit=5) == []
    [hit] = store.read().nearest(embedding(embedder, "first text"), Filter(), limit=5)
    assert hit.similarity == pytest.approx(1, abs=0.01)
    assert hit.statement_id == memory.statements[0].id
    assert store.check() == []


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
    with pytest.raises(ZeroDivisionError), store.write(operation="x", actor="x", at=START + 1) as tx:
        tx.add(a_draft("new sky", namespace="new"), uid=str(uuid.uuid4()))
        tx.change(sky, texts=("new words",), tags=("new",))
        tx.change(sea, state=State.FORGOTTEN)
        tx.add_edge(sky.id, sea.id, "above")
        tx.session("new", "talk")
        tx.touch([sky.id], START)
        tx.add_token(Token(name="t", grant=Grant(), created_at=START), b"1" * 32)
        tx.put_passages("m", 64, [Passage(sea.statements[0].id, 0, 1, WordEmbedder().embed(["x"])[0])])
        tx.purge([sky.id])
        assert tx.memory(sky.id) is None, "a transaction sees its own changes"
        1 / 0  # noqa: B018
    assert everything(store) == before
    assert found(store, "new", namespaces=("new",)) == []
    assert store.check() == []


def test_a_namespace_that_was_taken_back_can_be_made_again(fresh):
    """The number a namespace had in a failed transaction may be another's by the next."""
    left, right = fresh(), fresh()
    with pytest.raises(ZeroDivisionError), left.write(operation="x", actor="x", at=START) as tx:
        tx.add(a_draft("one", namespace="first"), uid=str(uuid.uuid4()))
        1 / 0  # noqa: B018
    [theirs] = put(right, a_draft("words of theirs", namespace="second"))
    [ours] = put(left, a_draft("words of ours", namespace="first"))
    for store in (left, right):
        assert found(store, "words", namespaces=("first",)) == [ours.id]
        assert found(store, "words", namespaces=("second",)) == [theirs.id]


def test_a_failed_change_can_be_passed_over_inside_a_transaction(store):
    put(store, a_draft("one", title="Sky"))
    with store.write(operation="x", actor="x", at=START) as tx:
        with pytest.raises(Conflict):
            tx.add(a_draft("two", title="Sky"), uid=str(uuid.uuid4()))
        tx.add(a_draft("three", title="Sea"), uid=str(uuid.uuid4()))
    assert {memory.title for memory in store.read().all_memories()} == {"Sky", "Sea"}
    assert store.check() == []


def test_a_writer_reads_its_own_changes(store):
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    [memory] = put(store, a_draft("blue sky"))
    embed_all(store, embedder)
    vector = embedding(embedder, "blue sky")
    assert store.read().nearest(vector, Filter(), limit=5)
    with pytest.raises(ZeroDivisionError), store.write(operation="x", actor="x", at=START) as tx:
        changed = tx.change(memory, state=State.FORGOTTEN)
        new = tx.add(a_draft("grey rain"), uid=str(uuid.uuid4()))
        assert tx.memory(memory.id) == changed
        assert [number for number, _ in tx.words(["grey"], Filter(), every=True, limit=5)] == [new.id]
        assert tx.nearest(vector, Filter(), limit=5) == []
        assert [row.subject_id for row in tx.journal()] == [memory.id, memory.id, new.id]
        assert store.read().memory(memory.id) == memory, "others see what is committed"
        1 / 0  # noqa: B018
    assert [near.memory_id for near in store.read().nearest(vector, Filter(), limit=5)] == [memory.id]
