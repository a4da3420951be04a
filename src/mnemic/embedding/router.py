"""A choice of models by language: English texts by one, other languages by a multilingual one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.embedding.base import Embedder, Scale
from mnemic.embedding.local import KNOWN, MULTILINGUAL, LocalEmbedder
from mnemic.model.languages import detect

if TYPE_CHECKING:
    from mnemic.embedding.base import Vectors


class LanguageRouter:
    """Two models, each loaded when it is first needed: the multilingual one not before a text in another language.

    A text in a language that neither knows goes to the English model, whose tokens are bytes where it knows no word: so
    texts that share words are near each other, while the multilingual model has one token for all it does not know.
    """

    def __init__(self, english: Embedder | None = None, multilingual: Embedder | None = None):
        self._english = english or LocalEmbedder()
        self._multilingual = multilingual or LocalEmbedder(MULTILINGUAL)

    @property
    def name(self) -> str:
        """See Embedder."""
        return self._english.name

    @property
    def dimension(self) -> int:
        """See Embedder."""
        return self._english.dimension

    @property
    def models(self) -> Sequence[Embedder]:
        """See Embedder."""
        return (self._english, self._multilingual)

    def model_for(self, text: str) -> Embedder:
        """See Embedder."""
        return self._multilingual if detect(text) in KNOWN - {"en"} else self._english

    def scale_for(self, text: str) -> Scale:
        """See Embedder."""
        return self.model_for(text).scale_for(text)

    def problem(self) -> str | None:
        """See Embedder."""
        return self._english.problem() or self._multilingual.problem()

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """See Embedder."""
        return self._english.windows(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        return self._english.embed(texts)

    def close(self) -> None:
        """See Embedder."""
        for model in self.models:
            model.close()
