"""How much of a question a memory repeats word for word: the signal by which the first answers are ordered anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from mnemic.retrieval.text import STOP_WORDS, content_words
from mnemic.storage.tokenizer import words

JACCARD, PRESENCE, PAIRS, TITLE = 0.30, 0.30, 0.20, 0.20


def overlap(question: str, title: str, body: str, weights: Mapping[str, float] | None = None) -> float:
    """How well a memory covers *question*, from 0 to 1.

    Four shares make it up: the words both have of all they have (0.30), what the memory holds of the question's
    words, each weighed by *weights* (its rarity; 1 if not given), of all (0.30), pairs of neighbouring words
    (0.20), and the question's words in the title (0.20). Stop words do not count.
    """
    asked = content_words(question)
    if not asked:
        return 0.0
    heading, text = _telling(title), _telling(body)
    held = {*heading, *text}
    present = [word for word in asked if word in held]
    jaccard = len(present) / len({*asked, *held})
    return (
        JACCARD * jaccard
        + PRESENCE * _weighed(asked, present, weights or {})
        + PAIRS * _pairs(_telling(question) or asked, heading, text)
        + TITLE * len({*asked} & {*heading}) / len(asked)
    )


def _telling(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOP_WORDS]


def _weighed(asked: Sequence[str], present: Sequence[str], weights: Mapping[str, float]) -> float:
    total = sum(weights.get(word, 1.0) for word in asked)
    return sum(weights.get(word, 1.0) for word in present) / total if total > 0 else 0.0


def _pairs(asked: Sequence[str], *texts: Sequence[str]) -> float:
    """The share of the pairs of neighbours that some text holds too; a single word stands for a pair."""
    if len(asked) == 1:
        return float(any(asked[0] in text for text in texts))
    wanted = set(pairwise(asked))
    held = {pair for text in texts for pair in pairwise(text)}
    return len(wanted & held) / len(wanted)
