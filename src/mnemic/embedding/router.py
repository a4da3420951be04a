"""A choice of models by language: English texts by one network, other languages by a multilingual one.

The name kept with a vector says the language too: each pair of languages has its own scale of similarity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.embedding.base import AS_IT_IS, Embedder, Scale, SingleModel
from mnemic.embedding.local import MULTILINGUAL, LocalEmbedder
from mnemic.model.languages import detect

if TYPE_CHECKING:
    from mnemic.embedding.base import Vectors

EN, OTHER = "en", "other"
KNOWN = tuple("ar de es fr it ja ko nl pl pt ru th tr zh".split())
"""The languages beside English that the multilingual network was made for."""

# Fitted on questions in ten languages.
SAME_LANGUAGE = Scale(zero=-0.13)
"""The multilingual network has lower cosines than the English one: 0.12 for unrelated texts, 0.45 for an answer."""
FOREIGN_LANGUAGE = Scale(trust=0.9)
"""Who asks in German mostly means a note in German: without this, hit@5 by meaning is 0.63 instead of 0.73."""
NOT_ENGLISH = Scale(trust=0.6)
"""What the English network makes of a question in a language it was not made for, compared with English texts."""
UNKNOWN = Scale(zero=0.75, trust=0.6)
"""To the English network all texts of a language it does not know are much alike: Hindi by 0.79, an answer by 0.86."""
NOT_KNOWN = Scale(zero=-0.13, trust=0.5)
"""What the multilingual network makes of a question in a language it was not made for."""


def scale_between(asked: str, told: str) -> Scale:
    """The scale for a question in language *asked* and texts in language *told*."""
    if told in KNOWN:
        if asked in (told, EN):
            return SAME_LANGUAGE
        return FOREIGN_LANGUAGE if asked in KNOWN else NOT_KNOWN
    if asked == EN:
        return AS_IT_IS
    return NOT_ENGLISH if told == EN or asked in KNOWN else UNKNOWN


class LanguageModel(SingleModel):
    """A network as the model of one language."""

    def __init__(self, inner: Embedder, language: str):
        self._inner = inner
        self._language = language
        self.name = inner.name if language == EN else f"{inner.name}:{language}"

    @property
    def network(self) -> str:
        """See Embedder."""
        return self._inner.name

    @property
    def dimension(self) -> int:
        """See Embedder."""
        return self._inner.dimension

    def scale_for(self, text: str) -> Scale:
        """See Embedder."""
        return scale_between(detect(text), self._language)

    def problem(self) -> str | None:
        """See Embedder."""
        return self._inner.problem()

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """See Embedder."""
        return self._inner.windows(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder."""
        return self._inner.embed(texts)

    def close(self) -> None:
        """See Embedder."""
        self._inner.close()


class LanguageRouter:
    """Two networks, each loaded when it is first needed: the multilingual one not before a text in its languages.

    A text in a language that neither knows goes to the English network, whose tokens are bytes where it knows no
    word, so that texts that share words are near each other; the other one has one token for all it does not know.
    """

    def __init__(self, english: Embedder | None = None, multilingual: Embedder | None = None):
        english, others = english or LocalEmbedder(), multilingual or LocalEmbedder(MULTILINGUAL)
        self._by_language = {language: LanguageModel(english, language) for language in (EN, OTHER)}
        self._by_language |= {language: LanguageModel(others, language) for language in KNOWN}
        self._first = self._by_language[EN]

    @property
    def name(self) -> str:
        """See Embedder."""
        return self._first.name

    @property
    def network(self) -> str:
        """See Embedder."""
        return self._first.network

    @property
    def dimension(self) -> int:
        """See Embedder."""
        return self._first.dimension

    @property
    def models(self) -> Sequence[Embedder]:
        """See Embedder."""
        return tuple(self._by_language.values())

    def model_for(self, text: str) -> Embedder:
        """See Embedder."""
        return self._by_language.get(detect(text), self._by_language[OTHER])

    def scale_for(self, text: str) -> Scale:
        """See Embedder."""
        return self.model_for(text).scale_for(text)

    def problem(self) -> str | None:
        """See Embedder."""
        return next((problem for model in self.models if (problem := model.problem())), None)

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """See Embedder."""
        return self.model_for(text).windows(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See Embedder. By the English network."""
        return self._first.embed(texts)

    def close(self) -> None:
        """See Embedder."""
        for model in self.models:
            model.close()
