"""A disk that is full: what is known is still told, what cannot be kept is refused, and nothing is left half done."""

from __future__ import annotations

import resource
from contextlib import contextmanager
from dataclasses import replace

import pytest
from support import a_query, faults, kept

from mnemic.core.memories import Fate, find, forget
from mnemic.core.recall import recall
from mnemic.core.retention import settle, touch
from mnemic.core.usage import Uses
from mnemic.errors import StoreUnusable
from mnemic.storage.queries import memory_numbered

pytestmark = pytest.mark.only_on("sqlite")


@contextmanager
def no_room(ctx, more=0):
    """The log of the store can grow by so many bytes and no file beyond that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = ctx.store.path.with_name(ctx.store.path.name + "-wal")
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_hit_is_returned_though_its_use_cannot_be_counted(ctx, caplog):
    memory = kept(ctx, "walrus on ice")
    with no_room(ctx):
        with pytest.raises(StoreUnusable, match="disk is full or failing"):
            kept(ctx, "one too many")
        assert [hit.memory.id for hit in recall(ctx, a_query("walrus")).hits] == [memory.id]
        touch(ctx, [memory])
        waiting = replace(ctx, uses=Uses())
        assert recall(waiting, a_query("walrus")).pending == 1
        settle(waiting)
        assert "uses were not counted" in caplog.text
    assert find(ctx, memory.id).access_count == 0 and faults(ctx.store) == []
    assert recall(ctx, a_query("walrus")).pending == 0


def test_what_was_purged_is_purged_though_the_log_cannot_be_emptied(ctx, fresh):
    for number in range(40):
        kept(ctx, f"{number} " + "." * 20_000)
    memory = kept(ctx, "walrus")
    ctx.store.close()  # what stands in the log moves into the file, which is longer now than may be written
    ctx = replace(ctx, store=fresh())
    with no_room(ctx, 300_000):
        forget(ctx, [memory.id], fate=Fate.PURGED)
    assert memory_numbered(ctx.store.read(), memory.id) is None and faults(ctx.store) == []
