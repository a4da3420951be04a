"""ai-memory's commands, over a real store: what they take, what they answer in JSON, what people see."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from loaded_modules import loaded

from mnemic.app import open_app
from mnemic.core import upsert
from mnemic.core.memories import Note
from mnemic.dialects.ai_memory.cli.group import group
from mnemic.settings import load

NOWHERE = "00000000-0000-4000-8000-000000000000"
COMMANDS = (
    "serve mcp store update recall search get list delete promote forget link consolidate resolve shell "
    "auto-consolidate sync mine gc stats namespaces export import completions man archive"
).split()


@pytest.fixture
def keep(ai):
    """Stores a memory and gives it back."""

    def kept(title, content="", *flags):
        return ai.json("store", "-T", title, "-c", content or f"Content of {title}", *flags)

    return kept


def test_the_group_has_the_26_documented_commands_and_no_other(ai):
    names = [name for rows in group().rows().values() for name, _ in rows]
    assert sorted(names) == sorted(COMMANDS) and len(names) == 26
    assert all(name in ai("--help").out for name in names)


LIGHT = [
    ["store", "-T", "One", "-c", "one fact", "--tags", "a,b"],
    ["update", "1", "-p", "7"],
    ["recall", "fact", "-T", "keyword"],
    ["search", "fact"],
    ["list"],
    ["get", "1"],
    ["stats"],
    ["namespaces"],
    ["link", "1", "2"],
    ["promote", "1"],
    ["forget", "-p", "nothing at all"],
    ["resolve", "1", "2"],
    ["auto-consolidate"],
    ["consolidate", "1,2", "-T", "Both", "-s", "both facts"],
    ["delete", "3"],
    ["gc"],
    ["archive", "list"],
    ["archive", "stats"],
    ["shell"],
]


def test_commands_that_need_no_model_load_nothing_heavy(ai, keep):
    keep("One", "one fact")
    keep("Two", "two facts")
    for words in LIGHT:
        assert loaded(ai, "ai-memory", *words, MNEMIC_EMBEDDER="local") == set(), words


def test_store_answers_with_the_memory_and_its_number(keep, ai):
    got = keep("Title", "Content", "-t", "short", "-n", "app", "--tags", "b,a", "-p", "7", "-S", "claude")
    assert got["number"] == 1 and len(got["id"]) == 36
    fields = ("title", "content", "tier", "namespace", "tags", "priority", "source")
    assert [got[name] for name in fields] == ["Title", "Content", "short", "app", ["b", "a"], 7, "claude"]
    assert "duplicate" not in got and keep("Title", "x", "-n", "app")["duplicate"] is True
    out = ai("store", "-T", "Title", "-c", "New content", "-n", "app").out
    assert out == f"stored: {got['id']} [mid] (ns=app)\n"


def test_store_tells_what_it_may_contradict(ai, keep):
    first = keep("Deploy day is Monday", "x", "-n", "ops")
    got = keep("Deploy day is Friday", "y", "-n", "ops")
    assert got["potential_contradictions"] == [first["id"]]
    assert "may contradict 1" in ai("store", "-T", "Deploy day is Sunday", "-c", "z", "-n", "ops").out


def test_store_takes_metadata_and_a_life(keep):
    got = keep("Brief", "x", "--metadata", '{"a": [1]}', "--ttl-secs", "60")
    assert got["metadata"] == {"a": [1]} and "expires_at" in got
    assert "expires_at" not in keep("Lasting", "x", "--tier", "long")


def test_content_is_read_from_standard_input(ai):
    ai("store", "-T", "Piped", "-c", "-", stdin="one\ntwo\n")
    ai("update", "1", "-c", "-", stdin="three\n")
    assert ai.json("get", "1")["memory"]["content"] == "three"


@pytest.mark.parametrize(
    "flags, said",
    [
        (["-T", "", "-c", "x"], "title cannot be empty"),
        (["-T", "t", "-c", ""], "content cannot be empty"),
        (["-T", "t", "-c", "x", "-S", "who"], "invalid source 'who'"),
        (["-T", "t", "-c", "x", "-n", "a b"], "namespace cannot contain spaces"),
        (["-T", "t", "-c", "x", "-n", ""], "namespace cannot be empty"),
        (["-T", "t", "-c", "x", "-p", "11"], "priority must be between 1 and 10 (got 11)"),
        (["-T", "t", "-c", "x", "--confidence", "1.5"], "confidence must be between"),
        (["-T", "t", "-c", "x", "--ttl-secs", "0"], "ttl_secs must be positive"),
        (["-T", "t", "-c", "x", "--tier", "eternal"], "invalid tier: eternal"),
        (["-T", "t", "-c", "x", "--expires-at", "2020-01-01T00:00:00Z"], "expires_at is in the past"),
        (["-T", "t", "-c", "x", "--metadata", "[1]"], "metadata must be a JSON object"),
        (["-T", "t", "-c", "x", "--metadata", "{"], "metadata: not valid JSON"),
        (["-c", "x"], "--title"),
    ],
)
def test_store_refuses_in_the_words_of_ai_memory_before_a_database_is_made(ai, flags, said):
    done = ai("store", *flags)
    assert (done.code, done.out) == (2, "") and said in done.err
    assert not (ai.home / "memory.db").exists()


def test_a_namespace_of_the_run_wins_over_the_folder_s(ai, keep):
    assert keep("Here")["namespace"] == "home"
    assert ai.json("--namespace", "app", "store", "-T", "There", "-c", "x")["namespace"] == "app"
    got = ai("store", "-T", "Everywhere", "-c", "x", "--json", MNEMIC_NAMESPACE="team").json
    assert got["namespace"] == "team"


def test_update_changes_the_given_fields_and_clears_the_end(ai, keep):
    key = keep("Old", "Old content", "--tags", "kept,also", "--ttl-secs", "60")["id"]
    got = ai.json("update", key[:8], "-T", "New", "-p", "8", "--expires-at", "")
    assert got["updated"] is True and got["memory"]["id"] == got["id"] == key
    assert (got["title"], got["content"], got["priority"]) == ("New", "Old content", 8)
    assert got["tags"] == ["kept", "also"] and "expires_at" not in got
    assert ai.json("update", key, "--tags", "")["tags"] == []
    assert ai("update", key, "-c", "x").out == f"updated: {key}\n"


def test_update_without_a_change_is_bad_usage(ai, keep):
    keep("One")
    done = ai("update", "1")
    assert done.code == 2 and "Nothing to change" in done.err


@pytest.mark.parametrize("words", [["get"], ["delete"], ["promote"], ["update", "-c", "x"], ["link", "1"]])
def test_a_missing_memory_is_reported_on_standard_error_with_exit_code_1(ai, keep, words):
    keep("One")
    done = ai(*words, NOWHERE)
    assert (done.code, done.out, done.err) == (1, "", f"not found: {NOWHERE}\n")


def test_a_memory_is_named_by_uid_prefix_or_number(ai, keep):
    key = keep("One")["id"]
    for word in (key, key[:8], "1"):
        assert ai.json("get", word)["memory"]["id"] == key
    assert ai("get", "77").code == 1


def test_a_prefix_of_several_is_refused_with_their_ids(ai):
    uids = [f"abcdef0{number}-0000-4000-8000-000000000000" for number in range(2)]
    with open_app(load({"db": str(ai.home / "memory.db"), "embedder": "none"})) as app:
        for uid in uids:
            upsert.store(replace(app.ctx, new_uid=lambda uid=uid: uid), Note(text="x", name=uid))
    done = ai("get", "abcdef0")
    assert done.code == 2 and "ambiguous ID prefix 'abcdef0': 2 matches" in done.err
    assert all(uid in done.err for uid in uids)
    assert ai.json("get", "abcdef01")["memory"]["id"] == uids[1]


def test_get_shows_the_memory_whole_with_its_links(ai, keep):
    a, b = keep("One", "first\nsecond", "--metadata", '{"k": 1}')["id"], keep("Two")["id"]
    ai("link", a, b, "-r", "supersedes")
    out = ai("get", a).out
    assert f"id        {a}" in out and "first\nsecond" in out and "{'k': 1}" in out
    assert f"→ supersedes 2 {b[:8]} Two" in out
    assert f"← supersedes 1 {a[:8]} One" in ai("get", b).out


def test_recall_answers_with_scores(ai, keep):
    keep("Walnut cake", "flour and eggs", "-n", "kitchen", "--tags", "food")
    keep("Walnut tree", "grows slowly", "-n", "garden")
    got = ai.json("recall", "walnut", "cake", "-n", "kitchen", "--tags", "food", "--since", "1d")
    assert (got["count"], got["mode"]) == (1, "keyword") and got["memories"][0]["score"] > 0
    assert ai.json("recall", "walnut", "--limit", "1")["count"] == 1


@pytest.mark.parametrize("tier", [[], ["-T", "keyword"]])
def test_recall_ranks_by_the_six_factors(ai, keep, tier):
    keep("Walnut", "x", "-p", "1")
    keep("Walnut bread", "x", "-p", "10", "-t", "long")
    got = ai.json("recall", "walnut", *tier)
    assert got["mode"] == "keyword"
    assert [item["title"] for item in got["memories"]] == ["Walnut bread", "Walnut"]
    assert got["memories"][0]["score"] > 8  # priority, confidence and tier are in it


def test_recall_knows_the_feature_tiers(ai, keep):
    keep("Walnut", "x")
    assert (
        ai("recall", "walnut", "-T", "semantic", "--json", MNEMIC_EMBEDDER="local").json["mode"] == "hybrid"
    )
    assert ai("recall", "walnut", "-T", "psychic").code == 2


def test_search_wants_all_words(ai, keep):
    keep("Exact terms here", "x", "-n", "app", "-t", "long", "--tags", "rust")
    keep("Exact only", "x", "-n", "app", "-t", "long")
    got = ai.json(
        "search", "exact", "terms", "-n", "app", "-t", "long", "--tags", "rust", "--until", "2099-01-01"
    )
    assert ([item["title"] for item in got["results"]], got["count"]) == (["Exact terms here"], 1)
    assert ai("search", "exact").out.endswith("\n2 memory(ies) found\n")


def test_list_pages_by_priority(ai, keep):
    for number in range(3):
        keep(f"m{number}", "x", "-n", "app", "-p", str(9 - number))
    keep("other", "x", "-n", "elsewhere")
    got = ai.json("list", "-n", "app", "--limit", "2", "--offset", "1")
    assert ([item["title"] for item in got["memories"]], got["count"]) == (["m1", "m2"], 2)
    assert ai.json("list", "-t", "long")["count"] == 0


def test_expired_memories_are_hidden_until_they_are_collected(ai, keep):
    keep("Fleeting", "walnut", "--ttl-secs", "1")
    time.sleep(1.1)
    assert [ai.json("list")["count"], ai.json("search", "walnut")["count"]] == [0, 0]
    assert ai.json("recall", "walnut")["count"] == 0
    assert ai.json("gc", "--dry-run") == {"expired_deleted": 0, "collected": 1, "dry_run": True}
    assert ai.json("gc")["expired_deleted"] == 1
    assert ai.json("archive", "list")["archived"][0]["archive_reason"]


def test_delete_can_be_restored_by_the_native_command(ai, cli, keep):
    key = keep("Gone")["id"]
    assert ai.json("delete", key) == {"deleted": True, "id": key, "number": 1}
    assert ai.json("archive", "list")["count"] == 0
    cli("restore", "1")
    assert ai("delete", "1").out == f"deleted: {key}\n"


def test_promote_makes_long(ai, keep):
    key = keep("Precious", "x", "-t", "short")["id"]
    assert ai("promote", key).out == f"promoted to long-term: {key}\n"
    kept = ai.json("get", key)["memory"]
    assert kept["tier"] == "long" and "expires_at" not in kept


def test_forget_archives_what_matches(ai, keep):
    keep("one", "old stuff", "-n", "app", "-t", "short")
    keep("two", "new stuff", "-n", "app", "-t", "short")
    dry = ai.json("forget", "-n", "app", "--dry-run")
    assert (dry["would_delete"], dry["dry_run"], dry["deleted"]) == (2, True, 0)
    got = ai.json("forget", "-n", "app", "-p", "old stuff", "-t", "short")
    assert (got["deleted"], got["archived"], got["memories"][0]["title"]) == (1, 1, "one")
    assert [item["title"] for item in ai.json("archive", "list")["archived"]] == ["one"]


def test_forget_needs_a_filter(ai, keep):
    keep("one")
    done = ai("forget")
    assert done.code == 2 and "at least one of namespace, pattern, or tier is required" in done.err
    assert ai.json("stats")["total"] == 1


@pytest.mark.parametrize("words", [["-p", ""], ["-p", "*"], ["-t", ""]])
def test_an_empty_filter_is_no_licence_to_forget_everything(ai, keep, words):
    keep("one")
    assert ai("forget", *words).code == 2
    assert ai.json("stats")["total"] == 1


def test_link_knows_four_relations(ai, keep):
    a, b = keep("One")["id"], keep("Two")["id"]
    linked = {"linked": True, "source_id": a, "target_id": b, "relation": "related_to"}
    assert ai.json("link", a, b) == linked
    assert ai("link", a, b, "-r", "supersedes").out == f"linked: {a} --[supersedes]--> {b}\n"
    assert "invalid relation 'likes'" in ai("link", a, b, "-r", "likes").err
    assert "itself" in ai("link", a, "1").err


def test_consolidate_makes_one_of_several(ai, keep):
    ids = [keep(f"Part {n}", "x", "-n", "app", "--tags", f"t{n}")["id"] for n in range(2)]
    got = ai.json("consolidate", f"{ids[0]}, 2", "-T", "Whole", "-s", "all of it")
    assert got["consolidated"] == 2
    kept = ai.json("get", got["id"])["memory"]
    assert (kept["namespace"], kept["tier"], sorted(kept["tags"])) == ("app", "long", ["t0", "t1"])


@pytest.mark.parametrize(
    "words, said",
    [
        (["1", "-T", "t", "-s", "x"], "need at least 2"),
        (["1,1", "-T", "t", "-s", "x"], "need at least 2"),
        (["1,2", "-T", "t"], "summary is required"),
        (["1,2", "-T", "", "-s", "x"], "title cannot be empty"),
        ([f"1,{NOWHERE}", "-T", "t", "-s", "x"], f"not found: {NOWHERE}"),
    ],
)
def test_consolidate_refuses(ai, keep, words, said):
    keep("One")
    keep("Two")
    done = ai("consolidate", *words)
    assert done.code in (1, 2) and said in done.err
    assert ai.json("stats")["total"] == 2


def test_one_memory_named_twice_is_not_several(ai, keep):
    key = keep("One")["id"]
    assert "need at least 2" in ai("consolidate", f"1,{key}", "-T", "t", "-s", "x").err


def test_resolve_names_both(ai, keep):
    winner, loser = keep("Truth")["id"], keep("Rumour", "x", "-p", "8")["id"]
    assert ai("resolve", winner, loser).out == f"resolved: {winner} supersedes {loser}\n"
    assert ai.json("get", loser)["memory"]["priority"] == 1
    assert "itself" in ai("resolve", winner, winner).err


def test_auto_consolidate_previews_and_merges(ai, keep):
    for number in range(3):
        keep(f"Note {number}", "x", "-n", "ops", "--tags", "deploy")
    dry = ai.json("auto-consolidate", "--dry-run")
    titles = [f"Note {number}" for number in range(3)]
    assert dry["dry_run"] is True and dry["consolidated"] == 0
    [group] = dry["groups"]
    assert (group["namespace"], group["tag"], group["count"]) == ("ops", "deploy", 3)
    assert sorted(group["titles"]) == titles
    assert "would consolidate 3 memories of ops deploy" in ai("auto-consolidate", "--dry-run").out
    assert ai.json("auto-consolidate", "--short-only")["consolidated"] == 0
    assert "consolidated 3 memories" in ai("auto-consolidate").out
    assert ai("auto-consolidate").out == "Nothing to consolidate.\n"


def test_the_archive_is_listed_restored_counted_and_purged(ai, keep):
    key = keep("Back again", "x", "-n", "app")["id"]
    keep("Gone", "x", "-n", "app")
    ai("forget", "-n", "app")
    got = ai.json("archive", "list", "-n", "app", "--limit", "1", "--offset", "1")
    assert (
        got["count"] == 1
        and got["archived"][0]["archived_at"]
        and got["archived"][0]["archive_reason"] == "forget"
    )
    assert "2 memory(ies) in the archive" in ai("archive", "list").out
    stats = ai.json("archive", "stats")
    assert (stats["archived_total"], stats["by_namespace"]) == (2, [{"namespace": "app", "count": 2}])
    assert stats["size_bytes"] == len("Back againx") + len("Gonex")
    assert stats["oldest_archived_at"] <= got["archived"][0]["archived_at"] <= stats["newest_archived_at"]
    assert "16 bytes" in ai("archive", "stats").out
    assert ai("archive", "--json", "list").json["count"] == ai("archive", "list", "--json").json["count"] == 2
    assert ai.json("archive", "restore", key[:8])["restored"] is True
    done = ai("archive", "restore", key)
    assert (done.code, done.err) == (1, f"not found in archive: {key}\n")
    assert ai.json("archive", "purge", "--older-than-days", "1")["purged"] == 0
    assert "non-negative (got -1)" in ai("archive", "purge", "--older-than-days", "-1").err
    assert ai.json("archive", "purge", "--older-than-days", str(10**12))["purged"] == 0
    assert ai("archive", "purge").out == "purged 1 memory\n"


def test_stats_and_namespaces_count(ai, keep):
    keep("One", "x", "-n", "app")
    keep("Two", "x", "-n", "app", "-t", "long")
    got = ai.json("stats")
    assert got["by_namespace"] == [{"namespace": "app", "count": 2}]
    assert {item["tier"]: item["count"] for item in got["by_tier"]} == {"mid": 1, "long": 1}
    assert {"by_kind", "by_state", "pending_vectors", "changes"} <= got.keys()
    assert ai.json("namespaces") == {"namespaces": [{"namespace": "app", "count": 2}]}
    assert ai("namespaces").out == "app  2\n"


def test_tiers_and_priorities_have_their_colours(ai, keep):
    for tier, priority in (("short", "2"), ("mid", "5"), ("long", "9")):
        keep(tier, "x", "-t", tier, "-p", priority)
    out = ai("list", FORCE_COLOR="1").out
    red, yellow, green = "\x1b[31m", "\x1b[33m", "\x1b[32m"
    assert f"{red}short\x1b[0m {red}██░░░░░░░░" in out
    assert f"{yellow}mid\x1b[0m {yellow}█████░░░░░" in out
    assert f"{green}long\x1b[0m {green}█████████░" in out
    assert "\x1b" not in ai("list").out


def test_what_is_stored_cannot_talk_to_the_terminal(ai, cli):
    cli("call", "mnemic", "remember", '{"text": "red \\u001b[31m \\u009b2J", "title": "bad\\u001btitle"}')
    for words in (["list"], ["get", "1"], ["search", "red"], ["recall", "red"], ["forget", "-p", "red"]):
        done = ai(*words)
        assert done.code == 0 and not set(done.out) & {"\x1b", "\x9b"}, words


def test_words_that_are_no_text_are_refused(ai):
    for words in (
        ["recall", "\udcff"],
        ["list", "-n", "\udcff"],
        ["get", "\udcff"],
        ["store", "-T", "\udcff", "-c", "x"],
    ):
        done = ai(*words)
        assert done.code == 2 and re.search("UTF-8|Unicode", done.err), words


@pytest.mark.parametrize("words", [["recall", " "], ["search", ""]])
def test_an_empty_question_is_refused(ai, words):
    done = ai(*words)
    assert done.code == 2 and "is required" in done.err


def test_the_group_has_a_manual_and_completions_of_its_own(ai):
    page = ai("man").out
    assert page.startswith(".TH MNEMIC\\-AI\\-MEMORY 1 ") and "mnemic ai\\-memory store" in page
    assert "remember" not in page
    assert "_MNEMIC_COMPLETE" in ai("completions", "bash").out


def test_errors_are_json_where_answers_are(ai, keep):
    import json

    done = ai("--json", "get", NOWHERE)
    assert (done.code, done.out) == (1, "")
    assert json.loads(done.err) == {"error": {"code": "not_found", "message": f"not found: {NOWHERE}"}}
    done = ai("store", "-T", "t", "-c", "x", "-p", "99", "--json")
    assert done.code == 2 and json.loads(done.err)["error"]["code"] == "invalid"


def test_a_misspelt_command_gets_a_suggestion(ai):
    done = ai("stoer", "x")
    assert done.code == 2 and "Did you mean store or serve?" in done.err


def test_an_explicit_database_that_is_missing_is_an_error_for_readers(ai):
    done = ai("--db", "typo.db", "list")
    assert done.code == 1 and "--db: there is no database typo.db" in done.err
    assert not (ai.home / "typo.db").exists()


def test_memories_that_are_known_count_as_imported(ai, keep):
    keep("One", "first", "-n", "app")
    keep("Two", "second", "-n", "app")
    dump = ai("export").out
    assert ai.json("import", stdin=dump) == {"imported": 2, "known": 2, "errors": []}
    assert ai("import", stdin=dump).out == "Imported 2.\n"


def test_untagged_memories_of_a_namespace_are_consolidated_together(ai, keep):
    for number in range(3):
        keep(f"Note {number}", f"step {number}", "-n", "ops")
    keep("Elsewhere", "x", "-n", "other")
    [group] = ai.json("auto-consolidate", "--dry-run")["groups"]
    assert (group["namespace"], group["tag"], group["count"]) == ("ops", "", 3)
    assert ai.json("auto-consolidate")["consolidated"] == 3
    [made] = ai.json("list", "-n", "ops")["memories"]
    assert made["title"] == "Consolidated: untagged (3 memories)" and made["tier"] == "long"
    assert all(f"step {number}" in made["content"] for number in range(3))
