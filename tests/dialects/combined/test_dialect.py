"""The dialect `all`: every tool once, in its own words, and shared names that serve everyone who has them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest
from dialect_client import DialectClient, a_relation, an_entity
from support import last_number

from mnemic.app import DIALECTS, EVERY, dialect
from mnemic.dialects.combined.dialect import shared_tools
from mnemic.dialects.graph_page import READABLE

ANNA, BOB = an_entity("Anna", "kind"), an_entity("Bob", "tall")
KNOWS = a_relation("Anna", "Bob", "knows")


def spoken():
    return {name: dialect(name) for name in DIALECTS}


def users(tool):
    """The dialects that have *tool*."""
    return [name for name, one in spoken().items() if tool in one.operations]


@pytest.fixture
def speak(ctx):
    return DialectClient(dialect(EVERY), ctx)


@pytest.fixture
def known(speak):
    """Two entities and a relation."""
    speak.ok("create_entities", entities=[ANNA, BOB])
    speak.ok("create_relations", relations=[KNOWS])
    return speak


# -- what there is


def test_every_tool_is_listed_once_with_its_dialects(speak):
    tools = speak.say("tools/list")["tools"]
    names = Counter(tool["name"] for tool in tools)
    assert set(names) == {name for one in spoken().values() for name in one.operations}
    assert set(names.values()) == {1}
    for tool in tools:
        assert tool["description"].endswith(f"[{', '.join(users(tool['name']))}]")


def test_the_shared_names_are_those_that_several_have():
    counted = Counter(name for one in spoken().values() for name in (*one.operations, *one.aliases))
    assert {name for name, count in counted.items() if count > 1} == set(shared_tools().operations)


def test_a_tool_of_one_dialect_is_listed_as_there(speak):
    listed = {tool["name"]: tool for tool in speak.say("tools/list")["tools"]}
    for one in spoken().values():
        for name, operation in one.operations.items():
            if name not in shared_tools().operations:
                there = one.listed(operation)
                assert {**listed[name], "description": there["description"]} == there


@pytest.mark.parametrize("tool", shared_tools().operations)
def test_the_schema_of_a_shared_name_takes_every_shape(speak, tool):
    listed = {each["name"]: each["inputSchema"] for each in speak.say("tools/list")["tools"]}[tool]
    theirs = [dialect(name).listed(dialect(name).operations[tool])["inputSchema"] for name in users(tool)]
    assert set(listed["properties"]) == {name for one in theirs for name in one["properties"]}
    required = set.intersection(*(set(one.get("required", ())) for one in theirs))
    assert set(listed.get("required", ())) == required


def test_prompts_and_resources_of_all(speak):
    prompts = [prompt["name"] for prompt in speak.say("prompts/list")["prompts"]]
    assert len(prompts) == len(set(prompts)) == sum(len(one.prompts) for one in spoken().values())
    assert {"recall-first", "mnemic-recall-first", "memory-workflow", "summarize"} <= set(prompts)
    [native, other] = (
        speak.say("prompts/get", name=name)["messages"] for name in ("mnemic-recall-first", "recall-first")
    )
    assert "`recall`" in str(native) and "memory_recall" in str(other)
    addresses = [one["uri"] for one in speak.say("resources/list")["resources"]]
    assert {"memory://knowledge-graph", "amem://graph/stats"} <= set(addresses)
    templates = [one["uriTemplate"] for one in speak.say("resources/templates/list")["resourceTemplates"]]
    assert {"mnemic://memory/{id}", "amem://node/{id}"} <= set(templates)
    assert len(addresses + templates) == len({*addresses, *templates})


def test_resources_are_read(known):
    [graph] = known.say("resources/read", uri="memory://knowledge-graph")["contents"]
    assert json.loads(graph["text"]) == {"entities": [ANNA, BOB], "relations": [KNOWS]}


# -- tools of one dialect


def test_each_tool_answers_as_it_does_at_home(ctx, known):
    for name, tool, arguments in [
        ("ai-memory", "memory_search", {"query": "kind"}),
        ("ai-memory", "memory_list", {"format": "json"}),
        ("agentic-memory", "memory_quality", {}),
        ("mcp-memory", "propose_entity_split_tool", {"entity_name": "Anna"}),
        ("mnemic", "history", {"id": "Anna"}),
        ("ai-memory", "memory_get", {}),
        ("lorekeeper", "lore_search", {}),
        ("agentic-memory", "memory_traverse", {"start_id": 404}),
        ("mcp-memory", "end_relation", {"relation_id": 404}),
        ("mnemic", "open", {"ids": [404]}),
    ]:
        assert known(tool, **arguments) == DialectClient(dialect(name), ctx)(tool, **arguments), tool


def test_toon_has_no_structured_content(known):
    told = known("memory_list")
    assert told.structured is None and told.text.startswith("count:")


def test_an_unknown_tool_is_refused(ctx):
    endpoint = DialectClient(dialect(EVERY), ctx)
    with pytest.raises(Exception, match="Unknown tool: nope"):
        endpoint("nope")


# -- shared names


def test_a_name_that_is_taken_is_merged_with(known):
    [told] = known.ok("create_entities", entities=[an_entity("Anna", "tall", "kind")])["entities"]
    assert told["observations"] == ["kind", "tall"]
    known.ok("create_entities", entities=[{"name": "Anna"}, {"name": "Carl", "status": "active"}])
    anna, carl = known.ok("open_nodes", names=["Anna", "Carl"])["entities"]
    assert (anna["entityType"], anna["observations"]) == ("person", ["kind", "tall"])
    assert (carl["entityType"], carl["observations"], carl["status"]) == ("Generic", [], "active")


def test_a_relation_to_a_mere_name_is_kept_and_has_its_number(speak):
    speak.ok("create_entities", entities=[ANNA])
    [made] = speak.ok("create_relations", relations=[{**KNOWS, "context": "school"}])["relations"]
    assert {**KNOWS, "id": made["id"], "context": "school"} == made
    assert speak.ok("read_graph")["relations"] == [KNOWS]
    [opened] = speak.ok("open_nodes", names=["Anna"])["entities"]
    assert opened["relations"][0]["context"] == "school"
    assert "error" not in speak.ok("end_relation", relation_id=made["id"])


def test_a_relation_that_exists_is_not_made_again(known):
    [again] = known.ok("create_relations", relations=[KNOWS])["relations"]
    assert again["error"] == "Relation already exists"
    assert known.ok("read_graph")["relations"] == [KNOWS]


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "Anna", "observations": ["tall", "kind"]},
        {"observations": [{"entityName": "Anna", "contents": ["tall", "kind"]}]},
    ],
)
def test_observations_are_added_in_both_shapes(known, arguments):
    told = known.ok("add_observations", **arguments)
    assert told["results"] == [{"entityName": "Anna", "addedObservations": ["tall"]}]
    assert told["entities"][0]["observations"] == ["kind", "tall"]
    assert told.get("entity", told["entities"][0]) == told["entities"][0]
    assert ("entity" in told) == ("name" in arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "Anna", "observations": ["kind"]},
        {"deletions": [{"entityName": "Anna", "observations": ["kind"]}]},
    ],
)
def test_observations_are_deleted_in_both_shapes(known, arguments):
    told = known.ok("delete_observations", **arguments)
    assert (told["success"], told["message"]) == (True, "Observations deleted successfully")
    assert told["entities"][0]["observations"] == []
    assert ("entity" in told) == ("name" in arguments)


@pytest.mark.parametrize(
    "tool, arguments, error",
    [
        ("add_observations", {"name": "x", "observations": ["a"]}, "Entity not found: x"),
        (
            "add_observations",
            {"observations": [{"entityName": "x", "contents": []}]},
            "Entity with name x not found",
        ),
        ("delete_observations", {"name": "x", "observations": ["a"]}, "Entity not found: x"),
        (
            "add_observations",
            {"observations": ["a"]},
            "name: required, unless observations are objects with entityName",
        ),
        (
            "add_observations",
            {"name": "Anna", "observations": [{"entityName": "Anna", "contents": []}]},
            "observations: must be texts when name is given",
        ),
        ("delete_observations", {"observations": ["a"]}, "name: required, unless deletions are given"),
        ("open_nodes", {}, "names: required"),
        ("create_entities", {"entities": [{"entityType": "person"}]}, "entities.0.name: required"),
    ],
)
def test_a_failure_is_reported_in_every_way_clients_look_for_it(known, tool, arguments, error):
    before = known.ok("read_graph")
    told = known(tool, **arguments)
    assert told.is_error and told.json == told.structured == {"error": error}
    assert known.ok("read_graph") == before


def test_only_a_large_graph_says_how_to_read_on(speak):
    speak.ok("create_entities", entities=[an_entity("Long", "x" * (READABLE // 2), "xy" * (READABLE // 4))])
    assert "limit" in speak.ok("read_graph")["note"]
    for tool, arguments in (("search_nodes", {"query": "x"}), ("open_nodes", {"names": ["Long"]})):
        answer = speak(tool, **arguments)
        assert "note" not in answer.json and len(answer.text) > READABLE


def test_deletions_answer_with_all_keys(known):
    told = known.ok("delete_relations", relations=[KNOWS, a_relation("Anna", "Bob", "likes")])
    assert told == {
        "success": True,
        "message": "Relations deleted successfully",
        "deleted": [KNOWS],
        "errors": ["Relation not found: Anna -> Bob (likes)"],
    }
    told = known.ok("delete_entities", entityNames=["Anna", "x"])
    assert told.pop("entities")[0]["observations"] == ["kind"]
    assert told == {
        "success": True,
        "message": "Entities deleted successfully",
        "deleted": ["Anna"],
        "errors": ["Entity not found: x"],
    }


CALLS = [
    ("create_entities", {"entities": [ANNA, an_entity("Carl")]}),
    ("create_relations", {"relations": [KNOWS, a_relation("Bob", "Anna", "knows")]}),
    ("add_observations", {"observations": [{"entityName": "Anna", "contents": ["new"]}]}),
    ("search_nodes", {"query": "KIND"}),
    ("open_nodes", {"names": ["Bob", "Anna", "x"]}),
    ("read_graph", {}),
    ("delete_observations", {"deletions": [{"entityName": "Bob", "observations": ["tall"]}]}),
    ("delete_relations", {"relations": [KNOWS]}),
    ("delete_entities", {"entityNames": ["Bob"]}),
]


@pytest.mark.parametrize("tool, arguments", CALLS)
def test_a_shared_answer_has_the_keys_of_all(fresh, ctx, tool, arguments):
    def told(name):
        speak = DialectClient(dialect(name), replace(ctx, store=fresh(name)))
        speak.ok("create_entities", entities=[ANNA, BOB])
        speak.ok("create_relations", relations=[KNOWS])
        answer = speak(tool, **arguments)
        return answer.structured if answer.structured is not None else answer.json

    ours = told(EVERY)
    for name in users(tool):
        theirs = told(name)
        if isinstance(theirs, dict):
            assert keys(theirs) <= keys(ours), name


def keys(thing, path=""):
    """The paths of all keys in *thing*; those of a list are the keys of its items."""
    if isinstance(thing, list):
        return {key for item in thing for key in keys(item, f"{path}[]")}
    if not isinstance(thing, dict):
        return set()
    return {f"{path}.{key}" for key in thing}.union(
        *(keys(value, f"{path}.{key}") for key, value in thing.items())
    )


def test_the_numbers_are_those_of_both(ctx, known):
    told = known("memory_stats")
    theirs = [
        DialectClient(dialect(name), ctx).ok("memory_stats") for name in ("ai-memory", "agentic-memory")
    ]
    assert not set(theirs[0]) & set(theirs[1])
    assert told.json == told.structured == theirs[0] | theirs[1]


def test_what_one_dialect_limits_is_not_limited_for_all(speak):
    many = [an_entity(f"e{number}", "x" * 3_000) for number in range(60)]
    assert len(speak.ok("create_entities", entities=many)["entities"]) == 60
    assert len(speak.ok("open_nodes", names=[one["name"] for one in many])["entities"]) == 60


def test_a_change_is_made_once(ctx, known):
    before = last_number(ctx.store)
    known.ok("add_observations", name="Anna", observations=["new"])
    assert last_number(ctx.store) == before + 1


def test_the_files_of_others_are_kept_only_when_named(tmp_path):
    every = dialect(EVERY)
    assert every.mirror({}) is None
    file = tmp_path / "memory.jsonl"
    assert every.mirror({"MEMORY_FILE_PATH": str(file)}).path == file.resolve()
    assert every.mirror({"MEMORY_PATH": str(tmp_path)}).path == (tmp_path / "memory.json").resolve()
    assert every.database({}) is None
    assert every.database({"LORE_DATA_DIR": str(tmp_path)}) == tmp_path / "mnemic.db"
