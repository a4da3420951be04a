"""`mnemic mine`: exports of conversations on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

MESSAGES = [
    {"sender": "human", "text": "Which database should we pick?"},
    {"sender": "assistant", "text": "PostgreSQL fits."},
    {"sender": "human", "text": "Fine."},
]
CLAUDE = {
    "uuid": "c1",
    "name": "Choosing a database",
    "created_at": "2025-03-01T10:00:00Z",
    "chat_messages": MESSAGES,
}
BRIEF = {"uuid": "c2", "name": "Greeting", "chat_messages": MESSAGES[:1]}


@pytest.fixture
def export(cli):
    path = cli.home / "claude.jsonl"
    path.write_text("\n".join(json.dumps(item) for item in (CLAUDE, BRIEF)))
    return str(path)


def held(cli):
    return cli.json("export")["memories"]


def test_an_export_is_mined(cli, export):
    assert cli.json("ai-memory", "mine", "-f", "claude", export) == {
        "imported": 1,
        "skipped": 1,
        "errors": 0,
        "problems": [],
        "total_conversations": 2,
        "namespace": "claude-export",
        "tier": "mid",
    }
    [memory] = held(cli)
    assert (memory["title"], memory["namespace"], memory["source"]) == (
        "Choosing a database",
        "claude-export",
        "mine-claude",
    )
    assert memory["content"].startswith("[user]: Which database should we pick?\n[assistant]: ")
    assert memory["created_at"] == "2025-03-01T10:00:00+00:00"
    assert cli.json("ai-memory", "mine", "-f", "claude", export)["imported"] == 0 and len(held(cli)) == 1


def test_its_flags_say_where_and_what(cli, export):
    done = cli.json(
        "ai-memory",
        "mine",
        "--format",
        "claude",
        export,
        "-n",
        "kitchen",
        "-t",
        "long",
        "--min-messages",
        "1",
    )
    assert (done["imported"], done["namespace"], done["tier"]) == (2, "kitchen", "long")
    assert {(memory["namespace"], memory["tier"]) for memory in held(cli)} == {("kitchen", "long")}
    assert cli.json("--namespace", "den", "ai-memory", "mine", "-f", "claude", export)["namespace"] == "den"


def test_a_dry_run_shows_and_stores_nothing(cli, export):
    done = cli.json("ai-memory", "mine", "-f", "claude", export, "--dry-run")
    assert (done["dry_run"], done["imported"], done["would_import"], done["skipped"]) == (True, 0, 1, 1)
    [planned] = done["memories"]
    assert (planned["title"], planned["messages"], planned["source"]) == (
        "Choosing a database",
        3,
        "mine-claude",
    )
    assert cli("ai-memory", "mine", "-f", "claude", export, "--dry-run").out == (
        "Would import 1 of 2 conversations into claude-export:\n  Choosing a database (3 messages)\n"
    )
    assert held(cli) == []


def test_people_are_reported_in_a_sentence(cli, export):
    done = cli("ai-memory", "mine", "-f", "claude", export)
    assert (done.code, done.out) == (
        0,
        "Imported 1 of 2 conversations into claude-export; 1 were too short or known.\n",
    )


def test_a_slack_folder_and_a_chatgpt_file(cli):
    day = cli.home / "slack" / "incidents"
    day.mkdir(parents=True)
    said = [
        {"type": "message", "user": f"U{n}", "text": f"word {n}", "ts": f"174082320{n}.0001"}
        for n in range(3)
    ]
    (day / "2025-03-01.json").write_text(json.dumps(said))
    assert cli.json("ai-memory", "mine", "-f", "slack", str(day.parent))["namespace"] == "slack-export"
    nodes = {
        f"n{n}": {
            "parent": f"n{n - 1}",
            "message": {"author": {"role": "user"}, "content": {"parts": [f"word {n}"]}},
        }
        for n in range(3)
    }
    (cli.home / "conversations.json").write_text(
        json.dumps([{"id": "g", "title": "Words", "mapping": nodes}])
    )
    assert cli.json("ai-memory", "mine", "-f", "chatgpt", "conversations.json")["imported"] == 1
    assert {memory["title"] for memory in held(cli)} == {"#incidents", "Words"}


def test_what_a_memory_has_no_room_for_is_reported(cli):
    long = {**CLAUDE, "chat_messages": [*MESSAGES, {"sender": "human", "text": "x" * 70_000}]}
    (cli.home / "long.json").write_text(json.dumps([long]))
    done = cli("ai-memory", "mine", "-f", "claude", "long.json")
    assert done.code == 0 and done.out.startswith("Imported 1")
    assert done.err == (
        "Skipped: Choosing a database: the last 70,009 of 70,091 bytes, for which a memory has no room\n"
    )


def test_broken_conversations_are_reported_and_the_rest_imported(cli, export):
    with Path(export).open("a") as stream:
        stream.write("\n{broken")
    done = cli("ai-memory", "mine", "-f", "claude", export)
    assert done.code == 0 and done.err == "Skipped: claude.jsonl, line 3: not JSON\n"
    facts = cli.json("ai-memory", "mine", "-f", "claude", export)
    assert (facts["errors"], facts["problems"]) == (1, ["claude.jsonl, line 3: not JSON"])


def test_errors_about_a_broken_file_are_safe_for_a_terminal(cli):
    name = "red\x1b[31m.json"
    (cli.home / name).write_text("{broken")
    assert "\x1b" not in cli("ai-memory", "mine", "-f", "claude", name).err


def test_a_file_without_any_conversation_fails(cli):
    (cli.home / "garbage.json").write_text("hello")
    done = cli("ai-memory", "mine", "-f", "claude", "garbage.json")
    assert done.code == 1 and "garbage.json: not JSON" in done.err


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["-f", "telegram", "."], "--format"),
        (["."], "--format"),
        (["-f", "claude", "nothing.jsonl"], "'nothing.jsonl' does not exist"),
        (["-f", "claude", "-n", "a b", "."], "namespace cannot contain spaces"),
        (["-f", "claude", "-t", "eternal", "."], "--tier"),
        (["-f", "claude", "--min-messages", "-1", "."], "--min-messages"),
    ],
)
def test_what_cannot_be_is_refused_by_name(cli, words, sentence):
    done = cli("ai-memory", "mine", *words)
    assert (done.code, done.out) == (2, "") and sentence in done.err


def test_it_loads_no_models(cli, export):
    code = """
import sys
from mnemic.cli.program import run
run(sys.argv[1:])
print("pydantic" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, "--json", "ai-memory", "mine", "-f", "claude", export],
        capture_output=True,
        text=True,
        env=cli.environment,
    )
    assert done.stdout.splitlines()[-1] == "False", done
