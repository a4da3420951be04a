"""Hooks and clients beside a warm daemon: CPU of each event, of a command, and the memory of ten clients."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench import texts
from bench.figures import Figure, timed
from bench.footprint import server
from bench.processes import cpu_seconds_of, resident_megabytes, resident_users_megabytes
from bench.run import Bench
from bench.stores import copied
from bench.timer import spent
from mnemic.daemon_client.address import address_of
from mnemic.daemon_client.client import ask

ROUNDS = 9
CLIENTS = 10
LONG_TURNS = 200
"""Turns of a transcript that was never read before."""
TOOL_OUTPUT = "x" * 40_000
"""What a tool printed in a turn, which is read over."""
EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "SubagentStop", "PreCompact", "SessionEnd")


def hooks(bench: Bench) -> Iterator[Figure]:
    """CPU of `mnemic hook` at each event, in the client's process and in the daemon, one new turn at a time."""
    with copied(bench.stores.ours(bench.sizes[1])) as path, server(path, "local") as warm:
        warm.start()
        warm.call("recall", query=texts.question(1))
        project = path.parent / "project"
        (project / ".git").mkdir(parents=True)
        clock = partial(_cpu, path)
        for event in EVENTS:
            calls = [partial(_hook, path, project, event, number, 1) for number in range(ROUNDS)]
            yield timed(f"mnemic hook {event}", spent(calls, clock), "hook")
        calls = [partial(_hook, path, project, "Stop", 100 + number, LONG_TURNS) for number in range(4)]
        yield timed(f"mnemic hook Stop, {LONG_TURNS} turns at once", spent(calls, clock), "hook")


def _hook(path: Path, project: Path, event: str, number: int, turns: int) -> None:
    """One call as Claude Code makes it, for a session of its own with a transcript of so many turns."""
    transcript = project.parent / f"{event}-{number}.jsonl"
    _write_transcript(transcript, number, turns)
    payload = {
        "session_id": f"{event}-{number}",
        "cwd": str(project),
        "transcript_path": str(transcript),
        "prompt": texts.question(number),
    }
    subprocess.run(
        [sys.executable, "-m", "mnemic", "--db", str(path), "hook", event],
        input=json.dumps(payload).encode(),
        env={**os.environ, "MNEMIC_EMBEDDER": "local"},
        check=True,
        capture_output=True,
    )


def _write_transcript(file: Path, number: int, turns: int) -> None:
    def entry(role: str, content: object) -> str:
        return json.dumps({"type": role, "message": {"role": role, "content": content}}) + "\n"

    with file.open("w") as stream:
        for turn in range(turns):
            said = texts.text(30_000_000 + number * 1_000 + turn)
            stream.write(entry("user", f"Always check this. {said}"))
            stream.write(entry("user", [{"type": "tool_result", "content": TOOL_OUTPUT}]))
            stream.write(entry("assistant", [{"type": "text", "text": said}]))


def _cpu(path: Path) -> float:
    """CPU seconds of the daemon of *path* and of all processes that we started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime + (cpu_seconds_of(_daemon(path)) or 0.0)


def _daemon(path: Path) -> int:
    address = address_of(str(path))
    told = ask(address, "status") if address else None
    if told is None:
        raise RuntimeError("the daemon does not run")
    return int(told["process"])


def warm_command(bench: Bench) -> Iterator[Figure]:
    """`mnemic recall`, with its model, beside a warm daemon."""
    with copied(bench.stores.ours(bench.sizes[1])) as path, server(path, "local") as warm:
        warm.start()
        calls = [partial(_recall, path, number) for number in range(ROUNDS)]
        yield timed("mnemic recall beside a warm daemon", spent(calls, partial(_cpu, path)), "command warm")


def _recall(path: Path, number: int) -> None:
    words = ["--db", str(path), "--namespace", "*", "--json", "recall", texts.question(number)]
    environment = {**os.environ, "MNEMIC_EMBEDDER": "local"}
    subprocess.run([sys.executable, "-m", "mnemic", *words], env=environment, check=True, capture_output=True)


def ten_clients(bench: Bench) -> Iterator[Figure]:
    """Resident memory of ten stdio clients that work on one store, their daemon included."""
    with copied(bench.stores.ours(bench.sizes[1])) as path, ExitStack() as stack:
        clients = [stack.enter_context(server(path, "local")) for _ in range(CLIENTS)]
        for number, client in enumerate(clients):
            client.start()
            client.call("recall", query=texts.question(number))
            client.call("remember", text=texts.text(40_000_000 + number), force=True)
        shims = sum(resident_megabytes(client.pid) or 0.0 for client in clients)
        daemon = resident_users_megabytes(path) or 0.0
    yield Figure(
        what="ten stdio clients and their daemon", measured=shims + daemon, unit="MB", row="ten clients"
    )
