"""Memories that a new one contradicts."""

from __future__ import annotations

import pytest
from support import kept

from mnemic.core.memories import forget
from mnemic.core.trust.rivals import rivals


def test_a_new_memory_is_told_what_it_contradicts(ctx):
    friday = kept(ctx, "We deploy on Fridays")
    kept(ctx, "We deploy with Ansible")
    kept(ctx, "We deploy on Fridays", namespace="elsewhere")
    monday = kept(ctx, "We deploy on Mondays")
    [rival] = rivals(ctx, monday)
    assert rival.memory.id == friday.id
    assert rival.because == f"memory {friday.id} says Fridays, the new one says Mondays"
    forget(ctx, [friday.id])
    assert rivals(ctx, monday) == []


@pytest.mark.parametrize(
    "known, new",
    [
        ("The API is deployed on Mondays, after the tests.", "We deploy the API on Thursdays."),
        ("The API is deployed on Mondays, after the tests.", "We ship the API on Fridays."),
        ("Standup is at 9:30.", "The daily standup starts at 10:00."),
    ],
)
def test_a_contradiction_in_other_words_is_reported(ctx, known, new):
    first = kept(ctx, known)
    assert [rival.memory.id for rival in rivals(ctx, kept(ctx, new))] == [first.id]


@pytest.mark.parametrize(
    "known, new",
    [
        ("The office closes at six", "The office closes at six, and Ana locks the door"),
        ("Backups of the wiki run at night", "Backups of the shop run at noon"),
        ("Ola likes tea", "Per likes coffee"),
        ("仓库的叉车由老孙负责保养。", "仓库的货架由老吴负责保养。"),
        ("旅館の売店は夜九時に閉まる。", "旅館の貸切風呂は夜九時に閉まる。"),
    ],
)
def test_what_goes_together_is_not_reported(ctx, known, new):
    kept(ctx, known)
    assert rivals(ctx, kept(ctx, new)) == []


def test_a_very_long_memory_is_not_compared_when_it_is_stored(ctx):
    kept(ctx, "We deploy on Fridays")
    assert rivals(ctx, kept(ctx, "We deploy on Mondays. " + "The tide comes in. " * 200)) == []
