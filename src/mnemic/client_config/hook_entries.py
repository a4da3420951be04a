"""Our entries in a client's file of hooks: added beside those of others, and taken out again."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from mnemic.client_config import jsonc
from mnemic.client_config.clients import HookFile

HOOKS = "hooks"
_OURS = re.compile(r"mnemic(?:\.exe)?[\"']? .*\bhook \w+ --client |mnemic(?:\.exe)?[\"']? hook \w+ --client ")


def command_line(system: str, command: str, client: str, event: str, flags: Sequence[str]) -> str:
    """What the client runs at *event*, in the words of the system's shell."""
    words = [command, "hook", event, "--client", client, *flags]
    return subprocess.list2cmdline(words) if system == "win32" else shlex.join(words)


def entry(hooks: HookFile, event: str, command: str) -> dict[str, Any]:
    """An entry that runs *command* at *event*, as the client writes it."""
    if not hooks.is_nested:
        return {"command": command}
    seconds = hooks.short_timeouts.get(event, hooks.timeout)
    timeout = {"timeout": seconds} if seconds else {}
    return {"hooks": [{"type": "command", "command": command, **timeout}]}


def with_entries(text: str, hooks: HookFile, wanted: Mapping[str, dict[str, Any]]) -> str:
    """*text* with these entries of ours, by event, and no others; entries of others stay."""
    if hooks.version is not None and _held(text).get("version") is None:
        text = jsonc.with_member(text, ("version",), hooks.version)
    for event in dict.fromkeys((*_by_event(text), *wanted)):
        entries = _by_event(text).get(event, [])
        others = [one for one in entries if not is_ours(one)]
        chosen = [*others, wanted[event]] if event in wanted else others
        if chosen != entries:
            text = jsonc.with_member(text, (HOOKS, event), chosen)
    return text


def without_entries(text: str, before: str | None) -> str:
    """*text* without our entries; lists that were not there *before* go too when they are empty."""
    for event, entries in _by_event(text).items():
        others = [one for one in entries if not is_ours(one)]
        if others == entries:
            continue
        if others or event in _by_event(before or ""):
            text = jsonc.with_member(text, (HOOKS, event), others)
        else:
            text = jsonc.without_member(text, (HOOKS, event))
    if before is None or HOOKS not in _held(text):
        return text
    if _held(text)[HOOKS] == {} and HOOKS not in _held(before):
        text = jsonc.without_member(text, (HOOKS,))
    return text if "version" in _held(before) else jsonc.without_member(text, ("version",))


def is_ours(one: Any) -> bool:
    """Whether an entry runs us."""
    if not isinstance(one, dict):
        return False
    commands = [one, *(one["hooks"] if isinstance(one.get("hooks"), list) else [])]
    return any(
        isinstance(each, dict) and isinstance(each.get("command"), str) and _OURS.search(each["command"])
        for each in commands
    )


def _held(text: str) -> dict[str, Any]:
    held = jsonc.read(text) if text.strip() else {}
    if not isinstance(held, dict):
        raise ValueError("the file is not an object")
    return held


def _by_event(text: str) -> dict[str, list[Any]]:
    held = _held(text).get(HOOKS, {})
    if not isinstance(held, dict):
        raise ValueError("hooks is not an object")
    if strange := [event for event, entries in held.items() if not isinstance(entries, list)]:
        return {event: entries for event, entries in held.items() if event not in strange}
    return dict(held)
