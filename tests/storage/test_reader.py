"""Questions to the store that need no search: by number, uid, title, filter, link, session and token."""

from __future__ import annotations

from dataclasses import asdict, replace
from uuid import uuid4

import pytest
from support import (
    START,
    a_draft,
    change,
    embed_all,
    embedding,
    faults,
    last_number,
    open_store,
    put,
    store_after,
    write,
)
from support import WordEmbedder as Embedder

from mnemic.core.stats import COUNTED, LINKED, by_state
from mnemic.errors import Conflict, StoreUnusable
from mnemic.model.access import Grant, Token
from mnemic.model.candidates import Ask, Candidate
from mnemic.model.change import Subject
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ANY_EDGE, ChangeFilter, EdgeFilter, Filter, Order, SessionFilter
from mnemic.model.graph import Direction, EdgeDraft, EdgePatch
from mnemic.model.memory import MemoryPatch
from mnemic.model.session import Session, SessionDraft, SessionPatch
from mnemic.model.shapes import Departure, Merit, Repute
from mnemic.model.time import DAY, HOUR, MINUTE
from mnemic.storage import queries
from mnemic.storage.queries import (
    count,
    each_memory,
    edge_between,
    edge_numbered,
    ids_titled,
    ids_with_uid,
    memory_numbered,
    numbers,
    session_called,
    session_numbered,
    uids_of,
)


def test_an_empty_store_answers_every_question(store):
    reader = store.read()
    assert (memory_numbered(reader, 1), reader.get([1, 2]), count(reader), last_number(store)) == (
        None,
        [],
        0,
        0,
    )
    assert reader.select(Filter(), limit=10) == []
    assert queries.best_words(reader, ["sky"], Filter(), every=True, limit=10) == []
    assert queries.nearest(reader, embedding(Embedder(), "sky"), Filter(), limit=10) == []
    assert list(reader.journal()) == list(each_memory(reader)) == list(reader.edges(ANY_EDGE)) == []
    assert count(store_after(store, 0).read()) == 0
    assert faults(store) == []


def test_a_memory_comes_back_as_it_was_put(store):
    draft = a_draft(
        "  Padding and\nline breaks stay  ",
        namespace="work",
        name="Kept",
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
    assert memory_numbered(store.read(), memory.id) == memory
    assert memory.content == "  Padding and\nline breaks stay  \nsecond\nsecond"
    for name, value in asdict(draft).items():
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
    [memory] = put(store, a_draft(text, name="t"))
    assert memory_numbered(store.read(), memory.id).content == text


def test_memories_come_in_the_order_asked_for(store):
    one, two, three = put(store, a_draft("one"), a_draft("two"), a_draft("three"))
    found = store.read().get([three.id, 99, one.id, two.id])
    assert [memory.title for memory in found] == ["three", "one", "two"]


def test_a_uid_is_found_by_its_beginning(store):
    def work(tx):
        first = tx.insert(a_draft("one"), uid="aaaa1111-0000-4000-8000-000000000001")
        second = tx.insert(a_draft("two"), uid="aaaa2222-0000-4000-8000-000000000002")
        return first, second

    first, second = write(store, work)
    reader = store.read()
    assert ids_with_uid(reader, "aaaa", 9) == [first.id, second.id]
    assert ids_with_uid(reader, "aaaa", 1) == [first.id]
    assert ids_with_uid(reader, "AAAA1", 9) == [first.id]
    assert (
        ids_with_uid(reader, "aaaa2222-0000-4", 9) == ids_with_uid(reader, "aaaa222200004", 9) == [second.id]
    )
    assert ids_with_uid(reader, second.uid, 9) == [second.id]
    for nonsense in ("", "aaa", "zzzz", "bbbb", "aaaa1111-0000-4000-8000-000000000001ff", "%%%%", "aaaa_"):
        assert ids_with_uid(reader, nonsense, 9) == []


def test_a_title_is_found_exactly_and_among_the_living(store):
    here, there = put(store, a_draft("x", name="Sky"), a_draft("y", name="Sky", namespace="work"))
    put(store, a_draft("z", name="sky"))
    reader = store.read()
    assert ids_titled(reader, "Sky", None) == [here.id, there.id]
    assert ids_titled(reader, "Sky", ("work", "nowhere", "global")) == [here.id, there.id]
    assert ids_titled(reader, "Sk", None) == ids_titled(reader, "Sky", ()) == []
    change(store, here, state=State.FORGOTTEN)
    assert ids_titled(store.read(), "Sky", None) == [there.id]


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

    def work(tx):
        tx.insert_edge(EdgeDraft(kept.id, other.id, "knows"))
        tx.update_edge(tx.insert_edge(EdgeDraft(kept.id, soon.id, "knows")), EdgePatch(valid_to=now))
        tx.insert_edge(EdgeDraft(kept.id, soon.id, "knows"))

    write(store, work, operation="link", at=now)
    reader, living = store.read(), Filter(alive_at=now)
    assert reader.tally(living, "tier") == {"long": 2, "mid": 1}
    assert reader.tally(living, "namespace") == {"global": 2, "work": 1}
    assert reader.tally(living, "kind") == {"note": 2, "fact": 1}
    assert reader.tally(Filter(states=COUNTED), "state") == {"living": 4, "forgotten": 1}
    assert by_state(reader, None, now) == {"living": 3, "archived": 1, "forgotten": 1}
    assert sum(reader.tally(Filter(alive_at=now + HOUR), "state").values()) == 2, "one ends soon"
    assert reader.tally(EdgeFilter(ends=Filter(states=LINKED), is_current=True), "type") == {"knows": 2}
    work = Filter(namespaces=("work",), states=LINKED)
    assert reader.tally(EdgeFilter(near=work, is_current=True), "type") == {"knows": 1}
    assert reader.tally(EdgeFilter(ends=work, is_current=True), "type") == {}
    assert reader.tally(Filter(namespaces=("work",), alive_at=now), "kind") == {"note": 1}
    assert reader.tally(Filter(namespaces=("work", "global"), alive_at=now), "namespace") == {
        "global": 2,
        "work": 1,
    }
    assert reader.backlog(living) == 3
    assert count(reader) == 4, "over has not been collected yet"
    assert reader.overdue(now) == [over.id]


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

    def work(tx):
        assert sorted(tx.overdue(START)) == [past.id, edge.id]
        assert tx.overdue(START - 2 * HOUR) == []

    write(store, work, operation="expire")


def test_a_transaction_knows_what_is_overdue_through_itself(store):
    def work(tx):
        assert tx.overdue(START) == []
        late = tx.insert(a_draft("late", expires_at=START - HOUR), uid=str(uuid4()))
        assert tx.overdue(START) == [late.id]
        tx.update(late, MemoryPatch(state=State.ARCHIVED))
        assert tx.overdue(START) == []

    write(store, work, operation="remember")


def test_links_are_found_by_end_and_type(store):
    a, b, c = put(store, a_draft("a"), a_draft("b"), a_draft("c"))

    def work(tx):
        ab = tx.insert_edge(EdgeDraft(a.id, b.id, "knows", weight=0.5, reason="met"))
        ba = tx.insert_edge(EdgeDraft(b.id, a.id, "likes"))
        bc = tx.update_edge(tx.insert_edge(EdgeDraft(b.id, c.id, "knows")), EdgePatch(valid_to=START))
        undone = tx.update_edge(
            tx.insert_edge(EdgeDraft(a.id, c.id, "knows")), EdgePatch(state=State.FORGOTTEN)
        )
        return ab, ba, bc, undone

    ab, ba, bc, undone = write(store, work, operation="link")
    reader = store.read()
    assert reader.edges(EdgeFilter(at=(a.id,), direction=Direction.OUT)) == [ab]
    assert reader.edges(EdgeFilter(at=(a.id,), direction=Direction.IN)) == [ba]
    assert reader.edges(EdgeFilter(at=(b.id, a.id))) == [ab, ba, bc], "each once, ended ones included"
    assert reader.edges(EdgeFilter(at=(b.id,), types=("knows", "hates"))) == [ab, bc]
    assert reader.edges(EdgeFilter(at=())) == []
    assert edge_numbered(reader, undone.id) == undone and edge_numbered(reader, 99) is None
    assert edge_between(reader, a.id, b.id, "knows") == ab
    assert edge_between(reader, b.id, a.id, "knows") is None
    assert edge_between(reader, b.id, c.id, "knows") is None, "it has ended"
    assert edge_between(reader, a.id, c.id, "knows") is None, "it was taken back"
    assert list(reader.edges(ANY_EDGE)) == [ab, ba, bc, undone]


def test_everything_can_be_walked_page_by_page(store):
    made = put(store, *(a_draft(f"memory {number}") for number in range(1100)))

    def work(tx):
        edges = [tx.insert_edge(EdgeDraft(made[0].id, memory.id, "knows")) for memory in made[1:]]
        gone = tx.update(made[700], MemoryPatch(state=State.FORGOTTEN))
        return edges, gone

    edges, gone = write(store, work, operation="link")
    walked = list(each_memory(store.read()))
    assert walked == [*made[:700], gone, *made[701:]]
    assert list(store.read().edges(ANY_EDGE)) == edges


def test_the_living_neighbours_in_a_session_are_right_before_and_after(store):
    def work(tx):
        talk, other = session_called(tx, "global", "talk").id, session_called(tx, "global", "other").id
        turns = [tx.insert(a_draft(f"turn {n}", session_id=talk), uid=f"{n:032x}") for n in range(1, 6)]
        alone = tx.insert(a_draft("alone", session_id=other), uid=f"{7:032x}")
        free = tx.insert(a_draft("free"), uid=f"{8:032x}")
        tx.update(turns[1], MemoryPatch(state=State.FORGOTTEN))
        return turns, alone, free

    turns, alone, free = write(store, work)
    numbers = [memory.id for memory in turns]
    assert queries.neighbours_in_session(store.read(), [*numbers, alone.id, free.id, 99]) == {
        numbers[0]: (numbers[2],),
        numbers[1]: (numbers[0], numbers[2]),
        numbers[2]: (numbers[0], numbers[3]),
        numbers[3]: (numbers[2], numbers[4]),
        numbers[4]: (numbers[3],),
        alone.id: (),
    }


def test_a_session_is_started_once(store):
    def work(tx):
        first = session_called(tx, "global", "talk").id
        assert session_called(tx, "global", "talk").id == first
        assert session_called(tx, "work", "talk").id != first
        return first

    first = write(store, work)

    def work(tx):
        assert session_called(tx, "global", "talk").id == first

    write(store, work, at=START + HOUR)
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
    assert store.read().backlog() == 4 and store.read().backlog(here) == 3
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
    before = last_number(store)

    def work(tx):
        tx.put_token(ours, b"1" * 32)
        tx.put_token(all_, b"2" * 32)

    write(store, work, operation="token")
    reader = store.read()
    assert reader.tokens() == [all_, ours]
    assert reader.tokens(b"1" * 32) == [ours] and reader.tokens(b"2" * 32) == [all_]
    assert reader.tokens(b"3" * 32) == []

    def work(tx):
        assert tx.delete_token("ours") and not tx.delete_token("ours")

    write(store, work, operation="token")
    assert store.read().tokens(b"1" * 32) == []
    assert last_number(store) == before, "tokens are not part of the journal"


def test_a_snapshot_answers_from_one_moment(store):
    embedder = Embedder()
    store.use_models(embedder.name)
    [first] = put(store, a_draft("red apples"))
    embed_all(store, embedder)
    apples = embedding(embedder, "red apples")
    with store.snapshot() as then:
        seen = count(then)
        put(store, a_draft("green apples"))
        change(store, first, texts=("blue plums",))
        embed_all(store, embedder)
        assert count(then) == seen == 1 and memory_numbered(then, first.id) == first
        assert [
            number for number, _ in queries.best_words(then, ["apples"], Filter(), every=True, limit=9)
        ] == [first.id]
        assert [near.memory_id for near in queries.nearest(then, apples, Filter(), limit=9)] == [first.id]
        assert count(store.read()) == 2
    near = {near.memory_id: near.cosine for near in queries.nearest(store.read(), apples, Filter(), limit=9)}
    assert near[first.id] < 0.9, "the look at the past left no trace"


def test_a_closed_store_says_so(fresh):
    store = fresh("closing")
    put(store, a_draft("kept"))
    store.close()
    store.close()
    for use in (store.read, store.newest, lambda: write(store, lambda tx: tx)):
        with pytest.raises(StoreUnusable, match="closed"):
            use()
    assert count(fresh("closing").read()) == 1


def test_the_same_store_opened_twice_is_one_store(fresh):
    left, right = fresh(), fresh()
    [memory] = put(left, a_draft("kept"))
    assert memory_numbered(right.read(), memory.id) == memory
    changed = change(right, memory, title="Renamed")
    assert memory_numbered(left.read(), memory.id) == changed
    assert left.location == right.location


def test_an_unchanged_memory_is_not_journaled(store):
    [memory] = put(store, a_draft("kept", tags=("a",)))
    before = last_number(store)
    assert change(store, memory, title=memory.title, texts=("kept",), tags=("a",), at=START + HOUR) == memory
    assert last_number(store) == before
    assert replace(memory) == memory_numbered(store.read(), memory.id)


def traits(reader, *memory_ids):
    return reader.candidates(Ask(ids=memory_ids, has_traits=True)).rows


def test_traits_are_given_for_those_that_exist(store):
    def work(tx):
        talk = session_called(tx, "global", "talk").id
        doubtful = tx.insert(a_draft("one", confidence=0.25, session_id=talk), uid=f"{1:032x}")
        plain = tx.insert(a_draft("two"), uid=f"{2:032x}")
        return talk, doubtful, plain

    talk, doubtful, plain = write(store, work)
    found = traits(store.read(), doubtful.id, plain.id, 99)
    assert found == {
        doubtful.id: Candidate(doubtful.id, confidence=0.25, session_id=talk, occurred_at=START),
        plain.id: Candidate(plain.id, confidence=1.0, occurred_at=START),
    }


def test_traits_are_those_of_now(store, engine, tmp_path):
    """Whoever changed them, and whatever a transaction that came to nothing had made of them."""
    assert traits(store.read(), 1) == {}
    memory = write(store, lambda tx: tx.insert(a_draft("one", confidence=0.5), uid=f"{1:032x}"))
    assert traits(store.read(), memory.id)[memory.id].confidence == 0.5

    def work(tx):
        tx.update(memory, MemoryPatch(confidence=0.1))
        assert traits(tx, memory.id)[memory.id].confidence == 0.1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write(store, work)
    assert traits(store.read(), memory.id)[memory.id].confidence == 0.5

    other = open_store(engine, tmp_path)
    change(other, memory, confidence=0.75)
    other.close()
    assert traits(store.read(), memory.id)[memory.id].confidence == 0.75
    write(store, lambda tx: tx.purge([memory.id]))
    assert traits(store.read(), memory.id) == {}


def test_the_opening_of_the_best_statement_is_read(store):
    embedder = Embedder()
    store.use_models(embedder.name)
    [memory] = put(store, a_draft("one", texts=("The heron stands", "It fishes")))
    embed_all(store, embedder)

    def opening(reader, characters, text="The heron stands"):
        ask = Ask(text=embedding(embedder, text), ids=(memory.id,), opening=characters)
        return reader.candidates(ask).rows[memory.id].opening

    assert opening(store.read(), 9) == opening(store.read(), 9) == "The heron"
    assert opening(store.read(), 8) == "The hero"
    assert opening(store.read(), 9, "It fishes") == "It fishes"
    assert opening(store.read(), 0) == ""


def test_merits_are_given_for_those_that_exist(store):
    [one] = put(store, a_draft("one", priority=7, confidence=0.5, tier=Tier.MID))
    assert store.read().look([one.id, 99], Merit) == [Merit(one.id, 7, 0.5, 0, Tier.MID, START)]


def test_what_has_left_is_listed_by_when_it_did(store):
    made = put(store, *(a_draft(f"note {n}", namespace="b" if n == 2 else "a") for n in range(4)))
    for n, memory in enumerate(made[:3]):
        change(store, memory, state=State.ARCHIVED, state_at=START + n)
    change(store, made[3], state=State.FORGOTTEN, state_at=START + 9)
    reader = store.read()
    first, second, third = (memory.id for memory in made[:3])
    assert reader.select(Filter(namespaces=None, states=frozenset({State.ARCHIVED})), order=Order.LEFT) == [
        third,
        second,
        first,
    ]
    assert reader.select(Filter(namespaces=("a",), states=frozenset({State.ARCHIVED})), order=Order.LEFT) == [
        second,
        first,
    ]
    assert reader.select(
        Filter(namespaces=None, states=frozenset({State.ARCHIVED})), order=Order.LEFT, limit=1, offset=1
    ) == [second]
    archived = reader.look(Filter(states=frozenset({State.ARCHIVED})), Departure)
    size = len("note 0") * 2
    assert archived == [
        Departure(first, "a", size, START),
        Departure(second, "a", size, START + 1),
        Departure(third, "b", size, START + 2),
    ]


def test_a_namespace_has_a_standard_and_a_parent(store):
    def work(tx):
        tx.put_standard("app", 7, "company")
        tx.put_standard("other", None, "company")
        tx.put_standard("gone", 7, None)
        tx.put_standard("gone", None, None)

    write(store, work, operation="set_standard", actor="tester")
    assert store.read().standards() == [("app", 7, "company"), ("other", None, "company")]


def test_links_to_what_has_left_are_not_counted(store):
    one, other = put(store, a_draft("one"), a_draft("other"))
    write(
        store,
        lambda tx: tx.insert_edge(EdgeDraft(one.id, other.id, "near")),
        operation="link",
        actor="tester",
    )
    assert count(store.read(), EdgeFilter(ends=Filter(states=LINKED), is_current=True)) == 1
    change(store, other, state=State.FORGOTTEN, state_at=START)
    assert count(store.read(), EdgeFilter(ends=Filter(states=LINKED), is_current=True)) == 0


def test_sessions_are_numbered_listed_and_changed(store):
    def work(tx):
        plain = tx.insert_session(SessionDraft("work"))
        numbered = tx.insert_session(SessionDraft("home", id=40, topic="kites", metadata={"a": 1}))
        with pytest.raises(Conflict):
            tx.insert_session(SessionDraft("home", id=40))
        ended = tx.update_session(numbered, SessionPatch(ended_at=START + HOUR, summary="flew"))
        assert tx.update_session(ended, SessionPatch(summary="flew")) is ended
        return plain, ended

    plain, ended = write(store, work)
    reader = store.read()
    assert (plain.id, plain.name, session_numbered(reader, 40), session_numbered(reader, 7)) == (
        1,
        "Session 1",
        ended,
        None,
    )
    assert [
        one.id for one in reader.sessions(SessionFilter(namespaces=None), limit=5, newest_first=True)
    ] == [40, 1]
    assert [
        one.id for one in reader.sessions(SessionFilter(namespaces=("work",)), limit=5, newest_first=True)
    ] == [1]
    told = [
        (change.before, change.after)
        for change in reader.journal(ChangeFilter(subject=Subject.SESSION, subject_ids=(40,)))
    ]
    assert told[1] == ({"ended_at": None, "summary": None}, {"ended_at": START + HOUR, "summary": "flew"})


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
    write(store, lambda tx: tx.count_use([made[0].id], START), operation="use")
    reader = store.read()
    assert [memory.title for memory in reader.get(reader.select(Filter(), limit=9, order=order))] == expected


def test_the_last_of_a_session_is_its_newest_living_memory(store):
    def work(tx):
        number = session_called(tx, "global", "talk").id
        assert next(iter(tx.select(Filter(session_ids=(number,)), order=Order.LAST, limit=1)), None) is None
        one, two = (tx.insert(a_draft(text, session_id=number), uid=str(uuid4())) for text in ("one", "two"))
        assert next(iter(tx.select(Filter(session_ids=(number,)), order=Order.LAST, limit=1)), None) == two.id
        tx.update(two, MemoryPatch(state=State.FORGOTTEN, state_at=START))
        assert next(iter(tx.select(Filter(session_ids=(number,)), order=Order.LAST, limit=1)), None) == one.id

    write(store, work)


def test_memories_are_looked_up_by_whole_uids_in_any_state(store):
    one, gone = put(store, a_draft("one"), a_draft("two"))
    change(store, gone, state=State.FORGOTTEN)
    asked = [gone.uid.upper(), one.uid[:8], "nope", one.uid.replace("-", ""), ""]
    assert numbers(store.read(), asked) == {asked[0]: gone.id, asked[3]: one.id}
    assert numbers(store.read(), []) == {}


def test_uids_are_given_for_those_that_pass(store):
    one, other, gone = put(store, a_draft("one"), a_draft("two", namespace="b"), a_draft("three"))
    change(store, gone, state=State.FORGOTTEN)
    numbers = [one.id, other.id, gone.id, 404]
    assert uids_of(store.read(), numbers, Filter()) == {one.id: one.uid, other.id: other.uid}
    assert uids_of(store.read(), numbers, Filter(namespaces=("b",))) == {other.id: other.uid}


def test_a_filter_may_name_numbers(store):
    one, other, _ = put(store, a_draft("sky one"), a_draft("sky two"), a_draft("sky three"))
    embedder = Embedder()
    store.use_models(embedder.name)
    embed_all(store, embedder)
    wanted, reader = Filter(ids=(other.id, one.id), namespaces=("global",)), store.read()
    assert set(reader.select(wanted, limit=9)) == {one.id, other.id}
    assert {number for number, _ in queries.best_words(reader, ["sky"], wanted, every=True, limit=9)} == {
        one.id,
        other.id,
    }
    near = queries.nearest(reader, embedding(embedder, "sky three"), wanted, limit=9)
    assert {found.memory_id for found in near} == {one.id, other.id}


def test_the_repute_of_a_memory_is_its_quality_and_use(store):
    one, other = put(store, a_draft("one", quality=7.5), a_draft("two"))
    write(store, lambda tx: tx.count_use([other.id], START + HOUR), operation="use")
    assert store.read().look([other.id, one.id, 404], Repute) == [
        Repute(one.id, 7.5, 0, None, START),
        Repute(other.id, None, 1, START + HOUR, START),
    ]
