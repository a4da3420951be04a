"""The gate: what counts as known, what is kept all the same, and what is kept with it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import AbsentEmbedder, WordEmbedder, embedding, write

from mnemic.core.memories import Fate, Note, forget
from mnemic.core.reflections import Reflection
from mnemic.core.reflections import add as reflect
from mnemic.dialects.lorekeeper.dedup import MOST_WINDOWS, Gate, Likely, NoteLink, admit, store_notes, weigh
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Direction
from mnemic.storage import queries
from mnemic.storage.queries import count

ANYWHERE = Gate(namespaces=None)
BILLING = "The billing service must be restarted after the currency table has been changed."


class CountingEmbedder(WordEmbedder):
    """A model that counts the texts it was given."""

    texts = 0

    def embed(self, texts):
        self.texts += len(texts)
        return super().embed(texts)


def a_note(title, text="", **fields):
    return Note(name=title, text=text, **fields)


def taken(ctx, *notes, gate=ANYWHERE, **how):
    return store_notes(ctx, notes, gate, **how).notes


def memory(ctx, title, text="", **fields):
    return taken(ctx, a_note(title, text, **fields))[0].memory


def test_a_title_that_exists_is_known_regardless_of_the_text(ctx):
    first = memory(ctx, "Deploy day", "We deploy on Tuesdays.")
    [again] = taken(ctx, a_note("Deploy day", "Completely other words here."))
    assert again.memory is None and (again.twin.memory.id, again.twin.similarity) == (first.id, 1.0)


def test_a_title_is_known_only_where_the_caller_looks(ctx):
    memory(ctx, "Deploy day", "We deploy on Tuesdays.", namespace="a")
    here = Gate(namespaces=("b", "shared"))
    assert taken(ctx, a_note("Deploy day", "Other words.", namespace="b"), gate=here)[0].memory
    assert taken(ctx, a_note("Deploy day", "Third words.", namespace="c"))[0].twin


def test_nearly_the_same_text_under_another_title_is_known(real):
    first = memory(real, "Billing restart", BILLING)
    memory(real, "Tomato watering", "Tomato seedlings need water twice a week during July.")
    [again] = taken(real, a_note("Restart billing", BILLING))
    assert again.twin.memory.id == first.id and 0.95 < again.twin.similarity <= 1.0
    said_otherwise = "After changing the currency table, the billing service must be restarted."
    [again] = taken(real, a_note("Currencies", said_otherwise))
    assert again.twin.memory.id == first.id and again.twin.similarity >= 0.85


def test_what_is_only_related_is_kept(real):
    memory(real, "Staging host", "The staging database runs on host alder and is wiped every night.")
    told = "The production database runs on host birch and is backed up every hour."
    assert memory(real, "Production host", told)
    assert memory(real, "Useful 8") and memory(real, "Useful 10")


def test_the_threshold_moves_the_gate(ctx):
    memory(ctx, "Billing restart", BILLING)
    twice = a_note("Restart billing", BILLING)
    assert taken(ctx, twice, gate=Gate(namespaces=None, threshold=1.5))[0].memory
    assert taken(ctx, a_note("Third", BILLING + " Always."), gate=Gate(namespaces=None, threshold=0.5))[
        0
    ].twin


def test_force_keeps_known_memories_but_for_a_taken_title(ctx):
    memory(ctx, "Billing restart", BILLING)
    near, taken_title = taken(ctx, a_note("Restart billing", BILLING), a_note("Billing restart"), force=True)
    assert near.memory and (taken_title.memory, taken_title.twin) == (None, None)
    assert count(ctx.store.read()) == 2


def test_forgotten_memories_are_not_known(ctx):
    first = memory(ctx, "Billing restart", BILLING)
    forget(ctx, [first.id])
    assert memory(ctx, "Billing restart", BILLING)


def test_reflections_do_not_stand_in_the_way(ctx):
    reflect(ctx, Reflection(text=BILLING))
    assert memory(ctx, "Billing restart", BILLING)


def test_notes_of_one_call_are_compared_with_each_other(ctx):
    first, same_title, same_text, other = taken(
        ctx, a_note("A", BILLING), a_note("A", "x y z"), a_note("B", BILLING), a_note("C", "Tomatoes")
    )
    assert first.memory and other.memory
    assert same_title.twin.memory.id == same_text.twin.memory.id == first.memory.id


@pytest.mark.parametrize("embedder", [None, AbsentEmbedder()])
def test_without_a_model_the_common_words_decide(ctx, embedder):
    wordless = replace(ctx, embedder=embedder)
    first = memory(wordless, "Billing restart", BILLING)
    [again] = taken(wordless, a_note("Restart billing", BILLING.replace("been ", "")))
    assert again.twin.memory.id == first.id and again.twin.similarity >= 0.85
    assert memory(wordless, "Half", "The billing service must be restarted on Mondays and on Fridays.")


def test_a_text_is_read_once_by_the_model(ctx):
    counting = replace(ctx, embedder=CountingEmbedder())
    kept = memory(counting, "Billing restart", BILLING, summary="what to do")
    assert counting.embedder.texts == 1
    reader = counting.store.read()
    assert reader.backlog() == 0
    vector = embedding(counting.embedder, f"Billing restart\nwhat to do\n{BILLING}")
    assert queries.similarities(reader, vector, [kept.id])[kept.id] == pytest.approx(1, abs=0.01)


def test_a_very_long_text_is_compared_by_its_beginning_and_read_later(ctx):
    long = " ".join(f"word{number}" for number in range(60 * MOST_WINDOWS))
    first = memory(ctx, "Long", long)
    assert ctx.store.read().backlog() == 1
    assert taken(ctx, a_note("Long too", long))[0].twin.memory.id == first.id


def test_of_a_longer_text_every_stretch_counts(ctx):
    parts = [" ".join(f"{letter}{number}" for number in range(60)) for letter in "abcd"]
    first = memory(ctx, "Whole", " ".join(parts))
    assert taken(ctx, a_note("Whole too", " ".join(parts)))[0].twin.memory.id == first.id
    other = " ".join(f"z{number}" for number in range(180))
    assert memory(ctx, "A part of it", f"{parts[0]} {other}")


def test_a_memory_is_linked_to_its_nearest_if_that_is_near(ctx):
    gate, likely = Gate(namespaces=None, threshold=1.5), Likely(reason="alike {:.2f}", quality=2.0)
    near = memory(ctx, "The team deploys billing every Tuesday")
    memory(ctx, "Tomatoes want water")
    [one] = taken(ctx, a_note("The team deploys billing each Tuesday"), gate=gate, likely=likely)
    assert one.linked[0] == near.id and 0.75 <= one.linked[1] <= 1
    [edge] = ctx.store.read().edges(EdgeFilter(at=(one.memory.id,), direction=Direction.OUT))
    assert (edge.target_id, edge.type, edge.quality) == (near.id, "related_to", 2.0)
    assert edge.reason == f"alike {one.linked[1]:.2f}"
    assert taken(ctx, a_note("Nothing of the kind"), gate=gate, likely=likely)[0].linked is None


@pytest.mark.parametrize("fate", [Fate.FORGOTTEN, Fate.PURGED])
def test_a_twin_that_left_since_it_was_found_is_no_twin(ctx, fate):
    first = memory(ctx, "Deploy day", BILLING)
    weighed = weigh(ctx, [a_note("Day of deploys", BILLING)], ANYWHERE)
    assert weighed[0].twin.memory.id == first.id
    forget(ctx, [first.id], fate=fate)
    [one] = write(
        ctx.store,
        lambda tx: admit(tx, ctx, weighed, ANYWHERE),
        operation="remember",
        actor="tester",
        at=ctx.now(),
    )
    assert one.twin is None and one.memory.content == BILLING


@pytest.mark.parametrize("fate", [Fate.FORGOTTEN, Fate.PURGED])
def test_a_tie_to_what_left_meanwhile_is_passed_over(ctx, fate):
    one, other = memory(ctx, "One", "first words"), memory(ctx, "Other", "second sentence")
    forget(ctx, [other.id], fate=fate)
    ties = [
        NoteLink(target=other.id, type="used_in", note=0),
        NoteLink(target=other.id, type="used_in", source=one.id),
        NoteLink(target=one.id, type="used_in", source=other.id),
        NoteLink(target=one.id, type="used_in", note=0),
    ]
    done = store_notes(ctx, [a_note("New", "third thing")], ANYWHERE, ties=ties)
    assert done.notes[0].memory and [edge is None for edge in done.edges] == [True, True, True, False]


def test_ties_are_made_with_the_notes_and_only_with_those_that_are_kept(ctx):
    one, other = memory(ctx, "One", "first words"), memory(ctx, "Other", "second sentence")
    ties = [
        NoteLink(target=one.id, type="used_in", reason="r", note=0),
        NoteLink(target=one.id, type="used_in", note=1),
        NoteLink(target=other.id, type="related_to", source=one.id, quality=3.0),
    ]
    done = store_notes(ctx, [a_note("New", "third thing"), a_note("One")], ANYWHERE, ties=ties)
    first, none, last = done.edges
    assert (first.source_id, first.target_id, first.reason) == (done.notes[0].memory.id, one.id, "r")
    assert none is None and (last.source_id, last.quality) == (one.id, 3.0)
    again = store_notes(ctx, [], ANYWHERE, ties=[replace(ties[2], reason="why")]).edges[0]
    assert (again.id, again.reason) == (last.id, "why")
