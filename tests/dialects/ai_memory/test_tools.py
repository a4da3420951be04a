"""The dialect of ai-memory: every tool, every sentence of refusal, its schemas, prompts and TOON."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from threading import Thread

import pytest
from dialect_client import DialectClient
from support import START, everything, write
from toon_reader import read

from mnemic.app import dialect
from mnemic.core.memories import Note
from mnemic.core.upsert import store_all
from mnemic.dialects.ai_memory import toon
from mnemic.dialects.ai_memory.dialect import AN_ID, ANOTHER_ID, TOOLS
from mnemic.dialects.ai_memory.endpoints.links import LinkRequest, create_link
from mnemic.model.access import Grant
from mnemic.model.filter import ANY_EDGE
from mnemic.model.graph import EdgeDraft
from mnemic.model.time import DAY, HOUR, iso
from mnemic.transports.mcp.methods import Endpoint

AI_MEMORY = dialect("ai-memory")
LANGUAGE = ("memory_expand_query", "memory_auto_tag", "memory_detect_contradiction")
"""These ask a language model: see test_ai_memory_language.py."""
EXAMPLES = [
    (name, example.arguments)
    for name, one in AI_MEMORY.operations.items()
    for example in one.examples
    if name not in LANGUAGE
]
NOWHERE = "00000000-0000-4000-8000-000000000000"
FIELDS = {
    *("id", "tier", "namespace", "title", "content", "tags", "priority", "confidence", "source"),
    *("access_count", "created_at", "updated_at", "expires_at", "metadata"),
}


@pytest.fixture
def speak(ctx):
    return DialectClient(AI_MEMORY, ctx)


def stored(speak, title, content="", **more):
    """The id of a memory that is stored."""
    return speak.ok("memory_store", title=title, content=content or f"Content of {title}", **more)["id"]


def got(speak, id):
    return speak.ok("memory_get", id=id)


def found(speak, tool, **arguments):
    """The titles of what a tool lists."""
    told = speak.ok(f"memory_{tool}", format="json", **arguments)
    return [memory["title"] for memory in told.get("memories", told.get("results"))]


def refused(speak, tool, **arguments):
    """The sentence with which a call is refused."""
    answer = speak(f"memory_{tool}", **arguments)
    assert answer.is_error and answer.structured is None
    return answer.text


# -- the declarations


def test_the_tools_are_listed_in_their_order_and_answer_in_text_alone(speak):
    listed = speak.say("tools/list")["tools"]
    assert [tool["name"] for tool in listed] == list(TOOLS) and len(TOOLS) == 26
    for tool in listed:
        assert tool["description"].endswith(".") and "outputSchema" not in tool
        assert all(part["description"] for part in tool["inputSchema"]["properties"].values())


def schema(tool):
    return AI_MEMORY.listed(AI_MEMORY.operations[f"memory_{tool}"])["inputSchema"]


@pytest.mark.parametrize(
    "tool, argument, stated",
    [
        ("store", "title", {"maxLength": 512}),
        ("store", "tier", {"default": "mid", "enum": ["short", "mid", "long"]}),
        ("store", "tags", {"default": [], "maxItems": 50}),
        ("store", "priority", {"default": 5, "minimum": 1, "maximum": 10}),
        ("store", "confidence", {"default": 1.0, "minimum": 0.0, "maximum": 1.0}),
        ("store", "source", {"default": "claude"}),
        ("recall", "limit", {"default": 10, "minimum": 1, "maximum": 50}),
        ("recall", "format", {"default": "toon_compact", "enum": ["json", "toon", "toon_compact"]}),
        ("search", "limit", {"default": 20, "maximum": 200}),
        ("list", "limit", {"default": 20, "maximum": 200}),
        ("session_start", "limit", {"default": 10, "maximum": 50}),
        ("archive_list", "limit", {"default": 50, "maximum": 1000}),
        ("archive_list", "offset", {"default": 0, "minimum": 0}),
        ("archive_purge", "older_than_days", {"minimum": 0}),
        ("consolidate", "ids", {"minItems": 2, "maxItems": 100}),
        ("link", "relation", {"default": "related_to"}),
        ("forget", "dry_run", {"default": False, "type": "boolean"}),
        ("gc", "dry_run", {"default": False}),
    ],
)
def test_a_schema_states_limits_defaults_and_choices(tool, argument, stated):
    told = schema(tool)["properties"][argument]
    assert {key: told.get(key) for key in stated} == stated


def test_null_is_no_part_of_a_schema():
    for name in TOOLS:
        assert "null" not in json.dumps(schema(name.removeprefix("memory_")))


@pytest.mark.parametrize("name, arguments", EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_every_example_runs(ctx, name, arguments):
    chosen = iter((AN_ID, ANOTHER_ID))
    speak = DialectClient(AI_MEMORY, replace(ctx, new_uid=partial(next, chosen, NOWHERE)))
    for title in ("One", "Two"):
        stored(speak, title, namespace="app")
    if name == "memory_archive_restore":
        speak.ok("memory_forget", namespace="app")
    answer = speak(name, **arguments)
    assert not answer.is_error, answer.text


# -- the protocol


def test_the_server_calls_itself_ai_memory_and_offers_tools_and_prompts(ctx):
    told = Endpoint(AI_MEMORY).initialize(ctx, {"protocolVersion": "2024-11-05"})
    assert told["serverInfo"]["name"] == "ai-memory" and told["protocolVersion"] == "2024-11-05"
    assert set(told["capabilities"]) == {"tools", "prompts"}


def test_json_is_written_with_two_spaces_and_nothing_beside_it(speak):
    answer = speak("memory_stats")
    assert answer.structured is None and len(answer.content) == 1
    assert answer.text == json.dumps(answer.json, indent=2)


def test_an_unknown_tool_is_reported(speak):
    answer = speak("memory_nope")
    assert answer.is_error and answer.text == "unknown tool: memory_nope"


def test_unknown_arguments_are_passed_over_and_null_is_not_given(speak):
    id = stored(speak, "Odd", extra=1, tags=None, priority=None, tier=None)
    assert got(speak, id)["priority"] == 5
    assert refused(speak, "store", title=None, content="x") == "title is required"


@pytest.mark.parametrize(
    "tool, field",
    [
        *(("store", name) for name in ("title", "content")),
        *((name, "id") for name in ("get", "update", "delete", "promote", "get_links", "archive_restore")),
        ("recall", "context"),
        ("search", "query"),
        ("link", "source_id"),
        ("link", "target_id"),
        ("consolidate", "ids"),
        ("consolidate", "title"),
        ("expand_query", "query"),
        ("auto_tag", "id"),
        ("detect_contradiction", "id_a"),
        ("namespace_set_standard", "namespace"),
        ("namespace_set_standard", "id"),
        ("namespace_get_standard", "namespace"),
        ("namespace_clear_standard", "namespace"),
    ],
)
def test_what_is_missing_is_named(speak, tool, field):
    good = {"ids": [AN_ID, ANOTHER_ID]}
    given = {name: good.get(name, "x") for name in schema(tool)["required"] if name != field}
    assert refused(speak, tool, **given) == f"{field} is required"


# -- prompts


def test_two_prompts_are_listed(speak):
    prompts = speak.say("prompts/list")["prompts"]
    assert {one["name"]: [part["name"] for part in one["arguments"]] for one in prompts} == {
        "recall-first": ["namespace"],
        "memory-workflow": [],
    }


def prompt(speak, name, **arguments):
    [message] = speak.say("prompts/get", name=name, arguments=arguments)["messages"]
    assert message["role"] == "user"
    return message["content"]["text"]


def test_recall_first_has_eight_rules_and_keeps_to_a_namespace(speak):
    text = prompt(speak, "recall-first")
    assert [line[:2] for line in text.splitlines() if line[:1].isdigit()] == [f"{n}." for n in range(1, 9)]
    assert "apollo" not in text and "'apollo'" in prompt(speak, "recall-first", namespace="apollo")


def test_memory_workflow_names_every_tool(speak):
    lines = prompt(speak, "memory-workflow").splitlines()
    named = sorted(line.split()[1].rstrip(":") for line in lines if line.startswith("- "))
    assert named == sorted(TOOLS)


# -- one memory


def test_a_memory_is_stored_with_the_documented_defaults(speak):
    told = speak.ok("memory_store", title="Axum", content="We use Axum.")
    assert told == {"id": told["id"], "tier": "mid", "title": "Axum", "namespace": "global"}
    kept = got(speak, told["id"])
    assert {*FIELDS, "links"} <= kept.keys() and kept["links"] == []
    assert (kept["source"], kept["confidence"], kept["tags"], kept["metadata"]) == ("claude", 1.0, [], {})
    assert kept["expires_at"] == iso(START + 7 * DAY)


def test_a_memory_is_stored_as_given(speak):
    given = {
        "title": "Axum",
        "content": "We use Axum.",
        "tier": "long",
        "namespace": "web-app",
        "tags": ["rust", "web"],
        "priority": 6,
        "confidence": 0.8,
        "source": "user",
        "metadata": {"ticket": 17, "by": {"name": "Ada"}},
    }
    kept = got(speak, speak.ok("memory_store", **given)["id"])
    assert {name: kept[name] for name in given} == given and "expires_at" not in kept


def test_a_known_title_is_updated_and_said_so(speak):
    first = stored(speak, "Release day", "Monday", priority=9)
    told = speak.ok("memory_store", title="Release day", content="Friday", priority=2)
    assert (told["id"], told["duplicate"], told["action"]) == (first, True, "updated existing memory")
    kept = got(speak, first)
    assert (kept["content"], kept["priority"]) == ("Friday", 9)


def test_similar_titles_are_named_as_potential_contradictions(speak):
    first = stored(speak, "Deploy day is Monday", namespace="ops")
    told = speak.ok("memory_store", title="Deploy day is Friday", content="x", namespace="ops")
    assert told["potential_contradictions"] == [first]


def test_a_connection_with_a_namespace_writes_there(ctx):
    speak = DialectClient(AI_MEMORY, replace(ctx, namespace="mine"))
    assert got(speak, stored(speak, "Here"))["namespace"] == "mine"
    stored(speak, "There", namespace="other")
    assert found(speak, "list") == ["Here"] and found(speak, "list", namespace="other") == ["There"]


def test_an_update_changes_the_given_fields_and_replaces_metadata_whole(speak):
    id = stored(speak, "Cache", "Memcached", tags=["infra"], metadata={"v": 1, "gone": True})
    told = speak.ok("memory_update", id=id, content="Redis", metadata={"v": 2}, priority=8)
    assert told["updated"] is True and told["memory"]["id"] == id
    kept = got(speak, id)
    assert (kept["content"], kept["metadata"], kept["priority"]) == ("Redis", {"v": 2}, 8)
    assert (kept["title"], kept["tags"]) == ("Cache", ["infra"])


def test_an_update_sets_and_takes_away_the_end(speak):
    id = stored(speak, "Fleeting")
    speak.ok("memory_update", id=id, expires_at=iso(START + HOUR))
    assert got(speak, id)["expires_at"] == iso(START + HOUR)
    speak.ok("memory_update", id=id, expires_at=None, priority=7)
    assert got(speak, id)["expires_at"] == iso(START + HOUR)
    speak.ok("memory_update", id=id, expires_at="")
    assert "expires_at" not in got(speak, id)


def test_an_update_never_lowers_the_tier(speak):
    id = stored(speak, "Rule", tier="long")
    speak.ok("memory_update", id=id, tier="short")
    assert got(speak, id)["tier"] == "long"


def test_an_update_onto_a_taken_title_is_refused(speak):
    id, other = stored(speak, "One"), stored(speak, "Two")
    sentence = f"title 'Two' already exists in namespace 'global' (memory {other})"
    assert refused(speak, "update", id=id, title="Two") == sentence


def test_a_deleted_memory_is_gone_with_its_links_and_not_archived(ctx, speak):
    one, two = stored(speak, "One"), stored(speak, "Two")
    speak.ok("memory_link", source_id=one, target_id=two)
    assert speak.ok("memory_delete", id=one) == {"deleted": True}
    assert refused(speak, "get", id=one) == "memory not found"
    assert speak.ok("memory_get_links", id=two) == {"links": [], "count": 0}
    assert speak.ok("memory_archive_stats")["archived_total"] == 0
    DialectClient(dialect("mnemic"), ctx).ok("restore", ids=[one])
    assert got(speak, one)["title"] == "One"


def test_a_promoted_memory_has_no_end(speak):
    id = stored(speak, "Worth it", tier="short")
    assert speak.ok("memory_promote", id=id) == {"promoted": True, "id": id, "tier": "long"}
    assert "expires_at" not in got(speak, id)


def test_the_beginning_of_an_id_will_do_unless_several_begin_so(ctx):
    uids = iter(("aaaa1111-0000-4000-8000-000000000000", "aaaa2222-0000-4000-8000-000000000000"))
    speak = DialectClient(AI_MEMORY, replace(ctx, new_uid=partial(next, uids)))
    one, two = stored(speak, "One"), stored(speak, "Two")
    assert got(speak, "aaaa1")["id"] == one
    speak.ok("memory_update", id="aaaa2", priority=9)
    assert got(speak, two)["priority"] == 9
    assert refused(speak, "get", id="aaaa") == f"ambiguous ID prefix 'aaaa': 2 matches\n{one}\n{two}"
    assert speak.ok("memory_promote", id="aaaa1")["id"] == one
    assert speak.ok("memory_delete", id="aaaa1") == {"deleted": True}


@pytest.mark.parametrize("tool", ["get", "update", "delete", "promote", "get_links"])
def test_an_unknown_id_is_reported(speak, tool):
    assert refused(speak, tool, id=NOWHERE) == "memory not found"


SOURCES = "user, claude, hook, api, cli, import, consolidation, system"
BAD = [
    ({"title": ""}, "title cannot be empty"),
    ({"title": " \n"}, "title cannot be empty"),
    ({"title": 7}, "title must be a string"),
    ({"title": "é" * 257}, "title exceeds max length of 512 bytes"),
    ({"title": "a\0b"}, "title cannot contain null bytes or control characters"),
    ({"content": ""}, "content cannot be empty"),
    ({"content": "x" * 65_537}, "content exceeds max size of 65536 bytes"),
    ({"namespace": ""}, "namespace cannot be empty"),
    ({"namespace": "é" * 65}, "namespace exceeds max length of 128 bytes"),
    ({"namespace": "a/b"}, "namespace cannot contain slashes or null bytes"),
    ({"namespace": "a b"}, "namespace cannot contain spaces (use hyphens or underscores)"),
    ({"tags": "rust"}, "tags must be a list of strings"),
    ({"tags": [str(n) for n in range(51)]}, "too many tags (max 50)"),
    ({"tags": ["ok", ""]}, "tags cannot contain empty strings"),
    ({"tags": ["x" * 129]}, "tag exceeds max length of 128 bytes"),
    ({"priority": 0}, "priority must be between 1 and 10 (got 0)"),
    ({"priority": 10**15}, f"priority must be between 1 and 10 (got {10**15})"),
    ({"priority": "high"}, "priority must be an integer"),
    ({"confidence": 1.5}, "confidence must be between 0.0 and 1.0 (got 1.5)"),
    ({"confidence": "sure"}, "confidence must be a finite number"),
    ({"tier": "eternal"}, "invalid tier: eternal (use short, mid or long)"),
    ({"metadata": []}, "metadata must be a JSON object"),
    ({"metadata": {"x": "y" * 65_536}}, "metadata exceeds max size of 65536 bytes (got 65544)"),
]


@pytest.mark.parametrize("bad, sentence", BAD)
def test_what_breaks_a_rule_is_refused_with_its_sentence(ctx, speak, bad, sentence):
    id = stored(speak, "Steady")
    before = everything(ctx.store)
    assert refused(speak, "store", **{"title": "fine", "content": "fine", **bad}) == sentence
    assert refused(speak, "update", id=id, **bad) == sentence
    assert everything(ctx.store) == before


def test_a_title_and_a_namespace_may_have_as_many_bytes_as_the_limit(speak):
    assert stored(speak, "é" * 256, namespace="é" * 64)


def test_a_source_must_be_known(speak):
    sentence = f"invalid source 'stranger' — must be one of: {SOURCES}"
    assert refused(speak, "store", title="x", content="y", source="stranger") == sentence


@pytest.mark.parametrize(
    "end, sentence",
    [
        ("next week", "expires_at is not valid RFC3339: 'next week'"),
        ("2030-01-01", "expires_at is not valid RFC3339: '2030-01-01'"),
        ("2099-02-30T00:00:00Z", "expires_at is not valid RFC3339: '2099-02-30T00:00:00Z'"),
        ("2020-01-01T00:00:00Z", "expires_at is in the past"),
        (7, "expires_at must be a string"),
    ],
)
def test_an_end_must_be_a_moment_ahead(speak, end, sentence):
    assert refused(speak, "update", id=stored(speak, "x"), expires_at=end) == sentence


@pytest.mark.parametrize(
    "end",
    [
        *("20990101T000000Z", "2099-01-01T00:00Z", "2099-W05-1T00:00:00Z", "2099-01-01X00:00:00Z"),
        *("2099-01-01T00:00:00,5Z", " 2099-01-01T00:00:00Z", "2099-01-01T00:00:00Z\n", "2099-01-01T00:00:00"),
        *("2099-01-01T00:00:00+0000", "2099-01-01T24:00:00Z", "٢099-01-01T00:00:00Z"),
        "9999-12-31T23:59:59-01:00",
    ],
)
def test_an_end_is_written_as_rfc_3339_says(speak, end):
    sentence = f"expires_at is not valid RFC3339: '{end}'"
    assert refused(speak, "update", id=stored(speak, "x"), expires_at=end) == sentence


@pytest.mark.parametrize(
    "end, read_as",
    [
        ("2099-01-01t00:00:00z", "2099-01-01T00:00:00+00:00"),
        ("2099-01-01T00:00:00.25-02:00", "2099-01-01T02:00:00.250000+00:00"),
        ("2099-01-01 00:00:00Z", "2099-01-01T00:00:00+00:00"),
    ],
)
def test_an_end_may_be_written_in_any_way_that_rfc_3339_allows(speak, end, read_as):
    id = stored(speak, "x")
    assert speak.ok("memory_update", id=id, expires_at=end)["memory"]["expires_at"] == read_as


# -- finding


@pytest.fixture
def kiwis(speak, clock):
    stored(speak, "Kiwi here", "fruit", namespace="here", tags=["green", "sweet"], tier="long", priority=3)
    clock.advance(days=1)
    stored(speak, "Kiwi there", "fruit", namespace="there", tags=["brown"], priority=9)
    return speak


def test_recall_tells_score_count_and_mode(kiwis):
    told = kiwis.ok("memory_recall", context="kiwi fruit", format="json")
    assert (told["count"], told["mode"]) == (2, "hybrid")
    for memory in told["memories"]:
        assert FIELDS - {"expires_at"} <= memory.keys()
        assert memory["score"] > 0 and memory["score"] == round(memory["score"], 3)


def test_recall_counts_as_use_and_search_list_and_get_do_not(kiwis):
    for tool, arguments in (("search", {"query": "kiwi"}), ("list", {}), ("session_start", {})):
        found(kiwis, tool, **arguments)
    [memory] = kiwis.ok("memory_search", query="here", format="json")["results"]
    assert got(kiwis, memory["id"])["access_count"] == 0
    found(kiwis, "recall", context="kiwi", namespace="here")
    assert got(kiwis, memory["id"])["access_count"] == 1


@pytest.mark.parametrize(
    "filters, titles",
    [
        ({"namespace": "here"}, {"Kiwi here"}),
        ({"namespace": "nowhere/else"}, set()),
        ({"tags": "brown"}, {"Kiwi there"}),
        ({"tags": ["green", "sweet"]}, {"Kiwi here"}),
        ({"since": iso(START + HOUR)}, {"Kiwi there"}),
        ({"until": iso(START + HOUR)}, {"Kiwi here"}),
        ({"since": "2020-01-01", "until": "2030-01-01"}, {"Kiwi here", "Kiwi there"}),
        ({"limit": 1}, {"Kiwi there"}),
    ],
)
def test_recall_looks_only_where_it_is_reported(kiwis, filters, titles):
    assert set(found(kiwis, "recall", context="kiwi fruit", **filters)) == titles


def test_search_wants_every_word_and_list_goes_by_priority(kiwis):
    assert found(kiwis, "search", query="kiwi brown") == ["Kiwi there"]
    assert found(kiwis, "search", query="kiwi walnut") == []
    assert found(kiwis, "list") == ["Kiwi there", "Kiwi here"]
    for tool, arguments in (("search", {"query": "kiwi"}), ("list", {})):
        assert found(kiwis, tool, tier="long", **arguments) == ["Kiwi here"]
        assert found(kiwis, tool, namespace="there", **arguments) == ["Kiwi there"]


@pytest.mark.parametrize("limit, count", [(0, 1), (-5, 1), (3, 3), (51, 50), (10**15, 50)])
def test_a_limit_is_brought_into_its_bounds(ctx, speak, limit, count):
    store_all(ctx, [Note(name=f"Item {n}", text="walnut") for n in range(55)])
    assert len(found(speak, "recall", context="walnut", limit=limit)) == count


@pytest.mark.parametrize(
    "tool, arguments, sentence",
    [
        ("recall", {"context": " "}, "context is required"),
        ("recall", {"context": ["x"]}, "context must be a string"),
        ("recall", {"context": "x", "limit": "ten"}, "limit must be an integer"),
        ("recall", {"context": "x", "limit": True}, "limit must be an integer"),
        ("recall", {"context": "x", "namespace": ""}, "namespace cannot be empty"),
        (
            "recall",
            {"context": "x", "since": "soon"},
            "since is not a valid time: 'soon' (use RFC3339, a date or a span such as 7d)",
        ),
        ("recall", {"context": "x", "until": 7}, "until must be a string"),
        (
            "recall",
            {"context": "x", "format": "yaml"},
            "invalid format: yaml (use json, toon or toon_compact)",
        ),
        ("search", {"query": ""}, "query is required"),
        ("list", {"tier": "eternal"}, "invalid tier: eternal (use short, mid or long)"),
        ("archive_list", {"offset": "x"}, "offset must be an integer"),
        ("forget", {"namespace": "x", "dry_run": "yes"}, "dry_run must be true or false"),
        ("forget", {"pattern": "**"}, "pattern has no words"),
        ("archive_purge", {"older_than_days": -1}, "older_than_days must be non-negative (got -1)"),
    ],
)
def test_a_question_that_is_none_is_refused(speak, tool, arguments, sentence):
    assert refused(speak, tool, **arguments) == sentence


# -- TOON


def table(answer):
    return read(answer.text).tables["memories"]


@pytest.mark.parametrize(
    "tool, arguments", [("recall", {"context": "kiwi"}), ("search", {"query": "kiwi"}), ("list", {})]
)
def test_lists_are_in_compact_toon_by_default(kiwis, tool, arguments):
    answer = kiwis(f"memory_{tool}", namespace="there", **arguments)
    meta, header, row, end = answer.text.split("\n")
    assert meta == ("count:1|mode:hybrid" if tool == "recall" else "count:1") and end == ""
    assert header == "memories[id|title|tier|namespace|priority|score|tags]:"
    id, *rest = row.split("|")
    assert got(kiwis, id)["title"] == "Kiwi there" and rest[:4] == ["Kiwi there", "mid", "there", "9"]
    assert rest[5] == "brown" and bool(rest[4]) == (tool == "recall")


@pytest.mark.parametrize(
    "tool, arguments",
    [("recall", {"context": "kiwi"}), ("search", {"query": "kiwi"}), ("list", {}), ("session_start", {})],
)
def test_toon_has_the_twelve_columns(kiwis, tool, arguments):
    for row in table(kiwis(f"memory_{tool}", format="toon", **arguments)):
        assert tuple(row) == toon.FULL
        assert (row["confidence"], row["access_count"], row["source"]) == ("1.0", "0", "claude")


@pytest.mark.parametrize("title", ["A|B", "two\nlines", "C:\\temp|", "\\|"])
def test_a_title_is_read_back_from_toon(speak, title):
    stored(speak, title, tags=["x|y"])
    [row] = table(speak("memory_list"))
    assert (row["title"], row["tags"], row["score"]) == (title, "x|y", "")


# -- the start of a session, and standards


def test_a_session_starts_with_what_matters_most(kiwis):
    told = kiwis.ok("memory_session_start", format="json")
    assert (told["mode"], told["count"]) == ("session_start", 2) and "summary" not in told
    assert [(one["title"], one["score"]) for one in told["memories"]] == [
        ("Kiwi there", 0.0),
        ("Kiwi here", 0.0),
    ]
    assert kiwis("memory_session_start").text.startswith("count:2|mode:session_start\n")
    assert found(kiwis, "session_start", namespace="here", limit=1) == ["Kiwi here"]


def test_a_standard_is_set_read_and_cleared(speak):
    id = stored(speak, "House rules", "Write tests first.", namespace="app", priority=8)
    set_ = {"set": True, "namespace": "app", "standard_id": id}
    assert speak.ok("memory_namespace_set_standard", namespace="app", id=id[:13]) == set_
    assert speak.ok("memory_namespace_get_standard", namespace="app") == {
        "namespace": "app",
        "standard_id": id,
        "title": "House rules",
        "content": "Write tests first.",
        "priority": 8,
    }
    cleared = {"cleared": True, "namespace": "app"}
    assert speak.ok("memory_namespace_clear_standard", namespace="app") == cleared
    none = {"namespace": "app", "standard_id": None}
    assert speak.ok("memory_namespace_get_standard", namespace="app") == none
    assert speak.ok("memory_namespace_clear_standard", namespace="app") == {**cleared, "cleared": False}


def test_standards_stand_apart_the_most_general_first(speak):
    ids = {}
    for namespace in ("*", "company", "team"):
        ids[namespace] = stored(speak, f"Rules of {namespace}", namespace="policies")
        more = {"parent": "company"} if namespace == "team" else {}
        told = speak.ok("memory_namespace_set_standard", namespace=namespace, id=ids[namespace], **more)
        assert told.get("parent") == more.get("parent")
    stored(speak, "Ours", "rules of thumb", namespace="policies")
    one = speak.ok("memory_recall", context="rules", namespace="policies", format="json")
    assert one["standard"]["id"] == ids["*"] and "standards" not in one
    assert one["count"] == len(one["memories"]) == 3
    told = speak.ok("memory_session_start", namespace="team", format="json")
    assert [memory["id"] for memory in told["standards"]] == list(ids.values()) and told["count"] == 0
    text = speak("memory_recall", context="rules", namespace="team").text
    assert [row["id"] for row in read(text).tables["standards"]] == list(ids.values())


def test_a_standard_that_is_gone_is_reported(speak):
    id = stored(speak, "House rules", namespace="app")
    speak.ok("memory_namespace_set_standard", namespace="app", id=id)
    speak.ok("memory_delete", id=id)
    gone = {"standard_id": None, "warning": "standard memory not found — may have been deleted"}
    assert speak.ok("memory_namespace_get_standard", namespace="app") == {"namespace": "app", **gone}
    assert "standard" not in speak.ok("memory_recall", context="rules", namespace="app", format="json")


@pytest.mark.parametrize(
    "more, sentence",
    [
        ({"id": NOWHERE}, f"memory not found: {NOWHERE}"),
        ({"parent": "app"}, "namespace cannot be its own parent"),
        ({"parent": "a b"}, "parent cannot contain spaces (use hyphens or underscores)"),
        ({"namespace": "a/b"}, "namespace cannot contain slashes or null bytes"),
    ],
)
def test_a_standard_that_cannot_be_is_refused(speak, more, sentence):
    given = {"namespace": "app", "id": stored(speak, "House rules"), **more}
    assert refused(speak, "namespace_set_standard", **given) == sentence


# -- links and consolidation


def test_a_link_is_seen_from_both_ends_and_made_once(speak):
    one, two = stored(speak, "New plan"), stored(speak, "Old plan")
    for _ in range(2):
        assert speak.ok("memory_link", source_id=one, target_id=two, relation="supersedes") == {
            "linked": True,
            "source_id": one,
            "target_id": two,
            "relation": "supersedes",
        }
    link = {"source_id": one, "target_id": two, "relation": "supersedes", "created_at": iso(START)}
    for end in (one, two):
        assert speak.ok("memory_get_links", id=end) == {"links": [link], "count": 1}
        assert got(speak, end)["links"] == [link]


def test_to_link_again_leaves_the_weight_alone(ctx, speak):
    one, two = stored(speak, "One"), stored(speak, "Two")
    DialectClient(dialect("mnemic"), ctx).ok("link", source=one, target=two, type="related_to", weight=0.3)
    speak.ok("memory_link", source_id=one, target_id=two)
    [edge] = ctx.store.read().edges(ANY_EDGE)
    assert edge.weight == 0.3


@pytest.mark.parametrize("surface", ["tool", "endpoint"])
def test_a_link_that_someone_else_is_making_is_left_alone(ctx, speak, surface):
    ends = {"source_id": stored(speak, "One"), "target_id": stored(speak, "Two")}
    if surface == "tool":
        linking = Thread(target=speak.ok, args=("memory_link",), kwargs=ends)
    else:
        linking = Thread(target=create_link, args=(ctx, LinkRequest(**ends)))

    def work(tx):
        tx.insert_edge(EdgeDraft(1, 2, "related_to", weight=0.3))
        linking.start()
        linking.join(0.3)  # by now it waits for its turn

    write(ctx.store, work, operation="link", actor="tester", at=ctx.now())
    linking.join()
    [edge] = ctx.store.read().edges(ANY_EDGE)
    assert edge.weight == 0.3


def test_links_that_cannot_be_are_refused(speak):
    one, two = stored(speak, "One"), stored(speak, "Two")
    relations = "related_to, supersedes, contradicts, derived_from"
    for given, sentence in [
        ({"target_id": one}, "cannot link a memory to itself"),
        ({"relation": "likes"}, f"invalid relation 'likes' — must be one of: {relations}"),
        ({"source_id": NOWHERE}, f"source memory not found: {NOWHERE}"),
        ({"target_id": NOWHERE}, f"target memory not found: {NOWHERE}"),
    ]:
        assert refused(speak, "link", **{"source_id": one, "target_id": two, **given}) == sentence
    assert speak.ok("memory_stats")["links_count"] == 0


def test_memories_are_consolidated(speak):
    ids = [
        stored(speak, f"Part {n}", tags=[f"t{n}", "all"], priority=n + 4, metadata={str(n): n})
        for n in range(3)
    ]
    told = speak.ok("memory_consolidate", ids=ids, title="Whole", summary="All of it.", namespace="app")
    assert told == {"id": told["id"], "consolidated": 3, "namespace": "app"}
    kept = got(speak, told["id"])
    assert (kept["title"], kept["content"], kept["namespace"]) == ("Whole", "All of it.", "app")
    assert (kept["tier"], kept["priority"], kept["source"]) == ("long", 6, "consolidation")
    assert kept["tags"] == ["all", "t0", "t1", "t2"]
    assert kept["metadata"] == {"0": 0, "1": 1, "2": 2, "derived_from": ids}
    assert [refused(speak, "get", id=id) for id in ids] == ["memory not found"] * 3


def test_consolidation_warns_when_a_standard_goes(speak):
    ids = [stored(speak, "One"), stored(speak, "Two")]
    speak.ok("memory_namespace_set_standard", namespace="app", id=ids[0])
    told = speak.ok("memory_consolidate", ids=ids, title="Whole", summary="All of it.")
    assert "standard of app" in told["warning"]


def test_consolidations_that_cannot_be_are_refused(ctx, speak):
    ids = [stored(speak, "One"), stored(speak, "Two")]
    other = stored(speak, "Taken")
    before = everything(ctx.store)
    needed = "summary is required (or use smart/autonomous tier for auto-summarization)"
    for given, sentence in [
        ({"ids": ids[:1]}, "need at least 2 memory IDs to consolidate"),
        ({"ids": [ids[0], ids[0]]}, "need at least 2 memory IDs to consolidate"),
        ({"ids": [str(n) for n in range(101)]}, "cannot consolidate more than 100 memories at once"),
        ({"ids": ids[0]}, "ids must be a list of strings"),
        ({"ids": [ids[0], NOWHERE]}, f"memory not found: {NOWHERE}"),
        ({"summary": None}, needed),
        ({"summary": ""}, "summary cannot be empty"),
        ({"title": "Taken"}, f"title 'Taken' already exists in namespace 'global' (memory {other})"),
    ]:
        assert (
            refused(speak, "consolidate", **{"ids": ids, "title": "T", "summary": "s", **given}) == sentence
        )
    assert everything(ctx.store) == before


# -- leaving


def test_forgetting_by_filter_archives(speak):
    stored(speak, "keep this", "permanent", namespace="app", tier="long")
    stored(speak, "drop one", "deprecated API", namespace="app", tier="short")
    stored(speak, "drop two", "deprecated API", namespace="app", tier="long")
    filters = {"namespace": "app", "pattern": "deprecated API", "tier": "short"}
    assert speak.ok("memory_forget", **filters, dry_run=True) == {"would_delete": 1, "dry_run": True}
    assert len(found(speak, "list")) == 3
    assert speak.ok("memory_forget", **filters) == {"deleted": 1, "archived": True}
    assert speak.ok("memory_forget", pattern="deprecated")["deleted"] == 1
    assert found(speak, "list") == ["keep this"]
    assert refused(speak, "forget") == "at least one of namespace, pattern, or tier is required"


def test_what_has_expired_is_collected_into_the_archive(speak, clock):
    id = stored(speak, "Fleeting", tier="short", tags=["t"], namespace="app", metadata={"v": 1})
    clock.advance(hours=7)
    assert found(speak, "list") == [] == found(speak, "recall", context="fleeting")
    stored(speak, "Living")
    speak.ok("memory_gc")
    [item] = speak.ok("memory_archive_list")["archived"]
    assert (item["id"], item["tags"], item["archive_reason"], item["metadata"]) == (id, ["t"], "gc", {"v": 1})
    assert item["archived_at"] and item.keys() >= FIELDS


def test_a_dry_collection_only_counts(ctx, speak, clock):
    stored(speak, "Fleeting", tier="short")
    clock.advance(hours=7)
    before = everything(ctx.store)
    assert speak.ok("memory_gc", dry_run=True) == {"collected": 1, "dry_run": True}
    assert everything(ctx.store) == before
    assert speak.ok("memory_gc") == {"collected": 1, "dry_run": False}
    assert speak.ok("memory_gc") == {"collected": 0, "dry_run": False}


def test_the_archive_is_listed_in_pages_and_counted(speak, clock):
    for title, namespace in (("a0", "a"), ("a1", "a"), ("b0", "b")):
        stored(speak, title, namespace=namespace)
        clock.advance(minutes=1)
        speak.ok("memory_forget", namespace=namespace)
    listed = speak.ok("memory_archive_list")
    assert [item["title"] for item in listed["archived"]] == ["b0", "a1", "a0"] and listed["count"] == 3
    assert listed["archived"][0]["archive_reason"] == "forget"
    page = speak.ok("memory_archive_list", limit=1, offset=1)["archived"]
    assert [item["title"] for item in page] == ["a1"]
    assert speak.ok("memory_archive_list", namespace="a")["count"] == 2
    assert speak.ok("memory_archive_list", offset=10**18)["count"] == 0
    archived = [item["archived_at"] for item in listed["archived"]]
    size = sum(len(item["title"] + item["content"]) for item in listed["archived"])
    assert speak.ok("memory_archive_stats") == {
        "archived_total": 3,
        "by_namespace": [{"namespace": "a", "count": 2}, {"namespace": "b", "count": 1}],
        "size_bytes": size,
        "oldest_archived_at": archived[-1],
        "newest_archived_at": archived[0],
    }


def test_an_archived_memory_comes_back_for_ever(speak):
    id = stored(speak, "Back again", namespace="app", tags=["x"], priority=7, tier="short")
    speak.ok("memory_forget", namespace="app")
    assert speak.ok("memory_archive_restore", id=id) == {"restored": True, "id": id}
    kept = got(speak, id)
    assert (kept["tier"], kept["tags"], kept["priority"]) == ("long", ["x"], 7) and "expires_at" not in kept
    assert refused(speak, "archive_restore", id=id) == "not found in archive"


def test_nothing_comes_back_over_a_memory_that_has_its_title(speak):
    old = stored(speak, "Taken", namespace="app")
    speak.ok("memory_forget", namespace="app")
    new = stored(speak, "Taken", namespace="app")
    sentence = f"cannot restore: memory {new} already exists in active table (would overwrite)"
    assert refused(speak, "archive_restore", id=old) == sentence


def test_the_archive_is_purged_by_age_or_whole(speak, clock):
    for title in ("old", "new"):
        stored(speak, title)
        speak.ok("memory_forget", tier="mid")
        clock.advance(days=2)
    assert speak.ok("memory_archive_purge", older_than_days=10**15) == {"purged": 0}
    assert speak.ok("memory_archive_purge", older_than_days=3) == {"purged": 1}
    assert speak.ok("memory_archive_purge") == {"purged": 1}
    assert speak.ok("memory_archive_list") == {"archived": [], "count": 0}


def test_the_store_is_reported_in_numbers(speak):
    one = stored(speak, "one", tier="long", namespace="x")
    two = stored(speak, "two", tier="short", namespace="x")
    stored(speak, "six", tier="long", namespace="y")
    speak.ok("memory_update", id=two, expires_at=iso(START + HOUR // 2))
    speak.ok("memory_link", source_id=one, target_id=two)
    told = speak.ok("memory_stats")
    assert told.pop("db_size_bytes") > 0
    assert told == {
        "total": 3,
        "by_tier": [{"tier": "long", "count": 2}, {"tier": "short", "count": 1}],
        "by_namespace": [{"namespace": "x", "count": 2}, {"namespace": "y", "count": 1}],
        "expiring_soon": 1,
        "links_count": 1,
    }


# -- who may do what


def test_a_caller_sees_only_the_namespaces_that_are_granted(ctx, speak):
    hidden, seen = stored(speak, "Hidden", namespace="theirs"), stored(speak, "Seen", namespace="ours")
    speak.ok("memory_link", source_id=hidden, target_id=seen)
    guest = DialectClient(AI_MEMORY, ctx.limited_to(Grant(("ours",), can_write=False)))
    assert found(guest, "list") == ["Seen"] == found(guest, "recall", context="hidden seen")
    assert refused(guest, "get", id=hidden) == "memory not found"
    assert got(guest, seen)["links"] == []
    assert refused(guest, "store", title="x", content="y") == "This token may read but not write."


@pytest.mark.parametrize(
    "tool, arguments, what",
    [
        ("expand_query", {"query": "auth"}, "query expansion"),
        ("auto_tag", {"id": AN_ID}, "auto-tagging"),
        ("detect_contradiction", {"id_a": AN_ID, "id_b": ANOTHER_ID}, "contradiction detection"),
    ],
)
def test_what_needs_a_language_model_says_so(speak, tool, arguments, what):
    assert refused(speak, tool, **arguments) == f"{what} requires smart or autonomous tier (Ollama LLM)"
