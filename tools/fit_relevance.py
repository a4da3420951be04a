"""Fit the constants of `mnemic.search.relevance` and print how well they tell answerable questions from others.

    python -m tools.fit_relevance --data FOLDER --stores FOLDER [--check]

Reads the `abstain*.jsonl` files of the data folder, the conversations they refer to and the small stores of
`claims*.jsonl`, and keeps the filled stores, by model, in the second folder, since embedding takes long. Every
question is asked with and without vectors. The label of a hit is whether it is evidence; each file weighs the same, and
in it hits that are evidence weigh as much as the others. With --check nothing is fitted: the constants in use are
measured.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from bench.retrieval import Dataset, fill, load
from bench.vector_cache import cached_models, spoken

from mnemic.app import open_sqlite
from mnemic.core.context import Context
from mnemic.core.memories import Note
from mnemic.embedding.base import Embedder, embedding
from mnemic.model.filter import Query
from mnemic.model.vectors import Embedding
from mnemic.search.ranking import NATIVE
from mnemic.search.relevance import (
    FLOOR,
    IDENTIFIER,
    MISSED,
    NO_ANSWER,
    REMOTE,
    UNKNOWN,
    UNKNOWN_NAME,
    WITH_VECTORS,
    WORDS_ONLY,
    RelevanceModel,
    Signals,
)
from mnemic.search.search import find_hits
from mnemic.storage.base import Store

PIECE = 16_000
"""A longer turn is stored in pieces, as the outside scorer does."""
HITS = 5
BACKED = ("verified", "partial")
"""The claims that are asked of their own store: a contradicted one may hold a name or number that is not there."""
FOREIGN = 30
"""So many claims of other stores are asked of a store of claims."""
RIDGE, STEPS = 1e-3, 50
SIGNS = Signals(1, 0, 1, 0, 0, 0, 0, 0)
"""The sign each weight may have: a signal that a set of data turns round is chance. 0: not fitted."""
SIGNS_OF_WORDS = Signals(0, 0, 1, -1, -1, 0, -1, 0)
"""The same without vectors."""
BY_HAND = Signals(0, REMOTE, 0, MISSED, UNKNOWN, UNKNOWN_NAME, NO_ANSWER, IDENTIFIER)
"""The weights that are set by hand and count while the others are fitted."""
BY_HAND_OF_WORDS = Signals(unknown_name=UNKNOWN_NAME, missed_identifier=IDENTIFIER)
"""The same without vectors."""

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that was asked, the signals of its best hits, and which of them are evidence."""

    file: str
    group: str
    is_answerable: bool
    signals: tuple[Signals, ...]
    is_evidence: tuple[bool, ...]


def split(text: str) -> list[str]:
    """*text* in pieces that fit into one memory."""
    parts = (text[start : start + PIECE] for start in range(0, len(text), PIECE))
    return [part for part in parts if part.strip()]


def turns(data: Dataset, haystack: str) -> Iterator[Note]:
    """The turns of a conversation without sessions or dates."""
    for document, _ in data.haystacks[haystack]:
        for turn in data.documents[document]:
            for part in split(turn["text"]):
                told = spoken(turn | {"text": part})
                yield Note(text=told, metadata={"ids": [document, turn["id"]]})


def opened(folder: Path, name: str, notes: Iterator[Note], embedder: Embedder) -> Store:
    """The store of this name, filled with *notes* unless that was done before."""
    path, done = folder / f"{name}.db", folder / f"{name}.done"
    folder.mkdir(parents=True, exist_ok=True)
    if not done.exists():
        for left in folder.glob(f"{name}.db*"):
            left.unlink()
    store = open_sqlite(path, durable=False)
    store.use_models(*(model.name for model in embedder.models))
    if not done.exists():
        fill(Context(store=store, embedder=embedder), notes)
        done.touch()
    return store


def lines(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def questions(path: Path, stores: Path, embedder: Embedder) -> Iterator[tuple[Store, dict[str, Any]]]:
    """Each question of a file with its store; `evidence` holds ids that a right hit has in its metadata."""
    rows = lines(path)
    if "claims" in rows[0]:
        yield from _claims(path, rows, stores, embedder)
        return
    if rows[0]["kind"] == "pair":
        yield from _pairs(path, rows, stores, embedder)
        return
    facts = {row["id"]: row["facts"] for row in rows if row["kind"] == "store"}
    for name, known in facts.items():
        notes = (
            Note(text=one["text"], title=one.get("title"), metadata={"ids": [one["id"]]}) for one in known
        )
        store = opened(stores / path.stem, name, notes, embedder)
        yield from ((store, row) for row in rows if row.get("store") == name)
        store.close()


def _pairs(
    path: Path, rows: Sequence[dict[str, Any]], stores: Path, embedder: Embedder
) -> Iterator[tuple[Store, dict[str, Any]]]:
    for source in sorted({row["data"] for row in rows}):
        data = load(path.with_name(source))
        asked = {question["id"]: question for question in data.questions}
        for haystack in data.haystacks:
            mine = [row for row in rows if (row["data"], row["haystack"]) == (source, haystack)]
            store = opened(stores / path.stem, haystack, turns(data, haystack), embedder)
            for row in mine:
                question = asked[row["question"]]
                evidence = question.get("turns") or question["docs"]
                yield store, row | {"question": question["question"], "evidence": evidence}
            store.close()


def _claims(
    path: Path, rows: Sequence[dict[str, Any]], stores: Path, embedder: Embedder
) -> Iterator[tuple[Store, dict[str, Any]]]:
    """Small stores, each asked its own claims and some of the others' in the same language."""
    for row in rows:
        outdated = {fact.get("supersedes") for fact in row["facts"]}
        facts = [fact for fact in row["facts"] if fact["id"] not in outdated]
        notes = (Note(text=fact["text"], metadata={"ids": [fact["id"]]}) for fact in facts)
        store = opened(stores / path.stem, row["id"], notes, embedder)
        language = row["claims"][0]["lang"]
        others = [
            claim
            for other in rows
            for claim in other["claims"]
            if other is not row and (claim["lang"] == language or language == "en")
        ]
        for claim in row["claims"]:
            if claim["label"] in BACKED:
                yield store, claim | {"question": claim["text"], "group": "claim"}
        for claim in others[:: max(1, len(others) // FOREIGN)]:
            yield store, {"question": claim["text"], "answerable": False, "group": "foreign", "evidence": ()}
        store.close()


def asked(path: Path, stores: Path, embedder: Embedder, *, with_vectors: bool) -> Iterator[Asked]:
    """Every question of a file with the signals of its best hits."""
    for store, row in questions(path, stores, embedder):
        text = row["question"]
        vector = _vector(embedder, text) if with_vectors else None
        query = Query(text=text, limit=HITS, min_relevance=0.0, now=0)
        hits = find_hits(store.read(), query, vector, NATIVE)
        is_answerable = row.get("answerable", True)
        evidence = set(row["evidence"]) if is_answerable else set()
        yield Asked(
            path.stem,
            row["group"],
            is_answerable,
            tuple(Signals(**hit.signals) for hit in hits),
            tuple(bool(evidence & set(_ids(hit.memory.metadata["ids"]))) for hit in hits),
        )


def _ids(value: object) -> list[str]:
    assert isinstance(value, list)
    return value


def _vector(embedder: Embedder, text: str) -> Embedding:
    return embedding(embedder, text, [model.name for model in embedder.models])


def fitted(rows: Sequence[Asked], *, with_vectors: bool) -> RelevanceModel:
    """The logistic regression over the hits of *rows*, all weights of the expected sign."""
    table = [
        (one.file, signals, is_right)
        for one in rows
        for signals, is_right in zip(one.signals, one.is_evidence, strict=True)
    ]
    labels = np.array([is_right for _, _, is_right in table], np.float64)
    values = np.array([signals for _, signals, _ in table], np.float64)
    weights = _weights([(file, is_right) for file, _, is_right in table])
    signs = np.array(SIGNS if with_vectors else SIGNS_OF_WORDS)
    used = signs != 0
    by_hand = np.array(BY_HAND if with_vectors else BY_HAND_OF_WORDS)
    given = values @ by_hand
    while True:
        found = _logistic(values[:, used], labels, weights, given)
        wrong = found[1:] * signs[used] < 0
        if not wrong.any():
            break
        used[np.flatnonzero(used)[wrong]] = False
    whole = np.zeros(len(signs))
    whole[used] = found[1:]
    weighed = Signals(*(round(float(one), 2) for one in whole + by_hand))
    return RelevanceModel(round(float(found[0]), 2), weighed)


def _weights(kinds: Sequence[tuple[str, bool]]) -> Array:
    """Each file weighs one, half of it on the hits that are evidence."""
    counts: defaultdict[tuple[str, bool], int] = defaultdict(int)
    for kind in kinds:
        counts[kind] += 1
    return np.array([0.5 / counts[kind] for kind in kinds])


def _logistic(values: Array, labels: Array, weights: Array, given: Array) -> Array:
    """Intercept and weights by Newton's method, added to what is *given*, with a small ridge on the weights."""
    matrix = np.hstack([np.ones((len(values), 1)), values])
    ridge = RIDGE * np.diag([0.0] + [1.0] * values.shape[1])
    found: Array = np.zeros(matrix.shape[1])
    for _ in range(STEPS):
        chance = 1.0 / (1.0 + np.exp(-(matrix @ found + given)))
        slope = matrix.T @ (weights * (labels - chance)) - ridge @ found
        curve = (matrix * (weights * chance * (1 - chance))[:, None]).T @ matrix + ridge
        found = found + np.linalg.solve(curve, slope)
    return found


def report(name: str, rows: Sequence[Asked], model: RelevanceModel, floor: float) -> None:
    """Empty answers of each group at *floor*, and how well the first hit's relevance tells the groups apart."""
    print(f"{name}: floor {floor}")
    for file in sorted({one.file for one in rows}):
        here = [one for one in rows if one.file == file]
        known = [one for one in here if one.is_answerable]
        print(f"  {file}: answerable {len(known)}, empty {_empty(known, model, floor):.3f}")
        for group in sorted({one.group for one in here if not one.is_answerable}):
            unknown = [one for one in here if not one.is_answerable and one.group == group]
            area = _area([_first(one, model) for one in known], [_first(one, model) for one in unknown])
            empty = _empty(unknown, model, floor)
            print(f"    {group}: {len(unknown)}, empty {empty:.3f}, AUC {area:.3f}")


def _first(one: Asked, model: RelevanceModel) -> float:
    return model.relevance(one.signals[0]) if one.signals else -1.0


def _empty(rows: Sequence[Asked], model: RelevanceModel, floor: float) -> float:
    empty = [all(model.relevance(signals) < floor for signals in one.signals) for one in rows]
    return sum(empty) / max(1, len(empty))


def _area(high: Sequence[float], low: Sequence[float]) -> float:
    pairs = [(one > other) + (one == other) / 2 for one in high for other in low]
    return sum(pairs) / max(1, len(pairs))


def main() -> None:
    """Fit, print the constants and what they do, also on files that were left out of the fit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with abstain*.jsonl")
    parser.add_argument("--stores", type=Path, required=True, help="folder the filled stores are kept in")
    parser.add_argument("--floor", type=float, default=FLOOR)
    parser.add_argument("--check", action="store_true", help="measure the constants in use")
    options = parser.parse_args()
    embedder = cached_models()
    files = [
        path
        for kind in ("abstain", "claims", "languages")
        for path in sorted(options.data.glob(f"{kind}*.jsonl"))
    ]
    for with_vectors, in_use in ((True, WITH_VECTORS), (False, WORDS_ONLY)):
        rows = [
            one
            for path in files
            for one in asked(path, options.stores / embedder.name, embedder, with_vectors=with_vectors)
        ]
        name = "WITH_VECTORS" if with_vectors else "WORDS_ONLY"
        if options.check:
            report(f"{name} in use", rows, in_use, options.floor)
        else:
            _fit(name, rows, options.floor, with_vectors=with_vectors)


def _fit(name: str, rows: Sequence[Asked], floor: float, *, with_vectors: bool) -> None:
    fitting = [one for one in rows if not one.file.startswith("languages")]
    model = fitted(fitting, with_vectors=with_vectors)
    print(f"{name} = {model}")
    report(name, rows, model, floor)
    for file in sorted({one.file for one in fitting}):
        others = fitted([one for one in fitting if one.file != file], with_vectors=with_vectors)
        report(f"{name} without {file}", [one for one in rows if one.file == file], others, floor)


if __name__ == "__main__":
    main()
