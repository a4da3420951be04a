"""The dialect of the reference server: its tools to the letter, its texts, objects and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from dialect_client import DialectClient, a_relation, an_entity
from support import everything

from mnemic.dialects.anthropic import dialect as anthropic
from mnemic.dialects.anthropic.dialect import ANTHROPIC
from mnemic.dialects.graph_page import READABLE
from mnemic.dialects.json_schema import without_closure
from mnemic.model.access import Grant

REFERENCE = json.loads(Path(__file__).with_name("reference_tools.json").read_text())
ANNA, BOB = an_entity("Anna", "kind"), an_entity("Bob", "tall", "tall")
KNOWS = a_relation("Anna", "Bob", "knows")


@pytest.fixture
def speak(ctx):
    return DialectClient(ANTHROPIC, ctx)


@pytest.fixture
def known(speak):
    """Anna, who knows Bob."""
    speak.ok("create_entities", entities=[ANNA, BOB])
    speak.ok("create_relations", relations=[KNOWS])
    return speak


def graph(speak):
    return speak.ok("read_graph")


def test_the_list_of_tools_is_that_of_the_reference(speak):
    taken = [{**tool, "inputSchema": without_closure(tool["inputSchema"])} for tool in REFERENCE["tools"]]
    assert speak.say("tools/list") == {**REFERENCE, "tools": taken}, (
        "but for what Gemini's converter fails at"
    )


# -- texts and objects


@pytest.mark.parametrize(
    "tool, arguments, spoken, structured",
    [
        (
            "create_entities",
            {"entities": [an_entity("Carl", "x", "x"), ANNA]},
            [an_entity("Carl", "x", "x")],
            {"entities": [an_entity("Carl", "x", "x")]},
        ),
        ("create_entities", {"entities": []}, [], {"entities": []}),
        (
            "create_relations",
            {"relations": [KNOWS, a_relation("Anna", "Nobody", "r")]},
            [a_relation("Anna", "Nobody", "r")],
            {"relations": [a_relation("Anna", "Nobody", "r")]},
        ),
        (
            "add_observations",
            {"observations": [{"entityName": "Anna", "contents": ["kind", "old"]}]},
            [{"entityName": "Anna", "addedObservations": ["old"]}],
            {"results": [{"entityName": "Anna", "addedObservations": ["old"]}]},
        ),
        (
            "search_nodes",
            {"query": "ANN"},
            {"entities": [ANNA], "relations": [KNOWS]},
            {"entities": [ANNA], "relations": [KNOWS]},
        ),
        (
            "open_nodes",
            {"names": ["Bob", "Nobody", "Anna", "Bob"]},
            {"entities": [ANNA, BOB], "relations": [KNOWS]},
            {"entities": [ANNA, BOB], "relations": [KNOWS]},
        ),
        ("open_nodes", {"names": []}, {"entities": [], "relations": []}, {"entities": [], "relations": []}),
        (
            "read_graph",
            {},
            {"entities": [ANNA, BOB], "relations": [KNOWS]},
            {"entities": [ANNA, BOB], "relations": [KNOWS]},
        ),
    ],
)
def test_an_answer_is_text_of_two_spaces_and_the_same_as_an_object(
    known, tool, arguments, spoken, structured
):
    answer = known(tool, **arguments)
    assert not answer.is_error and len(answer.content) == 1
    assert answer.text == json.dumps(spoken, indent=2, ensure_ascii=False)
    assert answer.structured == structured


@pytest.mark.parametrize(
    "tool, arguments, message",
    [
        ("delete_entities", {"entityNames": ["Anna", "Nobody"]}, "Entities deleted successfully"),
        (
            "delete_observations",
            {"deletions": [{"entityName": name, "observations": ["tall"]} for name in ("Bob", "Nobody")]},
            "Observations deleted successfully",
        ),
        ("delete_relations", {"relations": [KNOWS, KNOWS]}, "Relations deleted successfully"),
    ],
)
def test_a_deletion_is_a_message_whatever_was_there(known, tool, arguments, message):
    for _ in range(2):
        answer = known(tool, **arguments)
        assert answer.text == message and not answer.is_error
        assert answer.structured == {"success": True, "message": message}


def test_what_is_deleted_is_gone(known):
    known("delete_observations", deletions=[{"entityName": "Bob", "observations": ["tall"]}])
    assert graph(known)["entities"] == [ANNA, an_entity("Bob")], "all that are equal"
    known("delete_relations", relations=[KNOWS])
    assert graph(known)["relations"] == []
    known("delete_entities", entityNames=["Anna"])
    assert graph(known) == {"entities": [an_entity("Bob")], "relations": []}


def test_text_that_is_not_latin_is_reported_as_it_is(speak):
    answer = speak("create_entities", entities=[an_entity("Zoë 日本 😀", 'a "b"\n')])
    assert "Zoë 日本 😀" in answer.text and answer.json == [an_entity("Zoë 日本 😀", 'a "b"\n')]


# -- rules


def test_a_name_that_is_taken_is_kept_as_it_is(known):
    assert known.ok("create_entities", entities=[an_entity("Anna", "mean", kind="cat")]) == []
    assert graph(known)["entities"][0] == ANNA


def test_a_name_twice_in_one_call_is_one(speak):
    made = speak.ok("create_entities", entities=[ANNA, an_entity("Anna", "other")])
    assert made == [ANNA] == graph(speak)["entities"]


def test_search_matches_name_type_and_observation_and_everything_when_empty(known):
    for query in ("", "PERSON", "n"):
        assert len(known.ok("search_nodes", query=query)["entities"]) >= 1
    assert known.ok("search_nodes", query="") == graph(known)
    assert known.ok("search_nodes", query="zebra") == {"entities": [], "relations": []}


def test_relations_with_one_end_among_the_found_are_reported(known):
    assert known.ok("open_nodes", names=["Bob"]) == {"entities": [BOB], "relations": [KNOWS]}


def test_an_unknown_entity_fails_the_whole_call(known, ctx):
    before = everything(ctx.store)
    additions = [{"entityName": name, "contents": ["new"]} for name in ("Anna", "Nobody")]
    answer = known("add_observations", observations=additions)
    assert answer.is_error and answer.text == "Entity with name Nobody not found"
    assert answer.structured is None
    assert everything(ctx.store) == before


# -- bad arguments


@pytest.mark.parametrize(
    "tool, arguments, complaint",
    [
        ("create_entities", {}, "Invalid input: expected array, received undefined at entities"),
        (
            "create_entities",
            {"entities": "Anna"},
            "Invalid input: expected array, received string at entities",
        ),
        (
            "create_entities",
            {"entities": [ANNA, {"name": 7, "entityType": None, "observations": [True]}]},
            "Invalid input: expected string, received number at entities[1].name\n"
            "Invalid input: expected string, received null at entities[1].entityType\n"
            "Invalid input: expected string, received boolean at entities[1].observations[0]",
        ),
        ("open_nodes", {"names": {}}, "Invalid input: expected array, received object at names"),
        ("search_nodes", {"query": ["x"]}, "Invalid input: expected string, received array at query"),
        (
            "delete_relations",
            {"relations": [{"from": "a", "relationType": "r"}]},
            "Invalid input: expected string, received undefined at relations[0].to",
        ),
    ],
)
def test_bad_arguments_are_a_result_in_the_words_of_the_reference(known, ctx, tool, arguments, complaint):
    before = everything(ctx.store)
    answer = known(tool, **arguments)
    told = f"MCP error -32602: Input validation error: Invalid arguments for tool {tool}: {complaint}"
    assert answer.is_error and answer.text == told
    assert everything(ctx.store) == before


@pytest.mark.parametrize("bad, told", [("a\0b", "NUL"), ("\ud800", "surrogate")])
def test_what_cannot_be_kept_as_it_is_is_refused(speak, bad, told):
    answer = speak("create_entities", entities=[an_entity("Anna", bad)])
    assert answer.is_error and told in answer.text and "entities[0].observations[0]" in answer.text


def test_arguments_that_are_not_known_are_passed_over(speak):
    made = speak.ok("create_entities", entities=[{**ANNA, "color": "blue"}], reason="none")
    assert made == [ANNA]


def test_an_unknown_tool_is_a_result(speak):
    answer = speak("nope")
    assert answer.is_error and answer.text == "MCP error -32602: Tool nope not found"


def test_a_read_only_token_is_refused_with_the_reason(known, ctx):
    answer = DialectClient(ANTHROPIC, ctx.limited_to(Grant(None, can_write=False)))(
        "delete_entities", entityNames=["Anna"]
    )
    assert answer.is_error and "may read but not write" in answer.text


# -- large graphs


def test_pages_of_the_graph(known):
    assert known.ok("read_graph", limit=1) == {"entities": [ANNA], "relations": [KNOWS]}
    assert known.ok("read_graph", limit=1, after="Anna") == {"entities": [BOB], "relations": [KNOWS]}
    assert known.ok("read_graph", after="Bob") == {"entities": [], "relations": []}
    assert known("read_graph", after="Nobody").text == "Entity with name Nobody not found"


@pytest.mark.parametrize(
    "arguments, told",
    [
        ({"limit": 0}, "Input should be greater than or equal to 1 at limit"),
        ({"limit": 10_001}, "Input should be less than or equal to 10000 at limit"),
        ({"limit": "many"}, "Input should be a valid integer, unable to parse string as an integer at limit"),
        ({"after": 7}, "Input should be a valid string at after"),
        ({"after": "a\0b"}, "contains a NUL character at after"),
    ],
)
def test_an_invalid_page_is_refused_with_the_reason(speak, arguments, told):
    answer = speak("read_graph", **arguments)
    assert answer.is_error and answer.text.endswith(f"Invalid arguments for tool read_graph: {told}")


def test_pages_together_are_the_whole(speak):
    entities = [an_entity(f"e{number}") for number in range(25)]
    relations = [a_relation(f"e{number}", "e0", "r") for number in range(1, 25)]
    speak.ok("create_entities", entities=entities)
    speak.ok("create_relations", relations=relations)
    seen, linked, after = [], [], {}
    while page := speak.ok("read_graph", limit=10, **after)["entities"]:
        seen += page
        linked += speak.ok("read_graph", limit=10, **after)["relations"]
        after = {"after": page[-1]["name"]}
    assert seen == entities
    assert {one["from"] for one in linked} == {one["from"] for one in relations}


def test_a_graph_that_clients_may_cut_says_how_to_read_on(speak):
    speak.ok("create_entities", entities=[an_entity("Long", *["x" * (READABLE // 2 + 1)] * 2)])
    answer = speak("read_graph")
    assert len(answer.json["entities"]) == 1, "the answer itself is whole"
    assert "limit" in answer.json["note"] and "after" in answer.json["note"]
    assert answer.structured.keys() == {"entities", "relations"}


@pytest.mark.parametrize(
    "tool, arguments", [("search_nodes", {"query": "x"}), ("open_nodes", {"names": ["Long"]})]
)
def test_no_other_answer_has_a_note(speak, tool, arguments):
    speak.ok("create_entities", entities=[an_entity("Long", *["x" * (READABLE // 2 + 1)] * 2)])
    answer = speak(tool, **arguments)
    assert len(answer.json["entities"]) == 1 and "note" not in answer.json


# -- the resource


def test_the_graph_is_a_resource(known):
    [listed] = known.say("resources/list")["resources"]
    assert listed == {
        "uri": "memory://knowledge-graph",
        "name": "knowledge-graph",
        "title": "Knowledge Graph",
        "description": "The full knowledge graph with all entities and relations",
        "mimeType": "application/json",
    }
    [content] = known.say("resources/read", uri="memory://knowledge-graph")["contents"]
    assert content["mimeType"] == "application/json"
    assert content["text"] == known("read_graph").text


# -- the file


def test_the_file_is_named_by_the_environment(tmp_path, monkeypatch):
    monkeypatch.setattr(anthropic, "data_folder", lambda: tmp_path / "data")
    monkeypatch.setenv("HOME", str(tmp_path))
    for named, path in [
        (str(tmp_path / "x.jsonl"), tmp_path / "x.jsonl"),
        ("x.jsonl", tmp_path / "data" / "x.jsonl"),
        ("~/x.jsonl", tmp_path / "x.jsonl"),
    ]:
        assert ANTHROPIC.mirror({"MEMORY_FILE_PATH": named}).path == path.resolve()
    assert ANTHROPIC.mirror({}) is None and ANTHROPIC.mirror({"MEMORY_FILE_PATH": ""}) is None
