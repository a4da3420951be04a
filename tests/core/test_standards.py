"""Standards: set, handed down, and gone with their memory."""

from __future__ import annotations

import pytest
from support import kept

from mnemic.core.memories import forget
from mnemic.core.standards import EVERYWHERE, clear_standard, set_standard, standard_of, standards_for
from mnemic.errors import Conflict, Denied, Invalid, NotFound
from mnemic.model.access import Grant


def rule(ctx, title):
    return kept(ctx, f"{title}: write tests first", name=title, namespace="policies")


def test_a_standard_is_set_read_and_taken_away(ctx):
    memory = rule(ctx, "House rules")
    assert standard_of(ctx, "app").memory is None
    assert set_standard(ctx, "app", memory.id).memory == memory
    told = standard_of(ctx, "app")
    assert (told.memory, told.parent, told.is_dangling) == (memory, None, False)
    assert clear_standard(ctx, "app") is True and clear_standard(ctx, "app") is False
    assert standard_of(ctx, "app").memory is None


def test_standards_are_handed_down_the_most_general_first(ctx):
    for namespace, parent in ((EVERYWHERE, None), ("company", None), ("team", "company")):
        set_standard(ctx, namespace, rule(ctx, namespace).id, parent)
    assert [memory.title for memory in standards_for(ctx, "team")] == ["*", "company", "team"]
    assert [memory.title for memory in standards_for(ctx, "elsewhere")] == ["*"]
    assert [memory.title for memory in standards_for(ctx, None)] == ["*"]


def test_without_a_named_parent_the_shorter_name_is_it(ctx):
    for namespace in ("acme", "acme-web-shop"):
        set_standard(ctx, namespace, rule(ctx, namespace).id)
    assert [memory.title for memory in standards_for(ctx, "acme-web-shop")] == ["acme", "acme-web-shop"]
    assert [memory.title for memory in standards_for(ctx, "acme-web-shop-cart")] == ["acme", "acme-web-shop"]
    assert standards_for(ctx, "acmeweb") == []


def test_a_circle_of_parents_ends_and_a_line_is_at_most_five_long(ctx):
    for one, other in (("a", "b"), ("b", "c"), ("c", "a")):
        set_standard(ctx, one, rule(ctx, one).id, other)
    assert [memory.title for memory in standards_for(ctx, "a")] == ["c", "b", "a"]
    for n in range(9):
        set_standard(ctx, f"n{n}", rule(ctx, f"n{n}").id, f"n{n + 1}")
    assert [memory.title for memory in standards_for(ctx, "n0")] == ["n5", "n4", "n3", "n2", "n1", "n0"]


def test_a_standard_goes_with_its_memory(ctx):
    memory = rule(ctx, "House rules")
    set_standard(ctx, "app", memory.id)
    forget(ctx, [memory.id])
    told = standard_of(ctx, "app")
    assert told.memory is None and told.is_dangling and standards_for(ctx, "app") == []
    with pytest.raises(Conflict):
        set_standard(ctx, "app", memory.id)


def test_what_cannot_be_is_refused(ctx):
    memory = rule(ctx, "House rules")
    with pytest.raises(Invalid, match="namespace cannot be its own parent"):
        set_standard(ctx, "app", memory.id, "app")
    with pytest.raises(NotFound):
        set_standard(ctx, "app", 99)
    with pytest.raises(Denied):
        standard_of(ctx.limited_to(Grant(("b",), can_write=True)), "app")
