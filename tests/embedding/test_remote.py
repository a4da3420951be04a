"""Models behind HTTP, over a real server on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from support import serving

from mnemic.embedding import remote
from mnemic.embedding.remote import (
    ATTEMPTS,
    BATCH_TEXTS,
    LONGEST_PAUSE_SECONDS,
    OllamaEmbedder,
    OpenAIEmbedder,
)
from mnemic.errors import Unavailable


class Server(ThreadingHTTPServer):
    """Answers every request with vectors of the texts' lengths, after the failures it was told of."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, dict, str | None]] = []
        self.failures: list[tuple[int, dict[str, str]]] = []
        self.answer: bytes | None = None
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, body, self.headers.get("Authorization")))
        if self.server.failures:
            status, headers = self.server.failures.pop(0)
            return self.reply(status, b"try later", headers)
        return self.reply(
            200, self.server.answer or json.dumps(answer(self.path, body["input"])).encode(), {}
        )

    def reply(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


def answer(path: str, texts: list[str]) -> dict:
    vectors = [[3.0, 4.0 * len(text), 0.0] for text in texts]
    if path == "/api/embed":
        return {"model": "m", "embeddings": vectors}
    rows = [{"index": place, "embedding": vector} for place, vector in enumerate(vectors)]
    return {"object": "list", "data": rows[::-1]}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(Server()) as running:
        yield running


@pytest.fixture(params=[OpenAIEmbedder, OllamaEmbedder])
def embedder(request, server):
    pauses: list[float] = []
    made = request.param(server.url + "/", "m", key="secret", timeout_seconds=2, sleep=pauses.append)
    made.pauses = pauses
    yield made
    made.close()


def test_texts_become_unit_vectors_in_order(embedder):
    vectors = embedder.embed(["a", "bb"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    assert vectors[:, 1] / vectors[:, 0] == pytest.approx([4 / 3, 8 / 3])


def test_the_request_is_the_documented_one(server, embedder):
    embedder.embed(["a"])
    path = {"openai:m": "/embeddings", "ollama:m": "/api/embed"}[embedder.name]
    assert server.requests == [(path, {"model": "m", "input": ["a"]}, "Bearer secret")]


def test_the_dimension_is_learnt_from_the_first_answer(server, embedder):
    assert (embedder.dimension, embedder.dimension) == (3, 3)
    assert len(server.requests) == 1


def test_many_texts_go_in_several_requests(server, embedder):
    texts = ["x" * (place % 7 + 1) for place in range(BATCH_TEXTS * 2 + 3)]
    assert embedder.embed(texts).shape == (len(texts), 3)
    assert [len(body["input"]) for _, body, _ in server.requests] == [BATCH_TEXTS, BATCH_TEXTS, 3]


def test_odd_texts_are_sent_as_something_every_server_takes(server, embedder):
    embedder.embed(["", "a\ud800"])
    assert server.requests[0][1]["input"] == [" ", "a?"]


def test_an_overloaded_server_is_asked_again(server, embedder):
    server.failures = [(429, {"Retry-After": "3"}), (503, {}), (500, {"Retry-After": "9999"})]
    assert embedder.embed(["a"]).shape == (1, 3)
    assert embedder.pauses == [3, 1, LONGEST_PAUSE_SECONDS]


def test_a_server_that_stays_overloaded_is_given_up(server, embedder):
    server.failures = [(503, {})] * 10
    with pytest.raises(Unavailable, match="answered 503: try later"):
        embedder.embed(["a"])
    assert len(server.requests) == ATTEMPTS


def test_a_refusal_is_not_repeated(server, embedder):
    server.failures = [(401, {})] * 2
    with pytest.raises(Unavailable, match="answered 401"):
        embedder.embed(["a"])
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "content, problem",
    [
        (b"<html>", "not answer in JSON"),
        (b"{}", "without vectors"),
        (b"[]", "without vectors"),
        (b'{"data": [], "embeddings": []}', "without vectors"),
        (b'{"data": [{"embedding": "x"}], "embeddings": ["x"]}', "without vectors"),
        (b'{"data": [{"embedding": [1]}, {"embedding": [1]}], "embeddings": [[1], [1]]}', "2 vectors for 1"),
        (b'{"data": [{"embedding": [NaN]}], "embeddings": [[NaN]]}', "not finite"),
    ],
)
def test_a_wrong_answer_is_named(server, embedder, content, problem):
    server.answer = content
    with pytest.raises(Unavailable, match=problem):
        embedder.embed(["a"])


def test_vectors_of_another_size_are_refused(server):
    embedder = OllamaEmbedder(server.url, "m", dimension=768)
    with pytest.raises(Unavailable, match="3 numbers where 768"):
        embedder.embed(["a"])
    embedder.close()


def test_no_server_is_named(server):
    server.shutdown()
    server.server_close()
    embedder = OpenAIEmbedder(server.url, "m", sleep=lambda _: None)
    with pytest.raises(Unavailable, match="cannot be reached"):
        embedder.embed(["a"])
    embedder.close()


@pytest.mark.parametrize("base", ["", "nonsense", "http://[", "ftp://host"])
def test_an_address_that_is_none_is_named(base):
    embedder = OpenAIEmbedder(base, "m", sleep=lambda _: None)
    with pytest.raises(Unavailable):
        embedder.embed(["a"])
    embedder.close()


def test_a_long_text_is_cut(embedder):
    stretches = embedder.windows("A sentence of some length. " * 200)
    assert len(stretches) > 3
    assert all(end - start <= 1200 for start, end in stretches)


def test_whether_it_works_is_asked_once_and_of_a_server_that_is_down_again_later(
    server, embedder, monkeypatch
):
    server.failures = [(503, {})] * 2
    assert "answered 503" in embedder.problem() and "answered 503" in embedder.problem()
    assert len(server.requests) == 1 and embedder.pauses == []
    monkeypatch.setattr(remote, "BAD_FOR_SECONDS", 0.0)
    later = type(embedder)(server.url, "m")
    assert later.problem() and later.problem() is None and later.problem() is None
    assert len(server.requests) == 3 and later.dimension == 3
