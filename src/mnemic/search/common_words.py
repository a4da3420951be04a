"""The commonest words of English, and how much each tells in a question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

LEAST = 0.2
"""What the commonest words count; a rare one counts 1."""
COMMON, RARE = 60, 6_000
"""The rank up to which a word counts least, and the rank from which it counts 1."""


def information(word: str) -> float:
    """What *word* counts, from 0.2 for one of the commonest to 1 for a rare one."""
    rank = _ranks().get(word)
    if rank is None:
        return 1.0
    share = math.log(max(1.0, rank / COMMON)) / math.log(RARE / COMMON)
    return min(1.0, LEAST + (1.0 - LEAST) * share)


def is_common(word: str) -> bool:
    """Whether *word* is one of the few thousand commonest of English, and so spelt as it was meant."""
    return word in _ranks()


@cache
def _ranks() -> Mapping[str, int]:
    """Words by rank. The order is that of the vocabulary of the English model, which was built by frequency."""
    text = files(__package__).joinpath("common_words.txt").read_text("ascii")
    return {word: rank for rank, word in enumerate(text.split(), 1)}
