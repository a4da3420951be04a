"""The web pages: the dashboard and the API page, as `tools/build_web.py` builds them from `web/`."""

from __future__ import annotations

import functools
import gzip
import hashlib
import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FOLDER = Path(__file__).with_name("web")
PAGES = {"/": "index.html", "/api/v1/docs": "api.html"}
ASSETS = "/web/"
"""Prefix of the scripts and styles."""
SMALLEST_PACKED = 1_000
"""Smaller files are not worth compressing."""

_HEADERS = {
    # Nothing is loaded from another origin and no stored text can run as script.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; worker-src 'self' blob:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Vary": "Accept-Encoding",
}


def page_routes() -> Iterator[Route]:
    """Routes of the pages, and of their scripts and styles under /web."""
    for address, name in PAGES.items():
        yield Route(address, functools.partial(_file, name))
    for path in sorted(FOLDER.iterdir()):
        if path.suffix not in (".html", ".txt"):
            yield Route(ASSETS + path.name, functools.partial(_file, path.name))


def is_page(path: str) -> bool:
    """Whether *path* is a page or a part of one: the same for everyone, so it needs no token."""
    return path in PAGES or path.startswith(ASSETS)


@dataclass(frozen=True, slots=True)
class _Asset:
    body: bytes
    packed: bytes | None
    tag: str
    mime: str


@functools.cache
def _asset(name: str) -> _Asset:
    body = (FOLDER / name).read_bytes()
    mime = mimetypes.guess_type(name)[0] or "application/octet-stream"
    packed = gzip.compress(body, mtime=0) if len(body) >= SMALLEST_PACKED else None
    return _Asset(body, packed, f'"{hashlib.sha256(body).hexdigest()[:32]}"', mime)


async def _file(name: str, request: Request) -> Response:
    asset = _asset(name)
    headers = {**_HEADERS, "ETag": asset.tag}
    if asset.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if asset.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(asset.packed, 200, {**headers, "Content-Encoding": "gzip"}, asset.mime)
    return Response(asset.body, 200, headers, asset.mime)
