"""Key terms and a joined text, for where no language model answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from mnemic.model.memory import Memory
from mnemic.model.texts import fitted
from mnemic.retrieval.text import STOP_WORDS
from mnemic.storage.base import Reader
from mnemic.storage.text import words

KEY_TERMS = 5
TITLE_WEIGHT = 2
TERMS_WEIGHED = 200
SHORTEST_TERM = 3


def key_terms(reader: Reader, memory: Memory) -> tuple[str, ...]:
    """The words that tell most of what *memory* is about: often in it, more so in its title, and rare elsewhere."""
    counts = Counter(words(memory.content))
    for word in words(memory.title):
        counts[word] += TITLE_WEIGHT
    telling = [(word, count) for word, count in counts.most_common() if _is_term(word)][:TERMS_WEIGHED]
    found, size = reader.frequencies([word for word, _ in telling]), reader.size()
    weight = {word: count * log(2 + size / (1 + found[word])) for word, count in telling}
    return tuple(sorted(weight, key=lambda word: -weight[word])[:KEY_TERMS])


def _is_term(word: str) -> bool:
    return (
        SHORTEST_TERM <= len(word) <= 32 and " " not in word and word[0].isalpha() and word not in STOP_WORDS
    )


def joined(memories: Sequence[Memory], limit: int) -> str:
    """The contents of all under their titles, in at most *limit* bytes; if that is too little, long ones are cut."""
    texts = [f"{memory.title}\n{memory.content}".strip() for memory in memories]
    return "\n\n".join(fitted(texts, limit - 2 * len(texts)))
