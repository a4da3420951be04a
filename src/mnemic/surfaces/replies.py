"""What HTTP is answered with: an outcome or an error as a response, with its status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson
from starlette.responses import PlainTextResponse, Response

from mnemic.errors import Invalid, MnemicError

if TYPE_CHECKING:
    from mnemic.surfaces.bridge import Outcome

STATUS: Mapping[str, int] = {
    "invalid": 400,
    "unauthorized": 401,
    "denied": 403,
    "not_found": 404,
    "not_allowed": 405,
    "conflict": 409,
    "duplicate": 409,
    "too_large": 413,
    "internal": 500,
    "failed": 500,
    "busy": 503,
    "unavailable": 503,
    "store_unusable": 503,
}
"""The status of each error's code."""


class NotAllowed(MnemicError):
    """The address is there, but not for this method."""

    code = "not_allowed"


def reply(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """*content* as JSON."""
    return as_it_is(orjson.dumps(content), status, headers)


def as_it_is(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """*body*, which is JSON."""
    always = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    return Response(body, status, {**always, **(headers or {})}, "application/json")


def told(outcome: Outcome) -> Response:
    """A call's outcome: its object, or its text where the dialect speaks in text alone."""
    if outcome.error is not None:
        return problem(outcome.error)
    told = outcome.rendered
    if told.structured is not None:
        return reply(told.structured)
    return as_it_is(told.text.encode()) if told.is_json else PlainTextResponse(told.text)


def problem(error: MnemicError, headers: Mapping[str, str] | None = None) -> Response:
    """*error* as `{"error", "code", "message"}`, with `field` where an argument is at fault."""
    message = str(error)
    content = {"error": message, "code": error.code, "message": message}
    if isinstance(error, Invalid) and error.field:
        content["field"] = error.field
    return reply(content, STATUS.get(error.code, 500), headers)
