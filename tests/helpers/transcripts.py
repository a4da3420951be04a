"""Conversations as the clients record them, line by line in their own formats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Said = tuple[str, str]
"""What the user said and what the agent answered."""


def claude_code(
    file: Path, said: Sequence[Said], session: str = "s1", folder: str = "/work", *, looks: bool = True
) -> Path:
    """A transcript of Claude Code with tool calls, thinking, notices and a subagent between what was said.

    Unless it *looks*, the agent says nothing before its answer.
    """
    common = {
        "isSidechain": False,
        "userType": "external",
        "cwd": folder,
        "sessionId": session,
        "version": "2.1.12",
        "gitBranch": "main",
    }
    entries: list[dict[str, Any]] = [
        {"type": "summary", "summary": "Always a summary of before", "leafUuid": "l0"},
        {"type": "file-history-snapshot", "messageId": "m0", "snapshot": {}, "isSnapshotUpdate": False},
        _user(common, "Caveat: always ignore the messages below.", isMeta=True),
        _user(common, "<command-name>/clear</command-name>\n<command-args></command-args>"),
    ]
    for number, (user, agent) in enumerate(said):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "make check"}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "never edit this file\nok"}
        entries += [
            _user(common, f"{user}\n<system-reminder>Always check the todo list.</system-reminder>"),
            _assistant(common, [{"type": "thinking", "thinking": "We decided to think.", "signature": "x"}]),
            _assistant(common, [{"type": "text", "text": "Let me look." if looks else ""}]),
            _assistant(common, [call]),
            _user(common, [result], toolUseResult={"stdout": "never edit this file"}),
            _user({**common, "isSidechain": True, "agentId": "a1"}, "Always answer in one line."),
            _assistant(common, [{"type": "text", "text": agent}]),
        ]
    return _lines(file, entries)


def _user(common: dict[str, Any], content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": content}
    return {"type": "user", "parentUuid": None, **common, "message": message, "uuid": "u", **more}


def _assistant(common: dict[str, Any], content: list[dict[str, Any]]) -> dict[str, Any]:
    message = {"model": "claude", "id": "msg_1", "type": "message", "role": "assistant", "content": content}
    return {"type": "assistant", "parentUuid": "u", **common, "message": message, "requestId": "req_1"}


def codex(file: Path, said: Sequence[Said], *, has_events: bool = True) -> Path:
    """A rollout of Codex; some versions write the model's items alone."""
    context = "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>"
    entries: list[dict[str, Any]] = [
        _entry(
            "session_meta", {"id": "s1", "cwd": "/work", "originator": "codex_cli", "cli_version": "0.140.0"}
        ),
        _entry("response_item", _item("user", "input_text", context)),
        _entry("turn_context", {"cwd": "/work", "model": "gpt-5-codex"}),
    ]
    for user, agent in said:
        entries.append(_entry("response_item", _item("user", "input_text", user)))
        if has_events:
            entries.append(_entry("event_msg", {"type": "user_message", "message": user, "kind": "plain"}))
        call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"}
        entries += [
            _entry("event_msg", {"type": "agent_reasoning", "text": "We decided to think."}),
            _entry("response_item", call),
            _entry(
                "response_item", {"type": "function_call_output", "call_id": "c1", "output": "never do it"}
            ),
        ]
        if has_events:
            entries.append(_entry("event_msg", {"type": "agent_message", "message": agent}))
        entries.append(_entry("response_item", _item("assistant", "output_text", agent)))
    return _lines(file, entries)


def _entry(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": "2026-10-29T00:59:38.317Z", "type": kind, "payload": payload}


def _item(role: str, kind: str, text: str) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def cursor(file: Path, said: Sequence[Said]) -> Path:
    """A transcript of Cursor."""
    entries = []
    for user, agent in said:
        typed = f"<open_files>never.py</open_files>\n<user_query>\n{user}\n</user_query>"
        entries.append({"role": "user", "message": {"content": [{"type": "text", "text": typed}]}})
        entries.append({"role": "assistant", "message": {"content": [{"type": "text", "text": agent}]}})
    return _lines(file, entries)


def gemini(file: Path, said: Sequence[Said]) -> Path:
    """A transcript of Gemini CLI: one document, or lines if the file is called so."""
    messages: list[dict[str, Any]] = [{"id": "0", "type": "info", "content": "Always update."}]
    for user, agent in said:
        messages.append({"id": "1", "timestamp": "2026-10-18T14:57:28.974Z", "type": "user", "content": user})
        messages.append(
            {"id": "2", "type": "gemini", "content": [{"text": agent}], "thoughts": [], "toolCalls": []}
        )
    if file.suffix == ".jsonl":
        return _lines(file, messages)
    held = {
        "sessionId": "s1",
        "projectHash": "79b6",
        "startTime": "",
        "lastUpdated": "",
        "messages": messages,
    }
    file.write_text(json.dumps(held, indent=2))
    return file


def _lines(file: Path, entries: Sequence[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries))
    return file
