"""Conversations as Claude, ChatGPT and Slack export them.

Reading continues after a fault: a broken conversation comes out as Broken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import orjson

from mnemic.errors import MnemicError
from mnemic.model.time import LATEST, SECOND, Moment
from mnemic.transfer.document_entry import CONTROL
from mnemic.transfer.downloaded_export import Files

MILLISECONDS_FROM = 1e11
"""A larger number cannot be seconds: that would be the year 5138."""
# Claude and ChatGPT call the file so; ChatGPT numbers the parts of a large one.
_CONVERSATIONS = re.compile(r"(?:.*/)?conversations(?:[-_]\d+)?\.jsonl?")
# What else lies in their exports.
_OTHERS = frozenset(
    "users projects memories user user_settings message_feedback shared_conversations model_comparisons "
    "group_chats shopping sora export_manifest".split()
)
_DAY = re.compile(r"(?:.*/)?([^/]+)/\d{4}-\d\d-\d\d\.json")
_MENTION = re.compile(r"<@([A-Z0-9]+)(?:\|([^>]*))?>")
_HAPPENINGS = re.compile(r"(?:channel|group)_.+|bot_(?:add|remove)|reminder_add|pinned_item|tombstone")
"""Kinds of Slack messages that nobody wrote: who joined, what the channel is called now."""


class ExportForm(StrEnum):
    """Where an export comes from."""

    CLAUDE = "claude"
    CHATGPT = "chatgpt"
    SLACK = "slack"


@dataclass(frozen=True, slots=True)
class Message:
    """What someone said."""

    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What was said, in order, with the id it has where it comes from."""

    id: str
    title: str
    created_at: Moment | None
    messages: tuple[Message, ...]
    attachments: int = 0
    """How many files were attached, which an export only names."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A conversation that cannot be read: where, and why."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


Found = Conversation | Broken


def read(form: ExportForm, files: Files) -> Iterator[Found]:
    """The conversations of an export."""
    found = (
        _slack(files)
        if form is ExportForm.SLACK
        else _chats(files, _claude if form is ExportForm.CLAUDE else _chatgpt)
    )
    if not files:
        yield Broken("the export", "there is no JSON in it")
    yield from found


def _chats(files: Files, parse: Callable[[Mapping[str, Any]], Conversation]) -> Iterator[Found]:
    for name in _holding_conversations(files):
        for where, entry in _entries(files, name):
            yield entry if isinstance(entry, Broken) else _parsed(parse, where, entry)


def _holding_conversations(files: Files) -> list[str]:
    """The files to look into: those called so, else all that are not known to hold something else."""
    if len(files) == 1:
        return list(files)
    called = [name for name in files if _CONVERSATIONS.fullmatch(name)]
    return called or [name for name in files if _stem(name) not in _OTHERS]


def _stem(name: str) -> str:
    return name.rpartition("/")[2].partition(".")[0]


def _parsed(parse: Callable[[Mapping[str, Any]], Conversation], where: str, entry: Any) -> Found:
    if not isinstance(entry, dict):
        return Broken(where, "not a conversation")
    try:
        return parse(entry)
    except (AttributeError, KeyError, TypeError, ValueError):
        return Broken(where, "not a conversation as this format has it")


# -- JSON, whole or in lines


def _entries(files: Files, name: str) -> Iterator[tuple[str, Any]]:
    """The objects of a file with their positions: of an array, one per line, or the only one."""
    try:
        data = files[name]().removeprefix(b"\xef\xbb\xbf")
    except (MnemicError, OSError) as error:
        yield name, Broken(name, str(error))
        return
    try:
        content = _loaded(data)
    except ValueError:
        yield from _lines(name, data)
        return
    if isinstance(content, dict) and isinstance(content.get("conversations"), list):
        content = content["conversations"]
    entries = content if isinstance(content, list) else [content]
    for place, entry in enumerate(entries, 1):
        yield f"{name}, entry {place}", entry


def _lines(name: str, data: bytes) -> Iterator[tuple[str, Any]]:
    flaws: list[Broken] = []
    has_any = False
    for number, line in enumerate(data.splitlines(), 1):
        where = f"{name}, line {number}"
        try:
            if line.strip():
                yield where, _loaded(line)
                has_any = True
        except ValueError:
            flaws.append(Broken(where, "not JSON"))
    for flaw in flaws if has_any else [Broken(name, "not JSON")]:
        yield flaw.where, flaw


def _loaded(data: bytes) -> Any:
    """*data* as JSON, half characters included, which exports have and orjson refuses."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("too deep") from None


# -- Claude


def _claude(entry: Mapping[str, Any]) -> Conversation:
    if "mapping" in entry:
        return _chatgpt(entry)
    said = entry["chat_messages"] if "chat_messages" in entry else entry["messages"]
    messages = [
        Message(_role(message.get("sender") or message.get("role")), _claude_text(message))
        for message in said
    ]
    times = [entry.get("created_at"), *(m.get("created_at") or m.get("timestamp") for m in said[:1])]
    return _conversation(
        entry.get("uuid") or entry.get("id"),
        entry.get("name") or entry.get("title"),
        times,
        messages,
        sum(_listed(message, "attachments", "files", "files_v2") for message in said),
    )


def _claude_text(message: Mapping[str, Any]) -> str:
    return _text(message.get("text")) or _text(message.get("content"))


def _role(role: Any) -> str:
    return {"human": "user"}.get(role, _line(role)) if isinstance(role, str) and role else "unknown"


def _text(content: Any) -> str:
    """The text of a message's content: a string, or parts of which some have text."""
    if isinstance(content, str):
        return _clean(content)
    parts = content if isinstance(content, list) else ()
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(_clean(text) for text in texts if isinstance(text, str) and text.strip())


def _clean(text: str) -> str:
    """*text* without what a memory may not hold: control characters and half characters."""
    return CONTROL.sub("", text).encode(errors="replace").decode().strip()


def _line(text: str) -> str:
    """*text* as a single line."""
    return " ".join(_clean(text).split())


# -- ChatGPT


def _chatgpt(entry: Mapping[str, Any]) -> Conversation:
    nodes: Mapping[str, Any] = entry["mapping"]
    said = [node["message"] for node in _branch(nodes, entry.get("current_node")) if node.get("message")]
    shown = [message for message in said if _is_shown(message)]
    messages = [
        Message(_role(message["author"].get("role")), _text((message.get("content") or {}).get("parts")))
        for message in shown
    ]
    number = entry.get("id") or entry.get("conversation_id") or entry.get("uuid")
    times = [entry.get("create_time") or entry.get("created_at"), *(m.get("create_time") for m in shown[:1])]
    attached = sum(map(_attached_to_chatgpt, shown))
    return _conversation(number, entry.get("title") or entry.get("name"), times, messages, attached)


def _attached_to_chatgpt(message: Mapping[str, Any]) -> int:
    """How many files or pictures go with a message; a picture is a part of it that is no text."""
    parts = (message.get("content") or {}).get("parts")
    pictures = sum(isinstance(part, dict) and "asset_pointer" in part for part in parts or ())
    return max(_listed(message.get("metadata"), "attachments"), pictures)


def _branch(nodes: Mapping[str, Any], current: Any) -> list[Mapping[str, Any]]:
    """The nodes that lead to the *current* one; if that is unknown, all of them by time."""
    path: dict[str, Mapping[str, Any]] = {}
    while isinstance(current, str) and current in nodes and current not in path:
        path[current] = nodes[current]
        current = nodes[current].get("parent")
    return list(path.values())[::-1] or sorted(nodes.values(), key=_time_of)


def _time_of(node: Mapping[str, Any]) -> float:
    time = (node.get("message") or {}).get("create_time")
    return float(time) if isinstance(time, (int, float)) else 0.0


def _is_shown(message: Mapping[str, Any]) -> bool:
    hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
    return message["author"].get("role") != "system" and not hidden


# -- Slack


def _slack(files: Files) -> Iterator[Found]:
    """A conversation for each channel, which is a folder with a file for each day."""
    names: dict[str, str] = {}
    channels: dict[str, list[str]] = {}
    for name in files:
        day = _DAY.fullmatch(name)
        if day or len(files) == 1:
            channels.setdefault(day[1] if day else _stem(name), []).append(name)
        elif _stem(name) == "users":
            names |= _people(entry for _, entry in _entries(files, name))
    for channel, days in channels.items():
        yield from _channel(files, channel, days, names)


def _channel(files: Files, channel: str, days: Sequence[str], names: Mapping[str, str]) -> Iterator[Found]:
    said: list[Mapping[str, Any]] = []
    for where, entry in (found for name in days for found in _entries(files, name)):
        if isinstance(entry, Broken):
            yield entry
        elif not isinstance(entry, dict):
            yield Broken(where, "not a message")
        elif _is_said(entry):
            said.append(entry)
    said.sort(key=_thread_order)
    messages = [Message(_speaker(entry, names), _slack_text(entry, names)) for entry in said]
    attached = sum(_listed(entry, "files") for entry in said)
    yield _conversation(channel, f"#{channel}", [entry.get("ts") for entry in said[:1]], messages, attached)


def _people(entries: Iterable[Any]) -> dict[str, str]:
    known = (entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str))
    return {entry["id"]: _named(entry) for entry in known}


def _named(person: Mapping[str, Any]) -> str:
    profile = person.get("profile") or {}
    names = (
        profile.get("display_name"),
        person.get("real_name"),
        profile.get("real_name"),
        person.get("name"),
    )
    return next(
        (_line(name) for name in names if isinstance(name, str) and name), _line(str(person.get("id")))
    )


def _is_said(entry: Mapping[str, Any]) -> bool:
    return entry.get("type", "message") == "message" and not _HAPPENINGS.fullmatch(
        str(entry.get("subtype", ""))
    )


def _thread_order(entry: Mapping[str, Any]) -> tuple[float, float]:
    """By time, with the answers in a thread behind what they answer."""
    at = _seconds(entry.get("ts")) or 0.0
    return _seconds(entry.get("thread_ts")) or at, at


def _speaker(entry: Mapping[str, Any], names: Mapping[str, str]) -> str:
    number, profile = entry.get("user"), entry.get("user_profile")
    if isinstance(number, str) and number in names:
        return names[number]
    if isinstance(profile, dict) and profile:
        return _named({**profile, "profile": profile, "id": number})
    return _line(str(entry.get("username") or number or entry.get("bot_id") or "unknown"))


def _slack_text(entry: Mapping[str, Any], names: Mapping[str, str]) -> str:
    plain = _MENTION.sub(
        lambda found: f"@{names.get(found[1]) or found[2] or found[1]}", _text(entry.get("text"))
    )
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


# -- what they have in common


def _listed(content: Any, *names: str) -> int:
    """How many items stand in the longest of the lists of these *names*; exports name one file in several."""
    lists = [content.get(name) for name in names] if isinstance(content, dict) else []
    return max((len(items) for items in lists if isinstance(items, list)), default=0)


def _conversation(
    id: Any, title: Any, times: Iterable[Any], messages: Iterable[Message], attachments: int = 0
) -> Conversation:
    said = tuple(message for message in messages if message.text)
    moments = (_moment(time) for time in times)
    return Conversation(
        id=str(id or ""),
        title=_line(title) if isinstance(title, str) else "",
        created_at=next((moment for moment in moments if moment), None),
        messages=said,
        attachments=attachments,
    )


def _moment(time: Any) -> Moment | None:
    """The moment that *time* means: seconds or milliseconds since 1970, or ISO 8601."""
    seconds = _seconds(time)
    if seconds is None and isinstance(time, str):
        try:
            stamp = datetime.fromisoformat(time.strip())
            seconds = (stamp if stamp.tzinfo else stamp.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    if seconds is None:
        return None
    moment = round(seconds * SECOND)
    return moment if 0 < moment <= LATEST else None


def _seconds(time: Any) -> float | None:
    if isinstance(time, bool):
        return None
    try:
        seconds = float(time)
    except (TypeError, ValueError, OverflowError):
        return None
    if not abs(seconds) < 1e15:
        return None
    return seconds / 1000 if seconds > MILLISECONDS_FROM else seconds
