"""The first recall of a fresh process, by the CPU milliseconds of its steps."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROUNDS = 3


class FirstRecall(NamedTuple):
    """CPU milliseconds of each step."""

    imports: float
    opening: float
    model: float
    recall: float

    @property
    def total(self) -> float:
        """From the start of the process to the answer."""
        return sum(self)


def first_recalls(path: Path, question: str) -> tuple[FirstRecall, FirstRecall]:
    """The first process ever that asks the store at *path*, and the medians of later fresh ones.

    The first also writes the index files beside the store that the later ones find there.
    """
    command = [sys.executable, "-m", "bench.first_recall", str(path), question]
    first, *later = (
        FirstRecall(
            *json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        )
        for _ in range(1 + ROUNDS)
    )
    return first, FirstRecall(*map(median, zip(*later, strict=True)))


def main() -> None:
    """Ask the store named on the command line once, and print the steps as JSON."""
    from mnemic.app import open_app
    from mnemic.core.recall import recall
    from mnemic.model.filter import Filter, Query
    from mnemic.settings import Settings

    path, question = sys.argv[1:3]
    steps = [0.0, time.process_time()]
    with open_app(Settings(db=path, embedder="local"), actor="bench") as app:
        steps.append(time.process_time())
        assert app.ctx.embedder
        app.ctx.embedder.embed(["loads the model"])
        steps.append(time.process_time())
        now = app.ctx.now()
        found = recall(app.ctx, Query(text=question, filter=Filter(alive_at=now), limit=10, now=now))
        steps.append(time.process_time())
    if not found.hits:
        raise RuntimeError(f"nothing was found for {question!r}")
    print(json.dumps([1000 * (end - begin) for begin, end in pairwise(steps)]))


if __name__ == "__main__":
    main()
