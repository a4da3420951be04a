"""`mnemic serve` and `mnemic mcp` as processes, reached the way a client reaches them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from lorekeeper_file import write_lorekeeper
from server_process import Process

from mnemic.cli.commands.serve import greeting

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}
REMEMBER = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "remember", "arguments": {"text": "kept over stdio"}},
}


def asked(cli, *words, messages=(HELLO, REMEMBER), **variables):
    """What `mnemic mcp` answers, line by line, and how it ended."""
    text = "".join(json.dumps(message) + "\n" for message in messages)
    done = cli.process("mcp", *words, stdin=text, **variables)
    return [json.loads(line) for line in done.out.splitlines()], done


def test_mcp_answers_in_json_rpc_only_and_ends_with_its_input(cli):
    answers, done = asked(cli, "--in-process", "--tier", "keyword", "--namespace", "app")
    assert done.code == 0, done.err
    assert {answer["id"] for answer in answers} == {1, 2}
    assert cli.json("stats")["by_namespace"] == [{"namespace": "app", "count": 1}]


def test_mcp_with_an_unknown_dialect_says_so_on_standard_error(cli):
    done = cli.process("mcp", "--dialect", "klingon")
    assert (done.code, done.out) == (1, "") and "Unknown dialect" in done.err


@pytest.fixture
def served(cli):
    """A daemon on a port of its own: its address and what it said."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemic", "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=cli.environment,
        cwd=cli.home,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+", first)
    assert found, process.communicate(timeout=5)
    with urllib.request.urlopen(f"{found[0]}/api/v1/health", timeout=60):
        pass
    yield found[0], process
    process.terminate()
    process.communicate(timeout=60)


def test_serve_says_where_it_is_and_answers_there(cli, served):
    address, process = served
    with urllib.request.urlopen(f"{address}/api/v1/health", timeout=60) as answer:
        assert answer.status == 200
    told = "".join(process.stdout.readline() for _ in range(8))
    assert f"claude mcp add --transport http mnemic {address}/mcp" in told
    assert f'"url": "{address}/mcp"' in told and "mnemic install" in told


@pytest.mark.parametrize("needs_token", [False, True])
def test_the_greeting_shows_a_token_where_one_is_needed(needs_token):
    told = greeting("http://127.0.0.1:9077", "memory.db", needs_token)
    pasted = [line for line in told if line.endswith("}") or "mcp add" in line]
    assert len(pasted) == 3
    assert all(("TOKEN" in line) is needs_token for line in pasted)
    assert json.loads(pasted[-1].partition('"mnemic": ')[2])["url"] == "http://127.0.0.1:9077/mcp"


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_serve_ends_quietly_on_ctrl_c(served):
    _, process = served
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode in (0, 130) and "Traceback" not in err


def test_serve_refuses_a_port_in_use(cli, served):
    address, _ = served
    done = cli.process("serve", "--port", address.rpartition(":")[2])
    assert done.code == 3 and "taken" in done.err and done.out == ""


def test_serve_refuses_other_addresses_without_a_token(cli):
    done = cli.process("serve", "--host", "0.0.0.0", "--port", "0")
    assert done.code != 0 and "token" in done.err and "Traceback" not in done.err


def test_mcp_answers_and_then_says_on_standard_error_what_is_missing_of_the_tier(tmp_path):
    command = ("-m", "mnemic", "mcp", "--in-process", "--tier", "smart")
    with Process(tmp_path, *command, OLLAMA_HOST="127.0.0.1:9") as server:
        assert server.ask("ping")["result"] == {}
        assert b"gemma4:e2b cannot be reached" in server.process.stderr.readline()
        assert server.end() == ([], 0)


LORE = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "lore_insert", "arguments": {"memories": [{"title": "Heron"}], "force": True}},
}


def spoken(cli, *words, **variables):
    return asked(cli, *words, "--dialect", "lorekeeper", messages=(HELLO, LORE), **variables)


def test_lorekeeper_keeps_its_database_in_its_own_folder(cli):
    place = cli.home / "lore"
    answers, done = spoken(cli, LORE_DATA_DIR=str(place), MNEMIC_DB="")
    assert done.code == 0 and answers[0]["result"]["serverInfo"]["name"] == "lorekeeper-mcp-server"
    assert (place / "mnemic.db").is_file()


def test_a_lorekeeper_import_is_visible_in_the_lorekeeper_dialect(cli):
    place = cli.home / "lore"
    place.mkdir()
    write_lorekeeper(place / "lorekeeper.db")
    own = {"LORE_DATA_DIR": str(place), "MNEMIC_DB": ""}
    taken = cli("--json", "import", "--from", "lorekeeper", str(place), **own).json
    assert taken["imported"] == 5 and (place / "mnemic.db").is_file()
    assert (
        cli("--json", "import", "--from", "lorekeeper", str(place), "--dry-run", **own).json["imported"] == 0
    )
    query = json.dumps({"query": "mutable default args"})
    found = cli("call", "lorekeeper", "lore_search", query, **own).json
    assert found["results"]
    installed = cli("--json", "install", "cursor", "--dialect", "lorekeeper", **own).json
    assert str(place / "mnemic.db") in Path(installed["file"]).read_text()


def test_our_own_flag_and_variable_count_before_lorekeepers_folder(cli):
    place, own = cli.home / "lore", cli.home / "own.db"
    for words, variables in ((("--db", str(own)), {"MNEMIC_DB": ""}), ((), {})):
        assert spoken(cli, *words, LORE_DATA_DIR=str(place), **variables)[1].code == 0
    assert own.is_file() and not place.exists()


def test_a_bad_variable_of_lorekeeper_stops_the_server_before_it_starts(cli):
    _, done = spoken(cli, LORE_SEARCH_LIMIT="many")
    assert (done.code, done.out) == (2, "") and "LORE_SEARCH_LIMIT" in done.err
