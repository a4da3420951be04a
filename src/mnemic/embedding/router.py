"""A choice of models by language: English texts by one network, other languages by a multilingual one.

The name kept with a vector says the language too: each pair of languages has its own scale of similarity.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.embedding.base import Embedder, SingleModel
from mnemic.embedding.local import ENGLISH, MULTILINGUAL, LocalEmbedder
from mnemic.embedding.projection import ProjectedEmbedder
from mnemic.model.languages import detect
from mnemic.model.vectors import AS_IT_IS, Scale

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors

EN, OTHER = "en", "other"
KNOWN = tuple("ar de es fr it ja ko nl pl pt ru th tr zh".split())
"""The languages beside English that the multilingual network was made for."""

# Fitted on questions in ten languages.
SAME_LANGUAGE = Scale(zero=-0.13)
"""The multilingual network has lower cosines than the English one: 0.12 for unrelated texts, 0.45 for an answer."""
FOREIGN_LANGUAGE = Scale(trust=0.9)
"""A German question mostly means a German note: without this, hit@5 by meaning is 0.63 instead of 0.73."""
PROJECTED = Scale(zero=-0.1, trust=0.95)
"""What the multilingual network makes of a question, in the space of the English one, compared with English texts."""
NOT_ENGLISH = Scale(trust=0.6)
"""What the English network makes of a question in a language it was not made for, compared with English texts."""
UNKNOWN = Scale(zero=0.75, trust=0.6)
"""To the English network all texts of a language it does not know are much alike: Hindi by 0.79, an answer by 0.86."""
NOT_KNOWN = Scale(zero=-0.13, trust=0.5)
"""What the multilingual network makes of a question in a language it was not made for."""


def scale_between(question: str, texts: str) -> Scale:
    """Scale for a question in language *question* and texts in language *texts*."""
    if texts in KNOWN:
        if question in (texts, EN):
            return SAME_LANGUAGE
        return FOREIGN_LANGUAGE if question in KNOWN else NOT_KNOWN
    if question == EN:
        return AS_IT_IS
    if texts == EN and question in KNOWN:
        return PROJECTED
    return NOT_ENGLISH if texts == EN or question in KNOWN else UNKNOWN


class LanguageRoute(SingleModel):
    """A network as the model of one language."""

    def __init__(self, inner: Embedder, language: str, projected: Embedder | None = None):
        self._inner = inner
        self._language = language
        self._projected = projected
        self.name = inner.name if language == EN else f"{inner.name}:{language}"

    @property
    def network(self) -> str:
        """The network behind it. Models of the same network read a text alike; a text needs to be read once."""
        return self._inner.name

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._inner.dimension

    def scale_for(self, text: str) -> Scale:
        """The scale of cosines between the vector of *text* and others of the same model."""
        return scale_between(detect(text), self._language)

    def reader_of(self, question: str) -> Embedder:
        """The network that reads *question*: one that knows its language, projected, if this one does not."""
        return self._projected if self._projected is not None and detect(question) in KNOWN else self

    def problem(self) -> str | None:
        """What keeps it from working, in a sentence, found out without loading anything; None if nothing does."""
        return self._inner.problem()

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """Windows (start, end) of *text*, one vector each."""
        return self._inner.windows(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order, as an array of shape (len(texts), dimension)."""
        return self._inner.embed(texts)

    def close(self) -> None:
        """Close connections. Safe to call twice."""
        self._inner.close()


class LanguageRouter:
    """Two networks, each loaded when it is first needed: the multilingual one not before a text in its languages.

    A text in a language that neither knows goes to the English network, whose tokens are bytes where it knows no
    word, so that texts that share words are near each other; the other one has one token for all it does not know.
    """

    def __init__(self, english: Embedder | None = None, multilingual: Embedder | None = None):
        english, others = english or LocalEmbedder(), multilingual or LocalEmbedder(MULTILINGUAL)
        is_shipped = (english.name, others.name) == (ENGLISH.name, MULTILINGUAL.name)
        projected = ProjectedEmbedder(others, english.name) if is_shipped else None
        self._by_language = {EN: LanguageRoute(english, EN, projected), OTHER: LanguageRoute(english, OTHER)}
        self._by_language |= {language: LanguageRoute(others, language) for language in KNOWN}
        self._first = self._by_language[EN]

    @property
    def name(self) -> str:
        """The identity kept with each vector; vectors of different names are never compared."""
        return self._first.name

    @property
    def network(self) -> str:
        """The network behind it. Models of the same network read a text alike; a text needs to be read once."""
        return self._first.network

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._first.dimension

    @property
    def models(self) -> Sequence[Embedder]:
        """The single models it is made of."""
        return tuple(self._by_language.values())

    def model_for(self, text: str) -> Embedder:
        """The single model that embeds *text*, chosen by its language."""
        return self._by_language.get(detect(text), self._by_language[OTHER])

    def scale_for(self, text: str) -> Scale:
        """The scale of cosines between the vector of *text* and others of the same model."""
        return self.model_for(text).scale_for(text)

    def reader_of(self, question: str) -> Embedder:
        """The single model that reads *question* for a comparison with texts of its language."""
        return self.model_for(question)

    def problem(self) -> str | None:
        """What keeps it from working, in a sentence, found out without loading anything; None if nothing does."""
        return next((problem for model in self.models if (problem := model.problem())), None)

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """Windows (start, end) of *text*, one vector each."""
        return self.model_for(text).windows(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order, as an array of shape (len(texts), dimension). By the English network."""
        return self._first.embed(texts)

    def close(self) -> None:
        """Close connections. Safe to call twice."""
        for model in self.models:
            model.close()
