"""Retrieval quality: public data sets, loaded through the product's own write path and scored.

    python -m bench.retrieval --data FOLDER [--only locomo10,scifact] [--sample N] [--runs FOLDER] [--around N]
                              [--pooled] [--postgres URL]

Each turn of a conversation is a memory and the conversation its session; turns of an assistant have a lower confidence
than those of a person. Every haystack is a store of its own. The scorer is the one beside the data. Vectors are cached
by text between runs, since embedding everything takes hours.

With --pooled all haystacks of a set (or of its sample) become one store, which is asked every question; plain FTS5 over
the same turns is scored beside it. With --around the turns on either side of the first five hits count as well.
With --postgres every question is also asked of a database made for it on that server, and the figures are compared.
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
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import uuid4

from bench.vector_cache import cached_models, rows, spoken
from mnemic.app import open_store
from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_pending
from mnemic.core.memories import Note, remember
from mnemic.core.recall import recall
from mnemic.embedding.base import Embedder
from mnemic.model.filter import Filter, Query
from mnemic.model.time import parse_moment
from mnemic.settings import Settings
from mnemic.storage.base import Store

ASSISTANT_CONFIDENCE = 0.75
RANKED = 50
SHOWN = 5
POOL = "pool"
FTS5 = "SELECT id FROM turn WHERE turn MATCH ? ORDER BY bm25(turn) LIMIT ?"
BATCH = 1000
FIGURES = ("any@1", "any@5", "all@5", "any@10", "mrr", "ndcg@10")
MOST_DIFFERENCE = 0.01
"""Figures of the engines may differ by so much."""
TOP = 10

TARGETS = {
    ("longmemeval_s", "doc"): {"any@5": 0.985, "all@5": 0.93},
    ("locomo10", "doc"): {"any@5": 0.94},
    ("locomo10", "turn"): {"any@5": 0.74},
    ("beam_128k", "doc"): {"any@5": 0.82},
    ("scifact", "doc"): {"ndcg@10": 0.74},
}


@dataclass(frozen=True, slots=True)
class Dataset:
    """One file: documents by id, the documents of each haystack, and questions."""

    path: Path
    documents: dict[str, list[dict[str, Any]]]
    haystacks: dict[str, list[tuple[str, str | None]]]
    questions: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """The name of the set without its split."""
        return self.path.name.split(".")[0]


class Answer(NamedTuple):
    """A question, the turns found for it, best first, and whether the turns around the first few hold evidence."""

    question: dict[str, Any]
    ranked: list[str]
    is_covered: bool = False


def load(path: Path) -> Dataset:
    """The data set at *path*."""
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
    """*data* with all its haystacks, or *sample* of them, merged; a document keeps its first date."""
    chosen = sampled(data, sample)
    dates: dict[str, str | None] = {}
    for haystack in chosen:
        for document, date in data.haystacks[haystack]:
            dates.setdefault(document, date)
    asked = [question | {"haystack": POOL} for question in data.questions if question["haystack"] in chosen]
    path = data.path.with_name(f"{data.name}-pool.jsonl.gz")
    return Dataset(path, data.documents, {POOL: list(dates.items())}, asked)


def sampled(data: Dataset, sample: int | None) -> list[str]:
    """All haystacks, or *sample* of them at even distances."""
    step = max(1, len(data.haystacks) // sample) if sample else 1
    return list(data.haystacks)[::step]


def fts5(data: Dataset) -> Iterator[Answer]:
    """Every question of a pool with the turns as plain FTS5 ranks them: OR query, porter stemmer, BM25."""
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
    """The turns of a haystack as notes; the text begins with the speaker's name."""
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
    """Store every note and embed it."""
    kept = list(wanted)
    for start in range(0, len(kept), BATCH):
        remember(ctx, kept[start : start + BATCH], force=True)
    while embed_pending(ctx, BATCH):
        pass


def answers(ctx: Context, question: dict[str, Any], around: int) -> Answer:
    """The turns recall finds for *question*."""
    hits = recall(ctx, _query(ctx, question, RANKED)).hits
    first = recall(ctx, _query(ctx, question, SHOWN), around=around).hits if around else ()
    shown = {str(turn.metadata["turn"]) for hit in first for turn in (*hit.before, hit.memory, *hit.after)}
    is_covered = bool(shown & set(question["turns"]))
    return Answer(question, [str(hit.memory.metadata["turn"]) for hit in hits], is_covered)


def _query(ctx: Context, question: dict[str, Any], limit: int) -> Query:
    now = parse_moment(question["date"], "date", 0) if question.get("date") else ctx.now()
    return Query(text=question["question"], filter=Filter(), limit=limit, now=now)


@contextmanager
def empty_store(embedder: Embedder, server: str | None) -> Iterator[Store]:
    """A store for one haystack: a file, or a database made on *server*."""
    with (
        tempfile.TemporaryDirectory() as folder,
        _database(folder, server) as database,
        closing(open_store(Settings(db=database, fast_writes=True), embedder)) as store,
    ):
        yield store


@contextmanager
def _database(folder: str, server: str | None) -> Iterator[str]:
    if server is None:
        yield str(Path(folder) / "haystack.db")
        return
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    name = f"haystack_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
        try:
            parts = conninfo_to_dict(server) | {"dbname": name}
            yield "postgresql://?" + urlencode({key: str(value) for key, value in parts.items()})
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def run(
    data: Dataset, embedder: Embedder, sample: int | None, around: int, server: str | None = None
) -> Iterator[Answer]:
    """Every question, or those of *sample* haystacks, with its ranked turns."""
    for haystack in sampled(data, sample):
        asked = [question for question in data.questions if question["haystack"] == haystack]
        with empty_store(embedder, server) as store:
            ctx = Context(store=store, embedder=embedder)
            fill(ctx, notes(data, haystack))
            for question in asked:
                yield answers(ctx, question, around)


def scorer(folder: Path) -> ModuleType:
    """The scoring module beside the data."""
    spec = importlib.util.spec_from_file_location("scorer", folder.parent / "bench" / "retrieval_score.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report(name: str, table: dict[str, dict[str, float]], level: str, asked: int, seconds: float) -> None:
    """Print one line of figures with its targets."""
    row = table["ALL"]
    shown = "  ".join(f"{figure} {row[figure]:.3f}" for figure in FIGURES)
    targets = TARGETS.get((name, level), {})
    verdict = "  ".join(
        f"[{figure} {'≥' if row[figure] >= target else '<'} {target}]" for figure, target in targets.items()
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
    parser.add_argument("--sample", type=int, help="number of haystacks of each set")
    parser.add_argument("--runs", type=Path, help="save the ranked lists in this folder")
    parser.add_argument("--around", type=int, default=0, help="turns on either side of a hit that count too")
    parser.add_argument("--pooled", action="store_true", help="ask all haystacks of a set as one store")
    parser.add_argument("--postgres", metavar="URL", help="a server to compare with, to make databases on")
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
        sample = None if options.pooled else options.sample
        found = run(data, embedder, sample, options.around)
        here = evaluate(data, data.name, found, options.runs, judge)
        if options.postgres:
            found = run(data, embedder, sample, options.around, options.postgres)
            compare(here, evaluate(data, f"{data.name} pg", found, options.runs, judge))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The answers to a data set, and their figures by level."""

    answers: list[Answer]
    figures: dict[str, dict[str, float]]


def compare(one: Evaluation, other: Evaluation) -> None:
    """Print by how much the figures of two engines differ, and how alike their first hits are."""
    for level, figures in one.figures.items():
        apart = {figure: other.figures[level][figure] - figures[figure] for figure in FIGURES}
        most = max(map(abs, apart.values()))
        told = "  ".join(f"{figure} {difference:+.3f}" for figure, difference in apart.items())
        verdict = "≤" if most <= MOST_DIFFERENCE else ">"
        print(
            f"{'difference':14} {level:4} {told}  [most {most:.3f} {verdict} {MOST_DIFFERENCE}]", flush=True
        )
    pairs = [(a.ranked[:TOP], b.ranked[:TOP]) for a, b in zip(one.answers, other.answers, strict=True)]
    shared = [len(set(a) & set(b)) / max(len(a), len(b)) for a, b in pairs if a or b]
    same = sum(a == b for a, b in pairs)
    print(
        f"{'first ' + str(TOP):14} overlap {sum(shared) / max(1, len(shared)):.3f}, "
        f"in the same order for {same} of {len(pairs)} questions",
        flush=True,
    )


def evaluate(
    data: Dataset, name: str, found: Iterable[Answer], runs: Path | None, judge: ModuleType
) -> Evaluation:
    """Score the answers to *data* and print the figures under *name*."""
    figures = {}
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = runs or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        ranked, questions = folder / f"{name}.run.jsonl", folder / f"{name}.asked.jsonl"
        asked = list(found)
        ranked.write_text(
            "".join(json.dumps({"id": one.question["id"], "ranked": one.ranked}) + "\n" for one in asked)
        )
        questions.write_text("".join(_asked_lines(data, [one.question for one in asked])))
        for level in ("doc", "turn"):
            table = judge.score(str(questions), str(ranked), level)
            figures[level] = table["ALL"]
            report(name, table, level, len(asked), time.monotonic() - started)
    counted = [one for one in asked if one.question["turns"] and not one.question["abstain"]]
    covered = sum(one.is_covered for one in counted)
    if covered:
        print(f"{name:14} turn any@{SHOWN} with the turns around {covered / len(counted):.3f}", flush=True)
    return Evaluation(asked, figures)


def _asked_lines(data: Dataset, asked: list[dict[str, Any]]) -> Iterator[str]:
    """The data set with only the questions that were asked, so that the scorer counts no others."""
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
