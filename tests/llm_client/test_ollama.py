"""Ollama as a language model, over a real server on this machine."""

from __future__ import annotations

import contextlib
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from ollama_server import ollama_server

from mnemic.errors import Invalid, Unavailable
from mnemic.llm_client import ollama
from mnemic.llm_client.ollama import Ollama, normalised


@pytest.fixture
def server():
    with ollama_server() as running:
        yield running


@pytest.fixture
def model(server):
    made = Ollama(server.url, "gemma4:e2b")
    yield made
    made.close()


@pytest.fixture
def nowhere():
    """An address at which nobody listens."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}"


@pytest.mark.parametrize(
    "given, url",
    [
        ("127.0.0.1:11434", "http://127.0.0.1:11434"),
        ("http://box", "http://box:11434"),
        ("http://box:8080/", "http://box:8080"),
        ("https://models.example", "https://models.example:443"),
        ("https://models.example:8443/ollama/", "https://models.example:8443/ollama"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:9", "http://127.0.0.1:9"),
        (":9", "http://127.0.0.1:9"),
        ("", "http://127.0.0.1:11434"),
        (" localhost ", "http://localhost:11434"),
        ("::1", "http://[::1]:11434"),
        ("[::]:9", "http://[::1]:9"),
        ("http://me:secret@box:9", "http://me:secret@box:9"),
    ],
)
def test_an_address_may_be_written_as_ollama_takes_it(given, url):
    assert normalised(given) == url


@pytest.mark.parametrize("given", ["ftp://box", "http://box:port", "box:99999", "http://[::1"])
def test_what_is_no_address_is_refused_by_name(given):
    with pytest.raises(Invalid, match="ollama_url: not an address"):
        normalised(given)


def test_a_question_is_answered(server, model):
    server.says = "\n  an answer  \n"
    assert model.is_reachable() and model.ask("a question \ud800") == "an answer"
    assert server.asked == [
        ("/api/tags", None),
        (
            "/api/chat",
            {
                "model": "gemma4:e2b",
                "messages": [{"role": "user", "content": "a question ?"}],
                "stream": False,
            },
        ),
    ]


def test_looking_costs_nothing_for_a_while(server, model, monkeypatch):
    assert all(model.is_reachable() for _ in range(5)) and server.paths == ["/api/tags"]
    monkeypatch.setattr(ollama, "GOOD_FOR_SECONDS", 0.0)
    other = Ollama(server.place, "gemma4:e2b")
    assert other.is_reachable() and other.is_reachable() and server.paths == ["/api/tags"] * 3


def test_a_server_that_does_not_answer_is_left_alone_for_a_while(server, model, monkeypatch):
    server.raw["/api/tags"] = 500, b""
    assert not model.is_reachable() and not model.is_reachable() and server.paths == ["/api/tags"]
    with pytest.raises(Unavailable, match=r"answered 500"):
        model.ask("anyone?")
    assert server.paths == ["/api/tags"]
    now = time.monotonic()
    monkeypatch.setattr(ollama.time, "monotonic", lambda: now + ollama.BAD_FOR_SECONDS + 1)
    server.raw.clear()
    assert model.is_reachable() and model.ask("anyone?") == "yes"


def test_a_missing_model_is_fetched_before_the_first_question_only(server):
    model = Ollama(server.url, "gemma4:e4b")
    assert model.is_reachable() and server.paths == ["/api/tags"]
    assert [model.ask("one"), model.ask("two")] == ["yes", "yes"]
    assert server.paths == ["/api/tags", "/api/pull", "/api/chat", "/api/chat"]
    assert server.asked[1][1]["name"] == "gemma4:e4b"


def test_without_a_tag_the_latest_is_meant(server):
    assert Ollama(server.url, "small").ask("one") == "yes" and "/api/pull" not in server.paths


def test_a_model_that_cannot_be_fetched_is_named_with_what_to_do(server):
    server.can_pull = False
    model = Ollama(server.url, "gemma4:e4b")
    for _ in range(2):
        with pytest.raises(
            Unavailable, match=r"does not have the model gemma4:e4b\. `ollama pull gemma4:e4b`"
        ):
            model.ask("one")
    assert server.paths.count("/api/pull") == 1 and not model.is_reachable()


def test_a_model_that_goes_away_is_fetched_again(server, model):
    assert model.ask("one") == "yes"
    server.models.remove("gemma4:e2b")
    with pytest.raises(Unavailable, match="does not have the model"):
        model.ask("two")
    assert model.ask("three") == "yes" and server.paths.count("/api/pull") == 1


@pytest.mark.parametrize(
    "path, status, content, sentence",
    [
        ("/api/chat", 200, b"<html>", "did not answer in JSON"),
        ("/api/chat", 200, b"", "did not answer in JSON"),
        ("/api/chat", 200, b"[]", "gave no answer"),
        ("/api/chat", 200, b'{"message": {"content": "  "}}', "gave no answer"),
        ("/api/chat", 200, b'{"message": {"content": 5}}', "gave no answer"),
        ("/api/chat", 500, b'{"error": "out of memory"}', "answered 500"),
        ("/api/chat", 302, b"", "answered 302"),
        ("/api/chat", 200, b" " * 5_000_000, "answers without an end"),
        ("/api/tags", 200, b"<html>", "did not answer in JSON"),
        ("/api/tags", 200, b'{"models": [1]}', "did not list its models"),
        ("/api/tags", 200, b"[]", "did not list its models"),
    ],
)
def test_nonsense_is_reported_in_a_sentence(server, model, path, status, content, sentence):
    server.raw[path] = status, content
    with pytest.raises(Unavailable, match=sentence) as told:
        model.ask("well?")
    assert str(told.value).startswith(f"Ollama at {server.place} ") and str(told.value).endswith(".")


@pytest.mark.parametrize("path", ["/api/tags", "/api/chat", "/api/pull"])
def test_nobody_waits_longer_than_the_limit(server, path):
    server.seconds[path] = 5.0
    name = "absent" if path == "/api/pull" else "small"
    limit = {"/api/tags": "probe_seconds", "/api/chat": "answer_seconds", "/api/pull": "pull_seconds"}[path]
    model = Ollama(server.url, name, **{limit: 0.2})
    begun = time.monotonic()
    with pytest.raises(Unavailable, match=r"did not answer within 0\.2 s|does not have the model"):
        model.ask("well?")
    assert time.monotonic() - begun < 4


def test_an_answer_that_trickles_does_not_outlast_the_limit(server):
    model = Ollama(server.url, "small", answer_seconds=0.3)
    with socket.create_server(("127.0.0.1", 0)) as slow, ThreadPoolExecutor() as pool:
        model.is_reachable()
        model._exchange._url = f"http://127.0.0.1:{slow.getsockname()[1]}"
        asked = pool.submit(model.ask, "well?")
        connection, _ = slow.accept()
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        with connection, contextlib.suppress(OSError):
            for _ in range(200):
                time.sleep(0.05)
                if asked.done():
                    break
                connection.sendall(b" ")
        with pytest.raises(Unavailable, match="did not answer within"):
            asked.result(timeout=5)


def test_without_a_server_the_sentence_says_how_to_start_one(nowhere):
    model = Ollama(nowhere, "m")
    assert not model.is_reachable()
    with pytest.raises(Unavailable, match=r"cannot be reached\. Start it with `ollama serve`"):
        model.ask("well?")


def test_a_server_that_goes_away_is_noticed_by_the_next_question():
    with ollama_server() as server:
        model = Ollama(server.url, "small")
        assert model.ask("one") == "yes"
    with pytest.raises(Unavailable):
        model.ask("two")
    assert not model.is_reachable()


def test_a_secret_in_the_address_is_not_shown(nowhere):
    with pytest.raises(Unavailable) as told:
        Ollama(nowhere.replace("//", "//me:secret@"), "m").ask("well?")
    assert "secret" not in str(told.value)


def test_many_threads_share_one_look_and_one_fetch(server):
    server.seconds["/api/pull"] = 0.05
    model = Ollama(server.url, "gemma4:e4b")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(model.ask, map(str, range(16))))
    assert answers == ["yes"] * 16 and sorted(server.prompts, key=int) == list(map(str, range(16)))
    assert (server.paths.count("/api/tags"), server.paths.count("/api/pull")) == (1, 1)


def test_looking_does_not_wait_for_a_fetch(server):
    server.seconds["/api/pull"] = 1.0
    model = Ollama(server.url, "gemma4:e4b")
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(model.ask, "one")
        while "/api/pull" not in server.paths:
            time.sleep(0.01)
        assert model.is_reachable() and not asked.done()
        assert asked.result() == "yes"
