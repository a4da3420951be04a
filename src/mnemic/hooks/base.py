"""What all hook protocols share: moments of a session, the event as we see it, and how a client is described."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from mnemic.core.capture.conversation import Turn
from mnemic.hooks.transcript import said, storable


class When(StrEnum):
    """The moments of a session that hooks tell of."""

    START = "start"
    PROMPT = "prompt"
    WORK = "work"
    """A part of the work is done, such as a subagent's; the agent goes on."""
    TURN = "turn"
    """The agent has answered."""
    COMPACT = "compact"
    """The client is about to shorten the conversation."""
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """One call of a hook, in our words."""

    when: When
    session: str
    folder: Path | None = None
    prompt: str = ""
    transcript: Path | None = None
    turn: Turn | None = None
    """The turn that has just ended, where the client hands it over itself."""
    answer: str = ""
    """What the agent has just answered, where the client hands it over. Its transcript may be behind."""
    is_at_work: bool = False
    """Whether the agent has not answered the last prompt yet."""
    resumes: bool = False
    """Whether a session starts that goes on with an earlier one, whose conversation the agent still has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookClient:
    """The hook protocol of one client."""

    name: str
    events: Mapping[str, When]
    """The client's events that we answer."""
    read: Callable[[When, Mapping[str, Any]], HookEvent]
    """The event that the JSON on standard input tells of."""
    turns: Callable[[Path, int], Iterable[Turn]]
    """The turns of a transcript beyond a position, read as far as they are wanted."""
    reply: Callable[[str, str], Mapping[str, Any]]
    """The JSON on standard output that hands a text to the agent, for an event of this name."""
    instructions: frozenset[str] = frozenset()
    """The names of the files, and folders with a slash behind them, that the client gives to its agent itself."""

    def event_named(self, word: str) -> str | None:
        """The client's name of the event called *word*, however that is written; None if it is not ours."""
        wanted = _plain(word)
        return next((name for name in self.events if _plain(name) == wanted), None)


def _plain(word: str) -> str:
    return word.replace("-", "").replace("_", "").lower()


def text_field(payload: Mapping[str, Any], *names: str) -> str:
    """The first of these fields of *payload* that is a text and not empty."""
    found = (payload.get(name) for name in names)
    return next((storable(value) for value in found if isinstance(value, str) and value), "")


def path_field(payload: Mapping[str, Any], *names: str) -> Path | None:
    """The first of these fields as a path, or None."""
    text = text_field(payload, *names)
    return Path(text).expanduser() if text else None


def usual_event(when: When, payload: Mapping[str, Any]) -> HookEvent:
    """The event of a client that names its fields as Claude Code does."""
    return HookEvent(
        when=when,
        session=text_field(payload, "session_id"),
        folder=path_field(payload, "cwd"),
        prompt=said(text_field(payload, "prompt")),
        transcript=path_field(payload, "transcript_path"),
        answer=text_field(payload, "last_assistant_message") if when is When.TURN else "",
        is_at_work=when is When.WORK or (when is When.COMPACT and payload.get("trigger") == "auto"),
        resumes=payload.get("source") == "resume",
    )


def usual_reply(event: str, text: str) -> dict[str, Any]:
    """The answer to a client that takes context as Claude Code does."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
