"""Models behind HTTP: anything that speaks as OpenAI does, and Ollama."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from mnemic.embedding.base import SingleModel
from mnemic.embedding.text_windows import Stretch, character_windows
from mnemic.errors import Unavailable

if TYPE_CHECKING:
    import httpx

    from mnemic.model.vectors import Vectors

# Most models read 512 tokens or more; a token is about four characters of English and two of code.
WINDOW_CHARACTERS = 1200
OVERLAP_CHARACTERS = 150
BATCH_TEXTS = 64
ATTEMPTS = 4
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 20.0
TIMEOUT_SECONDS = 30.0
BAD_FOR_SECONDS = 30.0
"""How long a server that gave no vectors is not asked again whether it works."""


class RemoteEmbedder(SingleModel):
    """A model behind HTTP. Subclasses know the path and where the vectors lie in the answer."""

    path: str
    kind: str

    def __init__(
        self,
        base: str,
        model: str,
        *,
        key: str | None = None,
        dimension: int | None = None,
        timeout_seconds: float = TIMEOUT_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
    ):
        self.name = f"{self.kind}:{model}"
        self._url = base.rstrip("/") + self.path
        self._model = model
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._dimension = dimension
        self._timeout_seconds = timeout_seconds
        self._sleep = sleep
        self._lock = Lock()
        self._client: httpx.Client | None = None
        self._problem: str | None = None
        self._ask_again_at = 0.0

    @property
    def dimension(self) -> int:
        """How many numbers a vector has; asks for one if none was seen yet."""
        if self._dimension is None:
            self.embed(["dimension"])
        return self._dimension or 0

    def problem(self) -> str | None:
        """Why the server gives no vectors, asked once and, if it does not answer, again after a while."""
        if self._dimension is None and time.monotonic() >= self._ask_again_at:
            try:
                self._batch(["dimension"], attempts=1)
                self._problem = None
            except Unavailable as error:
                self._problem = str(error)
                self._ask_again_at = time.monotonic() + BAD_FOR_SECONDS
        return None if self._dimension else self._problem

    def windows(self, text: str) -> Sequence[Stretch]:
        """Stretches of some 300 tokens, counted in characters: the model's tokens are unknown here."""
        return character_windows(text, WINDOW_CHARACTERS, OVERLAP_CHARACTERS)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order; `Unavailable` if the server gives none."""
        from mnemic.numeric import np

        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        starts = range(0, len(texts), BATCH_TEXTS)
        return np.concatenate([self._batch(texts[start : start + BATCH_TEXTS]) for start in starts])

    def close(self) -> None:
        """Close connections. Safe to call twice."""
        with self._lock:
            if self._client:
                self._client.close()
            self._client = None

    def _batch(self, texts: Sequence[str], attempts: int = ATTEMPTS) -> Vectors:
        # A lone surrogate is no JSON, and several servers refuse an empty text.
        sendable = [text.encode(errors="replace").decode() or " " for text in texts]
        answer = self._answer({"model": self._model, "input": sendable}, attempts)
        return self._checked(answer, len(texts))

    def _answer(self, body: Mapping[str, object], attempts: int) -> object:
        """The server's answer, asked for again while it is overloaded."""
        for attempt in range(1, attempts + 1):
            response, problem = self._attempt(body)
            if response is not None and response.status_code == 200:
                return self._json(response)
            if attempt == attempts or not may_pass(response):
                break
            self._sleep(pause_seconds(attempt, response))
        raise Unavailable(f"The embedding server at {self._url} {problem}")

    def _attempt(self, body: Mapping[str, object]) -> tuple[httpx.Response | None, str]:
        import httpx

        try:
            response = self._open().post(self._url, json=body)
        except httpx.TimeoutException:
            return None, f"did not answer within {self._timeout_seconds:g} s"
        except httpx.HTTPError as error:
            return None, f"cannot be reached: {error}"
        except httpx.InvalidURL as error:
            raise Unavailable(f"The address of the embedding server is not valid: {error}") from error
        return response, f"answered {response.status_code}: {response.text[:200].strip()}"

    def _open(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._client is None:
                self._client = httpx.Client(headers=self._headers, timeout=self._timeout_seconds)
            return self._client

    def _json(self, response: httpx.Response) -> object:
        try:
            return response.json()
        except ValueError as error:
            raise Unavailable(f"The embedding server at {self._url} did not answer in JSON") from error

    def _checked(self, answer: object, count: int) -> Vectors:
        from mnemic.numeric import np

        try:
            vectors = np.array(self.vectors(answer), dtype=np.float32)
            rows, dimension = vectors.shape
        except (KeyError, TypeError, ValueError) as error:
            raise Unavailable(f"The embedding server at {self._url} answered without vectors") from error
        if rows != count:
            raise Unavailable(f"The embedding server at {self._url} gave {rows} vectors for {count} texts")
        if self._dimension not in (None, dimension):
            raise Unavailable(
                f"{self.name} gave vectors of {dimension} numbers where {self._dimension} were expected"
            )
        if not np.isfinite(vectors).all():
            raise Unavailable(f"The embedding server at {self._url} gave numbers that are not finite")
        self._dimension = dimension
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / np.maximum(lengths, np.float32(1e-12))
        return unit

    @staticmethod
    def vectors(answer: Any) -> Sequence[Sequence[float]]:
        """The vectors in an answer, in the order of the texts."""
        raise NotImplementedError


class OpenAIEmbedder(RemoteEmbedder):
    """`POST {base}/embeddings`, as OpenAI and many servers after it speak."""

    path = "/embeddings"
    kind = "openai"

    @staticmethod
    def vectors(answer: Any) -> Sequence[Sequence[float]]:
        """Sorted by their index: the order of the list is not promised."""
        return [row["embedding"] for row in sorted(answer["data"], key=lambda row: row.get("index", 0))]


class OllamaEmbedder(RemoteEmbedder):
    """`POST {base}/api/embed` of an Ollama server."""

    path = "/api/embed"
    kind = "ollama"

    @staticmethod
    def vectors(answer: Any) -> Sequence[Sequence[float]]:
        """The list as it comes."""
        vectors: Sequence[Sequence[float]] = answer["embeddings"]
        return vectors


def may_pass(response: httpx.Response | None) -> bool:
    """Whether asking again may help: no connection, too many requests, trouble on the server's side."""
    return response is None or response.status_code == 429 or response.status_code >= 500


def pause_seconds(attempt: int, response: httpx.Response | None) -> float:
    """How long to wait before the next attempt: what the server asks for, or twice as long each time."""
    delay = response.headers.get("Retry-After", "") if response is not None else ""
    seconds = float(delay) if delay.isdecimal() else FIRST_PAUSE_SECONDS * 2 ** (attempt - 1)
    return min(seconds, LONGEST_PAUSE_SECONDS)
