"""`mnemic serve` as a service of the user's system: systemd, launchd or the Windows task scheduler.

Says which file describes the service, what it holds, and which commands of the system start and end it.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

NAME = "mnemic"
LABEL = "mnemic.serve"
TASK = "Mnemic"
RESTART_SECONDS = 5
Command = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Service:
    """A service of the user: its file, and the commands of the system for it."""

    system: str
    file: Path
    text: str
    start: tuple[Command, ...]
    stop: tuple[Command, ...]
    reload: tuple[Command, ...]
    """What to run when the file is gone."""
    state: Command
    """Succeeds if the service runs."""
    log: str
    """Where its output is."""
    encoding: str = "utf-8"


def service_of(
    system: str, home: Path, user: int, environment: Mapping[str, str], words: Sequence[str]
) -> Service:
    """The service that runs *words* on *system*, a value of `sys.platform`."""
    if system == "darwin":
        return _launchd(home, user, words)
    if system == "win32":
        return _task(home, environment, words)
    return _systemd(home, environment, words)


def _systemd(home: Path, environment: Mapping[str, str], words: Sequence[str]) -> Service:
    unit = f"{NAME}.service"
    folder = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "systemd" / "user"
    control = ("systemctl", "--user")
    text = f"""\
[Unit]
Description=Mnemic, memory for AI agents

[Service]
Type=exec
ExecStart={" ".join(map(_systemd_word, words))}
Restart=on-failure
RestartSec={RESTART_SECONDS}
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
"""
    return Service(
        system="systemd",
        file=folder / unit,
        text=text,
        start=((*control, "daemon-reload"), (*control, "enable", unit), (*control, "restart", unit)),
        stop=((*control, "disable", "--now", unit),),
        reload=((*control, "daemon-reload"),),
        state=(*control, "is-active", "--quiet", unit),
        log=f"journalctl --user -u {unit}",
    )


def _systemd_word(word: str) -> str:
    """*word* as systemd reads it back: specifiers, variables, quotes and spaces mean themselves."""
    plain = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{plain}"' if plain != word or not plain or any(sign in plain for sign in " \t';#") else plain


def _launchd(home: Path, user: int, words: Sequence[str]) -> Service:
    import plistlib

    log = home / "Library" / "Logs" / "mnemic.log"
    held = {
        "Label": LABEL,
        "ProgramArguments": list(words),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": RESTART_SECONDS,
        "Umask": 0o077,
        "StandardOutPath": str(log),
        "StandardErrorPath": str(log),
    }
    file = home / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    domain = f"gui/{user}"
    return Service(
        system="launchd",
        file=file,
        text=plistlib.dumps(held, sort_keys=False).decode(),
        start=(("launchctl", "bootstrap", domain, str(file)),),
        stop=(("launchctl", "bootout", f"{domain}/{LABEL}"),),
        reload=(),
        state=("launchctl", "print", f"{domain}/{LABEL}"),
        log=str(log),
    )


def _task(home: Path, environment: Mapping[str, str], words: Sequence[str]) -> Service:
    folder = Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local") / NAME
    file = folder / "service.xml"
    text = f"""\
<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo><Description>Mnemic, memory for AI agents</Description></RegistrationInfo>
  <Triggers><LogonTrigger><Enabled>true</Enabled></LogonTrigger></Triggers>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure><Interval>PT1M</Interval><Count>3</Count></RestartOnFailure>
  </Settings>
  <Actions>
    <Exec>
      <Command>{escape(words[0])}</Command>
      <Arguments>{escape(subprocess.list2cmdline(words[1:]))}</Arguments>
    </Exec>
  </Actions>
</Task>
"""
    return Service(
        system="task scheduler",
        file=file,
        text=text,
        start=(
            ("schtasks", "/Create", "/TN", TASK, "/XML", str(file), "/F"),
            ("schtasks", "/Run", "/TN", TASK),
        ),
        stop=(("schtasks", "/End", "/TN", TASK), ("schtasks", "/Delete", "/TN", TASK, "/F")),
        reload=(),
        state=("schtasks", "/Query", "/TN", TASK),
        log="the task scheduler's history",
        encoding="utf-16",
    )
