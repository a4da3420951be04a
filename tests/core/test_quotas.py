"""Quotas of a token: its namespaces hold no more than it allows, and nothing is half stored."""

from __future__ import annotations

import pytest
from support import kept

from mnemic.core.memories import Note, Revision, forget, remember, revise
from mnemic.errors import Denied
from mnemic.model.access import Grant, Quota
from mnemic.model.filter import Filter
from mnemic.model.shapes import Content


@pytest.fixture
def team(ctx):
    """A caller who may keep two memories of together 60 bytes in `team`."""
    kept(ctx, "not counted: in another namespace", namespace="other")
    return ctx.limited_to(Grant(("team",), quota=Quota(memories=2, bytes=60)), "ann")


def stored(ctx):
    reader = ctx.read()
    return [one.content for one in reader.look(Filter(namespaces=("team",)), Content)]


def numbered(ctx, text):
    [number] = [one.id for one in ctx.read().look(Filter(), Content) if one.content == text]
    return number


def test_memories_beyond_the_quota_are_refused_whole(team):
    remember(team, [Note(text="one")])
    with pytest.raises(Denied, match="quota of this token is 2 memories; its namespaces would hold 3"):
        remember(team, [Note(text="two"), Note(text="three")])
    assert stored(team) == ["one"]
    remember(team, [Note(text="two")])
    assert stored(team) == ["one", "two"]


def test_deletion_makes_room_and_is_possible_at_the_bound(team):
    remember(team, [Note(text="one"), Note(text="two")])
    forget(team, [numbered(team, "one")])
    remember(team, [Note(text="three")])
    assert stored(team) == ["two", "three"]


def test_bytes_count_new_and_revised_texts(team):
    with pytest.raises(Denied, match="60 bytes"):
        remember(team, [Note(text="x" * 61)])
    remember(team, [Note(text="short")])
    number = numbered(team, "short")
    with pytest.raises(Denied, match="60 bytes"):
        revise(team, number, Revision(text="y" * 61))
    assert stored(team) == ["short"]


def test_caller_without_a_quota_is_not_bound(ctx):
    free = ctx.limited_to(Grant(("team",)))
    remember(free, [Note(text="one"), Note(text="two"), Note(text="three")])
    assert len(stored(ctx)) == 3
