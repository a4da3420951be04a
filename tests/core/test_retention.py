"""What use does to a memory, and what becomes of one whose time is over."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import START, a_query, faults, kept, last_number, position_of

from mnemic.core.archive import archived
from mnemic.core.entities import open_named
from mnemic.core.history import as_of
from mnemic.core.maintenance.consolidate import resolve
from mnemic.core.memories import Fate, find, forget, open_all, promote, restore
from mnemic.core.recall import recall
from mnemic.core.retention import collect, touch
from mnemic.core.trust.ratings import rate_named
from mnemic.dialects.mcp_memory import search as associate
from mnemic.errors import Conflict, Denied
from mnemic.model.access import Grant
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ChangeFilter
from mnemic.model.retention import Lives
from mnemic.model.time import DAY, HOUR, MINUTE


def used(ctx, memory, times=1):
    for _ in range(times):
        touch(ctx, [find(ctx, memory.id)])
    return find(ctx, memory.id)


@pytest.mark.parametrize(
    "tier, ttl, left",
    [
        (Tier.SHORT, 2 * MINUTE, HOUR),
        (Tier.MID, 2 * MINUTE, DAY),
        (Tier.SHORT, None, 6 * HOUR),
        (Tier.MID, None, 7 * DAY),
        (Tier.LONG, 2 * MINUTE, 2 * MINUTE),
    ],
)
def test_use_extends_the_ttl_and_never_shortens_it(ctx, tier, ttl, left):
    memory = kept(ctx, "the wifi password", tier=tier, ttl=ttl)
    assert used(ctx, memory).expires_at == START + left


def test_a_ttl_extension_of_seconds_is_not_written(ctx, clock):
    memory = used(ctx, kept(ctx, "the wifi password", tier=Tier.SHORT, ttl=MINUTE))
    sequence = last_number(ctx.store)
    clock.advance(seconds=9)
    assert used(ctx, memory).expires_at == memory.expires_at and last_number(ctx.store) == sequence
    clock.advance(seconds=1)
    assert used(ctx, memory).expires_at == clock() + HOUR


def test_the_fifth_use_makes_a_mid_memory_long(ctx):
    memory = kept(ctx, "worth keeping", tier=Tier.MID)
    assert used(ctx, memory, 4).tier is Tier.MID
    promoted = used(ctx, memory)
    assert (promoted.tier, promoted.expires_at, promoted.access_count) == (Tier.LONG, None, 5)


def test_a_short_memory_is_never_promoted(ctx):
    assert used(ctx, kept(ctx, "fleeting", tier=Tier.SHORT), 12).tier is Tier.SHORT


def test_every_tenth_use_raises_the_priority_up_to_ten(ctx):
    memory = kept(ctx, "often asked", priority=9)
    assert used(ctx, memory, 9).priority == 9
    assert used(ctx, memory).priority == 10
    assert used(ctx, memory, 10).priority == 10


WAYS_OF_USE = {
    "open": lambda ctx, memory: open_all(ctx, [memory.id, memory.title]),
    "open by name": lambda ctx, memory: open_named(ctx, [memory.title], together=True),
    "associate": lambda ctx, memory: associate.search(ctx, a_query("often asked")),
    "rate": lambda ctx, memory: rate_named(ctx, [memory.id], [], useful=True),
    "resolve": lambda ctx, memory: resolve(ctx, memory.id, kept(ctx, "a contradiction").id),
}


@pytest.mark.parametrize("way", WAYS_OF_USE)
def test_every_use_earns_the_same_however_it_came_about(ctx, way):
    memory = kept(ctx, "often asked", tier=Tier.MID)
    assert used(ctx, memory, 4).tier is Tier.MID
    WAYS_OF_USE[way](ctx, memory)
    assert find(ctx, memory.id).tier is Tier.LONG
    assert used(ctx, memory, 4).priority == 5
    WAYS_OF_USE[way](ctx, memory)
    assert (find(ctx, memory.id).priority, find(ctx, memory.id).access_count) == (6, 10)
    assert faults(ctx.store) == []


def test_a_useless_rating_does_not_extend_the_ttl(ctx):
    memory = kept(ctx, "of no help", tier=Tier.MID, ttl=MINUTE)
    for _ in range(10):
        rate_named(ctx, [memory.id], [], useful=False)
    after = find(ctx, memory.id)
    assert (after.access_count, after.tier, after.priority) == (10, memory.tier, memory.priority)
    assert after.expires_at == memory.expires_at


def test_opening_a_deleted_memory_does_not_extend_its_ttl(ctx, clock):
    gone = kept(ctx, "forgotten", tier=Tier.SHORT, ttl=MINUTE)
    over = kept(ctx, "its time is over", tier=Tier.MID, ttl=MINUTE)
    forget(ctx, [gone.id])
    clock.advance(minutes=1)
    sequence = last_number(ctx.store)
    for _ in range(10):
        open_all(ctx, [gone.id, over.id])
    assert [find(ctx, one.id).access_count for one in (gone, over)] == [10, 10]
    assert last_number(ctx.store) == sequence


def test_use_is_no_change_of_the_memory_but_its_rewards_are_journaled(ctx, clock):
    memory = kept(ctx, "often asked", tier=Tier.MID)
    born = clock()
    clock.advance(hours=1)
    after = used(ctx, memory, 5)
    assert after.updated_at == memory.updated_at
    assert find(as_of(ctx, born), memory.id).tier is Tier.MID
    assert faults(ctx.store) == []


def test_all_hits_are_touched_in_one_transaction(ctx):
    for n in range(3):
        kept(ctx, f"walnut cake {n}", tier=Tier.SHORT, ttl=MINUTE)
    before = last_number(ctx.store)
    assert len(recall(ctx, a_query("walnut cake")).hits) == 3
    changes = list(ctx.store.read().journal(ChangeFilter(after=position_of(ctx.store, before))))
    assert len(changes) == 3 and len({change.batch for change in changes}) == 1


def test_a_reader_and_a_look_at_the_past_leave_no_trace(ctx, clock):
    memory = kept(ctx, "walnut cake", tier=Tier.SHORT, ttl=MINUTE)
    touch(ctx.limited_to(Grant(None, can_write=False)), [memory])
    touch(as_of(ctx, clock()), [memory])
    assert find(ctx, memory.id) == memory


def test_ttls_follow_the_settings(ctx):
    lives = Lives(short=10 * MINUTE, mid=None, short_extension=50 * MINUTE)
    ctx = replace(ctx, lives=lives)
    short = kept(ctx, "short", tier=Tier.SHORT)
    assert short.expires_at == START + 10 * MINUTE
    assert kept(ctx, "mid", tier=Tier.MID).expires_at is None
    assert used(ctx, short).expires_at == START + 50 * MINUTE


def test_promotion_clears_the_expiry(ctx):
    memory = kept(ctx, "precious", tier=Tier.SHORT)
    promoted = promote(ctx, memory.id)
    assert (promoted.tier, promoted.expires_at) == (Tier.LONG, None)
    forget(ctx, [memory.id])
    with pytest.raises(Conflict):
        promote(ctx, memory.id)


def test_expired_memories_are_archived(ctx, clock):
    brief = kept(ctx, "fleeting", tier=Tier.SHORT)
    lasting = kept(ctx, "lasting")
    assert collect(ctx) == 0
    clock.advance(hours=6)
    assert collect(ctx, dry_run=True) == 1 and find(ctx, brief.id).state is State.LIVING
    assert collect(ctx) == 1 and collect(ctx) == 0
    assert [memory.id for memory in archived(ctx)] == [brief.id]
    assert find(ctx, lasting.id).state is State.LIVING and faults(ctx.store) == []


def test_a_read_only_caller_archives_nothing(ctx, clock):
    brief = kept(ctx, "fleeting", tier=Tier.SHORT)
    clock.advance(hours=6)
    with pytest.raises(Denied, match="may read but not write"):
        collect(ctx.limited_to(Grant(None, can_write=False)))
    assert find(ctx, brief.id).state is State.LIVING


def test_a_limited_token_gets_the_expired_count_of_its_namespaces(ctx, clock):
    for number, namespace in enumerate(("ours", "theirs", "theirs")):
        kept(ctx, f"fleeting {number}", namespace=namespace, tier=Tier.SHORT)
    guest = ctx.limited_to(Grant(("ours",)))
    clock.advance(hours=6)
    assert collect(guest, dry_run=True) == 1 and collect(ctx, dry_run=True) == 3
    assert collect(guest) == 1


def test_without_an_archive_it_counts_as_forgotten_and_can_be_restored(ctx, clock):
    ctx = replace(ctx, lives=Lives(archives=False))
    brief = kept(ctx, "fleeting", tier=Tier.SHORT)
    clock.advance(hours=6)
    assert collect(ctx) == 1 and archived(ctx) == []
    assert find(ctx, brief.id).state is State.FORGOTTEN
    assert restore(ctx, [brief.id])[0].state is State.LIVING


def test_old_archived_memories_are_deleted(ctx, clock):
    ctx = replace(ctx, lives=Lives(archive_days=30))
    old = kept(ctx, "old")
    forget(ctx, [old.id], fate=Fate.ARCHIVED)
    clock.advance(days=29)
    young = kept(ctx, "young")
    forget(ctx, [young.id], fate=Fate.ARCHIVED)
    clock.advance(days=2)
    assert collect(ctx) == 0
    assert [memory.id for memory in archived(ctx)] == [young.id]
