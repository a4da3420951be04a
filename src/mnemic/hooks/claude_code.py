"""Hooks of Claude Code, and its transcripts: one JSON object a line, in ~/.claude/projects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnemic.core.capture.conversation import Turn
from mnemic.hooks.base import HookClient, When, usual_event, usual_reply
from mnemic.hooks.transcript import TranscriptMessage, lines, said, text_of, turns
from mnemic.transfer.claude_code import READ_ANYWAY, RULES

NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""Marks of entries that nobody typed and that are no answer: notices, subagents, summaries, failures."""
INTERRUPTED = "[Request interrupted"


def _messages(file: Path, position: int) -> Iterator[TranscriptMessage]:
    for entry, end in lines(file, position, _is_output):
        if any(entry.get(mark) for mark in NOT_SAID):
            continue
        if message := _message(entry, end):
            yield message


def _is_output(line: bytes) -> bool:
    """Whether *line* has the output of a tool and no text. Quotes in what was typed are escaped: it never looks so."""
    return b'"tool_result"' in line and b'"text"' not in line


def _message(entry: Mapping[str, Any], end: int) -> TranscriptMessage | None:
    held = entry.get("message")
    if entry.get("type") not in ("user", "assistant") or not isinstance(held, dict):
        return None
    text = text_of(held.get("content"))
    is_user = entry["type"] == "user"
    text = said(text) if is_user else text.strip()
    return TranscriptMessage(is_user, text, end) if text and not text.startswith(INTERRUPTED) else None


def read_turns(file: Path, position: int) -> Iterator[Turn]:
    """The turns of a transcript beyond *position*."""
    return turns(_messages(file, position))


CLAUDE_CODE = HookClient(
    name="claude-code",
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
    instructions=READ_ANYWAY | {RULES},
)
