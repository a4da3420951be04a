"""The embedder interface: texts in, unit vectors out, under the name of the model, which is kept with every vector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from mnemic.model.vectors import AS_IT_IS, Embedding, Reading, Scale

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors


class Embedder(Protocol):
    """One or several models that turn texts into vectors. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """The identity kept with each vector; vectors of different names are never compared.

        Of several models, the name of the first.
        """

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    @property
    def network(self) -> str:
        """The network behind it. Models of the same network read a text alike; a text needs to be read once."""

    @property
    def models(self) -> Sequence[Embedder]:
        """The single models it is made of."""

    def model_for(self, text: str) -> Embedder:
        """The single model that embeds *text*, chosen by its language."""

    def scale_for(self, text: str) -> Scale:
        """The scale of cosines between the vector of *text* and others of the same model."""

    def reader_of(self, question: str) -> Embedder:
        """The model that reads *question* for a comparison with the vectors of this one."""

    def problem(self) -> str | None:
        """What keeps it from working, in a sentence, found out without loading anything; None if nothing does."""

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """Windows (start, end) of *text*, one vector each.

        A short text is one window; a long one is cut into overlapping windows that fit the model. Every character is
        in at least one.
        """

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order, as an array of shape (len(texts), dimension)."""

    def close(self) -> None:
        """Close connections. Safe to call twice."""


class SingleModel:
    """What a single model answers where several might be chosen from."""

    name: str

    @property
    def network(self) -> str:
        """The network behind it. Models of the same network read a text alike; a text needs to be read once."""
        return self.name

    @property
    def models(self) -> Sequence[Embedder]:
        """The single models it is made of."""
        return (self,)  # type: ignore[return-value]

    def model_for(self, text: str) -> Embedder:
        """The single model that embeds *text*, chosen by its language."""
        return self  # type: ignore[return-value]

    def scale_for(self, text: str) -> Scale:
        """The scale of cosines between the vector of *text* and others of the same model."""
        return AS_IT_IS

    def reader_of(self, question: str) -> Embedder:
        """The model that reads *question* for a comparison with the vectors of this one."""
        return self  # type: ignore[return-value]


def embedding(embedder: Embedder, text: str, models: Iterable[str]) -> Embedding:
    """*text* as read by those of the named *models* that *embedder* has; a scale without trust is left out."""
    wanted = set(models)
    vectors: dict[str, Vectors] = {}
    readings = []
    for model in (one for one in embedder.models if one.name in wanted):
        scale = model.scale_for(text)
        if scale.trust > 0:
            reader = model.reader_of(text)
            if reader.network not in vectors:
                vectors[reader.network] = reader.embed([text])[0]
            readings.append(Reading(model.name, vectors[reader.network], scale))
    return Embedding(tuple(readings))
