"""`mnemic install` and `uninstall` in homes with configurations of their own."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from mnemic.errors import Conflict
from mnemic.surfaces.clients import CLIENTS, Machine, Scope, Server, jsonc, plan_install, plan_uninstall

FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "gemini": ".gemini/settings.json",
}
PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": ".vscode/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
}


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
    held = tomllib.loads(text) if file.suffix == ".toml" else jsonc.read(text)
    return held.get(CLIENTS[client].key, {})


def linux(home: Path, **environment: str) -> Machine:
    return Machine("linux", home, home, environment)


@pytest.mark.parametrize("client", FILES)
def test_install_writes_a_new_file_and_again_changes_nothing(cli, client):
    file = cli.home / FILES[client]
    assert cli.json("install", client, "--dialect", "mnemic", "--namespace", "app")["changed"] is True
    entry = servers(client, file)["mnemic"]
    assert Path(entry["command"]).name.startswith("mnemic")
    assert entry["args"] == [
        "mcp",
        "--dialect",
        "mnemic",
        "--namespace",
        "app",
        "--db",
        str(cli.home / "memory.db"),
    ]
    before = file.read_bytes()
    assert cli.json("install", client, "--dialect", "mnemic", "--namespace", "app")["changed"] is False
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir() if "bak" in path.name] == []


@pytest.mark.parametrize("client", FILES)
def test_uninstall_takes_out_what_install_put_in(cli, client):
    cli("install", client)
    assert cli.json("uninstall", client)["changed"] is True
    assert "mnemic" not in servers(client, cli.home / FILES[client])
    assert cli.json("uninstall", client)["changed"] is False


@pytest.mark.parametrize("client", FILES)
def test_uninstall_where_nothing_is_creates_nothing(cli, client):
    assert cli.json("uninstall", client)["changed"] is False
    assert not (cli.home / FILES[client]).exists()


@pytest.mark.parametrize("client", [name for name in FILES if name != "codex"])
def test_everything_else_in_a_file_stays_and_the_old_one_is_kept(cli, client):
    file = cli.home / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    text = COMMENTED.replace("KEY", CLIENTS[client].key)
    file.write_text(text)
    file.chmod(0o640)
    done = cli.json("install", client)
    assert Path(done["kept"]).read_text() == text
    assert {"other", "mnemic"} == servers(client, file).keys()
    assert '"n": 1.50}, // keep' in file.read_text() and "// mine" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o640
    cli("uninstall", client)
    assert file.read_text() == text


@pytest.mark.parametrize("client", FILES)
def test_what_else_stands_in_our_own_entry_stays(cli, client):
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


def test_no_copy_is_replaced_by_the_next(cli, monkeypatch):
    monkeypatch.setattr("time.strftime", lambda form: "20261116-100000")
    file = cli.home / FILES["cursor"]
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"other": {"command": "x"}}}')
    first, second, third = (cli.json(word, "cursor")["kept"] for word in ("install", "uninstall", "install"))
    assert len({first, second, third}) == 3
    assert json.loads(Path(first).read_text()) == {"mcpServers": {"other": {"command": "x"}}}


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


def test_codex_keeps_what_else_stands_in_our_table(cli):
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
    assert (entry["command"], entry["args"]) == ("mnemic", ["mcp", "--dialect", "mnemic"])


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
        ("codex", 'mcp_servers = { other = { command = "x" } }\n'),
        ("codex", 'mcp_servers.mnemic.command = "x"\n'),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_left_alone(cli, client, text):
    file = cli.home / FILES[client]
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode("latin-1"))
    done = cli("install", client)
    assert done.code == 1 and "left alone" in done.err, done
    assert file.read_bytes() == text.encode("latin-1")
    assert list(file.parent.iterdir()) == [file]


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


def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path):
    edit = plan_install(CLIENTS["cursor"], linux(tmp_path), Scope.USER, Server("mnemic", "m", ("mcp",)))
    edit.file.parent.mkdir()
    edit.file.write_text('{"new": 1}')
    with pytest.raises(Conflict):
        edit.make()
    assert edit.file.read_text() == '{"new": 1}'


def test_nothing_changes_before_an_edit_is_made(tmp_path):
    assert plan_uninstall(CLIENTS["codex"], linux(tmp_path), Scope.USER, "mnemic").is_needed is False
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "client, system, environment, expected",
    [
        ("claude-desktop", "darwin", {}, "Library/Application Support/Claude/claude_desktop_config.json"),
        ("claude-desktop", "win32", {}, "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("claude-desktop", "linux", {}, ".config/Claude/claude_desktop_config.json"),
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
    assert CLIENTS[client].file(machine, Scope.USER) == Path("/home/me") / expected


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
