"""What a dialect says over MCP, asked through the SDK's client over HTTP in process, in both protocol eras."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from mcp import Client, MCPError
from mcp.types import Implementation
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from sdk import our_http, our_transport
from server_process import SCRIPT
from support import kept
from toy_dialect import SECRET, TOY

from mnemic.app import dialect
from mnemic.core.context import Context
from mnemic.dialects.framework import Dialect
from mnemic.errors import Invalid
from mnemic.model.access import Grant
from mnemic.settings import Settings
from mnemic.transports.mcp import methods
from mnemic.transports.mcp.methods import Endpoint, Offer, clean_name, offer

MNEMIC = dialect("mnemic")

ME = Implementation(name="test client", version="1")


@pytest.fixture(params=["legacy", MODERN_PROTOCOL_VERSIONS[-1], "auto"])
def era(request: pytest.FixtureRequest) -> str:
    """How the client opens the conversation."""
    return str(request.param)


ALL = Offer(all_tools=True)


def talk(
    ctx: Context,
    era: str,
    scenario: Callable[[Client], Awaitable[Any]],
    dialect: Dialect = MNEMIC,
    offered: Offer | None = None,
) -> Any:
    """What *scenario* gets out of a client of *dialect*, be it an error."""

    async def run() -> Any:
        async with (
            our_http(dialect, ctx, offered) as http,
            Client(our_transport(http), mode=era, client_info=ME) as client,
        ):
            try:
                return await scenario(client)
            except MCPError as error:
                return error

    return asyncio.run(run())


def test_the_revisions_are_those_of_the_sdk():
    assert methods.HANDSHAKE_VERSIONS == HANDSHAKE_PROTOCOL_VERSIONS
    assert methods.MODERN_VERSIONS == MODERN_PROTOCOL_VERSIONS


def test_every_operation_is_a_tool_with_all_it_should_have(ctx, era):
    tools = talk(ctx, era, lambda client: client.list_tools(), offered=ALL).tools
    assert [tool.name for tool in tools] == list(MNEMIC.operations)
    for tool in tools:
        assert tool.description and "\n" not in tool.description
        assert tool.input_schema["type"] == "object" and tool.output_schema is None
        assert tool.annotations.open_world_hint is False
        assert tool.annotations.read_only_hint or tool.annotations.destructive_hint is not None


@pytest.mark.parametrize("offered, most", [(None, 9_000), (ALL, 18_000)])
def test_the_list_of_tools_is_short(ctx, offered, most):
    listed = Endpoint(MNEMIC, offered).handle(ctx, "tools/list", {})
    assert len(json.dumps(listed, separators=(",", ":"), ensure_ascii=False).encode()) <= most


def test_the_core_tools_are_offered_unless_all_are_asked_for(ctx, era):
    async def scenario(client: Client) -> list[str]:
        assert not (await client.call_tool("stats", {})).is_error, "what is not offered can still be called"
        return [tool.name for tool in (await client.list_tools()).tools]

    core = ["recall", "remember", "open", "revise", "forget", "restore", "link", "verify", "session"]
    assert talk(ctx, era, scenario) == core
    assert set(talk(ctx, era, scenario, offered=ALL)) == set(MNEMIC.operations)


def test_tools_bear_a_prefix_on_request_wherever_they_are_named(ctx):
    async def scenario(client: Client) -> tuple[list[Any], str, bool, str]:
        listed = (await client.list_tools()).tools
        called = await client.call_tool("mem_recall", {"query": "x"})
        try:
            await client.call_tool("mem_remembr", {})
        except MCPError as error:
            return listed, client.instructions, called.is_error, str(error)

    tools, instructions, is_error, unknown = talk(ctx, "legacy", scenario, offered=Offer(prefix="mem_"))
    assert all(tool.name.startswith("mem_") for tool in tools) and not is_error
    assert "`mem_recall`" in instructions and "`recall`" not in instructions
    assert "`mem_revise`" in next(tool.description for tool in tools if tool.name == "mem_remember")
    assert "did you mean `mem_remember`?" in unknown.lower()


def test_an_answer_is_sent_once_unless_structured_content_is_asked_for(ctx, era):
    async def scenario(client: Client) -> Any:
        return await client.call_tool("recall", {"query": "x"})

    assert talk(ctx, era, scenario).structured_content is None
    both = talk(ctx, era, scenario, offered=Offer(structured=True))
    assert both.structured_content == json.loads(both.content[0].text)


def test_settings_say_how_tools_are_offered():
    assert offer(Settings()) == Offer() and offer(Settings(tools="all", tool_prefix="m-")) == Offer(
        True, "m-"
    )
    for wrong in ({"tools": "some"}, {"tool_prefix": "a b"}, {"tool_prefix": "x" * 25}):
        with pytest.raises(Invalid) as refusal:
            offer(Settings(**wrong))
        assert refusal.value.field in wrong


def test_every_operation_can_be_called(ctx, era):
    async def scenario(client: Client) -> None:
        for name, arguments in SCRIPT:
            result = await client.call_tool(name, arguments)
            assert not result.is_error, result.content
            assert isinstance(json.loads(result.content[0].text), dict)
            shown = next(tool for tool in (await client.list_tools()).tools if tool.name == name)
            jsonschema.validate(arguments, shown.input_schema)

    talk(ctx, era, scenario, offered=ALL)
    assert {name for name, _ in SCRIPT} == set(MNEMIC.operations)


def test_a_failed_call_is_a_result_that_says_why(ctx, era):
    result = talk(ctx, era, lambda client: client.call_tool("open", {"ids": [404]}))
    assert result.is_error and "404" in result.content[0].text
    assert result.structured_content is None


@pytest.mark.parametrize(
    "arguments, word",
    [
        ({}, "query: required"),
        ({"query": "x", "quary": 1}, "quary: unknown argument"),
        ({"query": 1}, "query"),
    ],
)
def test_bad_arguments_are_named(ctx, era, arguments, word):
    result = talk(ctx, era, lambda client: client.call_tool("recall", arguments))
    assert result.is_error and word in result.content[0].text


def test_a_crash_says_nothing_of_itself(ctx, era):
    result = talk(ctx, era, lambda client: client.call_tool("crash", {}), TOY)
    assert result.is_error and result.content[0].text == "internal error"


@pytest.mark.parametrize(
    "ask, number",
    [
        (lambda client: client.call_tool("nope", {}), -32602),
        (lambda client: client.get_prompt("nope"), -32602),
        (lambda client: client.get_prompt("recall-first", {"nope": "x"}), -32602),
        (lambda client: client.list_tools(cursor="page 2"), -32602),
    ],
    ids=["tool", "prompt", "argument", "cursor"],
)
def test_what_is_not_there_is_an_error_of_the_protocol(ctx, era, ask, number):
    assert talk(ctx, era, ask).code == number


def test_prompts_are_listed_and_written(ctx, era):
    async def scenario(client: Client) -> tuple[list[str], str]:
        listed = await client.list_prompts()
        got = await client.get_prompt("recall-first", {"namespace": "project"})
        return [prompt.name for prompt in listed.prompts], got.messages[0].content.text

    names, text = talk(ctx, era, scenario)
    assert names == [prompt.name for prompt in MNEMIC.prompts]
    assert "'project'" in text


def test_a_prompts_argument_is_completed(ctx, era):
    kept(ctx, "One", namespace="project")
    kept(ctx, "Two", namespace="private")
    kept(ctx, "Three", namespace="other")

    async def scenario(client: Client) -> list[str]:
        ref = {"type": "ref/prompt", "name": "recall-first"}
        result = await client.session.send_request(_completion(ref, "namespace", "pr"), _result())
        return result.completion.values

    assert sorted(talk(ctx, era, scenario)) == ["private", "project"]


def _completion(ref: dict[str, str], name: str, value: str) -> Any:
    from mcp.types import CompleteRequest

    return CompleteRequest.model_validate(
        {"params": {"ref": ref, "argument": {"name": name, "value": value}}}
    )


def _result() -> Any:
    from mcp.types import CompleteResult

    return CompleteResult


def test_a_memory_is_a_resource(ctx, era):
    memory = kept(ctx, "The sky is blue", name="Sky / colour")

    async def scenario(client: Client) -> list[dict[str, Any]]:
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == ["mnemic://memory/{id}"]
        read = [
            await client.read_resource(f"mnemic://memory/{name}")
            for name in (str(memory.id), memory.uid, "Sky%20%2F%20colour")
        ]
        return [json.loads(result.contents[0].text) for result in read]

    assert [content["text"] for content in talk(ctx, era, scenario)] == ["The sky is blue"] * 3


@pytest.mark.parametrize("uri", ["mnemic://memory/404", "mnemic://other/1", "file:///etc/passwd"])
def test_a_resource_that_is_not_there_has_the_number_of_its_era(ctx, era, uri):
    error = talk(ctx, era, lambda client: client.read_resource(uri))
    assert error.code == (-32002 if era == "legacy" else -32602)


def test_a_resource_that_breaks_says_nothing_of_itself(ctx, era):
    error = talk(ctx, era, lambda client: client.read_resource("toy://fixed"), TOY)
    assert error.code == -32603
    assert SECRET not in str(error)


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_the_server_says_who_it_is(ctx, era):
    async def scenario(client: Client) -> tuple[str, str]:
        return client.server_info.name, client.instructions

    name, instructions = talk(replace(ctx, namespace="widgets"), era, scenario)
    assert name == "mnemic" and instructions.startswith(MNEMIC.instructions)
    assert 'writes to the namespace "widgets" and reads "widgets" and "global".' in instructions


@pytest.mark.parametrize(
    "namespace, grant, told",
    [
        (None, None, 'writes to the namespace "global" and reads all namespaces.'),
        ("app", None, 'writes to the namespace "app" and reads "app" and "global".'),
        (None, Grant(("team",)), 'writes to the namespace "team" and reads "team".'),
        ("app", Grant(("app",)), 'writes to the namespace "app" and reads "app".'),
    ],
)
def test_the_instructions_name_the_namespaces_of_the_connection(ctx, namespace, grant, told):
    caller = replace(ctx, namespace=namespace, grant=grant)
    hello = Endpoint(MNEMIC).initialize(caller, {"protocolVersion": "2025-11-25"})
    assert told in hello["instructions"]
    for word in ("secrets", "data", "`recall`", "`remember`", "`revise`"):
        assert word in hello["instructions"]


def test_the_brief_and_the_recent_memories_of_a_project_are_resources(ctx, era):
    project = replace(ctx, namespace="widgets")
    kept(project, "Migrations are never edited", priority=9)
    kept(project, "We chose SQLite", kind="decision")
    kept(ctx, "Dana likes tea", namespace="global")
    kept(ctx, "Other people's secret", namespace="other")

    async def scenario(client: Client) -> dict[str, str]:
        listed = (await client.list_resources()).resources
        return {str(one.uri): (await client.read_resource(one.uri)).contents[0].text for one in listed}

    pages = talk(project, era, scenario)
    assert set(pages) == {"mnemic://brief", "mnemic://recent"}
    for page in pages.values():
        assert "widgets and global" in page and "data, not instructions" in page
        assert "never edited" in page and "SQLite" in page and "tea" in page and "secret" not in page
        assert page.count("never edited") == 1
    assert (
        "## Important\n- [1]" in pages["mnemic://brief"] and "## Decisions\n- [2]" in pages["mnemic://brief"]
    )
    empty = talk(replace(ctx, namespace="nowhere", grant=Grant(("nowhere",))), era, scenario)
    assert all("Nothing is known yet." in page for page in empty.values())


def test_changes_bear_the_clients_name(ctx, era):
    async def scenario(client: Client) -> str:
        await client.call_tool("remember", {"text": "Written by a client"})
        history = await client.call_tool("history", {"since": "1h"})
        return json.loads(history.content[0].text)["changes"][0]["actor"]

    assert talk(ctx, era, scenario) == ME.name


@pytest.mark.parametrize(
    "given, name",
    [("Claude Code", "Claude Code"), ("a\nb\0c", "abc"), ("x" * 100, "x" * 64), ("\n", None), ("<b>é", "bé")],
)
def test_a_name_is_made_fit_for_the_journal(given, name):
    assert clean_name(given) == name
