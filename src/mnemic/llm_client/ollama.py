"""Ollama as a language model."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from mnemic.errors import Invalid, Unavailable
from mnemic.llm_client.model_server import ModelServer

PORT = 11434
PROBE_SECONDS = 5.0
PULL_SECONDS = 120.0
ANSWER_SECONDS = 30.0
GOOD_FOR_SECONDS = 300.0
BAD_FOR_SECONDS = 30.0
"""How long it is remembered that the server answered, and that it did not."""


def normalised(host: str) -> str:
    """The address of an Ollama server in the forms OLLAMA_HOST takes: with or without scheme and port.

    An address to listen on, such as 0.0.0.0, is asked on this machine.
    """
    scheme, separator, rest = host.strip().partition("://")
    if not separator:
        scheme, rest = "http", host.strip()
    if rest.count(":") > 1 and not {"[", "@"} & set(rest):
        rest = f"[{rest}]"  # a bare IPv6 address
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        port = parts.port or (443 if scheme == "https" else PORT)
    except ValueError:
        port = 0
    if not port or scheme not in ("http", "https"):
        shown = host.rpartition("@")[2][:80]
        raise Invalid(f"ollama_url: not an address: {shown!r}. Use http://127.0.0.1:{PORT}", "ollama_url")
    return f"{scheme}://{_login(parts.netloc)}{_reachable_host(parts.hostname or '')}:{port}{parts.path.rstrip('/')}"


def _login(place: str) -> str:
    login, separator, _ = place.rpartition("@")
    return login + separator


def _reachable_host(host: str) -> str:
    named = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"[{named}]" if ":" in named else named


@dataclass(frozen=True, slots=True)
class _Look:
    """What the server said of itself, and until when that counts."""

    until: float
    models: frozenset[str] = frozenset()
    problem: str | None = None


class Ollama:
    """A model that an Ollama server runs."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        probe_seconds: float = PROBE_SECONDS,
        pull_seconds: float = PULL_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
    ):
        self.name = model
        self._exchange = ModelServer("Ollama", normalised(url))
        self._probe_seconds = probe_seconds
        self._pull_seconds = pull_seconds
        self._answer_seconds = answer_seconds
        self._looking = Lock()
        self._pulling = Lock()  # held for long, and whoever only looks need not wait for it
        self._seen = _Look(until=0.0)

    def is_reachable(self) -> bool:
        """Whether the server lists its models; looked up once and remembered for a while."""
        return self._look().problem is None

    def ask(self, prompt: str) -> str:
        """The model's answer; a missing model is pulled before the first question."""
        self._prepare()
        message = {"role": "user", "content": prompt.encode(errors="replace").decode()}
        body = {"model": self.name, "messages": [message], "stream": False}
        match self._answer("POST", "/api/chat", body, self._answer_seconds):
            case {"message": {"content": str(content)}} if content.strip():
                return content.strip()
        raise Unavailable(
            f"{self._server()} gave no answer. Ask again, or choose another model by llm_model."
        )

    def close(self) -> None:
        """Close connections. Safe to call twice."""
        self._exchange.close()

    def _prepare(self) -> None:
        """Make sure the server is there and has the model; Unavailable if not."""
        with self._pulling:
            look = self._look()
            if look.problem is None and not _holds(look.models, self.name):
                look = self._seen = self._pull(look)
        if look.problem is not None:
            raise Unavailable(look.problem)

    def _look(self) -> _Look:
        """What the server says of itself, asked for when the last word is too old."""
        with self._looking:
            if time.monotonic() >= self._seen.until:
                self._seen = self._probe()
            return self._seen

    def _probe(self) -> _Look:
        try:
            answer = self._answer("GET", "/api/tags", None, self._probe_seconds)
            names = frozenset(str(entry["name"]) for entry in answer["models"] or ())
        except Unavailable as error:
            return _bad(str(error))
        except (KeyError, TypeError):
            return _bad(f"{self._server()} did not list its models. Check that Ollama runs there.")
        return _Look(time.monotonic() + GOOD_FOR_SECONDS, names)

    def _pull(self, look: _Look) -> _Look:
        """Have the server fetch the model."""
        try:
            answer = self._answer(
                "POST", "/api/pull", {"name": self.name, "stream": False}, self._pull_seconds
            )
        except Unavailable as error:
            answer = {"error": str(error)}
        if isinstance(answer, dict) and "error" not in answer:
            return _Look(look.until, look.models | {self.name})
        return _bad(self._lacking())

    def _lacking(self) -> str:
        return f"{self._server()} does not have the model {self.name}. `ollama pull {self.name}` fetches it."

    def _server(self) -> str:
        return self._exchange.server

    def _answer(self, method: str, path: str, body: Mapping[str, object] | None, seconds: float) -> Any:
        """What the server answers, parsed; Unavailable, in a sentence that says what to do, if nothing of use."""
        import httpx

        try:
            status, content = self._exchange.answer(method, path, body, seconds)
        except httpx.TimeoutException:
            raise Unavailable(
                f"{self._server()} did not answer within {seconds:g} s. "
                "Try again when it is less busy, or choose a smaller model by llm_model."
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL):
            self._seen = _bad(
                f"{self._server()} cannot be reached. Start it with `ollama serve`, or set OLLAMA_HOST."
            )
            raise Unavailable(self._seen.problem or "") from None
        return self._parsed(path, status, content)

    def _parsed(self, path: str, status: int, content: bytes) -> Any:
        if status == 404 and path == "/api/chat":
            self._seen = _Look(until=0.0)  # to be looked at again, and the model fetched
            raise Unavailable(self._lacking())
        if status != 200:
            raise Unavailable(f"{self._server()} answered {status}. Its log says why; then ask again.")
        try:
            return _json(content)
        except ValueError:
            raise Unavailable(
                f"{self._server()} did not answer in JSON. Check that Ollama runs there."
            ) from None


def _json(content: bytes) -> Any:
    """The object an answer is; of one that comes in lines, as it may while a model is fetched, the last."""
    import orjson

    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return orjson.loads(content.strip().rpartition(b"\n")[2])


def _bad(problem: str) -> _Look:
    return _Look(time.monotonic() + BAD_FOR_SECONDS, problem=problem)


def _holds(models: frozenset[str], name: str) -> bool:
    """Whether *name* is among the models; without a tag, the latest is meant."""
    return name in models or f"{name}:latest" in models
