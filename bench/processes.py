"""CPU time and memory of other processes, as Linux tells them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROCESSES = Path("/proc")
STARTER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr)
sys.exit(code)
"""
"""A small process in between: the peak of a child counts what its parent held when it was started."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process used from start to end."""

    cpu_ms: float
    peak_megabytes: float


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Usage:
    """Run *command* with its output thrown away and return what it used; CalledProcessError if it fails."""
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", STARTER, *command], env=environment, capture_output=True, text=True
    )
    if told.returncode:
        raise subprocess.CalledProcessError(told.returncode, command, stderr=told.stderr)
    cpu_seconds, peak_kilobytes = map(float, told.stderr.splitlines()[-1].split())
    return Usage(1000 * cpu_seconds, peak_kilobytes / 1024)


def cpu_seconds_of(pid: int) -> float | None:
    """The CPU time a process has used in all its threads; None where the system does not tell."""
    try:
        tasks = list((PROCESSES / str(pid) / "task").iterdir())
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
    except OSError:
        return None


def children(pid: int) -> list[int]:
    """The processes that a process has started and that run."""
    return [int(one) for one in (PROCESSES / f"{pid}/task/{pid}/children").read_text().split()]


def resident_megabytes(pid: int) -> float | None:
    """The resident memory of a process; None where the system does not tell."""
    try:
        lines = (PROCESSES / str(pid) / "status").read_text().splitlines()
    except OSError:
        return None
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:"))


def resident_users_megabytes(file: Path) -> float | None:
    """The resident memory of all processes that have *file* open: a server and the daemon behind it."""
    found = [resident_megabytes(pid) for pid in _users(file)]
    return sum(one for one in found if one is not None) if found else None


def _users(file: Path) -> list[int]:
    wanted = str(file.resolve())
    return [int(folder.name) for folder in PROCESSES.glob("[0-9]*") if wanted in _open_files(folder)]


def _open_files(folder: Path) -> list[str]:
    try:
        return [str(link.readlink()) for link in (folder / "fd").iterdir()]
    except OSError:  # it ended, or belongs to somebody else
        return []


def resident_beyond_files(pid: int, folder: Path) -> float | None:
    """The resident memory of a process in megabytes, without files of *folder* that it has mapped."""
    try:
        lines = (PROCESSES / str(pid) / "smaps").read_text().splitlines()
    except OSError:
        return None
    total, is_counted = 0, True
    for line in lines:
        words = line.split()
        if not words[0].endswith(":"):
            is_counted = not (len(words) > 5 and words[5].startswith(f"{folder.resolve()}/"))
        elif words[0] == "Rss:" and is_counted:
            total += int(words[1])
    return total / 1024
