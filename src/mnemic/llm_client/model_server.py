"""A model server: one request and its answer, bounded in time and size."""

from __future__ import annotations

import time
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mnemic.errors import Unavailable

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 4 * 1024 * 1024
LOOPBACK = ("127.", "localhost", "[::1]")


class ModelServer:
    """One server, connected to at the first request. Safe to use from several threads."""

    def __init__(self, name: str, url: str, headers: Mapping[str, str] | None = None):
        self._url = url
        self._place = urlsplit(url).netloc.rpartition("@")[2]
        self.server = f"{name} at {self._place}"
        """What errors call the server; an address may hold a login, which stays out of it."""
        self._headers = dict(headers or {})
        self._opening = Lock()
        self._client: httpx.Client | None = None

    def answer(
        self, method: str, path: str, body: Mapping[str, object] | None, seconds: float
    ) -> tuple[int, bytes]:
        """Status and content of one answer. The limit holds for the whole of it, however slowly it comes."""
        import httpx

        end = time.monotonic() + seconds
        content = bytearray()
        with self._open().stream(method, self._url + path, json=body, timeout=seconds) as response:
            for piece in response.iter_bytes():
                content += piece
                if time.monotonic() > end:
                    raise httpx.ReadTimeout("too slow")
                if len(content) > MAX_BYTES:
                    raise Unavailable(f"{self.server} answers without an end.")
        return response.status_code, bytes(content)

    def close(self) -> None:
        """Close connections. Safe to call twice."""
        with self._opening:
            if self._client:
                self._client.close()
            self._client = None

    def _open(self) -> httpx.Client:
        import httpx

        with self._opening:
            if self._client is None:
                # A proxy that leads into the net does not lead to this machine.
                is_here = self._place.startswith(LOOPBACK)
                self._client = httpx.Client(trust_env=not is_here, headers=self._headers)
            return self._client
