"""Hooks of Gemini CLI, and its transcripts in ~/.gemini/tmp: one JSON document, or one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mnemic.core.capture.conversation import Turn
from mnemic.hooks.base import HookClient, HookEvent, When, text_field, usual_event, usual_reply
from mnemic.hooks.transcript import TranscriptMessage, lines, said, text_of, turns

LARGEST_DOCUMENT = 50_000_000


def _event(when: When, payload: Mapping[str, Any]) -> HookEvent:
    event = usual_event(when, payload)
    answer = text_field(payload, "prompt_response")
    if when is not When.TURN or event.transcript is not None or not event.prompt:
        return event
    return HookEvent(when=when, session=event.session, folder=event.folder, turn=Turn(event.prompt, answer))


def _entries(file: Path, position: int) -> Iterable[tuple[Mapping[str, Any], int]]:
    """The messages beyond *position*: of a document counted by message, of lines by byte."""
    if file.suffix == ".jsonl":
        return lines(file, position)
    with file.open("rb") as stream:
        held = json.loads(stream.read(LARGEST_DOCUMENT))
    messages = held.get("messages") if isinstance(held, dict) else None
    found = messages if isinstance(messages, list) else []
    return [
        (one, number) for number, one in enumerate(found, 1) if number > position and isinstance(one, dict)
    ]


def _messages(file: Path, position: int) -> Iterator[TranscriptMessage]:
    for entry, end in _entries(file, position):
        if entry.get("type") not in ("user", "gemini"):
            continue
        is_user = entry["type"] == "user"
        text = text_of(entry.get("content"))
        text = said(text) if is_user else text.strip()
        if text:
            yield TranscriptMessage(is_user, text, end)


def read_turns(file: Path, position: int) -> Iterator[Turn]:
    """The turns of a transcript beyond *position*."""
    return turns(_messages(file, position))


GEMINI = HookClient(
    name="gemini",
    events={
        "SessionStart": When.START,
        "BeforeAgent": When.PROMPT,
        "AfterAgent": When.TURN,
        "PreCompress": When.WORK,  # called at every turn, whether or not it then compresses
        "SessionEnd": When.END,
    },
    read=_event,
    turns=read_turns,
    reply=usual_reply,
    instructions=frozenset({"GEMINI.md"}),
)
