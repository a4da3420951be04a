"""Storing under a title: what bears it is brought up to date, and never made less."""

from __future__ import annotations

import pytest
from support import START, faults, last_number

from mnemic.core.history import undo
from mnemic.core.memories import NEVER, Note, Revision, find, forget
from mnemic.core.upsert import store, store_all, update
from mnemic.errors import Conflict, NotFound
from mnemic.model.enums import Tier
from mnemic.model.time import DAY, HOUR
from mnemic.storage.queries import count


def note(title="Release day", text="We release on Monday.", **fields):
    return Note(**{"name": title, "text": text, "tier": Tier.MID, **fields})


def test_a_new_title_is_kept_with_the_life_of_its_tier(ctx):
    stored = store(ctx, note(tags=("a", "a", "b"), source="claude"))
    memory = stored.memory
    assert not stored.is_known and stored.contradictions == ()
    assert (memory.namespace, memory.tags, memory.expires_at) == ("global", ("a", "b"), START + 7 * DAY)


def test_a_known_title_is_updated(ctx, clock):
    first = store(ctx, note(tags=("old",), source="user", metadata={"v": 1})).memory
    clock.advance(hours=1)
    again = store(ctx, note(text="We release on Friday.", tags=("new",), source="api", metadata={"w": 2}))
    memory = again.memory
    assert again.is_known and memory.id == first.id
    assert (memory.content, memory.tags, memory.source) == ("We release on Friday.", ("new",), "api")
    assert memory.metadata == {"w": 2} and memory.updated_at == clock() and memory.created_at == START
    assert count(ctx.store.read()) == 1 and faults(ctx.store) == []


def test_the_same_title_elsewhere_is_another_memory(ctx):
    assert not store(ctx, note(namespace="a")).is_known
    assert not store(ctx, note(namespace="b")).is_known


def test_storing_again_never_lowers(ctx):
    store(ctx, note(tier=Tier.LONG, priority=9, confidence=0.9))
    memory = store(ctx, note(tier=Tier.SHORT, priority=2, confidence=0.5)).memory
    assert (memory.tier, memory.priority, memory.confidence, memory.expires_at) == (Tier.LONG, 9, 0.9, None)
    assert store(ctx, note(priority=10, confidence=1.0)).memory.priority == 10


@pytest.mark.parametrize(
    "first, again, left",
    [
        ({"tier": Tier.MID}, {"tier": Tier.SHORT}, 7 * DAY),
        ({"tier": Tier.SHORT}, {"tier": Tier.MID}, 7 * DAY),
        ({"tier": Tier.MID, "ttl": 30 * DAY}, {"tier": Tier.MID}, 30 * DAY),
        ({"tier": Tier.MID}, {"tier": Tier.MID, "ttl": HOUR}, HOUR),
        ({"tier": Tier.MID}, {"tier": Tier.MID, "expires_at": START + 2 * DAY}, 2 * DAY),
        ({"tier": Tier.MID}, {"tier": Tier.LONG}, None),
    ],
)
def test_its_end_is_the_later_one_unless_another_is_given(ctx, first, again, left):
    store(ctx, note(**first))
    end = store(ctx, note(**again)).memory.expires_at
    assert end == (None if left is None else START + left)


def test_one_undo_brings_the_earlier_text_back(ctx):
    first = store(ctx, note()).memory
    store(ctx, note(text="We release on Friday."))
    undo(ctx, last_number(ctx.store))
    assert find(ctx, first.id).content == "We release on Monday."


def test_similar_titles_of_the_namespace_are_reported(ctx):
    monday = store(ctx, note("Deploy day is Monday", namespace="ops")).memory
    store(ctx, note("Deploy day is Sunday", namespace="elsewhere"))
    store(ctx, note("Coffee", "On deploy day there is coffee.", namespace="ops"))
    found = store(ctx, note("The deploys happen on Friday", namespace="ops"))
    assert [memory.id for memory in found.contradictions] == [monday.id]
    assert store(ctx, note("Is it the same?", namespace="ops")).contradictions == ()


def test_at_most_five_are_reported_and_never_itself(ctx):
    store_all(ctx, [note(f"Deploy number {n}") for n in range(8)])
    stored = store(ctx, note("Deploy number 3", "again"))
    assert len(stored.contradictions) == 5
    assert stored.memory.id not in [memory.id for memory in stored.contradictions]


def test_many_are_stored_in_one_transaction(ctx):
    stored = store_all(ctx, [note("One"), note("Two"), note("One", "said again")])
    assert [one.is_known for one in stored] == [False, False, True]
    assert stored[0].memory.id == stored[2].memory.id and stored[2].memory.content == "said again"
    undo(ctx, last_number(ctx.store))
    assert count(ctx.store.read()) == 0


def test_an_update_changes_only_the_given_fields(ctx, clock):
    memory = store(ctx, note(tags=("infra",), priority=3, metadata={"v": 1})).memory
    clock.advance(hours=1)
    changed = update(ctx, memory.id, Revision(text="Now Redis.", priority=8, metadata={"w": 1}))
    assert (changed.content, changed.priority, changed.metadata) == ("Now Redis.", 8, {"w": 1})
    assert (changed.title, changed.tags, changed.expires_at) == (memory.title, ("infra",), memory.expires_at)


@pytest.mark.parametrize(
    "tier, asked, tier_after, left",
    [
        (Tier.SHORT, Tier.MID, Tier.MID, 7 * DAY),
        (Tier.SHORT, Tier.LONG, Tier.LONG, None),
        (Tier.MID, Tier.SHORT, Tier.MID, 7 * DAY),
        (Tier.LONG, Tier.SHORT, Tier.LONG, None),
    ],
)
def test_an_update_raises_the_tier_and_never_lowers_it(ctx, tier, asked, tier_after, left):
    memory = store(ctx, note(tier=tier)).memory
    changed = update(ctx, memory.id, Revision(tier=asked))
    assert (changed.tier, changed.expires_at) == (tier_after, None if left is None else START + left)


def test_an_update_sets_the_end_and_takes_it_away(ctx):
    memory = store(ctx, note()).memory
    assert update(ctx, memory.id, Revision(expires_at=START + DAY)).expires_at == START + DAY
    assert update(ctx, memory.id, Revision(expires_at=NEVER)).expires_at is None


def test_a_title_that_is_taken_is_refused_by_name(ctx):
    taken, free = store(ctx, note("Taken")).memory, store(ctx, note("Free")).memory
    with pytest.raises(Conflict) as refused:
        update(ctx, free.id, Revision(name="Taken"))
    assert str(refused.value) == f"title 'Taken' already exists in namespace 'global' (memory {taken.uid})"
    elsewhere = store(ctx, note("Taken", namespace="a")).memory
    with pytest.raises(Conflict, match="already exists in namespace 'global'"):
        update(ctx, elsewhere.id, Revision(namespace="global"))
    assert find(ctx, free.id).title == "Free" and update(ctx, free.id, Revision(name="Free")).id == free.id


def test_what_has_left_cannot_be_updated(ctx):
    memory = store(ctx, note()).memory
    forget(ctx, [memory.id])
    with pytest.raises(Conflict, match="restore it first"):
        update(ctx, memory.id, Revision(priority=3))
    with pytest.raises(NotFound):
        update(ctx, 99, Revision(priority=3))
