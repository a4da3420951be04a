"""How well recall finds: the public data sets, loaded through the product's own write path and scored.

    python -m bench.retrieval --data FOLDER [--only locomo10,scifact] [--sample N] [--runs FOLDER] [--around N]
                              [--pooled]

Each turn of a conversation is a memory of its own and the conversation its session; what an assistant said is
kept with less confidence than what a person said. Every haystack is an empty store of its own. The scorer is the one
beside the data. Vectors are kept by text between runs, since embedding everything takes hours.

With --pooled all haystacks of a set (or of its sample) become one store, which is asked every question; plain FTS5 over
the same turns is scored beside it. With --around the turns on either side of the first five hits count as well.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

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
SHOWN = 5
POOL = "pool"
FTS5 = "SELECT id FROM turn WHERE turn MATCH ? ORDER BY bm25(turn) LIMIT ?"
BATCH = 1000

TARGETS = {
    ("longmemeval_s", "doc"): {"any@5": 0.985, "all@5": 0.93},
    ("locomo10", "doc"): {"any@5": 0.94},
    ("locomo10", "turn"): {"any@5": 0.74},
    ("beam_128k", "doc"): {"any@5": 0.82},
    ("scifact", "doc"): {"ndcg@10": 0.74},
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


class Answer(NamedTuple):
    """A question, the turns found for it, best first, and whether those around the first few hold evidence."""

    question: dict[str, Any]
    ranked: list[str]
    is_covered: bool = False


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


def pooled(data: Dataset, sample: int | None) -> Dataset:
    """*data* with all its haystacks, or *sample* of them, as one; a document keeps the date it has in the first."""
    chosen = sampled(data, sample)
    dates: dict[str, str | None] = {}
    for haystack in chosen:
        for document, date in data.haystacks[haystack]:
            dates.setdefault(document, date)
    asked = [question | {"haystack": POOL} for question in data.questions if question["haystack"] in chosen]
    path = data.path.with_name(f"{data.name}-pool.jsonl.gz")
    return Dataset(path, data.documents, {POOL: list(dates.items())}, asked)


def sampled(data: Dataset, sample: int | None) -> list[str]:
    """The haystacks that are asked: all, or *sample* of them spread evenly."""
    step = max(1, len(data.haystacks) // sample) if sample else 1
    return list(data.haystacks)[::step]


def fts5(data: Dataset) -> Iterator[Answer]:
    """Every question of a pool with the turns as plain FTS5 ranks them: any word, porter, BM25."""
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE turn USING fts5 (id UNINDEXED, text, tokenize = 'porter unicode61')"
    )
    turns = ((str(note.metadata["turn"]), note.text) for note in notes(data, POOL))
    database.executemany("INSERT INTO turn VALUES (?, ?)", turns)
    for question in data.questions:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question["question"]))
        yield Answer(question, [row[0] for row in database.execute(FTS5, (words, RANKED))])


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


def answers(ctx: Context, question: dict[str, Any], around: int) -> Answer:
    """What recall finds for *question*."""
    hits = recall(ctx, _query(ctx, question, RANKED)).hits
    first = recall(ctx, _query(ctx, question, SHOWN), around=around).hits if around else ()
    shown = {str(turn.metadata["turn"]) for hit in first for turn in (*hit.before, hit.memory, *hit.after)}
    is_covered = bool(shown & set(question["turns"]))
    return Answer(question, [str(hit.memory.metadata["turn"]) for hit in hits], is_covered)


def _query(ctx: Context, question: dict[str, Any], limit: int) -> Query:
    now = parse_moment(question["date"], "date", 0) if question.get("date") else ctx.now()
    return Query(text=question["question"], filter=Filter(), limit=limit, now=now)


def run(data: Dataset, embedder: Embedder, sample: int | None, around: int) -> Iterator[Answer]:
    """Every question (or those of *sample* haystacks, spread evenly) with its ranked turns."""
    for haystack in sampled(data, sample):
        asked = [question for question in data.questions if question["haystack"] == haystack]
        with tempfile.TemporaryDirectory() as folder:
            store = SqliteStore(Path(folder) / "haystack.db", durable=False)
            store.use_models(*(model.name for model in embedder.models))
            ctx = Context(store=store, embedder=embedder)
            fill(ctx, notes(data, haystack))
            for question in asked:
                yield answers(ctx, question, around)
            store.close()


def scorer(folder: Path) -> ModuleType:
    """The scorer that lies beside the data."""
    spec = importlib.util.spec_from_file_location("scorer", folder.parent / "bench" / "retrieval_score.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report(name: str, table: dict[str, dict[str, float]], level: str, asked: int, seconds: float) -> None:
    """One line of figures, with what was aimed at."""
    row = table["ALL"]
    shown = "  ".join(
        f"{figure} {row[figure]:.3f}" for figure in ("any@1", "any@5", "all@5", "any@10", "mrr", "ndcg@10")
    )
    aims = TARGETS.get((name, level), {})
    verdict = "  ".join(
        f"[{figure} {'≥' if row[figure] >= aim else '<'} {aim}]" for figure, aim in aims.items()
    )
    print(
        f"{name:14} {level:4} n={row['n']:<5.0f} {shown}  {verdict}  ({asked} asked, {seconds:.0f} s)",
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
    parser.add_argument("--around", type=int, default=0, help="turns on either side of a hit that count too")
    parser.add_argument("--pooled", action="store_true", help="ask all haystacks of a set as one store")
    options = parser.parse_args()
    embedder = cached_models()
    chosen = set(options.only.split(",")) if options.only else None
    judge = scorer(options.data.resolve())
    for path in sorted(options.data.glob("*.jsonl.gz")):
        data = load(path)
        if chosen is not None and data.name not in chosen:
            continue
        if options.pooled:
            data = pooled(data, options.sample)
            evaluate(data, "FTS5", fts5(data), options.runs, judge)
        found = run(data, embedder, None if options.pooled else options.sample, options.around)
        evaluate(data, data.name, found, options.runs, judge)


def evaluate(data: Dataset, name: str, found: Iterable[Answer], runs: Path | None, judge: ModuleType) -> None:
    """Score the answers to the questions of *data* and print the figures under this *name*."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = runs or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        ranked, questions = folder / f"{name}.run.jsonl", folder / f"{name}.asked.jsonl"
        asked = list(found)
        ranked.write_text(
            "".join(json.dumps({"id": one.question["id"], "ranked": one.ranked}) + "\n" for one in asked)
        )
        questions.write_text("".join(_told(data, [one.question for one in asked])))
        for level in ("doc", "turn"):
            table = judge.score(str(questions), str(ranked), level)
            report(name, table, level, len(asked), time.monotonic() - started)
    counted = [one for one in asked if one.question["turns"] and not one.question["abstain"]]
    covered = sum(one.is_covered for one in counted)
    if covered:
        print(f"{name:14} turn any@{SHOWN} with the turns around {covered / len(counted):.3f}", flush=True)


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
