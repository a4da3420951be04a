"""Any arguments at all, made from each tool's or endpoint's schema and bent: an answer or a refusal, never a crash."""

from __future__ import annotations

import re
from typing import Any

import hypothesis
import orjson
import pytest
from hypothesis import strategies as st
from support import kept, last_number

from mnemic.app import DIALECTS, EVERY, dialect
from mnemic.dialects.combined.dialect import shared_tools
from mnemic.dialects.execution import answer, perform
from mnemic.dialects.framework import Tool
from mnemic.dialects.json_schema import input_schema
from mnemic.errors import MnemicError

OURS = re.compile(r"Value error|function|instance of|constrained|validator|<class| at 0x|pydantic\.dev")
"""What is only to be seen in our code and in the parts it stands on."""
TIMES = ("7d", "2026-01-31", "9999-12-31T23:59:59Z", "0001-01-01", "-1d", "99999999y")
SYNTAX = ('"', "' OR 1=1 --", "NEAR(a b", "a AND", "*", "col:x", "%_", "\\", "\0", "\u202e")
ODD = ("", " ", "1", "Deploys", "😀", "İ", "ﬁ", "x" * 70_000)
FIELDS = (
    "name",
    "entityType",
    "observations",
    "status",
    "from",
    "to",
    "relationType",
    "context",
    "entity_type",
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(TIMES + SYNTAX + ODD)
KEYS = TEXTS | st.sampled_from(FIELDS)
NUMBERS = (
    st.integers(-(2**63), 2**64 - 1) | st.integers(-2, 12) | st.floats(allow_nan=False, allow_infinity=False)
)
JUNK = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of the kind *schema* wants, whatever their size."""
    if "anyOf" in schema:
        return st.one_of(*map(fitting, schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = schema.get("type", [])
    if not kinds:
        return JUNK
    return st.one_of(*(of_kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds)))


def of_kind(kind: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    match kind:
        case "string":
            return TEXTS
        case "integer":
            return st.integers(-2, 50)
        case "number":
            return st.floats(-0.5, 1.5)
        case "boolean":
            return st.booleans()
        case "array":
            return st.lists(fitting(schema["items"]), max_size=4)
    return objects(schema) if "properties" in schema else st.dictionaries(KEYS, JUNK, max_size=5)


def objects(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects with the fields of *schema*: required ones mostly there, values mostly of the right kind."""
    fields = {
        name: st.one_of(fitting(part), fitting(part), fitting(part), JUNK)
        for name, part in schema["properties"].items()
    }
    needed = {name: fields[name] for name in schema.get("required", ())}
    rest = {name: strategy for name, strategy in fields.items() if name not in needed}
    return st.fixed_dictionaries(needed, optional=rest)


TOOLS = [(name, tool) for name in DIALECTS for tool in dialect(name).operations]
TOOLS += [(EVERY, tool) for tool in shared_tools().operations]


@pytest.mark.parametrize("named, tool", TOOLS)
@hypothesis.settings(
    max_examples=60,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow],
)
@hypothesis.given(data=st.data())
def test_a_tool_answers_or_refuses_whatever_it_is_given(ctx, named, tool, data):
    if not last_number(ctx.store):
        kept(ctx, "We deploy on Fridays", name="Deploys")
        kept(ctx, "The build runs on the CI machine")
    spoken = dialect(named)
    arguments = data.draw(objects(input_schema(spoken.operations[tool].request)))
    outcome = answer(spoken, ctx, tool, arguments)
    assert outcome.error is None or outcome.error.code != "internal"
    assert outcome.rendered.text
    assert not (outcome.rendered.is_error and OURS.search(outcome.rendered.text))
    orjson.dumps(outcome.rendered.structured)


ENDPOINTS = [(name, endpoint) for name in DIALECTS for endpoint in dialect(name).endpoints]


@pytest.mark.parametrize("named, endpoint", ENDPOINTS)
@hypothesis.settings(
    max_examples=25,
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture, hypothesis.HealthCheck.too_slow],
)
@hypothesis.given(data=st.data())
def test_an_endpoint_answers_or_refuses_whatever_it_is_given(ctx, named, endpoint, data):
    if not last_number(ctx.store):
        kept(ctx, "We deploy on Fridays", name="Deploys")
        kept(ctx, "The build runs on the CI machine")
    spoken = dialect(named)
    operation = spoken.endpoints[endpoint]
    arguments = data.draw(objects(input_schema(operation.request)))
    try:
        assert isinstance(orjson.loads(perform(Tool(spoken, operation), ctx, arguments)), dict)
    except MnemicError as error:
        assert error.code != "internal"
