"""Questions to the store that need no search: by number, uid, title, filter, link, session and token."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from mnemic.errors import Conflict, StoreUnusable
from mnemic.model.access import Grant, Token
from mnemic.model.graph import Direction
from mnemic.model.journal import Subject
from mnemic.model.search import Filter, Order
from mnemic.model.session import Session
from mnemic.model.values import DAY, HOUR, MINUTE, State, Tier
from mnemic.model.workspace import Role
from mnemic.storage.base import Merit, Repute, Traits
from support import START, a_draft, change, embed_all, embedding, open_store, put
from support import WordEmbedder as Embedder


def test_an_empty_store_answers_every_question(store):
    reader = store.read()
    assert (reader.memory(1), reader.memories([1, 2]), reader.count(), store.sequence()) == (None, [], 0, 0)
    assert reader.select(Filter(), limit=10) == []
    assert reader.words(["sky"], Filter(), every=True, limit=10) == []
    assert reader.nearest(embedding(Embedder(), "sky"), Filter(), limit=10) == []
    assert list(reader.journal()) == list(reader.all_memories()) == list(reader.all_edges()) == []
    assert store.at(0).read().count() == 0
    assert store.check() == []


def test_a_memory_comes_back_as_it_was_put(store):
    draft = a_draft(
        "  Padding and\nline breaks stay  ",
        namespace="work",
        title="Kept",
        texts=("  Padding and\nline breaks stay  ", "second", "second"),
        kind="fact",
        summary="a summary",
        tags=("b", "a"),
        priority=9,
        confidence=0.25,
        tier=Tier.MID,
        source="a book",
        metadata={"deep": {"list": [1, 2.5, None, "é"]}},
        expires_at=START + DAY,
        valid_from=START - DAY,
        valid_to=START + 2 * DAY,
    )
    [memory] = put(store, draft)
    assert store.read().memory(memory.id) == memory
    assert memory.content == "  Padding and\nline breaks stay  \nsecond\nsecond"
    for name, value in draft._asdict().items():
        if name not in ("texts", "created_at"):
            assert getattr(memory, name) == value
    assert memory.created_at == memory.updated_at == START
    assert (memory.state, memory.access_count, memory.accessed_at) == (State.LIVING, 0, None)


@pytest.mark.parametrize(
    "text",
    [
        "naïve café",
        "今日は晴れ",
        "👩‍👩‍👧 family",
        "a\tb\r\nc",
        "'; DROP TABLE memory; --",
        "\ufeffbom",
        "x" * 65_536,
    ],
)
def test_any_text_is_kept_faithfully(store, text):
    [memory] = put(store, a_draft(text, title="t"))
    assert store.read().memory(memory.id).content == text


def test_memories_come_in_the_order_asked_for(store):
    one, two, three = put(store, a_draft("one"), a_draft("two"), a_draft("three"))
    found = store.read().memories([three.id, 99, one.id, two.id])
    assert [memory.title for memory in found] == ["three", "one", "two"]


def test_a_uid_is_found_by_its_beginning(store):
    with store.write(operation="x", actor="x", at=START) as tx:
        first = tx.add(a_draft("one"), uid="aaaa1111-0000-4000-8000-000000000001")
        second = tx.add(a_draft("two"), uid="aaaa2222-0000-4000-8000-000000000002")
    reader = store.read()
    assert reader.ids_with_uid("aaaa", 9) == [first.id, second.id]
    assert reader.ids_with_uid("aaaa", 1) == [first.id]
    assert reader.ids_with_uid("AAAA1", 9) == [first.id]
    assert reader.ids_with_uid("aaaa2222-0000-4", 9) == reader.ids_with_uid("aaaa222200004", 9) == [second.id]
    assert reader.ids_with_uid(second.uid, 9) == [second.id]
    for nonsense in ("", "aaa", "zzzz", "bbbb", "aaaa1111-0000-4000-8000-000000000001ff", "%%%%", "aaaa_"):
        assert reader.ids_with_uid(nonsense, 9) == []


def test_a_title_is_found_exactly_and_among_the_living(store):
    here, there = put(store, a_draft("x", title="Sky"), a_draft("y", title="Sky", namespace="work"))
    put(store, a_draft("z", title="sky"))
    reader = store.read()
    assert reader.ids_titled("Sky", None) == [here.id, there.id]
    assert reader.ids_titled("Sky", ("work", "nowhere", "global")) == [there.id, here.id]
    assert reader.ids_titled("Sk", None) == reader.ids_titled("Sky", ()) == []
    change(store, here, state=State.FORGOTTEN)
    assert store.read().ids_titled("Sky", None) == [there.id]


def test_selection_is_by_priority_then_newest_first(store):
    old = put(store, a_draft("old", priority=5), a_draft("high", priority=9), at=START)
    new = put(store, a_draft("new", priority=5), at=START + MINUTE)
    order = [old[1].id, new[0].id, old[0].id]
    assert store.read().select(Filter(), limit=10) == order
    assert store.read().select(Filter(), limit=1, offset=1) == order[1:2]
    assert store.read().select(Filter(), limit=0) == []


def test_counts_tell_the_store_in_numbers(store):
    now = START
    kept, other, gone, soon, over = put(
        store,
        a_draft("kept", kind="fact", tier=Tier.MID),
        a_draft("other", namespace="work"),
        a_draft("gone"),
        a_draft("soon", expires_at=now + MINUTE),
        a_draft("over", expires_at=now - 1),
    )
    change(store, gone, state=State.FORGOTTEN)
    with store.write(operation="link", actor="x", at=now) as tx:
        tx.add_edge(kept.id, other.id, "knows")
        tx.change_edge(tx.add_edge(kept.id, soon.id, "knows"), valid_to=now)
        tx.add_edge(kept.id, soon.id, "knows")
    counts = store.read().counts(None, now)
    assert counts.by_tier == {"long": 2, "mid": 1}
    assert counts.by_namespace == {"global": 2, "work": 1}
    assert counts.by_kind == {"note": 2, "fact": 1}
    assert counts.by_state == {"living": 3, "forgotten": 1, "archived": 1}
    assert (counts.expiring, counts.edges, counts.pending, counts.changes) == (1, 2, 3, store.sequence())
    assert counts.size_bytes > 0
    work = store.read().counts(("work",), now)
    assert work.by_namespace == {"work": 1} and work.by_state == {"living": 1}
    assert (work.edges, work.pending, work.expiring) == (1, 1, 0)
    assert store.read().counts(("work", "global"), now).by_namespace == counts.by_namespace
    assert store.read().count() == 4, "over has not been collected yet"
    assert store.read().overdue(now) == [over.id]


def test_overdue_is_what_has_expired_and_still_lives(store):
    past, edge, _, gone = put(
        store,
        a_draft("past", expires_at=START - HOUR),
        a_draft("edge", expires_at=START),
        a_draft("future", expires_at=START + 1),
        a_draft("gone", expires_at=START - HOUR),
    )
    put(store, a_draft("forever"))
    change(store, gone, state=State.ARCHIVED)
    assert sorted(store.read().overdue(START)) == [past.id, edge.id]
    with store.write(operation="expire", actor="x", at=START) as tx:
        assert sorted(tx.overdue(START)) == [past.id, edge.id]
        assert tx.overdue(START - 2 * HOUR) == []


def test_a_transaction_knows_what_is_overdue_through_itself(store):
    with store.write(operation="remember", actor="x", at=START) as tx:
        assert tx.overdue(START) == []
        late = tx.add(a_draft("late", expires_at=START - HOUR), uid=str(uuid4()))
        assert tx.overdue(START) == [late.id]
        tx.change(late, state=State.ARCHIVED)
        assert tx.overdue(START) == []


def test_links_are_found_by_end_and_type(store):
    a, b, c = put(store, a_draft("a"), a_draft("b"), a_draft("c"))
    with store.write(operation="link", actor="x", at=START) as tx:
        ab = tx.add_edge(a.id, b.id, "knows", weight=0.5, reason="met")
        ba = tx.add_edge(b.id, a.id, "likes")
        bc = tx.change_edge(tx.add_edge(b.id, c.id, "knows"), valid_to=START)
        undone = tx.change_edge(tx.add_edge(a.id, c.id, "knows"), state=State.FORGOTTEN)
    reader = store.read()
    assert reader.edges([a.id], Direction.OUT) == [ab]
    assert reader.edges([a.id], Direction.IN) == [ba]
    assert reader.edges([b.id, a.id], Direction.BOTH) == [ab, ba, bc], "each once, ended ones included"
    assert reader.edges([b.id], Direction.BOTH, ["knows", "hates"]) == [ab, bc]
    assert reader.edges([], Direction.BOTH) == []
    assert reader.edge(undone.id) == undone and reader.edge(99) is None
    assert reader.edge_between(a.id, b.id, "knows") == ab
    assert reader.edge_between(b.id, a.id, "knows") is None
    assert reader.edge_between(b.id, c.id, "knows") is None, "it has ended"
    assert reader.edge_between(a.id, c.id, "knows") is None, "it was taken back"
    assert reader.has_edge(a.id, c.id, "knows", START) and not reader.has_edge(a.id, c.id, "knows", START + 1)
    assert list(reader.all_edges()) == [ab, ba, bc, undone]


def test_everything_can_be_walked_page_by_page(store):
    made = put(store, *(a_draft(f"memory {number}") for number in range(1100)))
    with store.write(operation="link", actor="x", at=START) as tx:
        edges = [tx.add_edge(made[0].id, memory.id, "knows") for memory in made[1:]]
        gone = tx.change(made[700], state=State.FORGOTTEN)
    walked = list(store.read().all_memories())
    assert walked == [*made[:700], gone, *made[701:]]
    assert list(store.read().all_edges()) == edges


def test_the_living_neighbours_in_a_session_are_right_before_and_after(store):
    with store.write(operation="x", actor="x", at=START) as tx:
        talk, other = tx.session("global", "talk"), tx.session("global", "other")
        turns = [tx.add(a_draft(f"turn {n}", session_id=talk), uid=f"{n:032x}") for n in range(1, 6)]
        alone = tx.add(a_draft("alone", session_id=other), uid=f"{7:032x}")
        free = tx.add(a_draft("free"), uid=f"{8:032x}")
        tx.change(turns[1], state=State.FORGOTTEN)
    numbers = [memory.id for memory in turns]
    assert store.read().neighbours_in_session([*numbers, alone.id, free.id, 99]) == {
        numbers[0]: (numbers[2],),
        numbers[1]: (numbers[0], numbers[2]),
        numbers[2]: (numbers[0], numbers[3]),
        numbers[3]: (numbers[2], numbers[4]),
        numbers[4]: (numbers[3],),
        alone.id: (),
    }


def test_a_session_is_started_once(store):
    with store.write(operation="x", actor="x", at=START) as tx:
        first = tx.session("global", "talk")
        assert tx.session("global", "talk") == first
        assert tx.session("work", "talk") != first
    with store.write(operation="x", actor="x", at=START + HOUR) as tx:
        assert tx.session("global", "talk") == first
    assert store.read().sessions()[0] == Session(id=first, namespace="global", name="talk", started_at=START)


def test_what_waits_for_vectors_comes_newest_first(store):
    put(store, a_draft("one", texts=("a", "b")), a_draft("two", namespace="work"))
    waiting = store.read().pending(limit=10)
    told = [("two", "two"), ("one", "a\nb"), ("one", "b"), ("one", "a")]
    assert [(item.title, item.text) for item in waiting] == told, (
        "what has two statements waits as a whole too"
    )
    assert [item.text for item in store.read().pending(limit=1)] == ["two"]
    here = Filter(namespaces=("global",))
    assert store.read().pending_count() == 4 and store.read().pending_count(here) == 3
    assert {item.title for item in store.read().pending(limit=10, wanted=here)} == {"one"}


def test_only_standing_statements_of_living_memories_wait(store):
    revised, gone, done = put(store, a_draft("first words"), a_draft("gone"), a_draft("done"))
    embed_all(store, Embedder())
    change(store, revised, texts=("other words",))
    change(store, gone, state=State.FORGOTTEN)
    assert [item.text for item in store.read().pending(limit=10)] == ["other words"]
    change(store, done, title="Done")
    assert {item.text for item in store.read().pending(limit=10)} == {"other words", "done"}, (
        "read under a new title"
    )


def test_tokens_are_kept_by_their_hash(store):
    ours = Token(name="ours", grant=Grant(("work",), can_write=False), created_at=START)
    all_ = Token(name="all", grant=Grant(), created_at=START)
    before = store.sequence()
    with store.write(operation="token", actor="x", at=START) as tx:
        tx.add_token(ours, b"1" * 32)
        tx.add_token(all_, b"2" * 32)
    reader = store.read()
    assert reader.tokens() == [all_, ours]
    assert reader.grant_of(b"1" * 32) == ours.grant and reader.grant_of(b"2" * 32) == Grant()
    assert reader.grant_of(b"3" * 32) is None
    with store.write(operation="token", actor="x", at=START) as tx:
        assert tx.drop_token("ours") and not tx.drop_token("ours")
    assert store.read().grant_of(b"1" * 32) is None
    assert store.sequence() == before, "tokens are not part of the journal"


def test_a_snapshot_answers_from_one_moment(store):
    embedder = Embedder()
    store.use_models(embedder.name)
    [first] = put(store, a_draft("red apples"))
    embed_all(store, embedder)
    apples = embedding(embedder, "red apples")
    with store.snapshot() as then:
        seen = then.count()
        put(store, a_draft("green apples"))
        change(store, first, texts=("blue plums",))
        embed_all(store, embedder)
        assert then.count() == seen == 1 and then.memory(first.id) == first
        assert [number for number, _ in then.words(["apples"], Filter(), every=True, limit=9)] == [first.id]
        assert [near.memory_id for near in then.nearest(apples, Filter(), limit=9)] == [first.id]
        assert then.counts(None, START).changes == 1
        assert store.read().count() == 2
    near = {near.memory_id: near.similarity for near in store.read().nearest(apples, Filter(), limit=9)}
    assert near[first.id] < 0.9, "the look at the past left no trace"


def test_a_closed_store_says_so(fresh):
    store = fresh("closing")
    put(store, a_draft("kept"))
    store.close()
    store.close()
    for use in (store.read, store.sequence, lambda: store.write(operation="x", actor="x", at=START)):
        with pytest.raises(StoreUnusable, match="closed"):
            use()
    assert fresh("closing").read().count() == 1


def test_the_same_store_opened_twice_is_one_store(fresh):
    left, right = fresh(), fresh()
    [memory] = put(left, a_draft("kept"))
    assert right.read().memory(memory.id) == memory
    changed = change(right, memory, title="Renamed")
    assert left.read().memory(memory.id) == changed
    assert left.location == right.location


def test_an_unchanged_memory_is_not_journaled(store):
    [memory] = put(store, a_draft("kept", tags=("a",)))
    before = store.sequence()
    assert change(store, memory, title=memory.title, texts=("kept",), tags=("a",), at=START + HOUR) == memory
    assert store.sequence() == before
    assert replace(memory) == store.read().memory(memory.id)


def test_traits_are_told_of_those_there_are(store):
    with store.write(operation="x", actor="x", at=START) as tx:
        talk = tx.session("global", "talk")
        doubtful = tx.add(a_draft("one", confidence=0.25, session_id=talk), uid=f"{1:032x}")
        plain = tx.add(a_draft("two"), uid=f"{2:032x}")
    told = store.read().traits([doubtful.id, plain.id, 99])
    assert told == {doubtful.id: Traits(0.25, talk, START), plain.id: Traits(1.0, None, START)}


def test_traits_are_those_of_now(store, engine, tmp_path):
    """Whoever changed them, and whatever a transaction that came to nothing had made of them."""
    assert store.read().traits([1]) == {}
    with store.write(operation="x", actor="x", at=START) as tx:
        memory = tx.add(a_draft("one", confidence=0.5), uid=f"{1:032x}")
    assert store.read().traits([memory.id])[memory.id].confidence == 0.5

    with pytest.raises(ZeroDivisionError), store.write(operation="x", actor="x", at=START) as tx:
        tx.change(memory, confidence=0.1)
        assert tx.traits([memory.id])[memory.id].confidence == 0.1
        raise ZeroDivisionError
    assert store.read().traits([memory.id])[memory.id].confidence == 0.5

    other = open_store(engine, tmp_path)
    change(other, memory, confidence=0.75)
    other.close()
    assert store.read().traits([memory.id])[memory.id].confidence == 0.75
    with store.write(operation="x", actor="x", at=START) as tx:
        tx.purge([memory.id])
    assert store.read().traits([memory.id]) == {}


def test_statements_that_begin_in_a_certain_way_are_told(store):
    [memory] = put(store, a_draft("one", texts=("The heron stands", "It fishes")))
    first, second = (statement.id for statement in memory.statements)

    def told(*numbers, characters=9):
        return store.read().beginning(numbers, characters, is_heron)

    assert told(first, second, 99) == told(first, second, 99) == [first]
    assert told(first, second, 99, characters=8) == []
    assert told() == []

    with pytest.raises(ZeroDivisionError), store.write(operation="x", actor="x", at=START) as tx:
        taken_back = tx.add(a_draft("two", texts=("The heron",)), uid=f"{2:032x}").statements[0].id
        assert tx.beginning([taken_back], 9, is_heron) == [taken_back]
        raise ZeroDivisionError
    [other] = put(store, a_draft("three", texts=("The crow",)))
    assert [statement.id for statement in other.statements] == [taken_back]
    assert told(taken_back) == []


def is_heron(opening):
    return opening == "The heron"


def test_merits_are_told_of_those_there_are(store):
    [one] = put(store, a_draft("one", priority=7, confidence=0.5, tier=Tier.MID))
    assert store.read().merits([one.id, 99]) == {one.id: Merit(7, 0.5, 0, Tier.MID, START)}


def test_what_has_left_is_listed_by_when_it_did(store):
    made = put(store, *(a_draft(f"note {n}", namespace="b" if n == 2 else "a") for n in range(4)))
    for n, memory in enumerate(made[:3]):
        change(store, memory, state=State.ARCHIVED, state_at=START + n)
    change(store, made[3], state=State.FORGOTTEN, state_at=START + 9)
    reader = store.read()
    first, second, third = (memory.id for memory in made[:3])
    assert reader.left(State.ARCHIVED, None) == [third, second, first]
    assert reader.left(State.ARCHIVED, ("a",)) == [second, first]
    assert reader.left(State.ARCHIVED, None, limit=1, offset=1) == [second]
    assert reader.left(State.ARCHIVED, None, before=START + 1) == [first]
    left = reader.left_by_namespace(State.ARCHIVED, None)
    assert {namespace: one.memories for namespace, one in left.items()} == {"a": 2, "b": 1}
    assert reader.left_by_namespace(State.ARCHIVED, ("b",)) == {"b": left["b"]}


def test_a_namespace_has_a_standard_and_a_parent(store):
    with store.write(operation="set_standard", actor="tester", at=START) as tx:
        tx.set_standard("app", 7, "company")
        tx.set_standard("other", None, "company")
        tx.set_standard("gone", 7, None)
        tx.set_standard("gone", None, None)
    assert store.read().standards() == [("app", 7, "company"), ("other", None, "company")]


def test_links_to_what_has_left_are_not_counted(store):
    one, other = put(store, a_draft("one"), a_draft("other"))
    with store.write(operation="link", actor="tester", at=START) as tx:
        tx.add_edge(one.id, other.id, "near")
    assert store.read().counts(None, START).edges == 1
    change(store, other, state=State.FORGOTTEN, state_at=START)
    assert store.read().counts(None, START).edges == 0


def test_sessions_are_numbered_told_and_changed(store):
    with store.write(operation="x", actor="x", at=START) as tx:
        plain = tx.add_session("work")
        numbered = tx.add_session("home", id=40, topic="kites", metadata={"a": 1})
        with pytest.raises(Conflict):
            tx.add_session("home", id=40)
        ended = tx.change_session(numbered, ended_at=START + HOUR, summary="flew")
        assert tx.change_session(ended, summary="flew") is ended
    reader = store.read()
    assert (plain.id, plain.name, reader.session_numbered(40), reader.session_numbered(7)) == (
        1,
        "Session 1",
        ended,
        None,
    )
    assert [one.id for one in reader.latest_sessions(None, limit=5)] == [40, 1]
    assert [one.id for one in reader.latest_sessions(("work",), limit=5)] == [1]
    told = [
        (change.before, change.after) for change in reader.journal(subject=Subject.SESSION, subject_ids=[40])
    ]
    assert told[1] == ({"ended_at": None, "summary": None}, {"ended_at": START + HOUR, "summary": "flew"})


def test_workspaces_are_told_with_their_stores(store):
    with store.write(operation="x", actor="x", at=START) as tx:
        one = tx.add_workspace("planning")
        tx.add_workspace("empty")
        member = tx.add_member(one.id, "/a.db", Role.REFERENCE, "a")
    first, second = store.read().workspaces()
    assert (first.name, first.members, second.members) == ("planning", (member,), ())
    assert (member.path, member.role, member.label, member.added_at) == ("/a.db", Role.REFERENCE, "a", START)


@pytest.mark.parametrize(
    "order, expected",
    [
        (Order.PRIORITY, ["high", "new", "sure"]),
        (Order.NEWEST, ["new", "sure", "high"]),
        (Order.CONFIDENCE, ["sure", "new", "high"]),
        (Order.USE, ["high", "new", "sure"]),
    ],
)
def test_a_selection_comes_in_the_order_asked_for(store, order, expected):
    made = put(
        store,
        a_draft("high", priority=9, confidence=0.1, created_at=START - 2),
        a_draft("sure", confidence=0.9, created_at=START - 1),
        a_draft("new", confidence=0.5, created_at=START),
    )
    with store.write(operation="use", actor="x", at=START) as tx:
        tx.touch([made[0].id], START)
    reader = store.read()
    assert [
        memory.title for memory in reader.memories(reader.select(Filter(), limit=9, order=order))
    ] == expected


def test_the_last_of_a_session_is_its_newest_living_memory(store):
    with store.write(operation="x", actor="x", at=START) as tx:
        number = tx.session("global", "talk")
        assert tx.last_in_session(number) is None
        one, two = (tx.add(a_draft(text, session_id=number), uid=str(uuid4())) for text in ("one", "two"))
        assert tx.last_in_session(number) == two.id
        tx.change(two, state=State.FORGOTTEN, state_at=START)
        assert tx.last_in_session(number) == one.id


def test_memories_are_looked_up_by_whole_uids_in_any_state(store):
    one, gone = put(store, a_draft("one"), a_draft("two"))
    change(store, gone, state=State.FORGOTTEN)
    asked = [gone.uid.upper(), one.uid[:8], "nope", one.uid.replace("-", ""), ""]
    assert store.read().numbers(asked) == {asked[0]: gone.id, asked[3]: one.id}
    assert store.read().numbers([]) == {}


def test_uids_are_told_of_those_that_pass(store):
    one, other, gone = put(store, a_draft("one"), a_draft("two", namespace="b"), a_draft("three"))
    change(store, gone, state=State.FORGOTTEN)
    numbers = [one.id, other.id, gone.id, 404]
    assert store.read().uids(numbers, Filter()) == {one.id: one.uid, other.id: other.uid}
    assert store.read().uids(numbers, Filter(namespaces=("b",))) == {other.id: other.uid}


def test_a_filter_may_name_numbers(store):
    one, other, _ = put(store, a_draft("sky one"), a_draft("sky two"), a_draft("sky three"))
    embedder = Embedder()
    store.use_models(embedder.name)
    embed_all(store, embedder)
    wanted, reader = Filter(ids=(other.id, one.id), namespaces=("global",)), store.read()
    assert set(reader.select(wanted, limit=9)) == {one.id, other.id}
    assert {number for number, _ in reader.words(["sky"], wanted, every=True, limit=9)} == {one.id, other.id}
    near = reader.nearest(embedding(embedder, "sky three"), wanted, limit=9)
    assert {found.memory_id for found in near} == {one.id, other.id}


def test_the_repute_of_a_memory_is_its_quality_and_use(store):
    one, other = put(store, a_draft("one", quality=7.5), a_draft("two"))
    with store.write(operation="use", actor="x", at=START) as tx:
        tx.touch([other.id], START + HOUR)
    assert store.read().reputes([other.id, one.id, 404]) == {
        one.id: Repute(7.5, 0, None, START),
        other.id: Repute(None, 1, START + HOUR, START),
    }
