"""Limits hold where a value is built that is to be stored."""

from __future__ import annotations

import math
from dataclasses import fields
from functools import partial

import pytest

from mnemic.errors import Invalid
from mnemic.model import limits
from mnemic.model.graph import EDGE_RULES, Edge, EdgeDraft, EdgePatch
from mnemic.model.memory import MEMORY_RULES, Draft, Memory, MemoryPatch, body_of
from mnemic.model.session import SESSION_RULES, Session, SessionDraft, SessionPatch

TOO_MUCH = [
    ("priority", 0),
    ("priority", 11),
    ("priority", 5.0),
    ("priority", True),
    ("confidence", 1.1),
    ("confidence", -0.1),
    ("confidence", math.nan),
    ("confidence", "high"),
    ("quality", 10.5),
    ("namespace", "n" * 1_025),
    ("name", "n" * 1_025),
    ("title", "n" * 1_025),
    ("kind", "k\0"),
    ("source", "\ud800"),
    ("summary", "x" * 65_537),
    ("tags", "deploy"),
    ("tags", ("t" * 1_025,)),
    ("tags", tuple(map(str, range(1_001)))),
    ("expires_at", 2**62),
]


LIMITED = {"str", "int", "float", "Moment", "tuple[str, ...]"}


@pytest.mark.parametrize(
    "model, rules", [(Memory, MEMORY_RULES), (Edge, EDGE_RULES), (Session, SESSION_RULES)]
)
def test_every_text_number_and_time_has_a_limit(model, rules):
    held = {one.name for one in fields(model) if one.type.removesuffix(" | None") in LIMITED}
    identifying = {name for name in held if name.endswith("id")}
    assert held - identifying == rules.keys() - {"texts"}


@pytest.mark.parametrize("field, value", TOO_MUCH)
def test_a_draft_out_of_bounds_is_refused_by_the_name_of_the_field(field, value):
    with pytest.raises(Invalid, match=f"^{field}: ") as refusal:
        Draft(**{"namespace": "global", "texts": ("tea",), field: value})
    assert refusal.value.field == field
    with pytest.raises(Invalid, match=f"^{field}: "):
        MemoryPatch(**{field: value})


@pytest.mark.parametrize("text", ["x" * 65_537, "é" * 32_769, "a\0b", "\ud800", 7])
def test_a_statement_out_of_bounds_is_refused(text):
    with pytest.raises(Invalid, match=r"^text: "):
        Draft(namespace="global", texts=("tea", text), title="Tea")


def test_what_lies_on_the_bounds_is_a_draft():
    widest = Draft(
        namespace="n" * 1_024,
        texts=("x" * 65_536, "é" * 32_768, ""),
        name="n" * 1_024,
        kind="",
        priority=10,
        confidence=0,
        quality=10,
        tags=("t" * 1_024,) * 1_000,
    )
    assert widest.priority == 10 and len(widest.texts) == 3


@pytest.mark.parametrize(
    "field, value", [("weight", 7), ("weight", math.inf), ("quality", -1), ("type", "t" * 1_025)]
)
def test_a_link_out_of_bounds_is_refused(field, value):
    for build in (partial(EdgeDraft, source_id=1, target_id=2, type="near"), EdgePatch):
        with pytest.raises(Invalid, match=f"^{field}: "):
            build(**{field: value})


@pytest.mark.parametrize("field", ["name", "topic", "summary"])
def test_a_session_out_of_bounds_is_refused(field):
    for build in (partial(SessionDraft, "global"), SessionPatch):
        with pytest.raises(Invalid, match=f"^{field}: "):
            build(**{field: "x" * 70_000})


def test_a_memory_is_not_linked_to_itself():
    limits.not_itself(1, 2)
    with pytest.raises(Invalid, match="cannot link a memory to itself"):
        limits.not_itself(1, 1)


@pytest.mark.parametrize(
    "text, sizes",
    [
        ("tea", [3]),
        ("x" * 65_536, [65_536]),
        ("a\n" + "x" * 65_536, [1, 65_536]),
        ("\n".join(["é" * 1_000] * 70), [32 * 1_001 - 1, 32 * 1_001 - 1, 6 * 1_001 - 1]),
    ],
)
def test_a_long_text_becomes_statements_that_join_to_it(text, sizes):
    body = body_of(text)
    assert "\n".join(body) == text and [len(part) for part in body] == sizes
