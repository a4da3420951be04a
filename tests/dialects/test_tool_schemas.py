"""The tools of every dialect as the clients of three vendors take them, read by the vendors' own converters."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest
from agents.strict_schema import ensure_strict_json_schema
from google.genai._mcp_utils import mcp_to_gemini_tool
from mcp.types import Tool

from mnemic.app import DIALECTS, EVERY, dialect
from mnemic.transports.mcp.methods import Endpoint, Offer

ALL = Offer(all_tools=True)
TOOLS = [
    pytest.param(name, tool, id=f"{name}-{tool['name']}")
    for name in (*DIALECTS, EVERY)
    for tool in Endpoint(dialect(name), ALL)._tools
]
NATIVE = [tool for tool in TOOLS if tool.values[0] == "mnemic"]


def parts(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema of an argument in *schema*, with the path to it."""
    for name, part in schema.get("properties", {}).items():
        yield f"{path}{name}", part
        yield from parts(part, f"{path}{name}.")
        if isinstance(part.get("items"), dict):
            yield from parts(part["items"], f"{path}{name}.")


@pytest.mark.parametrize("name, tool", TOOLS)
def test_claude_takes_it(name, tool):
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", tool["name"])
    schema = tool["inputSchema"]
    assert schema["type"] == "object" and not {"anyOf", "oneOf", "allOf"} & schema.keys()
    assert 0 < len(tool["description"]) <= 1024


@pytest.mark.parametrize("name, tool", TOOLS)
def test_gemini_takes_it(name, tool):
    made = mcp_to_gemini_tool(Tool.model_validate(tool))
    [declared] = made.function_declarations
    assert declared.name == tool["name"]
    given = declared.parameters.properties or {}
    assert set(given) == set(tool["inputSchema"].get("properties", {})), "no argument is lost on the way"
    assert all(part.type is not None or part.any_of for part in given.values())


@pytest.mark.parametrize("name, tool", TOOLS)
def test_strict_mode_takes_it_or_the_documents_ask_for_any_object(name, tool):
    schema = copy.deepcopy(tool["inputSchema"])
    try:
        strict = ensure_strict_json_schema(schema, _reject_open_objects=bool(schema.get("properties")))
    except Exception as refusal:
        assert name != "mnemic", refusal
        open_ones = {path for path, part in parts(tool["inputSchema"]) if is_open(part)}
        assert open_ones, f"{refusal}: no argument is any object"
    else:
        assert strict["required"] == list(strict["properties"]) and strict["additionalProperties"] is False


def is_open(part: dict[str, Any]) -> bool:
    """True for an argument that may be, or hold, any object or any value."""
    choices = [part, *part.get("anyOf", ()), part.get("items", {})]
    return any(
        isinstance(choice, dict)
        and "properties" not in choice
        and (choice.get("type") == "object" or "object" in str(choice.get("type")) or "type" not in choice)
        for choice in choices
    )


@pytest.mark.parametrize("name, tool", NATIVE)
def test_every_native_argument_has_one_type_and_is_described_with_its_default(name, tool):
    assert "outputSchema" not in tool
    required = tool["inputSchema"].get("required", ())
    for path, part in parts(tool["inputSchema"]):
        assert isinstance(part["type"], str) and not {"anyOf", "oneOf", "$ref", "default"} & part.keys(), path
        assert part["description"], path
        assert part["type"] != "object", "Gemini refuses an object without properties"
        if "." not in path and path not in required:
            assert "default" in part["description"], path
    assert not re.search(r"\bhouse\b|\btold\b", str(tool)), "plain words"


def test_ids_are_text():
    listed = {tool.values[1]["name"]: tool.values[1]["inputSchema"]["properties"] for tool in NATIVE}
    assert listed["open"]["ids"]["items"] == {"type": "string"} and listed["revise"]["id"]["type"] == "string"
    assert listed["link"]["source"]["type"] == "string"
