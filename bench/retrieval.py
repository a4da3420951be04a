"""How well recall finds: the public data sets, loaded through the product's own write path and scored.

    python -m bench.retrieval --data FOLDER [--only locomo10,scifact] [--sample N] [--runs FOLDER]

Each turn of a conversation is a memory of its own and the conversation its session; what an assistant said is
kept with less confidence than what a person said. Every haystack is an empty store of its own. The scorer is the one
beside the data. Vectors are kept by text between runs, since embedding everything takes hours.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from bench.vectors import cached_models, rows, spoken
from mnemic.core.context import Context
from mnemic.core.memories import Note, remember
from mnemic.core.recall import recall
from mnemic.core.upkeep import embed_pending
from mnemic.embedding.base import Embedder
from mnemic.model.search import Filter, Query
from mnemic.model.values import parse_moment
from mnemic.storage.sqlite.store import SqliteStore

ASSISTANT_CONFIDENCE = 0.75
RANKED = 50
BATCH = 1000

TARGETS = {
    ("longmemeval_s", "doc"): {"any@5": 0.985, "all@5": 0.93},
    ("locomo10", "doc"): {"any@5": 0.93},
    ("locomo10", "turn"): {"any@5": 0.66},
    ("beam_128k", "doc"): {"any@5": 0.78},
    ("scifact", "doc"): {"ndcg@10": 0.73},
}


@dataclass(frozen=True, slots=True)
class Dataset:
    """One file: its documents by id, which of them each haystack has, and its questions."""

    path: Path
    documents: dict[str, list[dict[str, Any]]]
    haystacks: dict[str, list[tuple[str, str | None]]]
    questions: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """The name without the part it is of."""
        return self.path.name.split(".")[0]


def load(path: Path) -> Dataset:
    """The data set in *path*."""
    found = Dataset(path, {}, {}, [])
    for row in rows(path):
        match row["kind"]:
            case "doc":
                found.documents[row["id"]] = row["turns"]
            case "haystack":
                found.haystacks[row["id"]] = [tuple(pair) for pair in row["docs"]]
            case "question":
                found.questions.append(row)
    return found


def notes(data: Dataset, haystack: str) -> Iterator[Note]:
    """The turns of a haystack as notes; a person's name is part of what they said."""
    for document, date in data.haystacks[haystack]:
        moment = parse_moment(date, "date", 0) if date else None
        for turn in data.documents[document]:
            if not turn["text"].strip():
                continue
            yield Note(
                text=spoken(turn),
                session=document,
                confidence=ASSISTANT_CONFIDENCE if turn["role"] == "assistant" else 1.0,
                metadata={"turn": turn["id"]},
                created_at=moment,
            )


def fill(ctx: Context, wanted: Iterable[Note]) -> None:
    """Remember every note and wait for its vectors."""
    kept = list(wanted)
    for start in range(0, len(kept), BATCH):
        remember(ctx, kept[start : start + BATCH], force=True)
    while embed_pending(ctx, BATCH):
        pass


def answers(ctx: Context, question: dict[str, Any]) -> list[str]:
    """The turns recall ranks for *question*, best first."""
    now = parse_moment(question["date"], "date", 0) if question.get("date") else ctx.now()
    query = Query(text=question["question"], filter=Filter(), limit=RANKED, now=now)
    return [str(hit.memory.metadata["turn"]) for hit in recall(ctx, query).hits]


def run(data: Dataset, embedder: Embedder, sample: int | None) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Every question (or those of *sample* haystacks, spread evenly) with its ranked turns."""
    step = max(1, len(data.haystacks) // sample) if sample else 1
    for haystack in list(data.haystacks)[::step]:
        asked = [question for question in data.questions if question["haystack"] == haystack]
        with tempfile.TemporaryDirectory() as folder:
            store = SqliteStore(Path(folder) / "haystack.db", durable=False)
            store.use_models(*(model.name for model in embedder.models))
            ctx = Context(store=store, embedder=embedder)
            fill(ctx, notes(data, haystack))
            for question in asked:
                yield question, answers(ctx, question)
            store.close()


def scorer(folder: Path) -> ModuleType:
    """The scorer that lies beside the data."""
    spec = importlib.util.spec_from_file_location("scorer", folder.parent / "bench" / "retrieval_score.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report(data: Dataset, table: dict[str, dict[str, float]], level: str, asked: int, seconds: float) -> None:
    """One line of figures, with what was aimed at."""
    row = table["ALL"]
    shown = "  ".join(
        f"{name} {row[name]:.3f}" for name in ("any@1", "any@5", "all@5", "any@10", "mrr", "ndcg@10")
    )
    aims = TARGETS.get((data.name, level), {})
    verdict = "  ".join(f"[{name} {'≥' if row[name] >= aim else '<'} {aim}]" for name, aim in aims.items())
    print(
        f"{data.name:14} {level:4} n={row['n']:<5.0f} {shown}  {verdict}  ({asked} asked, {seconds:.0f} s)",
        flush=True,
    )


def main() -> None:
    """Run and score every data set in the folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with *.jsonl.gz")
    parser.add_argument("--only", help="names of data sets, separated by commas")
    parser.add_argument("--sample", type=int, help="so many haystacks of each set")
    parser.add_argument("--runs", type=Path, help="keep the ranked lists in this folder")
    options = parser.parse_args()
    embedder = cached_models()
    chosen = set(options.only.split(",")) if options.only else None
    for path in sorted(options.data.glob("*.jsonl.gz")):
        data = load(path)
        if chosen is None or data.name in chosen:
            evaluate(data, embedder, options.sample, options.runs, scorer(options.data.resolve()))


def evaluate(
    data: Dataset, embedder: Embedder, sample: int | None, runs: Path | None, judge: ModuleType
) -> None:
    """Ask every question of *data* and print the figures."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = runs or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        ranked, questions = folder / f"{data.name}.run.jsonl", folder / f"{data.name}.asked.jsonl"
        asked = list(run(data, embedder, sample))
        ranked.write_text("".join(json.dumps({"id": q["id"], "ranked": r}) + "\n" for q, r in asked))
        questions.write_text("".join(_told(data, [q for q, _ in asked])))
        for level in ("doc", "turn"):
            table = judge.score(str(questions), str(ranked), level)
            report(data, table, level, len(asked), time.monotonic() - started)


def _told(data: Dataset, asked: list[dict[str, Any]]) -> Iterator[str]:
    """The data set again with only the questions that were asked, so that the scorer counts no others."""
    for document, turns in data.documents.items():
        yield (
            json.dumps({"kind": "doc", "id": document, "turns": [{"id": turn["id"]} for turn in turns]})
            + "\n"
        )
    for haystack, documents in data.haystacks.items():
        yield json.dumps({"kind": "haystack", "id": haystack, "docs": documents}) + "\n"
    yield from (json.dumps(question) + "\n" for question in asked)


if __name__ == "__main__":
    main()
