"""The rare words of a text, and the share of them that another text holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.search.query import Vocabulary, rarity
from mnemic.storage.base import Reader
from mnemic.storage.index_tokens import stems


@dataclass(frozen=True, slots=True)
class RareWords:
    """Stems of the words of a text, each with its weight: rarer words weigh more."""

    words: tuple[tuple[frozenset[str], float], ...]

    def share_in(self, body: str) -> float:
        """Weighted share of the words that occur in *body*, 0 to 1."""
        held = frozenset(stems(body))
        total = sum(weight for _, weight in self.words)
        return sum(weight for wanted, weight in self.words if wanted <= held) / total if total else 0.0


def rare_words(reader: Reader, body: str, namespaces: Sequence[str] | None) -> RareWords:
    """The words of *body*, weighted by their rarity in these namespaces."""
    weights = rarity(Vocabulary(reader, namespaces), body)
    return RareWords(tuple((frozenset(stems(word)), weight) for word, weight in weights.items()))
