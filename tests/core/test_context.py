"""Where a caller writes and reads, and what the store looks like in numbers."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from support import START, a_draft, kept, last_number

import mnemic
from mnemic.core.memories import forget
from mnemic.core.stats import overview
from mnemic.errors import Denied
from mnemic.model.access import Grant, Scope
from mnemic.model.enums import Tier
from mnemic.model.time import HOUR
from mnemic.storage.queries import count


@pytest.mark.parametrize(
    "own, granted, asked, home, scope",
    [
        (None, None, None, "global", None),
        (None, None, "work", "work", ("work",)),
        ("home", None, None, "home", ("home", "global")),
        ("home", None, "work", "work", ("work",)),
        ("global", None, None, "global", ("global",)),
        (None, ("work",), None, "work", ("work",)),
        (None, ("work", "home"), None, "work", ("work", "home")),
        (None, ("work", "home"), "home", "home", ("home",)),
        ("home", ("home",), None, "home", ("home",)),
        ("home", ("home", "global"), None, "home", ("home", "global")),
        (None, ("work",), "home", None, ()),
        ("home", ("work",), None, None, ()),
    ],
)
def test_home_is_where_a_write_goes_and_scope_where_a_read_looks(ctx, own, granted, asked, home, scope):
    ctx = replace(ctx, namespace=own)
    if granted:
        ctx = ctx.limited_to(Grant(granted))
    assert ctx.scope(asked) == scope
    if home is None:
        with pytest.raises(Denied, match="may not use"):
            ctx.home(asked)
    else:
        assert ctx.home(asked) == home


def test_a_change_is_journaled_under_the_callers_name(ctx):
    kept(ctx.on_behalf_of("anna"), "one")
    assert [change.actor for change in ctx.store.read().journal()] == ["anna"]


def test_the_overview_counts_what_can_be_recalled(ctx, clock):
    kept(ctx, "one", kind="fact")
    kept(ctx, "two", namespace="work", tier=Tier.MID, links=(("one", "about", 1.0),))
    kept(ctx, "brief", ttl=HOUR // 2)
    forget(ctx, [kept(ctx, "gone").id])
    seen = overview(ctx)
    assert (seen.total, seen.expiring_soon, seen.links, seen.pending) == (3, 1, 1, 3)
    assert seen.by_namespace == {"global": 2, "work": 1} and seen.by_kind == {"note": 2, "fact": 1}
    assert seen.by_tier == {"long": 1, "mid": 1, "short": 1}
    assert seen.by_state == {"living": 3, "forgotten": 1}
    assert (seen.model, seen.changes) == ("words-64", last_number(ctx.store)) and seen.size_bytes > 0
    clock.advance(hours=1)
    later = overview(ctx)
    assert (later.total, later.expiring_soon) == (2, 0) and later.by_state["archived"] == 1
    assert overview(ctx, "work").total == 1 and overview(ctx, "nowhere").total == 0
    assert overview(replace(ctx, embedder=None)).model is None
    assert clock() == START + HOUR


def test_change_returns_what_its_work_returns_and_journals_the_operation(ctx):
    memory = ctx.change("remember", lambda tx: tx.insert(a_draft("The lamp is green"), uid=ctx.new_uid()))
    assert memory.content == "The lamp is green"
    (entry,) = ctx.read().journal()
    assert (entry.operation, entry.actor, entry.subject_id) == ("remember", ctx.actor, memory.id)


def test_a_change_whose_work_fails_leaves_nothing_behind(ctx):
    def work(tx):
        tx.insert(a_draft("The lamp is green"), uid=ctx.new_uid())
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ctx.change("remember", work)
    assert count(ctx.read()) == 0


def test_a_caller_who_may_only_read_changes_nothing(ctx):
    reader = ctx.limited_to(Grant(can_write=False))
    with pytest.raises(Denied, match="read but not write"):
        reader.change("remember", lambda tx: tx.insert(a_draft(), uid=ctx.new_uid()))


@pytest.mark.parametrize(
    "visible, asked, found",
    [
        (None, None, None),
        (None, ("work",), ("work",)),
        (("work",), None, ("work",)),
        (("work", "home"), ("home", "secret"), ("home",)),
        (("work",), ("secret",), ()),
    ],
)
def test_a_scope_narrows_namespaces_to_the_visible_ones(visible, asked, found):
    assert Scope(visible).narrow(asked) == found


UNSCOPED = {
    "core/access.py",  # tokens are checked before a scope is known
    "core/context.py",  # passes the scope
    "core/copies.py",  # the list of backups, a setting of the whole store
    "core/embedding_queue.py",  # vectors are made for everyone
    "core/expiry.py",  # what has expired leaves for everyone
    "core/history.py",  # asks whether a change has parts that the caller may not see
    "core/retention.py",  # uses of several callers are counted together
    "dialects/agentic_memory/amem.py",  # fills a store of its own
    "transfer/exporter.py",  # the versions of the whole store
    "transfer/folder_mirror.py",  # a setting of the whole store
    "transfer/journal_replay.py",  # refused to limited callers
    "transfer/jsonl.py",  # refused to limited callers
    "transfer/mirror.py",  # a setting of the whole store
}


def test_the_store_is_read_and_changed_through_the_scope_of_the_caller():
    package = Path(mnemic.__file__).parent
    unscoped = re.compile(r"\bstore\.(read|snapshot|change)\(")
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if "storage" not in path.parts and unscoped.search(path.read_text())
    }
    assert found == UNSCOPED
