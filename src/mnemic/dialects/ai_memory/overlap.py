"""How much of a question a memory repeats word for word: the signal by which the first answers are ordered anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from mnemic.search.query import STOP_WORDS, content_words
from mnemic.storage.tokenizer import words

JACCARD, PRESENCE, PAIRS, TITLE = 0.30, 0.30, 0.20, 0.20


def overlap(question: str, title: str, body: str, weights: Mapping[str, float] | None = None) -> float:
    """How well a memory covers *question*, from 0 to 1.

    Four shares make it up: the words both have of all they have (0.30), what the memory holds of the question's
    words, each weighed by *weights* (its rarity; 1 if not given), of all (0.30), pairs of neighbouring words
    (0.20), and the question's words in the title (0.20). Stop words do not count.
    """
    query_words = content_words(question)
    if not query_words:
        return 0.0
    heading, text = _significant_words(title), _significant_words(body)
    held = {*heading, *text}
    present = [word for word in query_words if word in held]
    jaccard = len(present) / len({*query_words, *held})
    return (
        JACCARD * jaccard
        + PRESENCE * _weighed(query_words, present, weights or {})
        + PAIRS * _pairs(_significant_words(question) or query_words, heading, text)
        + TITLE * len({*query_words} & {*heading}) / len(query_words)
    )


def _significant_words(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOP_WORDS]


def _weighed(query_words: Sequence[str], present: Sequence[str], weights: Mapping[str, float]) -> float:
    total = sum(weights.get(word, 1.0) for word in query_words)
    return sum(weights.get(word, 1.0) for word in present) / total if total > 0 else 0.0


def _pairs(query_words: Sequence[str], *texts: Sequence[str]) -> float:
    """Share of adjacent word pairs that some text contains; a single word counts as a pair."""
    if len(query_words) == 1:
        return float(any(query_words[0] in text for text in texts))
    wanted = set(pairwise(query_words))
    held = {pair for text in texts for pair in pairwise(text)}
    return len(wanted & held) / len(wanted)
