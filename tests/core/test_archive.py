"""The archive: what goes in, what comes back, what is deleted for good."""

from __future__ import annotations

import pytest
from support import faults, kept

from mnemic.core.archive import archive_stats, archived, purge_archive, unarchive
from mnemic.core.memories import Fate, find, forget, forget_matching
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.model.access import Grant
from mnemic.model.enums import State, Tier
from mnemic.model.filter import Filter
from mnemic.storage.queries import count, memory_numbered


def put_away(ctx, wanted, **more):
    return forget_matching(ctx, wanted, fate=Fate.ARCHIVED, reason="old", **more)


def titles(memories):
    return [memory.title for memory in memories]


def test_what_matches_goes_into_the_archive(ctx):
    kept(ctx, "the deprecated API", name="one", tier=Tier.SHORT, namespace="app")
    kept(ctx, "a deprecated, old API", name="two", namespace="app")
    kept(ctx, "the new API", name="three", namespace="app")
    wanted = Filter(namespaces=("app",))
    assert set(titles(put_away(ctx, wanted, pattern="deprecated API", dry_run=True))) == {"one", "two"}
    assert archived(ctx) == []
    assert titles(put_away(ctx, Filter(tier=Tier.SHORT), pattern="API deprecated")) == ["one"]
    assert titles(put_away(ctx, wanted, pattern="deprecated")) == ["two"]
    gone = find(ctx, 1)
    assert (gone.state, gone.state_reason) == (State.ARCHIVED, "old")
    with pytest.raises(Invalid, match="pattern"):
        put_away(ctx, Filter(), pattern=" ,;")


def test_it_is_listed_newest_first_in_pages_and_by_namespace(ctx, clock):
    for n in range(4):
        kept(ctx, f"note {n}", namespace="b" if n == 3 else "a")
        put_away(ctx, Filter())
        clock.advance(minutes=1)
    assert titles(archived(ctx)) == ["note 3", "note 2", "note 1", "note 0"]
    assert titles(archived(ctx, limit=2, offset=1)) == ["note 2", "note 1"]
    assert titles(archived(ctx, "b")) == ["note 3"]
    assert archive_stats(ctx).by_namespace == {"a": 3, "b": 1}
    only_b = ctx.limited_to(Grant(("b",), can_write=True))
    assert archive_stats(only_b).by_namespace == {"b": 1} and titles(archived(only_b)) == ["note 3"]


def test_what_was_forgotten_otherwise_is_not_in_it(ctx):
    memory = kept(ctx, "deleted")
    forget(ctx, [memory.id])
    assert archived(ctx) == []
    with pytest.raises(NotFound, match="not found in archive"):
        unarchive(ctx, memory.id)


def test_what_comes_back_is_long_and_found_again(ctx):
    memory = kept(ctx, "back again", tags=("x",), priority=7, tier=Tier.SHORT)
    put_away(ctx, Filter())
    back = unarchive(ctx, memory.id)
    assert (back.tier, back.expires_at, back.tags, back.priority) == (Tier.LONG, None, ("x",), 7)
    assert (back.state, archived(ctx)) == (State.LIVING, []) and faults(ctx.store) == []
    with pytest.raises(NotFound, match="not found in archive"):
        unarchive(ctx, memory.id)


def test_a_taken_title_keeps_it_in_the_archive(ctx):
    memory = kept(ctx, "first", name="Plan")
    put_away(ctx, Filter())
    other = kept(ctx, "second", name="Plan")
    with pytest.raises(Conflict) as refused:
        unarchive(ctx, memory.id)
    assert (
        str(refused.value)
        == f"cannot restore: memory {other.uid} already exists in active table (would overwrite)"
    )
    assert find(ctx, memory.id).state is State.ARCHIVED


def test_it_is_purged_whole_or_what_is_older(ctx, clock):
    for n in range(3):
        kept(ctx, f"note {n}")
        put_away(ctx, Filter())
        clock.advance(days=1)
    kept(ctx, "living")
    assert purge_archive(ctx, older_than_days=2) == 1
    assert titles(archived(ctx)) == ["note 2", "note 1"]
    assert purge_archive(ctx) == 2 and archived(ctx) == []
    assert memory_numbered(ctx.store.read(), 1) is None and count(ctx.store.read()) == 1
