"""Several real processes on one database: nothing is lost, nobody sees a lock, everybody sees everything."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from mnemic.core.context import Context, wall_clock
from mnemic.core.memories import Note, Revision, forget, remember, revise
from mnemic.core.upkeep import embed_pending
from mnemic.storage.sqlite.store import SqliteStore
from support import Uids, WordEmbedder

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
def test_many_processes_lose_nothing(tmp_path, mode, processes, times):
    database, start = tmp_path / "shared.db", tmp_path / "start"
    with ExitStack() as stack:
        children = [
            stack.enter_context(a_child(mode, database, f"process {number}", times, start))
            for number in range(processes)
        ]
        for child in children:
            assert heard(child) == "ready"
        start.touch()
        for child in children:
            said, complaint = child.communicate()
            assert (child.returncode, complaint, said) == (0, "", f"{times}\n")
    store = SqliteStore(database)
    titles = {memory.title for memory in store.read().all_memories()}
    assert titles == {f"process {number} wrote {n}" for number in range(processes) for n in range(times)}
    assert [change.sequence for change in store.read().journal()] == list(range(1, processes * times + 1))
    assert store.check() == []
    store.close()


@pytest.mark.parametrize("seed", range(6))
def test_what_was_acknowledged_survives_being_killed(tmp_path, seed):
    database = tmp_path / "killed.db"
    chance = random.Random(seed)
    acknowledged = []
    for life in range(2):
        with a_child("write-on", database, f"life {life}") as child:
            acknowledged.append(heard(child))
            time.sleep(chance.uniform(0, 0.4))
            child.kill()
            acknowledged += [json.loads(line) for line in child.stdout if line.endswith("\n")]
        store = SqliteStore(database)
        kept = {memory.uid for memory in store.read().all_memories()}
        assert set(acknowledged) <= kept
        assert len(kept) <= len(acknowledged) + life + 1, (
            "at most one a life was written and not yet acknowledged"
        )
        assert store.check() == []
        store.close()


def test_a_write_in_one_process_is_recalled_in_another(tmp_path):
    database = tmp_path / "two.db"
    store, embedder = SqliteStore(database), WordEmbedder()
    store.use_models(embedder.name)
    ctx = Context(store=store, embedder=embedder, now=wall_clock, new_uid=Uids(), actor="parent")

    with a_child("answer", database) as child:

        def found(question: str) -> dict[str, list[str]]:
            child.stdin.write(json.dumps(question) + "\n")
            child.stdin.flush()
            return heard(child)

        assert heard(child) == "ready"
        assert found("walrus") == {"recalled": [], "words": [], "vectors": []}
        [one] = remember(ctx, [Note(text="The walrus sleeps on ice", title="Walrus")]).kept
        everywhere = {"recalled": ["Walrus"], "words": ["Walrus"], "vectors": ["Walrus"]}
        assert found("walrus sleeps ice") == everywhere, "the other process gave it its vector on the way"

        [two] = remember(ctx, [Note(text="Gulls nest on cliffs", title="Gulls")]).kept
        assert embed_pending(ctx, 10) == 1
        assert {titles[0] for titles in found("gulls nest cliffs").values()} == {"Gulls"}

        revise(ctx, two.memory.id, Revision(text="Puffins dig burrows", title="Puffins"))
        assert {titles[0] for titles in found("puffins dig burrows").values()} == {"Puffins"}
        forget(ctx, [one.memory.id])
        assert all("Walrus" not in titles for titles in found("walrus sleeps ice").values())
    store.close()
