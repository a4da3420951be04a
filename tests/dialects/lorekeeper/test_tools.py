"""The dialect of Lorekeeper: its shapes, defaults, limits, error texts, namespaces and variables."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dialect_client import DialectClient
from support import AbsentEmbedder, kept

from mnemic.app import dialect
from mnemic.core.memories import find
from mnemic.dialects.lorekeeper.export_file import SPOKEN
from mnemic.dialects.lorekeeper.settings import LoreSettings, settings_of
from mnemic.dialects.lorekeeper.types import title_of
from mnemic.errors import Invalid
from mnemic.model.access import Grant
from mnemic.model.enums import State
from mnemic.model.time import iso

LOREKEEPER = dialect("lorekeeper")
TOOLS = [
    "lore_search",
    "lore_remember",
    "lore_insert",
    "lore_forget",
    "lore_update",
    "lore_recommend_links",
    "lore_reflect",
    "lore_processed_sessions",
]
MEMORY = [
    *("id", "title", "description", "content", "created_at", "updated_at", "usage_count", "score"),
    *("soft_deleted", "confidence", "confidence_count", "namespace", "last_used"),
]
LINK = [
    *("id", "source_memory_id", "target_memory_id", "relation_type", "reason", "score", "created_at"),
    *("updated_at", "usage_count", "confidence", "confidence_count"),
]


@pytest.fixture
def speak(ctx):
    return DialectClient(LOREKEEPER, ctx)


def tuned(ctx, **variables):
    """A client of a server with these variables."""
    return DialectClient(LOREKEEPER, replace(ctx, variables=variables))


def insert(speak, title, content="", **more):
    answer = speak.ok("lore_insert", memories=[{"title": title, "content": content, **more}])
    assert answer["inserted_memories"], answer
    return answer["inserted_memories"][0]["id"]


def fetch(speak, *ids, **more):
    return [hit["memory"] for hit in speak.ok("lore_search", ids=list(ids), **more)["results"]]


def titles(speak, query, **more):
    found = speak.ok("lore_search", query=query, **{"min_score": 0.0, **more})["results"]
    return [hit["memory"]["title"] for hit in found]


def refused(speak, tool, **arguments):
    answer = speak(tool, **arguments)
    assert answer.is_error and answer.structured is None
    prefix = f"Error calling tool '{tool}': "
    assert answer.text.startswith(prefix)
    return answer.text.removeprefix(prefix)


# -- the declarations


def test_eight_tools_are_listed_under_the_name_of_the_first_home(speak):
    assert [tool["name"] for tool in speak.say("tools/list")["tools"]] == TOOLS
    assert LOREKEEPER.server == {"name": "lorekeeper-mcp-server"}


def test_a_tool_that_there_is_not_is_an_error(speak):
    answer = speak("lore_dance")
    assert answer.is_error and answer.text == "Unknown tool: 'lore_dance'"


# -- searching


def test_a_hit_has_every_documented_key_even_where_it_is_null(speak):
    one, other = insert(speak, "Heron", "fishes"), insert(speak, "Pond", "is deep")
    speak.ok(
        "lore_insert",
        links=[
            {"source_memory_id": one, "target_memory_id": other, "relation_type": "used_in", "reason": "r"}
        ],
    )
    answer = speak.ok("lore_search", query="heron")
    hit = answer["results"][0]
    assert list(hit["memory"]) == MEMORY and list(hit["links"][0]) == LINK
    assert list(hit["relevance"]) == ["combined_score", "semantic_score", "keyword_score", "decay_factor"]
    assert (hit["memory"]["confidence"], hit["memory"]["last_used"]) == (None, None)
    assert (answer["total_matched"], answer["query"]) == (len(answer["results"]), "heron")
    assert speak("lore_search", query="heron").structured["query"] == "heron"


def test_the_reply_shows_the_usage_before_the_retrieval(speak, clock):
    one = insert(speak, "Heron", "fishes")
    assert [fetch(speak, one)[0]["usage_count"] for _ in range(2)] == [0, 1]
    clock.advance(hours=1)
    hits = speak.ok("lore_search", query="heron")["results"]
    assert hits[0]["memory"]["usage_count"] == 2
    assert fetch(speak, one)[0]["last_used"] == iso(clock())


def test_ids_are_fetched_in_order_without_scores_and_once_each(speak):
    one, other = insert(speak, "Heron"), insert(speak, "Pond")
    answer = speak.ok("lore_search", query="x", ids=[other, "nope", one, other])
    assert [hit["memory"]["id"] for hit in answer["results"]] == [other, one]
    assert answer["results"][0]["relevance"] == {
        "combined_score": 0.0,
        "semantic_score": 0.0,
        "keyword_score": 0.0,
        "decay_factor": 1.0,
    }
    assert speak.ok("lore_search", ids=[]) == {"results": [], "total_matched": 0, "query": ""}
    assert speak.ok("lore_search", ids=[one], format="title")["results"] == [
        {"id": one, "title": "Heron", "score": 0.0}
    ]


def test_forgotten_memories_are_fetched_and_found_only_if_asked_for(speak):
    one = insert(speak, "Heron", "fishes in the pond")
    speak.ok("lore_forget", memory_ids=[one], reason="outdated")
    assert fetch(speak, one) == [] and titles(speak, "heron") == []
    assert fetch(speak, one, include_deleted=True)[0]["soft_deleted"]
    assert titles(speak, "heron", include_deleted=True) == ["Heron"]
    assert titles(speak, "heron", include_deleted=True, refine_from=[one]) == ["Heron"]


def test_titles_are_short_and_rounded(speak):
    one = insert(speak, "Heron", "fishes")
    [hit] = speak.ok("lore_search", query="heron", format="title", include_links=True)["results"]
    assert (hit["id"], set(hit)) == (one, {"id", "title", "score"}) and hit["score"] == round(hit["score"], 4)


def test_links_are_left_out_if_not_wanted(speak):
    insert(speak, "Heron")
    assert "links" not in speak.ok("lore_search", query="heron", include_links=False)["results"][0]


@pytest.mark.parametrize(
    "arguments, why",
    [
        ({}, "query is required when ids is not provided"),
        ({"query": "  "}, "query is required when ids is not provided"),
        ({"query": "x", "format": "zz"}, "Unknown format 'zz'. Must be one of: ['full', 'title']"),
        (
            {"query": "x", "format": "z" * 9000},
            f"Unknown format '{'z' * 80}'. Must be one of: ['full', 'title']",
        ),
        ({"ids": ["x"] * 51}, "ids exceeds cap of 50 IDs (got 51)"),
        ({"query": "x", "refine_from": ["x"] * 201}, "refine_from exceeds cap of 200 IDs (got 201)"),
        ({"query": "x", "limit": -1}, "limit: Input should be greater than or equal to 0"),
    ],
)
def test_a_bad_search_is_refused(speak, arguments, why):
    assert refused(speak, "lore_search", **arguments) == why


def test_a_search_may_be_limited_to_nothing(speak):
    insert(speak, "Heron")
    assert titles(speak, "heron", limit=0) == []


def test_a_description_is_found_by_its_meaning(real):
    speak = DialectClient(LOREKEEPER, real)
    shares = "def f(x=[]) shares the list across all calls — use None instead."
    insert(speak, "Mutable default args", "...", description=shares)
    insert(speak, "Tomatoes", "Seedlings need water twice a week.")
    hit = speak.ok("lore_search", query="one array reused by every invocation of a function")["results"][0]
    assert hit["memory"]["title"] == "Mutable default args"
    assert (hit["memory"]["description"], hit["memory"]["content"]) == (shares, "...")


def test_memories_of_other_dialects_are_found_with_the_score_of_the_unrated(ctx, speak):
    kept(ctx, "The heron fishes", tags=("bird",))
    [memory] = [hit["memory"] for hit in speak.ok("lore_search", query="heron")["results"]]
    assert (memory["score"], memory["namespace"], memory["description"]) == (5.0, "global", "")


def test_a_caller_who_may_only_read_leaves_no_trace(ctx, speak):
    one = insert(speak, "Heron")
    reader = DialectClient(LOREKEEPER, ctx.limited_to(Grant(namespaces=None, can_write=False)))
    assert fetch(reader, one) and fetch(reader, one)[0]["usage_count"] == 0
    assert "may read but not write" in refused(reader, "lore_remember", thought="x")


def test_a_query_that_is_null_is_none(speak):
    one = insert(speak, "Heron")
    answer = speak.ok("lore_search", query=None, ids=[one])
    assert [result["memory"]["id"] for result in answer["results"]] == [one] and answer["query"] == ""
    assert refused(speak, "lore_search", query=None) == "query is required when ids is not provided"


# -- remembering


@pytest.mark.parametrize(
    "thought, title",
    [
        ("  short  ", "short"),
        ("a" * 80, "a" * 80),
        ("x" * 50 + ". " + "y" * 60, "x" * 50 + "."),
        ("x" * 30 + ". " + "y" * 30 + " " + "z" * 60, "x" * 30 + ". " + "y" * 30),
        ("x" * 45 + "! " + "y" * 10 + ". " + "z" * 60, "x" * 45 + "! " + "y" * 10 + "."),
        ("x" * 60 + "? " + "z" * 60, "x" * 60 + "?"),
        ("x" * 41 + " 0.85 " + "z" * 60, "x" * 41 + " 0.85"),
        ("x" * 41 + " run.py! " + "z" * 60, "x" * 41 + " run.py!"),
        ("x" * 79 + ". " + "z" * 60, "x" * 79 + "."),
        ("x" * 79 + ".5 " + "z" * 60, "x" * 79 + ".5"),
        ("x" * 50 + ".\n" + "z" * 60, "x" * 50 + "."),
        ("x" * 100 + " " + "z" * 60, "x" * 100),
        ("x" * 200, "x" * 120),
    ],
)
def test_a_thought_is_titled_by_its_beginning(thought, title):
    assert title_of(thought) == title


def test_a_thought_that_is_known_says_so(speak):
    first = speak.ok("lore_remember", thought="The heron fishes at dawn")
    assert first == {
        "id": first["id"],
        "title": "The heron fishes at dawn",
        "namespace": "shared",
        "linked_to": None,
        "duplicate": False,
    }
    again = speak.ok("lore_remember", thought="The heron fishes at dawn")
    assert again == {**first, "duplicate": True}
    assert fetch(speak, first["id"])[0]["score"] == 7.0


def test_a_thought_is_linked_to_its_neighbour_unless_that_is_switched_off(ctx):
    speak = tuned(ctx, LORE_DUPLICATE_THRESHOLD="1.5")
    near = speak.ok("lore_remember", thought="The heron fishes at dawn")["id"]
    answer = speak.ok("lore_remember", thought="The heron fishes at dusk")
    assert answer["linked_to"]["id"] == near and 0.75 <= answer["linked_to"]["score"] <= 1
    [link] = speak.ok("lore_search", ids=[answer["id"]])["results"][0]["links"]
    assert (link["relation_type"], link["target_memory_id"]) == ("related_to", near)
    assert link["reason"] == f"auto-linked from lore_remember: {answer['linked_to']['score']:.2f}"
    alone = tuned(ctx, LORE_DUPLICATE_THRESHOLD="1.5", LORE_AUTO_LINK_ENABLED="false")
    assert alone.ok("lore_remember", thought="The heron fishes at noon")["linked_to"] is None


def test_an_empty_thought_is_refused(speak):
    assert refused(speak, "lore_remember", thought="  ") == "thought must not be empty"
    assert refused(speak, "lore_remember") == "thought: required"


@pytest.mark.parametrize("embedder", [None, AbsentEmbedder()])
def test_without_a_model_everything_works_by_words(ctx, embedder):
    speak = DialectClient(LOREKEEPER, replace(ctx, embedder=embedder))
    first = speak.ok("lore_remember", thought="The heron fishes at dawn in the pond by the mill")
    assert speak.ok("lore_remember", thought="The heron fishes at dawn in the pond by the mill.")["duplicate"]
    assert titles(speak, "heron") == [first["title"]]
    assert speak.ok("lore_recommend_links", lore_id=first["id"])["candidates"] == []


# -- inserting


def test_one_call_may_do_some_and_say_what_it_could_not(speak):
    known = insert(speak, "Known", "heron")
    inline = [
        {"target_memory_id": known, "relation_type": "used_in"},
        {"target_memory_id": "nope", "relation_type": "used_in"},
        {"relation_type": "used_in"},
    ]
    answer = speak.ok(
        "lore_insert",
        memories=[
            {"title": "New", "content": "pond", "links": inline, "colour": "ignored"},
            {"title": "Known", "content": "other", "links": inline},
            {"title": "Bad score", "score": 11},
            {"title": 7},
            {"title": " "},
        ],
        links=[
            {"source_memory_id": known, "target_memory_id": known, "relation_type": "used_in", "reason": "r"},
            {"source_memory_id": known, "target_memory_id": "x", "relation_type": "used_in", "reason": "r"},
            {"source_memory_id": "y", "target_memory_id": known, "relation_type": "used_in", "reason": "r"},
            {"source_memory_id": known, "target_memory_id": known, "relation_type": "used_in"},
        ],
    )
    [new] = answer["inserted_memories"]
    [link] = answer["inserted_links"]
    assert (link["source_memory_id"], link["target_memory_id"]) == (new["id"], known)
    [twin] = answer["duplicates"]
    assert (twin["input_title"], twin["existing_memory"]["id"], twin["similarity"]) == ("Known", known, 1.0)
    told = [(error["input"].split(" → ")[0][:20], error["error"]) for error in answer["errors"]]
    assert ("memory 'New'", "link target memory_id 'nope' not found") in told
    assert ("memory 'New'", "missing required field: 'target_memory_id'") in told
    assert [why for given, why in told if given in ("Bad score", "7", " ")] == [
        "score: Input should be less than or equal to 10",
        "title: Input should be a valid string",
        "title: must not be blank",
    ]
    assert [why for _, why in told[-5:]] == [
        "cannot link a memory to itself",
        "link target memory_id 'x' not found",
        "link source memory_id 'y' not found",
        "missing required field: 'reason'",
        "not linked, since the memory was not inserted",
    ]
    assert told[-1][0] == "memory 'Known'"


@pytest.mark.parametrize("links", ["x", 7, {"relation_type": "used_in"}, ["x"], [None]])
def test_links_that_are_none_are_reported(speak, links):
    answer = speak.ok(
        "lore_insert", memories=[{"title": "New", "links": links}, {"title": "B", "links": None}]
    )
    assert len(answer["inserted_memories"]) == 2
    [error] = answer["errors"]
    assert error["input"].startswith("memory 'New' → ") and "object" in error["error"]


def test_without_a_title_the_whole_call_is_refused(speak):
    why = refused(speak, "lore_insert", memories=[{"title": "a"}, {"title": "b"}, {"content": "c"}])
    assert why == "memory at index 2 is missing required field: 'title'"
    assert titles(speak, "a b") == []


def test_a_bad_relation_type_is_named_with_the_good_ones(speak):
    one, other = insert(speak, "Heron"), insert(speak, "Pond")
    link = {"source_memory_id": one, "target_memory_id": other, "relation_type": "zzz", "reason": "r"}
    [error] = speak.ok("lore_insert", links=[link])["errors"]
    assert error == {
        "input": str(link),
        "error": f"invalid relation_type 'zzz': must be one of {sorted(SPOKEN)}",
    }


def test_a_taken_title_is_an_error_when_forced_and_a_forgotten_one_is_free(speak):
    one = insert(speak, "Heron", "fishes")
    answer = speak.ok("lore_insert", memories=[{"title": "Heron"}], force=True)
    assert answer["errors"] == [
        {"input": "Heron", "error": "UNIQUE constraint failed: memories.namespace, memories.title"}
    ]
    speak.ok("lore_forget", memory_ids=[one])
    assert insert(speak, "Heron", "fishes") != one


def test_a_link_made_twice_is_one(speak):
    one, other = insert(speak, "Heron"), insert(speak, "Pond")
    link = {"source_memory_id": one, "target_memory_id": other, "relation_type": "used_in", "reason": "r"}
    first, again = (speak.ok("lore_insert", links=[link])["inserted_links"][0] for _ in range(2))
    assert first == again


def test_an_insert_links_nothing_by_itself(ctx):
    speak = tuned(ctx, LORE_DUPLICATE_THRESHOLD="1.5")
    insert(speak, "One", "The heron fishes at dawn")
    one = insert(speak, "Two", "The heron fishes at dawn")
    assert speak.ok("lore_search", ids=[one])["results"][0]["links"] == []


def test_nothing_at_all_may_be_inserted(speak):
    assert speak.ok("lore_insert") == {
        "inserted_memories": [],
        "inserted_links": [],
        "duplicates": [],
        "errors": [],
    }


# -- forgetting and rating


def test_forgetting_keeps_the_reason_and_counts_the_forgotten(ctx, speak):
    one = insert(speak, "Heron")
    for _ in range(2):
        answer = speak.ok("lore_forget", memory_ids=[one, one, "nope"], reason="hallucinated")
        assert answer == {"forgotten": [one], "not_found": ["nope"], "errors": []}
    memory = find(ctx, one)
    assert (memory.state, memory.state_reason) == (State.FORGOTTEN, "hallucinated")


def test_a_bad_forgetting_is_refused(speak):
    assert refused(speak, "lore_forget", memory_ids=[]) == "memory_ids must not be empty"
    assert refused(speak, "lore_forget", memory_ids=["x"], reason="bad") == (
        "Unknown reason 'bad'. Must be one of: "
        "['duplicate', 'expired', 'hallucinated', 'outdated', 'unspecified']"
    )


def test_ratings_of_what_is_not_there_or_unreadable_come_back(speak):
    one = insert(speak, "Heron")
    answer = speak.ok(
        "lore_update",
        memory_feedback=[
            {"id": one, "useful": True, "confidence": 8},
            {"id": "nope", "useful": True},
            {"id": one, "useful": "yes"},
            {"id": one, "useful": True, "confidence": 0},
            {"useful": True},
        ],
        link_feedback=[{"id": "404", "useful": True}, {"id": "x", "useful": True}],
    )
    assert (answer["updated_memories"], answer["updated_links"], answer["soft_deleted_memories"]) == (1, 0, 0)
    assert {error["id"] for error in answer["errors"]} == {"nope", one, "?", "404", "x"}
    assert [error["error"] for error in answer["errors"] if error["id"] in ("nope", "404", "x")] == [
        "not found"
    ] * 3
    memory = fetch(speak, one)[0]
    assert (memory["score"], memory["confidence"], memory["usage_count"]) == (5.4, 8.0, 1)


def test_a_link_is_rated_by_its_id(speak):
    one, other = insert(speak, "Heron"), insert(speak, "Pond")
    made = {"source_memory_id": one, "target_memory_id": other, "relation_type": "used_in", "reason": "r"}
    [link] = speak.ok("lore_insert", links=[{**made, "score": 4.0}])["inserted_links"]
    answer = speak.ok("lore_update", link_feedback=[{"id": link["id"], "useful": True, "confidence": 10}])
    assert (answer["updated_links"], answer["errors"]) == (1, [])
    [shown] = speak.ok("lore_search", ids=[one])["results"][0]["links"]
    assert (shown["score"], shown["confidence"], shown["confidence_count"]) == (4.5, 10, 1)


# -- reflecting and recommending


def test_a_reflection_takes_every_argument_and_is_made_once(speak):
    one = insert(speak, "Heron")
    arguments = {
        "session_id": "s-1",
        "summary": "Watched birds.",
        "lessons_learnt": ["Bring a coat"],
        "factual_discoveries": ["Herons fish at dawn"],
        "user_profile_updates": ["Likes birds"],
        "memory_ids": [one, "uuid-a"],
        "session_date": None,
    }
    first = speak.ok("lore_reflect", **arguments)
    assert list(first) == ["reflection_id", "session_id", "created_at", "memories_created"]
    assert [(made["relation"], made["status"]) for made in first["memories_created"]] == [
        ("discovered_in", "inserted"),
        ("learned_in", "inserted"),
    ]
    again = speak.ok("lore_reflect", **arguments)
    assert again == {**first, "already_processed": True, "memories_created": []}
    assert speak.ok("lore_processed_sessions") == {"session_ids": ["s-1"]}
    assert titles(speak, "watched birds") and first["reflection_id"] not in [
        hit["memory"]["id"]
        for hit in speak.ok("lore_search", query="watched birds", min_score=0.0)["results"]
    ]
    [learnt] = fetch(speak, first["memories_created"][0]["id"])
    [hit] = speak.ok("lore_search", ids=[learnt["id"]])["results"]
    assert [link["target_memory_id"] for link in hit["links"]] == [first["reflection_id"]]
    assert "Likes birds" in fetch(speak, first["reflection_id"])[0]["content"]


def test_a_reflection_without_a_session_or_summary_is_refused(speak):
    assert refused(speak, "lore_reflect", session_id="s") == "summary: required"
    assert "must not be empty" in refused(speak, "lore_reflect", session_id=" ", summary="x")


def test_recommendations_are_rounded_and_bounded(ctx):
    speak = tuned(ctx, LORE_DUPLICATE_THRESHOLD="1.5", LORE_LINK_SCORE_THRESHOLD="0.1", LORE_LINK_TOP_M="2")
    ids = [insert(speak, f"Heron {number}", f"the heron fishes at dawn {number}") for number in range(4)]
    answer = speak.ok("lore_recommend_links", lore_id=ids[0])
    assert (answer["count"], answer["source_lore_id"]) == (2, ids[0]) and len(answer["candidates"]) == 2
    best = answer["candidates"][0]
    assert list(best) == ["source_lore_id", "target_lore_id", "weighted_score", "scores"]
    assert list(best["scores"]) == ["cosine", "bm25", "entity", "temporal"]
    assert all(value == round(value, 4) for value in [best["weighted_score"], *best["scores"].values()])
    assert speak.ok("lore_recommend_links", lore_id=ids[0], top_k=99)["count"] == 3
    unknown = speak.ok("lore_recommend_links", lore_id="nope")
    assert unknown == {"candidates": [], "count": 0, "source_lore_id": "nope"}


def test_a_bad_recommendation_is_refused(speak):
    assert refused(speak, "lore_recommend_links", lore_id=" ") == "lore_id is required"
    assert refused(speak, "lore_recommend_links", lore_id="x", top_k=0) == "top_k must be a positive integer"


# -- namespaces


def test_shared_sees_all_and_another_itself_and_shared(ctx):
    shared, research, other = (tuned(ctx, LORE_NAMESPACE=name) for name in ("shared", "research", "other"))
    common = insert(shared, "Common heron", "fishes")
    own = insert(research, "Own heron", "sleeps")
    assert fetch(shared, own)[0]["namespace"] == "research"
    assert set(titles(shared, "heron")) == set(titles(research, "heron")) == {"Common heron", "Own heron"}
    assert titles(other, "heron") == ["Common heron"] and fetch(other, own) == []
    assert other.ok("lore_forget", memory_ids=[own])["not_found"] == [own]
    rated = other.ok("lore_update", memory_feedback=[{"id": own, "useful": True}])
    assert rated["errors"] == [{"id": own, "error": "not found"}]
    assert other.ok("lore_recommend_links", lore_id=own)["count"] == 0
    linking = [
        {"source_memory_id": common, "target_memory_id": own, "relation_type": "used_in", "reason": "r"}
    ]
    assert other.ok("lore_insert", links=linking)["inserted_links"] == []
    assert insert(other, "Own heron", "dances elsewhere entirely"), "a title that is not seen is free"
    assert shared.ok("lore_insert", memories=[{"title": "Own heron"}])["duplicates"]


def test_the_connection_s_namespace_counts_before_the_variable(ctx):
    speak = DialectClient(
        LOREKEEPER, replace(ctx, namespace="mine", variables={"LORE_NAMESPACE": "research"})
    )
    assert fetch(speak, insert(speak, "Heron"))[0]["namespace"] == "mine"
    kept(ctx, "a global heron")
    kept(ctx, "a foreign heron", namespace="research")
    assert set(titles(speak, "heron")) == {"Heron", "a global heron"}


def test_a_token_keeps_to_its_namespaces(ctx):
    insert(tuned(ctx), "Secret heron")
    speak = DialectClient(LOREKEEPER, ctx.limited_to(Grant(namespaces=("a",), can_write=True)))
    assert titles(speak, "heron") == [] and fetch(speak, insert(speak, "Heron"))[0]["namespace"] == "a"
    outside = DialectClient(
        LOREKEEPER, replace(ctx, variables={"LORE_NAMESPACE": "b"}).limited_to(Grant(("a",), True))
    )
    assert "may not use 'b'" in refused(outside, "lore_remember", thought="x")


# -- variables


def test_every_variable_has_its_documented_default():
    assert settings_of({}) == LoreSettings()
    settings = LoreSettings()
    assert (settings.search_limit, settings.duplicate_threshold, settings.decay_lambda) == (10, 0.85, 0.0077)
    assert (settings.w_semantic, settings.w_keyword, settings.w_score, settings.w_usage) == (
        0.45,
        0.30,
        0.15,
        0.10,
    )
    assert (settings.score_bump_up, settings.score_bump_down, settings.confidence_window_size) == (
        0.5,
        0.5,
        20,
    )
    assert (settings.max_refine_from_ids, settings.max_search_ids, settings.link_top_m) == (200, 50, 10)


def test_variables_are_read_in_their_types():
    given = {
        "LORE_SEARCH_LIMIT": "3",
        "LORE_W_MEMORY": "0.5",
        "LORE_AUTO_LINK_ENABLED": "off",
        "LORE_VECTOR_STORE": "chroma",
        "LORE_LINK_TOP_M": "",
        "LORE_LOG_DIR": "/nowhere",
    }
    settings = settings_of(given)
    assert (settings.search_limit, settings.w_score, settings.auto_link_enabled) == (3, 0.5, False)
    assert settings.link_top_m == 10
    assert settings_of({"LORE_W_MEMORY": "0.5", "LORE_W_SCORE": "0.2"}).w_score == 0.2


@pytest.mark.parametrize(
    "variable, value, why",
    [
        ("LORE_SEARCH_LIMIT", "many", "LORE_SEARCH_LIMIT: must be a whole number, not 'many'"),
        ("LORE_SEARCH_LIMIT", "0", "LORE_SEARCH_LIMIT: must be at least 1, not '0'"),
        ("LORE_W_SEMANTIC", "x", "LORE_W_SEMANTIC: must be a number, not 'x'"),
        ("LORE_W_MEMORY", "-1", "LORE_W_MEMORY: must be at least 0, not '-1'"),
        ("LORE_DECAY_LAMBDA", "nan", "LORE_DECAY_LAMBDA: must be at least 0, not 'nan'"),
        ("LORE_AUTO_LINK_ENABLED", "maybe", "LORE_AUTO_LINK_ENABLED: must be true or false, not 'maybe'"),
    ],
)
def test_a_bad_variable_is_named(ctx, variable, value, why):
    with pytest.raises(Invalid, match=variable) as failure:
        settings_of({variable: value})
    assert str(failure.value) == why
    assert refused(tuned(ctx, **{variable: value}), "lore_search", query="x") == why


def test_variables_tune_the_tools(ctx):
    speak = tuned(
        ctx,
        LORE_SEARCH_LIMIT="2",
        LORE_MAX_SEARCH_IDS="1",
        LORE_NEW_MEMORY_DEFAULT_SCORE="6",
        LORE_SOFT_DELETE_CONFIDENCE_THRESHOLD="5",
        LORE_MAX_LINKS_PER_MEMORY="0",
    )
    ids = [insert(speak, f"Heron {number}") for number in range(3)]
    assert len(titles(speak, "heron")) == 2
    assert "cap of 1" in refused(speak, "lore_search", ids=ids)
    assert fetch(speak, ids[0])[0]["score"] == 6.0
    doubt = [{"id": ids[0], "useful": False, "confidence": 5}]
    assert speak.ok("lore_update", memory_feedback=doubt)["soft_deleted_memories"] == 1
