"""Log of the daemon on standard error: as text, or one JSON object a line; a line for each request if wanted."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson

from mnemic.errors import Invalid

if TYPE_CHECKING:
    from mnemic.transports.http.observer import Exchange

log = logging.getLogger(__name__)

FORMATS = ("text", "json")
DETAILS = "details"
"""Attribute of a log record with the fields of a structured line."""


class JsonLines(logging.Formatter):
    """One JSON object a record: time, level, logger, message, and the record's details."""

    def format(self, record: logging.LogRecord) -> str:
        """*record* as a line of JSON."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, DETAILS, {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line).decode()


def configure(log_format: str, log_requests: bool) -> None:
    """Send what the daemon logs to standard error, in this format."""
    if log_format not in FORMATS:
        raise Invalid(f"log_format: must be text or json, not {log_format!r}", "log_format")
    handler = logging.StreamHandler()
    if log_format == "json":
        handler.setFormatter(JsonLines())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    if log_requests:
        log.setLevel(logging.INFO)


def log_exchange(exchange: Exchange) -> None:
    """Log a finished request: method, route, status, milliseconds and the token's name. Never its contents."""
    milliseconds = round(exchange.seconds * 1000, 1)
    details = {
        "method": exchange.method,
        "route": exchange.route,
        "status": exchange.status,
        "milliseconds": milliseconds,
        "actor": exchange.actor,
    }
    log.info(
        "%s %s %d %.1f ms %s",
        exchange.method,
        exchange.route,
        exchange.status,
        milliseconds,
        exchange.actor,
        extra={DETAILS: details},
    )
