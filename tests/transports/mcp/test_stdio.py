"""The stdio server as clients start it: a process that survives its client and leaves when it should."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import toy_dialect
from mcp import Client, StdioServerParameters
from mcp.types import Implementation
from server_process import BAD_JSON, SCRIPT, Process, call, environment, request
from toy_dialect import SECRET

from mnemic.app import dialect
from mnemic.transports.mcp.stdio import ENDS, lines

MNEMIC = dialect("mnemic")

TOY_SERVER = """
import sys
sys.path.insert(0, {folder!r})
from toy_dialect import TOY
from mnemic.app import open_app
from mnemic.settings import load
from mnemic.transports.mcp.stdio import run_stdio
with open_app(load({{}})) as app:
    run_stdio(app, TOY)
"""
MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A server that lives through all the bad input below."""
    with Process(tmp_path_factory.mktemp("home")) as process:
        yield process


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Process]:
    """A server of the toy dialect."""
    with Process(tmp_path, "-c", TOY_SERVER.format(folder=str(Path(toy_dialect.__file__).parent))) as process:
        yield process


def chunks(*pieces: bytes) -> Any:
    """A source that brings *pieces*, then nothing."""
    left = [*pieces, b""]
    return lambda: left.pop(0)


@pytest.mark.parametrize(
    "pieces, expected",
    [
        ([b"one\ntwo\n"], [b"one", b"two"]),
        ([b"on", b"e\nt", b"wo\n"], [b"one", b"two"]),
        ([b"one\n\ntwo"], [b"one", b"", b"two"]),
        ([b"one\r\n"], [b"one\r"]),
        ([], []),
    ],
)
def test_bytes_become_lines(pieces, expected):
    assert list(lines(chunks(*pieces))) == [(line, True) for line in expected]


def test_of_a_line_that_is_too_long_both_ends_are_kept():
    long = b"<" + b"x" * 5 * ENDS + b">"
    short, cut, after = lines(
        chunks(b"short\n", long[: 2 * ENDS], long[2 * ENDS :] + b"\nafter\n"), limit=3 * ENDS
    )
    assert short == (b"short", True) and after == (b"after", True)
    assert cut[1] is False and len(cut[0]) < 3 * ENDS
    assert cut[0].startswith(b"<xx") and cut[0].endswith(b"xx>")


@pytest.mark.parametrize("body", [body for _, body in BAD_JSON], ids=[name for name, _ in BAD_JSON])
def test_bad_json_is_answered_and_survived(server, body):
    server.write(body)
    answer = server.read()
    assert answer["id"] is None and answer["error"]["code"] == -32700
    server.write(
        b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "stats", "arguments": %s}}'
        % body
    )
    assert server.read()["error"]["code"] == -32700
    assert server.ask("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_line_of_ten_megabytes_is_refused_under_its_id_and_not_kept(server, at_the_end):
    server.ask("ping")
    before = resident(server)
    params = {"name": "remember", "arguments": {"text": "x" * 10 * MEGABYTE}}
    parts = [("jsonrpc", "2.0"), ("method", "tools/call"), ("params", params)]
    parts.insert(len(parts) if at_the_end else 1, ("id", "big"))
    server.write(json.dumps(dict(parts)).encode())
    answer = server.read()
    assert answer["id"] == "big" and "larger than" in answer["error"]["message"]
    assert server.ask("ping")["result"] == {}
    assert resident(server) - before < 8 * MEGABYTE


def resident(server: Process) -> int:
    """The memory of the process in bytes; 0 where that cannot be told."""
    try:
        pages = Path(f"/proc/{server.process.pid}/statm").read_text().split()[1]
    except FileNotFoundError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    "arguments",
    [
        {"query": "x" * 20_000},
        {"query": "\0"},
        {"query": "a", "limit": 2**63},
        {"query": "a", "limit": -1},
        {"query": "a", "limit": 1.5},
        {"query": ["a", "b"]},
        {"query": None},
        {"query": "a", "since": "yesterday-ish"},
        {"query": "a", "kinds": {"note": 1}},
        {"query": "a", "nope": 1},
        {},
    ],
)
def test_bad_arguments_are_named(server, arguments):
    result = server.ask("tools/call", {"name": "recall", "arguments": arguments})["result"]
    assert result["isError"] and result["content"][0]["text"]


@pytest.mark.parametrize(
    "text", ['"', "' OR 1=1 --", "NEAR(a b)", "a AND", "*", "(", "col:x", "😀", "-", "^a", "%_"]
)
def test_syntax_in_a_query_is_only_text(server, text):
    assert not server.ask("tools/call", {"name": "recall", "arguments": {"query": text}})["result"]["isError"]


def test_every_operation_can_be_called(tmp_path):
    with Process(tmp_path) as process:
        for number, (name, arguments) in enumerate(SCRIPT):
            answer = process.ask("tools/call", {"name": name, "arguments": arguments}, number)
            assert answer["id"] == number and not answer["result"]["isError"], answer


def test_at_the_end_of_input_what_was_asked_is_answered(tmp_path):
    with Process(tmp_path) as process:
        process.write(*(call("remember", {"text": f"Fact number {number}"}, number) for number in range(20)))
        answers, code = process.end()
    assert code == 0
    assert [answer["id"] for answer in answers] == list(range(20))
    with Process(tmp_path) as process:
        assert (
            json.loads(process.ask("tools/call", {"name": "stats"})["result"]["content"][0]["text"])["total"]
            == 20
        )


def test_no_input_at_all_is_an_end_too(tmp_path):
    with Process(tmp_path) as process:
        assert process.end() == ([], 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(tmp_path, number):
    with Process(tmp_path) as process:
        process.ask("ping")
        process.process.send_signal(number)
        out, error = process.process.communicate()
        assert (process.process.returncode, out, error) == (0, b"", b"")


def test_a_client_that_stops_listening_ends_it(tmp_path):
    with Process(tmp_path) as process:
        process.ask("ping")
        process.process.stdout.close()
        process.write(request("ping"))
        assert process.process.wait() == 0


def test_it_ends_with_its_parent_even_if_the_pipe_stays_open(tmp_path):
    parent = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-m', 'mnemic', 'mcp'])\n"
        "child.wait()\n"
    )
    with Process(tmp_path, "-c", parent) as process:
        process.ask("ping")
        process.process.kill()
        # The read ends when the last process that holds our end of its output has gone.
        assert process.process.stdout.read() == b""


def test_nothing_but_json_rpc_is_ever_on_standard_output(toy):
    assert toy.ask("tools/call", {"name": "shout"})["result"]["isError"] is False
    assert toy.ask("ping")["result"] == {}
    out, error = toy.process.communicate()
    assert out == b""
    assert all(word in error for word in (b"printed", b"written", b"raw", b"child"))


def test_a_crash_is_logged_and_not_shown(toy):
    result = toy.ask("tools/call", {"name": "crash"})["result"]
    assert result == {"content": [{"type": "text", "text": "internal error"}], "isError": True}
    _, error = toy.process.communicate()
    assert SECRET.encode() in error


def test_a_database_that_is_none_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "memory.db").write_bytes(b"not a database" * 1000)
    with Process(tmp_path) as process:
        out, error = process.process.communicate()
    assert out == b"" and process.process.returncode != 0
    assert error.count(b"\n") <= 2 and b"Traceback" not in error


@pytest.mark.parametrize("era", ["legacy", "2026-07-28", "auto"])
def test_the_sdks_client_gets_along_with_it(tmp_path, era):
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "mnemic", "mcp"], env=environment(tmp_path)
    )

    async def scenario() -> None:
        async with Client(
            parameters, mode=era, client_info=Implementation(name="sdk", version="1")
        ) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == list(MNEMIC.core)
            await client.call_tool("remember", {"text": "Said by the SDK"})
            found = await client.call_tool("recall", {"query": "SDK"})
            assert json.loads(found.content[0].text)["memories"][0]["text"] == "Said by the SDK"
            history = await client.call_tool("history", {"id": 1})
            assert json.loads(history.content[0].text)["changes"][0]["actor"] == "sdk"
            assert (await client.read_resource("mnemic://memory/1")).contents[
                0
            ].mime_type == "application/json"
            assert (await client.get_prompt("wrap-up")).messages

    asyncio.run(scenario())


def test_starting_loads_neither_the_sdk_nor_the_model():
    code = "import sys, mnemic.transports.mcp.stdio, mnemic.dialects.native; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"mcp", "mcp_types", "starlette", "uvicorn", "asyncio", "onnxruntime", "tokenizers"} & set(
        loaded
    )
