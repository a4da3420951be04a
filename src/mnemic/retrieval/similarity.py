"""How alike two texts are, by their words."""

from __future__ import annotations

from mnemic.model.memory import Memory
from mnemic.model.search import Filter
from mnemic.storage import tokenizer
from mnemic.storage.base import Writer

NEAR = 0.7
"""From this share of common words on, two texts say nearly the same."""
LOOKED_AT = 5


def likeness(left: str, right: str) -> float:
    """The share of words two texts have in common, of all the words they have (Jaccard)."""
    return _common(set(tokenizer.words(left)), set(tokenizer.words(right)))


def _common(ours: set[str], theirs: set[str]) -> float:
    shared = len(ours & theirs)
    every = len(ours) + len(theirs) - shared
    return shared / every if every else 1.0


def near_duplicates(tx: Writer, body: str, wanted: Filter) -> tuple[tuple[Memory, float], ...]:
    """The memories that say nearly what *body* says, most alike first."""
    suspects = tx.alike(body, wanted, limit=LOOKED_AT)
    if not suspects:
        return ()
    ours = set(tokenizer.words(body))
    shares = {
        number: _common(ours, set(tokenizer.words(told))) for number, told in tx.contents(suspects).items()
    }
    near = {number: share for number, share in shares.items() if share >= NEAR}
    ranked = sorted(near, key=lambda number: -near[number])
    return tuple((memory, near[memory.id]) for memory in tx.memories(ranked))
