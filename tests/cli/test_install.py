"""`mnemic install` and `uninstall` in homes with configurations of their own."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from mnemic.client_config import (
    CLIENTS,
    ConfigScope,
    Machine,
    Records,
    ServerEntry,
    jsonc,
    plan_install,
    plan_uninstall,
)
from mnemic.errors import Conflict
from mnemic.hooks import HOOK_CLIENTS

FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "gemini": ".gemini/settings.json",
    "zed": ".config/zed/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "cline": ".cline/data/settings/cline_mcp_settings.json",
    "roo": ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
    "copilot-cli": ".copilot/mcp-config.json",
    "jetbrains": ".junie/mcp/mcp.json",
    "goose": ".config/goose/config.yaml",
    "kiro": ".kiro/settings/mcp.json",
    "lm-studio": ".lmstudio/mcp.json",
    "continue": ".continue/mcpServers/mnemic.json",
}
PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "zed": ".zed/settings.json",
    "opencode": "opencode.json",
    "roo": ".roo/mcp.json",
    "copilot-cli": ".github/mcp.json",
    "jetbrains": ".junie/mcp/mcp.json",
    "kiro": ".kiro/settings/mcp.json",
    "continue": ".continue/mcpServers/mnemic.json",
}
JSON = [name for name in FILES if not FILES[name].endswith((".toml", ".yaml"))]


COMMENTED = """\
{
\t// mine
\t"KEY": {
\t\t"other": {"command": "x", "n": 1.50} // keep
\t},
\t"theme": "dark"
}
"""


def servers(client: str, file: Path) -> dict:
    """The servers a client's file names."""
    text = file.read_text()
    held = {".toml": tomllib.loads, ".yaml": yaml.safe_load}.get(file.suffix, jsonc.read)(text)
    return held.get(CLIENTS[client].key, {})


def started(entry: dict) -> list[str]:
    """The program and the arguments of an entry, however a client writes them."""
    command = entry.get("command", entry.get("cmd"))
    return command if isinstance(command, list) else [command, *entry["args"]]


def contents(home: Path) -> dict[str, bytes | None]:
    """Every file and folder of a home, but for our own."""
    found = {str(path.relative_to(home)): path for path in home.rglob("*")}
    return {
        name: path.read_bytes() if path.is_file() else None
        for name, path in found.items()
        if not name.startswith(".local")
    }


def linux(home: Path, **environment: str) -> Machine:
    return Machine("linux", home, home, environment)


@pytest.mark.parametrize("client", FILES)
def test_install_writes_a_new_file_and_again_changes_nothing(cli, client):
    file = cli.home / FILES[client]
    assert cli.json("install", client, "--dialect", "mnemic", "--namespace", "app")["changed"] is True
    program, *arguments = started(servers(client, file)["mnemic"])
    assert Path(program).name.startswith("mnemic")
    given = ["--dialect", "mnemic", "--namespace", "app", "--db", str(cli.home / "memory.db")]
    assert arguments == ["mcp", *given]
    before = file.read_bytes()
    assert cli.json("install", client, "--dialect", "mnemic", "--namespace", "app")["changed"] is False
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir() if "bak" in path.name] == []


@pytest.mark.parametrize("client", FILES)
def test_uninstall_removes_what_install_added(cli, client):
    cli("install", client)
    assert cli.json("uninstall", client)["changed"] is True
    assert contents(cli.home) == {}
    assert cli.json("uninstall", client)["changed"] is False
    assert contents(cli.home) == {}


@pytest.mark.parametrize("client", FILES)
def test_uninstall_where_nothing_is_creates_nothing(cli, client):
    assert cli.json("uninstall", client)["changed"] is False
    assert not (cli.home / FILES[client]).exists()


@pytest.mark.parametrize("client", JSON)
def test_everything_else_in_a_file_stays(cli, client):
    file = cli.home / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    text = COMMENTED.replace("KEY", CLIENTS[client].key)
    file.write_text(text)
    file.chmod(0o640)
    cli("install", client)
    assert {"other", "mnemic"} == servers(client, file).keys()
    assert '"n": 1.50}, // keep' in file.read_text() and "// mine" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o640
    cli("uninstall", client)
    assert file.read_text() == text


@pytest.mark.parametrize("client", ["codex", "cursor", "zed", "kiro"])
def test_install_keeps_other_keys_of_its_entry(cli, client):
    file = cli.home / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    key = CLIENTS[client].key
    if file.suffix == ".toml":
        file.write_text(
            f'[{key}.mnemic]\ncommand = "old"\nargs = []\nenabled = true\n\n'
            f'[{key}.mnemic.env]\nMNEMIC_TIER = "keyword"\n"A B" = "C"\n'
        )
    else:
        file.write_text(
            f'{{"{key}": {{"mnemic": {{\n  "command": "old", "args": [],\n  "enabled": true, // mine\n'
            '  "env": {"MNEMIC_TIER": "keyword", "A B": "C"}\n}}}'
        )
    assert cli.json("install", client)["changed"] is True
    entry = servers(client, file)["mnemic"]
    assert entry["env"] == {"MNEMIC_TIER": "keyword", "A B": "C"} and entry["enabled"] is True
    assert entry["args"][0] == "mcp" and entry["command"] != "old"
    assert file.suffix == ".toml" or "// mine" in file.read_text()
    assert cli.json("install", client)["changed"] is False


def test_an_entry_that_names_an_address_is_replaced_whole(cli):
    (cli.home / ".cursor").mkdir()
    file = cli.home / FILES["cursor"]
    file.write_text('{"mcpServers": {"mnemic": {"url": "http://localhost:9077/mcp", "headers": {}}}}')
    cli.json("install", "cursor")
    assert {"url", "headers"}.isdisjoint(servers("cursor", file)["mnemic"])


def test_codex_keeps_comments_and_tables(cli):
    file = cli.home / ".codex/config.toml"
    file.parent.mkdir()
    text = 'model = "o4" # best\n\n[mcp_servers.other]\ncommand = "x"\n\n# about me\n[profile]\nname = "n"\n'
    file.write_text(text)
    cli("install", "codex")
    assert file.read_text().startswith(text)
    assert servers("codex", file).keys() == {"other", "mnemic"}
    cli("uninstall", "codex")
    assert file.read_text() == text


def test_codex_keeps_other_keys_of_our_table(cli):
    file = cli.home / ".codex/config.toml"
    file.parent.mkdir()
    ours = 'since = 2026-01-01\nat = 07:32:00\nwait = inf\nenv = {A = "b", "c d" = [1, 2.5, true]}\n'
    file.write_text(f'[mcp_servers.mnemic]\ncommand = "old"\n{ours}')
    told = tomllib.loads(ours)
    cli("install", "codex")
    assert servers("codex", file)["mnemic"].items() >= told.items()
    assert cli.json("install", "codex")["changed"] is False


def test_codex_may_have_a_table_of_no_servers(cli):
    file = cli.home / ".codex/config.toml"
    file.parent.mkdir()
    file.write_text("[mcp_servers]\n")
    assert cli.json("install", "codex")["changed"] is True
    assert cli.json("uninstall", "codex")["changed"] is True
    assert file.read_text() == "[mcp_servers]\n"


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { other = { command = "x" } } # mine\n',
        'mcp_servers.mnemic.command = "x" # mine\n',
        '[mcp_servers]\nmnemic = { command = "x", env = { A = "b" } } # mine\n',
        '\ufeffmodel = "o4" # mine\r\n\r\n[mcp_servers.mnemic]\r\ncommand = "x"\r\n',
    ],
)
def test_codex_may_write_its_servers_in_any_way(cli, text):
    file = cli.home / ".codex/config.toml"
    file.parent.mkdir()
    file.write_bytes(text.encode())
    assert cli.json("install", "codex")["changed"] is True
    after = file.read_bytes().decode()
    assert "# mine" in after and after[0] == text[0] and after.count("\r\n") in (0, after.count("\n"))
    held, before = (tomllib.loads(each.removeprefix("\ufeff")) for each in (after, text))
    entry = held["mcp_servers"].pop("mnemic")
    known = before["mcp_servers"].pop("mnemic", {})
    assert held == before and entry["args"][0] == "mcp" and entry.get("env") == known.get("env")
    assert cli.json("install", "codex")["changed"] is False
    cli("uninstall", "codex")
    assert "mnemic" not in file.read_bytes().decode()


@pytest.mark.parametrize("client", FILES)
def test_a_dry_run_shows_the_change_and_makes_none(cli, client):
    done = cli("install", client, "--dry-run")
    assert done.code == 0 and "+" in done.out and "mnemic" in done.out
    assert not (cli.home / FILES[client]).exists()
    cli("install", client)
    before = (cli.home / FILES[client]).read_bytes()
    assert "-" in cli("uninstall", client, "--dry-run").out
    assert (cli.home / FILES[client]).read_bytes() == before


@pytest.mark.parametrize("client", PROJECT_FILES)
def test_a_project_gets_a_file_that_others_can_use(cli, client):
    cli("install", client, "--scope", "project", "--dialect", "mnemic")
    entry = servers(client, cli.home / PROJECT_FILES[client])["mnemic"]
    assert started(entry) == ["mnemic", "mcp", "--dialect", "mnemic"]


@pytest.mark.parametrize("client", [name for name in FILES if name not in PROJECT_FILES])
def test_a_client_without_project_files_says_so(cli, client):
    done = cli("install", client, "--scope", "project")
    assert done.code == 2 and "project" in done.err


@pytest.mark.parametrize(
    "client, text",
    [
        ("cursor", "{not json"),
        ("cursor", "[]"),
        ("cursor", '{"mcpServers": []}'),
        ("cursor", "\xff"),
        ("codex", "= 3"),
        ("codex", "mcp_servers = 3\n"),
        ("goose", "extensions: {a: {cmd: x}}\n"),
        ("goose", "extensions: [a]\n"),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_left_alone(cli, client, text):
    file = cli.home / FILES[client]
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode("latin-1"))
    done = cli("install", client)
    assert done.code == 1 and "left alone" in done.err, done
    assert file.read_bytes() == text.encode("latin-1")
    assert [path for path in cli.home.rglob("*") if path.is_file()] == [file]


def test_an_unknown_dialect_is_refused_before_anything_is_written(cli):
    assert cli("install", "cursor", "--dialect", "klingon").code == 1
    assert not (cli.home / ".cursor").exists()


def test_another_name_is_another_server(cli):
    cli("install", "cursor")
    cli("install", "cursor", "--name", "work", "--namespace", "work")
    assert servers("cursor", cli.home / ".cursor/mcp.json").keys() == {"mnemic", "work"}


def test_a_link_to_a_file_stays_a_link(cli):
    real, link = cli.home / "dotfiles.json", cli.home / ".cursor/mcp.json"
    real.write_text("{}")
    link.parent.mkdir()
    link.symlink_to(real)
    cli("install", "cursor")
    assert link.is_symlink() and "mnemic" in json.loads(real.read_text())["mcpServers"]


def test_a_link_to_a_file_that_is_not_there_yet_stays_and_its_file_goes(cli):
    link = cli.home / ".claude/CLAUDE.md"
    link.parent.mkdir()
    link.symlink_to(cli.home / "dotfiles.md")
    cli("install", "claude-code")
    assert (cli.home / "dotfiles.md").exists()
    cli("uninstall", "claude-code")
    assert link.is_symlink() and not link.exists()


@pytest.mark.parametrize(
    "client, text",
    [
        ("goose", "extensions:\n# none yet\nmodel: x\n"),
        ("codex", '[mcp_servers.a]\ncommand = "b"\n\n[[profiles]]\nname = "q"\n'),
    ],
)
def test_a_file_of_another_layout_comes_back_as_it_was(cli, client, text):
    file = cli.home / FILES[client]
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert cli("install", client).code == cli("install", client).code == 0
    assert servers(client, file)["mnemic"]
    assert cli("uninstall", client).code == 0
    assert file.read_text() == text


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path):
    server = ServerEntry("mnemic", "m", ("mcp",))
    edit, *_ = plan_install(CLIENTS["cursor"], linux(tmp_path), ConfigScope.USER, server)
    edit.file.parent.mkdir()
    edit.file.write_text('{"new": 1}')
    with pytest.raises(Conflict):
        edit.make(Records(tmp_path / "records"))
    assert edit.file.read_text() == '{"new": 1}'


def test_nothing_changes_before_an_edit_is_made(tmp_path):
    records = Records(tmp_path / "records")
    edits = plan_uninstall(CLIENTS["codex"], linux(tmp_path), ConfigScope.USER, "mnemic", records)
    assert not any(edit.is_needed for edit in edits)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "client, system, environment, expected",
    [
        ("claude-desktop", "darwin", {}, "Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", {}, "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", {}, ".config/Claude/claude_desktop_config.json"),
        ("opencode", "darwin", {"XDG_CONFIG_HOME": "/xdg"}, "/xdg/opencode/opencode.json"),
        ("cline", "win32", {"CLINE_DIR": "/cline"}, "/cline/data/settings/cline_mcp_settings.json"),
        ("cline", "linux", {"CLINE_DATA_DIR": "/data"}, "/data/settings/cline_mcp_settings.json"),
        ("cline", "linux", {"CLINE_MCP_SETTINGS_PATH": "/mcp.json"}, "/mcp.json"),
        ("vscode", "darwin", {}, "Library/Application Support/Code/User/mcp.json"),
        ("vscode", "win32", {}, "AppData/Roaming/Code/User/mcp.json"),
        ("claude-code", "linux", {"CLAUDE_CONFIG_DIR": "/c"}, "/c/.claude.json"),
        ("codex", "linux", {"CODEX_HOME": "/x"}, "/x/config.toml"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/xdg"}, "/xdg/Code/User/mcp.json"),
        ("claude-desktop", "win32", {"APPDATA": "/roaming"}, "/roaming/Claude/claude_desktop_config.json"),
    ],
)
def test_files_are_where_each_system_has_them(client, system, environment, expected):
    machine = Machine(system, Path("/home/me"), Path("/work"), environment)
    assert CLIENTS[client].file(machine, ConfigScope.USER) == Path("/home/me") / expected


def test_a_project_s_shared_file_names_the_namespace_of_the_project(cli):
    """A colleague's clone may lie in a folder of another name."""
    repository = cli.home / "code" / "checkout"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git" / "config").write_text(
        '[remote "origin"]\n\turl = git@example.org:acme/widgets.git\n'
    )
    cli.patch.chdir(repository)
    cli("install", "claude-code", "--scope", "project")
    assert servers("claude-code", repository / ".mcp.json")["mnemic"]["args"] == [
        "mcp",
        "--namespace",
        "widgets",
    ]
    cli("install", "claude-code", "--scope", "project", "--dialect", "anthropic", "--name", "graph")
    graph = servers("claude-code", repository / ".mcp.json")["graph"]["args"]
    assert graph == ["mcp", "--dialect", "anthropic"], "a drop-in keeps its documented default"
    cli("install", "claude-code", "--name", "mine")
    assert servers("claude-code", cli.home / ".claude.json")["mine"]["args"][0] == "mcp"
    assert "--namespace" not in servers("claude-code", cli.home / ".claude.json")["mine"]["args"]


HOOK_FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "cursor": ".cursor/hooks.json",
    "gemini": ".gemini/settings.json",
}
BLOCKS = {
    "claude-code": ".claude/CLAUDE.md",
    "codex": ".codex/AGENTS.md",
    "gemini": ".gemini/GEMINI.md",
    "windsurf": ".codeium/windsurf/memories/global_rules.md",
    "opencode": ".config/opencode/AGENTS.md",
    "goose": ".config/goose/.goosehints",
    "zed": ".config/zed/AGENTS.md",
    "cline": ".cline/rules/mnemic.md",
    "jetbrains": ".junie/AGENTS.md",
    "kiro": ".kiro/steering/mnemic.md",
}


def hooks(home: Path, client: str) -> dict[str, list]:
    return json.loads((home / HOOK_FILES[client]).read_text())["hooks"]


@pytest.mark.parametrize("client", HOOK_FILES)
def test_install_sets_up_hooks_that_run(cli, client):
    told = cli("install", client).out
    assert "redacted" in told and "mnemic tidy review" in told
    for event, (entry,) in hooks(cli.home, client).items():
        command = entry["command"] if client == "cursor" else entry["hooks"][0]["command"]
        _, *words = shlex.split(command)
        assert words == ["hook", event, "--client", client, "--db", str(cli.home / "memory.db")]
        assert HOOK_CLIENTS[client].event_named(event) == event
        done = cli(*words, stdin="{}")
        assert (done.code, done.err) == (0, "")
    if client == "cursor":
        assert json.loads((cli.home / HOOK_FILES[client]).read_text())["version"] == 1


@pytest.mark.parametrize("client", HOOK_FILES)
def test_hooks_of_others_stay_and_come_back_as_they_were(cli, client):
    file = cli.home / HOOK_FILES[client]
    file.parent.mkdir()
    event = CLIENTS[client].hooks.events[0]
    other = {"hooks": [{"type": "command", "command": "say hello"}]}
    text = json.dumps({"theme": "dark", "hooks": {event: [other], "Other": [other]}}, indent=3)
    file.write_text(text)
    cli("install", client)
    held = hooks(cli.home, client)
    assert held[event][0] == other and len(held[event]) == 2 and held["Other"] == [other]
    before = file.read_bytes()
    cli("install", client)
    assert file.read_bytes() == before
    cli("uninstall", client)
    assert file.read_text() == text


@pytest.mark.parametrize("client", HOOK_FILES)
def test_uninstall_takes_out_our_part_of_a_file_that_changed_since(cli, client):
    cli("install", client)
    file = cli.home / HOOK_FILES[client]
    held = json.loads(file.read_text())
    event = CLIENTS[client].hooks.events[0]
    other = {"hooks": [{"type": "command", "command": "say hello"}]}
    held["hooks"][event].append(other)
    file.write_text(json.dumps({**held, "new": 1}))
    cli("uninstall", client)
    left = json.loads(file.read_text())
    left.pop("version", None)
    assert left == {"hooks": {event: [other]}, "new": 1}


@pytest.mark.parametrize("client", HOOK_FILES)
def test_hooks_can_be_left_out(cli, client):
    told = cli("install", client, "--no-hooks").out
    assert "Hooks" not in told
    assert HOOK_FILES[client] == FILES[client] or not (cli.home / HOOK_FILES[client]).exists()
    assert "hook " not in "".join((cli.home / FILES[client]).read_text())


def test_a_drop_in_dialect_gets_no_hooks(cli):
    cli("install", "claude-code", "--dialect", "anthropic")
    assert not (cli.home / ".claude/settings.json").exists()


@pytest.mark.parametrize("client", BLOCKS)
def test_the_block_in_an_instruction_file_comes_and_goes(cli, client):
    file = cli.home / BLOCKS[client]
    file.parent.mkdir(parents=True)
    text = "# Mine\n\nBe brief."
    file.write_text(text)
    cli("install", client)
    after = file.read_text()
    assert after.startswith(text) and after.count("mnemic:begin") == 1 and "`recall`" in after
    cli("install", client)
    assert file.read_text() == after
    file.write_text(after + "\nMore.\n")
    cli("uninstall", client)
    assert file.read_text() == f"{text}\n\nMore.\n"
    cli("install", client)
    cli("uninstall", client)
    assert file.read_text() == f"{text}\n\nMore.\n"


def test_a_rule_of_cursor_is_a_file_of_its_own(cli):
    cli("install", "cursor", "--scope", "project")
    file = cli.home / ".cursor/rules/mnemic.mdc"
    assert yaml.safe_load(file.read_text().split("---")[1])["alwaysApply"] is True
    cli("uninstall", "cursor", "--scope", "project")
    assert contents(cli.home) == {}


def test_one_of_two_servers_leaves_the_hooks_to_the_other(cli):
    cli("install", "claude-code")
    cli("install", "claude-code", "--name", "work")
    cli("uninstall", "claude-code", "--name", "work")
    assert len(hooks(cli.home, "claude-code")) == 6
    cli("uninstall", "claude-code")
    assert contents(cli.home) == {}


def test_goose_keeps_the_lines_of_others(cli):
    file = cli.home / FILES["goose"]
    file.parent.mkdir(parents=True)
    inner = "  # built in\n  developer:\n    enabled: true\n    args:\n    - a\n"
    text = f"GOOSE_MODEL: m # best\nextensions:\n{inner}last: 1\n"
    file.write_text(text)
    cli("install", "goose")
    assert servers("goose", file).keys() == {"developer", "mnemic"}
    assert "# best" in file.read_text() and "# built in" in file.read_text()
    assert cli.json("install", "goose")["changed"] is False
    cli("uninstall", "goose")
    assert file.read_text() == text


def test_the_list_says_which_clients_are_here(cli):
    (cli.home / ".cursor").mkdir()
    (cli.home / ".claude").mkdir()
    cli("install", "cursor")
    listed = {row["client"]: row for row in cli.json("install", "--list")["clients"]}
    assert listed.keys() == CLIENTS.keys()
    found = {name for name, row in listed.items() if row["found"]}
    assert found == {"cursor", "claude-code"} and listed["cursor"]["installed"]
    assert "claude-code" in cli("install", "--list").out


def test_a_broken_file_keeps_no_other_client_from_being_set_up(cli):
    for folder in (".cursor", ".codex", ".kiro"):
        (cli.home / folder).mkdir()
    (cli.home / ".cursor/mcp.json").write_text("{not json")
    done = cli("install", "--all")
    assert done.code == 1 and ".cursor/mcp.json" in done.err
    assert {"mnemic"} == servers("codex", cli.home / FILES["codex"]).keys()
    assert {"mnemic"} == servers("kiro", cli.home / FILES["kiro"]).keys()
    assert (cli.home / ".cursor/mcp.json").read_text() == "{not json"


@pytest.mark.parametrize(
    "word, client", [("junie", "jetbrains"), ("copilot", "copilot-cli"), ("LMStudio", "lm-studio")]
)
def test_a_client_is_found_by_what_people_call_it(cli, word, client):
    assert cli("install", word).code == 0
    assert servers(client, cli.home / FILES[client])["mnemic"]


def test_all_clients_that_are_found_are_installed(cli):
    (cli.home / ".cursor").mkdir()
    (cli.home / ".kiro").mkdir()
    done = cli.json("install", "--all")
    assert [one["client"] for one in done["clients"]] == ["cursor", "kiro"]
    cli("uninstall", "--all")
    assert contents(cli.home) == {".cursor": None, ".kiro": None}
    assert cli("install").code == 2 and cli("install", "kiro", "--all").code == 2


def test_all_clients_of_a_project_share_a_file_of_instructions(cli):
    for folder in (".codex", ".config/zed", ".config/opencode", ".claude", ".lmstudio"):
        (cli.home / folder).mkdir(parents=True)
    project = cli.home / "project"
    project.mkdir()
    cli.patch.chdir(project)
    shown = cli("install", "--all", "--scope", "project", "--dry-run").out
    assert shown.count("+<!-- mnemic:begin") == 2 and contents(project) == {}
    done = cli("install", "--all", "--scope", "project")
    assert done.code == 0 and done.out.count("<private>") == 1
    assert (project / "AGENTS.md").read_text().count("mnemic:begin") == 1
    for one in ("codex", "zed"):
        cli("uninstall", one, "--scope", "project")
        assert "mnemic:begin" in (project / "AGENTS.md").read_text()
    cli("install", "codex", "--scope", "project")
    done = cli("uninstall", "--all", "--scope", "project")
    assert done.code == 0 and done.out.count("Memories stay") == 1
    assert contents(project) == {}


@pytest.mark.parametrize(
    "client, scope, file",
    [
        ("zed", "project", ".rules"),
        ("zed", "project", "CLAUDE.md"),
        ("opencode", "project", "CLAUDE.md"),
        ("opencode", "user", ".claude/CLAUDE.md"),
        ("jetbrains", "project", ".junie/AGENTS.md"),
        ("jetbrains", "project", ".junie/guidelines.md"),
    ],
)
def test_no_file_of_instructions_is_hidden_by_ours(cli, client, scope, file):
    (cli.home / file).parent.mkdir(exist_ok=True)
    (cli.home / file).write_text("# Mine\n")
    before = contents(cli.home)
    cli("install", client, "--scope", scope)
    assert "mnemic:begin" in (cli.home / file).read_text()
    assert not list(cli.home.rglob("AGENTS.md")) or file.endswith("AGENTS.md")
    cli("uninstall", client, "--scope", scope)
    assert contents(cli.home) == before


def test_a_block_is_found_in_the_file_that_was_read_when_it_was_written(cli):
    (cli.home / "CLAUDE.md").write_text("# Mine\n")
    cli("install", "opencode", "--scope", "project")
    (cli.home / "AGENTS.md").write_text("# Newer\n")
    cli("uninstall", "opencode", "--scope", "project")
    assert contents(cli.home) == {"CLAUDE.md": b"# Mine\n", "AGENTS.md": b"# Newer\n"}


def tree(home: Path) -> dict[str, bytes | None]:
    """Everything below *home*: folders, and files with what they hold."""
    return {
        str(path.relative_to(home)): path.read_bytes() if path.is_file() else None for path in home.rglob("*")
    }


@pytest.mark.parametrize("client", CLIENTS)
def test_install_and_uninstall_leave_a_home_as_it_was(cli, client):
    data = Path(cli.environment.get("XDG_DATA_HOME") or cli.home / ".local" / "share")
    data.mkdir(parents=True, exist_ok=True)
    project = cli.home / "project"
    (project / ".git").mkdir(parents=True)
    cli.patch.chdir(project)
    before = tree(cli.home)
    scopes = ["user", *(["project"] if CLIENTS[client].project_file else [])]
    for scope in scopes:
        assert cli("install", client, "--scope", scope).code == 0
    assert tree(cli.home) != before
    for scope in scopes:
        assert cli("uninstall", client, "--scope", scope).code == 0
    assert tree(cli.home) == before
