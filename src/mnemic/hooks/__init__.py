"""Hook protocols of coding agents: their JSON in, their JSON out, and their transcripts. One module a client."""

from __future__ import annotations

from mnemic.hooks.base import HookClient, HookEvent, When
from mnemic.hooks.claude_code import CLAUDE_CODE
from mnemic.hooks.codex import CODEX
from mnemic.hooks.cursor import CURSOR
from mnemic.hooks.gemini import GEMINI

__all__ = ["HOOK_CLIENTS", "HookClient", "HookEvent", "When"]

HOOK_CLIENTS: dict[str, HookClient] = {client.name: client for client in (CLAUDE_CODE, CODEX, CURSOR, GEMINI)}
