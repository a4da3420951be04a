"""The plugin, the skill, the registry entry, the bundle and the links are what their readers expect."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import jsonschema
import pytest
import yaml

from mnemic.client_config import CLIENTS

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugin"
SCHEMAS = Path(__file__).parent / "schemas"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def read(file: Path) -> dict:
    return json.loads(file.read_text())


def schema(name: str) -> dict:
    return read(SCHEMAS / name)


def front_matter(file: Path) -> dict:
    return yaml.safe_load(file.read_text().split("---\n")[1])


def builder():
    place = importlib.util.spec_from_file_location("build_bundle", ROOT / "tools" / "build_bundle.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return module


def test_the_plugin_names_itself_as_a_marketplace_lists_it():
    plugin = read(PLUGIN / ".claude-plugin" / "plugin.json")
    listed = read(ROOT / ".claude-plugin" / "marketplace.json")
    assert re.fullmatch(r"[a-z0-9-]+", plugin["name"]) and plugin["version"] == VERSION
    assert {"name", "owner", "plugins"} <= listed.keys()
    assert [(one["name"], ROOT / one["source"]) for one in listed["plugins"]] == [(plugin["name"], PLUGIN)]


def test_the_plugin_calls_the_same_hooks_as_install(cli):
    held = read(PLUGIN / "hooks" / "hooks.json")["hooks"]
    assert tuple(held) == CLIENTS["claude-code"].hooks.events
    for event, (group,) in held.items():
        (hook,) = group["hooks"]
        assert hook["type"] == "command" and hook["timeout"] == CLIENTS["claude-code"].hooks.timeout
        program, *words = hook["command"].split()
        assert program == "mnemic" and words == ["hook", event, "--client", "claude-code"]
        assert cli(*words, stdin="{}").code == 0


def test_the_plugin_starts_the_server_as_install_does():
    entry = read(PLUGIN / ".mcp.json")["mcpServers"]["mnemic"]
    assert entry == {"command": "mnemic", "args": ["mcp"]}


@pytest.mark.parametrize("name", ["remember", "recall", "memory"])
def test_a_command_of_the_plugin_says_what_it_is_for(name):
    file = PLUGIN / "commands" / f"{name}.md"
    assert front_matter(file)["description"] and "$ARGUMENTS" in file.read_text()


def test_the_skill_is_one_that_any_agent_reads():
    file = PLUGIN / "skills" / "mnemic" / "SKILL.md"
    about = front_matter(file)
    assert about["name"] == file.parent.name and re.fullmatch(r"[a-z0-9-]{1,64}", about["name"])
    assert 0 < len(about["description"]) <= 1024


def test_every_command_that_plugin_and_skill_name_exists(cli):
    texts = [file.read_text() for file in (*PLUGIN.rglob("*.md"),)]
    named = {word for text in texts for word in re.findall(r"\bmnemic ([a-z]+)\b", text)}
    known = {"recall", "remember", "revise", "tidy", "capture", "forget"}
    assert named - {"server"} == known
    for word in known:
        assert cli(word, "--help").code == 0


def test_the_registry_entry_fits_its_schema():
    entry = read(ROOT / "server.json")
    jsonschema.validate(entry, schema("server-2025-12-11.schema.json"))
    assert entry["version"] == VERSION == entry["packages"][0]["version"]
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text()


def test_the_bundle_fits_its_schema_and_serves(tmp_path, cli):
    target = tmp_path / "mnemic.mcpb"
    builder().build(target)
    with zipfile.ZipFile(target) as bundle:
        bundle.extractall(tmp_path / "bundle")
    manifest = read(tmp_path / "bundle" / "manifest.json")
    jsonschema.validate(manifest, schema("mcpb-manifest-v0.4.schema.json"))
    needed = tomllib.loads((tmp_path / "bundle" / "pyproject.toml").read_text())["project"]
    assert needed["dependencies"] == [f"mnemic=={VERSION}"]
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
    entry = tmp_path / "bundle" / manifest["server"]["entry_point"]
    done = subprocess.run(
        [sys.executable, str(entry), "--in-process"],
        input=json.dumps(hello) + "\n",
        capture_output=True,
        text=True,
        env=cli.environment,
        timeout=60,
    )
    assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"]["name"] == "mnemic"


def test_a_bundle_may_bring_its_wheel(tmp_path):
    wheel = tmp_path / "mnemic-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"PK")
    builder().build(tmp_path / "b.mcpb", wheel)
    with zipfile.ZipFile(tmp_path / "b.mcpb") as bundle:
        assert f"wheels/{wheel.name}" in bundle.namelist()
        held = tomllib.loads(bundle.read("pyproject.toml").decode())
    assert held["tool"]["uv"]["sources"]["mnemic"]["path"] == f"wheels/{wheel.name}"


def test_the_links_install_the_server():
    page = (ROOT / "docs" / "clients.md").read_text()
    (cursor,) = re.findall(r"cursor://\S+?(?=\))", page)
    query = parse_qs(urlsplit(cursor).query)
    assert query["name"] == ["mnemic"]
    assert json.loads(base64.b64decode(query["config"][0])) == {"command": "mnemic", "args": ["mcp"]}
    (code,) = re.findall(r"vscode:mcp/install\?\S+?(?=\))", page)
    held = json.loads(unquote(code.partition("?")[2]))
    assert held == {"name": "mnemic", "command": "mnemic", "args": ["mcp"]}
