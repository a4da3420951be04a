"""The program around the commands: options, help, exit codes, lightness, and how every failure ends."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import time

import click
import pytest
from loaded_modules import every_module, loaded

from mnemic.app import DIALECTS, dialect
from mnemic.cli.command_index import listed
from mnemic.cli.program import OWN, program
from mnemic.console.failure import exit_code
from mnemic.errors import Busy, Conflict, Denied, Duplicate, Invalid, NotFound, StoreUnusable, Unavailable

NATIVE = "mnemic.dialects.native"


@pytest.mark.parametrize(
    "words", [["--version"], ["--help"], ["completions", "bash"], ["install", "cursor", "--dry-run"]]
)
def test_commands_without_a_store_import_no_heavy_modules(cli, words):
    assert loaded(cli, *words) == set()


def test_commands_that_need_no_model_load_none(cli):
    assert loaded(cli, "remember", "one fact", MNEMIC_EMBEDDER="local") <= {"pydantic"}


@pytest.mark.parametrize("words", [["stats"], ["list"]])
def test_counting_and_listing_load_neither_searching_nor_writing(cli, words):
    found = every_module(cli, *words)
    assert "mnemic.storage.sqlite.store" in found
    assert not {"numpy", "mnemic.core.memories", "mnemic.core.recall"} & found


@pytest.mark.parametrize("words", [["remember", "fact"], ["verify", "fact"], ["session", "resume"]])
def test_a_command_loads_the_part_that_declares_it_and_no_other(cli, words):
    shared = {f"{NATIVE}.{name}" for name in ("types", "as_of", "dialect")}
    found = {name for name in every_module(cli, *words) if name.startswith(f"{NATIVE}.")}
    assert found - shared == {f"{NATIVE}.{listed()[words[0]].part}"}


def test_verifying_a_claim_loads_nothing_that_merges_or_splits(cli):
    assert not {"mnemic.core.maintenance.merge", "mnemic.core.maintenance.split"} & every_module(
        cli, "verify", "a claim"
    )


def test_carrying_memories_loads_nothing_heavy(cli):
    cli("remember", "one fact", "--db", "other.db")
    cli("export", "--db", "other.db", "-o", "facts.json")
    for words in (["import", "facts.json"], ["export"], ["sync", "other.db"]):
        assert loaded(cli, *words) == set()


def test_moving_from_and_to_other_systems_loads_nothing_heavy(cli):
    cli("remember", "one fact")
    for system in ("anthropic", "ai-memory", "lorekeeper"):
        assert loaded(cli, "export", "--to", system, "-o", "out") == set()
        assert loaded(cli, "import", "--from", system, "out") == set()


def test_version_is_the_package_s(cli):
    from mnemic import __version__

    assert cli("--version").out == f"mnemic {__version__}\n"


def test_help_lists_every_command_once(cli):
    done = cli("--help")
    names = [name for rows in program().rows().values() for name, _ in rows]
    assert done.code == 0 and len(names) == len(set(names))
    for name in names:
        assert f"\n  {name} " in done.out, name


def test_the_operation_list_matches_the_dialect_declarations():
    declared = {}
    for name in DIALECTS:
        known = dialect(name)
        for operation in (*known.operations.values(), *known.commands.values()):
            if operation.cli:
                declared.setdefault(
                    operation.cli, (name, operation.about or operation.description.partition("\n")[0])
                )
    assert {item.name: (item.dialect, item.text) for item in listed().values()} == declared


def test_every_command_can_be_built_and_matches_its_table_entry():
    cli = program()
    ctx = click.Context(cli, info_name="mnemic")
    for name in cli.list_commands(ctx):
        command = cli.get_command(ctx, name)
        assert command is not None and command.name == name
        assert command.get_help(click.Context(command, info_name=name, parent=ctx))
    assert all(text.endswith(".") for commands in OWN.values() for _, text in commands.values())


def test_without_a_command_it_shows_help(cli):
    done = cli()
    assert done.code == 2 and "Usage: mnemic" in done.err


@pytest.mark.parametrize(
    "words, said",
    [
        (["rememver", "x"], "Did you mean remember?"),
        (["recall", "x", "--limt", "3"], "--limt"),
        (["recall"], "QUERY"),
        (["recall", "x", "--limit", "100000"], "--limit"),
        (["recall", "x", "--limit", "many"], "--limit"),
        (["list", "--offset", "9" * 20], "--offset"),
        (["ai-memory", "archive", "list", "--offset", "9" * 20], "--offset"),
        (["list", "--db", "\udcff"], "db: is not UTF-8 text"),
        (["sync", "\udcff"], "is not UTF-8 text"),
        (["session", "start", "--namespace", "\udcff"], "namespace: is not UTF-8 text"),
        (["recall", "x", "--since", "yesterdayish"], "--since: not a time"),
        (["remember", "x", "--tier", "eternal"], "--tier"),
        (["remember", "x", "--ttl", "soon"], "ttl"),
        (["remember", "x", "--confidence", "nan"], "--confidence"),
        (["remember", "--", " "], "must not be empty"),
        (["link", "1"], "TARGET"),
        (["forget"], "give MEMORY, or at least one of --namespace, --pattern"),
        (["undo"], "give either CHANGE or --since"),
        (["revise", "1"], "give --text, --append, --title, --tags or another field"),
        (["session", "start", "--summary", "x"], "start takes no --summary"),
        (["tidy", "merge", "1"], "needs --into"),
        (["call", "mnemic", "recall", "{"], "not valid JSON"),
        (["call", "mnemic", "recall", "[1]"], "must be an object"),
        (["call", "mnemic", "recall", '{"query": "x", "limt": 3}'], "limt: unknown argument"),
        (["serve", "--port", "99999"], "--port"),
        (["install", "emacs"], "CLIENT"),
    ],
)
def test_bad_usage_exits_with_2_and_names_the_problem(cli, words, said):
    done = cli(*words)
    assert (done.code, done.out) == (2, ""), done
    assert said in done.err


def test_bad_input_creates_no_database(cli):
    cli("recall", "x", "--limit", "0")
    assert not (cli.home / "memory.db").exists()


@pytest.mark.parametrize(
    "words", [["open", "77"], ["open", "No such title"], ["call", "mnemic", "open", '{"ids": [77]}']]
)
def test_not_found_exits_with_1(cli, words):
    done = cli(*words)
    assert (done.code, done.out) == (1, "") and "No memory" in done.err


@pytest.mark.parametrize(
    "error, code",
    [
        (Invalid("x"), 2),
        (NotFound("x"), 1),
        (Conflict("x"), 1),
        (Duplicate("x"), 1),
        (Denied("x"), 1),
        (StoreUnusable("x"), 1),
        (Busy("x"), 3),
        (Unavailable("x"), 3),
    ],
)
def test_the_exit_code_tells_the_kind_of_failure(error, code):
    assert exit_code(error) == code


@pytest.mark.parametrize("words", [["--json", "stats"], ["stats", "--json"]])
def test_global_options_are_accepted_before_or_after_the_command(cli, words):
    assert cli(*words).json["total"] == 0


def test_the_database_and_the_namespace_can_be_named_anywhere(cli):
    other = str(cli.home / "other.db")
    cli("--db", other, "--namespace", "app", "remember", "kept elsewhere")
    assert cli("stats", "--db", other, "--json").json["by_namespace"] == [{"namespace": "app", "count": 1}]
    assert cli.json("stats")["total"] == 0
    assert cli("history", "--db", other, "--namespace", "app").code == 0


def test_a_file_that_is_no_database_is_refused_in_a_sentence(cli):
    (cli.home / "memory.db").write_bytes(b"not a database, and long enough to be one" * 100)
    done = cli("stats")
    assert done.code == 1 and done.err.startswith("Error: ") and "Traceback" not in done.err
    assert (cli.home / "memory.db").read_bytes().startswith(b"not a database")


def test_an_unexpected_error_prints_no_traceback(cli, monkeypatch):
    monkeypatch.setattr("mnemic.console.run.Run.open_native", lambda *_, **__: 1 / 0)
    done = cli("stats")
    assert done.code == 1 and "ZeroDivisionError" in done.err and "Traceback" not in done.err
    with pytest.raises(ZeroDivisionError):
        cli("stats", MNEMIC_DEBUG="1")


def test_an_operating_system_error_names_the_file(cli):
    file = cli.home / "nowhere" / "x.json"
    done = cli("export", "-o", str(file))
    assert (done.code, done.err) == (1, f"Error: No such file or directory: {file}\n")


def test_a_closed_output_pipe_is_not_an_error(cli):
    for number in range(30):
        cli("remember", f"memory {number} " + "long text " * 400)
    done = subprocess.run(
        f"{sys.executable} -m mnemic export --format jsonl | head -c 100",
        shell=True,
        capture_output=True,
        env=cli.environment,
        timeout=120,
    )
    assert len(done.stdout) == 100 and done.stderr == b""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_with_130(cli):
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemic", "import"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli.environment,
        # A shell lets what it runs in the background ignore the signal, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode in (130, -signal.SIGINT), err
    assert process.returncode == -signal.SIGINT or b"Traceback" not in err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(cli, shell):
    done = cli("completions", shell)
    assert done.code == 0 and "mnemic" in done.out and "_MNEMIC_COMPLETE" in done.out
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=done.out.encode(), capture_output=True)
        assert (checked.returncode, checked.stderr) == (0, b"")


@pytest.mark.parametrize(
    "words, expected",
    [
        ("mnemic rem", {"remember"}),
        ("mnemic recall x --li", {"--limit"}),
        ("mnemic remember x --tier ", {"short", "mid", "long"}),
        ("mnemic install cl", {"claude-code", "claude-desktop", "cline"}),
        ("mnemic token ", {"create", "list", "revoke", "rotate"}),
        ("mnemic ai-memory archive ", {"list", "restore", "purge", "stats"}),
        ("mnemic ai-memory store --tier ", {"short", "mid", "long"}),
        ("mnemic ai-memory link 1 2 --relation s", {"supersedes"}),
        ("mnemic ai-m", {"ai-memory"}),
        ("mnemic ai-memory auto", {"auto-consolidate"}),
        ("mnemic list --order us", {"use", "used"}),
        ("mnemic session ", {"start", "end", "resume", "log"}),
        ("mnemic tidy con", {"condense", "conflicts"}),
        ("mnemic mcp --dialect a", {"anthropic", "ai-memory", "agentic-memory", "all"}),
        ("mnemic install cursor --dialect lo", {"lorekeeper"}),
        ("mnemic call simple", {"simple-memory"}),
        ("mnemic call mnemic re", {"recall", "reflect", "remember", "restore", "revise"}),
    ],
)
def test_shell_completion_offers_matching_words(cli, words, expected):
    done = cli.process(
        COMP_WORDS=words, COMP_CWORD=str(len(words.split(" ")) - 1), _MNEMIC_COMPLETE="bash_complete"
    )
    assert {line.partition(",")[2] for line in done.out.split()} == expected, done.err


@pytest.mark.parametrize(
    "command, said",
    [
        ("session", "ACTION  start, end, resume, log"),
        ("tidy", "condense, conflicts, scan"),
        ("mcp", "lorekeeper"),
        ("install", "lorekeeper"),
        ("call", "lorekeeper"),
    ],
)
def test_help_lists_choices(cli, command, said):
    assert said in cli(command, "--help").out


def test_colours_are_for_terminals(cli):
    cli("remember", "a coloured fact")
    assert "\x1b[" not in cli("recall", "coloured").out
    assert "\x1b[" in cli("recall", "coloured", FORCE_COLOR="1").out
    assert "\x1b[" not in cli("recall", "coloured", FORCE_COLOR="1", NO_COLOR="1").out


def test_json_is_one_line_away_from_a_terminal(cli):
    done = cli("stats", "--json")
    assert done.out.count("\n") == 1 and json.loads(done.out)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_colours_bars_and_indentation(cli):
    cli("remember", "a coloured fact \x9b31m")
    assert "\x1b[1m" in cli.terminal("recall", "coloured")
    assert "\x1b[" not in cli.terminal("recall", "coloured", NO_COLOR="1")
    shown = cli.terminal("open", "1", "--json")
    assert '\n  "memories"' in shown.replace("\r", "") and "\\u009b31m" in shown and "\x9b" not in shown
    assert "100%" in cli.terminal("backup", "copy.db")
    assert "%" not in cli.terminal("embed", MNEMIC_EMBEDDER="none")


def test_words_that_are_no_text_are_refused(cli):
    done = subprocess.run(
        [sys.executable, "-m", "mnemic", "remember", b"\xff\xfe"], capture_output=True, env=cli.environment
    )
    assert done.returncode == 2 and b"Traceback" not in done.stderr


AI_MEMORY_ONLY = (
    "store update promote search get delete resolve consolidate auto-consolidate gc archive mine".split()
)


@pytest.mark.parametrize("command", AI_MEMORY_ONLY)
def test_a_command_of_ai_memory_is_pointed_out_and_not_run(cli, command):
    done = cli(command, "x")
    assert done.code == 2 and f"`mnemic ai-memory {command}`" in done.err


@pytest.mark.parametrize(
    "words, code, error",
    [
        (["--json", "open", "77"], 1, {"code": "not_found", "message": "No memory '77'"}),
        (["stats", "--json", "--nonsense"], 2, {"code": "invalid"}),
        (["--json", "nonsense"], 2, {"code": "invalid"}),
        (["recall", "x", "--limit", "0", "--json"], 2, {"code": "invalid", "field": "limit"}),
        (["--json", "--db", "typo.db", "list"], 1, {"code": "not_found"}),
        (["--json", "embed"], 3, {"code": "unavailable"}),
    ],
)
def test_with_json_an_error_is_json_on_standard_error(cli, words, code, error):
    done = cli(*words)
    assert (done.code, done.out) == (code, "")
    told = json.loads(done.err)["error"]
    assert told["message"] and error.items() <= told.items()


@pytest.mark.parametrize("words", [["recall", "x"], ["list"], ["open", "1"], ["stats"], ["history"]])
def test_a_command_that_reads_creates_no_database(cli, words):
    done = cli("--db", "typo.db", *words)
    assert done.code == 1 and "--db: there is no database typo.db" in done.err
    cli(*words)
    assert not (cli.home / "typo.db").exists() and not (cli.home / "memory.db").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_reports_progress(cli):
    cli("remember", "one fact")
    process = subprocess.Popen(
        [sys.executable, "-m", "mnemic", "shell"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=cli.environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdin is not None and process.stdout is not None
    for number in range(3):
        process.stdin.write(f"remember fact {number}\n".encode())
        process.stdin.flush()
        assert b"Remembered" in process.stdout.readline()
    time.sleep(0.5)  # until it waits for the next line
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (
        err.decode().strip()
        == "Interrupted. 3 changes were stored since it began; `mnemic history` lists them."
    )


def test_a_terminal_that_is_not_utf_8_is_written_to_all_the_same(cli):
    cli("remember", "日本語 tea → café")
    done = subprocess.run(
        [sys.executable, "-m", "mnemic", "recall", "tea"],
        capture_output=True,
        env={**cli.environment, "PYTHONIOENCODING": "latin-1"},
        timeout=120,
    )
    assert done.returncode == 0 and done.stderr == b""
    shown = done.stdout.decode("latin-1")
    assert "tea ? café" in shown and re.search(r"[#.]{10}", shown)


def test_every_option_of_every_command_has_help(cli):
    def check(command, ctx):
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                assert param.help, (ctx.command_path, param.opts)
        if isinstance(command, click.Group):
            for name in command.list_commands(ctx):
                below = command.get_command(ctx, name)
                check(below, click.Context(below, parent=ctx, info_name=name))

    root = program()
    check(root, click.Context(root, info_name="mnemic"))
