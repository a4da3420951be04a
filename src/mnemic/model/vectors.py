"""Vectors of texts: which model made them, and the scale on which similarities of all models are compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from mnemic.numeric import np, npt

    Vectors = npt.NDArray[np.float32]


class Scale(NamedTuple):
    """Linear map from one model's cosine to the similarity that all models share.

    Unrelated texts have a similarity of about 0.2, an answer and its question 0.5, a text and itself
    *trust*: how well the model separates texts of this language, 1 for a language it was made for and 0 for one it
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
