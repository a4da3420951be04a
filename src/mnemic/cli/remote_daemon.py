"""Another daemon as a peer to sync with, reached over its REST API."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson

from mnemic.errors import Denied, Invalid, Unavailable
from mnemic.transfer.batch import LABEL_LENGTH
from mnemic.transfer.exporter import knowledge_of, read_records
from mnemic.transfer.import_report import Report
from mnemic.transfer.importer import Importer
from mnemic.transfer.records import LinkRecord, Record
from mnemic.transfer.store_batch import StorePolicy
from mnemic.transfer.versions import Knowledge
from mnemic.transfer.wire import decode, encode, report_of

if TYPE_CHECKING:
    import httpx

    from mnemic.core.context import Context
    from mnemic.storage.base import Progress

API = "/api/v1"
ITEMS, BYTES = 900, 1_900_000
"""How much a daemon takes at once: it reads bodies of up to 2 MiB."""
TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class RemoteDaemon:
    """The peer that is a running daemon."""

    address: str
    token: str | None = None

    def pull(self, ctx: Context, progress: Progress | None = None) -> Report:
        """Merge everything of the daemon's into the store of *ctx*."""
        with self._client() as client:
            content = self._call(client, "GET", "/sync")
        knowledge = Knowledge.of(str(content["store"]), content["knowledge"])
        importer = Importer(ctx, StorePolicy(knowledge))
        importer.merge(map(decode, content["records"]), progress, len(content["records"]))
        return importer.finish()

    def push(self, ctx: Context, progress: Progress | None = None) -> Report:
        """Merge everything of *ctx* into the daemon's store."""
        knowledge = knowledge_of(ctx)
        known = {"store": knowledge.store, "knowledge": knowledge.entry}
        done, sent = Report(), 0
        with self._client() as client, ctx.snapshot() as reader:
            for piece in pieces(read_records(ctx, reader), done):
                self._send(client, {**known, "records": piece}, done)
                sent += len(piece)
                if progress:
                    progress(sent, sent)
            self._send(client, {**known, "records": [], "is_last": not done.errors}, done)
        return done

    def _send(self, client: httpx.Client, body: Mapping[str, Any], done: Report) -> None:
        done.add(report_of(self._call(client, "POST", "/sync", body)))

    def _client(self) -> httpx.Client:
        import httpx

        headers = {"Content-Type": "application/json", **({"X-API-Key": self.token} if self.token else {})}
        base = self.address.rstrip("/").removesuffix(API) + API
        try:
            return httpx.Client(base_url=base, headers=headers, timeout=TIMEOUT_SECONDS)
        except httpx.InvalidURL as error:
            raise Invalid(f"{self.address} is not an address: {error}", "remote") from None

    def _call(self, client: httpx.Client, method: str, path: str, body: Any = None) -> dict[str, Any]:
        import httpx

        try:
            response = client.request(method, path, content=None if body is None else orjson.dumps(body))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(f"{self.address} cannot be reached: {error}") from None
        if response.status_code in (401, 403):
            remedy = " --token gives one." if self.token is None else ""
            raise Denied(f"{self.address} refused access: {_problem(response).rstrip('.')}.{remedy}")
        answer = _json(response)
        if not response.is_success or not isinstance(answer, dict):
            raise Unavailable(f"{self.address} answered {response.status_code}: {_problem(response)}")
        return answer


def pieces(records: Iterable[Record], done: Report) -> Iterator[list[dict[str, Any]]]:
    """*records* in lists that a daemon takes at once, equal links together. One that is too large is reported."""
    piece: list[dict[str, Any]] = []
    size = 0
    last: object = None
    for record in records:
        entry = encode(record)
        length = len(orjson.dumps(entry)) + 1
        if length > BYTES:
            done.errors.append(f"{record.label[:LABEL_LENGTH]}: is too large to be sent")
            continue
        group = replace(record.key, created_at=0) if isinstance(record, LinkRecord) else None
        is_together = group is not None and group == last
        if piece and not is_together and (len(piece) >= ITEMS or size + length > BYTES):
            yield piece
            piece, size = [], 0
        piece.append(entry)
        size, last = size + length, group
    if piece:
        yield piece


def _json(response: httpx.Response) -> Any:
    try:
        return orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return None


def _problem(response: httpx.Response) -> str:
    answer = _json(response)
    message = answer.get("error") if isinstance(answer, dict) else None
    return message[:200].rstrip(".") if isinstance(message, str) else response.reason_phrase
