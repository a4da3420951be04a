"""ai-memory's endpoints over a real socket: each answer, each status, each limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from server_process import BAD_JSON, serving
from support import START, kept

from mnemic.app import dialect
from mnemic.core.access import TokenRequest, create_token
from mnemic.core.context import Context
from mnemic.core.graph import end_link
from mnemic.model.enums import Features

AI_MEMORY = dialect("ai-memory")
NOWHERE = "00000000-0000-4000-8000-000000000000"
NOW = datetime.fromtimestamp(START / 1e6, UTC)


@contextmanager
def client(ctx: Context, **headers: str) -> Iterator[httpx.Client]:
    """A client of a daemon that speaks ai-memory over *ctx*."""
    with (
        serving(ctx, dialects={"ai-memory": AI_MEMORY}) as url,
        httpx.Client(base_url=f"{url}/api/v1", timeout=30, headers=headers) as one,
    ):
        yield one


@pytest.fixture
def api(ctx: Context) -> Iterator[httpx.Client]:
    """A client of a daemon over `ctx`."""
    with client(ctx) as one:
        yield one


def create(api: httpx.Client, title: str, content: str = "", **more: Any) -> str:
    """The id of a new memory."""
    answered = api.post("/memories", json={"title": title, "content": content or f"About {title}", **more})
    assert answered.status_code == 201, answered.text
    return str(answered.json()["id"])


def read(api: httpx.Client, id: str) -> dict[str, Any]:
    """The memory with this id."""
    found: dict[str, Any] = api.get(f"/memories/{id}").json()["memory"]
    return found


MISSING = "Memory not found"
"""The documented message of a memory that is not there, whatever the error says."""


def refused(answered: httpx.Response, status: int, code: str, words: str) -> None:
    """Check that a request failed, how, and with which words."""
    said = answered.json()
    assert (answered.status_code, said["code"]) == (status, code), answered.text
    assert words in said["error"] and said["message"] in (said["error"], MISSING)


def invalid(answered: httpx.Response, words: str) -> None:
    refused(answered, 400, "VALIDATION_FAILED", words)


def titles(found: list[dict[str, Any]]) -> list[str]:
    return [memory["title"] for memory in found]


def later(**span: float) -> str:
    return (NOW + timedelta(**span)).isoformat()


# -- one memory


def test_a_memory_is_created_with_the_given_fields(api):
    given = {
        "title": "Project uses Axum",
        "content": "The HTTP server is built with Axum 0.8.",
        "tier": "mid",
        "namespace": "ai-memory",
        "tags": ["rust", "web"],
        "priority": 6,
        "confidence": 0.5,
        "source": "hook",
        "metadata": {"a": [1, {"b": None}]},
    }
    answered = api.post("/memories", json={**given, "agent_id": "ignored", "expires_at": later(days=3)})
    assert answered.status_code == 201
    assert answered.json() == {
        "id": answered.json()["id"],
        "tier": "mid",
        "namespace": "ai-memory",
        "title": "Project uses Axum",
        "potential_contradictions": [],
    }
    memory = read(api, answered.json()["id"])
    assert {name: memory[name] for name in given} == given
    assert memory["expires_at"] == later(days=3)


def test_what_is_not_given_has_its_default(api):
    memory = read(api, create(api, "Bare", tier=None))
    shown = [memory[name] for name in ("tier", "namespace", "priority", "confidence", "source", "tags")]
    assert shown == ["mid", "global", 5, 1.0, "api", []]
    assert memory["expires_at"] == later(days=7) and "last_accessed_at" not in memory


def test_a_life_may_be_given_in_seconds_and_an_end_counts_first(api):
    assert read(api, create(api, "Brief", ttl_secs=600))["expires_at"] == later(minutes=10)
    both = create(api, "Both", ttl_secs=600, expires_at=later(hours=2))
    assert read(api, both)["expires_at"] == later(hours=2)


def test_the_same_title_brings_a_memory_up_to_date(api):
    first = create(api, "The rule", "first", tier="long", priority=9)
    assert create(api, "The rule", "second", tier="short", priority=1) == first
    memory = read(api, first)
    assert (memory["content"], memory["tier"], memory["priority"]) == ("second", "long", 9)


def test_memories_with_similar_titles_are_named(api):
    first = create(api, "Deploy day is Monday", namespace="ops")
    create(api, "Deploy day is Sunday", namespace="elsewhere")
    answered = api.post(
        "/memories", json={"title": "Deploy day is Friday", "content": "x", "namespace": "ops"}
    )
    assert answered.json()["potential_contradictions"] == [first]


@pytest.mark.parametrize(
    "field, value, words",
    [
        ("title", None, "title is required"),
        ("title", "", "title cannot be empty"),
        ("content", None, "content is required"),
        ("content", "x" * 65_537, "content exceeds max size of 65536 bytes"),
        ("namespace", "a b", "namespace cannot contain spaces"),
        ("source", "nobody", "invalid source 'nobody'"),
        ("tags", "rust", "tags must be a list of strings"),
        ("priority", 11, "priority must be between 1 and 10 (got 11)"),
        ("priority", "5", "priority must be an integer"),
        ("confidence", -1, "confidence must be between 0.0 and 1.0"),
        ("expires_at", "tomorrow", "expires_at is not valid RFC3339: 'tomorrow'"),
        ("expires_at", "2020-01-01T00:00:00Z", "expires_at is in the past"),
        ("ttl_secs", 31_536_001, "ttl_secs exceeds maximum of 1 year"),
        ("tier", "eternal", "invalid tier: eternal"),
        ("metadata", [], "metadata must be a JSON object"),
    ],
)
def test_what_breaks_a_rule_is_refused(api, field, value, words):
    answered = api.post("/memories", json={"title": "fine", "content": "fine", field: value})
    invalid(answered, words)
    assert answered.json()["field"] == field
    assert api.get("/stats").json()["total"] == 0


@pytest.mark.parametrize("body", [body for _, body in BAD_JSON], ids=[name for name, _ in BAD_JSON])
@pytest.mark.parametrize("path", ["/memories", "/memories/bulk"])
def test_a_body_that_is_not_json_is_refused(api, path, body):
    answered = api.post(path, content=body)
    assert (answered.status_code, answered.json()["code"]) == (400, "VALIDATION_FAILED")


def test_a_memory_is_read_with_its_links(api):
    one, other = create(api, "One"), create(api, "Two")
    api.post("/links", json={"source_id": one, "target_id": other})
    answered = api.get(f"/memories/{one}").json()
    assert {name: answered[name] for name in answered["memory"]} == answered["memory"]
    assert (answered["memory"]["id"], answered["title"]) == (one, "One")
    assert [(link["source_id"], link["target_id"]) for link in answered["links"]] == [(one, other)]
    assert answered["memory"]["access_count"] == 0


def test_a_memory_may_be_named_by_how_its_id_begins(api, ctx):
    one = create(api, "One")
    assert read(api, one[:8])["title"] == "One"
    uids = iter([NOWHERE, NOWHERE[:-1] + "1"])
    with client(replace(ctx, new_uid=lambda: next(uids))) as twin:
        create(twin, "Twin")
        create(twin, "Other twin")
        invalid(twin.get(f"/memories/{NOWHERE[:10]}"), "ambiguous ID prefix")


def test_only_the_given_fields_change(api):
    id = create(api, "Cache", "Memcached", tags=["infra"])
    answered = api.put(
        f"/memories/{id}", json={"content": "Redis", "expires_at": later(days=60), "priority": 8}
    )
    assert (answered.status_code, answered.json()["id"]) == (200, id)
    assert answered.json() == read(api, id)
    memory = answered.json()
    assert (memory["content"], memory["title"], memory["tags"]) == ("Redis", "Cache", ["infra"])
    assert (memory["priority"], memory["expires_at"]) == (8, later(days=60))
    assert "expires_at" not in api.put(f"/memories/{id}", json={"expires_at": ""}).json()
    invalid(api.put(f"/memories/{id}", json={"priority": 0}), "priority must be between")


def test_a_title_that_is_taken_is_a_conflict(api):
    create(api, "Taken")
    id = create(api, "Free")
    refused(api.put(f"/memories/{id}", json={"title": "Taken"}), 409, "CONFLICT", "already exists")
    assert read(api, id)["title"] == "Free"


def test_a_deleted_memory_is_gone_with_its_links(api):
    one, other = create(api, "One"), create(api, "Two")
    api.post("/links", json={"source_id": one, "target_id": other})
    assert api.delete(f"/memories/{one}").json() == {"deleted": True}
    refused(api.get(f"/memories/{one}"), 404, "NOT_FOUND", "not found")
    assert api.get(f"/links/{other}").json()["links"] == []
    assert api.get("/archive").json()["count"] == 0


def test_a_promoted_memory_has_no_end(api):
    id = create(api, "Precious", tier="short")
    assert api.post(f"/memories/{id}/promote").json() == {"promoted": True, "id": id, "tier": "long"}
    assert read(api, id)["tier"] == "long" and "expires_at" not in read(api, id)


@pytest.mark.parametrize(
    "verb, path, words",
    [
        ("GET", "/memories/{}", "not found"),
        ("PUT", "/memories/{}", "not found"),
        ("DELETE", "/memories/{}", "not found"),
        ("POST", "/memories/{}/promote", "not found"),
        ("GET", "/links/{}", "not found"),
        ("POST", "/archive/{}/restore", "not found in archive"),
    ],
)
def test_what_is_not_there_is_not_found(api, verb, path, words):
    answered = api.request(verb, path.format(NOWHERE))
    refused(answered, 404, "NOT_FOUND", words)
    assert answered.json()["message"] == (words if "archive" in words else MISSING)
    invalid(api.request(verb, path.format("x" * 129)), "id exceeds max length of 128 bytes")
    invalid(api.request(verb, path.format("a%00b")), "id cannot contain null bytes")


# -- many memories


def test_many_are_created_at_once_and_the_invalid_ones_reported(api):
    answered = api.post(
        "/memories/bulk",
        json=[
            {"title": "Good", "content": "x"},
            {"title": "Bad", "content": "x", "priority": 99},
            {"content": "nameless"},
            "no object",
            {"title": "Good", "content": "again"},
        ],
    )
    said = answered.json()
    assert (answered.status_code, said["created"], len(set(said["ids"]))) == (200, 2, 1)
    assert said["errors"] == [
        "Bad: priority must be between 1 and 10 (got 99)",
        "item 3: title is required",
        "item 4: must be a JSON object",
    ]
    assert read(api, said["ids"][0])["content"] == "again"


def test_a_thousand_at_once_and_no_more(api):
    items = [{"title": f"m{number}", "content": "x"} for number in range(1_001)]
    invalid(api.post("/memories/bulk", json=items), "bulk operations limited to 1000 items")
    assert api.get("/stats").json()["total"] == 0
    assert api.post("/memories/bulk", json=items[1:]).json()["created"] == 1_000
    invalid(api.post("/memories/bulk", json={"title": "no list", "content": "x"}), "list")


def test_a_list_is_filtered_and_paged(api):
    create(api, "a", namespace="my-app", tier="long", priority=7, tags=["rust", "web"])
    create(api, "b", namespace="my-app", tier="mid", priority=3, tags=["rust"])
    create(api, "c", namespace="other", tier="long", priority=9)
    past, future = later(hours=-1), later(hours=1)
    for query, wanted in [
        ({}, "cab"),
        ({"namespace": "my-app"}, "ab"),
        ({"tier": "long"}, "ca"),
        ({"min_priority": "5"}, "ca"),
        ({"tags": "rust"}, "ab"),
        ({"since": future}, ""),
        ({"until": past}, ""),
        ({"since": past, "until": future}, "cab"),
        ({"limit": "1", "offset": "1"}, "a"),
        ({"namespace": "", "tier": "", "nobody": "knows"}, "cab"),
    ]:
        said = api.get("/memories", params=query).json()
        assert ("".join(titles(said["memories"])), said["count"]) == (wanted, len(wanted)), query


@pytest.mark.parametrize("plus", ["+", "%2B"])
def test_the_plus_of_an_offset_may_stand_as_it_is(api, plus):
    id = create(api, "Now")
    offset = f"{plus}02:00"
    before, after = ((NOW + timedelta(hours=hours)).isoformat()[:19] + offset for hours in (1, 3))
    for path, name in (
        ("/memories?", "memories"),
        ("/search?q=now&", "results"),
        ("/recall?context=now&", "memories"),
    ):
        found = api.get(f"{path}since={before}&until={after}").json()[name]
        assert [memory["id"] for memory in found] == [id]
        assert api.get(f"{path}since={after}").json()[name] == []
    fraction = (NOW + timedelta(hours=1)).isoformat()[:19] + f".5{offset}"
    assert api.get(f"/memories?since={fraction}").json()["count"] == 1


def test_a_list_has_twenty_by_default_and_two_hundred_at_most(api):
    api.post("/memories/bulk", json=[{"title": f"m{number}", "content": "x"} for number in range(205)])
    counts = [
        api.get("/memories", params={"limit": n} if n else {}).json()["count"] for n in (0, 200, 10**30)
    ]
    assert counts == [20, 200, 200]
    for query in ({"limit": "0"}, {"limit": "many"}, {"offset": "-1"}, {"since": "soon"}, {"tier": "x"}):
        invalid(api.get("/memories", params=query), next(iter(query)))


def test_a_search_asks_for_all_words_and_counts_no_use(api):
    id = create(api, "Database migration", "schema change", tags=["db"])
    create(api, "Database backup", "nightly dump")
    said = api.get("/search", params={"q": "database migration"}).json()
    assert (titles(said["results"]), said["count"], said["query"]) == (
        ["Database migration"],
        1,
        "database migration",
    )
    assert said["memories"] == said["results"]
    assert api.get("/search", params={"q": "database", "tags": "db"}).json()["count"] == 1
    assert api.get("/search", params={"q": "database", "limit": "1"}).json()["count"] == 1
    assert api.get("/search", params={"q": "database", "tier": "long"}).json()["count"] == 0
    assert read(api, id)["access_count"] == 0


def test_a_recall_asks_for_any_word_and_counts_as_a_use(api):
    id = create(api, "Auth flow", "uses JWT tokens", namespace="my-app", tags=["auth"])
    create(api, "Auth elsewhere", "jwt", namespace="other")
    asked = {"context": "auth flow jwt", "namespace": "my-app", "limit": 10}
    for answered in (api.get("/recall", params=asked), api.post("/recall", json=asked)):
        said = answered.json()
        assert (titles(said["memories"]), said["count"], said["mode"]) == (["Auth flow"], 1, "hybrid")
        assert said["memories"][0]["score"] > 0
    assert read(api, id)["access_count"] == 2
    assert api.get("/recall", params={"context": "jwt", "since": later(days=1)}).json()["memories"] == []


def test_the_tier_of_the_daemon_says_how_it_recalls(ctx):
    with client(replace(ctx, embedder=None, features=Features.KEYWORD)) as api:
        create(api, "Auth flow")
        assert api.get("/recall?context=auth").json()["mode"] == "keyword"
    with client(replace(ctx, features=Features.AUTONOMOUS)) as api:
        assert api.get("/recall?context=auth").json()["mode"] == "hybrid+rerank"


def test_five_recalls_make_a_memory_long(api):
    id = create(api, "Promotable walnut")
    for _ in range(5):
        api.post("/recall", json={"context": "walnut"})
    assert read(api, id)["tier"] == "long"


def test_a_question_must_ask_something(api):
    for query in ({}, {"q": ""}, {"q": "  "}):
        invalid(api.get("/search", params=query), "query is required")
    for answered in (api.get("/recall"), api.post("/recall"), api.post("/recall", json={"context": 7})):
        invalid(answered, "context is required")


# -- links, consolidation


def test_a_link_is_made_once_and_seen_from_both_ends(api):
    one, other = create(api, "One"), create(api, "Two")
    asked = {"source_id": one, "target_id": other, "relation": "derived_from"}
    for _ in range(2):
        answered = api.post("/links", json=asked)
        assert (answered.status_code, answered.json()) == (201, {"linked": True, **asked})
    for end in (one, other):
        said = api.get(f"/links/{end}").json()
        assert (said["links"], said["count"]) == ([{**asked, "created_at": NOW.isoformat()}], 1)


def test_a_link_needs_two_memories_and_a_relation_there_is(api):
    one, other = create(api, "One"), create(api, "Two")
    invalid(api.post("/links", json={"source_id": one, "target_id": one}), "cannot link a memory to itself")
    invalid(api.post("/links", json={"source_id": one}), "target_id is required")
    bad = {"source_id": one, "target_id": other, "relation": "likes"}
    invalid(api.post("/links", json=bad), "invalid relation 'likes'")
    nowhere = api.post("/links", json={"source_id": one, "target_id": NOWHERE})
    refused(nowhere, 404, "NOT_FOUND", f"target memory not found: {NOWHERE}")


def test_one_memory_takes_the_place_of_several(api):
    ids = [create(api, f"Part {n}", tags=[f"t{n}"], priority=n + 5, namespace="app") for n in range(3)]
    asked = {"ids": ids, "title": "Summary", "summary": "All of it.", "namespace": "app"}
    answered = api.post("/consolidate", json=asked)
    assert (answered.status_code, answered.json()["consolidated"]) == (201, 3)
    memory = read(api, answered.json()["id"])
    assert (memory["tags"], memory["priority"], memory["tier"]) == (["t0", "t1", "t2"], 7, "long")
    assert api.get("/stats").json()["total"] == 1


def test_two_to_a_hundred_memories_are_consolidated(api):
    one, other = create(api, "One"), create(api, "Two")
    summary = {"title": "T", "summary": "s"}
    for ids, words in [
        (None, "ids is required"),
        ([one], "need at least 2 memory IDs"),
        ([one, one], "need at least 2 memory IDs"),
        ([one, one[:8]], "the same memory"),
        ([f"id-{number}" for number in range(101)], "cannot consolidate more than 100"),
    ]:
        invalid(api.post("/consolidate", json={"ids": ids, **summary}), words)
    invalid(api.post("/consolidate", json={"ids": [one, other], "title": "T"}), "summary is required")
    nowhere = api.post("/consolidate", json={"ids": [one, NOWHERE], **summary})
    refused(nowhere, 404, "NOT_FOUND", "memory not found")
    assert api.get("/stats").json()["total"] == 2


def test_a_consolidation_onto_a_taken_title_says_whose_it_is(api):
    ids = [create(api, title, namespace="c") for title in ("One", "Other")]
    taken = create(api, "CC", namespace="c")
    answered = api.post("/consolidate", json={"ids": ids, "title": "CC", "summary": "x", "namespace": "c"})
    refused(answered, 409, "CONFLICT", f"title 'CC' already exists in namespace 'c' (memory {taken})")
    assert read(api, ids[0])["title"] == "One"


# -- leaving


@pytest.mark.parametrize("place", ["json", "params"])
def test_what_passes_a_filter_is_forgotten(api, place):
    for number in range(3):
        create(api, f"old {number}", "deprecated API", namespace="my-app", tier="short")
    create(api, "new", "current API", namespace="my-app", tier="short")
    create(api, "elsewhere", "deprecated API", namespace="other", tier="short")
    asked = {"namespace": "my-app", "pattern": "deprecated API", "tier": "short"}
    assert api.post("/forget", **{place: asked}).json() == {"deleted": 3}
    assert set(titles(api.get("/memories").json()["memories"])) == {"new", "elsewhere"}


def test_to_forget_a_filter_is_needed(api):
    create(api, "safe")
    invalid(api.post("/forget", json={}), "at least one of namespace, pattern, or tier is required")
    invalid(api.post("/forget"), "at least one of")
    invalid(api.post("/forget", json={"tier": "eternal"}), "invalid tier")
    assert api.post("/forget", json={"namespace": ""}).json() == {"deleted": 0}
    assert api.get("/stats").json()["total"] == 1


def test_what_has_expired_is_collected_into_the_archive(api, clock):
    create(api, "Lasting", tier="long")
    id = create(api, "Fleeting", ttl_secs=1)
    clock.advance(seconds=2)
    assert titles(api.get("/memories").json()["memories"]) == ["Lasting"]
    assert api.post("/gc").json() == {"expired_deleted": 1}
    [gone] = api.get("/archive").json()["archived"]
    assert (gone["id"], gone["archived_at"]) == (id, later(seconds=2)) and gone["archive_reason"] == "gc"


def test_what_has_expired_can_be_changed_and_promoted_until_it_is_collected(api, clock):
    saved, changed = (create(api, title, ttl_secs=1) for title in ("Saved", "Changed"))
    clock.advance(seconds=2)
    answered = api.put(f"/memories/{changed}", json={"priority": 9})
    assert (answered.status_code, answered.json()["priority"]) == (200, 9)
    assert api.post(f"/memories/{saved}/promote").json()["promoted"]
    assert api.post("/gc").json() == {"expired_deleted": 1}
    assert read(api, saved)["tier"] == "long"
    refused(api.put(f"/memories/{changed}", json={"priority": 8}), 404, "NOT_FOUND", "not found")


def test_a_link_that_has_ended_is_shown_no_more(api, ctx):
    one, other = create(api, "One"), create(api, "Other")
    api.post("/links", json={"source_id": one, "target_id": other})
    end_link(ctx, one, other, "related_to")
    assert api.get(f"/links/{one}").json() == {"links": [], "count": 0}
    assert api.get(f"/memories/{one}").json()["links"] == []


def test_the_archive_is_listed_counted_restored_from_and_purged(api, clock):
    back, gone = create(api, "Back again", namespace="a", tags=["x"]), create(api, "Gone", namespace="b")
    api.post("/forget", json={"tier": "mid"})
    assert {item["id"] for item in api.get("/archive").json()["archived"]} == {back, gone}
    assert titles(api.get("/archive", params={"namespace": "a"}).json()["archived"]) == ["Back again"]
    assert api.get("/archive", params={"limit": "1", "offset": "2"}).json() == {"archived": [], "count": 0}
    stats = api.get("/archive/stats").json()
    moment = api.get("/archive").json()["archived"][0]["archived_at"]
    assert stats == {
        "archived_total": 2,
        "by_namespace": [{"namespace": "a", "count": 1}, {"namespace": "b", "count": 1}],
        "size_bytes": stats["size_bytes"],
        "oldest_archived_at": moment,
        "newest_archived_at": moment,
    }
    assert stats["size_bytes"] >= len("Back again" + "Gone")
    assert api.post(f"/archive/{back}/restore").json() == {"restored": True, "id": back}
    assert (read(api, back)["tags"], read(api, back)["tier"]) == (["x"], "long")
    invalid(api.delete("/archive", params={"older_than_days": "-1"}), "non-negative (got -1)")
    clock.advance(hours=23)
    assert api.delete("/archive", params={"older_than_days": "1"}).json() == {"purged": 0}
    assert api.delete("/archive").json() == {"purged": 1}


def test_restoring_onto_a_taken_title_is_a_conflict(api):
    id = create(api, "Mine")
    api.post("/forget", json={"tier": "mid"})
    create(api, "Mine")
    refused(api.post(f"/archive/{id}/restore"), 409, "CONFLICT", "cannot restore")


# -- listings, export and import


def test_namespaces_and_statistics_are_counted(api):
    create(api, "a", namespace="x", tier="long")
    create(api, "b", namespace="x", tier="short", ttl_secs=600)
    create(api, "c", namespace="y")
    spaces = [{"namespace": "x", "count": 2}, {"namespace": "y", "count": 1}]
    assert api.get("/namespaces").json() == {"namespaces": spaces}
    said = api.get("/stats").json()
    assert said.pop("db_size_bytes") > 0
    tiers = [{"tier": tier, "count": 1} for tier in ("long", "mid", "short")]
    expected = {"total": 3, "by_tier": tiers, "by_namespace": spaces, "expiring_soon": 1, "links_count": 0}
    assert said == expected


def test_everything_is_carried_to_another_store(api, twin):
    one = create(api, "One", "first", namespace="app", tags=["x"], priority=8, metadata={"k": [1, None]})
    other = create(api, "Two", "second", tier="long")
    api.post("/links", json={"source_id": one, "target_id": other, "relation": "derived_from"})
    dump = api.get("/export").json()
    assert (len(dump["memories"]), len(dump["links"]), dump["count"]) == (2, 1, 2)
    assert dump["exported_at"] == NOW.isoformat()
    with client(twin) as there:
        assert there.post("/import", json=dump).json() == {"imported": 2, "known": 0, "errors": []}
        again = there.post("/import", json=dump).json()
        assert again == {"imported": 2, "known": 2, "errors": []}, "known ones count as imported"
        assert there.get(f"/memories/{one}").json() == api.get(f"/memories/{one}").json()


def test_an_import_reports_what_is_not_valid_and_takes_a_thousand(api):
    good = {"id": NOWHERE, "title": "Good", "content": "x"}
    said = api.post("/import", json={"memories": [good, {"title": "Bad", "content": ""}]}).json()
    assert (said["imported"], len(said["errors"])) == (1, 1)
    many = [{"title": f"m{number}", "content": "x"} for number in range(1_001)]
    invalid(api.post("/import", json={"memories": many}), "limited to 1000")
    invalid(api.post("/import", json={}), "memories")


def test_an_imported_memory_answers_to_the_id_it_came_with(api):
    entries = [
        {"id": "abc-123", "title": "One", "content": "x"},
        {"id": "cafe", "title": "Two", "content": "y"},
        {"id": "cafe0000-0000-4000-8000-000000000000", "title": "Three", "content": "z"},
    ]
    links = [{"source_id": "abc-123", "target_id": "cafe", "relation": "supersedes"}]
    assert api.post("/import", json={"memories": entries, "links": links}).json()["imported"] == 3
    assert read(api, "abc-123")["title"] == "One"
    assert [read(api, id)["title"] for id in ("cafe", "cafe0")] == ["Two", "Three"]
    assert api.put("/memories/abc-123", json={"priority": 9}).json()["priority"] == 9
    assert api.post("/memories/abc-123/promote").json()["id"] == read(api, "abc-123")["id"]
    assert len(api.get("/links/abc-123").json()["links"]) == 1
    answered = api.post("/links", json={"source_id": "cafe", "target_id": "abc-123"})
    assert answered.status_code == 201
    assert api.delete("/memories/abc-123").json() == {"deleted": True}
    refused(api.get("/memories/abc-123"), 404, "NOT_FOUND", "not found")


def test_an_import_names_the_field_of_an_id_that_cannot_be(api):
    ids = ["", "x" * 129, "a\0b", 7]
    entries = [{"id": id, "title": f"Bad {number}", "content": "x"} for number, id in enumerate(ids)]
    said = api.post("/import", json={"memories": entries}).json()
    assert said["imported"] == 0
    assert [error.split()[:3] for error in said["errors"]] == [["Bad", f"{n}:", "id"] for n in range(4)]


def test_a_memory_without_a_source_is_from_the_api(api, ctx):
    api.post("/import", json={"memories": [{"id": NOWHERE, "title": "One", "content": "x"}]})
    ours = kept(ctx, "ours")
    assert [read(api, id)["source"] for id in (NOWHERE, ours.uid)] == ["api", "api"]
    assert {entry["source"] for entry in api.get("/export").json()["memories"]} == {"api"}


def test_an_import_refuses_to_link_a_memory_to_itself(api):
    entry = {"id": NOWHERE, "title": "One", "content": "x"}
    ends = {"source_id": NOWHERE, "target_id": NOWHERE}
    links = [ends, {**ends, "relation": "supersedes"}, {**ends, "relation": "knows"}]
    said = api.post("/import", json={"memories": [entry], "links": links}).json()
    assert said["errors"] == [f"links.{number}: cannot link a memory to itself" for number in (0, 1)]
    assert [link["relation"] for link in api.get(f"/links/{NOWHERE}").json()["links"]] == ["knows"]


# -- who may


def test_a_token_sees_and_changes_what_it_may(ctx):
    secret = create_token(ctx, TokenRequest(name="reader", namespaces=("ours",), can_write=False))
    ours, theirs = kept(ctx, "Ours", namespace="ours"), kept(ctx, "Theirs", namespace="theirs")
    with client(ctx, **{"X-API-Key": secret}) as api:
        assert titles(api.get("/memories").json()["memories"]) == ["Ours"]
        assert titles(api.get("/export").json()["memories"]) == ["Ours"]
        assert api.get("/namespaces").json()["namespaces"] == [{"namespace": "ours", "count": 1}]
        assert api.get(f"/memories/{ours.uid}").status_code == 200
        assert api.get(f"/memories/{theirs.uid}").status_code == 404
        assert api.get("/recall", params={"context": "theirs"}).json()["memories"] == []
        for verb, path, body in [
            ("POST", "/memories", {"title": "t", "content": "c", "namespace": "ours"}),
            ("POST", "/memories", {"title": "t", "content": "c", "namespace": "theirs"}),
            ("DELETE", f"/memories/{ours.uid}", None),
            ("POST", "/forget", {"namespace": "ours"}),
            ("DELETE", "/archive", None),
        ]:
            refused(api.request(verb, path, json=body), 403, "DENIED", "")
        said = api.post("/memories/bulk", json=[{"title": "t", "content": "c", "namespace": "theirs"}])
        assert said.status_code == 403


# -- the Python client


def test_the_requests_of_the_public_python_client_are_answered_as_it_reads_them(api):
    """`ai-memory-mcp` on PyPI, in versions 0.6.4 and 0.10.0, which send and read the same.

    It sends enums as texts, leaves out what is None, and reads: the fields of a memory at the top of `get`; the list
    under `memories`, also of a search; `links`, `namespaces`; the error under `error`. To forget, it gives query
    parameters and no body.
    """
    required = {"id", "tier", "namespace", "title", "content", "created_at", "updated_at"}
    whole = {
        "tier": "mid",
        "namespace": "app",
        "tags": ["auth"],
        "priority": 7,
        "confidence": 1.0,
        "source": "api",
    }
    body = {
        "title": "Auth flow",
        "content": "uses JWT",
        **whole,
        "metadata": {},
        "agent_id": "a",
        "scope": "team",
    }
    id = api.post("/memories", json=body, headers={"X-Agent-Id": "a"}).json()["id"]
    bulk = api.post("/memories/bulk", json=[{"title": "m", "content": "x", **whole}]).json()
    assert (bulk["created"], len(bulk["ids"]), bulk["errors"]) == (1, 1, [])
    assert api.get(f"/memories/{id}").json().keys() >= required
    assert api.put(f"/memories/{id}", json={"content": "uses JWT tokens"}).json().keys() >= required
    for path, query in [
        ("/memories", {"limit": 5, "tags": "auth"}),
        ("/search", {"q": "jwt", "as_agent": "a"}),
    ]:
        assert "Auth flow" in titles(api.get(path, params=query).json()["memories"])
    recalled = api.post("/recall", json={"context": "jwt", "limit": 10, "budget_tokens": 100}).json()
    assert recalled["count"] == len(recalled["memories"]) >= 1 and recalled["memories"][0].keys() >= required
    other = bulk["ids"][0]
    link = {"source_id": id, "target_id": other, "relation": "related_to"}
    assert api.post("/links", json=link).status_code == 201
    assert len(api.get(f"/links/{id}").json()["links"]) == 1
    assert api.post(f"/memories/{id}/promote").json()["promoted"] is True
    assert isinstance(api.get("/stats").json()["total"], int)
    assert api.get("/namespaces").json()["namespaces"][0].keys() == {"namespace", "count"}
    assert api.post("/gc").status_code == 200
    assert api.post("/import", json=api.get("/export").json()).status_code == 200
    assert api.post("/forget", params={"namespace": "app"}).json()["deleted"] == 2
    assert api.delete(f"/memories/{id}").json()["error"]
    health = api.get("/health").json()
    assert (health["status"], health["service"]) == ("ok", "ai-memory")
