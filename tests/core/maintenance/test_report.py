"""The report: totals, what to split, what is said again, what nobody uses, what is large."""

from __future__ import annotations

from support import START, a_draft, change, everything, put

from mnemic.core.maintenance.report import look_over
from mnemic.core.maintenance.split import Thresholds
from mnemic.core.memories import open_all
from mnemic.model.filter import Filter
from mnemic.model.time import DAY

TABLE = Thresholds(default=5)


def test_a_report_counts_and_changes_nothing(ctx, clock):
    texts = tuple(f"{word} {number}" for number in range(4) for word in ("heron", "fox"))
    large, small = put(ctx.store, a_draft("", name="Large", texts=texts), a_draft("otter", name="Small"))
    change(ctx.store, small, texts=("otter", "the otter swims by"))
    before = everything(ctx.store)
    told = look_over(ctx, Filter(), TABLE)
    assert (told.memories, told.statements) == (2, 10)
    assert [one.memory.id for one in told.split] == [large.id] == [one.id for one in told.large]
    assert [(one.memory.id, one.statement.text) for one in told.flagged] == [(small.id, "the otter swims by")]
    assert told.stale == () and everything(ctx.store) == before


def test_an_empty_store_needs_no_tidying(ctx):
    told = look_over(ctx, Filter(), TABLE)
    assert (told.memories, told.statements, told.split, told.flagged, told.stale, told.large) == (
        0,
        0,
        (),
        (),
        (),
        (),
    )


def test_stale_is_what_was_rarely_used_and_not_for_long(ctx, clock):
    drafts = [
        a_draft(title, metadata={"status": "done"} if title == "archived" else {})
        for title in ("never used", "used", "used often", "archived", "used lately")
    ]
    numbers = {memory.title: memory.id for memory in put(ctx.store, *drafts)}
    put(ctx.store, a_draft("", name="silent", texts=()), a_draft("young", created_at=START + 50 * DAY))
    clock.advance(days=1)
    open_all(ctx, [numbers["used"]])
    for _ in range(3):
        open_all(ctx, [numbers["used often"]])
    clock.advance(days=60)
    open_all(ctx, [numbers["used lately"]])
    clock.advance(days=31)
    told = look_over(ctx, Filter(), TABLE, is_archived=lambda memory: memory.metadata.get("status") == "done")
    assert [memory.title for memory in told.stale] == ["never used", "used"], "the longest left alone first"
    assert look_over(ctx, Filter(), TABLE, stale_after=200 * DAY).stale == ()
    assert [one.title for one in look_over(ctx, Filter(kinds=("other",)), TABLE).stale] == []
