"""Two stores that sync: what goes where, who wins, and what stays forgotten."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import strategies as st
from support import (
    START,
    Clock,
    Uids,
    everything,
    faults,
    hold_for_examples,
    kept,
    last_number,
    living,
    open_store,
    temporary_stores,
)

from mnemic.core.context import Context
from mnemic.core.entities import OnTakenName, create, relate, unrelate
from mnemic.core.graph import link
from mnemic.core.history import undo, undo_since
from mnemic.core.memories import Note, Revision, forget, remember, restore, revise, supersede
from mnemic.core.reflections import Reflection, add
from mnemic.core.sessions import Event, end, log_turn, record, start
from mnemic.core.standards import set_standard, standard_of
from mnemic.errors import Conflict
from mnemic.model.enums import State
from mnemic.model.filter import ALL_STATES, ANY_EDGE, EdgeFilter, Filter
from mnemic.model.graph import Direction, Sketch, Triple
from mnemic.storage.queries import each_memory, edge_between, ids_titled, ids_with_uid, memory_numbered
from mnemic.transfer.document import export_json, import_json
from mnemic.transfer.sync import Course, LocalPeer, sync


@pytest.fixture
def there(fresh, clock):
    """The other store."""
    return Context(store=fresh("there"), embedder=None, now=clock, new_uid=Uids("there"), actor="tester")


def titles(ctx):
    return sorted(memory["title"] for memory in living(ctx.store)[0].values())


def synced(here, there, course=Course.MERGE):
    done = sync(here, LocalPeer(there), course)
    assert [way.errors for way in (done.pulled, done.pushed) if way] in ([[]], [[], []])
    return done


def linked(ctx, names):
    one, other = (kept(ctx, f"{name} says", name=name) for name in names)
    link(ctx, one.id, other.id, "knows", 0.5, "met")
    return one, other


@pytest.mark.parametrize(
    ("course", "here_has", "there_has"), [("pull", 3, 1), ("push", 2, 3), ("merge", 3, 3)]
)
def test_memories_and_links_go_the_way_they_are_reported(ctx, there, course, here_has, there_has):
    linked(ctx, ("one", "two"))
    kept(there, "three says", name="three")
    done = synced(ctx, there, Course(course))
    assert (len(titles(ctx)), len(titles(there))) == (here_has, there_has)
    assert len(living(there.store)[1]) == (course != "pull")
    assert (done.pulled is None, done.pushed is None) == (course == "push", course == "pull")
    if done.pushed:
        assert done.pushed.imported == 2
    if done.pulled:
        assert done.pulled.imported == 1
    before = everything(ctx.store), everything(there.store)
    again = synced(ctx, there, Course(course))
    assert (everything(ctx.store), everything(there.store)) == before
    assert [way.imported for way in (again.pulled, again.pushed) if way] in ([0], [0, 0])


def test_the_newer_version_wins_on_both_sides(ctx, there, clock):
    ours, _ = linked(ctx, ("one", "two"))
    synced(ctx, there)
    clock.advance(hours=1)
    revise(there, ours.uid, Revision(text="corrected there", tags=("t",)))
    clock.advance(hours=1)
    revise(ctx, "two", Revision(text="corrected here", name="zwei"))
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
    edge = edge_between(ctx.store.read(), one.id, two.id, "knows")
    add(ctx, Reflection(text="On two", target_type="entity", target_id=two.id))
    add(ctx, Reflection(text="On knowing", target_type="relation", target_id=edge.id))
    linked(there, ("three", "four"))
    for _ in range(2):
        synced(ctx, there)
        for side in (ctx, there):
            reader = side.store.read()
            found = {memory.title: memory for memory in each_memory(reader)}
            assert found["On two"].metadata["target_id"] == found["two"].id
            edge = edge_between(reader, found["one"].id, found["two"].id, "knows")
            assert found["On knowing"].metadata["target_id"] == edge.id
    before = last_number(ctx.store), last_number(there.store)
    synced(ctx, there)
    assert (last_number(ctx.store), last_number(there.store)) == before


def said(ctx):
    """The sessions by name, with what was said in them."""
    reader = ctx.store.read()
    told = list(each_memory(reader))
    return {
        session.name: [memory.content for memory in told if memory.session_id == session.id]
        for session in reader.sessions()
    }


@pytest.mark.parametrize("course", [Course.PULL, Course.PUSH])
def test_one_way_the_other_side_stays_as_it_is(ctx, there, clock, course):
    source, target = (there, ctx) if course is Course.PULL else (ctx, there)
    kept(source, "older", name="same", tags=("o",), priority=3)
    clock.advance(hours=1)
    memory = kept(target, "newer", name="same", tags=("n",), priority=7)
    before_that = clock()
    clock.advance(hours=1)
    untouched = everything(source.store)
    synced(ctx, there, course)
    merged = memory_numbered(target.store.read(), memory.id)
    assert (merged.texts, merged.tags, merged.priority) == (["older", "newer"], ("n", "o"), 7)
    assert everything(source.store) == untouched
    before = everything(target.store)
    synced(ctx, there, course)
    assert everything(target.store) == before
    undo_since(target, before_that + 1)
    assert memory_numbered(target.store.read(), memory.id).content == "newer"


def test_a_deletion_reaches_the_other_side_and_so_does_a_restore(ctx, there, clock):
    gone, _ = linked(ctx, ("one", "two"))
    synced(ctx, there)
    clock.advance(hours=1)
    forget(ctx, [gone.id], reason="wrong")
    done = synced(ctx, there)
    assert done.pushed.deleted == 1
    assert titles(ctx) == titles(there) == ["two"]
    [left] = there.store.read().get(there.store.read().select(Filter(title="one", states=ALL_STATES)))
    assert (left.state, left.state_reason) == (State.FORGOTTEN, "wrong")
    clock.advance(hours=1)
    restore(there, [gone.uid])
    assert synced(ctx, there).pulled.restored == 1
    assert titles(ctx) == titles(there) == ["one", "two"]


def test_what_changed_since_it_was_forgotten_elsewhere_comes_back(ctx, there, clock):
    memory, _ = linked(ctx, ("one", "two"))
    synced(ctx, there)
    forget(ctx, [memory.id])
    clock.advance(hours=1)
    revise(there, memory.uid, Revision(text="still needed"))
    synced(ctx, there)
    assert memory_numbered(ctx.store.read(), memory.id).content == "still needed"
    assert memory_numbered(ctx.store.read(), memory.id).state is State.LIVING


@pytest.mark.parametrize("taking_back", [undo, undo_since])
def test_what_was_taken_back_does_not_come_back(ctx, there, clock, taking_back):
    memory = kept(ctx, "on Fridays", name="Deploys")
    synced(ctx, there)
    moment = clock.advance(hours=1)
    revise(ctx, memory.id, Revision(text="never"))
    synced(ctx, there)
    clock.advance(hours=1)
    taking_back(ctx, last_number(ctx.store) if taking_back is undo else moment)
    synced(ctx, there)
    for side in (ctx, there):
        assert memory_numbered(side.store.read(), 1).content == "on Fridays"


@pytest.mark.parametrize("title", [None, "Deployment"])
@pytest.mark.parametrize("course", [Course.MERGE, Course.PUSH])
def test_what_was_corrected_on_one_side_is_so_on_both(ctx, there, clock, course, title):
    old = kept(ctx, "The API is deployed on Fridays", name=title)
    synced(ctx, there)
    clock.advance(hours=1)
    supersede(ctx, old.id, "The API is deployed on Mondays", "moved")
    clock.advance(hours=1)
    for _ in range(2):
        synced(ctx, there, course)
        assert texts(ctx) == texts(there) == ["The API is deployed on Mondays"]
    reader = there.store.read()
    gone = reader.get(ids_with_uid(reader, old.uid, 1))[0]
    left = memory_numbered(ctx.store.read(), old.id)
    assert (gone.state, gone.state_reason, gone.state_at) == (left.state, "moved", left.state_at)
    assert [edge.type for edge in reader.edges(EdgeFilter(at=(gone.id,), direction=Direction.IN))] == [
        "supersedes"
    ]
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


def test_a_link_that_was_taken_away_is_gone_on_both_sides(ctx, there):
    linked(ctx, ("one", "two"))
    synced(ctx, there)
    unrelate(ctx, [Triple("one", "two", "knows")])
    assert synced(ctx, there).pushed.ended == 1
    assert living(ctx.store)[1] == living(there.store)[1] == {}


def test_relations_to_mere_names_and_standards_go_along(ctx, there):
    create(ctx, [Sketch("Ada", "person", ("counts", "writes"))], OnTakenName.MERGE)
    relate(ctx, [Triple("Ada", "Nobody", "knows")], may_dangle=True)
    set_standard(ctx, "app", 1)
    synced(ctx, there, Course.PUSH)
    assert living(there.store)[0][1]["statements"] == ["counts", "writes"]
    [edge] = there.store.read().edges(ANY_EDGE)
    assert memory_numbered(there.store.read(), edge.target_id).title == "Nobody"
    assert standard_of(there, "app").memory.title == "Ada"


def test_two_of_one_title_become_one_on_each_side(ctx, there, clock):
    ours = kept(ctx, "said here", name="same")
    clock.advance(hours=1)
    theirs = kept(there, "said there", name="same")
    synced(ctx, there)
    for side, memory in ((ctx, ours), (there, theirs)):
        assert titles(side) == ["same"]
        assert memory_numbered(side.store.read(), memory.id).texts == ["said here", "said there"]


def texts(ctx):
    return sorted(memory.content for memory in each_memory(ctx.store.read()) if memory.state is State.LIVING)


def named(ctx):
    reader = ctx.store.read()
    return {memory.content: memory.title for memory in each_memory(reader) if memory.state is State.LIVING}


def pass_over(here, there):
    import_json(there, export_json(here))
    import_json(here, export_json(there))


@pytest.mark.parametrize("carry", [synced, pass_over])
def test_what_has_no_name_is_the_same_only_by_its_uid(ctx, there, clock, carry):
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
    kept(ctx, "third", name="three")
    synced(ctx, there)
    clock.advance(hours=1)
    for memory, title in ((one, "for now"), (other, "one"), (one, "two")):
        revise(ctx, memory.id, Revision(name=title))
    synced(ctx, there)
    assert named(ctx) == named(there) == {"one says": "two", "two says": "one", "third": "three"}
    before = everything(ctx.store), everything(there.store)
    synced(ctx, there)
    assert (everything(ctx.store), everything(there.store)) == before


def test_a_chosen_title_is_a_name_though_the_text_begins_with_it(ctx, there, clock):
    kept(ctx, "Postgres is on port 5432", name="Postgres")
    clock.advance(hours=1)
    kept(there, "Postgres is on port 5433", name="Postgres")
    synced(ctx, there)
    assert texts(ctx) == texts(there) == ["Postgres is on port 5432\nPostgres is on port 5433"]


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


def test_after_a_merge_both_hold_the_same_texts_but_for_what_was_forgotten(engine):
    hold_for_examples(engine, 30, lambda story: _both_hold_the_same(engine, story), stories)


def _both_hold_the_same(engine, story):
    clock = Clock(START)
    with temporary_stores(engine, "here", "there") as opened:
        sides = {
            name: Context(
                store=store,
                embedder=None,
                now=clock,
                new_uid=Uids(name),
            )
            for name, store in opened.items()
        }
        for side, act, title in [*story, ("here", "sync", "")]:
            clock.advance(minutes=1)
            ctx = sides[side]
            numbers = ids_titled(ctx.store.read(), title, ("global",))
            if act == "remember" and not numbers:
                remember(ctx, [Note(text=f"{title} at {clock()}", name=title)], force=True)
            elif act == "revise" and numbers:
                revise(ctx, numbers[0], Revision(text=f"{title} again at {clock()}"))
            elif act == "forget" and numbers:
                forget(ctx, numbers)
            elif act == "undo" and last_number(ctx.store):
                with suppress(Conflict):
                    undo(ctx, last_number(ctx.store))
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
            assert faults(ctx.store) == []


@pytest.mark.parametrize("carry", [synced, pass_over])
@pytest.mark.parametrize("revision", [Revision(name="Old plan"), Revision(namespace="archive")])
def test_two_that_one_side_tells_apart_are_not_taken_for_one(ctx, there, clock, carry, revision):
    """Though both have had one title."""
    may = kept(ctx, "Launch in May", name="Plan")
    forget(ctx, [may.id])
    june = kept(ctx, "Launch in June", name="Plan")
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
    port = kept(ctx, "Port is 80", name="Port")
    synced(ctx, there)
    clock.advance(hours=1)
    supersede(ctx, port.id, "Port is 443", None)
    clock.advance(hours=1)
    revise(there, port.uid, Revision(tags=("net",)))
    for _ in range(2):
        synced(ctx, there)
        assert "Port is 443" in texts(there)


def test_what_came_back_after_it_was_corrected_comes_back_on_both_sides(ctx, there, clock):
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
    assert texts(ctx) == texts(there) == ["Port is 80"]


def test_changes_of_different_fields_are_all_kept(ctx, there, clock):
    memory, _ = linked(ctx, ("one", "two"))
    synced(ctx, there)
    clock.advance(hours=1)
    revise(ctx, memory.id, Revision(tags=("net",), append="said here"))
    clock.advance(hours=1)
    revise(there, memory.uid, Revision(priority=9, append="said there"))
    done = synced(ctx, there)
    assert done.pulled.conflicts == done.pushed.conflicts == []
    for side in (ctx, there):
        merged = memory_numbered(side.store.read(), 1)
        assert (merged.tags, merged.priority) == (("net",), 9)
        assert set(merged.texts) == {"one says", "said here", "said there"}


def test_a_field_that_both_sides_changed_is_listed_with_both_versions(ctx, there, clock):
    memory, _ = linked(ctx, ("one", "two"))
    synced(ctx, there)
    clock.advance(hours=1)
    revise(ctx, memory.id, Revision(kind="idea", text="rewritten here"))
    clock.advance(hours=1)
    revise(there, memory.uid, Revision(kind="fact", text="rewritten there"))
    done = synced(ctx, there)
    listed = {clash.conflict.field: clash.conflict for clash in done.pulled.conflicts}
    assert (listed["kind"].here, listed["kind"].there, listed["kind"].kept) == ("idea", "fact", "fact")
    assert (listed["text"].here, listed["text"].there) == (["rewritten here"], ["rewritten there"])
    assert {clash.title for clash in done.pulled.conflicts} == {"one"}
    assert done.pushed.conflicts == [], "what was decided here is no conflict there"
    for side in (ctx, there):
        merged = memory_numbered(side.store.read(), 1)
        assert (merged.kind, sorted(merged.texts)) == ("fact", ["rewritten here", "rewritten there"])
    again = synced(ctx, there)
    assert again.pulled.conflicts == again.pushed.conflicts == []


def test_a_wrong_clock_does_not_undo_a_later_change(ctx, there, clock):
    memory = kept(ctx, "Port is 80", name="Port")
    clock.advance(days=365)
    revise(ctx, memory.id, Revision(priority=9))
    synced(ctx, there)
    clock.advance(days=-365)
    revise(there, memory.uid, Revision(priority=2))
    done = synced(ctx, there)
    assert done.pulled.conflicts == []
    assert [memory_numbered(side.store.read(), 1).priority for side in (ctx, there)] == [2, 2]


@pytest.mark.only_on("sqlite")  # a server has its own ways to make a copy
def test_a_copied_file_is_another_store(ctx, clock, tmp_path, engine):
    memory = kept(ctx, "Port is 80", name="Port")
    ctx.store.backup(tmp_path / "copy.db")
    copy = Context(store=open_store(engine, tmp_path, "copy"), embedder=None, now=clock, actor="tester")
    synced(ctx, copy)
    clock.advance(hours=1)
    revise(ctx, memory.id, Revision(kind="idea"))
    revise(copy, memory.uid, Revision(kind="fact"))
    done = synced(ctx, copy)
    assert [clash.conflict.field for clash in done.pulled.conflicts] == ["kind"]
    assert memory_numbered(ctx.store.read(), 1).kind == memory_numbered(copy.store.read(), 1).kind
    copy.store.close()


def test_a_purge_reaches_the_other_side(ctx, there, clock):
    memory, _ = linked(ctx, ("one", "two"))
    synced(ctx, there)
    ctx.change("purge", lambda tx: tx.purge([memory.id]))
    revise(there, memory.uid, Revision(append="too late"))
    assert synced(there, ctx).pulled.purged == 1
    assert titles(ctx) == titles(there) == ["two"] and faults(there.store) == []


def test_what_gives_up_its_title_does_not_pass_for_newer(ctx, there, clock):
    start(ctx)
    episode = end(ctx, summary="Chose cedar").episode
    synced(ctx, there)
    clock.advance(hours=1)
    revise(there, episode.uid, Revision(text="Chose cedar, and oak"))
    clock.advance(hours=1)
    kept(ctx, "It is light.", name="Chose cedar")
    for _ in range(2):
        clock.advance(hours=1)
        synced(ctx, there)
        assert texts(ctx) == texts(there) == ["Chose cedar, and oak", "It is light."]
