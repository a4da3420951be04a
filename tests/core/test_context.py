"""Where a caller writes and reads, and what the store looks like in numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mnemic.core.memories import forget
from mnemic.core.overview import overview
from mnemic.errors import Denied
from mnemic.model.access import Grant
from mnemic.model.values import HOUR, Tier
from support import START, kept


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
    assert (seen.model, seen.changes) == ("words-64", ctx.store.sequence()) and seen.size_bytes > 0
    clock.advance(hours=1)
    later = overview(ctx)
    assert (later.total, later.expiring_soon) == (2, 0) and later.by_state["archived"] == 1
    assert overview(ctx, "work").total == 1 and overview(ctx, "nowhere").total == 0
    assert overview(replace(ctx, embedder=None)).model is None
    assert clock() == START + HOUR
