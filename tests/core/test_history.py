"""What changed, and taking it back."""

from __future__ import annotations

import pytest
from support import START, everything, faults, kept, last_number, living, position_of

from mnemic.core import sessions
from mnemic.core.entities import OnTakenName, create, relate
from mnemic.core.expiry import expire
from mnemic.core.graph import end_link, link
from mnemic.core.history import difference, has_changed_since, history, undo, undo_since
from mnemic.core.memories import (
    Fate,
    Note,
    Revision,
    find,
    forget,
    forget_matching,
    open_all,
    remember,
    restore,
    revise,
    supersede,
)
from mnemic.core.stats import overview
from mnemic.core.traversal import explore
from mnemic.errors import Conflict, NotFound
from mnemic.model.access import Grant
from mnemic.model.change import Subject
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ChangeFilter, Filter
from mnemic.model.graph import Sketch, Triple
from mnemic.model.time import HOUR
from mnemic.storage import queries
from mnemic.storage.queries import memory_numbered, session_numbered

OPERATIONS = {
    "remember": lambda ctx: remember(ctx, [Note(text="new", session="talk", links=(("one", "about", 1.0),))]),
    "remember many": lambda ctx: remember(ctx, [Note(text=f"new {n}") for n in range(12)]),
    "revise text": lambda ctx: revise(ctx, "one", Revision(text="changed")),
    "append": lambda ctx: revise(ctx, "one", Revision(append="more")),
    "retitle": lambda ctx: revise(ctx, "one", Revision(name="Uno")),
    "retag": lambda ctx: revise(ctx, "one", Revision(tags=("x", "y"))),
    "untag": lambda ctx: revise(ctx, "one", Revision(tags=())),
    "move": lambda ctx: revise(ctx, "one", Revision(namespace="elsewhere")),
    "everything": lambda ctx: revise(
        ctx,
        "one",
        Revision(
            text="all new",
            name="All",
            kind="fact",
            summary="s",
            tags=(),
            tier=Tier.SHORT,
            confidence=0.1,
            priority=1,
            metadata={},
        ),
    ),
    "supersede": lambda ctx: supersede(ctx, "two", "corrected", "wrong"),
    "supersede a named one": lambda ctx: supersede(ctx, "one", "corrected", "wrong"),
    "forget": lambda ctx: forget(ctx, ["one", "two"], reason="tidy"),
    "forget by filter": lambda ctx: forget_matching(ctx, Filter(), pattern="second"),
    "restore": lambda ctx: restore(ctx, [4]),
    "link": lambda ctx: link(ctx, "two", "three", "knows"),
    "relink": lambda ctx: link(ctx, "one", "two", "knows", 0.25, "better"),
    "end link": lambda ctx: end_link(ctx, "one", "two", "knows"),
    "expire": lambda ctx: ctx.now.advance(hours=3) and expire(ctx),
}


@pytest.fixture
def story(ctx, clock):
    """Three living memories, one forgotten, one about to expire, one link; then an hour passes."""
    kept(ctx, "the first body", name="one", tags=("a", "b"), metadata={"k": [1, {"z": None}]})
    kept(ctx, "the second body", name="two")
    kept(ctx, "the third body", name="three")
    forget(ctx, [kept(ctx, "the fourth body", name="four").id], reason="gone")
    kept(ctx, "the fifth body", name="five", ttl=3 * HOUR)
    link(ctx, "one", "two", "knows", 0.5, "met")
    clock.advance(hours=1)
    return ctx


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_can_be_undone_and_redone(story, clock, operation):
    before = living(story.store)
    OPERATIONS[operation](story)
    after, done = living(story.store), last_number(story.store)
    assert after != before
    clock.advance(minutes=1)

    taken_back = undo(story, done)
    assert done in taken_back
    assert living(story.store) == before
    undone = last_number(story.store)
    assert undone > done, "taking back is a change itself"
    assert {
        change.operation
        for change in story.store.read().journal(ChangeFilter(after=position_of(story.store, done)))
    } == {"undo"}
    clock.advance(minutes=1)

    undo(story, undone)
    assert living(story.store) == after
    again = last_number(story.store)
    undo(story, again)
    assert living(story.store) == before
    assert faults(story.store) == []


@pytest.mark.parametrize("operation", OPERATIONS)
def test_undo_restores_the_earlier_search_results(story, operation):
    words = ["first", "second", "third", "fourth", "fifth", "changed", "corrected", "new", "more"]

    def found():
        return {
            word: queries.best_words(story.store.read(), [word], Filter(), every=True, limit=50)
            for word in words
        }

    before = {word: {number for number, _ in hits} for word, hits in found().items()}
    OPERATIONS[operation](story)
    undo(story, last_number(story.store))
    assert {word: {number for number, _ in hits} for word, hits in found().items()} == before


def test_undoing_any_change_of_a_batch_undoes_the_batch(story):
    before = living(story.store)
    first = last_number(story.store) + 1
    remember(story, [Note(text=f"new {n}") for n in range(5)])
    assert sorted(undo(story, first + 2)) == list(range(first, first + 5))
    assert living(story.store) == before


def test_an_undo_dry_run_changes_nothing(story):
    revise(story, "one", Revision(text="changed"))
    before, sequence = everything(story.store), last_number(story.store)
    assert undo(story, sequence, dry_run=True) == [sequence]
    assert undo_since(story, START + 1, dry_run=True) == [sequence]
    assert everything(story.store) == before and last_number(story.store) == sequence


@pytest.mark.parametrize("sequence", [0, -1, 10_000])
def test_an_unknown_change_cannot_be_undone(story, sequence):
    with pytest.raises(NotFound, match="No change"):
        undo(story, sequence)


def test_a_creation_is_undone_once(ctx, clock):
    memory = kept(ctx, "the heron stands in the pond")
    born = last_number(ctx.store)
    undo(ctx, born)
    gone = everything(ctx.store)
    clock.advance(hours=1)
    undo(ctx, born)
    assert everything(ctx.store) == gone
    undo(ctx, last_number(ctx.store))
    assert memory_numbered(ctx.store.read(), memory.id).state is State.LIVING


def test_undo_is_refused_after_a_later_change(story):
    revise(story, "one", Revision(name="Uno"))
    first = last_number(story.store)
    revise(story, "Uno", Revision(name="Eins"))
    before, sequence = everything(story.store), last_number(story.store)
    with pytest.raises(Conflict, match=r"(name|title) of memory 1 has changed since"):
        undo(story, first)
    assert everything(story.store) == before and last_number(story.store) == sequence
    undo(story, sequence)
    undo(story, first)
    assert find(story, 1).title == "one"


def test_later_changes_to_other_fields_do_not_block_undo(story, clock):
    revise(story, "one", Revision(name="Uno"))
    first = last_number(story.store)
    clock.advance(minutes=1)
    revise(story, "Uno", Revision(tags=("kept",)))
    undo(story, first)
    assert (find(story, 1).title, find(story, 1).tags) == ("one", ("kept",))


def test_who_took_over_the_links_of_a_name_is_taken_back_and_done_again(ctx, clock):
    create(ctx, [Sketch("Ada", "person")], OnTakenName.MERGE)
    relate(ctx, [Triple("Ada", "Bob", "knows")], may_dangle=True)
    dangling = living(ctx.store)
    create(ctx, [Sketch("Bob", "person")], OnTakenName.MERGE)
    joined = living(ctx.store)
    for then in (dangling, joined, dangling, joined):
        clock.advance(minutes=1)
        undo(ctx, last_number(ctx.store))
        assert living(ctx.store) == then
    assert faults(ctx.store) == []


@pytest.mark.parametrize("taking_back", [undo, undo_since])
def test_a_mere_name_stays_one_when_the_relation_to_it_is_taken_back(ctx, clock, taking_back):
    create(ctx, [Sketch("Ada", "person")], OnTakenName.MERGE)
    moment = clock.advance(minutes=1)
    relate(ctx, [Triple("Ada", "Bob", "knows")], may_dangle=True)
    dangling = living(ctx.store)
    clock.advance(minutes=1)
    taking_back(ctx, last_number(ctx.store) if taking_back is undo else moment)
    assert len(dangling[1]) == 1 and living(ctx.store)[1] == {}
    assert overview(ctx).by_state == {"living": 1}
    with pytest.raises(NotFound):
        restore(ctx, [2])
    undo(ctx, last_number(ctx.store))
    assert living(ctx.store) == dangling


def test_undo_onto_a_title_in_use_is_refused(story):
    forget(story, ["one"])
    forgotten = last_number(story.store)
    kept(story, "another", name="one")
    before = everything(story.store)
    with pytest.raises(Conflict, match="'one' is taken"):
        undo(story, forgotten)
    assert everything(story.store) == before


def test_undo_since_reverts_all_later_changes(story, clock):
    moment, before = clock(), living(story.store)
    for operation in OPERATIONS.values():
        clock.advance(minutes=1)
        try:
            operation(story)
        except (NotFound, Conflict):
            continue
    assert living(story.store) != before
    undone = undo_since(story, moment)
    assert undone == sorted(undone, reverse=True) and len(undone) > 20
    assert living(story.store) == before
    clock.advance(minutes=1)
    undo(story, last_number(story.store))
    assert living(story.store) != before
    undo_since(story, moment)
    assert living(story.store) == before, "takings back are taken back too"
    assert faults(story.store) == []


def test_what_was_changed_often_is_taken_back_by_one_change_and_but_once(story, clock):
    moment, before = clock(), living(story.store)
    clock.advance(minutes=1)
    for number in range(20):
        revise(story, "one", Revision(text=f"version {number}"))
    sequence = last_number(story.store)
    assert len(undo_since(story, moment)) == 20
    assert living(story.store) == before and last_number(story.store) == sequence + 1
    assert undo_since(story, moment) == [] and last_number(story.store) == sequence + 1


def test_titles_that_were_exchanged_are_given_back(story, clock):
    moment, before = clock(), living(story.store)
    clock.advance(minutes=1)
    for old, new in (("one", "aside"), ("two", "one"), ("aside", "two"), ("three", "aside")):
        revise(story, old, Revision(name=new))
    forget(story, ["aside"])
    kept(story, "another", name="three")
    undo_since(story, moment)
    assert living(story.store) == before
    assert faults(story.store) == []


def test_an_undo_dry_run_reports_what_cannot_be_undone(story):
    revise(story, "one", Revision(text="changed"))
    first = last_number(story.store)
    revise(story, "one", Revision(text="changed again"))
    before = everything(story.store)
    with pytest.raises(Conflict, match="has changed since"):
        undo(story, first, dry_run=True)
    assert everything(story.store) == before


@pytest.mark.parametrize("taking_back", [undo, undo_since])
def test_changes_to_a_session_can_be_undone(ctx, clock, taking_back):
    def take_back(moment):
        taking_back(ctx, last_number(ctx.store) if taking_back is undo else moment)

    started = clock.advance(minutes=1)
    clock.advance(minutes=1)
    number = sessions.start(ctx, topic="herons").session.id
    kept(ctx, "the heron stands in the pond")
    ending = clock.advance(minutes=1)
    clock.advance(minutes=1)
    ended = sessions.end(ctx, number, summary="all seen")
    take_back(ending)
    session = session_numbered(ctx.store.read(), number)
    assert session.ended_at is None and session.summary is None
    assert memory_numbered(ctx.store.read(), ended.episode.id).state is State.FORGOTTEN
    if taking_back is undo_since:
        take_back(started)
        assert session_numbered(ctx.store.read(), number).ended_at is not None, "it can only be ended"


def test_what_a_use_earned_does_not_stand_in_the_way(ctx, clock):
    memory = kept(ctx, "the heron", tier=Tier.SHORT, ttl=HOUR)
    revise(ctx, memory.id, Revision(expires_at=clock() + HOUR // 4))
    sequence = last_number(ctx.store)
    clock.advance(minutes=10)
    open_all(ctx, [memory.id])
    assert find(ctx, memory.id).expires_at > clock() + HOUR // 4
    undo(ctx, sequence)
    assert find(ctx, memory.id).expires_at == memory.expires_at


def test_what_was_changed_at_the_moment_itself_is_taken_back_too(story, clock):
    before, sequence = living(story.store), last_number(story.store)
    revise(story, "one", Revision(text="changed"))
    [change] = history(story, since=clock())
    assert undo_since(story, change.at) == [sequence + 1]
    assert living(story.store) == before


def test_undo_since_now_does_nothing(story, clock):
    assert undo_since(story, clock()) == []


def test_a_purge_cannot_be_undone(story):
    born = last_number(story.store)
    memory = kept(story, "a secret", name="Secret")
    link(story, memory.id, "one", "about")
    forget(story, [memory.id], fate=Fate.PURGED)
    before = everything(story.store)
    for attempt in (
        lambda: undo(story, born + 1),
        lambda: undo(story, born + 2),
        lambda: undo(story, last_number(story.store)),
    ):
        with pytest.raises(Conflict, match="purged"):
            attempt()
        assert everything(story.store) == before


def test_a_purge_does_not_keep_other_changes_from_being_undone(story, clock):
    moment = clock.advance(minutes=1)
    before = everything(story.store)
    clock.advance(minutes=1)
    memory = kept(story, "a secret", name="Secret")
    link(story, memory.id, "one", "about")
    revise(story, "one", Revision(summary="changed"))
    forget(story, [memory.id], fate=Fate.PURGED)
    assert undo_since(story, moment)
    assert memory_numbered(story.store.read(), memory.id) is None
    assert {number: one["summary"] for number, one in everything(story.store)[0].items()} == {
        number: one["summary"] for number, one in before[0].items()
    }


# -- history


def test_history_names_actors_and_operations(story, clock):
    anna = story.on_behalf_of("anna")
    revise(anna, "three", Revision(tags=("x",)))
    forget(story, ["three"], reason="tidy")
    changes = history(story, reference=3)
    assert [(change.operation, change.actor) for change in changes] == [
        ("forget", "tester"),
        ("revise", "anna"),
        ("remember", "tester"),
    ]
    assert (changes[1].before["tags"], changes[1].after["tags"]) == ([], ["x"])
    assert changes[0].after["state_reason"] == "tidy" and changes[2].before is None
    assert [change.operation for change in history(story, reference=3, actor="anna")] == ["revise"]
    assert [change.operation for change in history(story, reference=3, limit=1)] == ["forget"]
    assert [change.operation for change in history(story, reference=3, until=START)] == ["remember"]
    assert len(history(story, reference=3, since=clock())) == 2


def test_the_history_of_a_memory_has_its_links(story):
    end_link(story, "one", "two", "knows")
    for reference in ("one", "two"):
        assert [(change.operation, change.subject) for change in history(story, reference=reference)] == [
            ("end_link", Subject.EDGE),
            ("link", Subject.EDGE),
            ("remember", Subject.MEMORY),
        ]


def test_history_includes_removed_links(story):
    undo(story, last_number(story.store))
    forget(story, ["two"])
    assert [(change.operation, change.subject) for change in history(story, reference="one")] == [
        ("undo", Subject.EDGE),
        ("link", Subject.EDGE),
        ("remember", Subject.MEMORY),
    ]


def test_the_history_of_a_memory_has_no_links_to_where_the_caller_may_not_look(story):
    hidden = kept(story, "Private", namespace="home")
    link(story, "one", hidden.id, "knows")
    undo(story, last_number(story.store))
    guest = story.limited_to(Grant(("global",)))
    assert [change.operation for change in history(guest, reference="one")] == ["link", "remember"]


def test_the_history_of_everything_is_newest_first(story, clock):
    changes = history(story, limit=1000)
    assert [change.sequence for change in changes] == list(range(last_number(story.store), 0, -1))
    assert len(history(story, limit=2)) == 2
    moment = clock.advance(minutes=1)
    revise(story, "one", Revision(text="changed"))
    assert [change.operation for change in history(story, since=moment)] == ["revise"]
    assert history(story, actor="nobody") == []


def test_the_history_of_nothing_is_not_found(story):
    with pytest.raises(NotFound):
        history(story, reference=99)


def test_traversal_skips_an_undone_link(story):
    link(story, "two", "three", "knows")
    assert len(explore(story, "three").memories) == 2
    undo(story, last_number(story.store))
    assert len(explore(story, "three").memories) == 1
    assert find(story, "three").state is State.LIVING


def test_only_a_change_the_caller_may_see_is_one(ctx):
    guest = ctx.limited_to(Grant(("work",)))
    before = ctx.store.newest()
    assert not has_changed_since(ctx, before)
    kept(ctx, "Private", namespace="home")
    assert has_changed_since(ctx, before) and not has_changed_since(guest, before)
    kept(ctx, "Shared", namespace="work")
    assert has_changed_since(guest, before) and not has_changed_since(guest, ctx.store.newest())


def test_what_a_caller_may_see_is_found_out_for_many_changes_at_once(ctx, monkeypatch):
    remember(ctx, [Note(text=f"Private {n}", namespace="home") for n in range(50)])
    kept(ctx, "Shared", namespace="work")
    guest, asked = ctx.limited_to(Grant(("work",))), []
    reading = type(ctx.store.read())
    for name in ("get", "look"):
        method = getattr(reading, name)
        monkeypatch.setattr(reading, name, lambda *given, call=method: asked.append(given) or call(*given))
    assert [change.subject_id for change in history(guest)] == [51]
    assert len(asked) == 1


# -- the difference between two moments


def ids(changed):
    return [one.id for one in changed]


def test_diff_lists_added_changed_and_removed_memories(ctx, clock):
    for text in ("stays", "is changed", "leaves", "is touched and set back", "comes back"):
        kept(ctx, text)
    forget(ctx, [5])
    start = clock()
    clock.advance(days=1)
    revise(ctx, 2, Revision(text="was changed", priority=9))
    revise(ctx, 2, Revision(text="is other"))
    forget(ctx, [3], reason="old")
    revise(ctx, 4, Revision(priority=9))
    revise(ctx, 4, Revision(priority=5))
    restore(ctx, [5])
    kept(ctx, "comes")
    kept(ctx, "comes and goes")
    forget(ctx, [7])
    end = clock()
    clock.advance(days=1)
    forget(ctx, [2, 6])
    kept(ctx, "later")
    found = difference(ctx, start, end)
    assert (ids(found.added), ids(found.changed), ids(found.left)) == ([5, 6], [2], [3])
    [changed] = found.changed
    assert (changed.before, changed.after) == (
        {"priority": 5, "statements": ["is changed"], "title": "is changed"},
        {"priority": 9, "statements": ["is other"], "title": "is other"},
    )
    assert found.left[0].after["state_reason"] == "old"
    whole = difference(ctx, start, clock())
    assert (ids(whole.added), ids(whole.changed), ids(whole.left)) == ([5, 8], [], [2, 3])
    assert difference(ctx, clock(), clock()) == difference(ctx, end, end)


def test_the_difference_has_the_titles_of_its_end(ctx, clock):
    for title in ("one", "two", "three"):
        kept(ctx, f"{title} says", name=title)
    start = clock()
    clock.advance(days=1)
    revise(ctx, "one", Revision(priority=9))
    revise(ctx, "two", Revision(name="Two", priority=9))
    forget(ctx, ["three"])
    end = clock()
    clock.advance(days=1)
    restore(ctx, [3])
    for number in (1, 2, 3):
        revise(ctx, number, Revision(name=f"later {number}"))
        revise(ctx, number, Revision(name=f"latest {number}"))
    found = difference(ctx, start, end)
    assert [one.title for one in (*found.changed, *found.left)] == ["one", "Two", "three"]
    assert [one.title for one in difference(ctx, start, clock()).changed] == [
        "latest 1",
        "latest 2",
        "latest 3",
    ]


def test_diff_shows_only_the_id_of_a_purged_memory(ctx, clock):
    kept(ctx, "secret")
    start = clock()
    clock.advance(days=1)
    forget(ctx, [1], fate=Fate.PURGED)
    [gone] = difference(ctx, start, clock()).left
    assert (gone.id, gone.title, gone.after) == (1, None, {})


def test_diff_respects_the_grant(ctx, clock):
    start = clock()
    clock.advance(days=1)
    kept(ctx, "here")
    kept(ctx, "there", namespace="far")
    limited = ctx.limited_to(Grant(("far",), can_write=False))
    assert ids(difference(limited, start, clock()).added) == [2]
