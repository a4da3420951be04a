"""The workspace tools of AgenticMemory: their answers, their words for what is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from amem_files import CORRECTED, a_file
from dialect_client import DialectClient
from support import kept, open_store

from mnemic.app import dialect
from mnemic.core.context import Context
from mnemic.core.resources import Resources
from mnemic.core.sessions import log_turn


@pytest.fixture
def here(ctx: Context, tmp_path: Path) -> Context:
    return replace(ctx, roots=(tmp_path.resolve(),))


@pytest.fixture
def amem(here: Context) -> DialectClient:
    return DialectClient(dialect("agentic-memory"), here)


@pytest.fixture
def office(ctx: Context, tmp_path: Path) -> str:
    store = open_store("sqlite", tmp_path, "work")
    kept(replace(ctx, store=store), "Cedar planks lie in hall two", kind="skill", confidence=0.6)
    kept(replace(ctx, store=store), "Cranes lift steel", kind="gossip")
    store.close()
    return str(tmp_path / "work.db")


@pytest.fixture
def garden(tmp_path: Path) -> str:
    return str(a_file(tmp_path / "greenhouse.amem"))


@pytest.fixture
def both(amem: DialectClient, office: str, garden: str) -> str:
    """A workspace of two files."""
    ws = str(amem.ok("memory_workspace_create", name="planning")["workspace_id"])
    amem.ok("memory_workspace_add", workspace_id=ws, path=office, label="office")
    amem.ok("memory_workspace_add", workspace_id=ws, path=garden, role="reference")
    return ws


def test_workspaces_are_numbered(amem: DialectClient):
    made = [amem.ok("memory_workspace_create", name=name) for name in ("one", "one")]
    assert made == [
        {"workspace_id": "ws_1", "name": "one", "status": "created"},
        {"workspace_id": "ws_2", "name": "one", "status": "created"},
    ]


def test_a_file_is_added_as_a_context(amem: DialectClient, office: str, garden: str):
    amem.ok("memory_workspace_create", name="first")
    ws = amem.ok("memory_workspace_create", name="second")["workspace_id"]
    added = amem.ok("memory_workspace_add", workspace_id=ws, path=office)
    assert added == {
        "context_id": "ctx_1_ws_2",
        "workspace_id": "ws_2",
        "path": office,
        "role": "primary",
        "label": "work",
        "status": "added",
    }
    again = amem.ok("memory_workspace_add", workspace_id=ws, path=garden, role="ARCHIVE", label="old")
    assert (again["context_id"], again["role"], again["label"]) == ("ctx_2_ws_2", "archive", "old")


def test_contexts_are_listed_with_how_much_they_hold(
    amem: DialectClient, both: str, office: str, garden: str
):
    listed = amem.ok("memory_workspace_list", workspace_id=both)
    assert (listed["workspace_id"], listed["count"]) == (both, 2)
    assert listed["contexts"] == [
        {
            "context_id": "ctx_1_ws_1",
            "role": "primary",
            "path": office,
            "label": "office",
            "node_count": 2,
            "edge_count": 0,
        },
        {
            "context_id": "ctx_2_ws_1",
            "role": "reference",
            "path": garden,
            "label": "greenhouse",
            "node_count": 3,
            "edge_count": 1,
        },
    ]


def test_a_query_answers_by_context(amem: DialectClient, both: str):
    answer = amem.ok("memory_workspace_query", workspace_id=both, query="cedar")
    assert (answer["workspace_id"], answer["query"]) == (both, "cedar")
    assert (answer["total_matches"], answer["contexts_searched"]) == (2, 2)
    office, garden = answer["results"]
    assert (office["context_id"], office["context_role"], office["match_count"]) == (
        "ctx_1_ws_1",
        "primary",
        1,
    )
    [match] = office["matches"]
    assert match.pop("score") > 0
    assert match == {
        "node_id": 1,
        "content": "Cedar planks lie in hall two",
        "event_type": "skill",
        "confidence": 0.6,
    }
    [match] = garden["matches"]
    assert (match["node_id"], match["event_type"], match["confidence"]) == (1, "decision", 0.75)


def test_kinds_that_are_no_event_types_are_shown_as_the_nearest(
    amem: DialectClient, both: str, here: Context, office: str
):
    [steel] = amem.ok("memory_workspace_query", workspace_id=both, query="steel")["results"][0]["matches"]
    assert steel["event_type"] == "fact"
    store = open_store("sqlite", Path(office).parent, Path(office).stem)
    log_turn(replace(here, store=store), "Where is the zeppelin?", None)
    store.close()
    [turn] = amem.ok("memory_workspace_query", workspace_id=both, query="zeppelin")["results"][0]["matches"]
    assert turn["event_type"] == "inference"
    assert turn["content"].startswith("[conversation_meta] {")


def test_matches_are_limited(amem: DialectClient, both: str):
    def found(tool: str, **more: object) -> dict:
        return amem.ok(tool, workspace_id=both, **more)

    assert found("memory_workspace_query", query="greenhouse")["total_matches"] == 3
    assert found("memory_workspace_query", query="greenhouse", max_per_context=1)["total_matches"] == 1
    [detail] = found("memory_workspace_compare", item="greenhouse", max_per_context=2)["details"]
    assert (detail["context"], len(detail["matches"])) == ("greenhouse", 2)
    for tool, word in (("memory_workspace_query", "query"), ("memory_workspace_compare", "item")):
        refused = amem(tool, workspace_id=both, max_per_context=-1, **{word: "x"})
        assert refused.is_error and "max_per_context" in refused.text


def test_a_comparison_tells_where_a_topic_is_and_where_not(amem: DialectClient, both: str):
    answer = amem.ok("memory_workspace_compare", workspace_id=both, item="cedar")
    assert (answer["item"], answer["found_in"], answer["missing_from"]) == (
        "cedar",
        ["office", "greenhouse"],
        [],
    )
    assert [detail["context"] for detail in answer["details"]] == ["office", "greenhouse"]
    answer = amem.ok("memory_workspace_compare", workspace_id=both, item="cranes")
    assert (answer["found_in"], answer["missing_from"]) == (["office"], ["greenhouse"])
    assert [detail["context"] for detail in answer["details"]] == ["office"]


def test_a_cross_reference_counts(amem: DialectClient, both: str):
    def told(item: str) -> tuple[list[str], list[str], str]:
        answer = amem.ok("memory_workspace_xref", workspace_id=both, item=item)
        assert answer["item"] == item
        return answer["present_in"], answer["absent_from"], answer["coverage"]

    assert told("pellets") == (["greenhouse"], ["office"], "1/2")
    assert told("cedar") == (["office", "greenhouse"], [], "2/2")
    assert told("zebras") == ([], ["office", "greenhouse"], "0/2")


def test_a_file_that_is_gone_is_reported_beside_the_others(amem: DialectClient, both: str, garden: str):
    Path(garden).unlink()
    listed = amem.ok("memory_workspace_list", workspace_id=both)
    assert listed["count"] == 2
    assert listed["contexts"][1]["error"] == f"File not found: {garden}"
    assert "error" not in listed["contexts"][0]
    query = amem.ok("memory_workspace_query", workspace_id=both, query="cedar")
    assert (query["total_matches"], query["contexts_searched"]) == (1, 1)
    assert query["results"][1]["error"] and query["results"][1]["matches"] == []
    compared = amem.ok("memory_workspace_compare", workspace_id=both, item="cedar")
    assert (compared["found_in"], compared["missing_from"]) == (["office"], [])
    assert compared["errors"] == [{"context": "greenhouse", "error": f"File not found: {garden}"}]
    assert amem.ok("memory_workspace_xref", workspace_id=both, item="cedar")["coverage"] == "1/2"


def test_workspaces_survive_a_restart(amem: DialectClient, both: str, here: Context, fresh):
    again = DialectClient(dialect("agentic-memory"), replace(here, store=fresh(), resources=Resources()))
    assert again.ok("memory_workspace_list", workspace_id=both)["count"] == 2
    assert again.ok("memory_workspace_xref", workspace_id=both, item="cedar")["coverage"] == "2/2"
    assert again.ok("memory_workspace_create", name="next")["workspace_id"] == "ws_2"


@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("memory_workspace_list", {}),
        ("memory_workspace_query", {"query": "x"}),
        ("memory_workspace_compare", {"item": "x"}),
        ("memory_workspace_xref", {"item": "x"}),
        ("memory_workspace_add", {"path": "x.amem"}),
    ],
)
@pytest.mark.parametrize(
    "name", ["ws_999", "planning", "1", "ws_", "ws_-1", "ws_1 ", "ws_99999999999999999999", ""]
)
def test_a_workspace_that_is_not_there_is_an_error(
    amem: DialectClient, both: str, tool: str, arguments: dict, name: str
):
    answer = amem(tool, workspace_id=name, **arguments)
    assert answer.is_error
    assert answer.text == f"Invalid params: Workspace not found: {name}"


def test_what_cannot_be_added_is_reported_in_its_words(
    amem: DialectClient, both: str, tmp_path: Path, garden: str
):
    def refused(**more: object) -> str:
        answer = amem("memory_workspace_add", **{"workspace_id": both, "path": garden, **more})
        assert answer.is_error
        return answer.text

    missing = str(tmp_path / "nowhere.amem")
    assert refused(path=missing) == f"Invalid params: File not found: {missing}"
    too_long = str(tmp_path / ("x" * 5000))
    assert refused(path=too_long) == f"Invalid params: File not found: {too_long}"
    assert refused(role="boss") == (
        "Invalid params: Invalid role: boss. Use primary/secondary/reference/archive"
    )
    assert "below" in refused(path="/etc/passwd")
    (tmp_path / "text.amem").write_text("hello")
    assert "text.amem is neither" in refused(path=str(tmp_path / "text.amem"))
    (tmp_path / "cut.amem").write_bytes(Path(garden).read_bytes()[:100])
    assert "cut.amem: The file is damaged" in refused(path=str(tmp_path / "cut.amem"))
    assert amem.ok("memory_workspace_list", workspace_id=both)["count"] == 2


def test_a_correction_hides_what_it_corrected(amem: DialectClient, tmp_path: Path):
    ws = amem.ok("memory_workspace_create", name="w")["workspace_id"]
    amem.ok("memory_workspace_add", workspace_id=ws, path=str(a_file(tmp_path / "pump.amem", CORRECTED)))
    assert amem.ok("memory_workspace_list", workspace_id=ws)["contexts"][0]["node_count"] == 2
    [match] = amem.ok("memory_workspace_query", workspace_id=ws, query="pump")["results"][0]["matches"]
    assert (match["node_id"], match["content"]) == (5, "The pump is blue")


def test_defaults_stand_in_the_schemas(amem: DialectClient):
    listed = {tool["name"]: tool["inputSchema"] for tool in amem.say("tools/list")["tools"]}
    add = listed["memory_workspace_add"]
    assert set(add["properties"]) == {"workspace_id", "path", "role", "label"}
    assert (add["required"], add["properties"]["role"]["default"]) == (["workspace_id", "path"], "primary")
    assert listed["memory_workspace_query"]["properties"]["max_per_context"]["default"] == 10
    assert listed["memory_workspace_compare"]["properties"]["max_per_context"]["default"] == 5
