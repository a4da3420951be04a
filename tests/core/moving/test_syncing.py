"""Two stores that sync: what goes where, who wins, and what stays forgotten."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemic.core.context import Context
from mnemic.core.entities import Taken, create, relate, unrelate
from mnemic.core.graph import link
from mnemic.core.history import undo, undo_since
from mnemic.core.memories import Note, Revision, forget, remember, restore, revise, supersede
from mnemic.core.moving.documents import export_json, import_json
from mnemic.core.moving.syncing import Course, OtherStore, sync
from mnemic.core.reflections import Reflection, add
from mnemic.core.sessions import Event, end, log_turn, record, start
from mnemic.core.standards import set_standard, standard_of
from mnemic.errors import Conflict
from mnemic.model.graph import Direction, Sketch, Triple
from mnemic.model.values import State
from support import START, Clock, Uids, everything, kept, living, open_store


@pytest.fixture
def there(fresh, clock):
    """The other store."""
    return Context(store=fresh("there"), embedder=None, now=clock, new_uid=Uids("there"), actor="tester")


def titles(ctx):
    return sorted(memory["title"] for memory in living(ctx.store)[0].values())


def synced(here, there, course=Course.MERGE):
    done = sync(here, OtherStore(there), course)
    assert [way.done.errors for way in (done.pulled, done.pushed) if way] in ([[]], [[], []])
    return done


def linked(ctx, names):
    one, other = (kept(ctx, f"{name} says", title=name) for name in names)
    link(ctx, one.id, other.id, "knows", 0.5, "met")
    return one, other


@pytest.mark.parametrize(
    ("course", "here_has", "there_has"), [("pull", 3, 1), ("push", 2, 3), ("merge", 3, 3)]
)
def test_memories_and_links_go_the_way_they_are_told(ctx, there, course, here_has, there_has):
    linked(ctx, ("one", "two"))
    kept(there, "three says", title="three")
    done = synced(ctx, there, Course(course))
    assert (len(titles(ctx)), len(titles(there))) == (here_has, there_has)
    assert len(living(there.store)[1]) == (course != "pull")
    assert (done.pulled is None, done.pushed is None) == (course == "push", course == "pull")
    if done.pushed:
        assert done.pushed.sent == len(titles(ctx)) and done.pushed.done.imported == 2
    if done.pulled:
        assert done.pulled.done.imported == 1
    before = everything(ctx.store), everything(there.store)
    again = synced(ctx, there, Course(course))
    assert (everything(ctx.store), everything(there.store)) == before
    assert [way.done.imported for way in (again.pulled, again.pushed) if way] in ([0], [0, 0])


def test_the_newer_version_wins_on_both_sides(ctx, there, clock):
    ours, _ = linked(ctx, ("one", "two"))
    synced(ctx, there)
    clock.advance(hours=1)
    revise(there, ours.uid, Revision(text="corrected there", tags=("t",)))
    clock.advance(hours=1)
    revise(ctx, "two", Revision(text="corrected here", title="zwei"))
    synced(ctx, there)
    for side in (ctx, there):
        texts = {memory["title"]: memory["statements"] for memory in living(side.store)[0].values()}
        assert texts == {"one": ["corrected there"], "zwei": ["corrected here"]}


def test_sessions_that_only_have_the_same_name_stay_two(ctx, there, clock):
    record(ctx, [Event(text="said here", kind="fact")])
    clock.advance(hours=1)
    record(there, [Event(text="said there", kind="fact")])
    for _ in range(2):
        synced(ctx, there)
        assert said(ctx) == {"Session 1": ["said here"], "Session 1 (2)": ["said there"]}
        assert said(there) == {"Session 1": ["said there"], "Session 1 (2)": ["said here"]}
    record(ctx, [Event(text="said later", kind="fact")])
    synced(ctx, there)
    assert said(there) == {"Session 1": ["said there"], "Session 1 (2)": ["said here", "said later"]}


def test_thoughts_are_about_the_same_on_both_sides(ctx, there):
    one, two = linked(ctx, ("one", "two"))
    edge = ctx.store.read().edge_between(one.id, two.id, "knows")
    add(ctx, Reflection(text="On two", target_type="entity", target_id=two.id))
    add(ctx, Reflection(text="On knowing", target_type="relation", target_id=edge.id))
    linked(there, ("three", "four"))
    for _ in range(2):
        synced(ctx, there)
        for side in (ctx, there):
            reader = side.store.read()
            found = {memory.title: memory for memory in reader.all_memories()}
            assert found["On two"].metadata["target_id"] == found["two"].id
            edge = reader.edge_between(found["one"].id, found["two"].id, "knows")
            assert found["On knowing"].metadata["target_id"] == edge.id
    before = ctx.store.sequence(), there.store.sequence()
    synced(ctx, there)
    assert (ctx.store.sequence(), there.store.sequence()) == before


def said(ctx):
    """The sessions by name, with what was said in them."""
    reader = ctx.store.read()
    told = list(reader.all_memories())
    return {
        session.name: [memory.content for memory in told if memory.session_id == session.id]
        for session in reader.sessions()
    }


@pytest.mark.parametrize("course", [Course.PULL, Course.PUSH])
def test_one_way_what_comes_replaces_even_what_is_newer(ctx, there, clock, course):
    older, newer = (there, ctx) if course is Course.PULL else (ctx, there)
    kept(older, "older", title="same", tags=("o",), priority=3)
    clock.advance(hours=1)
    memory = kept(newer, "newer", title="same", tags=("n",), priority=7)
    before_that = clock()
    clock.advance(hours=1)
    synced(ctx, there, course)
    replaced = newer.store.read().memory(memory.id)
    assert (replaced.content, replaced.tags, replaced.priority) == ("older", ("o",), 7)
    assert older.store.read().memory(1).content == "older"
    before = everything(ctx.store), everything(there.store)
    synced(ctx, there, course)
    assert (everything(ctx.store), everything(there.store)) == before
    undo_since(newer, before_that + 1)
    assert newer.store.read().memory(memory.id).content == "newer"


def test_what_one_side_forgot_does_not_come_back(ctx, there, clock):
    gone, _ = linked(ctx, ("one", "two"))
    synced(ctx, there)
    clock.advance(hours=1)
    forget(ctx, [gone.id])
    synced(ctx, there)
    assert titles(ctx) == ["two"]
    synced(there, ctx)
    assert titles(ctx) == ["two"]
    synced(ctx, there, Course.PULL)
    assert titles(ctx) == ["one", "two"]


def test_what_changed_since_it_was_forgotten_elsewhere_comes_back(ctx, there, clock):
    memory, _ = linked(ctx, ("one", "two"))
    synced(ctx, there)
    forget(ctx, [memory.id])
    clock.advance(hours=1)
    revise(there, memory.uid, Revision(text="still needed"))
    synced(ctx, there)
    assert ctx.store.read().memory(memory.id).content == "still needed"
    assert ctx.store.read().memory(memory.id).state is State.LIVING


@pytest.mark.parametrize("taking_back", [undo, undo_since])
def test_what_was_taken_back_does_not_come_back(ctx, there, clock, taking_back):
    memory = kept(ctx, "on Fridays", title="Deploys")
    synced(ctx, there)
    moment = clock.advance(hours=1)
    revise(ctx, memory.id, Revision(text="never"))
    synced(ctx, there)
    clock.advance(hours=1)
    taking_back(ctx, ctx.store.sequence() if taking_back is undo else moment)
    synced(ctx, there)
    for side in (ctx, there):
        assert side.store.read().memory(1).content == "on Fridays"


@pytest.mark.parametrize("title", [None, "Deployment"])
@pytest.mark.parametrize("course", [Course.MERGE, Course.PUSH])
def test_what_was_corrected_on_one_side_is_so_on_both(ctx, there, clock, course, title):
    old = kept(ctx, "The API is deployed on Fridays", title=title)
    synced(ctx, there)
    clock.advance(hours=1)
    supersede(ctx, old.id, "The API is deployed on Mondays", "moved")
    clock.advance(hours=1)
    for _ in range(2):
        synced(ctx, there, course)
        assert texts(ctx) == texts(there) == ["The API is deployed on Mondays"]
    reader = there.store.read()
    gone = reader.memories(reader.ids_with_uid(old.uid, 1))[0]
    left = ctx.store.read().memory(old.id)
    assert (gone.state, gone.state_reason, gone.state_at) == (left.state, "moved", left.state_at)
    assert [edge.type for edge in reader.edges([gone.id], Direction.IN)] == ["supersedes"]
    before = everything(ctx.store), everything(there.store)
    synced(ctx, there, course)
    assert (everything(ctx.store), everything(there.store)) == before


def test_what_was_corrected_before_it_was_ever_sent_does_not_live_there(ctx, there):
    old = kept(ctx, "The API is deployed on Fridays")
    supersede(ctx, old.id, "The API is deployed on Mondays", None)
    synced(ctx, there)
    assert texts(there) == ["The API is deployed on Mondays"]


@pytest.mark.parametrize("change", ["revised", "restored"])
def test_what_changed_since_it_was_corrected_elsewhere_stays(ctx, there, clock, change):
    old = kept(ctx, "Deployed on Fridays")
    synced(ctx, there)
    supersede(ctx, old.id, "Deployed on Mondays", None)
    if change == "restored":
        synced(ctx, there)
    clock.advance(hours=1)
    if change == "restored":
        restore(there, [old.uid])
    else:
        revise(there, old.uid, Revision(text="Deployed on Sundays"))
    for _ in range(2):
        synced(ctx, there)
        assert len(texts(there)) == 2


def test_a_link_that_was_taken_away_does_not_come_back(ctx, there):
    linked(ctx, ("one", "two"))
    synced(ctx, there)
    unrelate(ctx, [Triple("one", "two", "knows")])
    synced(ctx, there)
    assert living(ctx.store)[1] == {} and len(living(there.store)[1]) == 1


def test_relations_to_mere_names_and_standards_go_along(ctx, there):
    create(ctx, [Sketch("Ada", "person", ("counts", "writes"))], Taken.MERGE)
    relate(ctx, [Triple("Ada", "Nobody", "knows")], may_dangle=True)
    set_standard(ctx, "app", 1)
    synced(ctx, there, Course.PUSH)
    assert living(there.store)[0][1]["statements"] == ["counts", "writes"]
    [edge] = there.store.read().all_edges()
    assert there.store.read().memory(edge.target_id).title == "Nobody"
    assert standard_of(there, "app").memory.title == "Ada"


def test_two_of_one_title_become_one_on_each_side(ctx, there, clock):
    ours = kept(ctx, "said here", title="same")
    clock.advance(hours=1)
    theirs = kept(there, "said there", title="same")
    synced(ctx, there)
    for side, memory in ((ctx, ours), (there, theirs)):
        assert titles(side) == ["same"]
        assert side.store.read().memory(memory.id).content == "said there"


def texts(ctx):
    return sorted(
        memory.content for memory in ctx.store.read().all_memories() if memory.state is State.LIVING
    )


def named(ctx):
    reader = ctx.store.read()
    return {memory.content: memory.title for memory in reader.all_memories() if memory.state is State.LIVING}


def pass_over(here, there):
    import_json(there, export_json(here))
    import_json(here, export_json(there))


@pytest.mark.parametrize("carry", [synced, pass_over])
def test_titles_that_were_made_from_texts_make_no_two_the_same(ctx, there, clock, carry):
    kept(ctx, "Deploy notes. The staging key lives in vault A.")
    kept(ctx, "Known to both")
    clock.advance(hours=1)
    kept(there, "Deploy notes. Call Bob before production.")
    kept(there, "Known to both")
    for _ in range(2):
        carry(ctx, there)
        for side in (ctx, there):
            assert texts(side) == [
                "Deploy notes. Call Bob before production.",
                "Deploy notes. The staging key lives in vault A.",
                "Known to both",
            ]
    before = everything(ctx.store), everything(there.store)
    carry(ctx, there)
    assert (everything(ctx.store), everything(there.store)) == before
    assert named(ctx) == named(there)


@pytest.mark.parametrize("carry", [synced, pass_over])
def test_turns_episodes_and_thoughts_of_one_title_stay_apart(ctx, there, clock, carry):
    for side in (ctx, there):
        start(side)
        log_turn(side, "Hello", "What can I do?")
        end(side, summary="Nothing came of it")
        add(side, Reflection(text="A pity"))
        clock.advance(hours=1)
    for _ in range(2):
        carry(ctx, there)
        for side in (ctx, there):
            assert len(texts(side)) == 6 and len(set(texts(side))) == 3


def test_titles_that_were_exchanged_are_so_on_both_sides(ctx, there, clock):
    one, other = linked(ctx, ("one", "two"))
    kept(ctx, "third", title="three")
    synced(ctx, there)
    clock.advance(hours=1)
    for memory, title in ((one, "for now"), (other, "one"), (one, "two")):
        revise(ctx, memory.id, Revision(title=title))
    synced(ctx, there)
    assert named(ctx) == named(there) == {"one says": "two", "two says": "one", "third": "three"}
    before = everything(ctx.store), everything(there.store)
    synced(ctx, there)
    assert (everything(ctx.store), everything(there.store)) == before


def test_a_chosen_title_is_a_name_though_the_text_begins_with_it(ctx, there, clock):
    kept(ctx, "Postgres is on port 5432", title="Postgres")
    clock.advance(hours=1)
    kept(there, "Postgres is on port 5433", title="Postgres")
    synced(ctx, there)
    assert texts(ctx) == texts(there) == ["Postgres is on port 5433"]


def test_the_forgotten_that_comes_back_finds_its_title_taken(ctx, there, clock):
    memory = kept(ctx, "Deploy notes. The key lives in vault A.")
    synced(ctx, there)
    forget(there, [memory.uid])
    kept(there, "Deploy notes. Call Bob.")
    clock.advance(hours=1)
    revise(ctx, memory.id, Revision(append="Or B."))
    synced(ctx, there)
    assert texts(ctx) == texts(there) == ["Deploy notes. Call Bob.", f"{memory.content}\nOr B."]


stories = st.lists(
    st.tuples(
        st.sampled_from(["here", "there"]),
        st.sampled_from(["remember", "revise", "forget", "undo", "sync"]),
        st.sampled_from(["A", "B", "C"]),
    ),
    max_size=12,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(stories)
def test_after_a_merge_both_hold_the_same_texts_but_for_what_was_forgotten(engine, tmp_path_factory, story):
    clock = Clock(START)
    sides = {
        name: Context(
            store=open_store(engine, tmp_path_factory.mktemp(name), durable=False),
            embedder=None,
            now=clock,
            new_uid=Uids(name),
        )
        for name in ("here", "there")
    }
    for side, act, title in [*story, ("here", "sync", "")]:
        clock.advance(minutes=1)
        ctx = sides[side]
        numbers = ctx.store.read().ids_titled(title, ("global",))
        if act == "remember" and not numbers:
            remember(ctx, [Note(text=f"{title} at {clock()}", title=title)], force=True)
        elif act == "revise" and numbers:
            revise(ctx, numbers[0], Revision(text=f"{title} again at {clock()}"))
        elif act == "forget" and numbers:
            forget(ctx, numbers)
        elif act == "undo" and ctx.store.sequence():
            with suppress(Conflict):
                undo(ctx, ctx.store.sequence())
        elif act == "sync":
            synced(ctx, sides["there" if side == "here" else "here"])
    here, there = (
        {memory["title"]: memory["statements"] for memory in living(ctx.store)[0].values()}
        for ctx in sides.values()
    )
    assert {title: here[title] for title in here.keys() & there} == {
        title: there[title] for title in here.keys() & there
    }
    if not any(act in ("forget", "undo") for _, act, _ in story):
        assert here.keys() == there.keys()
    for ctx in sides.values():
        assert ctx.store.check() == []
        ctx.store.close()


@pytest.mark.parametrize("carry", [synced, pass_over])
@pytest.mark.parametrize("revision", [Revision(title="Old plan"), Revision(namespace="archive")])
def test_two_that_one_side_tells_apart_are_not_taken_for_one(ctx, there, clock, carry, revision):
    """Though both have had one title."""
    may = kept(ctx, "Launch in May", title="Plan")
    forget(ctx, [may.id])
    june = kept(ctx, "Launch in June", title="Plan")
    carry(ctx, there)
    clock.advance(hours=1)
    revise(ctx, june.id, revision)
    restore(ctx, [may.id])
    for _ in range(3):
        clock.advance(hours=1)
        carry(ctx, there)
        assert texts(ctx) == texts(there) == ["Launch in June", "Launch in May"]
    assert named(ctx) == named(there)


def test_a_correction_arrives_though_what_it_corrects_was_changed_there(ctx, there, clock):
    port = kept(ctx, "Port is 80", title="Port")
    synced(ctx, there)
    clock.advance(hours=1)
    supersede(ctx, port.id, "Port is 443", None)
    clock.advance(hours=1)
    revise(there, port.uid, Revision(tags=("net",)))
    for _ in range(2):
        synced(ctx, there)
        assert "Port is 443" in texts(there)


def test_what_came_back_after_it_was_corrected_is_sent_if_it_replaces_what_is_there(ctx, there, clock):
    port = kept(ctx, "Port is 80")
    synced(ctx, there)
    clock.advance(hours=1)
    correction = supersede(ctx, port.id, "Port is 443", None)[0]
    synced(ctx, there)
    for side in (ctx, there):
        forget(side, [correction.uid])
    clock.advance(hours=1)
    restore(ctx, [port.id])
    synced(ctx, there)
    assert texts(there) == [], "a correction stays"
    synced(ctx, there, Course.PUSH)
    assert texts(there) == ["Port is 80"]


def test_what_gives_up_its_title_does_not_pass_for_newer(ctx, there, clock):
    start(ctx)
    episode = end(ctx, summary="Chose cedar").episode
    synced(ctx, there)
    clock.advance(hours=1)
    revise(there, episode.uid, Revision(text="Chose cedar, and oak"))
    clock.advance(hours=1)
    kept(ctx, "It is light.", title="Chose cedar")
    for _ in range(2):
        clock.advance(hours=1)
        synced(ctx, there)
        assert texts(ctx) == texts(there) == ["Chose cedar, and oak", "It is light."]
