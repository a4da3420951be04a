"""How alike two texts are, by their words."""

from __future__ import annotations

from mnemic.model.memory import Memory
from mnemic.model.search import Filter
from mnemic.retrieval.text import content_words
from mnemic.storage import text
from mnemic.storage.base import Reader

NEAR = 0.7
"""From this share of common words on, two texts say nearly the same."""
PROBES = 3
PROBE_WORDS = 3
LOOKED_AT = 5


def likeness(left: str, right: str) -> float:
    """The share of words two texts have in common, of all the words they have (Jaccard)."""
    ours, theirs = set(text.words(left)), set(text.words(right))
    return len(ours & theirs) / len(ours | theirs) if ours or theirs else 1.0


def near_duplicates(reader: Reader, body: str, wanted: Filter) -> tuple[tuple[Memory, float], ...]:
    """The memories that say nearly what *body* says, most alike first.

    Long words tell most. Three probes of three of them each must all match; a text that differs in a
    word or two still matches one probe, and each probe is answered from the index in well under a millisecond.
    """
    telling = sorted(content_words(body), key=len, reverse=True)[: PROBES * PROBE_WORDS]
    found: dict[int, None] = {}
    for probe in range(PROBES):
        terms = telling[probe::PROBES]
        if len(terms) == PROBE_WORDS or (probe == 0 and terms):
            found |= dict.fromkeys(number for number, _ in reader.words(terms, wanted, every=True, limit=LOOKED_AT))
    alike = ((memory, likeness(body, memory.content)) for memory in reader.memories(list(found)))
    return tuple(sorted((pair for pair in alike if pair[1] >= NEAR), key=lambda pair: -pair[1])[:LOOKED_AT])
