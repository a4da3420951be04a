"""Making one memory of several: nothing that speaks for them is lost, and they can come back."""

from __future__ import annotations

import pytest
from support import faults, kept, last_number, living, write

from mnemic.core.history import undo
from mnemic.core.maintenance.consolidate import (
    AT_ONCE,
    consolidate,
    consolidate_groups,
    groups,
    listed,
    resolve,
)
from mnemic.core.memories import find, forget, restore
from mnemic.core.standards import set_standard
from mnemic.core.stats import overview
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.model.enums import State, Tier
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Direction
from mnemic.storage.queries import count, each_memory


@pytest.fixture
def three(ctx):
    made = [
        kept(ctx, f"part {n}", name=f"Part {n}", tags=(f"t{n}", "all"), priority=n + 4, metadata={f"k{n}": n})
        for n in range(3)
    ]

    def work(tx):
        tx.count_use([made[0].id, made[1].id], ctx.now())
        tx.count_use([made[1].id], ctx.now())

    write(ctx.store, work, operation="use", actor="tester", at=ctx.now())
    return [memory.id for memory in made]


def test_one_takes_the_place_of_several(ctx, three):
    new = find(ctx, consolidate(ctx, three, title="Whole", text="all of it").id)
    assert (new.title, new.content, new.tier, new.expires_at) == ("Whole", "all of it", Tier.LONG, None)
    assert (new.tags, new.priority, new.access_count) == (("all", "t0", "t1", "t2"), 6, 3)
    sources = [find(ctx, number) for number in three]
    assert {memory.state for memory in sources} == {State.SUPERSEDED}
    assert new.metadata == {"k0": 0, "k1": 1, "k2": 2, "derived_from": [memory.uid for memory in sources]}
    assert count(ctx.store.read()) == 1 and faults(ctx.store) == []


def test_the_links_to_what_it_was_made_of_are_not_counted_while_that_is_gone(ctx, three):
    new = consolidate(ctx, three, title="Whole", text="all of it")
    assert overview(ctx).links == 0
    assert len(ctx.store.read().edges(EdgeFilter(at=(new.id,), direction=Direction.OUT))) == 3
    restore(ctx, three[:1])
    assert overview(ctx).links == 1


def test_its_priority_is_five_at_least(ctx):
    low = [kept(ctx, f"low {n}", priority=1).id for n in range(2)]
    assert consolidate(ctx, low, title="Both", text="both").priority == 5


def test_it_may_bear_the_title_of_one_of_them_but_of_no_other(ctx, three):
    kept(ctx, "something else", name="Taken")
    before = living(ctx.store)
    with pytest.raises(Conflict, match="already exists"):
        consolidate(ctx, three, title="Taken", text="x")
    assert living(ctx.store) == before
    assert consolidate(ctx, three, title="Part 1", text="x").title == "Part 1"


def test_one_undo_brings_all_back(ctx, three):
    consolidate(ctx, three, title="Whole", text="all of it")
    undo(ctx, last_number(ctx.store))
    assert {find(ctx, number).state for number in three} == {State.LIVING}


def test_all_of_them_must_be_there(ctx, three):
    with pytest.raises(NotFound):
        consolidate(ctx, [*three, 99], title="Whole", text="x")
    forget(ctx, three[:1])
    with pytest.raises(Conflict):
        consolidate(ctx, three, title="Whole", text="x")
    assert count(ctx.store.read()) == 2


def test_groups_share_a_namespace_and_their_first_tag(ctx):
    for n in range(3):
        kept(ctx, f"deploy {n}", tags=("deploy", "other"), namespace="ops", tier=Tier.SHORT)
        kept(ctx, f"untagged {n}", namespace="ops")
        kept(ctx, f"mid {n}", tags=("mid",), namespace="dev", tier=Tier.MID)
    kept(ctx, "other", tags=("other",), namespace="ops")
    assert [(one.namespace, one.tag, len(one.memories)) for one in groups(ctx)] == [
        ("dev", "mid", 3),
        ("ops", "deploy", 3),
    ]
    assert [one.tag for one in groups(ctx, short_only=True)] == ["deploy"]
    assert [one.tag for one in groups(ctx, "dev")] == ["mid"]
    assert groups(ctx, min_count=4) == []


def test_a_standard_is_in_no_group(ctx):
    numbers = [kept(ctx, f"rule {n}", tags=("rule",), namespace="ops").id for n in range(3)]
    set_standard(ctx, "ops", numbers[0])
    assert groups(ctx) == []


def test_each_group_becomes_one_long_memory(ctx):
    for n in range(3):
        kept(ctx, f"step {n}", name=f"Deploy {n}", tags=("deploy",), namespace="ops", tier=Tier.SHORT)
    told = []
    assert consolidate_groups(ctx, groups(ctx), lambda done, total: told.append((done, total))) == 3
    [new] = [memory for memory in each_memory(ctx.store.read()) if memory.state is State.LIVING]
    assert (new.title, new.tier, new.namespace) == ("Consolidated: deploy (3 memories)", Tier.LONG, "ops")
    assert new.content == "- Deploy 0: step 0\n- Deploy 1: step 1\n- Deploy 2: step 2"
    assert (told, new.source, groups(ctx)) == ([(1, 1)], "auto-consolidate", [])


def test_a_large_group_becomes_several(ctx):
    for n in range(AT_ONCE + 5):
        kept(ctx, f"step {n}", tags=("deploy",))
    assert consolidate_groups(ctx, groups(ctx)) == AT_ONCE + 5
    assert count(ctx.store.read()) == 2


def test_long_texts_are_listed_by_their_beginnings(ctx):
    large = [kept(ctx, "é" * 30_000 + str(n), name=f"Long {n}") for n in range(2)]
    text = listed(large)
    assert len(text.encode()) < 65_536 and "Long 1" in text


def test_a_contradiction_is_settled(ctx):
    winner, loser = kept(ctx, "we ship on Monday"), kept(ctx, "we ship on Friday", priority=8)
    resolve(ctx, winner.id, loser.id)
    resolve(ctx, winner.id, loser.id)
    lost = find(ctx, loser.id)
    assert (lost.priority, lost.confidence, lost.state) == (1, 0.1, State.LIVING)
    assert find(ctx, winner.id).access_count == 2
    [edge] = ctx.store.read().edges(EdgeFilter(at=(winner.id,), direction=Direction.OUT))
    assert (edge.target_id, edge.type) == (loser.id, "supersedes")
    with pytest.raises(Invalid, match="itself"):
        resolve(ctx, winner.id, winner.id)
