"""Hooks of Cursor, and its transcripts: one JSON object a line, in ~/.cursor/projects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnemic.core.capture.conversation import Turn
from mnemic.hooks.base import HookClient, HookEvent, When, path_field, text_field
from mnemic.hooks.transcript import TranscriptMessage, lines, said, text_of, turns

_QUERY = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)


def _event(when: When, payload: Mapping[str, Any]) -> HookEvent:
    roots = payload.get("workspace_roots")
    root = next((one for one in roots if isinstance(one, str)), "") if isinstance(roots, list) else ""
    return HookEvent(
        when=when,
        session=text_field(payload, "conversation_id", "session_id"),
        folder=Path(root) if root else path_field(payload, "cwd"),
        prompt=said(text_field(payload, "prompt")),
        transcript=path_field(payload, "transcript_path"),
    )


def _messages(file: Path, position: int) -> Iterator[TranscriptMessage]:
    for entry, end in lines(file, position):
        held, role = entry.get("message"), entry.get("role")
        if role not in ("user", "assistant") or not isinstance(held, dict):
            continue
        text = text_of(held.get("content"))
        text = _typed(text) if role == "user" else text.strip()
        if text:
            yield TranscriptMessage(role == "user", text, end)


def _typed(text: str) -> str:
    """What was typed: Cursor puts it into an element of its own, beside what it adds."""
    return said("\n".join(_QUERY.findall(text)) or text)


def read_turns(file: Path, position: int) -> Iterator[Turn]:
    """The turns of a transcript beyond *position*."""
    return turns(_messages(file, position))


def _reply(event: str, text: str) -> dict[str, Any]:
    """Context for the agent. A prompt must be let through; versions before 3.20 take no context with it."""
    return {"additional_context": text, **({"continue": True} if event == "beforeSubmitPrompt" else {})}


CURSOR = HookClient(
    name="cursor",
    events={
        "sessionStart": When.START,
        "beforeSubmitPrompt": When.PROMPT,
        "stop": When.TURN,
        "preCompact": When.COMPACT,
        "sessionEnd": When.END,
    },
    read=_event,
    turns=read_turns,
    reply=_reply,
    instructions=frozenset({"AGENTS.md"}),
)
