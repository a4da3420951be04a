"""How alike two texts are, by their words."""

from __future__ import annotations

from mnemic.model.memory import Memory
from mnemic.model.search import Filter
from mnemic.storage import text
from mnemic.storage.base import Writer

NEAR = 0.7
"""From this share of common words on, two texts say nearly the same."""
LOOKED_AT = 5


def likeness(left: str, right: str) -> float:
    """The share of words two texts have in common, of all the words they have (Jaccard)."""
    ours, theirs = set(text.words(left)), set(text.words(right))
    return len(ours & theirs) / len(ours | theirs) if ours or theirs else 1.0


def near_duplicates(tx: Writer, body: str, wanted: Filter) -> tuple[tuple[Memory, float], ...]:
    """The memories that say nearly what *body* says, most alike first."""
    suspects = tx.alike(body, wanted, limit=LOOKED_AT)
    contents = tx.contents(suspects) if suspects else {}
    near = {number: alike for number, told in contents.items() if (alike := likeness(body, told)) >= NEAR}
    ranked = sorted(near, key=lambda number: -near[number])
    return tuple((memory, near[memory.id]) for memory in tx.memories(ranked))
