"""The tools of ai-memory that ask a language model: what they pass on, and what they say when it fails."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from dialect_client import DialectClient

from mnemic import __version__
from mnemic.app import dialect
from mnemic.dialects.ai_memory.dialect import AN_ID, ANOTHER_ID
from mnemic.errors import Unavailable
from mnemic.model.enums import Features

AI_MEMORY = dialect("ai-memory")
NOWHERE = "00000000-0000-4000-8000-000000000000"
FEATURES = {
    *("keyword_search", "semantic_search", "hybrid_recall", "query_expansion", "auto_consolidation"),
    *("auto_tagging", "contradiction_analysis", "cross_encoder_reranking", "memory_reflection"),
}


class Parrot:
    """A language model that says what it was told to, or nothing."""

    name = "parrot"

    def __init__(self, says: str | None):
        self.says = says

    def is_reachable(self) -> bool:
        return self.says is not None

    def ask(self, prompt: str) -> str:
        if self.says is None:
            raise Unavailable("The parrot is asleep.")
        return self.says

    def close(self) -> None:
        pass


@pytest.fixture
def smart(ctx):
    """A client at the smart tier, whose language model says what it is given."""
    uids = iter((AN_ID, ANOTHER_ID))

    def speaker(says: str | None) -> DialectClient:
        model = Parrot(says)
        new_uid = partial(next, uids, NOWHERE)
        speak = DialectClient(
            AI_MEMORY, replace(ctx, features=Features.SMART, language=model, new_uid=new_uid)
        )
        speak.ok("memory_store", title="Tokens", content="Tokens are JWT.", tags=["auth"])
        speak.ok("memory_store", title="Sessions", content="Sessions live in Redis.")
        return speak

    return speaker


@pytest.mark.parametrize("name", ["memory_expand_query", "memory_auto_tag", "memory_detect_contradiction"])
def test_every_example_runs(smart, name):
    [example] = AI_MEMORY.operations[name].examples
    answer = smart("no")(name, **example.arguments)
    assert not answer.is_error, answer.text


def test_capabilities_tell_the_tier_the_features_and_the_models(ctx):
    told = DialectClient(AI_MEMORY, ctx).ok("memory_capabilities")
    assert (told["tier"], told["version"]) == ("semantic", __version__)
    assert set(told["features"]) == FEATURES and told["features"]["hybrid_recall"] is True
    assert told["models"]["embedding"] == ctx.embedder.name and told["models"]["llm"] == "none"
    assert set(told["models"]) == {"embedding", "embedding_dim", "llm", "cross_encoder"}


def test_capabilities_name_the_documented_model_that_ours_stands_in_for(real):
    models = DialectClient(AI_MEMORY, real).ok("memory_capabilities")["models"]
    assert models["embedding"] == f"{real.embedder.name} (in place of all-MiniLM-L6-v2)"


def test_capabilities_tell_what_is_missing_of_the_tier_that_was_asked_for(smart):
    told = smart(None).ok("memory_capabilities")
    assert (told["tier"], told["requested_tier"]) == ("semantic", "smart")
    assert told["message"] and told["models"]["llm"] == "none"
    assert smart("here").ok("memory_capabilities")["models"]["llm"] == "parrot"


def test_a_query_is_expanded(smart):
    told = smart("jwt\nlogin").ok("memory_expand_query", query="auth")
    assert told == {"original": "auth", "expanded_terms": ["jwt", "login"]}
    assert smart(None)("memory_expand_query", query="auth").is_error


def test_tags_are_added(smart):
    speak = smart("Security\njwt\nauth")
    told = speak.ok("memory_auto_tag", id=AN_ID)
    new = ["security", "jwt", "auth"]
    assert told == {"id": AN_ID, "new_tags": new, "all_tags": ["auth", "security", "jwt"]}
    assert speak.ok("memory_get", id=AN_ID)["tags"] == ["auth", "security", "jwt"]
    assert speak("memory_auto_tag", id=NOWHERE).text == "memory not found"


@pytest.mark.parametrize("says", [None, ""])
@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("memory_auto_tag", {"id": AN_ID}),
        ("memory_consolidate", {"ids": [AN_ID, ANOTHER_ID], "title": "Auth"}),
        ("memory_detect_contradiction", {"id_a": AN_ID, "id_b": ANOTHER_ID}),
        ("memory_expand_query", {"query": "auth"}),
    ],
)
def test_when_the_model_fails_the_tool_answers_an_error_and_writes_nothing(smart, says, tool, arguments):
    speak = smart(says)
    before = [speak.ok("memory_get", id=id) for id in (AN_ID, ANOTHER_ID)]
    answer = speak(tool, **arguments)
    assert answer.is_error and answer.text, answer
    assert [speak.ok("memory_get", id=id) for id in (AN_ID, ANOTHER_ID)] == before
    assert speak.ok("memory_stats")["total"] == 2


@pytest.mark.parametrize(
    "says, contradicts",
    [("Yes, they do", True), ("no", False)],
)
def test_a_contradiction_is_judged(smart, says, contradicts):
    speak = smart(says)
    assert speak.ok("memory_detect_contradiction", id_a=AN_ID, id_b=ANOTHER_ID) == {
        "contradicts": contradicts,
        "memory_a": {"id": AN_ID, "title": "Tokens"},
        "memory_b": {"id": ANOTHER_ID, "title": "Sessions"},
    }


@pytest.mark.parametrize("end, sentence", [("id_a", "memory A not found"), ("id_b", "memory B not found")])
def test_a_memory_that_is_not_there_contradicts_nothing(smart, end, sentence):
    answer = smart("no")("memory_detect_contradiction", **{"id_a": AN_ID, "id_b": ANOTHER_ID, end: NOWHERE})
    assert answer.is_error and answer.text == sentence


def test_a_consolidation_without_a_summary_is_given_one(smart):
    speak = smart("Auth: " + "JWT and Redis. " * 20)
    told = speak.ok("memory_consolidate", ids=[AN_ID, ANOTHER_ID], title="Auth")
    content = speak.ok("memory_get", id=told["id"])["content"]
    assert content == ("Auth: " + "JWT and Redis. " * 20).strip()
    assert told == {
        "id": NOWHERE,
        "consolidated": 2,
        "namespace": "global",
        "auto_summary": True,
        "summary_preview": content[:200],
    }


def test_a_session_starts_with_a_summary_where_a_model_can_write_one(smart):
    told = smart("Tokens and sessions.").ok("memory_session_start", format="json")
    assert told["summary"] == "Tokens and sessions."
    assert "summary" not in smart(None).ok("memory_session_start", format="json")
