"""The dialect of mcp-memory: its limits and error texts, both argument shapes, and life without a model."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from dialect_client import DialectClient, a_relation, an_entity
from support import AbsentEmbedder, everything

from mnemic.app import dialect
from mnemic.core import entities as core
from mnemic.model.access import Grant

MCP_MEMORY = dialect("mcp-memory")

TOOLS = [
    "create_entities",
    "create_relations",
    "add_observations",
    "delete_entities",
    "delete_observations",
    "delete_relations",
    "search_nodes",
    "open_nodes",
    "migrate",
    "search_semantic",
    "analyze_entity_split",
    "propose_entity_split",
    "execute_entity_split",
    "find_split_candidates",
    "find_duplicate_observations",
    "consolidation_report",
    "end_relation",
    "add_reflection",
    "search_reflections",
]
ANNA, BOB = an_entity("Anna", "kind"), an_entity("Bob", "tall", "old")
KNOWS = a_relation("Anna", "Bob", "knows")
THEMES = ("The recipe {} needs flour and sugar", "Migration {} adds an index to a table")


@pytest.fixture
def speak(ctx):
    return DialectClient(MCP_MEMORY, ctx)


@pytest.fixture
def known(speak):
    speak.ok("create_entities", entities=[ANNA, BOB])
    return speak


@pytest.fixture
def modelless(ctx, known):
    """The same store, spoken to without a model."""
    return DialectClient(MCP_MEMORY, replace(ctx, embedder=None))


def opened(speak, name):
    return speak.ok("open_nodes", names=[name])["entities"][0]


def plain(entity):
    return {key: entity[key] for key in ("name", "entityType", "observations")}


def error(speak, tool, **arguments):
    """The error of a call, which is an ordinary result."""
    answer = speak(tool, **arguments)
    assert not answer.is_error and set(answer.json) == {"error"}
    assert answer.structured == answer.json
    return answer.json["error"]


# -- the declarations


def test_nineteen_tools_are_listed(speak):
    listed = speak.say("tools/list")["tools"]
    assert sorted(tool["name"] for tool in listed) == sorted(TOOLS)
    for tool in listed:
        assert tool["outputSchema"] == {"type": "object", "additionalProperties": True}


@pytest.mark.parametrize("name", ["propose_entity_split_tool", "execute_entity_split_tool"])
def test_two_tools_answer_to_a_second_name(known, name):
    arguments = {"approved_splits": []} if name.startswith("execute") else {}
    assert "error" not in known.ok(name, entity_name="Anna", **arguments)


def test_an_answer_is_compact_text_and_the_same_as_an_object(known):
    answer = known("search_nodes", query="anna")
    assert answer.text == json.dumps(answer.structured, separators=(",", ":"))


def test_bad_arguments_and_unknown_tools_are_failures(known):
    for answer in (known("open_nodes"), known("open_nodes", names="Anna"), known("search_nodes", query=7)):
        assert answer.is_error
    assert known("nope").is_error and known("nope").text == "Unknown tool: 'nope'"


# -- entities


def test_an_entity_needs_only_a_name_and_shows_its_id(speak):
    [made] = speak.ok("create_entities", entities=[{"name": "Anna"}])["entities"]
    assert plain(made) == an_entity("Anna", kind="Generic")
    assert made["id"] == opened(speak, "Anna")["id"]


def test_a_name_that_is_taken_is_merged(known):
    [made] = known.ok("create_entities", entities=[an_entity("Bob", "old", "wise", kind="cat")])["entities"]
    assert plain(made) == an_entity("Bob", "tall", "old", "wise", kind="cat")


def test_to_create_an_entity_and_to_add_to_it_are_uses(known, ctx, clock):
    clock.advance(days=100)
    known.ok("add_observations", name="Anna", observations=["patient"])
    report = known.ok("consolidation_report", stale_days=90)
    assert [(one["entity_name"], one["access_count"]) for one in report["stale_entities"]] == [("Bob", 1)]
    assert core.entity(ctx.store.read(), ctx, "Anna").access_count == 2


def test_equal_observations_are_kept_once(speak):
    [made] = speak.ok("create_entities", entities=[an_entity("Anna", "a", "b", "a")])["entities"]
    assert made["observations"] == ["a", "b"]


def test_a_status_is_kept_and_shown(known):
    known.ok("create_entities", entities=[{"name": "Anna", "status": "pausado"}])
    assert opened(known, "Anna")["status"] == "pausado"
    assert "status" not in opened(known, "Bob")


@pytest.mark.parametrize("entity", [{}, {"name": ""}, {"name": 7}, {"name": "x", "observations": [1]}])
def test_an_entity_that_is_none_is_reported_in_pydantics_words(known, ctx, entity):
    before = everything(ctx.store)
    assert "validation error for EntityInput" in error(known, "create_entities", entities=[ANNA, entity])
    assert everything(ctx.store) == before


def test_an_empty_name_is_reported_as_a_text_that_is_too_short(known):
    told = error(known, "create_entities", entities=[{"name": ""}])
    assert "String should have at least 1 character [type=string_too_short" in told


def test_an_entity_without_a_name_is_reported_as_documented(known):
    assert error(known, "create_entities", entities=[{"entityType": "Project"}]) == (
        "1 validation error for EntityInput\nname\n"
        "  Field required [type=missing, input_value={'entityType': 'Project'}, input_type=dict]"
    )


def test_deleted_and_unknown_names_are_reported(known):
    assert known.ok("delete_entities", entityNames=["Anna", "Nobody", "Anna"]) == {
        "deleted": ["Anna"],
        "errors": ["Entity not found: Nobody"],
    }
    assert known.ok("delete_entities", entityNames=["Bob"]) == {"deleted": ["Bob"]}


# -- observations in both shapes


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "Anna", "observations": ["kind", "old", "old"]},
        {"observations": [{"entityName": "Anna", "contents": ["kind", "old", "old"]}]},
    ],
)
def test_observations_are_added_in_both_shapes(known, arguments):
    told = known.ok("add_observations", **arguments)
    if "name" in arguments:
        assert plain(told["entity"]) == an_entity("Anna", "kind", "old")
    else:
        assert told["results"] == [{"entityName": "Anna", "addedObservations": ["old"]}]
        assert [plain(one) for one in told["entities"]] == [an_entity("Anna", "kind", "old")]
    assert opened(known, "Anna")["observations"] == ["kind", "old"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "Bob", "observations": ["tall", "small"]},
        {
            "deletions": [
                {"entityName": "Bob", "observations": ["tall"]},
                {"entityName": "Nobody", "observations": []},
            ]
        },
    ],
)
def test_observations_are_deleted_in_both_shapes(known, arguments):
    told = known.ok("delete_observations", **arguments)
    left = [told["entity"]] if "name" in arguments else told["entities"]
    assert [plain(one) for one in left] == [an_entity("Bob", "old")]


@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("add_observations", {"name": "Nobody", "observations": ["x"]}),
        ("delete_observations", {"name": "Nobody", "observations": ["x"]}),
        (
            "add_observations",
            {"observations": [{"entityName": name, "contents": ["x"]} for name in ("Anna", "Nobody")]},
        ),
    ],
)
def test_an_unknown_entity_is_reported_and_nothing_written(known, ctx, tool, arguments):
    before = everything(ctx.store)
    assert error(known, tool, **arguments) == "Entity not found: Nobody"
    assert everything(ctx.store) == before


@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("add_observations", {"observations": ["x"]}),
        ("add_observations", {"name": "Anna", "observations": [{"entityName": "Anna", "contents": ["x"]}]}),
        ("add_observations", {"observations": ["x", {"entityName": "Anna", "contents": ["x"]}]}),
        ("delete_observations", {"observations": ["x"]}),
        ("delete_observations", {}),
    ],
)
def test_half_of_each_shape_is_neither(known, ctx, tool, arguments):
    before = everything(ctx.store)
    assert "error" in known(tool, **arguments).json
    assert everything(ctx.store) == before


# -- limits


LONG = "x" * 2001


@pytest.mark.parametrize(
    "tool, arguments, told",
    [
        (
            "create_entities",
            {"entities": [an_entity(str(number)) for number in range(51)]},
            "Too many entities: 51 > 50. Create fewer entities at a time.",
        ),
        (
            "create_entities",
            {"entities": [ANNA, an_entity("x", *map(str, range(101)))]},
            "Entity 1 has too many observations: 101 > 100. Split into smaller batches.",
        ),
        (
            "create_entities",
            {"entities": [ANNA, an_entity("x", "a", LONG)]},
            "Entity 1, observation 1 too long: 2001 > 2000 characters. Shorten or split the observation.",
        ),
        (
            "add_observations",
            {"name": "Anna", "observations": list(map(str, range(101)))},
            "Too many observations: 101 > 100. Split into smaller batches.",
        ),
        (
            "add_observations",
            {"observations": [{"entityName": "Anna", "contents": ["a", LONG]}]},
            "Observation 1 too long: 2001 > 2000 characters. Shorten or split the observation.",
        ),
        (
            "delete_entities",
            {"entityNames": ["Anna"] * 51},
            "Too many entity names: 51 > 50. Delete fewer entities at a time.",
        ),
        (
            "open_nodes",
            {"names": ["Anna"] * 51},
            "Too many entity names: 51 > 50. Request fewer entities at a time.",
        ),
        *(
            (
                tool,
                {"query": "x" * 501},
                "Query too long: 501 > 500 characters. Use a more concise search query.",
            )
            for tool in ("search_nodes", "search_semantic", "search_reflections")
        ),
        *(
            (tool, {"query": "x", "limit": 51}, "Limit too high: 51 > 50. Request fewer results.")
            for tool in ("search_semantic", "search_reflections")
        ),
        ("search_semantic", {"query": "x", "limit": 0}, "Limit too low: 0 < 1. Request at least one result."),
    ],
)
def test_limits_are_reported_before_anything_is_written(known, ctx, tool, arguments, told):
    before = everything(ctx.store)
    assert error(known, tool, **arguments) == told
    assert everything(ctx.store) == before


@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("create_entities", {"entities": [an_entity(str(number)) for number in range(50)]}),
        ("create_entities", {"entities": [an_entity("x", *map(str, range(100)))]}),
        ("create_entities", {"entities": [an_entity("x", LONG[1:])]}),
        ("add_observations", {"name": "Anna", "observations": [LONG[1:], *map(str, range(99))]}),
        ("open_nodes", {"names": ["Anna"] * 50}),
        ("search_nodes", {"query": "x" * 500}),
        ("search_semantic", {"query": "x", "limit": 50}),
    ],
)
def test_and_can_be_reached(known, tool, arguments):
    assert "error" not in known.ok(tool, **arguments)


# -- relations


def test_a_relation_has_an_id_that_can_be_found(known):
    [made] = known.ok("create_relations", relations=[{**KNOWS, "context": "met in 2020"}])["relations"]
    assert {key: made[key] for key in KNOWS} == KNOWS
    [here], [there] = opened(known, "Anna")["relations"], opened(known, "Bob")["relations"]
    assert here == {
        "id": made["id"],
        "relation_type": "knows",
        "target_name": "Bob",
        "direction": "from",
        "context": "met in 2020",
        "active": True,
        "ended_at": None,
    }
    assert there == {**here, "target_name": "Anna", "direction": "to"}


def test_both_ends_have_to_exist(known):
    told = known.ok("create_relations", relations=[a_relation("Anna", "Nobody", "r"), KNOWS])
    assert told["errors"] == ["Entity not found: Nobody"]
    assert told["relations"][0] == {"error": "Entity not found: Nobody"}
    assert told["relations"][1]["to"] == "Bob"


def test_a_relation_that_exists_is_reported(known):
    [made] = known.ok("create_relations", relations=[KNOWS])["relations"]
    told = known.ok("create_relations", relations=[KNOWS])
    assert told == {"relations": [{**made, "error": "Relation already exists"}]}


def test_relations_are_deleted_and_what_is_not_found_is_reported(known):
    known.ok("create_relations", relations=[KNOWS])
    wanted = [KNOWS, a_relation("Bob", "Anna", "knows"), a_relation("Anna", "Nobody", "r")]
    assert known.ok("delete_relations", relations=wanted) == {
        "deleted": [KNOWS],
        "errors": ["Relation not found: Bob -> Anna (knows)", "Entity not found: Anna or Nobody"],
    }


@pytest.mark.parametrize("relation", [{}, {"from": "a", "to": "b"}, a_relation("", "b", "r")])
@pytest.mark.parametrize("tool", ["create_relations", "delete_relations"])
def test_a_relation_that_is_none_is_reported_in_pydantics_words(known, tool, relation):
    assert "for RelationInput" in error(known, tool, relations=[relation])


@pytest.mark.parametrize("type, inverse", [("contiene", "parte_de"), ("parte_de", "contiene")])
def test_an_inverse_is_made_and_ends_with_its_relation(known, clock, type, inverse):
    [made] = known.ok("create_relations", relations=[a_relation("Anna", "Bob", type)])["relations"]
    seen = {one["relation_type"]: one["direction"] for one in opened(known, "Bob")["relations"]}
    assert seen == {type: "to", inverse: "from"}
    clock.advance(days=1)
    told = known.ok("end_relation", relation_id=made["id"])
    assert told == {"result": f"Relation {made['id']} expired successfully"}
    ended = opened(known, "Anna")["relations"]
    assert [one["active"] for one in ended] == [False, False]
    assert {one["ended_at"] for one in ended} == {"2027-01-16 08:00:00"}


def test_a_relation_that_is_not_there_cannot_end(known):
    assert error(known, "end_relation", relation_id=404) == "Relation with id=404 not found"


def test_numbers_may_be_any_that_the_document_does_not_forbid(known):
    assert error(known, "end_relation", relation_id=-1) == "Relation with id=-1 not found"
    said = known.ok("add_reflection", target_type="entity", target_id=-1, content="Tea")["result"]
    assert said["target_id"] == -1
    twice = known.ok("find_duplicate_observations", entity_name="Bob", threshold=1.1, containment_threshold=2)
    assert twice["duplicate_pairs"] == []
    for days in (-1e300, -1, 1e9, 1e300):
        assert known.ok("consolidation_report", stale_days=days)["summary"]["total_entities"] == 2


def test_arguments_of_later_versions_are_taken_as_they_stand_there_by_default(known):
    known.ok("add_observations", name="Anna", observations=["x"], kind="generic", supersedes=None)
    told = known.ok("open_nodes", names=["Anna"], kinds=None, include_superseded=False)["entities"]
    assert told[0]["observations"] == ["kind", "x"]
    added = known.ok("add_observations", name="Anna", observations=["y"], kind="hallazgo")
    assert added["entity"]["observations"] == ["kind", "x", "y"]


def test_the_context_of_a_relation_is_reported(known):
    [made] = known.ok("create_relations", relations=[{**KNOWS, "context": "from school"}])["relations"]
    assert made["context"] == "from school"


# -- searching and opening


def test_a_search_takes_every_character_as_it_is(known):
    assert known.ok("search_nodes", query="%") == {"entities": []}
    assert [one["name"] for one in known.ok("search_nodes", query="")["entities"]] == ["Anna", "Bob"]
    assert [one["name"] for one in known.ok("search_nodes", query="TAL")["entities"]] == ["Bob"]


def test_nodes_are_opened_in_the_order_asked(known):
    told = known.ok("open_nodes", names=["Bob", "Nobody", "Anna"])["entities"]
    assert [one["name"] for one in told] == ["Bob", "Anna"] and told[0]["relations"] == []


def test_a_search_by_meaning_tells_its_score(known):
    [first, *_] = known.ok("search_semantic", query="kind Anna")["results"]
    assert first["name"] == "Anna" and first["observations"] == ["kind"]
    assert set(first["scoring"]) == {"importance", "temporal_factor", "cooc_boost"}
    assert first["limbic_score"] > 0 and "distance" in first and "routing_strategy" in first


def test_hundreds_of_new_observations_take_part_in_the_next_search(speak):
    many = [an_entity(f"Shelf {shelf}", *(f"book {n} of {shelf}" for n in range(90))) for shelf in range(4)]
    speak.ok("create_entities", entities=[*many, an_entity("Stage", "a violin plays tonight")])
    [first, *_] = speak.ok("search_semantic", query="violin concert")["results"]
    assert first["name"] == "Stage" and first["distance"] < 1


# -- migrate


def test_a_file_of_the_reference_is_imported(ctx, tmp_path):
    path = tmp_path / "memory.jsonl"
    lines = [
        {"type": "entity", "name": "Anna"},
        {"type": "entity", **BOB},
        {"type": "relation", **KNOWS},
        {"type": "relation", **a_relation("Anna", "Nobody", "r")},
        {"type": "entity"},
        {"type": "odd"},
    ]
    path.write_text("\ufeff" + "\n\n".join(map(json.dumps, lines)) + "\n{")
    speak = DialectClient(MCP_MEMORY, replace(ctx, roots=(tmp_path.resolve(),)))
    told = speak.ok("migrate", source_path=str(path))
    assert told == {"entities_imported": 2, "relations_imported": 1, "errors": 1, "skipped": 4}
    assert plain(opened(speak, "Anna")) == an_entity("Anna", kind="Generic")
    before = everything(ctx.store)
    assert speak.ok("migrate", source_path=str(path))["relations_imported"] == 0
    assert everything(ctx.store) == before


def test_a_relation_before_its_ends_and_what_has_no_name_are_passed_over(ctx, tmp_path):
    path = tmp_path / "memory.jsonl"
    lines = [
        {"type": "relation", **KNOWS},
        {"type": "entity", **ANNA},
        {"type": "entity", **BOB},
        {"type": "entity", **an_entity("")},
        {"type": "relation", **a_relation("Anna", "Bob", "")},
        {"type": "relation", **a_relation("Bob", "Anna", "knows")},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    speak = DialectClient(MCP_MEMORY, replace(ctx, roots=(tmp_path.resolve(),)))
    told = speak.ok("migrate", source_path=str(path))
    assert told == {"entities_imported": 2, "relations_imported": 1, "errors": 0, "skipped": 3}
    # By now the ends are there.
    assert speak.ok("migrate", source_path=str(path))["relations_imported"] == 1


def test_a_file_that_may_not_or_cannot_be_read_is_reported(ctx, tmp_path):
    speak = DialectClient(MCP_MEMORY, replace(ctx, roots=(tmp_path.resolve(),)))
    assert error(speak, "migrate") == (
        "source_path is required — provide the path to an Anthropic MCP Memory JSONL file"
    )
    assert "No such file" in error(speak, "migrate", source_path=str(tmp_path / "missing"))
    assert "files may be read below" in error(speak, "migrate", source_path="/etc/passwd")


def test_who_may_not_write_learns_nothing_about_files(ctx, tmp_path):
    reader = replace(ctx, roots=(tmp_path.resolve(),)).limited_to(Grant(None, can_write=False))
    told = error(DialectClient(MCP_MEMORY, reader), "migrate", source_path=str(tmp_path / "missing"))
    assert "may read but not write" in told


# -- upkeep


def big(speak, name, count, kind="Generic"):
    texts = [THEMES[number % 2].format(number) for number in range(count)]
    speak.ok("create_entities", entities=[an_entity(name, *texts, kind=kind)])
    return texts


@pytest.mark.parametrize(
    "kind, count, threshold, due",
    [
        ("Sesion", 15, 15, False),
        ("Sesion", 16, 15, True),
        ("Proyecto", 25, 25, False),
        ("Generic", 21, 20, True),
    ],
)
def test_an_entity_is_due_when_it_says_more_than_its_type_may(speak, kind, count, threshold, due):
    big(speak, "Big", count, kind)
    analysis = speak.ok("analyze_entity_split", entity_name="Big")["analysis"]
    assert (analysis["threshold"], analysis["needs_split"], analysis["observation_count"]) == (
        threshold,
        due,
        count,
    )
    assert [one["entity_name"] for one in speak.ok("find_split_candidates")["candidates"]] == ["Big"] * due
    proposal = speak.ok("propose_entity_split", entity_name="Big")
    if due:
        assert len(proposal["proposal"]["suggested_splits"]) > 1
    else:
        assert proposal == {"proposal": None, "message": "Entity does not need splitting"}


def test_a_proposal_can_be_executed_as_it_is(speak):
    texts = big(speak, "Big", 24)
    proposal = speak.ok("propose_entity_split", entity_name="Big")["proposal"]
    parts = proposal["suggested_splits"]
    done = speak.ok("execute_entity_split", entity_name="Big", approved_splits=parts)["result"]
    assert done["new_entities"] == [part["name"] for part in parts]
    assert done["moved_observations"] == 24 and done["original_observations_remaining"] == 0
    assert done["relations_created"] == 2 * len(parts) == len(proposal["relations_to_create"])
    moved = [text for part in parts for text in opened(speak, part["name"])["observations"]]
    assert sorted(moved) == sorted(texts)
    made = [
        {"from": "Big", "to": one["target_name"], "type": one["relation_type"]}
        if one["direction"] == "from"
        else {"from": one["target_name"], "to": "Big", "type": one["relation_type"]}
        for one in opened(speak, "Big")["relations"]
    ]
    assert sorted(made, key=str) == sorted(proposal["relations_to_create"], key=str)


def test_a_split_that_cannot_be_made_changes_nothing(known, ctx):
    before = everything(ctx.store)
    good = {"name": "Part", "entity_type": "Generic", "observations": ["tall"]}
    told = error(known, "execute_entity_split", entity_name="Nobody", approved_splits=[good])
    assert told == "Original entity 'Nobody' not found"
    for bad in ({}, {**good, "name": ""}, {**good, "observations": "tall"}):
        error(known, "execute_entity_split", entity_name="Bob", approved_splits=[good, bad])
    assert everything(ctx.store) == before


@pytest.mark.parametrize(
    "tool", ["analyze_entity_split", "propose_entity_split", "find_duplicate_observations"]
)
def test_upkeep_of_an_unknown_entity_is_reported(known, tool):
    assert error(known, tool, entity_name="Nobody") == "Entity not found: Nobody"


def test_observations_that_say_the_same_are_found(speak):
    speak.ok(
        "create_entities", entities=[an_entity("Anna", "she likes green tea", "likes she green tea", "tall")]
    )
    told = speak.ok("find_duplicate_observations", entity_name="Anna")
    assert told["total_observations"] == 3 and len(told["duplicate_pairs"]) == 1
    [pair] = told["duplicate_pairs"]
    assert pair["match_type"] == "cosine" and pair["similarity_score"] >= 0.85
    assert told["clusters"] == [{"observations": ["she likes green tea", "likes she green tea"], "size": 2}]


def test_the_report_counts_what_it_lists(speak, clock):
    big(speak, "Big", 30)
    speak.ok("create_entities", entities=[ANNA])
    clock.advance(days=100)
    told = speak.ok("consolidation_report")
    summary = told.pop("summary")
    assert summary["total_entities"] == 2 and summary["total_observations"] == 31
    for area, items in told.items():
        assert summary[f"{area}_count"] == len(items)
    assert [one["entity_name"] for one in told["split_candidates"]] == ["Big"]
    assert {one["entity_name"]: one["last_accessed_days_ago"] for one in told["stale_entities"]} == {
        "Big": 100,
        "Anna": 100,
    }


def test_a_part_that_bears_the_title_of_a_reflection_leaves_it_alone(known):
    known.ok("add_reflection", target_type="global", content="Age")
    parts = [{"name": "Age", "entity_type": "Part", "observations": ["old"]}]
    known.ok("execute_entity_split", entity_name="Bob", approved_splits=parts)
    assert plain(opened(known, "Age")) == {"name": "Age", "entityType": "Part", "observations": ["old"]}
    assert [one["content"] for one in known.ok("search_reflections", query="Age")["results"]] == ["Age"]


# -- reflections


def test_a_reflection_is_kept_and_found_again(known):
    about = opened(known, "Anna")["id"]
    told = known.ok(
        "add_reflection",
        target_type="entity",
        target_id=about,
        content="Tea calms her",
        author="nolan",
        mood="insight",
    )["result"]
    assert told["content"] == "Tea calms her" and told["created_at"] == "2027-01-15 08:00:00"
    assert (told["target_type"], told["target_id"], told["author"], told["mood"]) == (
        "entity",
        about,
        "nolan",
        "insight",
    )
    [hit] = known.ok("search_reflections", query="what calms with tea")["results"]
    assert {**told, "score": hit["score"]} == hit and hit["score"] > 0
    assert known.ok("search_reflections", query="tea", author="sofia") == {"results": []}
    assert known.ok("search_reflections", query="tea", author="", mood="")["results"]
    assert known.ok("search_nodes", query="tea") == {"entities": []}, "a thought is no entity"


@pytest.mark.parametrize(
    "arguments, told",
    [
        ({"target_type": "global"}, "content cannot be empty"),
        ({"target_type": "global", "content": "  "}, "content cannot be empty"),
        *(
            (
                {"target_type": "global", "content": "x", **bad},
                "Invalid parameters — check target_type, author, and mood values",
            )
            for bad in (
                {"target_type": "planet"},
                {"author": "someone"},
                {"mood": "joy"},
                {"target_id": 1},
                {"target_type": "entity"},
            )
        ),
    ],
)
def test_a_reflection_that_is_none_is_reported(known, arguments, told):
    assert error(known, "add_reflection", **arguments) == told


# -- without a model


@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("search_semantic", {"query": "Anna"}),
        ("search_reflections", {"query": "tea"}),
        ("find_duplicate_observations", {"entity_name": "Bob"}),
    ],
)
@pytest.mark.parametrize("embedder", [None, AbsentEmbedder()], ids=["none", "absent"])
def test_what_needs_the_model_says_so(ctx, known, tool, arguments, embedder):
    told = error(DialectClient(MCP_MEMORY, replace(ctx, embedder=embedder)), tool, **arguments)
    assert told == (
        "Embedding model not available. Run 'python scripts/download_model.py' to download the model first."
    )


@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("create_entities", {"entities": [an_entity("Carl")]}),
        ("create_relations", {"relations": [KNOWS]}),
        ("add_observations", {"name": "Anna", "observations": ["x"]}),
        ("delete_entities", {"entityNames": ["Anna"]}),
        ("delete_observations", {"name": "Bob", "observations": ["tall"]}),
        ("search_nodes", {"query": "anna"}),
        ("open_nodes", {"names": ["Anna"]}),
        ("find_split_candidates", {}),
        ("consolidation_report", {}),
        ("add_reflection", {"target_type": "global", "content": "Tea"}),
        ("analyze_entity_split", {"entity_name": "Anna"}),
        ("propose_entity_split", {"entity_name": "Anna"}),
        (
            "execute_entity_split",
            {
                "entity_name": "Bob",
                "approved_splits": [{"name": "P", "entity_type": "Generic", "observations": ["old"]}],
            },
        ),
    ],
)
def test_and_everything_else_works(modelless, tool, arguments):
    told = modelless.ok(tool, **arguments)
    assert "error" not in told and "errors" not in told


def test_a_large_entity_is_split_without_a_model(modelless):
    big(modelless, "Big", 24)
    assert len(modelless.ok("propose_entity_split", entity_name="Big")["proposal"]["suggested_splits"]) > 1
