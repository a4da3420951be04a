"""Doubles: which memories of a store say nearly the same, and what becomes of them."""

from __future__ import annotations

import pytest
from support import kept

from mnemic.core.embedding_queue import embed_pending
from mnemic.core.maintenance.near_duplicates import apply, find
from mnemic.core.memories import find as find_memory
from mnemic.core.memories import open_all
from mnemic.core.trust import conflicts
from mnemic.model.access import Grant
from mnemic.model.enums import State


def numbers(groups):
    return [(group.kept.id, [other.id for other in group.others]) for group in groups]


def test_near_equal_memories_make_a_group_with_what_would_be_left(ctx):
    kept(ctx, "The API of the shop is deployed on Fridays")
    kept(ctx, "Tea is served at four in the kitchen")
    kept(ctx, "The API of the shop is deployed on Fridays!")
    kept(ctx, "The API of the whole shop is deployed on Fridays")
    [group] = find(ctx)
    assert numbers([group]) == [(1, [3, 4])] and 0.7 <= group.similarity <= 1
    assert group.texts == (
        "The API of the shop is deployed on Fridays",
        "The API of the shop is deployed on Fridays!",
        "The API of the whole shop is deployed on Fridays",
    )


def test_the_memory_that_is_used_is_the_one_to_keep(ctx):
    kept(ctx, "The API of the shop is deployed on Fridays")
    kept(ctx, "The API of the shop is deployed on Fridays.")
    open_all(ctx, [2])
    assert numbers(find(ctx)) == [(2, [1])]


@pytest.mark.parametrize(
    "one, other",
    [
        ("The shop server listens on port 8080 at home", "The shop server listens on port 8081 at home"),
        ("Secrets of the shop are shared with friends", "Secrets of the shop are not shared with friends"),
        ("The cache of the shop is enabled by default", "The cache of the shop is disabled by default"),
    ],
)
def test_what_differs_where_it_matters_is_no_double(ctx, one, other):
    kept(ctx, one)
    kept(ctx, other)
    embed_pending(ctx, 10)
    assert find(ctx) == []


def test_doubles_are_within_a_namespace_and_where_the_caller_looks(ctx):
    for namespace in ("a", "b"):
        kept(ctx, "The API of the shop is deployed on Fridays", namespace=namespace)
    assert find(ctx) == []
    kept(ctx, "The API of the shop is deployed on Fridays", namespace="b")
    assert numbers(find(ctx)) == [(2, [3])]
    assert find(ctx, "a") == [] and numbers(find(ctx, "b")) == [(2, [3])]
    assert find(ctx.limited_to(Grant(("a",), can_write=False))) == []


def test_what_was_said_again_in_other_words_is_found_by_its_vector(ctx):
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi".split()
    kept(ctx, " ".join(words))
    kept(ctx, " ".join(reversed(words)))
    embed_pending(ctx, 10)
    assert numbers(find(ctx)) == [(1, [2])]


def test_turns_and_reflections_are_no_doubles(ctx):
    from mnemic.core.sessions import log_turn

    log_turn(ctx, "Shall we deploy the API of the shop?", None)
    log_turn(ctx, "Shall we deploy the API of the shop?", None)
    assert find(ctx) == []


def test_many_equal_ones_are_one_group(ctx):
    for _ in range(40):
        kept(ctx, "The API of the shop is deployed on Fridays")
    [group] = find(ctx)
    assert len(group.others) == 39 and group.texts == ("The API of the shop is deployed on Fridays",)


def test_applied_the_others_go_into_the_one_that_is_kept(ctx):
    kept(ctx, "The API of the shop is deployed on Fridays", tags=("a",))
    kept(ctx, "The API of the shop is deployed on Fridays!", tags=("b",))
    assert apply(ctx, find(ctx)) == 1
    [(left, _)] = open_all(ctx, [1]).memories
    assert (len(left.statements), left.tags) == (2, ("a", "b"))
    assert find_memory(ctx, 2).state is State.FORGOTTEN and find(ctx) == []


def test_opposites_in_nearly_the_same_words_are_reported(ctx):
    kept(ctx, "Secrets of the shop are shared with contractors")
    kept(ctx, "Secrets of the shop are not shared with contractors")
    kept(ctx, "Secrets of the shop are shared with contractors.")
    found = {(one.one.id, one.other.id) for one in conflicts.find(ctx)}
    assert (1, 2) in found and (1, 3) not in found
