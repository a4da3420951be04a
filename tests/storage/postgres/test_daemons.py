"""Daemons over one database: each finds what another wrote, and one that is killed takes nothing with it."""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import sys
import threading
import time
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from postgres_server import shared_server
from server_process import environment

pytestmark = pytest.mark.only_on("postgres")


class Daemon:
    """`mnemic serve` as a process."""

    def __init__(self, home: Path, address: str):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "mnemic", "serve", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**environment(home), "MNEMIC_DB": address},
            cwd=home,
        )
        assert self.process.stdout
        found = re.search(r"http://127\.0\.0\.1:\d+", self.process.stdout.readline())
        assert found
        self._where = found[0]

    def call(self, tool: str, **arguments: object) -> Any:
        """What a tool answers."""
        request = urllib.request.Request(
            f"{self._where}/api/v1/tools/mnemic/{tool}",
            json.dumps(arguments).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def kill(self) -> None:
        """End it without a chance to finish anything."""
        self.process.kill()
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()


@pytest.fixture
def daemon(engine, tmp_path):
    """Starts daemons over one database."""
    name = f"daemons_{secrets.token_hex(6)}"
    address = shared_server().create(name)
    started: list[Daemon] = []

    def start() -> Daemon:
        started.append(Daemon(tmp_path, address))
        return started[-1]

    yield start
    for one in started:
        one.kill()
    shared_server().drop(name)


def texts(answer: Any) -> list[str]:
    return [hit["text"] for hit in answer["memories"]]


def test_a_write_through_one_daemon_is_found_through_the_other(daemon):
    one, other = daemon(), daemon()
    assert texts(other.call("recall", query="heron")) == []
    one.call("remember", text="The heron is at the pond", title="heron")
    assert texts(other.call("recall", query="heron")) == ["The heron is at the pond"]
    other.call("revise", id="heron", text="The heron is at the weir")
    assert texts(one.call("recall", query="where is the heron?")) == ["The heron is at the weir"]
    one.call("forget", ids=["heron"])
    assert texts(other.call("recall", query="heron")) == []


def test_what_a_daemon_has_acknowledged_outlives_its_death(daemon):
    first = daemon()
    acknowledged: list[str] = []

    def write(writer: int) -> None:
        try:
            for number in range(10_000):
                text = f"writer {writer} saw swallow {number}"
                first.call("remember", text=text, namespace=f"space {writer}", force=True)
                acknowledged.append(text)
        except (OSError, HTTPException):
            return

    writers = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in writers:
        thread.start()
    for _ in range(6000):
        if len(acknowledged) >= 40:
            break
        time.sleep(0.02)
    first.kill()
    for thread in writers:
        thread.join()
    assert len(acknowledged) >= 40
    found = daemon().call("list", limit=1000, namespace="*")
    kept = {one["title"] for one in found["memories"]}
    assert set(acknowledged) <= kept
    assert len(kept) <= len(acknowledged) + len(writers)  # of each writer one may have been under way
