"""Any server that speaks as OpenAI does (vLLM, llama.cpp, LM Studio, a gateway) as a language model."""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import orjson

from mnemic.errors import Invalid, Unavailable
from mnemic.llm_client.model_server import ModelServer

PROBE_SECONDS = 5.0
ANSWER_SECONDS = 60.0
GOOD_FOR_SECONDS = 300.0
BAD_FOR_SECONDS = 30.0
"""How long it is remembered that the server answered, and that it did not."""
REFUSED = {
    401: "refused the key. Set llm_key.",
    403: "refused the key. Set llm_key.",
    404: "does not know the model or the address. Check llm_model and llm_url.",
    429: "has had too many questions. Ask again later.",
}


class OpenAICompatible:
    """A model behind `POST {url}/chat/completions`."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str | None = None,
        probe_seconds: float = PROBE_SECONDS,
        answer_seconds: float = ANSWER_SECONDS,
    ):
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise Invalid("llm_url: not an address. Use https://HOST/v1", "llm_url")
        self.name = model
        headers = {"Authorization": f"Bearer {key}"} if key else None
        self._exchange = ModelServer("The model server", url.rstrip("/"), headers)
        self._probe_seconds = probe_seconds
        self._answer_seconds = answer_seconds
        self._looking = Lock()
        self._problem: str | None = None
        self._look_again_at = 0.0

    def is_reachable(self) -> bool:
        """Whether the server lists its models; looked up once and remembered for a while."""
        with self._looking:
            if time.monotonic() >= self._look_again_at:
                self._look()
            return self._problem is None

    def ask(self, prompt: str) -> str:
        """The model's answer; Unavailable if none comes in time."""
        message = {"role": "user", "content": prompt.encode(errors="replace").decode()}
        body = {"model": self.name, "messages": [message]}
        match self._answer("POST", "/chat/completions", body, self._answer_seconds):
            case {"choices": [{"message": {"content": str(content)}}, *_]} if content.strip():
                return content.strip()
        raise Unavailable(f"{self._server()} gave no answer. Ask again, or choose another llm_model.")

    def close(self) -> None:
        """Close connections. Safe to call twice."""
        self._exchange.close()

    def _look(self) -> None:
        try:
            self._answer("GET", "/models", None, self._probe_seconds)
            self._problem, lasts = None, GOOD_FOR_SECONDS
        except Unavailable as error:
            self._problem, lasts = str(error), BAD_FOR_SECONDS
        self._look_again_at = time.monotonic() + lasts

    def _answer(self, method: str, path: str, body: Mapping[str, object] | None, seconds: float) -> Any:
        """What the server answers, parsed; Unavailable, in a sentence that says what to do, if nothing of use."""
        import httpx

        try:
            status, content = self._exchange.answer(method, path, body, seconds)
        except httpx.TimeoutException:
            raise Unavailable(f"{self._server()} did not answer within {seconds:g} s. Try again.") from None
        except (httpx.HTTPError, httpx.InvalidURL):
            raise Unavailable(f"{self._server()} cannot be reached. Check llm_url.") from None
        if status != 200:
            problem = REFUSED.get(status, f"answered {status}. Its log says why; then ask again.")
            raise Unavailable(f"{self._server()} {problem}")
        try:
            return orjson.loads(content)
        except orjson.JSONDecodeError:
            raise Unavailable(f"{self._server()} did not answer in JSON. Check llm_url.") from None

    def _server(self) -> str:
        return self._exchange.server
