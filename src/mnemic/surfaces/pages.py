"""The pages a browser is shown: where one is, and the REST interface to read and try."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

FOLDER = Path(__file__).with_name("web")
PAGES = {"/": "start.html", "/api/v1/docs": "docs.html"}
PARTS = ("docs.js", "start.js", "style.css")

_HEADERS = {
    # Nothing from elsewhere is loaded, and nothing that a memory says can run.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def page_routes() -> Iterator[Route]:
    """The pages, and what they are made of below /web."""
    for address, name in PAGES.items():
        yield Route(address, functools.partial(_file, name))
    for name in PARTS:
        yield Route(f"/web/{name}", functools.partial(_file, name))


async def _file(name: str, request: Request) -> Response:
    return FileResponse(FOLDER / name, headers=_HEADERS)
