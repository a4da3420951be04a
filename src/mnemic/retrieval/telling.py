"""The telling words of a text, and how much of them another holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.retrieval.sixfold import rarity
from mnemic.storage.base import Reader


@dataclass(frozen=True, slots=True)
class Telling:
    """The telling words of a text, by their stems, with how much each says: the rarer, the more."""

    words: tuple[tuple[frozenset[str], float], ...]

    def share_in(self, reader: Reader, body: str) -> float:
        """How much of what they say *body* holds, in whatever form: 0 to 1."""
        held = frozenset(reader.stems(body))
        total = sum(weight for _, weight in self.words)
        return sum(weight for stems, weight in self.words if stems <= held) / total if total else 0.0


def telling(reader: Reader, body: str, namespaces: Sequence[str] | None) -> Telling:
    """The telling words of *body*, weighed by how rare they are in these namespaces."""
    weights = rarity(reader, body, namespaces)
    return Telling(tuple((frozenset(reader.stems(word)), weight) for word, weight in weights.items()))
