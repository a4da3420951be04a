"""Several real processes on one database: nothing is lost, nobody sees a lock, everybody sees everything."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from support import Uids, WordEmbedder, faults, open_store

from mnemic.core.context import Context, wall_clock
from mnemic.core.embedding_queue import embed_pending
from mnemic.core.memories import Note, Revision, forget, remember, revise
from mnemic.storage.base import CLAIM_LIFETIME
from mnemic.storage.queries import each_memory

CHILD = Path(__file__).with_name("child.py")


@contextmanager
def a_child(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Another process, which does not outlive the block."""
    command = [sys.executable, str(CHILD), *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            yield child
        finally:
            child.kill()


def heard(child: subprocess.Popen[str]) -> object:
    """The next thing the child says, or what went wrong in it."""
    line = child.stdout.readline()
    assert line, child.stderr.read()
    return json.loads(line)


@pytest.mark.parametrize("mode, processes, times", [("write", 8, 100), ("come-and-go", 4, 40)])
def test_many_processes_lose_nothing(engine, tmp_path, mode, processes, times):
    database, start = (engine, tmp_path, "shared"), tmp_path / "start"
    with ExitStack() as stack:
        children = [
            stack.enter_context(a_child(mode, *database, f"process {number}", times, start))
            for number in range(processes)
        ]
        for child in children:
            assert heard(child) == "ready"
        start.touch()
        for child in children:
            said, complaint = child.communicate()
            assert (child.returncode, complaint, said) == (0, "", f"{times}\n")
    store = open_store(*database)
    titles = {memory.title for memory in each_memory(store.read())}
    assert titles == {f"process {number} wrote {n}" for number in range(processes) for n in range(times)}
    assert [change.sequence for change in store.read().journal()] == list(range(1, processes * times + 1))
    assert faults(store) == []
    store.close()


@pytest.mark.parametrize("seed", range(3))
def test_what_was_acknowledged_survives_being_killed(engine, tmp_path, seed):
    database = engine, tmp_path, "killed"
    chance = random.Random(seed)
    acknowledged = []
    for life in range(2):
        with a_child("write-on", *database, f"life {life}") as child:
            acknowledged.append(heard(child))
            time.sleep(chance.uniform(0, 0.4))
            child.kill()
            acknowledged += [json.loads(line) for line in child.stdout if line.endswith("\n")]
        store = open_store(*database)
        kept = {memory.uid for memory in each_memory(store.read())}
        assert set(acknowledged) <= kept
        assert len(kept) <= len(acknowledged) + life + 1, (
            "at most one a life was written and not yet acknowledged"
        )
        assert faults(store) == []
        store.close()


def test_a_write_in_one_process_is_recalled_in_another(engine, tmp_path):
    database = engine, tmp_path, "two"
    store, embedder = open_store(*database), WordEmbedder()
    store.use_models(embedder.name)
    ctx = Context(store=store, embedder=embedder, now=wall_clock, new_uid=Uids(), actor="parent")

    with a_child("answer", *database) as child:

        def found(question: str) -> dict[str, list[str]]:
            child.stdin.write(json.dumps(question) + "\n")
            child.stdin.flush()
            return heard(child)

        assert heard(child) == "ready"
        assert found("walrus") == {"recalled": [], "words": [], "vectors": []}
        [one] = remember(ctx, [Note(text="The walrus sleeps on ice", name="Walrus")]).kept
        everywhere = {"recalled": ["Walrus"], "words": ["Walrus"], "vectors": ["Walrus"]}
        assert found("walrus sleeps ice") == everywhere, "the other process gave it its vector on the way"

        [two] = remember(ctx, [Note(text="Gulls nest on cliffs", name="Gulls")]).kept
        assert embed_pending(ctx, 10) == 1
        assert {titles[0] for titles in found("gulls nest cliffs").values()} == {"Gulls"}

        revise(ctx, two.memory.id, Revision(text="Puffins dig burrows", name="Puffins"))
        assert {titles[0] for titles in found("puffins dig burrows").values()} == {"Puffins"}
        forget(ctx, [one.memory.id])
        assert all("Walrus" not in titles for titles in found("walrus sleeps ice").values())
    store.close()


@pytest.fixture
def backlog(engine, tmp_path) -> Context:
    """A store with 600 statements that wait for their vectors."""
    store, embedder = open_store(engine, tmp_path, "backlog"), WordEmbedder()
    store.use_models(embedder.name)
    ctx = Context(store=store, embedder=embedder)
    for start in range(0, 600, 100):
        remember(ctx, [Note(text=f"fact {number} of the backlog") for number in range(start, start + 100)])
    yield ctx
    store.close()


def embedded_by(children: list[subprocess.Popen[str]]) -> int:
    """How many texts these processes have embedded when they end."""
    total = 0
    for child in children:
        said, complaint = child.communicate(timeout=60)
        assert complaint == ""
        total += sum(map(json.loads, said.split()))
    return total


def test_three_processes_embed_each_statement_once(backlog, engine, tmp_path):
    start = tmp_path / "start"
    with ExitStack() as stack:
        children = [
            stack.enter_context(a_child("embed", engine, tmp_path, "backlog", start)) for _ in range(3)
        ]
        assert [heard(child) for child in children] == ["ready"] * 3
        start.touch()
        assert embedded_by(children) == 600
    assert backlog.store.read().backlog() == 0


def test_what_a_killed_process_had_claimed_is_embedded_by_others(backlog, engine, tmp_path):
    start = tmp_path / "start"
    with ExitStack() as stack:
        children = [
            stack.enter_context(a_child("embed", engine, tmp_path, "backlog", start)) for _ in range(3)
        ]
        assert [heard(child) for child in children] == ["ready"] * 3
        start.touch()
        victim, *others = children
        heard(victim)  # it has embedded a batch that it has not stored yet
        victim.kill()
        assert embedded_by(others) <= 600 - 16
    left = backlog.store.read().backlog()
    assert 0 < left <= 16, "its last batch is still claimed"
    assert embed_pending(backlog, 100) == 0
    later = replace(backlog, now=lambda: wall_clock() + CLAIM_LIFETIME)
    assert embed_pending(later, 100) == left
    assert backlog.store.read().backlog() == 0 and faults(backlog.store) == []
