"""Out and in again: nothing is lost, nothing is doubled, nothing is half taken in."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import (
    START,
    Clock,
    Uids,
    WordEmbedder,
    a_query,
    everything,
    faults,
    kept,
    last_number,
    store_after,
    temporary_stores,
    write,
)

from mnemic.core.context import Context
from mnemic.core.entities import OnTakenName, create
from mnemic.core.graph import end_link, link
from mnemic.core.history import undo
from mnemic.core.memories import Fate, Note, Revision, forget, open_all, remember, revise, supersede
from mnemic.core.recall import recall
from mnemic.core.reflections import Reflection, add
from mnemic.core.sessions import Event, end, record, start, take_up
from mnemic.dialects.ai_memory import validation
from mnemic.errors import Conflict, Denied, Invalid, MnemicError
from mnemic.model.access import Grant
from mnemic.model.change import BEGINNING
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ANY_EDGE
from mnemic.model.graph import Sketch
from mnemic.model.time import HOUR
from mnemic.storage.queries import each_memory, memory_numbered, session_numbered
from mnemic.transfer.document import export_json, import_json
from mnemic.transfer.jsonl import export_lines, import_lines
from mnemic.transfer.sync import Course, LocalPeer, sync


@pytest.fixture
def story(ctx, clock):
    """A store in which a bit of everything has happened."""
    kept(
        ctx,
        "The first",
        name="one",
        tags=("a", "é"),
        metadata={"k": [1, None]},
        session="talk",
        source="Anna",
    )
    kept(ctx, "The second\n with lines ", name="two", tier=Tier.SHORT, confidence=0.5, priority=9)
    kept(ctx, "The third", name="three", namespace="work")
    clock.advance(hours=1)
    revise(ctx, "one", Revision(append="and more", summary="short"))
    link(ctx, "one", "two", "knows", 0.5, "met")
    end_link(ctx, "one", "two", "knows")
    link(ctx, "one", 3, "likes")
    supersede(ctx, "two", "The second, corrected", "wrong")
    forget(ctx, [3], reason="tidy")
    undo(ctx, last_number(ctx.store))
    forget(ctx, [kept(ctx, "The gone").id], reason="gone")
    recall(ctx, a_query("first", now=clock()))

    def work(tx):
        tx.count_together([1, 2, 3], clock())
        tx.put_standard("work", 3, "global")
        tx.put_standard("global", None, "work")

    write(ctx.store, work, operation="use", actor="tester", at=ctx.now())
    return ctx


@pytest.fixture
def elsewhere(fresh, clock):
    """An empty store beside it."""
    store = fresh("elsewhere")
    store.use_models(WordEmbedder().name)
    return Context(
        store=store, embedder=WordEmbedder(), now=clock, new_uid=Uids("elsewhere"), actor="importer"
    )


def with_counters(ctx):
    reader = ctx.store.read()
    return {
        memory.uid: (memory.access_count, memory.accessed_at, memory.days_used)
        for memory in each_memory(reader)
    } | {(one, other): figures for one, other, figures in reader.companions()}


@pytest.mark.parametrize("journal", [False, True])
def test_what_went_out_comes_in_the_same(story, elsewhere, journal):
    lines = list(export_lines(story, journal=journal))
    assert all(json.loads(line)["record"] for line in lines)
    done = import_lines(elsewhere, lines)
    assert done.errors == [] and done.imported == len(everything(story.store)[0])
    assert everything(elsewhere.store) == everything(story.store)
    assert with_counters(elsewhere) == with_counters(story)
    assert elsewhere.store.read().sessions() == story.store.read().sessions()
    assert elsewhere.store.read().standards() == story.store.read().standards()
    assert faults(elsewhere.store) == []
    assert list(export_lines(elsewhere, journal=journal)) == lines
    query = a_query("first and more", now=story.now())
    assert [hit.memory.uid for hit in recall(elsewhere, query).hits] == [
        hit.memory.uid for hit in recall(story, query).hits
    ]


def test_a_journal_brings_the_past_with_it(story, elsewhere):
    import_lines(elsewhere, export_lines(story, journal=True))
    here, there = (
        # A position means something in its own store only.
        [replace(change, position=BEGINNING) for change in ctx.store.read().journal()]
        for ctx in (story, elsewhere)
    )
    assert here and there == here
    for sequence in range(1, last_number(story.store) + 1):
        assert everything(store_after(elsewhere.store, sequence)) == everything(
            store_after(story.store, sequence)
        )


def test_importing_twice_changes_nothing(story, elsewhere):
    lines = list(export_lines(story))
    import_lines(elsewhere, lines)
    before, sequence = everything(elsewhere.store), last_number(elsewhere.store)
    again = import_lines(elsewhere, lines)
    assert (again.imported, again.errors) == (0, []) and again.skipped == len(before[0])
    assert everything(elsewhere.store) == before and last_number(elsewhere.store) == sequence
    back = import_lines(story, lines)
    assert back.imported == 0


def test_what_is_there_already_keeps_its_place(story, elsewhere):
    mine = kept(elsewhere, "My own", name="one")
    done = import_lines(elsewhere, export_lines(story))
    assert done.errors == []
    assert memory_numbered(elsewhere.store.read(), mine.id).name == "one"
    by_uid = {memory.uid: memory for memory in each_memory(elsewhere.store.read())}
    theirs = memory_numbered(story.store.read(), 1)
    assert theirs.uid not in by_uid and by_uid[mine.uid].texts == [*theirs.texts, "My own"]
    edges = {(edge.type, edge.source_id) for edge in elsewhere.store.read().edges(ANY_EDGE)}
    assert ("likes", mine.id) in edges
    assert faults(elsewhere.store) == []


def talk(ctx, text, summary):
    """A session that is called after its number, with a memory in it."""
    start(ctx)
    memory = record(ctx, [Event(text=text, kind="fact")])[0]
    end(ctx, summary=summary, episode=False)
    return memory


def told(ctx):
    """The sessions by name: their summaries, and what was said in them."""
    reader = ctx.store.read()
    return {
        session.name: (
            session.summary,
            [memory.content for memory in each_memory(reader) if memory.session_id == session.id],
        )
        for session in reader.sessions()
    }


def test_sessions_that_only_have_the_same_name_stay_two(ctx, elsewhere, clock):
    talk(ctx, "said here", "What came of it here")
    clock.advance(hours=1)
    talk(elsewhere, "said there", "What came of it there")
    both = {
        "Session 1": ("What came of it there", ["said there"]),
        "Session 1 (2)": ("What came of it here", ["said here"]),
    }
    for _ in range(2):
        assert import_lines(elsewhere, export_lines(ctx)).errors == []
        assert told(elsewhere) == both
    import_lines(ctx, export_lines(elsewhere))
    assert told(ctx) == {
        "Session 1": ("What came of it here", ["said here"]),
        "Session 1 (2)": ("What came of it there", ["said there"]),
    }


def test_sessions_in_a_document_stay_two_as_well(ctx, elsewhere, clock):
    talk(ctx, "said here", "What came of it here")
    clock.advance(hours=1)
    talk(elsewhere, "said there", "What came of it there")
    for _ in range(2):
        assert import_json(elsewhere, export_json(ctx)).errors == []
        assert told(elsewhere) == {
            "Session 1": ("What came of it there", ["said there"]),
            "Session 1 (2)": ("What came of it here", ["said here"]),
        }


def test_what_is_said_of_a_session_stays(ctx, elsewhere, clock):
    talk(ctx, "said", "As it was")
    lines = list(export_lines(ctx))
    import_lines(elsewhere, lines)
    clock.advance(hours=1)
    end(elsewhere, 1, summary="As it is", episode=False)
    import_lines(elsewhere, lines)
    assert told(elsewhere) == {"Session 1": ("As it is", ["said"])}


def sync_push(here, there):
    sync(here, LocalPeer(there), Course.PUSH)


def by_lines(here, there):
    import_lines(there, export_lines(here))


def by_document(here, there):
    assert import_json(there, export_json(here)).errors == []


@pytest.mark.parametrize("carry", [sync_push, by_lines, by_document])
def test_sessions_and_their_episodes_are_the_same_elsewhere(ctx, elsewhere, clock, carry):
    record(elsewhere, [Event(text="Another's", kind="fact")])
    clock.advance(hours=1)
    start(ctx, topic="The API")
    record(ctx, [Event(text="It has a new port", kind="fact")])
    carry(ctx, elsewhere)
    clock.advance(hours=1)
    ended = end(ctx, summary="The port was settled")
    for _ in range(2):
        carry(ctx, elsewhere)
        there = elsewhere.store.read().sessions()[1]
        assert (there.topic, there.summary) == ("The API", "The port was settled")
        assert there.ended_at == ended.session.ended_at
        again = end(elsewhere, there.id)
        assert again.session == there and again.episode.uid == ended.episode.uid
        assert again.episode.metadata == {"episode_of": there.id}
    before = everything(elsewhere.store)
    carry(ctx, elsewhere)
    assert everything(elsewhere.store) == before


@pytest.mark.parametrize("carry", [sync_push, by_lines, by_document])
def test_a_session_that_was_taken_up_again_is_not_ended_from_elsewhere(ctx, elsewhere, clock, carry):
    talk(ctx, "said", "As it was")
    carry(ctx, elsewhere)
    take_up(elsewhere, 1)
    carry(ctx, elsewhere)
    assert session_numbered(elsewhere.store.read(), 1).ended_at is None
    clock.advance(hours=1)
    record(elsewhere, [Event(text="said later", kind="fact")])
    end(elsewhere, summary="As it is")
    carry(elsewhere, ctx)
    assert told(ctx)["Session 1"][0] == "As it is"


@pytest.mark.parametrize("session", [5, {}, {"name": "S"}, {"name": "S", "started_at": "never"}])
def test_a_session_that_cannot_be_read_is_reported(ctx, session):
    done = import_json(ctx, {"memories": [], "sessions": [session]})
    assert len(done.errors) == 1 and done.errors[0].startswith("sessions.0: ")


def test_sessions_that_began_together_under_like_names_stay_two(ctx, elsewhere):
    kept(ctx, "one", session="talk")
    kept(ctx, "two", session="talk (2)")
    for take in (import_lines, lambda here, _: import_json(here, export_json(ctx))):
        take(elsewhere, export_lines(ctx))
        assert told(elsewhere) == told(ctx)


def test_a_session_begins_though_an_imported_one_has_its_name(elsewhere):
    line = {"record": "session", "id": 2, "namespace": "global", "name": "Session 2", "started_at": 1}
    import_lines(elsewhere, [json.dumps(line)])
    assert start(elsewhere).session.name == "Session 2 (2)"


def think(ctx):
    """Keep a thought about a memory and one about a link."""
    one, two = kept(ctx, "Of one", name="one"), kept(ctx, "Of two", name="two")
    edge = link(ctx, one.id, two.id, "knows")
    add(ctx, Reflection(text="On two", target_type="entity", target_id=two.id))
    add(ctx, Reflection(text="On knowing", target_type="relation", target_id=edge.id))


def targets(ctx):
    """What the thoughts are about."""
    reader = ctx.store.read()
    titles = {memory.id: memory.title for memory in each_memory(reader)}
    types = {edge.id: edge.type for edge in reader.edges(ANY_EDGE)}
    kinds = {"entity": titles, "relation": types}
    told = [memory.metadata for memory in each_memory(reader) if memory.kind == "reflection"]
    return {kinds[one["target_type"]].get(one.get("target_id")) for one in told}


def test_thoughts_are_about_the_same_elsewhere(ctx, elsewhere):
    think(ctx)
    lines = list(export_lines(ctx))
    link(elsewhere, kept(elsewhere, "My own").id, kept(elsewhere, "My other").id, "likes")
    import_lines(elsewhere, lines)
    assert targets(elsewhere) == {"two", "knows"}
    before = everything(elsewhere.store)
    import_lines(elsewhere, lines)
    assert everything(elsewhere.store) == before


def test_thoughts_that_come_before_what_they_are_about(ctx, elsewhere):
    think(ctx)
    lines = list(export_lines(ctx))
    link(elsewhere, kept(elsewhere, "My own").id, kept(elsewhere, "My other").id, "likes")
    import_lines(elsewhere, [lines[0], *sorted(lines[1:], key=lambda line: '"reflection"' not in line)])
    assert targets(elsewhere) == {"two", "knows"}


def test_thoughts_in_an_empty_store_are_as_they_were(ctx, elsewhere, clock):
    think(ctx)
    clock.advance(hours=1)
    import_lines(elsewhere, export_lines(ctx))
    assert list(export_lines(elsewhere)) == list(export_lines(ctx))


def test_a_link_that_stands_again_stands_elsewhere_too(ctx, elsewhere, fresh, clock):
    one, two = kept(ctx, "Of one"), kept(ctx, "Of two")
    link(ctx, one.id, two.id, "knows")
    sync_push(ctx, elsewhere)
    clock.advance(hours=1)
    end_link(ctx, one.id, two.id, "knows")
    sync(ctx, LocalPeer(elsewhere), Course.PULL)
    third = replace(elsewhere, store=fresh("third"))
    for _ in range(2):
        import_lines(third, export_lines(ctx))
        assert list(export_lines(third))[1:] == list(export_lines(ctx))[1:]


def test_a_thought_in_a_document_is_about_the_same_memory(ctx, elsewhere):
    think(ctx)
    link(elsewhere, kept(elsewhere, "My own").id, kept(elsewhere, "My other").id, "likes")
    import_json(elsewhere, export_json(ctx))
    assert targets(elsewhere) == {"two", None}
    for side in (elsewhere, ctx):
        before = everything(side.store)
        import_json(side, export_json(side))
        assert everything(side.store) == before
    assert targets(ctx) == {"two", "knows"}


def test_a_journal_tells_when_what_came_back_had_changed(ctx, elsewhere, clock):
    memory = kept(ctx, "The first")
    clock.advance(hours=1)
    document = export_json(ctx)
    forget(ctx, [memory.id])
    clock.advance(hours=1)
    import_json(ctx, document)
    clock.advance(hours=1)
    import_lines(elsewhere, export_lines(ctx, journal=True))
    assert list(export_lines(elsewhere)) == list(export_lines(ctx))


def test_a_journal_needs_an_empty_store(story, elsewhere):
    kept(elsewhere, "something")
    with pytest.raises(Conflict, match="empty database"):
        import_lines(elsewhere, export_lines(story, journal=True))


def test_the_purged_do_not_come_back(story, elsewhere):
    forget(story, [1], fate=Fate.PURGED)
    for journal in (False, True):
        assert "The first" not in "".join(export_lines(story, journal=journal))
    import_lines(elsewhere, export_lines(story, journal=True))
    assert memory_numbered(elsewhere.store.read(), 1) is None and faults(elsewhere.store) == []
    assert last_number(elsewhere.store) == last_number(story.store)


GOOD = {"record": "memory", "id": 5, "namespace": "n", "title": "t", "created_at": 1, "updated_at": 1}
GOOD |= {"uid": "11111111-1111-4111-8111-111111111111", "statements": ["fine"]}


@pytest.mark.parametrize(
    "broken",
    [
        {"uid": "no uid"},
        {"uid": None},
        {"state": "undead"},
        {"tier": "eternal"},
        {"statements": [7]},
        {"statements": "x", "tags": 5},
        {"title": None},
        {"namespace": 5},
        {"created_at": "yesterday"},
        {"priority": None},
        {"id": "five"},
        {"session_id": 99},
        {"metadata": "x"},
        {"tags": [{}]},
        {"tags": "ab"},
        {"statements": "xyz"},
        {"id": -3},
        {"created_at": 2**63},
        {"valid_to": 2**60},
    ],
    ids=lambda broken: ", ".join(f"{key} {value}" for key, value in broken.items()),
)
def test_a_line_that_cannot_be_imported_is_reported_and_leaves_nothing(ctx, broken):
    other = {**GOOD, "id": 6, "uid": "22222222-2222-4222-8222-222222222222", "title": "other"}
    done = import_lines(ctx, [json.dumps({**GOOD, **broken}), json.dumps(other)])
    assert done.imported == 1 and len(done.errors) == 1 and done.errors[0].startswith("line 1: ")
    assert [memory.title for memory in each_memory(ctx.store.read())] == ["other"]
    assert faults(ctx.store) == []


EDGE = {
    "record": "edge",
    "id": 1,
    "source_id": 5,
    "target_id": 6,
    "type": "t",
    "weight": 1.0,
    "created_at": 1,
}


@pytest.mark.parametrize(
    "broken",
    [
        {"source_id": 99},
        {"type": 5},
        {"weight": "heavy"},
        {"created_at": None},
        {"state": "x"},
        {"valid_to": "x"},
        {"reason": []},
    ],
    ids=repr,
)
def test_a_link_that_cannot_be_imported_is_reported_and_leaves_nothing(ctx, broken):
    other = {**GOOD, "id": 6, "uid": "22222222-2222-4222-8222-222222222222", "title": "other"}
    done = import_lines(ctx, map(json.dumps, [GOOD, other, {**EDGE, **broken}, EDGE]))
    assert done.imported == 2 and len(done.errors) == 1 and done.errors[0].startswith("line 3: ")
    assert len(list(ctx.store.read().edges(ANY_EDGE))) == 1 and faults(ctx.store) == []


USE = {"record": "use", "id": 5, "access_count": 3, "accessed_at": 7, "days_used": 2}
SESSION = {"record": "session", "id": 1, "namespace": "n", "name": "s", "started_at": 1}
TOGETHER = {"record": "together", "one_id": 5, "other_id": 6, "count": 2, "last": 1}
STANDARD = {"record": "standard", "namespace": "n", "memory_id": 5, "parent": "m"}


@pytest.mark.parametrize(
    "line, field, value",
    [
        (USE, "access_count", "many"),
        (USE, "access_count", -1),
        (USE, "access_count", True),
        (USE, "accessed_at", "noon"),
        (USE, "days_used", None),
        (USE, "id", 99),
        (USE, "id", "five"),
        (SESSION, "started_at", "noon"),
        (SESSION, "started_at", 2**62),
        (SESSION, "ended_at", "later"),
        (SESSION, "name", 5),
        (SESSION, "topic", ["t"]),
        (SESSION, "metadata", "x"),
        (SESSION, "id", [1]),
        (TOGETHER, "one_id", 99),
        (TOGETHER, "other_id", [6]),
        (TOGETHER, "count", "5"),
        (TOGETHER, "last", None),
        (STANDARD, "memory_id", 99),
        (STANDARD, "parent", 5),
        (STANDARD, "namespace", None),
    ],
    ids=lambda part: part["record"] if isinstance(part, dict) else str(part),
)
def test_every_other_line_is_reported_and_leaves_nothing_too(ctx, line, field, value):
    other = {**GOOD, "id": 6, "uid": "22222222-2222-4222-8222-222222222222", "title": "other"}
    done = import_lines(ctx, map(json.dumps, [GOOD, other, {**line, field: value}]))
    assert done.imported == 2 and len(done.errors) == 1 and done.errors[0].startswith(f"line 3: {field}: ")
    reader = ctx.store.read()
    assert [memory.access_count for memory in each_memory(reader)] == [0, 0]
    assert (reader.sessions(), list(reader.companions()), reader.standards()) == ([], [], [])


def test_a_use_is_of_the_memory_that_the_file_means(ctx):
    mine = [kept(ctx, f"My own {count}") for count in range(5)]
    done = import_lines(ctx, map(json.dumps, [GOOD, USE]))
    assert done.errors == []
    counts = {memory.title: memory.access_count for memory in each_memory(ctx.store.read())}
    assert counts == {**{memory.title: 0 for memory in mine}, "t": 3}


def broken_changes(lines):
    """Each change of an export made wrong in a way of its own: its place in the file, and the line."""
    for place, line in enumerate(lines):
        change = json.loads(line)
        if change["record"] != "change" or not change["after"]:
            continue
        for name, value in (
            ("at", "noon"),
            ("actor", 5),
            ("after", "x"),
            ("subject_id", "one"),
            ("batch", None),
        ):
            yield place, name, {**change, name: value}
        for name in change["after"]:
            after = {**change["after"], name: {"no": "such value"} if name != "metadata" else "text"}
            yield place, "", {**change, "after": after}
        yield place, "", {**change, "after": {**change["after"], "elephant": 1}}
        if change["before"] or change["subject"] == "memory":
            yield place, "subject_id", {**change, "subject_id": 10**9}


def test_a_journal_comes_in_whole_or_not_at_all(story, elsewhere):
    lines = list(export_lines(story, journal=True))
    for place, field, change in broken_changes(lines):
        with pytest.raises(Invalid, match=f"line {place + 1}: {field}.*journal"):
            import_lines(elsewhere, [*lines[:place], json.dumps(change), *lines[place + 1 :]])
        assert last_number(elsewhere.store) == 0
    reader = elsewhere.store.read()
    assert (list(each_memory(reader)), reader.sessions(), faults(elsewhere.store)) == ([], [], [])
    assert import_lines(elsewhere, lines).errors == []
    assert from_one(export_lines(elsewhere, journal=True)) == from_one(lines)


def from_one(lines):
    """The records of an export, its changes numbered from 1: an engine need not use a number again that was drawn."""
    records = [json.loads(line) for line in lines]
    drawn = [record["sequence"] for record in records if record["record"] == "change"]
    return [
        {**record, **{key: drawn.index(record[key]) + 1 for key in ("sequence", "batch")}}
        if record["record"] == "change"
        else record
        for record in records
    ]


@pytest.mark.parametrize("last", ["no json", '{"record": "elephant"}', '{"record": ["change"]}'])
@pytest.mark.parametrize("journal", [False, True])
def test_a_file_that_ends_badly_leaves_nothing(story, elsewhere, journal, last):
    lines = list(export_lines(story, journal=journal))
    with pytest.raises(Invalid, match=f"line {len(lines) + 1}: "):
        import_lines(elsewhere, [*lines, last])
    assert last_number(elsewhere.store) == 0


def test_who_may_not_write_replays_no_journal(story, elsewhere):
    with pytest.raises(Denied):
        import_lines(
            elsewhere.limited_to(Grant(None, can_write=False)), list(export_lines(story, journal=True))
        )
    assert last_number(elsewhere.store) == 0


def test_links_have_their_numbers_again_when_others_were_purged(ctx, elsewhere):
    for title in ("one", "two", "three"):
        kept(ctx, f"About {title}", name=title)
    link(ctx, "one", "two", "knows")
    link(ctx, "two", "three", "knows")
    forget(ctx, [1], fate=Fate.PURGED)
    end_link(ctx, "two", "three", "knows")
    import_lines(elsewhere, export_lines(ctx, journal=True))
    assert list(elsewhere.store.read().edges(ANY_EDGE)) == list(ctx.store.read().edges(ANY_EDGE))


def test_a_broken_journal_is_refused(story, elsewhere):
    header, _, birth, *rest = export_lines(story, journal=True)
    for line in (
        json.dumps({**json.loads(birth), "subject": "elephant"}),
        json.dumps({**json.loads(birth), "after": {"title": 5}}),
        json.dumps({**json.loads(birth), "before": {"title": "t"}}),
        '{"record": "change"}',
    ):
        with pytest.raises(Invalid, match="journal"):
            import_lines(elsewhere, [header, line])
        assert last_number(elsewhere.store) == 0
    with pytest.raises(Invalid, match="journal"):
        import_lines(elsewhere, [header, *rest])


def test_a_limited_token_moves_nothing_out_or_in(story):
    guest = story.limited_to(Grant(("work",)))
    with pytest.raises(Denied):
        list(export_lines(guest))
    with pytest.raises(Denied):
        import_lines(guest, [])
    assert {entry["namespace"] for entry in export_json(guest)["memories"]} == {"work"}
    with pytest.raises(Denied):
        import_lines(story.limited_to(Grant(None, can_write=False)), [json.dumps(GOOD)])
    assert import_json(guest, {"memories": [{"content": "x", "namespace": "home"}]}).errors != []


@pytest.mark.parametrize(
    "lines",
    [
        ["not json"],
        ["[1]"],
        ['{"no": "record"}'],
        ['{"record": "mnemic", "format": 99}'],
        ['{"record": "elephant"}'],
    ],
)
def test_a_file_that_is_not_ours_is_refused(ctx, lines):
    with pytest.raises(MnemicError):
        import_lines(ctx, lines)
    assert last_number(ctx.store) == 0


def test_a_document_holds_living_memories(story, elsewhere, clock):
    document = json.loads(json.dumps(export_json(story)))
    living = [memory for memory in each_memory(story.store.read()) if memory.state is State.LIVING]
    assert document["count"] == len(document["memories"]) == len(living)
    done = import_json(elsewhere, document)
    assert (done.imported, done.errors) == (len(living), [])
    taken = {memory.uid: memory for memory in each_memory(elsewhere.store.read())}
    for memory in living:
        same = taken[memory.uid]
        assert (same.title, same.content, same.tags, same.tier) == (
            memory.title,
            memory.content,
            memory.tags,
            memory.tier,
        )
        assert (same.created_at, same.priority, same.confidence) == (
            memory.created_at,
            memory.priority,
            memory.confidence,
        )
    assert len(list(elsewhere.store.read().edges(ANY_EDGE))) == len(document["links"])
    assert import_json(elsewhere, document).imported == 0
    assert faults(elsewhere.store) == []


def test_a_document_leaves_out_what_has_expired(ctx, clock):
    kept(ctx, "brief", ttl=HOUR)
    clock.advance(hours=2)
    assert export_json(ctx)["memories"] == []


@pytest.mark.parametrize("document", [None, [], "x", {}, {"memories": None}, {"memories": {}}])
def test_a_document_without_memories_is_refused(ctx, document):
    with pytest.raises(Invalid, match="no list of memories"):
        import_json(ctx, document)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        5,
        {},
        {"content": ""},
        {"content": 5},
        {"content": "x", "id": ["no", "id"]},
        {"content": "x", "id": True},
        {"content": "x", "priority": 11},
        {"content": "x", "priority": 10**30},
        {"content": "x", "confidence": 1.5},
        {"content": "x", "confidence": float("nan")},
        {"content": "x", "access_count": -1},
        {"content": "\ud800"},
        {"content": "x", "statements": [5]},
        {"content": " ", "statements": ["x"]},
        {"content": "", "statements": []},
        {"content": "x", "session": 5},
        {"content": "x", "expires_at": "soon"},
        {"content": "x", "archived_at": 5},
        {"content": "x", "priority": "high"},
        {"content": "x", "tier": "eternal"},
        {"content": "x", "created_at": "yesterday"},
        {"content": "x", "created_at": 5},
        {"content": "x", "tags": 5},
        {"content": "x", "tags": [5]},
        {"content": "x", "title": 5},
        {"content": "x", "namespace": 5},
        {"content": "x", "metadata": [1]},
        {"content": "x", "metadata": {"n": 1e400}},
    ],
    ids=repr,
)
def test_an_entry_that_cannot_be_imported_is_reported_and_leaves_nothing(ctx, entry):
    done = import_json(
        ctx, {"memories": [entry, {"content": "fine"}], "links": [{"source_id": "x"}, None, 5]}
    )
    assert done.imported == 1 and len(done.errors) == 4
    assert done.errors[0].startswith("memories.0: ") and done.errors[1].startswith("links.0: ")
    assert [memory.content for memory in each_memory(ctx.store.read())] == ["fine"]
    assert faults(ctx.store) == []


@pytest.mark.parametrize("source", [None, "api", "mnemic"])
def test_a_source_is_the_same_after_a_document_and_so_is_none(ctx, elsewhere, source):
    kept(ctx, "x", source=source)
    import_json(elsewhere, export_json(ctx), check=validation.entry)
    assert everything(elsewhere.store) == everything(ctx.store)


@pytest.mark.parametrize("kind", ["", "person"])
def test_an_entity_has_the_same_type_after_a_document(ctx, kind):
    create(ctx, [Sketch("Ada", kind, ("counts",))], OnTakenName.MERGE)
    import_json(ctx, export_json(ctx))
    assert memory_numbered(ctx.store.read(), 1).kind == kind


def test_every_field_of_an_entry_can_be_written(ctx):
    [told] = import_json(ctx, {"memories": [{"content": "x", "title": "half \ud800"}]}).errors
    assert told == "half ?: title: is not valid Unicode"


def test_a_document_holds_an_entity_without_observations(ctx, elsewhere):
    create(ctx, [Sketch("Ada", "person")], OnTakenName.MERGE)
    [told] = export_json(ctx)["memories"]
    assert (told["content"], told["statements"]) == ("", [])
    assert import_json(elsewhere, export_json(ctx)).errors == []
    assert everything(elsewhere.store)[0][1]["statements"] == []


@pytest.mark.parametrize(
    "odd",
    [
        {"namespace": "a project/with words"},
        {"namespace": "é" * 65},
        {"text": "form\x0cfeed"},
        {"title": "é" * 257},
        {"tags": tuple(f"t{n}" for n in range(51))},
    ],
    ids=lambda odd: next(iter(odd)),
)
def test_what_only_ai_memory_would_refuse_is_marked_as_ours(ctx, elsewhere, odd):
    kept(ctx, **{"text": "plain", **odd})
    document = export_json(ctx)
    assert import_json(elsewhere, document, check=validation.entry).errors == []
    assert everything(elsewhere.store) == everything(ctx.store)
    del document["memories"][0]["statements"]
    assert len(import_json(elsewhere, document, check=validation.entry).errors) == 1


@pytest.mark.parametrize(
    "broken",
    [
        {"title": ""},
        {"title": None},
        {"title": "é" * 257},
        {"content": ""},
        {"content": None},
        {"content": "x" * 65_537},
        {"namespace": "a b"},
        {"namespace": "a/b"},
        {"tags": [""]},
        {"tags": ["t"] * 51},
        {"priority": 0},
        {"confidence": 2},
        {"tier": "eternal"},
        {"source": "s" * 129},
        {"id": ""},
        {"id": 7},
        {"id": "é" * 65},
        {"id": "a\0b"},
        {"metadata": []},
        {"statements": [], "content": "", "title": " "},
    ],
    ids=lambda broken: ", ".join(broken),
)
def test_a_document_for_ai_memory_keeps_its_rules(ctx, broken):
    fine = {"title": "T", "content": "x", "source": "mine-slack"}
    done = import_json(ctx, {"memories": [{**fine, **broken}, fine]}, check=validation.entry)
    assert (done.imported, len(done.errors)) == (1, 1)


notes = st.builds(
    Note,
    text=st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
    ).filter(str.strip),
    title=st.none() | st.sampled_from(["A", "B", "Ü (2)"]),
    tags=st.lists(st.sampled_from(["a", "b", "日"]), max_size=2).map(tuple),
    namespace=st.sampled_from([None, "work"]),
    tier=st.none() | st.sampled_from(list(Tier)),
    confidence=st.floats(0, 1),
    session=st.none() | st.sampled_from(["s", "t"]),
    metadata=st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"]), max_size=3), st.integers(-5, 5), max_size=2
    ),
)


@pytest.mark.only_on("sqlite")  # elsewhere a change that is begun again leaves gaps between numbers
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    written=st.lists(notes, max_size=8),
    forgotten=st.sets(st.integers(1, 8), max_size=3),
    journal=st.booleans(),
)
def test_export_then_import_changes_nothing(engine, written, forgotten, journal):
    with temporary_stores(engine, "source", "target") as opened:
        source, target = (
            Context(store=s, embedder=None, now=Clock(START), new_uid=Uids()) for s in opened.values()
        )
        remember(source, written, force=True)
        forget(source, [number for number in forgotten if number <= len(written)])
        lines = list(export_lines(source, journal=journal))
        done = import_lines(target, lines)
        assert done.errors == []
        assert everything(target.store) == everything(source.store)
        assert list(export_lines(target, journal=journal)) == lines
        assert faults(target.store) == []


@pytest.mark.only_on("sqlite")  # elsewhere a change that is begun again leaves gaps between numbers
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    written=st.lists(notes, max_size=8),
    appended=st.sets(st.integers(1, 8), max_size=3),
    linked=st.sets(st.tuples(st.integers(1, 8), st.integers(1, 8), st.floats(0.1, 1)), max_size=4),
    used=st.sets(st.integers(1, 8), max_size=3),
)
def test_a_document_out_and_in_changes_nothing(engine, written, appended, linked, used):
    with temporary_stores(engine, "source", "target") as opened:
        source, target = (
            Context(store=s, embedder=None, now=Clock(START), new_uid=Uids()) for s in opened.values()
        )
        remember(source, written, force=True)
        for number in appended & set(range(1, len(written) + 1)):
            revise(source, number, Revision(append="and more", summary="short"))
        for one, other, weight in linked:
            if one != other and max(one, other) <= len(written):
                link(source, one, other, "knows", weight, "met")
        open_all(source, [number for number in used if number <= len(written)])
        document = json.loads(json.dumps(export_json(source)))
        assert import_json(source, document).skipped == len(written)
        assert import_json(target, document).errors == []
        assert everything(target.store) == everything(source.store)
        assert with_counters(target) == with_counters(source)
        sequence = last_number(target.store)
        again = import_json(target, document)
        assert (again.imported, again.errors) == (0, []) and last_number(target.store) == sequence
        assert export_json(target) == document and faults(target.store) == []


def test_an_empty_title_in_a_document_is_refused_by_name(ctx):
    done = import_json(ctx, {"memories": [{"title": " ", "content": "Said."}, {"content": "Untitled."}]})
    assert done.imported == 1
    [error] = done.errors
    assert "title: must be a text that is not empty" in error
