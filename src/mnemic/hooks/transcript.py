"""Reading of transcripts: lines of JSON from a position on, and messages put together to turns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnemic.core.capture.conversation import Turn

LARGEST_LINE = 20_000_000
INJECTED = "mnemic-memory"
"""The element that our own text is marked with, so that it is not captured again."""
_ADDED = re.compile(
    r"<(system-reminder|local-command-\w+|command-\w+|ide_\w+|task-notification|user-prompt-submit-hook"
    r"|environment_context|user_instructions|hook_context|" + INJECTED + r")\b[^>]*>.*?</\1>",
    re.DOTALL,
)
_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class TranscriptMessage:
    """What one side said, and where in the transcript it ends."""

    is_user: bool
    text: str
    position: int


def lines(
    file: Path, position: int, is_passed_over: Callable[[bytes], bool] = lambda line: False
) -> Iterator[tuple[Mapping[str, Any], int]]:
    """The JSON objects on the lines of *file* beyond *position*, each with the position behind it.

    A line that *is_passed_over* is not parsed: most of a transcript is what tools printed.
    """
    with file.open("rb") as stream:
        stream.seek(position)
        while line := stream.readline(LARGEST_LINE):
            position += len(line)
            is_cut = False
            while len(line) == LARGEST_LINE and not line.endswith(b"\n"):
                line, is_cut = stream.readline(LARGEST_LINE), True
                position += len(line)
            if not line.endswith(b"\n"):
                return  # it is being written
            if is_cut or is_passed_over(line):
                continue
            try:
                held = json.loads(line)
            except ValueError:
                continue
            if isinstance(held, dict):
                yield held, position


def text_of(content: object) -> str:
    """The text of a message's content: a string, or a list of blocks of which those of text count."""
    if isinstance(content, str):
        return storable(content)
    if not isinstance(content, list):
        return ""
    blocks = (block for block in content if isinstance(block, dict))
    texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
    return storable("\n".join(texts))


def storable(text: str) -> str:
    """*text* with a mark for each invalid character: clients cut texts in the middle of an emoji."""
    return _NO_CHARACTER.sub("\ufffd", text)


def said(text: str) -> str:
    """What a person typed: *text* without what clients and hooks add to it."""
    return _ADDED.sub("", text).strip()


def turns(messages: Iterable[TranscriptMessage]) -> Iterator[Turn]:
    """*messages* as turns: what a person said, and the last thing the agent said to it."""
    turn: Turn | None = None
    for message in messages:
        if message.is_user:
            if turn is not None:
                yield turn
            turn = Turn(message.text, "", message.position)
        elif turn is not None:
            turn = Turn(turn.user, message.text, message.position)
    if turn is not None:
        yield turn
