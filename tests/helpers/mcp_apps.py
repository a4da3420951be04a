"""The extension MCP Apps as its own schema tells it (`@modelcontextprotocol/ext-apps` 2.0.4)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

SCHEMA = Path(__file__).parents[1] / "web/vendor/mcp-apps.schema.json"
MIME = "text/html;profile=mcp-app"
CAPABILITIES = {"extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": [MIME]}}}
"""What a client says that shows apps."""


@cache
def _schema() -> dict[str, Any]:
    return dict(json.loads(SCHEMA.read_text(encoding="utf-8")))


def check(name: str, value: Any) -> None:
    """Fail unless *value* is what the schema calls *name*."""
    jsonschema.validate(value, _schema()["$defs"][name])
