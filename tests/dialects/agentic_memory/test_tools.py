"""The dialect of AgenticMemory: its shapes, its words for failures, and what other dialects look like in it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from dialect_client import DialectClient
from support import START, kept

from mnemic.app import dialect
from mnemic.core.graph import link
from mnemic.core.memories import forget, supersede
from mnemic.model.access import Grant
from mnemic.storage.queries import count
from mnemic.transports.mcp.methods import ProtocolError

AGENTIC_MEMORY = dialect("agentic-memory")
NODE = {
    *("id", "event_type", "content", "confidence"),
    *("session_id", "created_at", "decay_score", "access_count"),
}


@pytest.fixture
def speak(ctx):
    return DialectClient(AGENTIC_MEMORY, ctx)


def add(speak, content, event_type="fact", to=(), **more):
    edges = [{"target_id": target, "edge_type": type} for type, target in to]
    return speak.ok("memory_add", event_type=event_type, content=content, edges=edges, **more)["node_id"]


def refused(speak, tool, **arguments):
    answer = speak(tool, **arguments)
    assert answer.is_error
    return answer.text


def nodes(speak, **conditions):
    return speak.ok("memory_query", **conditions)["nodes"]


def contents(found):
    return [node["content"] for node in found]


def protocol_error(speak, method, **params):
    with pytest.raises(ProtocolError) as caught:
        speak.say(method, **params)
    return caught.value.number, str(caught.value)


# -- the form of answers


def test_answers_are_json_that_a_person_can_read_and_the_same_as_an_object(speak):
    answer = speak("memory_add", event_type="fact", content="x")
    assert answer.text == '{\n  "node_id": 1,\n  "event_type": "fact",\n  "edges_created": 0\n}'
    assert answer.structured == answer.json


def test_schemas_tell_defaults_and_closed_sets(speak):
    offered = {tool["name"]: tool["inputSchema"]["properties"] for tool in speak.say("tools/list")["tools"]}
    assert offered["memory_add"]["confidence"]["default"] == 0.9
    assert offered["memory_add"]["event_type"]["enum"][0] == "fact"
    assert len(offered["memory_add"]["edges"]["anyOf"][0]["items"]["properties"]["edge_type"]["enum"]) == 8
    assert offered["memory_stats"] == {}


def test_the_arguments_that_its_first_home_lists_for_every_tool_are_passed_over(speak):
    generic = {"include_content": True, "intent": "x", "since": 0, "token_budget": 9, "cursor": None}
    add(speak, "one", **generic, max_results=0)
    for one in AGENTIC_MEMORY.operations.values():
        if one.examples:
            arguments = dict(one.examples[0].arguments)
            assert AGENTIC_MEMORY.parse(one, arguments | generic) == AGENTIC_MEMORY.parse(one, arguments)
    assert nodes(speak, max_results=0, cursor="x") == []
    assert "colour" in refused(speak, "memory_stats", colour="red")
    edges = [{"target_id": 1, "edge_type": "supports", "intent": "x"}]
    assert "intent" in refused(speak, "memory_add", event_type="fact", content="x", edges=edges)


def test_what_there_is_not_has_codes_of_its_own(speak):
    assert protocol_error(speak, "tools/call", name="memory_fly") == (-32803, "Tool not found: memory_fly")
    assert protocol_error(speak, "prompts/get", name="sing") == (-32804, "Prompt not found: sing")
    nowhere = (-32802, "Resource not found: amem://moon")
    assert protocol_error(speak, "resources/read", uri="amem://moon") == nowhere
    assert protocol_error(speak, "resources/read", uri="amem://node/9") == (-32802, "Node not found: 9")
    assert protocol_error(speak, "resources/read", uri="amem://node/x") == (-32602, "Invalid node ID: x")


@pytest.mark.parametrize(
    "tool, arguments, told",
    [
        (
            "memory_add",
            {"event_type": "fact", "content": "x", "confidence": 1.5},
            "Invalid params: confidence must be between 0.0 and 1.0, got 1.5",
        ),
        (
            "memory_add",
            {"event_type": "rumour", "content": "x"},
            "Invalid params: Unknown event type: rumour",
        ),
        ("memory_add", {"event_type": "fact", "content": " "}, "Invalid params: content must not be empty"),
        ("memory_add", {"event_type": "fact"}, "Invalid params: content: required"),
        (
            "memory_add",
            {"event_type": "fact", "content": "x", "edges": [{"target_id": 1, "edge_type": "rhymes"}]},
            "Invalid params: Unknown edge type: rhymes",
        ),
        (
            "memory_add",
            {"event_type": "fact", "content": "x", "edges": [{"target_id": 9, "edge_type": "supports"}]},
            "Edge references invalid node ID: 9",
        ),
        (
            "memory_traverse",
            {"start_id": 1, "edge_types": ["rhymes"]},
            "Invalid params: Unknown edge type: rhymes",
        ),
        ("memory_traverse", {"start_id": 9}, "AgenticMemory error: Traversal failed: Node ID 9 not found"),
        ("memory_context", {"node_id": 9}, "AgenticMemory error: Context failed: Node ID 9 not found"),
        ("memory_resolve", {"node_id": 9}, "AgenticMemory error: Resolve failed: Node ID 9 not found"),
        ("memory_causal", {"node_id": 9}, "AgenticMemory error: Causal analysis failed: Node ID 9 not found"),
        ("memory_correct", {"old_node_id": 9, "new_content": "x"}, "Node not found: 9"),
        ("memory_similar", {}, "Invalid params: Either query_vec or query_text is required"),
        (
            "conversation_log",
            {"user_message": "", "topic": "x"},
            "Invalid params: At least one of 'user_message' or 'agent_response' must be provided",
        ),
        (
            "memory_temporal",
            {"range_a": {"type": "time_window", "start": 1}, "range_b": {"type": "session", "session_id": 1}},
            "Invalid params: range_a: a range of type time_window needs end",
        ),
        ("session_end", {}, "No session has been started"),
    ],
)
def test_failures_are_reported_in_its_words(ctx, speak, tool, arguments, told):
    assert refused(speak, tool, **arguments) == told
    assert count(ctx.store.read()) == 0


# -- events


def test_a_node_that_cannot_be_linked_is_not_kept_nor_linked_to_itself(speak):
    add(speak, "one")
    edges = [{"target_id": 1, "edge_type": "supports"}, {"target_id": 2, "edge_type": "supports"}]
    assert "2" in refused(speak, "memory_add", event_type="fact", content="two", edges=edges)
    assert contents(nodes(speak)) == ["one"]


def test_equal_contents_make_two_nodes_and_the_temporal_edge_is_counted(speak):
    first = speak.ok("memory_add", event_type="fact", content="same")
    edges = [{"target_id": first["node_id"], "edge_type": "supports", "weight": 7}]
    second = speak.ok("memory_add", event_type="fact", content="same", edges=edges)
    assert (first["edges_created"], second["edges_created"]) == (0, 2)
    walked = speak.ok("memory_traverse", start_id=second["node_id"], edge_types=["supports"])
    assert [edge["weight"] for edge in walked["edges_traversed"]] == [1.0]


@pytest.mark.parametrize(
    "tool, field, arguments",
    [
        ("memory_add", "content", {"event_type": "fact"}),
        ("memory_correct", "new_content", {"old_node_id": 1}),
        ("conversation_log", "user_message", {}),
        ("conversation_log", "agent_response", {}),
        ("session_end", "summary", {}),
    ],
)
def test_a_text_is_limited_in_bytes(speak, tool, field, arguments):
    add(speak, "one")
    told = refused(speak, tool, **arguments, **{field: "é" * 32_769})
    assert told == f"Invalid params: {field} must not be longer than 65536 bytes, got 65538"
    assert contents(nodes(speak)) == ["one"]
    speak.ok(tool, **arguments, **{field: "é" * 32_764})


def test_a_turn_is_an_inference_that_tells_who_said_what(speak):
    logged = speak.ok("conversation_log", user_message="Which wood?", topic="greenhouse")
    assert logged == {
        "node_id": 1,
        "edges_created": 0,
        "message": "Conversation logged and linked to temporal chain",
    }
    assert speak.ok("conversation_log", agent_response="Cedar")["edges_created"] == 1
    first = nodes(speak, event_types=["inference"])[1]
    assert (first["event_type"], first["confidence"]) == ("inference", 0.72)
    assert first["content"].startswith("[conversation_meta] ")
    assert json.loads(first["content"].removeprefix("[conversation_meta] ")) == {
        "channel": "conversation",
        "version": 1,
        "topic": "greenhouse",
        "user_message": "Which wood?",
        "agent_response": None,
    }
    assert nodes(speak, event_types=["fact"]) == []


def test_memories_of_other_dialects_are_facts(ctx, speak):
    kept(ctx, "A note", namespace="work")
    kept(ctx, "A lesson", kind="skill")
    kept(ctx, "A person", kind="person")
    assert [(node["event_type"], node["session_id"]) for node in nodes(speak)] == [
        ("fact", 0),
        ("skill", 0),
        ("fact", 0),
    ]
    assert contents(nodes(speak, event_types=["fact", "rumour"])) == ["A person", "A note"]
    assert contents(nodes(speak, event_types=["skill"])) == ["A lesson"]
    assert len(nodes(speak, event_types=["rumour"])) == 3
    assert speak.ok("memory_stats")["type_counts"] == {
        **dict.fromkeys(("decision", "inference", "correction", "episode"), 0),
        "fact": 2,
        "skill": 1,
    }


def test_what_was_given_a_name_shows_it(ctx, speak):
    kept(ctx, "likes tea", name="Anna")
    add(speak, "Cedar resists rot. It lasts.")
    speak.ok("conversation_log", user_message="Why?")
    assert [one.get("title") for one in nodes(speak)] == [None, None, "Anna"]


def test_a_query_shows_nodes_whole_and_counts_as_use(speak, clock):
    add(speak, "one", "episode", confidence=0.5)
    [first] = nodes(speak)
    assert set(first) == NODE
    assert (first["created_at"], first["decay_score"], first["access_count"]) == (START, 0.6, 0)
    clock.advance(days=10)
    assert [(one["access_count"], one["decay_score"]) for one in nodes(speak)] == [(1, 0.5456)]
    assert [one["access_count"] for one in nodes(speak)] == [2]


def test_the_most_important_are_the_least_decayed(speak, clock):
    for content, kind in (("old fact", "fact"), ("episode", "episode")):
        add(speak, content, kind)
    clock.advance(days=20)
    add(speak, "new fact")
    add(speak, "newer skill", "skill")
    order = contents(nodes(speak, sort_by="most_important"))
    assert order == ["new fact", "old fact", "newer skill", "episode"]
    assert contents(nodes(speak, sort_by="most_important", max_results=1)) == ["new fact"]


def test_what_is_forgotten_is_hidden_and_what_is_superseded_is_marked(ctx, speak):
    old, gone = add(speak, "old"), add(speak, "gone")
    forget(ctx, [gone])
    supersede(ctx, old, "new", None)
    assert [(one["content"], one.get("superseded")) for one in nodes(speak)] == [("new", None), ("old", True)]
    assert speak.ok("memory_stats")["node_count"] == 2
    assert "not found" in refused(speak, "memory_context", node_id=gone)
    assert "invalid node" in refused(
        speak,
        "memory_add",
        event_type="fact",
        content="x",
        edges=[{"target_id": gone, "edge_type": "supports"}],
    )


def test_similar_by_text_tells_words_and_keeps_to_the_minimum(speak):
    for content in ("Guitar strings are replaced every spring", "Tomatoes need water"):
        add(speak, content)
    told = speak.ok("memory_similar", query_text="guitar strings")
    [match] = told["matches"]
    assert (told["mode"], match["matched_terms"], match["node_id"]) == ("hybrid", ["guitar", "strings"], 1)
    assert match["text_score"] > 0 and 0.5 <= match["similarity"] <= 1
    assert speak.ok("memory_similar", query_text="guitar strings", min_similarity=0.9999)["matches"] == []
    assert speak.ok("memory_similar", query_text="guitar strings", event_types=["skill"])["count"] == 0


def test_similar_by_vector_wants_the_dimension_of_the_store(speak):
    add(speak, "one")
    dimension = speak.ok("memory_stats")["dimension"]
    found = speak.ok("memory_similar", query_vec=[1.0] * dimension, min_similarity=-1)
    assert (found["mode"], found["count"]) == ("vector", 1)
    assert "has 2 numbers" in refused(speak, "memory_similar", query_vec=[1, 2])
    assert "zeros" in refused(speak, "memory_similar", query_vec=[0] * dimension)


# -- walking and beliefs


def test_a_context_is_at_most_five_steps_deep(speak):
    ids = [add(speak, "0")]
    for n in range(1, 8):
        ids.append(add(speak, str(n), to=[("part_of", ids[-1])]))
    told = speak.ok("memory_context", node_id=ids[0], depth=50)
    assert (told["depth"], told["node_count"], "truncated" in told) == (5, 6, False)
    assert {edge["edge_type"] for edge in told["edges"]} == {"part_of", "temporal_next"}
    assert speak.ok("memory_context", node_id=ids[0], depth=0)["depth"] == 1
    assert {*NODE, "depth"} == set(told["nodes"][0])


def test_links_of_other_dialects_are_walked(ctx, speak):
    one, two = kept(ctx, "one"), kept(ctx, "two")
    link(ctx, one.id, two.id, "knows")
    told = speak.ok("memory_traverse", start_id=one.id)
    assert [edge["edge_type"] for edge in told["edges_traversed"]] == ["knows"]


def test_a_correction_is_walked_through_and_resolved(speak):
    old = add(speak, "The meeting is on Monday")
    told = speak.ok("memory_correct", old_node_id=old, new_content="The meeting is on Tuesday")
    new = told["new_node_id"]
    assert told == {"new_node_id": new, "old_node_id": old, "supersedes": True, "reason": None}
    visited = speak.ok("memory_traverse", start_id=new, edge_types=["supersedes"])["visited"]
    assert [(step["id"], step.get("superseded")) for step in visited] == [(new, None), (old, True)]
    assert set(speak.ok("memory_resolve", node_id=old)["latest"]) == NODE


def test_dependents_are_reported_with_their_depth(speak):
    root = add(speak, "root")
    step = add(speak, "step", "inference", to=[("derived_from", root)])
    add(speak, "choice", "decision", to=[("caused_by", step)])
    told = speak.ok("memory_causal", node_id=root)
    assert [(one["content"], one["depth"]) for one in told["dependents"]] == [("step", 1), ("choice", 2)]
    assert (told["affected_decisions"], told["affected_inferences"]) == (1, 1)


# -- grounding


@pytest.fixture
def facts(speak):
    for content in (
        "Marta leads the payments team",
        "Backups are copied to Oslo every night",
        "The budget of 2027 is 400 euros",
    ):
        add(speak, content)
    return speak


@pytest.mark.parametrize(
    "claim, status",
    [
        ("Marta leads the payments team", "verified"),
        ("Every night backups are copied to Oslo", "verified"),
        ("Marta leads the shipping team", "partial"),
        ("Marta does not lead the payments team", "partial"),
        ("The budget of 2027 is 500 euros", "partial"),
        ("Marta copied backups to Oslo", "partial"),
        ("Volcanic eruptions enlarged Iceland", "ungrounded"),
    ],
)
def test_a_claim_is_grounded_as_far_as_memory_backs_it(facts, claim, status):
    assert facts.ok("memory_ground", claim=claim)["status"] == status


def test_facts_of_one_session_are_not_mixed_but_those_that_support_each_other_are(facts):
    claim = "The payments team copied the backups to Oslo"
    facts.ok("session_end", summary="Talked about the team and backups")
    assert facts.ok("memory_ground", claim=claim)["status"] == "partial"
    add(facts, "The payments team looks after backups copied to places", to=[("supports", 2)])
    assert facts.ok("memory_ground", claim=claim)["status"] == "verified"


def test_a_verified_claim_shows_its_evidence(facts):
    told = facts.ok("memory_ground", claim="Marta leads the payments team")
    best = told["evidence"][0]
    assert (best["node_id"], best["score"], best["matched_terms"]) == (
        1,
        1.0,
        ["marta", "leads", "payments", "team"],
    )
    assert told["evidence_count"] == len(told["evidence"]) and 0 < told["confidence"] <= 1


def test_an_ungrounded_claim_has_a_reason_and_suggestions(facts):
    told = facts.ok("memory_ground", claim="Volcanic eruptions enlarged Iceland")
    assert (told["reason"], told["evidence"]) == ("No memory nodes match this claim", [])
    empty = facts.ok("memory_ground", claim="  ")
    assert (empty["status"], empty["reason"], empty["suggestions"]) == ("ungrounded", "Empty claim", [])
    assert (empty["confidence"], empty["evidence"], empty["evidence_count"]) == (0.0, [], 0)


def test_a_threshold_that_no_share_reaches_verifies_nothing(facts):
    claim = "Marta leads the payments team"
    assert facts.ok("memory_ground", claim=claim, threshold=1.0)["status"] == "verified"
    assert facts.ok("memory_ground", claim=claim, threshold=1.01)["status"] == "partial"


def test_a_corrected_belief_is_outdated_evidence(facts):
    facts.ok("memory_correct", old_node_id=1, new_content="Bruno leads the payments team")
    told = facts.ok("memory_ground", claim="Marta leads the payments team")
    assert told["status"] == "partial" and told["unsupported_terms"] == ["marta"]
    assert [(one["content"][:5], one.get("outdated")) for one in told["evidence"]][:2] == [
        ("Bruno", None),
        ("Marta", True),
    ]
    assert facts.ok("memory_ground", claim="Bruno leads the payments team")["status"] == "verified"


def test_only_outdated_evidence_grounds_nothing_and_says_so(facts):
    facts.ok("memory_correct", old_node_id=1, new_content="Bruno took over")
    told = facts.ok("memory_ground", claim="Marta leads payments")
    assert (told["status"], told["reason"]) == ("ungrounded", "Only outdated memory nodes match this claim")
    successor, old = told["evidence"]
    assert successor["contradicts"] is True and "outdated" not in successor
    assert (old["node_id"], old["outdated"]) == (1, True)


def test_what_a_new_node_supersedes_verifies_no_more(facts):
    new = add(facts, "Bruno leads the payments team", to=[("supersedes", 1)])
    told = facts.ok("memory_ground", claim="Marta leads the payments team")
    assert told["status"] == "partial"
    assert [(one["node_id"], one.get("outdated")) for one in told["evidence"]][:2] == [(new, None), (1, True)]
    similar = facts.ok("memory_similar", query_text="Marta leads the payments team", min_similarity=0)
    assert 1 not in [one["node_id"] for one in similar["matches"]]
    evidence = facts.ok("memory_evidence", query="Marta payments team")["evidence"]
    assert 1 not in [one["node_id"] for one in evidence]
    assert facts.ok("memory_resolve", node_id=1)["resolved_id"] == new


def test_evidence_tells_times_sessions_and_relationships(facts, clock):
    session = facts.ok("memory_stats")["current_session"]
    add(facts, "Marta hired Ada", "decision", to=[("caused_by", 1)])
    [best, *_] = facts.ok("memory_evidence", query="payments team")["evidence"]
    assert (best["source"], best["session_id"], best["last_accessed"]) == (
        f"session:{session}",
        session,
        START,
    )
    assert [edge["edge_type"] for edge in best["incoming_edges"]] == ["caused_by"]
    assert [edge["edge_type"] for edge in best["outgoing_edges"]] == ["temporal_next"]
    clock.advance(hours=1)
    assert facts.ok("memory_evidence", query="payments team")["evidence"][0]["access_count"] == 1


def test_suggestions_are_what_was_probably_meant(facts):
    told = facts.ok("memory_suggest", query="Marta leads marketing")
    first = told["suggestions"][0]
    assert first["content"] == "Marta leads the payments team" and first["matched_terms"] == [
        "marta",
        "leads",
    ]
    assert set(first) >= {"node_id", "event_type", "confidence", "relevance_score", "session_id"}


def test_a_misspelt_word_is_understood(facts):
    assert facts.ok("memory_suggest", query="paymants")["suggestions"][0]["node_id"] == 1


def test_without_a_model_words_are_enough(ctx, facts):
    wordy = DialectClient(AGENTIC_MEMORY, replace(ctx, embedder=None))
    assert wordy.ok("memory_stats")["dimension"] == 0
    assert wordy.ok("memory_ground", claim="Marta leads the payments team")["status"] == "verified"
    similar = wordy.ok("memory_similar", query_text="payments team")
    assert (similar["mode"], similar["matches"][0]["similarity"]) == ("text_fallback", 1.0)
    assert "vectors here have 0" in refused(wordy, "memory_similar", query_vec=[1.0])


# -- sessions


def test_a_session_ends_with_an_episode_or_without(speak):
    started = speak.ok("session_start", session_id=31, metadata={"project": "kites"})
    assert started == {
        "session_id": 31,
        "message": "Session 31 started",
        "total_sessions": 1,
        "previous_session": None,
        "last_episode": None,
    }
    add(speak, "one")
    ended = speak.ok("session_end")
    assert ended == {"session_id": 31, "episode_node_id": 2, "summary": "Session 31 completed"}
    started = speak.ok("session_start")
    assert started["last_episode"] == {
        "session_id": 31,
        "summary": "Session 31 completed",
        "created_at": START,
    }
    plain = speak.ok("session_end", create_episode=False, summary="  ")
    assert (plain["session_id"], plain["episode_node_id"]) == (32, None) and plain["message"]


def test_resuming_tells_what_to_go_on_with(speak):
    add(speak, "a decision", "decision")
    add(speak, "a weak fact", confidence=0.5)
    add(speak, "a skill", "skill")
    told = speak.ok("memory_session_resume")
    assert contents(told["recent_decisions"]) == ["a decision"] and told["recent_facts"] == []
    assert contents(told["recent_other"]) == ["a skill"] and told["total_loaded"] == 2
    assert set(told["recent_decisions"][0]) == {"id", "content", "confidence", "session_id"}
    assert told["recent_other"][0]["event_type"] == "skill"
    assert told["current_session"] == 1 and told["message"]


def test_a_new_conversation_is_in_no_session_yet(ctx, speak):
    speak.ok("session_start", session_id=7)
    newcomer = DialectClient(AGENTIC_MEMORY, ctx.on_behalf_of("newcomer"))
    told = newcomer.ok("memory_session_resume")
    assert (told["current_session"], told["previous_session"]) == (0, 7)
    assert told["current_session"] == newcomer.ok("memory_stats")["current_session"]


# -- resources and prompts


def read(speak, uri):
    [content] = speak.say("resources/read", uri=uri)["contents"]
    assert content["mimeType"] == "application/json"
    return json.loads(content["text"])


def test_the_graph_can_be_read_by_address(speak):
    for n in range(22):
        add(speak, f"fact {n}")
    add(speak, "choice", "decision", to=[("caused_by", 1)])
    listed = [one["uri"] for one in speak.say("resources/list")["resources"]]
    assert listed == ["amem://graph/stats", "amem://graph/recent", "amem://graph/important"]
    assert read(speak, "amem://graph/stats") == speak.ok("memory_stats")
    assert [read(speak, uri)["count"] for uri in listed[1:]] == [20, 20]
    assert read(speak, "amem://graph/recent")["nodes"][0]["content"] == "choice"
    first = read(speak, "amem://node/1")
    assert (first["content"], first["access_count"]) == ("fact 0", 0)
    assert [edge["source_id"] for edge in first["incoming_edges"]] == [23]
    assert read(speak, "amem://types/decision")["count"] == 1
    assert read(speak, "amem://session/1")["count"] == 23
    templates = speak.say("resources/templates/list")["resourceTemplates"]
    assert len(templates) == 3
    for missing in ("amem://session/9", "amem://types/rumour"):
        assert protocol_error(speak, "resources/read", uri=missing)[0] == -32802


def test_prompts_take_their_arguments(speak):
    offered = {
        one["name"]: [argument["name"] for argument in one["arguments"]]
        for one in speak.say("prompts/list")["prompts"]
    }
    assert offered == {
        "remember": ["information", "context"],
        "reflect": ["topic", "node_id"],
        "correct": ["old_belief", "new_information", "reason"],
        "summarize": ["session_id"],
    }
    for name, arguments in offered.items():
        given = {argument: f"<{argument}>" for argument in arguments}
        [message] = speak.say("prompts/get", name=name, arguments=given)["messages"]
        assert all(value in message["content"]["text"] for value in given.values() if value != "<node_id>")
        assert speak.say("prompts/get", name=name)["messages"]


# -- who may see what


def test_a_limited_caller_sees_and_walks_only_its_own(ctx, speak):
    theirs = kept(ctx, "Their secret", namespace="theirs")
    mine = kept(ctx, "My note", namespace="mine")
    link(ctx, mine.id, theirs.id, "knows")
    limited = DialectClient(AGENTIC_MEMORY, ctx.limited_to(Grant(("mine",), True)))
    assert contents(nodes(limited)) == ["My note"]
    assert limited.ok("memory_context", node_id=mine.id)["node_count"] == 1
    assert limited.ok("memory_ground", claim="Their secret")["status"] == "ungrounded"
    stats = limited.ok("memory_stats")
    assert (stats["node_count"], stats["edge_count"]) == (1, 0)
    assert "not found" in refused(limited, "memory_correct", old_node_id=theirs.id, new_content="x")
    assert add(limited, "new") and kept(ctx, "x").namespace == "global"
    reader = DialectClient(AGENTIC_MEMORY, ctx.limited_to(Grant(None, False)))
    assert len(nodes(reader)) == 4
    assert "may read but not write" in refused(reader, "memory_add", event_type="fact", content="x")


def test_links_to_what_may_not_be_seen_are_not_shown(ctx):
    ours, theirs = (kept(ctx, f"a heron of {name}", namespace=name) for name in ("ours", "theirs"))
    also = kept(ctx, "another heron", namespace="ours")
    link(ctx, ours.id, theirs.id, "knows")
    link(ctx, theirs.id, ours.id, "knows")
    link(ctx, ours.id, also.id, "knows")
    guest = DialectClient(AGENTIC_MEMORY, ctx.limited_to(Grant(("ours",))))
    found = guest.ok("memory_evidence", query="heron")["evidence"]
    for shown in (*found, read(guest, f"amem://node/{ours.id}")):
        ends = {end["target_id"] for end in shown["outgoing_edges"]}
        ends |= {end["source_id"] for end in shown["incoming_edges"]}
        assert ends and theirs.id not in ends
