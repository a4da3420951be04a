"""Another daemon as a peer to sync with, reached over its REST API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from mnemic.core.moving.arrivals import Imported
from mnemic.core.moving.documents import export_json, import_json
from mnemic.core.moving.sending import links_to_names
from mnemic.core.moving.syncing import Carried
from mnemic.errors import Denied, Invalid, Unavailable

if TYPE_CHECKING:
    import httpx

    from mnemic.core.context import Context
    from mnemic.storage.base import Progress

API = "/api/v1"
ITEMS, BYTES = 1_000, 2_000_000
"""How much a daemon takes at once: it reads bodies of up to 2 MiB."""
TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Daemon:
    """The peer that is a running daemon."""

    address: str
    token: str | None = None

    def pull(self, ctx: Context, *, merging: bool, progress: Progress | None = None) -> Carried:
        """See Peer."""
        with self._client() as client:
            document = self._call(client, "GET", "/export")
        done = import_json(ctx, document, keeps_forgotten=merging, overwrites=not merging, progress=progress)
        return Carried(len(document["memories"]), done)

    def push(self, ctx: Context, *, merging: bool, progress: Progress | None = None) -> Carried:
        """See Peer. A daemon cannot be told to keep what it has forgotten, or to give up what is newer."""
        document = export_json(ctx)
        done = Imported()
        memories, sent = document["memories"], 0
        with self._client() as client:
            for piece in pieces(memories, done):
                self._send(client, {"memories": piece, "links": []}, done)
                sent += len(piece)
                if progress:
                    progress(sent, len(memories))
            for piece in pieces(document.get("sessions", []), done):
                self._send(client, {"memories": [], "links": [], "sessions": piece}, done)
            if document["links"] or document.get("standards"):
                self._tie(client, document, done)
        done.errors += _left(ctx, document["links"])
        return Carried(len(memories), done)

    def _tie(self, client: httpx.Client, document: Mapping[str, Any], done: Imported) -> None:
        """Send links and standards by the ids the memories have there: one known by its title keeps its own."""
        there = self._call(client, "GET", "/export")["memories"]
        ids = {(entry.get("namespace"), entry.get("title")): entry.get("id") for entry in there}
        known = set(ids.values())
        renamed = {
            entry["id"]: ids.get((entry["namespace"], entry["title"]), entry["id"])
            for entry in document["memories"]
            if entry["id"] not in known
        }
        ends = ("source_id", "target_id", "standard_id")
        links, standards = (
            [_translated(item, ends, renamed) for item in document.get(name, ())]
            for name in ("links", "standards")
        )
        stand = [link for link, ours in zip(links, document["links"], strict=True) if _stands(link, ours)]
        for piece in pieces(stand, done):
            self._send(client, {"memories": [], "links": piece}, done)
        if standards:
            self._send(client, {"memories": [], "links": [], "standards": standards}, done)

    def _send(self, client: httpx.Client, body: Mapping[str, Any], done: Imported) -> None:
        answer = self._call(client, "POST", "/import", body)
        known = int(answer.get("known", 0))
        done.imported += int(answer.get("imported", 0)) - known
        done.skipped += known
        done.errors += map(str, answer.get("errors", ()))

    def _client(self) -> httpx.Client:
        import httpx

        headers = {"Content-Type": "application/json", **({"X-API-Key": self.token} if self.token else {})}
        base = self.address.rstrip("/").removesuffix(API) + API
        try:
            return httpx.Client(base_url=base, headers=headers, timeout=TIMEOUT_SECONDS)
        except httpx.InvalidURL as error:
            raise Invalid(f"{self.address} is no address: {error}", "remote") from None

    def _call(self, client: httpx.Client, method: str, path: str, body: Any = None) -> dict[str, Any]:
        import httpx

        try:
            response = client.request(method, path, content=None if body is None else orjson.dumps(body))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unavailable(f"{self.address} cannot be reached: {error}") from None
        if response.status_code in (401, 403):
            raise Denied(f"{self.address} does not let us in: {_problem(response)}. --token gives a token.")
        answer = _json(response)
        if not response.is_success or not isinstance(answer, dict):
            raise Unavailable(f"{self.address} answered {response.status_code}: {_problem(response)}")
        return answer


def pieces(items: Sequence[dict[str, Any]], done: Imported) -> Iterator[list[dict[str, Any]]]:
    """*items* in lists that a daemon takes at once. One that is too large by itself is told in *done*."""
    piece: list[dict[str, Any]] = []
    size = 0
    for item in items:
        length = len(orjson.dumps(item)) + 1
        if length > BYTES:
            done.errors.append(f"{item.get('title', 'link')}: is too large to be sent")
            continue
        if piece and (len(piece) == ITEMS or size + length > BYTES):
            yield piece
            piece, size = [], 0
        piece.append(item)
        size += length
    if piece:
        yield piece


def _left(ctx: Context, links: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How many links a daemon has no place for, by the reason."""
    again = len(links) - len({(link["source_id"], link["target_id"], link["relation"]) for link in links})
    if again:
        yield f"links that stand several times ({again:,}): a daemon keeps one of each"
    if to_names := links_to_names(ctx):
        yield f"links to mere names ({to_names:,}): a daemon takes none"


def _stands(link: Mapping[str, Any], ours: Mapping[str, Any]) -> bool:
    """Whether *link* has two ends there, or one as it has here: two memories here may be one and the same there."""
    return bool(link["source_id"] != link["target_id"] or ours["source_id"] == ours["target_id"])


def _translated(item: Mapping[str, Any], names: Sequence[str], ids: Mapping[str, str]) -> dict[str, Any]:
    return {name: ids.get(value, value) if name in names else value for name, value in item.items()}


def _json(response: httpx.Response) -> Any:
    try:
        return orjson.loads(response.content)
    except orjson.JSONDecodeError:
        return None


def _problem(response: httpx.Response) -> str:
    answer = _json(response)
    told = answer.get("error") if isinstance(answer, dict) else None
    return told[:200].rstrip(".") if isinstance(told, str) else response.reason_phrase
