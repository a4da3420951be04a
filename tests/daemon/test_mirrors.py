"""The daemon keeps the folders of the setting `mirror` equal to their namespaces by itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from local_daemon import client, command, status, told, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no local daemon on Windows")

NOTES = ("--namespace", "notes")


def facts(done) -> dict:
    """The JSON of a command that went well."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def configured(home: Path) -> Path:
    """A home whose configuration file names the database, and a vault that the daemon is to keep equal."""
    file = home / "config.toml"
    file.write_text(f'db = "{home / "memory.db"}"\n')
    vault = home / "vault"
    command(home, *NOTES, "remember", "We deploy on Mondays.", "--title", "Deploy day")
    done = command(home, *NOTES, "mirror", str(vault), "--always", MNEMIC_CONFIG=str(file))
    assert done.returncode == 0, done.stderr
    assert f'mirror = ["{vault}=notes"]' in file.read_text()
    return file


def test_edits_of_either_side_arrive_while_a_client_is_connected(tmp_path):
    file, vault = configured(tmp_path), tmp_path / "vault"
    assert (vault / "Deploy day.md").is_file()
    with client(tmp_path, *NOTES, MNEMIC_CONFIG=str(file)) as one:
        (vault / "Idea.md").write_text("Paint the shop blue.\n")
        until(lambda: "Paint the shop blue" in told(one, "recall", query="What colour is the shop painted?"))
        note = vault / "Deploy day.md"
        note.write_text(note.read_text().replace("Mondays", "Fridays"))
        until(lambda: "Fridays" in told(one, "recall", query="When do we deploy?"))
        told(one, "remember", text="Rent is due on the first.", title="Rent")
        until(lambda: (vault / "Rent.md").is_file())
        told(one, "forget", ids=["Rent"])
        until(lambda: not (vault / "Rent.md").exists())
        (vault / "Idea.md").unlink()
        until(
            lambda: "Paint the shop blue" not in told(one, "recall", query="What colour is the shop painted?")
        )
        [kept] = status(tmp_path)["mirrors"]
        assert (kept["folder"], kept["namespace"], kept["problem"]) == (str(vault), "notes", "")
        lines = command(tmp_path, "daemon", "status", MNEMIC_CONFIG=str(file)).stdout.decode()
        assert f"mirrors {vault}=notes: in step at" in lines
        checks = facts(command(tmp_path, "--json", "doctor", MNEMIC_CONFIG=str(file)))["checks"]
        assert any("in step at" in one["detail"] for one in checks if one["check"] == "mirrors")


def test_claude_md_is_kept_in_step_too(tmp_path):
    file, shop, claude = tmp_path / "config.toml", tmp_path / "shop", tmp_path / "claude"
    file.write_text(f'db = "{tmp_path / "memory.db"}"\n')
    (shop / ".git").mkdir(parents=True)
    instructions = shop / "CLAUDE.md"
    instructions.write_text("# Deploys\n\nWe deploy on Mondays.\n")
    variables = {"MNEMIC_CONFIG": str(file), "CLAUDE_CONFIG_DIR": str(claude)}
    done = command(tmp_path, "mirror", "--claude-code", "--always", folder=shop, **variables)
    assert done.returncode == 0, done.stderr
    with client(tmp_path, "--namespace", "shop", MNEMIC_CONFIG=str(file)) as one:
        words = "--namespace", "shop", "revise", "Deploys", "--text", "We deploy on Fridays."
        assert command(tmp_path, *words, MNEMIC_CONFIG=str(file)).returncode == 0
        until(lambda: "Fridays" in instructions.read_text())
        instructions.write_text(instructions.read_text().replace("Fridays", "Tuesdays"))
        until(lambda: "Tuesdays" in told(one, "recall", query="When do we deploy?"))
        told(one, "forget", ids=["Deploys"])
        until(lambda: not instructions.read_text().strip())
        assert status(tmp_path)["mirrors"][0]["problem"] == ""


def test_another_database_is_not_poured_into_the_notes(tmp_path):
    file, vault = configured(tmp_path), tmp_path / "vault"
    other = tmp_path / "other.db"
    assert command(tmp_path, "--db", str(other), *NOTES, "remember", "Elsewhere.").returncode == 0
    variables = {"MNEMIC_DB": str(other), "MNEMIC_CONFIG": str(file)}
    done = command(tmp_path, *NOTES, "mirror", str(tmp_path / "second"), "--always", **variables)
    assert done.returncode and b"is another one" in done.stderr
    assert str(tmp_path / "second") not in file.read_text() and not (tmp_path / "second").exists()
    checks = facts(command(tmp_path, "--json", "doctor", **variables))["checks"]
    assert any(one["detail"].startswith("none set") for one in checks if one["check"] == "mirrors")
    assert [path.name for path in vault.glob("*.md")] == ["Deploy day.md"]


def test_a_folder_that_was_never_mirrored_or_is_not_mounted_stays_as_it_is(tmp_path):
    vault = tmp_path / "vault"
    command(tmp_path, *NOTES, "remember", "We deploy on Mondays.")
    with client(tmp_path, *NOTES, MNEMIC_MIRROR=f"{vault}=notes"):
        until(lambda: status(tmp_path)["mirrors"][0]["problem"])
        assert "not mirrored yet" in status(tmp_path)["mirrors"][0]["problem"]
    assert not vault.exists()


def test_a_folder_is_left_alone_when_asked(tmp_path):
    file, vault = configured(tmp_path), tmp_path / "vault"
    assert command(tmp_path, "mirror", str(vault), "--no-always", MNEMIC_CONFIG=str(file)).returncode == 0
    assert "mirror" not in file.read_text()
    assert command(tmp_path, "mirror", str(vault), "--no-always", MNEMIC_CONFIG=str(file)).returncode == 1
    assert (vault / "Deploy day.md").is_file()
