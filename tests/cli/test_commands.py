"""The native dialect's verbs as commands, over a real store: what they answer in JSON and what people see."""

from __future__ import annotations

import json
import re

import click
import pytest

from mnemic.app import dialect
from mnemic.cli.views import anything
from mnemic.cli.views.native import VIEWS
from mnemic.console import terminal
from mnemic.model.time import DAY, HOUR, MINUTE, SECOND, YEAR


@pytest.fixture
def known(cli):
    """A command line with three memories and a link."""
    cli("remember", "The API is deployed on Fridays", "--tags", "deploy,ci", "--namespace", "app")
    cli(
        "remember",
        "Standup is at ten. Bring notes about what you did yesterday.",
        "--ttl",
        "7d",
        "--kind",
        "event",
    )
    cli("remember", "Anna prefers tea", "--title", "Anna's taste", "--confidence", "0.7", "--source", "chat")
    cli("link", "1", "2", "--type", "depends_on", "--weight", "0.5", "--reason", "announced there")
    return cli


def test_recall_finds_a_stored_memory(cli):
    kept = cli.json("remember", "The API is deployed on Fridays", "--tags", "deploy")["stored"][0]
    found = cli.json("recall", "when", "is", "the", "API", "deployed")
    assert len(found["memories"]) == 1
    best = found["memories"][0]
    assert (best["id"], best["text"], best["tags"]) == (
        kept["id"],
        "The API is deployed on Fridays",
        ["deploy"],
    )
    [full] = cli.json("recall", "API", "--detail", "full")["memories"]
    assert full["uid"] == kept["uid"] and full["score"] > 0


def test_a_contradiction_is_shown_with_the_command_that_settles_it(cli):
    cli("remember", "We deploy on Fridays")
    told = cli("remember", "We deploy on Mondays").out
    [command] = re.findall(r"mnemic (link .+)", told)
    cli(*command.split())
    assert "Fridays" not in cli("recall", "when do we deploy?").out


@pytest.mark.parametrize("words", [["remember", "-"], ["remember"]])
def test_text_is_read_from_a_pipe(cli, words):
    cli(*words, stdin="line one\nline two\n")
    assert cli.json("open", "1")["memories"][0]["text"] == "line one\nline two"


def test_other_texts_are_read_from_a_pipe(cli):
    cli("remember", "Tea is at four")
    assert "Tea is at four" in cli("recall", stdin="tea\n").out
    assert cli("verify", stdin="Tea is at four\n").out.startswith("verified")
    assert "Too early" in cli("reflect", "--about", "1", stdin="Too early\n").out
    searched = cli("reflect", "--query", "early", stdin="not read", MNEMIC_EMBEDDER="local")
    assert "Too early" in searched.out and "not read" not in searched.out
    cli("revise", "1", "--text", "-", stdin="Tea is at five\n")
    assert "Tea is at five" in cli("open", "1").out


def test_input_that_is_not_text_is_refused(cli):
    done = cli("remember", "-", stdin=b"\xff\xfe")
    assert done.code == 2 and "UTF-8" in done.err


def test_the_same_text_is_refused_with_1_unless_forced(cli):
    cli("remember", "only once")
    done = cli("remember", "only once")
    assert done.code == 1 and "Not stored" in done.out and "1" in done.out
    assert cli("remember", "only once", "--json").code == 1
    assert cli("remember", "only once", "--force").code == 0


def test_remember_without_text_explains_its_usage(cli):
    done = cli("remember", "--tags", "deploy")
    assert done.code == 2 and "give TEXT" in done.err and "items" not in done.err


def test_remember_reports_similar_texts(cli):
    cli("remember", "The office opens at nine in the morning")
    assert "like 1" in cli("remember", "Our office opens at nine in the morning").out


def test_recall_shows_rank_title_score_and_origin(known):
    out = known("recall", "API deployed").out
    assert out.startswith(" 1. The API is deployed on Fridays")
    assert "\n    1 · app · deploy, ci · just now\n" in out


def test_recall_shows_an_excerpt_where_the_title_does_not_say_it_all(known):
    assert "Bring notes about what you did yesterday." in known("recall", "standup").out


@pytest.mark.parametrize("columns", ["1", "20", "40"])
@pytest.mark.parametrize(
    "words", [["recall", "standup"], ["list"], ["open", "2"], ["history"], ["ai-memory", "archive", "list"]]
)
def test_a_narrow_terminal_is_written_to_all_the_same(known, columns, words):
    known("forget", "3", "--archive")
    done = known(*words, COLUMNS=columns)
    assert (done.code, done.err) == (0, "") and done.out


def test_recall_says_why_a_memory_was_not_found(known):
    done = known("recall", "volcano eruption in Iceland", "--why", "1", "--min-relevance", "1")
    assert done.code == 0 and "\n1 " in done.out, done.out


def test_recall_explains_on_request(known):
    plain, explained = known("recall", "tea").out, known("recall", "tea", "--explain").out
    assert len(explained.splitlines()) == len(plain.splitlines()) + 2


def test_nothing_relevant_is_an_answer(cli):
    done = cli("recall", "zebras")
    assert (done.code, done.out) == (0, "Nothing relevant is known in any namespace.\n")
    assert cli.json("recall", "zebras")["memories"] == []
    (cli.home / "widgets" / ".git").mkdir(parents=True)
    cli.patch.chdir(cli.home / "widgets")
    told = "Nothing relevant is known in widgets and global. `--namespace '*'` searches all.\n"
    assert cli("recall", "zebras").out == told


def test_recall_shows_the_turns_around_a_hit(cli):
    for question, answer in (("Which tea?", "Green."), ("How many scones?", "Four."), ("Jam?", "Plum.")):
        cli("session", "log", "--user", question, "--agent", answer)
    out = cli("recall", "how many scones", "--around", "1").out
    assert "before: " in out and "Which tea?" in out and "after: " in out and "Plum." in out


def test_recall_reports_hits_left_out_by_the_budget(known):
    done = known("recall", "tea", "--budget-tokens", "50")
    assert done.out == "1 relevant memory does not fit into the budget; raise --budget-tokens.\n"
    asked = ("recall", "tea", "--json")
    assert json.loads(known(*asked, "--budget-tokens", "50").out)["left_out"] == 1
    assert "left_out" not in json.loads(known(*asked, "--budget-tokens", "1000").out)


def test_open_shows_a_memory_whole_with_its_links(known):
    out = known("open", "1").out
    assert "→ depends_on 2 Standup is at ten. (weight 0.5, announced there)" in out
    assert "← depends_on 1" in known("open", "2").out
    taste = known("open", "Anna's taste").out
    assert "confidence 0.7" in taste and "source   chat" in taste and "Anna prefers tea" in taste


def test_a_memory_of_the_past_is_shown_with_the_day_it_happened(cli):
    cli("remember", "The office moved to Bremen", "--occurred-at", "2020-03-01T12:00:00Z")
    assert re.search(r"occurred +2020-03-01", cli("open", "1").out)
    assert "just now" not in cli("list").out


def test_open_shows_several(known):
    out = known("open", "1", "3").out
    assert "The API is deployed" in out and "Anna prefers tea" in out


def test_revise_changes_and_supersedes(known):
    assert "Anna prefers coffee" in known("revise", "3", "--text", "Anna prefers coffee").out
    out = known("revise", "1", "--text", "Deploys are on Mondays", "--supersede", "--reason", "moved").out
    assert out.startswith("Superseded 1 by 4")
    assert "superseded: moved" in known("open", "1").out


def test_forget_previews_and_deletes_and_restore_reverts(known):
    assert known("forget", "--tags", "deploy", "--dry-run").out.startswith("Would forget 1 memory")
    assert known("forget", "1", "--reason", "stale").out.startswith("Forgot 1 memory\n    1 The API")
    assert known.json("stats")["total"] == 2
    assert known("restore", "1").out == "Restored 1 The API is deployed on Fridays\n"
    assert known.json("stats")["total"] == 3


def test_forget_by_filter_is_restored_by_number(known):
    assert known.json("forget", "-n", "app", "--pattern", "deployed", "--tier", "long")["deleted"] == 1
    assert known.json("list", "--state", "forgotten")["memories"][0]["id"] == 1
    assert known("restore", "1").code == 0


def test_list_is_newest_first_and_can_be_narrowed(known):
    assert [one["id"] for one in known.json("list")["memories"]] == [3, 2, 1]
    assert [one["id"] for one in known.json("list", "--limit", "1", "--offset", "1")["memories"]] == [2]
    assert [one["id"] for one in known.json("list", "--tags", "ci")["memories"]] == [1]
    assert [one["id"] for one in known.json("list", "--kinds", "event")["memories"]] == [2]
    assert known("list", "-n", "nowhere").out == "No memories.\n"
    out = known("list").out
    assert out.startswith(
        "Anna's taste\n    Anna prefers tea\n    3 · global · just now\n\nStandup is at ten.\n"
    )


def test_namespaces_are_listed_with_their_counts(known):
    assert known("namespaces").out == "global  2\napp     1\n"
    assert known.json("namespaces")["namespaces"][0] == {"namespace": "global", "count": 2}


def test_link_and_its_end(known):
    assert known("link", "3", "1").out == "Linked 3 → related_to → 1\n"
    assert known.json("link", "3", "1", "--type", "contradicts")["linked"] is True
    assert known("link", "Anna's taste", "1", "--end").out.startswith("Ended 3")


def test_explore_walks_and_finds_paths(known):
    out = known("explore", "1").out
    assert out.splitlines()[:2] == ["1 The API is deployed on Fridays", "  2 Standup is at ten."]
    assert known("explore", "1", "--to", "3").out.startswith("No path")


def test_verify_prints_a_verdict(known):
    assert known("verify", "The API is deployed on Fridays").out.startswith("verified")
    assert known("verify", "Zebras fly").out.startswith("ungrounded")


def test_history_prints_changes_as_a_diff(known):
    known("revise", "3", "--text", "Anna prefers coffee")
    lines = known("history", "3").out.splitlines()
    assert lines[0].split()[1:4] == ["revise", "memory", "3"]
    assert "    - statements: Anna prefers tea" in lines and "    + statements: Anna prefers coffee" in lines
    assert not any("updated_at" in line for line in lines)


def test_undo_reverts_changes(known):
    change = known.json("history", "3")["changes"][0]["change"]
    assert known("undo", str(change), "--dry-run").out.startswith("Would undo 1 change")
    assert known("undo", str(change)).out.startswith("Undid 1 change")
    assert known.json("stats")["total"] == 2


def test_stats_is_a_table_and_has_the_documented_keys(known):
    out = known("stats").out
    assert "memories         3" in out and "by namespace     global 2, app 1" in out
    documented = {"total", "by_tier", "by_namespace", "expiring_soon", "links_count", "db_size_bytes"}
    assert documented <= known.json("stats").keys()


def test_the_past_can_be_asked(known):
    moment = known.json("history", "--limit", "1")["changes"][0]["at"]
    known("forget", "1")
    assert len(known.json("recall", "API", "--as-of", moment)["memories"]) == 1
    assert len(known.json("recall", "API")["memories"]) == 0


def test_stored_control_characters_are_escaped_in_the_terminal(cli):
    cli("remember", "red \x1b[31malert\x07 \x9b2J done", "--title", "bad\x1btitle")
    for done in (cli("open", "1"), cli("recall", "alert"), cli("history")):
        assert not set(done.out) & {"\x1b", "\x07", "\x9b"}, done.out
    assert cli.json("open", "1")["memories"][0]["text"] == "red \x1b[31malert\x07 \x9b2J done"


NOW = 100 * YEAR


@pytest.mark.parametrize(
    "moment, said",
    [
        (NOW, "just now"),
        (NOW - 9 * SECOND, "just now"),
        (NOW - 30 * SECOND, "30s ago"),
        (NOW - 5 * MINUTE, "5m ago"),
        (NOW - 2 * HOUR - MINUTE, "2h ago"),
        (NOW - 3 * DAY, "3d ago"),
        (NOW - 2 * YEAR, "2y ago"),
        (NOW + 3 * DAY, "in 3d"),
        (NOW + 30 * SECOND, "in 30s"),
    ],
)
def test_ages(moment, said):
    assert terminal.age(moment, NOW) == said


@pytest.mark.parametrize(
    "number, said", [(0, "0 bytes"), (2048, "2.0 KB"), (500 * 1024, "500 KB"), (3 << 30, "3.0 GB")]
)
def test_sizes(number, said):
    assert terminal.size(number) == said


def test_tables_line_up_wide_characters():
    assert list(terminal.table([["日本", "x"], ["abcd", "y"]])) == ["日本  x", "abcd  y"]


def test_every_view_is_of_a_reply_that_there_is():
    native = dialect("mnemic")
    declared = (*native.operations.values(), *native.commands.values())
    assert {operation.reply.__name__ for operation in declared if operation.cli} == set(VIEWS)


def test_any_reply_can_be_shown():
    shown = list(
        map(
            click.unstyle,
            anything({"a": 1, "b": [1, 2], "c": {"d": True}, "e": [{"f": "x"}, {"f": "y"}], "g": []}),
        )
    )
    assert shown == ["a 1", "b 1, 2", "c", "    d yes", "e", "    f x", "", "    f y", "g "]


def test_times_are_words_in_the_zone_of_the_setting(cli):
    cli("remember", "Tea is at four")
    assert len(cli.json("recall", "tea", "--since", "yesterday")["memories"]) == 1
    assert cli.json("list", "--since", "an hour ago")["count"] == 1
    assert cli.json("list", "--until", "yesterday")["count"] == 0
    assert " CE" in cli("open", "1", MNEMIC_TIMEZONE="Europe/Berlin").out
    assert " UTC " in cli("open", "1", MNEMIC_TIMEZONE="UTC").out
    refused = cli("list", MNEMIC_TIMEZONE="Mars/Base")
    assert refused.code == 2 and "timezone: unknown time zone" in refused.err
    assert "2026-01-31, 2026-01-31T09:00, yesterday" in cli("list", "--since", "someday").err


def test_restore_works_by_name_and_resolves_a_clash(cli):
    cli("remember", "Tea is at four", "--title", "Tea")
    cli("forget", "Tea")
    assert cli("restore", "Tea").out == "Restored 1 Tea\n"
    cli("forget", "Tea")
    cli("remember", "Tea is at five", "--title", "Tea")
    clash = cli("restore", "Tea")
    assert clash.code == 1 and "'Tea' is taken in namespace 'global'; give --name" in clash.err
    assert cli("restore", "Tea", "--name", "Old tea").out == "Restored 1 Old tea\n"
    assert cli.json("open", "Tea")["memories"][0]["id"] == 2
    refused = cli("restore", "1", "2", "--name", "Both")
    assert refused.code == 2 and "--name: only for a single memory" in refused.err


def test_of_several_deleted_memories_of_a_name_the_last_is_restored(cli):
    for hour in ("four", "five"):
        cli("remember", f"Tea is at {hour}", "--title", "Tea")
        cli("forget", "Tea")
    assert cli.json("restore", "Tea")["memories"][0]["id"] == 2


def test_a_command_works_in_the_namespace_of_its_project(cli):
    cli("remember", "Deploys are on Fridays, everywhere")
    project = cli.home / "widgets"
    (project / ".git").mkdir(parents=True)
    cli.patch.chdir(project)
    assert cli("remember", "Widgets deploys are on Mondays").out.endswith("in widgets\n")
    assert cli("remember", "Deploys need two reviews", "--namespace", "global").out.endswith("in global\n")
    assert {one["id"] for one in cli.json("list")["memories"]} == {1, 2, 3}
    other = cli.home / "gadgets"
    (other / ".git").mkdir(parents=True)
    cli.patch.chdir(other)
    assert {one["id"] for one in cli.json("list")["memories"]} == {1, 3}
    assert {one["id"] for one in cli.json("list", "--namespace", "widgets")["memories"]} == {2}
    assert {one["id"] for one in cli.json("list", "--namespace", "*")["memories"]} == {1, 2, 3}
