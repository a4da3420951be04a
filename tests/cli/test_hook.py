"""`mnemic hook` as coding agents call it: over two days, in two repositories, and when everything goes wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import transcripts
from local_daemon import until
from ollama_server import ollama_server

RULE = "Migrations are never edited; write a new one instead."


@pytest.fixture
def repositories(cli):
    """Two repositories, `widgets` and `gadgets`."""
    for name in ("widgets", "gadgets"):
        (cli.home / name / ".git").mkdir(parents=True)
        (cli.home / name / ".git" / "config").write_text("")
    return cli.home


def call(cli, event, folder, session="s1", client="claude-code", **fields):
    """The hook's answer: what the agent is given, or None."""
    payload = {"session_id": session, "cwd": str(folder), "hook_event_name": event, **fields}
    done = cli("hook", event, "--client", client, stdin=json.dumps(payload))
    assert done.code == 0 and done.err == ""
    if not done.out:
        return None
    held = json.loads(done.out)
    if client == "cursor":
        return held["additional_context"]
    assert held["hookSpecificOutput"]["hookEventName"] == event
    return held["hookSpecificOutput"]["additionalContext"]


def work(cli, folder, said, session="s1", reason="SessionEnd", **more):
    """A session in which this was said, recorded and ended."""
    file = transcripts.claude_code(cli.home / f"{session}.jsonl", said, session, str(folder))
    return call(cli, reason, folder, session, transcript_path=str(file), **more)


def log(cli):
    file = cli.home / "hooks.log"
    return file.read_text() if file.exists() else ""


def test_an_agent_is_not_given_what_its_own_instruction_file_says(cli, repositories):
    widgets = repositories / "widgets"
    (widgets / "CLAUDE.md").write_text("# Deploys\nWe deploy the widgets on Mondays.\n")
    assert cli("import", "--from", "markdown", str(widgets / "CLAUDE.md"), "--namespace", "widgets").code == 0
    asked = {"prompt": "When are the widgets deployed on Mondays?"}
    assert call(cli, "SessionStart", widgets, source="startup") is None
    assert call(cli, "UserPromptSubmit", widgets, **asked) is None
    assert "Mondays" in call(cli, "sessionStart", widgets, "s2", client="cursor")
    assert "Mondays" in call(cli, "UserPromptSubmit", widgets, "s3", client="codex", **asked)


def test_rules_that_claude_code_always_reads_are_not_repeated_to_it(cli, repositories):
    widgets = repositories / "widgets"
    (widgets / ".claude" / "rules").mkdir(parents=True)
    (widgets / ".claude" / "rules" / "deploy.md").write_text("We deploy the widgets on Mondays.\n")
    (widgets / ".claude" / "rules" / "sql.md").write_text(
        "---\npaths: ['*.sql']\n---\nMigrations are frozen.\n"
    )
    done = cli("import", "--from", "claude-code", str(widgets), "--namespace", "widgets")
    assert done.code == 0, done.err
    brief = call(cli, "SessionStart", widgets, source="startup")
    assert "Mondays" not in brief and "Migrations are frozen" in brief
    assert "Mondays" in call(cli, "SessionStart", widgets, "s3", client="codex")


def test_a_rule_explained_on_monday_is_known_on_tuesday_in_its_repository_alone(cli, repositories):
    widgets, gadgets = repositories / "widgets", repositories / "gadgets"
    assert call(cli, "SessionStart", widgets, source="startup") is None
    assert call(cli, "UserPromptSubmit", widgets, prompt="Fix the failing migration") is None
    said = [
        ("Fix the failing migration", "I changed migration 12."),
        (f"No! {RULE}", "Sorry. I wrote migration 13."),
        ("Again: migrations are never edited, write a new one instead.", "Understood."),
    ]
    assert work(cli, widgets, said) is None
    brief = call(cli, "SessionStart", widgets, "s2", source="startup")
    assert brief.count(RULE) >= 1 and "captured" in brief and "Where we were" in brief
    assert call(cli, "SessionStart", gadgets, "s3", source="startup") is None
    assert call(cli, "UserPromptSubmit", gadgets, "s3", prompt="May I edit migrations?") is None
    waiting = cli.json("--namespace", "widgets", "tidy", "review")["captured"]
    assert [one["text"] for one in waiting] == [RULE]
    turn = cli.json("--namespace", "widgets", "open", str(waiting[0]["id"]))["memories"][0]["links"][0]
    assert turn["type"] == "said_in"
    assert log(cli) == ""


def test_a_rejected_capture_does_not_come_back_and_a_corrected_one_stays(cli, repositories):
    folder, wrong = repositories / "widgets", "Always deploy on Fridays."
    work(cli, folder, [(RULE, "Yes."), (wrong, "Yes.")])
    ids = {
        one["text"]: str(one["id"])
        for one in cli.json("--namespace", "widgets", "tidy", "review")["captured"]
    }
    cli("forget", ids[wrong])
    cli("revise", ids[RULE], "--text", "Applied migrations are never edited.")
    assert cli("--namespace", "widgets", "tidy", "review").out == "Nothing captured waits for review.\n"
    work(cli, folder, [(wrong, "Yes.")], "s2")
    brief = call(cli, "SessionStart", folder, "s3")
    rules = brief.partition("Where we were")[0]
    assert "Applied migrations" in rules and wrong not in rules


def test_a_captured_memory_is_accepted(cli, repositories):
    work(cli, repositories / "widgets", [(RULE, "Yes.")])
    waiting = cli("--namespace", "widgets", "tidy", "review").out
    assert RULE in waiting and "accepts" in waiting
    number = waiting.split()[0]
    cli("--namespace", "widgets", "tidy", "review", number, "--apply")
    assert cli.json("open", number)["memories"][0]["confidence"] == 1
    assert RULE in call(cli, "SessionStart", repositories / "widgets", "s2")


def test_a_prompt_is_given_what_is_relevant_and_not_twice(cli, repositories):
    folder = repositories / "widgets"
    cli("--namespace", "widgets", "remember", "The staging database is called heron")
    asked = "What is the staging database called?"
    assert "heron" in call(cli, "UserPromptSubmit", folder, prompt=asked)
    assert call(cli, "UserPromptSubmit", folder, prompt=asked) is None
    assert call(cli, "UserPromptSubmit", folder, prompt="Write a poem about summer rain") is None


def test_turns_are_kept_as_they_come_and_once(cli, repositories):
    folder = repositories / "widgets"
    said = [("Fix the parser", "Fixed."), ("And the lexer", "Fixed too.")]
    for number in (1, 2, 2):
        work(cli, folder, said[:number], reason="Stop", stop_hook_active=False)
    work(cli, folder, said, reason="PreCompact", trigger="auto")
    kinds = [one["kind"] for one in cli.json("list", "-n", "widgets")["memories"]]
    assert sorted(kinds) == ["episode", "turn", "turn"]


@pytest.mark.parametrize(
    ("client", "events", "write", "name"),
    [
        ("codex", ("SessionStart", "Stop", "UserPromptSubmit"), transcripts.codex, "t.jsonl"),
        ("gemini", ("SessionStart", "AfterAgent", "BeforeAgent"), transcripts.gemini, "t.json"),
        ("cursor", ("sessionStart", "stop", "beforeSubmitPrompt"), transcripts.cursor, "t.jsonl"),
    ],
)
def test_each_client_captures_and_is_given_in_its_own_protocol(
    cli, repositories, client, events, write, name
):
    folder = repositories / "widgets"
    start, stop, prompt = events
    more = {"workspace_roots": [str(folder)], "conversation_id": "s1"} if client == "cursor" else {}
    file = write(cli.home / name, [(RULE, "Understood.")])
    assert call(cli, stop, folder, client=client, transcript_path=str(file), **more) is None
    more = {**more, "conversation_id": "s2"} if more else {}
    assert RULE in call(cli, start, folder, "s2", client=client, **more)
    more = {**more, "conversation_id": "s3"} if more else {}
    asked = "Can I change a migration that is edited?"
    assert RULE in call(cli, prompt, folder, "s3", client=client, prompt=asked, **more)


def test_a_prompt_of_cursor_is_let_through(cli, repositories):
    folder = repositories / "widgets"
    cli("--namespace", "widgets", "remember", "The staging database is called heron")
    payload = {"conversation_id": "s", "workspace_roots": [str(folder)], "prompt": "What is staging called?"}
    done = cli("hook", "beforeSubmitPrompt", "--client", "cursor", stdin=json.dumps(payload))
    held = json.loads(done.out)
    assert held["continue"] is True and "heron" in held["additional_context"]


def test_what_gemini_adds_to_a_prompt_is_not_searched_for(cli, repositories):
    folder = repositories / "widgets"
    cli("--namespace", "widgets", "remember", "The staging database is called heron")
    added = (
        "<hook_context>&lt;mnemic-memory&gt;\nstaging database heron\n&lt;/mnemic-memory&gt;</hook_context>"
    )
    prompt = f"{added}\n\nWrite a poem about summer rain"
    assert call(cli, "BeforeAgent", folder, client="gemini", prompt=prompt) is None


def turns_of(cli, folder):
    """The turns that were kept, oldest first."""
    found = cli.json("list", "-n", folder.name, "--kinds", "turn")["memories"]
    return [one["text"] for one in sorted(found, key=lambda one: one["id"])]


def test_an_answer_that_the_transcript_does_not_have_yet_is_kept(cli, repositories):
    folder, first = repositories / "widgets", "Why is the build slow?"

    def tell(event, said, **fields):
        file = transcripts.claude_code(cli.home / "t.jsonl", said, looks=False)
        call(cli, event, folder, transcript_path=str(file), **fields)

    tell("Stop", [(first, "")], last_assistant_message="The cache key has the date in it.")
    assert [first in turn and "the date in it" in turn for turn in turns_of(cli, folder)] == [True]
    tell("Stop", [(first, ""), ("Mend it", "")])
    assert len(turns_of(cli, folder)) == 1
    tell("Stop", [(first, ""), ("Mend it", "It is mended.")])
    assert len(turns_of(cli, folder)) == 2 and "It is mended" in turns_of(cli, folder)[1]


@pytest.mark.parametrize(
    ("client", "event", "more"),
    [
        ("claude-code", "SubagentStop", {"last_assistant_message": "A subagent's answer."}),
        ("claude-code", "PreCompact", {"trigger": "auto"}),
        ("gemini", "PreCompress", {"trigger": "auto"}),
    ],
)
def test_a_turn_in_which_the_agent_is_at_work_is_kept_when_it_is_over(cli, repositories, client, event, more):
    folder = repositories / "widgets"
    write = {"claude-code": transcripts.claude_code, "gemini": transcripts.gemini}[client]
    first = ("Fix the parser", "Fixed.")

    def tell(name, said, **fields):
        file = write(cli.home / "t.jsonl", said)
        call(cli, name, folder, client=client, transcript_path=str(file), **fields)

    tell(event, [first, ("Why is the build slow?", "I ask somebody.")], **more)
    assert len(turns_of(cli, folder)) == 1 and "Fixed." in turns_of(cli, folder)[0]
    tell("SessionEnd", [first, ("Why is the build slow?", "The date is in the cache key.")])
    assert len(turns_of(cli, folder)) == 2 and "the cache key" in turns_of(cli, folder)[1]
    assert "somebody" not in "".join(turns_of(cli, folder))


def test_no_agent_waits_for_the_language_model(cli, repositories):
    folder, is_over = repositories / "widgets", threading.Event()

    def says(prompt):
        assert is_over.wait(30) and "hunter2" not in prompt
        return "The parser was fixed."

    with ollama_server() as server:
        server.says = says
        for name, value in {"TIER": "smart", "OLLAMA_URL": server.url, "LLM_MODEL": "small"}.items():
            cli.patch.setenv(f"MNEMIC_{name}", value)
        work(cli, folder, [("Fix the parser, my password is hunter2", "Fixed.")])
        told = cli.json("list", "-n", "widgets", "--kinds", "episode")["memories"]
        assert told[0]["text"].startswith("Asked: Fix the parser")
        is_over.set()
        episodes = ("list", "-n", "widgets", "--kinds", "episode")
        until(lambda: "parser was fixed" in cli.json(*episodes)["memories"][0]["text"])
        done = cli("--namespace", "widgets", "capture", "summarise")
        assert (done.code, done.out) == (0, "0 summaries written.\n")
        assert len(server.prompts) == 1
    assert log(cli) == ""


def test_gemini_s_notice_before_every_turn_makes_no_episode(cli, repositories):
    folder = repositories / "widgets"
    file = transcripts.gemini(cli.home / "t.jsonl", [("Fix the parser", "Fixed.")])
    for event in ("PreCompress", "AfterAgent", "PreCompress"):
        call(cli, event, folder, client="gemini", transcript_path=str(file), trigger="auto")
    assert [one["kind"] for one in cli.json("list", "-n", "widgets")["memories"]] == ["turn"]


def test_a_session_without_a_prompt_has_no_transcript(cli, repositories):
    folder = repositories / "widgets"
    for event in ("Stop", "SessionEnd"):
        assert call(cli, event, folder, transcript_path=str(cli.home / "none.jsonl"), reason="other") is None
    assert log(cli) == ""


def test_a_resumed_session_is_briefed_on_news_only(cli, repositories):
    folder = repositories / "widgets"
    work(cli, folder, [(RULE, "Yes.")])
    assert RULE in call(cli, "SessionStart", folder, "s2", source="startup")
    assert call(cli, "SessionStart", folder, "s2", source="resume") is None
    work(cli, folder, [("From now on run make check first.", "Yes.")], "s3")
    brief = call(cli, "SessionStart", folder, "s2", source="resume")
    assert "make check" in brief and RULE not in brief
    assert RULE in call(cli, "SessionStart", folder, "s2", source="clear")


def test_a_rule_that_is_to_be_remembered_is_a_rule_and_a_fact_is_briefed_too(cli, repositories):
    folder = repositories / "widgets"
    said = "Remember: we never edit migrations. Remember that staging is called heron."
    work(cli, folder, [(said, "Yes.")])
    brief = call(cli, "SessionStart", folder, "s2")
    assert brief.index("Rules:") < brief.index("we never edit migrations") < brief.index("Where we were")
    assert "heron" in brief.partition("Facts:")[2]


@pytest.mark.parametrize(
    "setting", [{"MNEMIC_CAPTURE": "false"}, {"MNEMIC_CAPTURE_EXCLUDE": "widg*"}, "folder"]
)
def test_nothing_is_captured_where_settings_forbid_it(cli, repositories, setting):
    folder = repositories / "widgets"
    given = {"MNEMIC_CAPTURE_EXCLUDE": str(folder)} if setting == "folder" else setting
    for name, value in given.items():
        cli.patch.setenv(name, value)
    work(cli, folder, [(RULE, "Yes.")])
    assert cli.json("list", "-n", "*")["memories"] == []


def test_nothing_is_captured_while_it_is_paused(cli, repositories):
    folder = repositories / "widgets"
    assert "paused" in cli("capture", "pause", "--for", "2h").out
    work(cli, folder, [(RULE, "Yes.")])
    assert cli.json("list", "-n", "*")["memories"] == []
    told = cli("capture", "pause", "--for", "2h").out
    assert re.fullmatch(r"Capture is paused until \d{4}-\d\d-\d\d \d\d:\d\d \w+\.\n", told), told
    assert cli("capture", "resume").out == "Capture is on.\n"
    assert cli.json("capture", "status") == {"on": True, "paused": False, "exclude": []}
    work(cli, folder, [(RULE, "Yes.")], session="s2")
    assert len(cli.json("list", "-n", "*")["memories"]) == 3


@pytest.mark.parametrize("way", ["pause", "setting"])
@pytest.mark.parametrize("event", ["Stop", "PreCompact", "SessionEnd"])
def test_what_was_said_in_a_pause_is_not_caught_up_with(cli, repositories, way, event):
    """The transcript of the session still holds it."""
    folder = repositories / "widgets"
    said = [("Fix the parser", "Fixed."), ("Remember that I leave in May, never tell my boss", "I will not.")]
    work(cli, folder, said[:1], reason="Stop")
    if way == "pause":
        cli("capture", "pause")
    else:
        cli.patch.setenv("MNEMIC_CAPTURE", "false")
    work(cli, folder, said, reason=event)
    if way == "pause":
        cli("capture", "resume")
    else:
        cli.patch.delenv("MNEMIC_CAPTURE")
    work(cli, folder, [*said, ("And the lexer", "Fixed too.")], reason=event)
    kept = "\n".join(one["text"] for one in cli.json("list", "-n", "*")["memories"])
    assert "parser" in kept and "lexer" in kept and "May" not in kept


def test_an_agent_is_not_given_what_it_was_told_in_this_session(cli, repositories):
    folder = repositories / "widgets"
    work(cli, folder, [(RULE, "Yes.")], reason="Stop")
    asked = "Which rule about migrations is to be kept?"
    assert call(cli, "UserPromptSubmit", folder, prompt=asked) is None
    assert RULE in call(cli, "UserPromptSubmit", folder, session="s2", prompt=asked)


def test_a_turn_is_not_given_for_a_statement_that_was_given(cli, repositories):
    folder = repositories / "widgets"
    work(cli, folder, [(RULE, "Yes.")])
    assert RULE in call(cli, "SessionStart", folder, session="s2", source="startup")
    asked = "Which rule about migrations is to be kept?"
    assert call(cli, "UserPromptSubmit", folder, session="s2", prompt=asked) is None


def test_nothing_is_captured_outside_a_repository(cli):
    folder = cli.home / "elsewhere"
    folder.mkdir()
    work(cli, folder, [(RULE, "Yes.")])
    assert cli.json("list", "-n", "*")["memories"] == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_a_hook_without_standard_input_ends_well(cli):
    line = f"exec {sys.executable} -m mnemic hook Stop <&-"
    done = subprocess.run(["sh", "-c", line], capture_output=True, env=cli.environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("words", "stdin", "told"),
    [
        (["SessionStart"], "{broken", "not JSON"),
        (["SessionStart"], "[]", "not a JSON object"),
        (["SessionStart"], "", "not JSON"),
        (["Nonsense"], "{}", "no such client or event"),
        (["SessionStart", "--client", "emacs"], "{}", "no such client or event"),
        (["SessionStart", "--strange"], "{", "not JSON"),
        ([], "{}", "no such client or event"),
    ],
)
def test_whatever_goes_wrong_the_agent_is_not_disturbed(cli, repositories, words, stdin, told):
    done = cli("hook", *words, stdin=stdin.replace("REPO", str(repositories / "widgets")))
    assert (done.code, done.out, done.err) == (0, "", "")
    assert told in log(cli) and log(cli).count("\n") == 1


def test_an_unusable_database_or_setting_does_not_disturb_the_agent(cli, repositories):
    (cli.home / "memory.db").write_text("no database at all, but long enough to be read as one" * 100)
    assert call(cli, "SessionStart", repositories / "widgets") is None
    assert log(cli).count("\n") == 1
    config = cli.home / "config.toml"
    config.write_text("= broken")
    done = cli("hook", "SessionStart", stdin="{}", MNEMIC_CONFIG=str(config))
    assert (done.code, done.out, done.err) == (0, "", "")


def test_an_agent_is_not_kept_waiting(cli, repositories, monkeypatch):
    from mnemic.cli.commands import hook

    monkeypatch.setattr(hook, "SECONDS", dict.fromkeys(hook.SECONDS, 0.05))
    monkeypatch.setattr(hook, "_answer", lambda *_: time.sleep(0.5) or "late")
    began = time.monotonic()
    assert call(cli, "SessionStart", repositories / "widgets") is None
    assert time.monotonic() - began < 0.4 and "gave up" in log(cli)


def test_the_log_is_bounded(cli):
    file = Path(cli.home / "hooks.log")
    file.write_text("an old line\n" * 40_000)
    cli("hook", "Nonsense", stdin="{}")
    assert file.stat().st_size < 200_000 and "no such client" in file.read_text()


def test_a_long_transcript_is_caught_up_with_turn_by_turn_and_whole_at_the_end(cli, repositories):
    folder = repositories / "widgets"
    said = [(f"Fix parser {number}", "Fixed.") for number in range(60)]
    for kept in (5, 10):
        work(cli, folder, said, reason="Stop")
        assert len(cli.json("list", "-n", "widgets", "--limit", "100")["memories"]) == kept
    work(cli, folder, said)
    kinds = [one["kind"] for one in cli.json("list", "-n", "widgets", "--limit", "100")["memories"]]
    assert kinds.count("turn") == 60 and kinds.count("episode") == 1
