"""The transcripts of each client are read as turns: what was typed, and the last answer to it."""

from __future__ import annotations

from itertools import islice

import pytest
import transcripts

from mnemic.core.capture.conversation import Turn
from mnemic.hooks import HOOK_CLIENTS, When, transcript

SAID = [("Fix the parser", "The parser is fixed."), ("よくできました", "ありがとう")]
FORMS = {
    "claude-code": ("t.jsonl", transcripts.claude_code),
    "codex": ("t.jsonl", transcripts.codex),
    "cursor": ("t.jsonl", transcripts.cursor),
    "gemini": ("t.json", transcripts.gemini),
}


def read(client, file, position=0):
    return list(HOOK_CLIENTS[client].turns(file, position))


@pytest.mark.parametrize("client", FORMS)
def test_a_transcript_is_read_as_what_was_typed_and_last_answered(client, tmp_path):
    name, write = FORMS[client]
    turns = read(client, write(tmp_path / name, SAID))
    assert [(turn.user, turn.agent) for turn in turns] == SAID


@pytest.mark.parametrize("client", FORMS)
def test_reading_goes_on_where_it_stopped(client, tmp_path):
    name, write = FORMS[client]
    (first,) = read(client, write(tmp_path / name, SAID[:1]))
    later = read(client, write(tmp_path / name, SAID), first.position)
    assert [(turn.user, turn.agent) for turn in later] == SAID[1:]
    assert read(client, tmp_path / name, later[-1].position) == []


def test_a_rollout_without_events_is_read_by_its_items(tmp_path):
    turns = read("codex", transcripts.codex(tmp_path / "t.jsonl", SAID, has_events=False))
    assert [(turn.user, turn.agent) for turn in turns] == SAID


def test_a_transcript_of_gemini_may_be_lines(tmp_path):
    turns = read("gemini", transcripts.gemini(tmp_path / "t.jsonl", SAID))
    assert [(turn.user, turn.agent) for turn in turns] == SAID


@pytest.mark.parametrize("client", ["claude-code", "codex", "cursor"])
def test_a_broken_or_unfinished_line_is_passed_over(client, tmp_path):
    name, write = FORMS[client]
    file = write(tmp_path / name, SAID)
    file.write_bytes(b"{broken\n[1]\n" + file.read_bytes() + b'{"type": "user", "mess')
    assert [turn.user for turn in read(client, file)] == [user for user, _ in SAID]


@pytest.mark.parametrize("client", FORMS)
def test_half_an_emoji_stops_nothing(client, tmp_path):
    name, write = FORMS[client]
    file = write(tmp_path / name, [("Cut HALF", "\0Done")])
    file.write_bytes(file.read_bytes().replace(b"HALF", rb"\ud83d"))
    (turn,) = read(client, file)
    assert (turn.user, turn.agent) == ("Cut \ufffd", "\ufffdDone")
    event = HOOK_CLIENTS[client].read(When.PROMPT, {"session_id": "s", "prompt": "Cut \ud83d"})
    assert event.prompt == "Cut \ufffd"


def test_a_line_that_is_too_long_is_passed_over(tmp_path, monkeypatch):
    file = transcripts.claude_code(tmp_path / "t.jsonl", [*SAID, ("x" * 1_000, "y"), *SAID])
    monkeypatch.setattr(transcript, "LARGEST_LINE", 500)
    assert [turn.user for turn in read("claude-code", file)] == [user for user, _ in (*SAID, *SAID)]
    whole = file.read_bytes()
    file.write_bytes(whole[:-2])
    assert [turn.agent for turn in read("claude-code", file)][2:] == ["The parser is fixed.", "Let me look."]


def test_gemini_hands_over_the_turn_where_it_keeps_no_transcript():
    gemini = HOOK_CLIENTS["gemini"]
    payload = {"session_id": "s", "prompt": "Fix it", "prompt_response": "Fixed."}
    assert gemini.read(gemini.events["AfterAgent"], payload).turn == Turn("Fix it", "Fixed.")


@pytest.mark.parametrize(
    ("client", "word", "event"),
    [
        ("claude-code", "session-start", "SessionStart"),
        ("claude-code", "UserPromptSubmit", "UserPromptSubmit"),
        ("cursor", "SessionStart", "sessionStart"),
        ("gemini", "before_agent", "BeforeAgent"),
        ("codex", "Notification", None),
    ],
)
def test_an_event_is_found_however_it_is_written(client, word, event):
    assert HOOK_CLIENTS[client].event_named(word) == event


def test_a_message_about_tool_results_is_no_tool_result(tmp_path):
    said = 'Never print a "tool_result" here.'
    file = transcripts.claude_code(tmp_path / "t.jsonl", [(said, 'A "tool_result" is JSON.')])
    [turn] = HOOK_CLIENTS["claude-code"].turns(file, 0)
    assert (turn.user, turn.agent) == (said, 'A "tool_result" is JSON.')


@pytest.mark.parametrize("client", ["claude-code", "cursor"])
def test_a_long_transcript_is_read_no_further_than_wanted(tmp_path, client, monkeypatch):
    name, write = FORMS[client]
    file = write(tmp_path / name, [(f"Question {number}", f"Answer {number}") for number in range(50)])
    read_lines = []
    real = transcript.json.loads
    monkeypatch.setattr(transcript.json, "loads", lambda line: read_lines.append(line) or real(line))
    first = list(islice(HOOK_CLIENTS[client].turns(file, 0), 2))
    assert [(turn.user, turn.agent) for turn in first] == [
        ("Question 0", "Answer 0"),
        ("Question 1", "Answer 1"),
    ]
    assert 4 <= len(read_lines) < 20
    [third] = islice(HOOK_CLIENTS[client].turns(file, first[-1].position), 1)
    assert third.user == "Question 2"
