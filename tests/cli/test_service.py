"""`mnemic service`: the file each system reads, and the commands that start and end it."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from mnemic.service import service_of

WORDS = ["/opt/my tools/mnemic", "serve", "--db", '/data/50% "new" $HOME.db', "--port", "9100"]
NAMESPACE = "{http://schemas.microsoft.com/windows/2004/02/mit/task}"


def described(system, words=WORDS):
    return service_of(system, Path("/home/ann"), 501, {}, words)


@pytest.fixture
def system(cli, tmp_path):
    """A system whose `systemctl` notes what it is told and succeeds, unless a file `fails` is there."""
    folder = tmp_path / "system"
    folder.mkdir()
    script = folder / "systemctl"
    script.write_text(
        f'#!/bin/sh\necho "$*" >> {folder}/calls\n[ -e {folder}/fails ] && echo "No bus" >&2 && exit 1\nexit 0\n'
    )
    script.chmod(0o755)
    cli.patch.setattr(sys, "platform", "linux")
    cli.patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return folder


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="this system has no systemd")
def test_systemd_accepts_the_unit_and_reads_the_words_back(tmp_path):
    made = described("linux", [sys.executable, "serve", *WORDS[2:]])
    unit = tmp_path / "mnemic.service"
    unit.write_text(made.text)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert r'--db "/data/50%% \"new\" $$HOME.db" --port 9100' in made.text
    assert made.file == Path("/home/ann/.config/systemd/user/mnemic.service")


def test_launchd_gets_a_property_list():
    made = described("darwin")
    held = plistlib.loads(made.text.encode())
    assert held["ProgramArguments"] == WORDS and held["RunAtLoad"] is True
    assert made.file == Path(f"/home/ann/Library/LaunchAgents/{held['Label']}.plist")
    assert made.start == (("launchctl", "bootstrap", "gui/501", str(made.file)),)


def test_windows_gets_a_task():
    made = described("win32")
    root = ElementTree.fromstring(made.text.encode(made.encoding))
    [command] = root.iter(f"{NAMESPACE}Command")
    [arguments] = root.iter(f"{NAMESPACE}Arguments")
    assert command.text == WORDS[0] and arguments.text == subprocess.list2cmdline(WORDS[1:])
    assert ("schtasks", "/Create", "/TN", "Mnemic", "/XML", str(made.file), "/F") in made.start


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_it_is_installed_started_shown_and_removed(cli, system):
    file = cli.home / ".config/systemd/user/mnemic.service"
    assert "not installed" in cli("service", "status").out
    done = cli("service", "install", "--port", "9100")
    assert done.code == 0 and str(file) in done.out
    assert f"--db {cli.home / 'memory.db'} --port 9100" in file.read_text()
    assert "enable mnemic.service" in (system / "calls").read_text()
    assert cli.json("service", "status")["running"] is True
    assert "Removed" in cli("service", "uninstall").out and not file.exists()
    assert "disable --now mnemic.service" in (system / "calls").read_text()
    assert "not installed" in cli("service", "uninstall").out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_a_dry_run_shows_the_file_and_the_commands_and_does_nothing(cli, system):
    done = cli("service", "install", "--dry-run")
    assert "[Service]" in done.out and "systemctl --user daemon-reload" in done.out
    assert not (cli.home / ".config").exists() and not (system / "calls").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_a_system_that_refuses_is_quoted_with_what_to_do_later(cli, system):
    (system / "fails").touch()
    done = cli("service", "install")
    assert done.code != 0 and "No bus" in done.err and "systemctl --user enable mnemic.service" in done.err
    assert "installed, not running" in cli("service", "status").out
    assert cli("service", "uninstall").code == 0
