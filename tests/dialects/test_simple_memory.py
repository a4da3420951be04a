"""The dialect of Simple Memory: bare lists as text, overwriting, and silence about what is missing."""

from __future__ import annotations

import json

import pytest
from dialect_client import DialectClient, a_relation, an_entity
from support import everything

from mnemic.dialects.graph_page import READABLE
from mnemic.dialects.simple_memory.dialect import SIMPLE_MEMORY

ANNA, BOB = an_entity("Anna", "kind"), an_entity("Bob", "tall", "old", "tall")
KNOWS = a_relation("Anna", "Bob", "knows")


@pytest.fixture
def speak(ctx):
    return DialectClient(SIMPLE_MEMORY, ctx)


@pytest.fixture
def known(speak):
    """Anna, who knows Bob."""
    speak.ok("create_entities", entities=[ANNA, BOB])
    speak.ok("create_relations", relations=[KNOWS])
    return speak


def graph(speak):
    return speak.ok("read_graph")


def test_nine_tools_are_listed_without_an_output_schema(speak):
    listed = speak.say("tools/list")["tools"]
    assert [tool["name"] for tool in listed] == [
        "create_entities",
        "create_relations",
        "add_observations",
        "delete_entities",
        "delete_observations",
        "delete_relations",
        "read_graph",
        "search_nodes",
        "open_nodes",
    ]
    assert all("outputSchema" not in tool for tool in listed)
    item = listed[0]["inputSchema"]["properties"]["entities"]["items"]
    assert item["required"] == ["name", "entityType", "observations"]


@pytest.mark.parametrize(
    "tool, told",
    [
        ("create_relations", "Type of relationship (e.g., works_for, knows, manages)"),
        ("delete_relations", "Relationship type"),
    ],
)
def test_relations_are_described_as_documented(speak, tool, told):
    [listed] = [one for one in speak.say("tools/list")["tools"] if one["name"] == tool]
    item = listed["inputSchema"]["properties"]["relations"]["items"]
    assert item["required"] == ["from", "to", "relationType"]
    assert {name: part["description"] for name, part in item["properties"].items()} == {
        "from": "Source entity name",
        "to": "Target entity name",
        "relationType": told,
    }


@pytest.mark.parametrize(
    "tool, arguments, told",
    [
        ("create_entities", {"entities": [an_entity("Carl")]}, [an_entity("Carl")]),
        ("create_relations", {"relations": [KNOWS]}, [KNOWS]),
        (
            "add_observations",
            {"observations": [{"entityName": "Nobody", "contents": ["x"]}]},
            [{"entityName": "Nobody", "contents": ["x"]}],
        ),
        ("delete_entities", {"entityNames": ["Nobody", "Anna"]}, [ANNA]),
        (
            "delete_observations",
            {"deletions": [{"entityName": "Bob", "observations": ["small"]}]},
            [{"entityName": "Bob", "observations": ["small"]}],
        ),
        ("delete_relations", {"relations": [a_relation("a", "b", "c"), KNOWS]}, [KNOWS]),
        ("read_graph", {}, {"entities": [ANNA, BOB], "relations": [KNOWS]}),
        ("search_nodes", {"query": "TALL"}, [BOB]),
        ("open_nodes", {"names": ["Bob", "Nobody", "Anna", "Bob"]}, [BOB, ANNA, BOB]),
    ],
)
def test_an_answer_is_json_in_one_line_and_nothing_beside_it(known, tool, arguments, told):
    answer = known(tool, **arguments)
    assert not answer.is_error and answer.structured is None and len(answer.content) == 1
    assert answer.text == json.dumps(told, separators=(",", ":"))


def test_a_name_that_is_taken_is_overwritten_in_its_place(known):
    new = an_entity("Anna", "mean", kind="cat")
    assert known.ok("create_entities", entities=[an_entity("Carl"), new]) == [new, an_entity("Carl")]
    assert graph(known) == {"entities": [new, BOB, an_entity("Carl")], "relations": [KNOWS]}


def test_a_name_twice_in_one_call_is_its_last(speak):
    last = an_entity("Anna", "b")
    assert speak.ok("create_entities", entities=[an_entity("Anna", "a"), last]) == [last]


def test_relations_repeat_and_dangle(known):
    dangling = a_relation("Anna", "Nobody", "knows")
    known.ok("create_relations", relations=[KNOWS, dangling])
    assert graph(known)["relations"] == [KNOWS, KNOWS, dangling]
    assert known.ok("delete_relations", relations=[KNOWS]) == [KNOWS]
    assert graph(known)["relations"] == [KNOWS, dangling], "the first of those that are equal"


def test_what_is_not_known_in_a_request_is_echoed_but_not_kept(known):
    given = {**a_relation("Bob", "Anna", "knows"), "since": 2020}
    assert known.ok("create_relations", relations=[given]) == [given]
    assert graph(known)["relations"][-1] == a_relation("Bob", "Anna", "knows")
    more = {"entityName": "Anna", "contents": ["x"], "why": "y"}
    assert known.ok("add_observations", observations=[more]) == [more]
    assert known.ok("create_entities", entities=[{**ANNA, "color": "blue"}]) == [ANNA]


def test_observations_repeat_and_go_one_at_a_time(known):
    known.ok("add_observations", observations=[{"entityName": "Anna", "contents": ["kind"]}])
    assert graph(known)["entities"][0] == an_entity("Anna", "kind", "kind")
    known.ok("delete_observations", deletions=[{"entityName": "Bob", "observations": ["tall"]}])
    assert graph(known)["entities"][1] == an_entity("Bob", "old", "tall")


def test_a_deleted_entity_takes_its_relations_along(known):
    known.ok("delete_entities", entityNames=["Bob"])
    assert graph(known) == {"entities": [ANNA], "relations": []}


def test_an_empty_search_finds_all(known):
    assert known.ok("search_nodes", query="") == [ANNA, BOB]


@pytest.mark.parametrize(
    "tool, arguments, told",
    [
        ("create_entities", {}, "entities: required"),
        ("create_entities", {"entities": [{"name": "x"}]}, "entities.0.entityType: required"),
        ("open_nodes", {"names": "Anna"}, "names: "),
        ("create_relations", {"relations": [{"from": "a", "to": "b"}]}, "relations.0.relationType: required"),
        ("create_entities", {"entities": [an_entity("a\0b")]}, "NUL"),
    ],
)
def test_bad_arguments_are_an_error_and_change_nothing(known, ctx, tool, arguments, told):
    before = everything(ctx.store)
    answer = known(tool, **arguments)
    assert answer.is_error and told in answer.json["error"]
    assert everything(ctx.store) == before


def test_an_unknown_tool_is_an_error(speak):
    answer = speak("nope")
    assert answer.is_error and answer.text == '{"error":"Unknown tool: nope"}'


@pytest.mark.parametrize(
    "named, path", [("dir", "dir/memory.json"), ("x.json", "x.json"), ("a.b", "a.b/memory.json")]
)
def test_the_file_is_named_by_the_environment(tmp_path, named, path):
    mirror = SIMPLE_MEMORY.mirror({"MEMORY_PATH": str(tmp_path / named)})
    assert mirror.path == (tmp_path / path).resolve()


def test_what_is_there_counts_before_its_name(tmp_path):
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "file.txt").write_text("{}")
    for named, path in (("folder.json", "folder.json/memory.json"), ("file.txt", "file.txt")):
        mirror = SIMPLE_MEMORY.mirror({"MEMORY_PATH": str(tmp_path / named)})
        assert mirror.path == (tmp_path / path).resolve()


def test_or_is_that_of_cursor(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert SIMPLE_MEMORY.mirror({}).path == (tmp_path / ".cursor" / "memory.json").resolve()


def test_a_large_graph_is_read_in_pages_and_says_so(speak):
    speak.ok(
        "create_entities",
        entities=[an_entity("First", *["x" * (READABLE // 2)] * 2), an_entity("Second", "y")],
    )
    whole = speak("read_graph")
    assert [one["name"] for one in whole.json["entities"]] == ["First", "Second"]
    assert "limit" in whole.json["note"]
    page = speak("read_graph", limit=1, after="First")
    assert [one["name"] for one in page.json["entities"]] == ["Second"] and "note" not in page.json


@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("create_entities", {"entities": [an_entity("Long", *["x" * (READABLE // 2)] * 2)]}),
        ("search_nodes", {"query": "x"}),
        ("open_nodes", {"names": ["Long"]}),
        ("delete_entities", {"entityNames": ["Long"]}),
    ],
)
def test_no_other_answer_has_a_note(speak, tool, arguments):
    speak.ok("create_entities", entities=[an_entity("Long", *["x" * (READABLE // 2)] * 2)])
    answer = speak(tool, **arguments)
    assert "note" not in answer.text and len(answer.text) > READABLE
