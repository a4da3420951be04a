"""HTTP responses: outcomes and errors with their status codes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from starlette.responses import PlainTextResponse, Response

from mnemic.errors import Invalid, MnemicError

if TYPE_CHECKING:
    from mnemic.dialects.execution import CallResult


class Failing(NamedTuple):
    """Status and code of an error."""

    status: int
    code: str


INTERNAL = "Internal server error"
BROKEN = Failing(500, "DATABASE_ERROR")
"""An unexpected failure. The cause is logged, never part of the response."""
FAILURES: Mapping[str, Failing] = {
    "invalid": Failing(400, "VALIDATION_FAILED"),
    "unauthorized": Failing(401, "UNAUTHORIZED"),
    "denied": Failing(403, "DENIED"),
    "not_found": Failing(404, "NOT_FOUND"),
    "not_allowed": Failing(405, "NOT_ALLOWED"),
    "conflict": Failing(409, "CONFLICT"),
    "duplicate": Failing(409, "CONFLICT"),
    "too_large": Failing(413, "TOO_LARGE"),
    "too_many": Failing(429, "TOO_MANY"),
    "busy": Failing(503, "BUSY"),
    "unavailable": Failing(503, "UNAVAILABLE"),
    "store_unusable": Failing(503, "STORE_UNUSABLE"),
}
"""By error code; BROKEN for any other."""
ALWAYS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


class NotAllowed(MnemicError):
    """The path exists, but not for this method."""

    code = "not_allowed"


def reply(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """*content* as a JSON response."""
    return as_it_is(orjson.dumps(content), status, headers)


def as_it_is(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """*body*, already JSON, as a response."""
    return Response(body, status, {**ALWAYS, **(headers or {})}, "application/json")


def response_of(outcome: CallResult) -> Response:
    """The outcome of a call: its object, or its text if the dialect answers in text only."""
    if outcome.error is not None:
        return problem(outcome.error)
    rendered = outcome.rendered
    if rendered.structured is not None:
        return reply(rendered.structured)
    return as_it_is(rendered.text.encode()) if rendered.is_json else PlainTextResponse(rendered.text)


def problem(error: MnemicError, headers: Mapping[str, str] | None = None) -> Response:
    """*error* as `{"error", "code", "message"}`, with `field` if an argument is at fault."""
    failing = FAILURES.get(error.code, BROKEN)
    later = {"Retry-After": "1"} if failing.status == 429 else {}
    return reply(described(error), failing.status, {**later, **(headers or {})})


def described(error: MnemicError) -> dict[str, str]:
    """Body of the response for *error*."""
    failing = FAILURES.get(error.code, BROKEN)
    if failing is BROKEN:
        return {"error": INTERNAL, "code": failing.code, "message": INTERNAL}
    content = {"error": str(error), "code": failing.code, "message": error.message}
    if isinstance(error, Invalid) and error.field:
        content["field"] = error.field
    return content
