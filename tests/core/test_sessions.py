"""Sessions: what belongs to them, how they end, and what is taken up again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import Barrier

import pytest
from support import everything, faults, kept, last_number

from mnemic.core.history import undo
from mnemic.core.memories import find
from mnemic.core.sessions import (
    BEGUN_BY,
    EPISODE_OF,
    LAST_CHOSEN,
    Event,
    current,
    end,
    end_open,
    enter,
    log,
    log_turn,
    record,
    resume,
    start,
    take_up,
)
from mnemic.errors import Conflict, Denied, Invalid, NotFound
from mnemic.model.access import Grant
from mnemic.model.annotations import HIDDEN
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Direction
from mnemic.storage.queries import count, session_numbered
from mnemic.transfer.jsonl import export_lines, import_lines


def recorded(ctx, text, kind="fact", **fields):
    return record(ctx, [Event(text=text, kind=kind, **fields)])[0]


def links(ctx, number, direction=Direction.OUT):
    edges = ctx.store.read().edges(EdgeFilter(at=(number,), direction=direction))
    return [(edge.target_id if direction is Direction.OUT else edge.source_id, edge.type) for edge in edges]


def test_what_follows_a_start_belongs_to_the_session(ctx):
    first = start(ctx, topic="kites", metadata={"project": "k"})
    assert (first.session.id, first.previous, first.last_episode, first.total) == (1, None, None, 1)
    assert recorded(ctx, "in the first").session_id == 1
    second = start(ctx)
    assert (second.session.id, second.previous.id, second.total) == (2, 1, 2)
    assert recorded(ctx, "in the second").session_id == 2
    made = session_numbered(ctx.store.read(), 1)
    assert (made.topic, made.metadata, made.name) == (
        "kites",
        {"project": "k", BEGUN_BY: "tester"},
        "Session 1",
    )


def test_a_session_can_be_named_by_its_number_and_taken_up_again(ctx):
    assert start(ctx, 4242).session.id == 4242
    assert start(ctx).session.id == 4243
    assert start(ctx, 4242).total == 2 and current(ctx) == 4242


def test_metadata_of_a_resumed_session_is_merged(ctx):
    start(ctx, 7, metadata={"project": "kites", "mood": "keen"})
    end(ctx)
    taken_up = start(ctx, 7, metadata={"mood": "tired"}).session
    assert (taken_up.ended_at, taken_up.metadata) == (
        None,
        {"project": "kites", "mood": "tired", BEGUN_BY: "tester"},
    )
    assert start(ctx, 7).session == taken_up == session_numbered(ctx.store.read(), 7)


def test_a_chosen_number_leaves_numbers_to_count_on_from(ctx):
    with pytest.raises(Invalid, match="session_id"):
        start(ctx, LAST_CHOSEN + 1)
    start(ctx, LAST_CHOSEN)
    following = start(ctx).session.id
    assert start(ctx, following).session.id == following == LAST_CHOSEN + 1


def test_the_start_counts_the_sessions_that_the_caller_looks_at(ctx):
    for namespace in ("theirs", "theirs", "ours"):
        start(replace(ctx, namespace=namespace))
    guest = ctx.limited_to(Grant(("ours",), True))
    assert start(guest).total == 2
    assert start(replace(ctx, namespace="theirs")).total == 3
    assert start(ctx).total == 6


def test_without_a_start_one_begins_with_the_first_event(ctx):
    assert current(ctx) is None
    assert recorded(ctx, "one").session_id == recorded(ctx, "two").session_id == current(ctx) == 1


@pytest.mark.parametrize("write", [recorded, lambda ctx, text: log(ctx, text, None)])
def test_first_events_at_the_same_time_are_in_one_session(ctx, write):
    ready = Barrier(8)

    def first(number):
        ready.wait()
        write(ctx, f"event {number}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(first, range(8)))
    assert len(ctx.store.read().sessions()) == 1


class Restless(dict):
    """The sessions of callers of whom another thread is always faster: what is entered, it leaves for *other*."""

    other = 0

    def __setitem__(self, key, number):
        super().__setitem__(key, self.other or number)


def test_a_turn_is_in_the_session_that_is_named(ctx):
    ctx = replace(ctx, sessions=Restless())
    start(ctx)
    ctx.sessions.other = start(ctx).session.id
    session, turn = log(ctx, "said in the first", None, number=1)
    assert (session.id, turn.session_id, current(ctx)) == (1, 1, 2)


def test_a_turn_is_refused_if_its_session_ends_meanwhile(ctx):
    start(ctx)
    end(ctx)
    with pytest.raises(Conflict, match="has ended"):
        log_turn(ctx, "too late", None, number=1)


def test_callers_have_sessions_of_their_own(ctx):
    other = ctx.on_behalf_of("other")
    assert recorded(ctx, "mine").session_id == 1
    assert recorded(other, "theirs").session_id == 2
    assert (current(ctx), current(other)) == (1, 2)


def test_events_are_linked_one_behind_the_other_within_a_session(ctx):
    one, two = record(ctx, [Event(text="one", kind="fact"), Event(text="two", kind="fact")])
    three = recorded(ctx, "three", links=((one.id, "caused_by", 0.5),))
    assert links(ctx, one.id) == [(two.id, "temporal_next")]
    assert links(ctx, two.id) == [(three.id, "temporal_next")]
    assert links(ctx, three.id) == [(one.id, "caused_by")]
    start(ctx)
    four = recorded(ctx, "four")
    assert links(ctx, four.id, Direction.IN) == []


def test_equal_texts_make_two_memories(ctx):
    assert recorded(ctx, "the same").id != recorded(ctx, "the same").id


def test_a_link_that_leads_nowhere_keeps_nothing(ctx):
    with pytest.raises(NotFound, match="99"):
        record(
            ctx,
            [Event(text="one", kind="fact"), Event(text="x", kind="fact", links=((99, "supports", 1.0),))],
        )
    assert count(ctx.store.read()) == 0
    assert recorded(ctx, "after").session_id == 1


def test_what_an_event_supersedes_is_superseded_and_comes_back_when_the_event_is_undone(ctx):
    old = recorded(ctx, "the gate code is 4711")
    new = recorded(ctx, "the gate code is 2203", links=((old.id, "supersedes", 1.0),) * 2)
    was = find(ctx, old.id)
    assert (was.state, was.state_at, find(ctx, new.id).state) == (State.SUPERSEDED, ctx.now(), State.LIVING)
    undo(ctx, last_number(ctx.store))
    assert find(ctx, old.id).state is State.LIVING and faults(ctx.store) == []


def test_the_end_writes_an_episode_of_everything_in_the_session(ctx, clock):
    start(ctx)
    nodes = [recorded(ctx, "first step").id, recorded(ctx, "second step").id]
    clock.advance(hours=1)
    ended = end(ctx, summary="Learned to fly kites")
    assert (ended.session.ended_at, ended.session.summary) == (clock(), "Learned to fly kites")
    episode = ended.episode
    assert (episode.kind, episode.content, episode.session_id) == ("episode", "Learned to fly kites", 1)
    assert links(ctx, episode.id, Direction.IN) == [(number, "part_of") for number in nodes]
    assert current(ctx) is None and recorded(ctx, "later").session_id == 2
    assert start(ctx).last_episode.id == episode.id and faults(ctx.store) == []


def test_the_end_may_be_plain_or_of_another_session(ctx):
    start(ctx, 51)
    recorded(ctx, "something")
    start(ctx, 52)
    ended = end(ctx, 51)
    assert (ended.session.id, ended.episode.content, current(ctx)) == (51, "Session 51 completed", 52)
    assert end(ctx, episode=False).episode is None
    with pytest.raises(NotFound, match="No session 99"):
        end(ctx, 99)


def test_a_session_that_has_ended_keeps_its_episode(ctx, clock):
    start(ctx, 51)
    recorded(ctx, "something")
    first = end(ctx, 51, summary="Learned to fly kites")
    clock.advance(hours=1)
    again = (end(ctx, 51), end(ctx, 51, summary="Learned to fly kites"), end(ctx))
    assert again == (first,) * 3 and count(ctx.store.read()) == 2
    other = end(ctx, 51, summary="Learned to build kites")
    assert other.episode.id != first.episode.id and end(ctx, 51) == other
    start(ctx, 52)
    end(ctx, episode=False)
    assert end(ctx, 52, episode=False).episode is None
    assert end(ctx, 52).episode.content == "Session 52 completed"


def test_a_summary_without_an_episode_gets_one_of_its_own(ctx):
    start(ctx, 51)
    first = end(ctx, summary="Learned to fly kites")
    end(ctx, 51, summary="Learned to build kites", episode=False)
    second = end(ctx, 51)
    assert second.episode.content == "Learned to build kites" and second.episode.id != first.episode.id


def test_a_session_taken_up_again_keeps_its_summary_and_episode(ctx, clock):
    start(ctx, 51)
    first = recorded(ctx, "something").id
    told = end(ctx, summary="Learned to fly kites")
    clock.advance(hours=1)
    take_up(ctx, 51)
    again = end(ctx)
    assert (again.session.summary, again.episode) == ("Learned to fly kites", told.episode)
    assert again.session.ended_at == ctx.now() and count(ctx.store.read()) == 2
    take_up(ctx, 51)
    second = recorded(ctx, "something else").id
    assert end(ctx).episode == told.episode
    assert links(ctx, told.episode.id, Direction.IN) == [(first, "part_of"), (second, "part_of")]
    take_up(ctx, 51)
    other = end(ctx, summary="Learned to build kites")
    assert other.session.summary == other.episode.content == "Learned to build kites"
    take_up(ctx, 51)
    assert end(ctx, episode=False).session.summary == "Learned to build kites"


def test_who_could_keep_nothing_is_in_no_session(ctx):
    with pytest.raises(NotFound):
        recorded(ctx, "one", links=((99, "supports", 1.0),))
    other = ctx.on_behalf_of("other")
    assert start(other).session.id == 1
    assert recorded(ctx, "two").session_id == 2


def test_without_a_number_nobody_ends_what_another_is_in(ctx):
    start(ctx, 51)
    start(ctx.on_behalf_of("other"), 52)
    assert end(ctx).session.id == 51
    assert end(ctx).session.id == 51
    assert session_numbered(ctx.store.read(), 52).ended_at is None


def test_connections_of_one_caller_have_sessions_of_their_own(ctx):
    one, other = ctx.over("one"), ctx.over("other")
    start(one, topic="kites")
    assert enter(other) is None and recorded(other, "theirs").session_id == 2
    assert recorded(one, "mine").session_id == 1
    assert end_open(other).session.id == 2 and enter(one).id == 1
    with pytest.raises(NotFound, match="No session is open"):
        end_open(ctx.over("third"))
    assert end_open(ctx.over("third"), 1).session.id == 1, "any that is named"


def test_a_connection_finds_its_session_again_after_a_restart(ctx):
    start(ctx.over("one"), topic="kites")
    again = replace(ctx, sessions={})
    assert enter(again.over("other")) is None
    assert enter(again.over("one")).topic == "kites"


def test_without_a_number_only_what_the_same_caller_began_is_ended_from_another_process(ctx, clock):
    def elsewhere(actor):
        return replace(ctx, actor=actor, sessions={})

    claude, cursor = elsewhere("claude"), elsewhere("cursor")
    start(claude, 51)
    kept(cursor, "in a session by name", session="planning")
    with pytest.raises(NotFound, match="No session has been started"):
        end(cursor)
    assert end(cursor, 51, summary="Ended by its number").session.id == 51
    take_up(claude, 51)
    recorded(cursor, "something")
    assert end(elsewhere("claude")).session.id == 51
    clock.advance(days=2)
    with pytest.raises(NotFound):
        end(elsewhere("cursor"))


def test_there_must_be_a_session_to_end(ctx):
    with pytest.raises(NotFound, match="No session has been started"):
        end(ctx)


def test_a_third_each_of_decisions_facts_and_conclusions_is_taken_up(ctx, clock):
    for n in range(4):
        for kind in ("decision", "fact", "inference", "skill"):
            recorded(ctx, f"{kind} {n}", kind, confidence=0.9)
            clock.advance(minutes=1)
    recorded(ctx, "a doubtful fact", "fact", confidence=0.5)
    end(ctx, summary="Chose the wood")
    got = resume(ctx, 10)
    assert [memory.content for memory in got.facts] == ["fact 3", "fact 2", "fact 1"]
    assert (len(got.decisions), len(got.inferences), len(got.other), got.total) == (3, 3, 1, 10)
    assert got.last_episode.content == "Chose the wood"


@pytest.mark.parametrize("limit, kinds", [(0, []), (1, ["fact"]), (2, ["decision", "fact"])])
def test_little_is_taken_up_where_little_is_asked_for(ctx, limit, kinds):
    for kind in ("fact", "inference", "decision", "skill"):
        recorded(ctx, f"a {kind}", kind)
    got = resume(ctx, limit)
    assert [memory.kind for memory in (*got.decisions, *got.facts, *got.inferences, *got.other)] == kinds


@pytest.mark.parametrize("home, before", [("work", 2), (None, 3), ("other", 2)])
def test_the_start_and_what_is_taken_up_name_the_same_session_before(ctx, clock, home, before):
    for namespace in ("work", "global", "play"):
        start(replace(ctx, namespace=namespace))
        clock.advance(hours=1)
    caller = replace(ctx, namespace=home)
    assert start(caller).previous.id == resume(caller).previous.id == before


def test_the_session_before_is_one_that_began_before(ctx, clock):
    def told(caller):
        got = resume(caller)
        return got.current, got.previous.id if got.previous else None

    newcomer, other = ctx.on_behalf_of("newcomer"), ctx.on_behalf_of("other")
    start(ctx, 31)
    assert told(newcomer) == (None, 31) and told(ctx) == (31, None)
    clock.advance(hours=1)
    start(ctx, 5)
    clock.advance(hours=1)
    start(other)
    assert (told(ctx), told(other)) == ((5, 31), (32, 5))
    assert told(newcomer) == (None, 32)


def test_an_empty_store_has_nothing_to_take_up(ctx):
    got = resume(ctx)
    assert (got.current, got.previous, got.last_episode, got.total) == (None, None, None, 0)


def test_a_turn_is_a_memory_of_its_kind(ctx):
    turn = log_turn(ctx, "Where do storks nest?", "On chimneys.", "birds")
    assert turn.content == "User: Where do storks nest?\nAgent: On chimneys."
    assert (turn.kind, turn.tags, turn.confidence) == ("turn", ("birds",), 0.72)
    assert log_turn(ctx, None, "Done.").metadata == {"conversation": {"agent_response": "Done."}}
    assert ("turn", "conversation") in HIDDEN and ("episode", EPISODE_OF) in HIDDEN


def test_undo_takes_an_event_back_and_leaves_the_session(ctx):
    memory = recorded(ctx, "one")
    undo(ctx, last_number(ctx.store))
    assert str(find(ctx, memory.id).state) == "forgotten" and recorded(ctx, "two").session_id == 1


def test_who_undoes_the_start_of_a_session_is_in_it_no_more(ctx):
    start(ctx, 51)
    end(ctx, summary="Learned to fly kites")
    start(ctx, 52)
    undo(ctx, last_number(ctx.store))
    assert current(ctx) is None and resume(ctx).current is None
    with pytest.raises(NotFound, match="No session has been started"):
        end(ctx, summary="Nothing came of it")
    assert recorded(ctx, "later").session_id == 53


def test_who_is_in_a_session_that_another_ended_is_in_it_no_more(ctx):
    start(ctx, 51)
    end(ctx.on_behalf_of("other"), 51, summary="Learned to fly kites")
    assert current(ctx) is None and end(ctx).session.summary == "Learned to fly kites"
    assert enter(ctx) is None and recorded(ctx, "later").session_id == 52


def test_a_token_for_other_namespaces_may_not_take_up_a_session(ctx):
    start(ctx, 7)
    with pytest.raises(Denied):
        start(ctx.limited_to(Grant(("elsewhere",), can_write=True)), 7)


@pytest.mark.parametrize("journal", [False, True])
def test_sessions_survive_export_and_import(ctx, fresh, journal):
    start(ctx, 5, topic="kites", metadata={"a": [1]})
    recorded(ctx, "one")
    end(ctx, summary="done")
    other = replace(ctx, store=fresh("other"), sessions={})
    import_lines(other, list(export_lines(ctx, journal=journal)))
    [brought], [made] = other.store.read().sessions(), ctx.store.read().sessions()
    assert brought == (made if journal else replace(made, id=1))
    (memories, edges), (here, links) = everything(other.store), everything(ctx.store)
    assert {memory["session_id"] for memory in memories.values()} == {brought.id} and edges == links
    assert [memory["statements"] for memory in memories.values()] == [
        memory["statements"] for memory in here.values()
    ]


def test_a_turn_is_kept_though_the_caller_ends_the_session_meanwhile(ctx):
    def ending():
        for _ in range(60):
            with suppress(NotFound):
                end(ctx, summary="done", episode=False)

    def logging():
        return [log(ctx, f"turn {number}", None)[1].id for number in range(60)]

    with ThreadPoolExecutor(2) as threads:
        ended, logged = threads.submit(ending), threads.submit(logging)
    ended.result()
    assert len(logged.result()) == 60
