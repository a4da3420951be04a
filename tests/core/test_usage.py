"""Uses that wait: nothing is written until they are settled, and then each counts in its turn."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import faults, kept, last_number

from mnemic.core.history import as_of
from mnemic.core.memories import find
from mnemic.core.retention import settle, touch
from mnemic.core.usage import Uses
from mnemic.model.access import Grant
from mnemic.model.enums import Tier


@pytest.fixture
def waiting(ctx):
    return replace(ctx, uses=Uses())


def test_what_waits_is_written_down_together(waiting):
    one, other = kept(waiting, "one"), kept(waiting, "other")
    touch(waiting, [one])
    touch(waiting, [one, other])
    assert waiting.uses.are_waiting.is_set()
    assert [find(waiting, memory.id).access_count for memory in (one, other)] == [0, 0]
    settle(waiting)
    assert [find(waiting, memory.id).access_count for memory in (one, other)] == [2, 1]
    assert not waiting.uses.are_waiting.is_set() and waiting.uses.take() == []


def test_every_use_has_its_reward_in_its_turn(waiting):
    memory = kept(waiting, "worth keeping", tier=Tier.MID)
    for _ in range(11):
        touch(waiting, [memory])
    settle(waiting)
    after = find(waiting, memory.id)
    assert (after.tier, after.priority, after.access_count) == (Tier.LONG, memory.priority + 1, 11)
    assert faults(waiting.store) == []


def test_uses_before_and_after_midnight_are_of_two_days(waiting, clock):
    memory = kept(waiting, "asked for late and early")
    for _ in range(2):
        touch(waiting, [memory])
        clock.advance(days=1)
        touch(waiting, [memory])
    settle(waiting)
    after = find(waiting, memory.id)
    assert (after.access_count, after.days_used, after.accessed_at) == (4, 3, clock())


def test_each_caller_is_written_down_by_name(waiting):
    memory = kept(waiting, "asked for by two", priority=5)
    for _ in range(9):
        touch(waiting, [memory])
    touch(waiting.on_behalf_of("another"), [memory])
    settle(waiting)
    *_, last = waiting.store.read().journal()
    assert (last.operation, last.actor, last.after) == ("use", "another", {"priority": 6})


def test_what_was_used_together_waits_and_counts_as_a_pair(waiting):
    one, other = kept(waiting, "one"), kept(waiting, "other")
    touch(waiting, [one, other], together=True)
    touch(waiting, [one, other])
    assert list(waiting.store.read().companions()) == []
    settle(waiting)
    [(_, _, pair)] = waiting.store.read().companions()
    assert pair.times == 1 and find(waiting, one.id).access_count == 2


def test_nothing_waits_of_who_may_not_write_or_looks_back(waiting, clock):
    memory = kept(waiting, "seen")
    touch(waiting.limited_to(Grant(None, can_write=False)), [memory])
    touch(as_of(waiting, clock()), [memory])
    assert waiting.uses.take() == []


def test_without_a_place_to_wait_there_is_nothing_to_settle(ctx):
    settle(ctx)
    assert last_number(ctx.store) == 0
