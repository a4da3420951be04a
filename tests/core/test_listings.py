"""Listings: pages, totals, orders and facets."""

from __future__ import annotations

import pytest
from support import kept

from mnemic.core import listings
from mnemic.core.history import as_of
from mnemic.core.memories import Note, forget, remember
from mnemic.model.access import Grant
from mnemic.model.filter import ALL_STATES, Filter, Order


@pytest.fixture
def stored(ctx, clock):
    """Five memories by two actors in two namespaces, one a second."""
    for number, (title, actor, space, kind, tags) in enumerate(
        [
            ("delta", "ann", "ours", "fact", ("red",)),
            ("Alpha", "ann", "ours", "fact", ("red", "blue")),
            ("charlie", "bob", "ours", "rule", ()),
            ("Bravo", "bob", "theirs", "fact", ("blue",)),
            ("echo", "bob", "theirs", "note", ()),
        ]
    ):
        clock.advance(seconds=1)
        note = Note(text=f"Text number {number}", name=title, namespace=space, kind=kind, tags=tags)
        remember(ctx.on_behalf_of(actor), [note])
    return ctx


def titles(page: listings.Page) -> list[str]:
    return [memory.title for memory in page.memories]


def test_a_page_tells_how_many_there_are(stored):
    found = listings.page(stored, Filter(), limit=2, offset=1)
    assert titles(found) == ["Bravo", "charlie"]
    assert found.total == 5
    assert listings.page(stored, Filter(), limit=2, offset=9) == listings.Page((), 5)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_titles_are_sorted_whatever_their_case(stored, is_reversed):
    found = listings.page(stored, Filter(), order=Order.TITLE, is_reversed=is_reversed, limit=9)
    expected = ["Alpha", "Bravo", "charlie", "delta", "echo"]
    assert titles(found) == (expected[::-1] if is_reversed else expected)


@pytest.mark.parametrize("order", list(Order))
def test_every_order_can_be_reversed(stored, order):
    there = listings.page(stored, Filter(), order=order, limit=9)
    back = listings.page(stored, Filter(), order=order, is_reversed=True, limit=9)
    assert len(there.memories) == 5
    assert titles(back) == titles(there)[::-1]


def test_an_actor_is_who_stored_it(stored):
    found = listings.page(stored, Filter(actor="ann"), limit=9)
    assert titles(found) == ["Alpha", "delta"]
    assert listings.page(stored, Filter(actor="nobody"), limit=9).total == 0


def test_text_is_looked_for_in_whatever_case(stored):
    assert titles(listings.page(stored, Filter(), text="NUMBER 3", limit=9)) == ["Bravo"]
    assert listings.page(stored, Filter(), text="xyz", limit=9).total == 0


def test_facets_count_what_passes(stored):
    found = listings.facets(stored, Filter(kinds=("fact",)))
    assert found == {
        "namespace": {"ours": 2, "theirs": 1},
        "kind": {"fact": 3},
        "tag": {"blue": 2, "red": 2},
        "tier": {"long": 3},
        "state": {"living": 3},
        "actor": {"ann": 2, "bob": 1},
        "session": {},
    }


def test_facets_are_the_same_without_the_columns(stored, clock):
    """The past is counted by SQL, the present by the column cache."""
    wanted = Filter(namespaces=("ours",), states=ALL_STATES)
    assert listings.facets(as_of(stored, clock.moment), wanted) == listings.facets(stored, wanted)


def test_a_limited_caller_counts_what_it_sees(stored):
    limited = stored.limited_to(Grant(("theirs",), can_write=False))
    assert listings.facets(limited, Filter())["actor"] == {"bob": 2}
    assert listings.page(limited, Filter(), limit=1).total == 2


def test_what_was_forgotten_is_listed_by_its_state(stored):
    forget(stored, ["echo"])
    kept(stored, "A new one")
    found = listings.page(stored, Filter(states=ALL_STATES), limit=9)
    assert found.total == 6
    assert listings.facets(stored, Filter(states=ALL_STATES))["state"] == {"living": 5, "forgotten": 1}


def test_recall_can_be_narrowed_to_an_actor_and_a_tier(stored):
    from mnemic.app import dialect
    from mnemic.dialects.execution import call

    native = dialect("mnemic")

    def found(**narrowed: object) -> list[int]:
        reply = call(native, stored, "recall", {"query": "text number", "min_relevance": 0, **narrowed})
        return sorted(hit.id for hit in reply.memories)

    assert found() == [1, 2, 3, 4, 5]
    assert found(actor="ann") == [1, 2]
    assert found(tier="short") == []
    assert found(as_of="1 second ago", actor="bob") == [3, 4]
