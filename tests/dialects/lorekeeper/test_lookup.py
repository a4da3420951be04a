"""Memories by their uids, and their links as whoever knows only uids sees them."""

from __future__ import annotations

from support import kept, write

from mnemic.core.expiry import expire
from mnemic.core.graph import end_link, link
from mnemic.core.memories import forget
from mnemic.dialects.lorekeeper.lookup import by_uid, links_of
from mnemic.model.graph import EdgePatch
from mnemic.model.time import MINUTE


def shown(ctx, *memories, namespaces=None, most=9):
    links = links_of(ctx, memories, namespaces, most)
    return [[(one.edge.type, one.source, one.target) for one in links[memory.id]] for memory in memories]


def test_memories_come_in_the_order_of_their_uids_and_only_those_in_use(ctx, clock):
    one, other, gone = (kept(ctx, text) for text in ("one", "two", "three"))
    brief = kept(ctx, "brief", ttl=MINUTE)
    forget(ctx, [gone.id])
    clock.advance(hours=1)
    asked = [other.uid, "nope", gone.uid, one.uid, brief.uid]
    assert list(by_uid(ctx, asked, None)) == [other.uid, one.uid]
    assert list(by_uid(ctx, asked, None, forgotten=True)) == [other.uid, gone.uid, one.uid]
    expire(ctx)
    assert brief.uid not in by_uid(ctx, asked, None, forgotten=True), "an archived memory was not forgotten"


def test_memories_of_other_namespaces_are_not_there(ctx):
    memory = kept(ctx, "one", namespace="a")
    assert by_uid(ctx, [memory.uid], ("b",)) == {} and by_uid(ctx, [memory.uid], ("a", "b"))


def test_links_are_seen_from_both_ends(ctx):
    one, other = kept(ctx, "one"), kept(ctx, "two")
    link(ctx, one.id, other.id, "used_in")
    assert shown(ctx, one, other) == [[("used_in", one.uid, other.uid)]] * 2
    assert shown(ctx, kept(ctx, "three")) == [[]] and links_of(ctx, [], None, 5) == {}


def test_links_that_have_ended_or_lead_to_what_is_not_seen_are_left_out(ctx):
    one, gone, far, other = (
        kept(ctx, "one"),
        kept(ctx, "two"),
        kept(ctx, "three", namespace="x"),
        kept(ctx, "four"),
    )
    for target in (gone, far, other):
        link(ctx, one.id, target.id, "used_in")
    forget(ctx, [gone.id])
    end_link(ctx, one.id, other.id, "used_in")
    assert shown(ctx, one, namespaces=("global",)) == [[]]
    assert shown(ctx, one) == [[("used_in", one.uid, far.uid)]]


def test_the_best_rated_links_come_first_up_to_the_limit(ctx):
    one = kept(ctx, "one")
    others = [kept(ctx, f"other {number}") for number in range(3)]
    edges = [link(ctx, one.id, other.id, "used_in") for other in others]
    write(
        ctx.store,
        lambda tx: tx.update_edge(edges[2], EdgePatch(quality=9.0)),
        operation="rate",
        actor="tester",
        at=ctx.now(),
    )
    assert [target for _, _, target in shown(ctx, one, most=2)[0]] == [others[2].uid, others[0].uid]
