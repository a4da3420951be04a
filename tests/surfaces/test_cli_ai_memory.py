"""ai-memory's commands, over a real store: what they take, what they answer in JSON, what people see."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from test_cli_program import loaded

from mnemic.app import open_app
from mnemic.core import storing
from mnemic.core.memories import Note
from mnemic.settings import load
from mnemic.surfaces.cli.program import sections

NOWHERE = "00000000-0000-4000-8000-000000000000"
COMMANDS = (
    "serve mcp store update recall search get list delete promote forget link consolidate resolve shell "
    "auto-consolidate sync mine gc stats namespaces export import completions man archive"
).split()


@pytest.fixture
def keep(cli):
    """Stores a memory and gives it back."""

    def kept(title, content="", *flags):
        return cli.json("store", "-T", title, "-c", content or f"Content of {title}", *flags)

    return kept


def test_the_commands_of_ai_memory_are_there_in_sections():
    names = {name for rows in sections().values() for name, _ in rows}
    assert set(COMMANDS) <= names
    assert list(sections()) == ["Remember", "Find", "Relate", "Let go", "Carry", "Connect", "Look after"]


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


def test_commands_that_need_no_model_load_nothing_heavy(cli, keep):
    keep("One", "one fact")
    keep("Two", "two facts")
    for words in LIGHT:
        assert loaded(cli, *words, MNEMIC_EMBEDDER="local") == set(), words


def test_store_answers_with_the_memory_and_its_number(keep, cli):
    got = keep("Title", "Content", "-t", "short", "-n", "app", "--tags", "b,a", "-p", "7", "-S", "claude")
    assert got["number"] == 1 and len(got["id"]) == 36
    fields = ("title", "content", "tier", "namespace", "tags", "priority", "source")
    assert [got[name] for name in fields] == ["Title", "Content", "short", "app", ["b", "a"], 7, "claude"]
    assert "duplicate" not in got and keep("Title", "x", "-n", "app")["duplicate"] is True
    out = cli("store", "-T", "Title", "-c", "New content", "-n", "app").out
    assert out == f"stored: {got['id']} [mid] (ns=app)\n"


def test_store_tells_what_it_may_contradict(cli, keep):
    first = keep("Deploy day is Monday", "x", "-n", "ops")
    got = keep("Deploy day is Friday", "y", "-n", "ops")
    assert got["potential_contradictions"] == [first["id"]]
    assert "may contradict 1" in cli("store", "-T", "Deploy day is Sunday", "-c", "z", "-n", "ops").out


def test_store_takes_metadata_and_a_life(keep):
    got = keep("Brief", "x", "--metadata", '{"a": [1]}', "--ttl-secs", "60")
    assert got["metadata"] == {"a": [1]} and "expires_at" in got
    assert "expires_at" not in keep("Lasting", "x", "--tier", "long")


def test_content_is_read_from_standard_input(cli):
    cli("store", "-T", "Piped", "-c", "-", stdin="one\ntwo\n")
    cli("update", "1", "-c", "-", stdin="three\n")
    assert cli.json("get", "1")["memory"]["content"] == "three"


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
def test_store_refuses_in_the_words_of_ai_memory_before_a_database_is_made(cli, flags, said):
    done = cli("store", *flags)
    assert (done.code, done.out) == (2, "") and said in done.err
    assert not (cli.home / "memory.db").exists()


def test_a_namespace_of_the_run_wins_over_the_folder_s(cli, keep):
    assert keep("Here")["namespace"] == "home"
    assert cli.json("--namespace", "app", "store", "-T", "There", "-c", "x")["namespace"] == "app"
    got = cli("store", "-T", "Everywhere", "-c", "x", "--json", MNEMIC_NAMESPACE="team").json
    assert got["namespace"] == "team"


def test_update_changes_what_is_given_and_clears_the_end(cli, keep):
    key = keep("Old", "Old content", "--tags", "kept,also", "--ttl-secs", "60")["id"]
    got = cli.json("update", key[:8], "-T", "New", "-p", "8", "--expires-at", "")
    assert got["updated"] is True and got["memory"]["id"] == got["id"] == key
    assert (got["title"], got["content"], got["priority"]) == ("New", "Old content", 8)
    assert got["tags"] == ["kept", "also"] and "expires_at" not in got
    assert cli.json("update", key, "--tags", "")["tags"] == []
    assert cli("update", key, "-c", "x").out == f"updated: {key}\n"


def test_update_without_a_change_is_bad_usage(cli, keep):
    keep("One")
    done = cli("update", "1")
    assert done.code == 2 and "Nothing to change" in done.err


@pytest.mark.parametrize("words", [["get"], ["delete"], ["promote"], ["update", "-c", "x"], ["link", "1"]])
def test_what_is_not_there_is_told_on_standard_error_and_ends_with_1(cli, keep, words):
    keep("One")
    done = cli(*words, NOWHERE)
    assert (done.code, done.out, done.err) == (1, "", f"not found: {NOWHERE}\n")


def test_a_memory_is_named_by_uid_prefix_or_number(cli, keep):
    key = keep("One")["id"]
    for word in (key, key[:8], "1"):
        assert cli.json("get", word)["memory"]["id"] == key
    assert cli("get", "77").code == 1


def test_a_prefix_of_several_is_refused_with_their_ids(cli):
    uids = [f"abcdef0{number}-0000-4000-8000-000000000000" for number in range(2)]
    with open_app(load({"db": str(cli.home / "memory.db"), "embedder": "none"})) as app:
        for uid in uids:
            storing.store(replace(app.ctx, new_uid=lambda uid=uid: uid), Note(text="x", title=uid))
    done = cli("get", "abcdef0")
    assert done.code == 2 and "ambiguous ID prefix 'abcdef0': 2 matches" in done.err
    assert all(uid in done.err for uid in uids)
    assert cli.json("get", "abcdef01")["memory"]["id"] == uids[1]


def test_get_shows_the_memory_whole_with_its_links(cli, keep):
    a, b = keep("One", "first\nsecond", "--metadata", '{"k": 1}')["id"], keep("Two")["id"]
    cli("link", a, b, "-r", "supersedes")
    out = cli("get", a).out
    assert f"id        {a}" in out and "first\nsecond" in out and "{'k': 1}" in out
    assert f"→ supersedes 2 {b[:8]} Two" in out
    assert f"← supersedes 1 {a[:8]} One" in cli("get", b).out
    cli("link", a, b, "-r", "supersedes", "--end")
    assert cli.json("get", a)["links"] == []


def test_recall_answers_with_scores_and_terms_on_request(cli, keep):
    keep("Walnut cake", "flour and eggs", "-n", "kitchen", "--tags", "food")
    keep("Walnut tree", "grows slowly", "-n", "garden")
    got = cli.json("recall", "walnut", "cake", "-n", "kitchen", "--tags", "food", "--since", "1d")
    assert (got["count"], got["mode"]) == (1, "keyword") and "terms" not in got["memories"][0]
    assert cli.json("recall", "walnut", "--explain")["memories"][0]["terms"]
    assert cli.json("recall", "walnut", "--limit", "1")["count"] == 1
    assert cli.json("recall", "walnut", "--kinds", "event")["count"] == 0
    assert cli.json("recall", "walnut", "--budget-tokens", "6")["count"] == 1


def test_recall_by_a_feature_tier_ranks_as_that_tier_does(cli, keep):
    keep("Walnut", "x", "-p", "1")
    keep("Walnut bread", "x", "-p", "10", "-t", "long")
    got = cli.json("recall", "walnut", "-T", "keyword")
    assert got["mode"] == "keyword"
    assert [item["title"] for item in got["memories"]] == ["Walnut bread", "Walnut"]
    assert got["memories"][0]["score"] > 8  # priority, confidence and tier are in it
    assert cli.json("recall", "walnut", "-T", "keyword", "--budget-tokens", "3")["count"] == 1
    assert cli("recall", "walnut", "-T", "psychic").code == 2


def test_the_past_can_be_asked_by_either_ranking(cli, keep):
    keep("Walnut", "x")
    time.sleep(0.01)
    moment = datetime.now(UTC).isoformat()
    cli("delete", "1")
    for words in ([], ["-T", "keyword"]):
        assert cli.json("recall", "walnut", "--as-of", moment, *words)["count"] == 1
        assert cli.json("recall", "walnut", *words)["count"] == 0
    assert cli.json("stats", "--as-of", moment)["total"] == 1


def test_search_wants_all_words(cli, keep):
    keep("Exact terms here", "x", "-n", "app", "-t", "long", "--tags", "rust")
    keep("Exact only", "x", "-n", "app", "-t", "long")
    got = cli.json(
        "search", "exact", "terms", "-n", "app", "-t", "long", "--tags", "rust", "--until", "2099-01-01"
    )
    assert ([item["title"] for item in got["results"]], got["count"]) == (["Exact terms here"], 1)
    assert cli("search", "exact").out.endswith("\n2 memory(ies) found\n")


def test_list_pages_by_priority(cli, keep):
    for number in range(3):
        keep(f"m{number}", "x", "-n", "app", "-p", str(9 - number))
    keep("other", "x", "-n", "elsewhere")
    got = cli.json("list", "-n", "app", "--limit", "2", "--offset", "1")
    assert ([item["title"] for item in got["memories"]], got["count"]) == (["m1", "m2"], 2)
    assert cli.json("list", "-t", "long")["count"] == 0


def test_expired_memories_are_hidden_until_they_are_collected(cli, keep):
    keep("Fleeting", "walnut", "--ttl-secs", "1")
    time.sleep(1.1)
    assert [cli.json("list")["count"], cli.json("search", "walnut")["count"]] == [0, 0]
    assert cli.json("recall", "walnut")["count"] == 0
    assert cli.json("gc", "--dry-run") == {"expired_deleted": 0, "collected": 1, "dry_run": True}
    assert cli.json("gc")["expired_deleted"] == 1
    assert cli.json("archive", "list")["archived"][0]["archive_reason"]


def test_delete_takes_out_of_use_and_restore_brings_back(cli, keep):
    key = keep("Gone")["id"]
    assert cli.json("delete", key) == {"deleted": True, "id": key, "number": 1}
    assert cli.json("archive", "list")["count"] == 0
    cli("restore", "1")
    assert cli("delete", "1").out == f"deleted: {key}\n"


def test_promote_makes_long(cli, keep):
    key = keep("Precious", "x", "-t", "short")["id"]
    assert cli("promote", key).out == f"promoted to long-term: {key}\n"
    kept = cli.json("get", key)["memory"]
    assert kept["tier"] == "long" and "expires_at" not in kept


def test_forget_by_filter_archives_and_by_id_does_not(cli, keep):
    keep("one", "old stuff", "-n", "app", "-t", "short")
    keep("two", "new stuff", "-n", "app", "-t", "short")
    dry = cli.json("forget", "-n", "app", "--dry-run")
    assert (dry["would_delete"], dry["dry_run"], dry["deleted"]) == (2, True, 0)
    got = cli.json("forget", "-n", "app", "-p", "old stuff", "-t", "short")
    assert (got["deleted"], got["archived"], got["memories"][0]["title"]) == (1, 1, "one")
    got = cli.json("forget", "2", "--reason", "stale")
    assert (got["deleted"], got["archived"]) == (1, 0)
    assert [item["title"] for item in cli.json("archive", "list")["archived"]] == ["one"]
    cli("restore", "2")
    assert cli.json("forget", "2", "--archive")["archived"] == 1
    assert cli("forget", "1", "--archive", "--purge").code == 2


def test_forget_can_purge_what_a_filter_finds(cli, keep):
    keep("one", "x", "--tags", "scratch")
    assert cli.json("forget", "--tags", "scratch", "--purge")["deleted"] == 1
    assert cli.json("archive", "list")["count"] == 0 and cli("restore", "1").code == 1


@pytest.mark.parametrize("words", [[], ["1", "-n", "app"]])
def test_forget_needs_ids_or_a_filter_and_not_both(cli, keep, words):
    keep("one")
    done = cli("forget", *words)
    assert done.code == 2 and "at least one of namespace, pattern, or tier is required" in done.err
    assert cli.json("stats")["total"] == 1


@pytest.mark.parametrize(
    "words",
    [["--tags", ""], ["--tags", ","], ["--kinds", " "], ["--until", ""], ["-p", ""], ["-p", "*"], ["-t", ""]],
)
def test_an_empty_filter_is_no_licence_to_forget_everything(cli, keep, words):
    keep("one")
    assert cli("forget", *words).code == 2
    assert cli.json("stats")["total"] == 1


def test_link_knows_four_relations_and_any_type(cli, keep):
    a, b = keep("One")["id"], keep("Two")["id"]
    got = cli.json("link", a, b)
    assert got | {"link": 0} == {
        "linked": True,
        "source_id": a,
        "target_id": b,
        "relation": "related_to",
        "link": 0,
    }
    assert cli.json("link", a, b, "--type", "depends_on", "--weight", "0.5")["link"]["weight"] == 0.5
    assert "invalid relation 'likes'" in cli("link", a, b, "-r", "likes").err
    assert "itself" in cli("link", a, "1").err
    assert cli("link", a, b, "-r", "supersedes", "--type", "x").code == 2
    assert cli.json("link", a, b, "--end")["linked"] is False


def test_consolidate_makes_one_of_several(cli, keep):
    ids = [keep(f"Part {n}", "x", "-n", "app", "--tags", f"t{n}")["id"] for n in range(2)]
    got = cli.json("consolidate", f"{ids[0]}, 2", "-T", "Whole", "-s", "all of it")
    assert got["consolidated"] == 2
    kept = cli.json("get", got["id"])["memory"]
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
def test_consolidate_refuses(cli, keep, words, said):
    keep("One")
    keep("Two")
    done = cli("consolidate", *words)
    assert done.code in (1, 2) and said in done.err
    assert cli.json("stats")["total"] == 2


def test_one_memory_named_twice_is_not_several(cli, keep):
    key = keep("One")["id"]
    assert "need at least 2" in cli("consolidate", f"1,{key}", "-T", "t", "-s", "x").err


def test_resolve_names_both(cli, keep):
    winner, loser = keep("Truth")["id"], keep("Rumour", "x", "-p", "8")["id"]
    assert cli("resolve", winner, loser).out == f"resolved: {winner} supersedes {loser}\n"
    assert cli.json("get", loser)["memory"]["priority"] == 1
    assert "itself" in cli("resolve", winner, winner).err


def test_auto_consolidate_previews_and_merges(cli, keep):
    for number in range(3):
        keep(f"Note {number}", "x", "-n", "ops", "--tags", "deploy")
    dry = cli.json("auto-consolidate", "--dry-run")
    titles = [f"Note {number}" for number in range(3)]
    assert dry["dry_run"] is True and dry["consolidated"] == 0
    [group] = dry["groups"]
    assert (group["namespace"], group["tag"], group["count"]) == ("ops", "deploy", 3)
    assert sorted(group["titles"]) == titles
    assert "would consolidate 3 memories of ops deploy" in cli("auto-consolidate", "--dry-run").out
    assert cli.json("auto-consolidate", "--short-only")["consolidated"] == 0
    assert "consolidated 3 memories" in cli("auto-consolidate").out
    assert cli("auto-consolidate").out == "Nothing to consolidate.\n"


def test_the_archive_is_listed_restored_counted_and_purged(cli, keep):
    key = keep("Back again", "x", "-n", "app")["id"]
    keep("Gone", "x", "-n", "app")
    cli("forget", "-n", "app")
    got = cli.json("archive", "list", "-n", "app", "--limit", "1", "--offset", "1")
    assert (
        got["count"] == 1
        and got["archived"][0]["archived_at"]
        and got["archived"][0]["archive_reason"] == "forget"
    )
    assert "2 memory(ies) in the archive" in cli("archive", "list").out
    assert cli.json("archive", "stats") == {
        "archived_total": 2,
        "by_namespace": [{"namespace": "app", "count": 2}],
    }
    assert (
        cli("archive", "--json", "list").json["count"] == cli("archive", "list", "--json").json["count"] == 2
    )
    assert cli.json("archive", "restore", key[:8])["restored"] is True
    done = cli("archive", "restore", key)
    assert (done.code, done.err) == (1, f"not found in archive: {key}\n")
    assert cli.json("archive", "purge", "--older-than-days", "1")["purged"] == 0
    assert "non-negative (got -1)" in cli("archive", "purge", "--older-than-days", "-1").err
    assert cli.json("archive", "purge", "--older-than-days", str(10**12))["purged"] == 0
    assert cli("archive", "purge").out == "purged 1 memory\n"


def test_stats_and_namespaces_count(cli, keep):
    keep("One", "x", "-n", "app")
    keep("Two", "x", "-n", "app", "-t", "long")
    got = cli.json("stats")
    assert got["by_namespace"] == [{"namespace": "app", "count": 2}]
    assert {item["tier"]: item["count"] for item in got["by_tier"]} == {"mid": 1, "long": 1}
    assert {"by_kind", "by_state", "pending_vectors", "changes"} <= got.keys()
    assert cli.json("stats", "-n", "other")["total"] == 0
    assert cli.json("namespaces") == {"namespaces": [{"namespace": "app", "count": 2}]}
    assert cli("namespaces").out == "app  2\n"


def test_tiers_and_priorities_have_their_colours(cli, keep):
    for tier, priority in (("short", "2"), ("mid", "5"), ("long", "9")):
        keep(tier, "x", "-t", tier, "-p", priority)
    out = cli("list", FORCE_COLOR="1").out
    red, yellow, green = "\x1b[31m", "\x1b[33m", "\x1b[32m"
    assert f"{red}short\x1b[0m {red}██░░░░░░░░" in out
    assert f"{yellow}mid\x1b[0m {yellow}█████░░░░░" in out
    assert f"{green}long\x1b[0m {green}█████████░" in out
    assert "\x1b" not in cli("list").out


def test_what_is_stored_cannot_talk_to_the_terminal(cli):
    cli("call", "mnemic", "remember", '{"text": "red \\u001b[31m \\u009b2J", "title": "bad\\u001btitle"}')
    cli("link", "1", "1")
    for words in (["list"], ["get", "1"], ["search", "red"], ["recall", "red"], ["forget", "1"]):
        done = cli(*words)
        assert done.code == 0 and not set(done.out) & {"\x1b", "\x9b"}, words


def test_words_that_are_no_text_are_refused(cli):
    for words in (
        ["recall", "\udcff"],
        ["list", "-n", "\udcff"],
        ["get", "\udcff"],
        ["store", "-T", "\udcff", "-c", "x"],
    ):
        done = cli(*words)
        assert done.code == 2 and re.search("UTF-8|Unicode", done.err), words


@pytest.mark.parametrize("words", [["recall", " "], ["search", ""]])
def test_an_empty_question_is_refused(cli, words):
    done = cli(*words)
    assert done.code == 2 and "is required" in done.err
