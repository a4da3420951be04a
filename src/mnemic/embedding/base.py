"""The embedder interface: texts in, unit vectors out, under the name of the model, which is kept with every vector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

if TYPE_CHECKING:
    from mnemic.numeric import np, npt

    Vectors = npt.NDArray[np.float32]


class Scale(NamedTuple):
    """Linear map from one model's cosine to the similarity that all models share.

    Texts that have nothing to do with each other come to about 0.2, an answer to its question to 0.5, a text to itself
    to *trust*: how well the model tells texts of this language apart, 1 for a language it was made for and 0 for one it
    does not know.
    """

    zero: float = 0.0
    """The cosine whose similarity is 0."""
    trust: float = 1.0

    def similarity(self, cosine: float) -> float:
        """The shared similarity of two texts with this *cosine*."""
        return self.trust * (cosine - self.zero) / (1.0 - self.zero)

    def cosine(self, similarity: float) -> float:
        """The cosine that has this *similarity*."""
        return similarity * (1.0 - self.zero) / self.trust + self.zero


AS_IT_IS = Scale()


class Reading(NamedTuple):
    """The unit vector of a text by one model, and the scale of its cosines."""

    model: str
    vector: Vectors
    scale: Scale = AS_IT_IS


@dataclass(frozen=True, slots=True)
class Embedding:
    """A text as the models read it: one vector a model, each compared with vectors of its own model only."""

    readings: tuple[Reading, ...]

    @classmethod
    def by(cls, model: str, vector: Vectors) -> Self:
        """The embedding of a text by a single model."""
        return cls((Reading(model, vector),))

    @property
    def trust(self) -> float:
        """How far its similarities can be relied on, 0 to 1: that of the best model for its language."""
        return max((reading.scale.trust for reading in self.readings), default=0.0)


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

    def problem(self) -> str | None:
        """What keeps it from working, in a sentence, found out without loading anything; None if nothing does."""

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """The stretches (start, end) of *text* that one vector each should stand for.

        A short text is one stretch; a long one is cut into overlapping stretches the model can read
        whole. Every character lies in at least one of them.
        """

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order, as an array of shape (len(texts), dimension)."""

    def close(self) -> None:
        """Let go of connections. Safe to call twice."""


class SingleModel:
    """What a single model answers where several might be chosen from."""

    name: str

    @property
    def network(self) -> str:
        """See Embedder."""
        return self.name

    @property
    def models(self) -> Sequence[Embedder]:
        """See Embedder."""
        return (self,)  # type: ignore[return-value]

    def model_for(self, text: str) -> Embedder:
        """See Embedder."""
        return self  # type: ignore[return-value]

    def scale_for(self, text: str) -> Scale:
        """See Embedder."""
        return AS_IT_IS


def embedding(embedder: Embedder, text: str, models: Iterable[str]) -> Embedding:
    """*text* as read by those of the named *models* that *embedder* has; a scale without trust is left out."""
    wanted = set(models)
    vectors: dict[str, Vectors] = {}
    readings = []
    for model in (one for one in embedder.models if one.name in wanted):
        scale = model.scale_for(text)
        if scale.trust > 0:
            if model.network not in vectors:
                vectors[model.network] = model.embed([text])[0]
            readings.append(Reading(model.name, vectors[model.network], scale))
    return Embedding(tuple(readings))
