"""Fit the linear map from the multilingual network's vectors to those of the English one.

    python -m tools.build_projection

Both networks read the same generated English sentences; the map is fitted by ridge regression. The multilingual
network gives a sentence much the same vector in every language it knows, so that the map holds for all of them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from mnemic.core.trust.lexicon import entry
from mnemic.embedding.base import Embedder
from mnemic.embedding.local import MULTILINGUAL, LocalEmbedder
from mnemic.embedding.projection import FILE

SENTENCES = 24_000
RIDGE = 3.0
SEED = 5
BATCH = 256
SHORTEST = 3
MOST_COUNTED = 90
NAMES = (
    "Anna Peter Maria Tom Yusuf Ingrid Carlos Mei Priya Oskar Berlin Paris Lisbon Hamburg Tokyo Monday Tuesday Friday "
    "Sunday January March July October"
).split()
PERIODS = ("day", "week", "month", "year", "morning", "evening")
TEMPLATES = (
    "The {n} {n} is {a}.",
    "{name} wants to {v} the {n} and the {n}.",
    "We {v} the {a} {n} in the {n}.",
    "Where is the {n} for the {n}?",
    "Who must {v} the {n} of the {n}?",
    "When do we {v} the {a} {n}?",
    "The {n} was moved to {name} because of the {n}.",
    "Do not {v} the {n} without a {n}.",
    "Why did the {n} {v} the {n}?",
    "{name}'s {n} has {count} {n}s.",
    "How many {n}s does the {a} {n} need?",
    "My {n} likes {a} {n} with {n}.",
    "The {n} {n} and the {n} {n} are {a}, but not {a}.",
    "{name} and {name} {v} every {period}.",
    "{n} {n}",
    "{a} {n}",
    "{n}",
)


def sentences() -> list[str]:
    """Generated sentences, the same at every run: frequent words in simple frames."""
    chance = random.Random(SEED)
    common = files("mnemic.search").joinpath("common_words.txt").read_text("ascii").split()
    long = [word for word in common if len(word) >= SHORTEST]
    slots: dict[str, Sequence[str]] = {
        "{n}": [word for word in long if "n" in entry(word).parts],
        "{v}": [word for word in long if "v" in entry(word).parts],
        "{a}": [word for word in long if "a" in entry(word).parts and "n" not in entry(word).parts],
        "{name}": NAMES,
        "{period}": PERIODS,
        "{count}": [str(number) for number in range(2, MOST_COUNTED)],
    }
    return [_filled(chance.choice(TEMPLATES), slots, chance) for _ in range(SENTENCES)]


def _filled(template: str, slots: dict[str, Sequence[str]], chance: random.Random) -> str:
    for slot, words in slots.items():
        while slot in template:
            template = template.replace(slot, chance.choice(words), 1)
    return template


def _read(embedder: Embedder, texts: Sequence[str]) -> npt.NDArray[np.float64]:
    parts = [embedder.embed(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
    return np.concatenate(parts).astype(np.float64)


def fitted(given: npt.NDArray[np.float64], wanted: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The matrix of the map, its offset as the last row."""
    centre, target = given.mean(axis=0), wanted.mean(axis=0)
    moved = given - centre
    matrix = np.linalg.solve(moved.T @ moved + RIDGE * np.eye(given.shape[1]), moved.T @ (wanted - target))
    return np.vstack([matrix, target - centre @ matrix])


def main() -> None:
    """Fit and write."""
    texts = sentences()
    found = fitted(_read(LocalEmbedder(MULTILINGUAL), texts), _read(LocalEmbedder(), texts))
    np.save(FILE, found.astype(np.float16))
    print(f"{FILE}: {FILE.stat().st_size:,} bytes from {len(texts):,} sentences")


if __name__ == "__main__":
    main()
