"""Names and titles: a chosen name is unique, a title that nobody chose never stands in its way."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest
from support import Uids, faults, kept, last_number, store_after, write

from mnemic.core import entities, titles, upsert
from mnemic.core.archive import unarchive
from mnemic.core.entities import OnTakenName
from mnemic.core.history import undo, undo_since
from mnemic.core.maintenance.consolidate import consolidate
from mnemic.core.maintenance.split import SplitPart, split
from mnemic.core.memories import (
    Fate,
    Note,
    Revision,
    find,
    forget,
    remember,
    restore,
    revise,
    supersede,
)
from mnemic.core.sessions import end, start
from mnemic.core.trust.beliefs import correct
from mnemic.dialects.lorekeeper import dedup
from mnemic.errors import Conflict, NotFound
from mnemic.model.change import Subject
from mnemic.model.enums import State
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Direction, EdgeDraft, Sketch, Triple
from mnemic.model.memory import Memory, Statement
from mnemic.storage.queries import memory_numbered
from mnemic.transfer.document import export_json, import_json
from mnemic.transfer.jsonl import export_lines, import_lines

TITLE, TEXT = "Chose cedar", "A frame of cedar is light."


def an_episode(ctx):
    """An episode that is shown as TITLE."""
    start(ctx)
    return end(ctx, summary=TITLE).episode


def a_note(ctx):
    """A memory without a name that is shown as TITLE."""
    return kept(ctx, TITLE)


UNNAMED = [an_episode, a_note]

WAYS = {
    "remember": lambda ctx: remember(ctx, [Note(text=TEXT, name=TITLE)]),
    "store": lambda ctx: upsert.store(ctx, Note(text=TEXT, name=TITLE)),
    "gate": lambda ctx: dedup.store_notes(ctx, [Note(text=TEXT, name=TITLE)], dedup.Gate(namespaces=None)),
    "revise": lambda ctx: revise(ctx, kept(ctx, TEXT).id, Revision(name=TITLE)),
    "update": lambda ctx: upsert.update(ctx, kept(ctx, "x").id, Revision(name=TITLE, text=TEXT)),
    "move": lambda ctx: revise(
        ctx, kept(ctx, TEXT, name=TITLE, namespace="elsewhere").id, Revision(namespace="global")
    ),
    "split": lambda ctx: split(ctx, kept(ctx, TEXT, name="Whole").id, [SplitPart(title=TITLE, texts=[TEXT])]),
    "consolidate": lambda ctx: consolidate(
        ctx, [kept(ctx, "one").id, kept(ctx, "two").id], title=TITLE, text=TEXT
    ),
    "import": lambda ctx: import_json(ctx, {"memories": [{"title": TITLE, "content": TEXT, "kind": "note"}]}),
}


@pytest.mark.parametrize("make", UNNAMED)
@pytest.mark.parametrize("way", WAYS)
def test_a_name_is_free_whatever_is_shown_under_it(ctx, way, make):
    other = make(ctx)
    WAYS[way](ctx)
    named = find(ctx, TITLE)
    assert (named.name, named.title, named.content) == (TITLE, TITLE, TEXT)
    assert find(ctx, other.id) == other, "nothing was renamed to make room"
    assert faults(ctx.store) == []


def test_equal_texts_are_shown_alike_and_never_numbered(ctx):
    made = [kept(ctx, TEXT) for _ in range(3)]
    assert {(memory.name, memory.title) for memory in made} == {(None, TEXT)}


@pytest.mark.parametrize("force", [False, True])
def test_a_taken_name_is_refused_with_who_bears_it(ctx, force):
    bearer = kept(ctx, TEXT, name=TITLE)
    outcome = remember(ctx, [Note(text="other", name=TITLE)], force=force)
    assert outcome.kept == () and outcome.refused[0].known == bearer


def test_a_name_is_free_in_another_namespace_and_when_its_bearer_left(ctx):
    first = kept(ctx, TEXT, name=TITLE)
    kept(ctx, TEXT, name=TITLE, namespace="other")
    forget(ctx, [first.id])
    assert kept(ctx, "again", name=TITLE).name == TITLE


def test_names_are_equal_composed_and_decomposed_and_shown_as_they_were_spelled(ctx):
    composed, decomposed = "caf\N{LATIN SMALL LETTER E WITH ACUTE}", "cafe\N{COMBINING ACUTE ACCENT}"
    memory = kept(ctx, TEXT, name=decomposed)
    assert (memory.name, memory.title) == (composed, decomposed)
    assert find(ctx, composed) == find(ctx, decomposed) == memory
    assert remember(ctx, [Note(text="x", name=composed)]).refused[0].known == memory


# -- what a reference means


def test_a_name_comes_before_a_number_and_a_title(ctx):
    shown = kept(ctx, TITLE)
    called = kept(ctx, "second", name=str(shown.id))
    named = kept(ctx, "third", name=TITLE)
    assert find(ctx, str(shown.id)) == called
    assert find(ctx, shown.id) == shown
    assert find(ctx, TITLE) == named


def test_a_title_means_a_memory_if_it_is_the_only_one(ctx):
    first = kept(ctx, TEXT)
    assert find(ctx, TEXT) == first
    second = kept(ctx, TEXT)
    with pytest.raises(
        Conflict, match=f"several memories, among them {first.id} and {second.id}; give the id"
    ):
        find(ctx, TEXT)
    forget(ctx, [first.id])
    assert find(ctx, TEXT) == second


def test_the_callers_own_namespace_comes_first(ctx):
    here = replace(ctx, namespace="proj")
    kept(ctx, "elsewhere", name=TITLE)
    own = kept(here, TEXT, name=TITLE)
    assert find(here, TITLE) == own


# -- what is shown


def test_the_title_of_an_unnamed_memory_follows_its_text(ctx):
    memory = kept(ctx, TEXT)
    assert revise(ctx, memory.id, Revision(text="It is oak.")).title == "It is oak."
    assert revise(ctx, memory.id, Revision(append="More of it.")).title == "It is oak."
    new, _ = supersede(ctx, memory.id, "It is ash.", None)
    assert (new.name, new.title) == (None, "It is ash.")


def test_a_name_stays_when_the_text_changes(ctx):
    memory = kept(ctx, TEXT, name=TITLE)
    assert revise(ctx, memory.id, Revision(text="It is oak.")).title == TITLE
    new, old = supersede(ctx, memory.id, "It is ash.", None)
    assert (new.name, new.title, old.state) == (TITLE, TITLE, State.SUPERSEDED)
    corrected = correct(ctx, new.id, "It is elm.")
    assert corrected.new.name == TITLE


def test_a_correction_takes_no_name_that_another_has_now(ctx):
    memory = kept(ctx, TEXT, name=TITLE)
    forget(ctx, [supersede(ctx, memory.id, "It is ash.", None)[0].id])
    other = kept(ctx, "another", name=TITLE)
    assert correct(ctx, memory.id, "It is elm.").new.name is None
    assert find(ctx, TITLE) == other


# -- coming back

WAYS_BACK = [
    (Fate.FORGOTTEN, lambda ctx, number, left_at: restore(ctx, [number])),
    (Fate.ARCHIVED, lambda ctx, number, left_at: unarchive(ctx, number)),
    (Fate.FORGOTTEN, lambda ctx, number, left_at: undo(ctx, left_at)),
]


@pytest.mark.parametrize("fate, bring_back", WAYS_BACK)
def test_nothing_comes_back_onto_a_taken_name(ctx, fate, bring_back):
    memory = kept(ctx, "old", name=TITLE)
    forget(ctx, [memory.id], fate=fate)
    left_at = last_number(ctx.store)
    other = kept(ctx, TEXT, name=TITLE)
    with pytest.raises(Conflict):
        bring_back(ctx, memory.id, left_at)
    assert find(ctx, TITLE) == other and find(ctx, memory.id).state is not State.LIVING


@pytest.mark.parametrize("make", UNNAMED)
@pytest.mark.parametrize("fate, bring_back", WAYS_BACK)
def test_what_has_no_name_comes_back_as_it_was(ctx, fate, bring_back, make):
    memory = make(ctx)
    forget(ctx, [memory.id], fate=fate)
    left_at = last_number(ctx.store)
    kept(ctx, TEXT, name=TITLE)
    bring_back(ctx, memory.id, left_at)
    back = find(ctx, memory.id)
    assert (back.state, back.name, back.title) == (State.LIVING, None, TITLE)


def test_one_can_come_back_under_another_name(ctx):
    memory = kept(ctx, "old", name=TITLE)
    forget(ctx, [memory.id])
    kept(ctx, TEXT, name=TITLE)
    with pytest.raises(Conflict, match="give `name`"):
        restore(ctx, [memory.id])
    [back] = restore(ctx, [memory.id], name="Old cedar")
    assert (back.name, back.title) == ("Old cedar", "Old cedar")


def test_names_that_went_round_go_back_in_one_undo(ctx, clock):
    one, two = kept(ctx, "first", name="A"), kept(ctx, "second", name="B")
    moment = clock.advance(seconds=1)
    revise(ctx, one.id, Revision(name="C"))
    revise(ctx, two.id, Revision(name="A"))
    revise(ctx, one.id, Revision(name="D"))
    undo_since(ctx, moment)
    assert [(find(ctx, one.id).name, find(ctx, two.id).name)] == [("A", "B")]
    assert [(find(ctx, one.id).title, find(ctx, two.id).title)] == [("A", "B")]


@pytest.mark.parametrize(
    "bring",
    [lambda to, of: import_json(to, export_json(of)), lambda to, of: import_lines(to, export_lines(of))],
)
@pytest.mark.parametrize("make", UNNAMED)
def test_what_has_no_name_has_none_in_another_store(ctx, fresh, bring, make):
    elsewhere = replace(ctx, store=fresh("elsewhere"), new_uid=Uids("elsewhere"))
    came = make(elsewhere)
    memory = kept(ctx, TEXT, name=TITLE)
    bring(ctx, elsewhere)
    assert find(ctx, TITLE) == memory
    assert (find(ctx, came.uid).name, find(ctx, came.uid).title) == (None, TITLE)


# -- placeholders


def pointed(ctx, source, name="Anna", type="knows", namespace="global"):
    """A link from memory *source* to a *name* that nothing bears: the number of the placeholder."""

    def work(tx):
        number = titles.target(tx, ctx, namespace, name)
        tx.insert_edge(EdgeDraft(source, number, type))
        return number

    return write(ctx.store, work, operation="create_relations", actor="tester", at=ctx.now())


def targets(ctx, source):
    return [
        edge.target_id for edge in ctx.store.read().edges(EdgeFilter(at=(source,), direction=Direction.OUT))
    ]


def test_a_placeholder_is_one_however_often_it_is_pointed_to(ctx):
    bob = kept(ctx, "Bob")
    first = pointed(ctx, bob.id)
    assert pointed(ctx, bob.id) == first
    others = {pointed(ctx, bob.id, "anna"), pointed(ctx, bob.id, namespace="work")}
    assert len({first, *others}) == 3


def test_a_link_to_a_name_points_to_who_bears_it_and_not_to_what_is_shown_so(ctx):
    bob, anna = kept(ctx, "Bob"), kept(ctx, TEXT, name="Anna")
    kept(ctx, "Eve")
    assert pointed(ctx, bob.id) == anna.id
    assert memory_numbered(ctx.store.read(), pointed(ctx, bob.id, "Eve")).state is State.NAMED


def arrive_added(ctx):
    return kept(ctx, "She is here", name="Anna")


def arrive_created(ctx):
    return entities.create(ctx, [Sketch("Anna", "person")], OnTakenName.KEEP)[0][0]


def arrive_renamed(ctx):
    return revise(ctx, kept(ctx, "She is here", name="Ann").id, Revision(name="Anna"))


def arrive_moved(ctx):
    memory = kept(ctx, "She is here", name="Anna", namespace="elsewhere")
    return revise(ctx, memory.id, Revision(namespace="global"))


def arrive_restored(ctx):
    return restore(ctx, ["Anna"])[0]


def arrive_taken_in(ctx):
    now = ctx.now()
    coming = Memory(
        id=0,
        uid=str(uuid.uuid4()),
        namespace="global",
        **titles.named("Anna"),
        created_at=now,
        updated_at=now,
        statements=(Statement(0, "She is here"),),
    )
    return write(
        ctx.store,
        lambda tx: titles.import_memory(tx, coming),
        operation="import",
        actor="tester",
        at=ctx.now(),
    )


ARRIVALS = [
    arrive_added,
    arrive_created,
    arrive_renamed,
    arrive_moved,
    arrive_restored,
    arrive_taken_in,
]


@pytest.fixture
def linked(ctx):
    """Bob knows Anna, of whom nothing more is known: a memory of that name was forgotten long ago."""
    bob, gone = kept(ctx, "Bob"), kept(ctx, "An old story", name="Anna")
    forget(ctx, [gone.id])
    return bob, pointed(ctx, bob.id)


@pytest.mark.parametrize("arrive", ARRIVALS)
def test_who_comes_to_bear_a_name_takes_over_its_links(ctx, linked, arrive):
    bob, placeholder = linked
    then = last_number(ctx.store)
    anna = arrive(ctx)
    assert targets(ctx, bob.id) == [anna.id] and anna.id != placeholder
    assert ctx.store.read().edges(EdgeFilter(at=(placeholder,))) == []
    *_, arrival, taking = ctx.store.read().journal()
    assert (arrival.subject, arrival.subject_id) == (Subject.MEMORY, anna.id)
    assert (taking.before, taking.after) == ({"target_id": placeholder}, {"target_id": anna.id})
    assert taking.batch == arrival.batch
    past = store_after(ctx.store, then)
    assert [
        edge.target_id for edge in past.read().edges(EdgeFilter(at=(bob.id,), direction=Direction.OUT))
    ] == [placeholder]
    assert faults(ctx.store) == faults(past) == []


def test_what_is_only_shown_under_a_name_does_not_take_its_links(ctx, linked):
    bob, placeholder = linked
    kept(ctx, "Anna")
    start(ctx)
    end(ctx, summary="Anna")
    kept(ctx, "x", name="Anna", namespace="work")
    assert targets(ctx, bob.id) == [placeholder]


def test_every_link_in_both_directions_is_taken_over(ctx):
    bob, eve = kept(ctx, "Bob"), kept(ctx, "Eve")
    placeholder = pointed(ctx, bob.id)

    def work(tx):
        tx.insert_edge(EdgeDraft(placeholder, eve.id, "likes"))
        tx.insert_edge(EdgeDraft(bob.id, placeholder, "met", valid_to=ctx.now()))

    write(ctx.store, work, operation="create_relations", actor="tester", at=ctx.now())
    anna = arrive_added(ctx)
    found = ctx.store.read().edges(EdgeFilter(at=(anna.id,)))
    assert [(edge.source_id, edge.target_id, edge.type) for edge in found] == [
        (bob.id, anna.id, "knows"),
        (anna.id, eve.id, "likes"),
        (bob.id, anna.id, "met"),
    ]


def test_a_placeholder_is_there_again_when_its_memory_has_left(ctx, linked):
    bob, placeholder = linked
    forget(ctx, [arrive_added(ctx).id])
    assert pointed(ctx, bob.id, type="misses") == placeholder


def test_a_placeholder_is_no_memory_that_can_be_opened(ctx, linked):
    for reference in ("Anna", linked[1]):
        with pytest.raises(NotFound):
            find(replace(ctx, namespace="global"), reference)


# -- in the graph


def test_an_entity_is_found_by_its_name_else_by_what_it_is_shown_as(ctx):
    shown, other = kept(ctx, TITLE), kept(ctx, TITLE)
    assert [memory.id for memory in entities.open_named(ctx, [TITLE])] == [shown.id]
    named = entities.create(ctx, [Sketch(TITLE, "decision")], OnTakenName.KEEP)[0][0]
    assert [memory.id for memory in entities.open_named(ctx, [TITLE])] == [named.id]
    assert {one.id for one in entities.read_graph(ctx).entities} == {shown.id, other.id, named.id}


def test_a_relation_can_lead_to_what_is_only_shown_under_a_name(ctx):
    eve = kept(ctx, "Eve")
    bob = entities.create(ctx, [Sketch("Bob", "person")], OnTakenName.KEEP)[0][0]
    entities.relate(ctx, [Triple("Bob", "Eve", "knows")], may_dangle=True)
    assert targets(ctx, bob.id) == [eve.id]
