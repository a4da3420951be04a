"""Hooks of Codex, and its transcripts ("rollouts"): one JSON object a line, in ~/.codex/sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnemic.core.capture.conversation import Turn
from mnemic.hooks.base import HookClient, When, usual_event, usual_reply
from mnemic.hooks.transcript import TranscriptMessage, lines, said, text_of, turns

SPOKEN = {"user_message": True, "agent_message": False}
"""Events that say what was said, and whether by the user."""
INSTRUCTIONS = "# AGENTS.md instructions"


def _events(file: Path, position: int) -> Iterator[tuple[bool, TranscriptMessage]]:
    """What was said, and whether an event says so: some versions write no events but the model's items alone."""
    for entry, end in lines(file, position):
        held = entry.get("payload")
        if not isinstance(held, dict):
            continue
        if entry.get("type") == "event_msg" and held.get("type") in SPOKEN:
            yield from _told(True, SPOKEN[held["type"]], held.get("message"), end)
        elif entry.get("type") == "response_item" and held.get("type") == "message":
            yield from _item(held, end)


def _item(held: Mapping[str, Any], end: int) -> Iterator[tuple[bool, TranscriptMessage]]:
    if held.get("role") in ("user", "assistant"):
        yield from _told(False, held["role"] == "user", text_of(held.get("content")), end)


def _told(
    is_event: bool, is_user: bool, content: object, end: int
) -> Iterator[tuple[bool, TranscriptMessage]]:
    text = text_of(content)
    text = said(text) if is_user else text.strip()
    if text and not text.startswith(INSTRUCTIONS):
        yield is_event, TranscriptMessage(is_user, text, end)


def read_turns(file: Path, position: int) -> Iterator[Turn]:
    """The turns of a rollout beyond *position*."""
    found = list(_events(file, position))
    has_events = any(is_event and message.is_user for is_event, message in found)
    return turns(message for is_event, message in found if is_event is has_events)


CODEX = HookClient(
    name="codex",
    events={
        "SessionStart": When.START,
        "UserPromptSubmit": When.PROMPT,
        "Stop": When.TURN,
        "SubagentStop": When.WORK,
        "PreCompact": When.COMPACT,
        "SessionEnd": When.END,
    },
    read=usual_event,
    turns=read_turns,
    reply=usual_reply,
    instructions=frozenset({"AGENTS.md"}),
)
