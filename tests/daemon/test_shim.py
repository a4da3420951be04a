"""Over the daemon `mnemic mcp` behaves as a process of its own, for each client by its own settings."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from local_daemon import INITIALIZED, client, end, is_running, status, told, until
from server_process import CALLS, HELLO, READS, Process, call, environment, request

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no local daemon on Windows")


VARYING = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z?")
"""Ids and times, which are not the same twice."""


def tools(process: Process) -> list[str]:
    """The names of the tools that are offered."""
    return [tool["name"] for tool in process.ask("tools/list", {}, id=90)["result"]["tools"]]


def test_each_client_has_its_own_dialect_tools_and_prefix(tmp_path):
    with (
        client(tmp_path) as native,
        client(tmp_path, "--tools", "all", MNEMIC_TOOL_PREFIX="my_") as prefixed,
        client(tmp_path, "--dialect", "anthropic") as graph,
    ):
        assert "recall" in tools(native) and "my_recall" in tools(prefixed)
        assert len(tools(prefixed)) > len(tools(native)) and "create_entities" in tools(graph)
        assert status(tmp_path)["clients"] == 3


def test_each_client_works_in_its_own_project_and_namespace(tmp_path):
    folders = [tmp_path / name for name in ("alpha", "beta")]
    answers = []
    with client(tmp_path):
        for folder in folders:
            (folder / ".git").mkdir(parents=True)
            lines = [request("initialize", HELLO, 0), INITIALIZED, call("remember", {"text": "A fact"}, 1)]
            done = subprocess.run(
                [sys.executable, "-m", "mnemic", "mcp"],
                input=b"\n".join(lines) + b"\n",
                capture_output=True,
                cwd=folder,
                env=environment(tmp_path),
            )
            answers.append(done.stdout)
        with client(tmp_path, "--namespace", "gamma") as third:
            answers.append(told(third, "remember", text="A fact").encode())
    assert [name in answer for name, answer in zip((b"alpha", b"beta", b"gamma"), answers, strict=True)] == [
        True
    ] * 3


def test_variables_of_a_dialect_count_for_their_client(tmp_path):
    mine, yours = tmp_path / "mine.json", tmp_path / "yours.json"
    entity = {"name": "Tea", "entityType": "drink", "observations": ["is at four"]}
    words = ("--dialect", "simple-memory")
    with (
        client(tmp_path, *words, MEMORY_PATH=str(mine)) as first,
        client(tmp_path, *words, MEMORY_PATH=str(yours)) as second,
    ):
        told(first, "create_entities", entities=[entity])
        assert first.end()[1] == 0
        assert "Tea" in mine.read_text(), "the file is complete when the client has left"
        assert second.end()[1] == 0
        assert "Tea" in yours.read_text()


def test_a_relative_path_means_the_clients_folder(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "graph.jsonl").write_text(
        '{"type": "entity", "name": "Tea", "entityType": "x", "observations": []}\n'
    )
    lines = [request("initialize", HELLO, 0), call("migrate", {"source_path": "graph.jsonl"}, 1)]
    with client(tmp_path):
        done = subprocess.run(
            [sys.executable, "-m", "mnemic", "mcp", "--dialect", "mcp-memory"],
            input=b"\n".join(lines) + b"\n",
            capture_output=True,
            cwd=folder,
            env=environment(tmp_path),
        )
    answer = json.loads(done.stdout.splitlines()[1])["result"]["content"][0]["text"]
    assert json.loads(answer)["entities_imported"] == 1, answer


def test_every_answer_is_the_one_of_a_process_of_its_own(tmp_path):
    answers = []
    for name, words in (("shared", ()), ("alone", ("--in-process",))):
        home = tmp_path / name
        home.mkdir()
        with client(home, *words) as one:
            asked = enumerate((*CALLS, *READS), 1)
            got = [json.dumps(one.ask(method, params, number)) for number, (method, params) in asked]
            assert (status(home) is None) == bool(words)
        answers.append([VARYING.sub("-", answer) for answer in got])
    assert answers[0] == answers[1] and len("".join(answers[0])) > 5_000


def test_much_in_both_directions_at_once_does_not_block(tmp_path):
    with client(tmp_path) as one:
        told(one, "remember", text="word " * 12_000)
        lines = [
            call("open", {"ids": [1], "detail": "full", "pad": "x" * 20_000}, id=n) for n in range(100, 300)
        ]
        writer = threading.Thread(target=one.write, args=lines)
        writer.start()
        assert [one.read()["id"] for _ in lines] == list(range(100, 300))
        writer.join()


def test_an_overlong_line_is_refused_and_the_next_one_answered(tmp_path):
    with client(tmp_path) as one:
        one.write(b'{"jsonrpc":"2.0","id":5,"method":"ping","params":"' + b"x" * 6_000_000 + b'"}')
        assert "larger than" in one.read()["error"]["message"]
        assert one.ask("ping", {}, id=6)["result"] == {}


def test_subscriptions_outlive_a_daemon(tmp_path):
    with client(tmp_path, "--dialect", "anthropic") as one:
        uri = one.ask("resources/list", {}, id=1)["result"]["resources"][0]["uri"]
        assert one.ask("resources/subscribe", {"uri": uri}, id=2)["result"] == {}
        os.kill(status(tmp_path)["process"], signal.SIGKILL)
        entity = {"name": "Tea", "entityType": "drink", "observations": []}
        one.write(call("create_entities", {"entities": [entity]}, id=3))
        said = [one.read(), one.read()]
        assert [answer.get("id") for answer in said if "id" in answer] == [3]
        assert [answer["method"] for answer in said if "method" in answer] == [
            "notifications/resources/updated"
        ]


def test_a_client_that_ends_has_its_last_requests_answered(tmp_path):
    with client(tmp_path) as one:
        one.write(*(call("remember", {"text": f"Fact {n}"}, id=n) for n in range(5)))
        answers, code = one.end()
        assert code == 0 and [answer["id"] for answer in answers] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_shim_but_not_the_daemon(tmp_path, number):
    with client(tmp_path) as one, client(tmp_path) as other:
        facts = status(tmp_path)
        one.process.send_signal(number)
        assert one.process.wait(timeout=20) == 0
        assert is_running(facts["process"]) and "stored" in told(other, "remember", text="A fact")


def test_a_signal_to_the_group_of_the_client_spares_the_daemon(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemic", "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(tmp_path),
        start_new_session=True,
    )
    with process:
        process.stdin.write(request("initialize", HELLO) + b"\n")
        process.stdin.flush()
        assert process.stdout.readline()
        facts = status(tmp_path)
        os.killpg(process.pid, signal.SIGKILL)
    assert is_running(facts["process"])
    until(lambda: status(tmp_path)["clients"] == 0)
    end(tmp_path)


def test_clients_with_other_models_share_the_process_and_none_is_refused(tmp_path):
    with client(tmp_path) as one, client(tmp_path, "--tier", "keyword", MNEMIC_FAST_WRITES="1") as other:
        told(one, "remember", text="The build runs on Tuesdays")
        assert "Tuesdays" in told(other, "recall", query="build")
        assert status(tmp_path)["clients"] == 2


def test_a_client_with_another_home_is_served_by_its_own_process(tmp_path):
    home = tmp_path / "other"
    home.mkdir()
    with client(tmp_path) as one, client(tmp_path, HOME=str(home)) as other:
        told(one, "remember", text="The build runs on Tuesdays")
        assert "Tuesdays" in told(other, "recall", query="build")
        assert status(tmp_path)["clients"] == 1


def test_the_shim_is_small(tmp_path):
    with client(tmp_path) as one:
        told(one, "remember", text="A fact")
        kilobytes = Path(f"/proc/{one.process.pid}/status").read_text().partition("VmRSS:")[2].split()[0]
        assert int(kilobytes) < 15_000
