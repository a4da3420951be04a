"""The graph dialects as clients start them: who they say they are, their files, and what they tell of changes."""

from __future__ import annotations

import json
import select
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_process import HELLO, Process, call, environment, serving

from mnemic.app import DIALECTS, dialect

GRAPH = {"uri": "memory://knowledge-graph"}
PATIENCE = 15.0
ANNA = {"name": "Anna", "entityType": "person", "observations": ["kind"]}
BOB = {"name": "Bob", "entityType": "person", "observations": ["tall"]}
KNOWS = {"from": "Anna", "to": "Bob", "relationType": "knows"}


def server(home: Path, dialect: str = "anthropic", **variables: str) -> Process:
    """`mnemic mcp` in this dialect."""
    return Process(home, "-m", "mnemic", "mcp", "--dialect", dialect, **variables)


def says(process: Process, seconds: float) -> Any:
    """The next line, if one comes within so many seconds."""
    ready, _, _ = select.select([process.process.stdout], [], [], seconds)
    return process.read() if ready else None


def create(process: Process, *entities: dict[str, Any], id: int = 5) -> list[Any]:
    """Make *entities*: what the server says up to its answer."""
    process.write(call("create_entities", {"entities": list(entities)}, id))
    said = [process.read()]
    while said[-1].get("id") != id:
        said.append(process.read())
    return said


def until(condition: Any) -> bool:
    """Whether *condition* comes true while we have patience."""
    end = time.monotonic() + PATIENCE
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(condition())


# -- who is speaking


@pytest.mark.parametrize(
    "dialect, name, version, capabilities",
    [
        (
            "anthropic",
            "memory-server",
            "0.6.3",
            {"resources": {"subscribe": True, "listChanged": False}, "tools": {"listChanged": False}},
        ),
        ("simple-memory", "simple-memory-mcp", "1.0.0", None),
        ("mcp-memory", "memory", None, None),
    ],
)
def test_a_server_introduces_itself_as_its_clients_know_it(tmp_path, dialect, name, version, capabilities):
    with server(tmp_path, dialect, MEMORY_PATH=str(tmp_path)) as process:
        told = process.ask("initialize", HELLO)["result"]
        assert told["serverInfo"]["name"] == name and "instructions" not in told
        assert version in (None, told["serverInfo"]["version"])
        if capabilities:
            assert told["capabilities"] == capabilities
            assert process.ask("prompts/list")["error"]["code"] == -32601
        else:
            assert "tools" in told["capabilities"]
            assert process.ask("prompts/list")["result"] == {"prompts": []}
            assert process.ask("resources/list")["result"] == {"resources": []}
            assert told["capabilities"]["resources"]["subscribe"] is False


@pytest.mark.parametrize(
    "dialect, told",
    [
        ("anthropic", "MCP error -32602: Tool nope not found"),
        ("simple-memory", '{"error":"Unknown tool: nope"}'),
        ("mcp-memory", "Unknown tool: 'nope'"),
    ],
)
def test_an_unknown_tool_is_a_result(tmp_path, dialect, told):
    with server(tmp_path, dialect, MEMORY_PATH=str(tmp_path)) as process:
        process.write(call("nope"))
        assert process.read()["result"] == {"content": [{"type": "text", "text": told}], "isError": True}


# -- subscriptions


@pytest.fixture
def subscribed(tmp_path):
    """A server whose client has subscribed to the graph."""
    with server(tmp_path) as process:
        process.ask("initialize", HELLO)
        assert process.ask("resources/subscribe", GRAPH)["result"] == {}
        yield process


UPDATED = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": GRAPH}


def test_a_change_of_its_own_is_reported_with_the_answer(subscribed):
    said = create(subscribed, ANNA)
    assert UPDATED in said or says(subscribed, PATIENCE) == UPDATED


def test_a_change_by_another_process_is_reported(subscribed, tmp_path):
    with server(tmp_path) as other:
        create(other, ANNA)
    assert says(subscribed, PATIENCE) == UPDATED
    told = subscribed.ask("resources/read", GRAPH)["result"]["contents"][0]["text"]
    assert json.loads(told)["entities"] == [ANNA]


def test_a_call_that_changes_nothing_notifies_nobody(subscribed):
    create(subscribed, ANNA)
    while says(subscribed, 2):
        pass
    subscribed.write(call("read_graph", id=8))
    assert subscribed.read()["id"] == 8
    assert [said.get("id") for said in create(subscribed, ANNA)] == [5], "a name that is taken"
    assert says(subscribed, 2) is None


def test_nothing_is_sent_after_unsubscribing(subscribed):
    assert subscribed.ask("resources/unsubscribe", GRAPH)["result"] == {}
    assert [said.get("id") for said in create(subscribed, ANNA)] == [5]
    assert says(subscribed, 2) is None


def test_nor_before_subscribing(tmp_path):
    with server(tmp_path) as process:
        assert [said.get("id") for said in create(process, ANNA)] == [5]
        process.ask("resources/subscribe", GRAPH)
        assert says(process, 2) is None


def test_an_address_that_is_not_there_is_refused(subscribed):
    for method in ("resources/subscribe", "resources/unsubscribe"):
        for params in ({"uri": "memory://nowhere"}, {"uri": 7}, {}):
            assert "error" in subscribed.ask(method, params), (method, params)
            assert subscribed.ask("ping")["result"] == {}


def test_a_dialect_without_live_resources_has_no_subscriptions(tmp_path):
    with server(tmp_path, "mcp-memory") as process:
        assert process.ask("resources/subscribe", GRAPH)["error"]["code"] == -32601


# -- files


def lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_file_of_the_reference_is_imported_followed_and_complete_at_the_end(tmp_path):
    path = tmp_path / "memory.jsonl"
    path.write_text(json.dumps({"type": "entity", **ANNA}) + "\n{broken\n")
    with server(tmp_path, MEMORY_FILE_PATH=str(path)) as process:
        process.write(call("read_graph"))
        assert process.read()["result"]["structuredContent"]["entities"] == [ANNA]
        create(process, BOB)
        assert until(lambda: len(lines(path)) == 2), "while it runs"
        process.write(call("create_relations", {"relations": [KNOWS]}))
        process.read()
        process.end()
    assert lines(path) == [
        {"type": "entity", **ANNA},
        {"type": "entity", **BOB},
        {"type": "relation", **KNOWS},
    ]
    assert "{broken" in (tmp_path / "memory.jsonl.damaged").read_text()


def test_what_another_program_writes_while_it_runs_is_imported(tmp_path):
    path = tmp_path / "memory.jsonl"
    with server(tmp_path, MEMORY_FILE_PATH=str(path)) as process:
        create(process, ANNA)
        assert until(path.exists)
        path.write_text("\n".join(json.dumps({"type": "entity", **one}) for one in (ANNA, BOB)))

        def both() -> bool:
            process.write(call("read_graph"))
            return len(process.read()["result"]["structuredContent"]["entities"]) == 2

        assert until(both)


def test_two_servers_on_one_file_lose_nothing_and_bring_nothing_back(tmp_path):
    path = tmp_path / "memory.jsonl"
    with (
        server(tmp_path, MEMORY_FILE_PATH=str(path)) as one,
        server(tmp_path, MEMORY_FILE_PATH=str(path)) as other,
    ):
        for number in range(20):
            create(one, {**ANNA, "name": f"one {number}"})
            create(other, {**ANNA, "name": f"other {number}"})
            one.write(call("delete_entities", {"entityNames": [f"other {number}"]}))
            one.read()
        one.end()
        other.end()
    assert [line["name"] for line in lines(path)] == [f"one {number}" for number in range(20)]


@pytest.mark.parametrize("named", ["folder", "folder/graph.json"])
def test_the_file_of_simple_memory_is_imported_followed_and_complete_at_the_end(tmp_path, named):
    place = tmp_path / named
    path = place if place.suffix else place / "memory.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"entities": [ANNA], "relations": []}) + 'a": []}')
    with server(tmp_path, "simple-memory", MEMORY_PATH=str(place)) as process:
        process.write(call("search_nodes", {"query": "anna"}))
        assert json.loads(process.read()["result"]["content"][0]["text"]) == [ANNA]
        create(process, BOB)
        process.end()
    assert path.read_text() == json.dumps({"entities": [ANNA, BOB], "relations": []}, indent=2)
    assert path.with_name(path.name + ".damaged").exists()


def test_calls_in_a_row_are_all_kept(tmp_path):
    """The reference keeps one of twenty."""
    path = tmp_path / "memory.jsonl"
    with server(tmp_path, MEMORY_FILE_PATH=str(path)) as process:
        process.write(
            *(call("create_entities", {"entities": [{**ANNA, "name": str(id)}]}, id) for id in range(20))
        )
        answers, code = process.end()
    assert code == 0 and sorted(one["id"] for one in answers) == list(range(20))
    assert [line["name"] for line in lines(path)] == [str(id) for id in range(20)]


def test_a_file_that_cannot_be_written_is_no_reason_to_stop(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with server(tmp_path, MEMORY_FILE_PATH=str(tmp_path / "file" / "x.jsonl")) as process:
        [said] = create(process, ANNA)
        assert said["result"]["isError"] is False
        _, code = process.end()
    assert code == 0


# -- large graphs


def test_a_large_graph_is_read_whole_with_a_note_or_in_pages(tmp_path):
    entities = [{**ANNA, "name": f"e{number}", "observations": ["x" * 100]} for number in range(1_000)]
    with server(tmp_path) as process:
        create(process, *entities)
        process.write(call("read_graph"))
        result = process.read()["result"]
        assert result["structuredContent"]["entities"] == entities
        [block] = result["content"]
        graph = json.loads(block["text"])
        assert graph["entities"] == entities and "after" in graph["note"]
        process.write(call("read_graph", {"limit": 100, "after": "e899"}))
        page = process.read()["result"]
        assert page["structuredContent"]["entities"] == entities[900:]
        assert "note" not in json.loads(page["content"][0]["text"])


# -- the other ways in


def test_the_command_line_calls_any_dialect(cli):
    made = cli("call", "anthropic", "create_entities", json.dumps({"entities": [ANNA]}))
    assert made.code == 0 and json.loads(made.out) == {"entities": [ANNA]}
    assert json.loads(cli("call", "simple-memory", "search_nodes", '{"query": "ann"}').out) == [ANNA]
    assert cli("call", "anthropic", "nope", "{}").code != 0
    assert cli("call", "anthropic", "open_nodes", "{}").code != 0
    failed = cli(
        "call", "anthropic", "add_observations", '{"observations": [{"entityName": "x", "contents": []}]}'
    )
    assert failed.code != 0 and "Entity with name x not found" in failed.out + failed.err


def test_rest_calls_any_dialect(ctx):
    spoken = {name: dialect(name) for name in DIALECTS}
    with serving(ctx, dialects=spoken) as address, httpx.Client(base_url=f"{address}/api/v1/tools") as http:
        made = http.post("/simple-memory/create_entities", json={"entities": [ANNA]})
        assert made.status_code == 200 and made.json() == [ANNA]
        assert made.headers["content-type"] == "application/json"
        assert http.post("/simple-memory/open_nodes", json={"names": ["Anna", "x"]}).json() == [ANNA]
        found = http.post("/mcp-memory/search_nodes", json={"query": "anna"}).json()
        assert found["entities"][0]["name"] == "Anna"
        bad = http.post("/simple-memory/open_nodes", json={})
        assert bad.status_code == 400 and bad.json()["error"] == "names: required"
        assert http.post("/simple-memory/nope", json={}).status_code == 404
        assert http.post("/nope/open_nodes", json={}).status_code == 404


def test_the_variables_of_a_test_are_its_own(tmp_path, monkeypatch):
    monkeypatch.setenv("MEMORY_FILE_PATH", "somewhere")
    assert "MEMORY_FILE_PATH" not in environment(tmp_path)
