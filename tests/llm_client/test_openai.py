"""An OpenAI-compatible server as a language model, over a real server on this machine."""

from __future__ import annotations

import contextlib
import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import transcripts
from local_daemon import until
from support import serving

from mnemic.errors import Invalid, Unavailable
from mnemic.llm_client.openai import OpenAICompatible


class Server(ThreadingHTTPServer):
    """What it answers by path, and what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = {"/v1/models": (200, {"data": []}), "/v1/chat/completions": (200, said("yes"))}
        self.seconds = 0.0
        self.asked: list[tuple[str, str | None, object]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Server)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        server.asked.append(
            (self.path, self.headers.get("Authorization"), json.loads(body) if body else None)
        )
        time.sleep(server.seconds)
        status, content = server.answers[self.path]
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        with contextlib.suppress(OSError):  # whoever asked may not have waited
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, *arguments: object) -> None:
        pass


def said(text):
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}


@pytest.fixture
def server():
    with serving(Server()) as running:
        yield running


@pytest.fixture
def model(server):
    made = OpenAICompatible(server.url + "/", "small", key="k-1", probe_seconds=1, answer_seconds=1)
    yield made
    made.close()


def test_a_question_is_answered_with_the_key(server, model):
    server.answers["/v1/chat/completions"] = (200, said("\n an answer \n"))
    assert model.is_reachable() and model.ask("a question \ud800") == "an answer"
    message = {"role": "user", "content": "a question ?"}
    assert server.asked == [
        ("/v1/models", "Bearer k-1", None),
        ("/v1/chat/completions", "Bearer k-1", {"model": "small", "messages": [message]}),
    ]


def test_whether_it_is_reachable_is_asked_once(server, model):
    server.answers["/v1/models"] = (401, {})
    assert not model.is_reachable() and not model.is_reachable()
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "answer, told",
    [
        ((401, {}), "llm_key"),
        ((404, {}), "llm_model"),
        ((429, {}), "later"),
        ((500, {}), "answered 500"),
        ((200, b"<html>"), "not answer in JSON"),
        ((200, {"choices": []}), "gave no answer"),
        ((200, said("  ")), "gave no answer"),
        ((200, b" " * 5_000_000), "without an end"),
    ],
)
def test_what_goes_wrong_is_reported_in_a_sentence(server, model, answer, told):
    server.answers["/v1/chat/completions"] = answer
    with pytest.raises(Unavailable, match=told):
        model.ask("a question")


def test_a_server_that_is_slow_or_gone_is_unavailable(server, model):
    server.seconds = 3
    with pytest.raises(Unavailable, match="within 1 s"):
        model.ask("a question")
    gone = OpenAICompatible("http://127.0.0.1:9/v1", "small")
    with pytest.raises(Unavailable, match="cannot be reached"):
        gone.ask("a question")
    assert not gone.is_reachable()
    gone.close()


def test_an_address_and_a_model_are_needed(cli):
    with pytest.raises(Invalid, match="llm_url"):
        OpenAICompatible("models.example", "small")
    done = cli("stats", MNEMIC_TIER="smart", MNEMIC_LLM="openai")
    assert done.code != 0 and "llm_url, llm_model" in done.err
    done = cli("stats", MNEMIC_TIER="smart", MNEMIC_LLM="other")
    assert done.code != 0 and "ollama or openai" in done.err


def test_the_episode_of_a_session_is_written_by_the_model(cli, server):
    server.answers["/v1/chat/completions"] = (200, said("The parser was fixed; the lexer is left."))
    (cli.home / "widgets" / ".git").mkdir(parents=True)
    file = transcripts.claude_code(cli.home / "t.jsonl", [("Fix the parser", "Done.")])
    payload = {"session_id": "s", "cwd": str(cli.home / "widgets"), "transcript_path": str(file)}
    variables = {"MNEMIC_LLM": "openai", "MNEMIC_LLM_URL": server.url, "MNEMIC_LLM_MODEL": "small"}
    cli("hook", "SessionEnd", stdin=json.dumps(payload), MNEMIC_TIER="smart", **variables)

    def episode():
        memories = cli.json("list", "-n", "widgets")["memories"]
        [text] = [one["text"] for one in memories if one["kind"] == "episode"]
        return text

    until(lambda: episode() == "The parser was fixed; the lexer is left.")
