"""What an embedder is: texts in, unit vectors out, under a name that is kept with every vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mnemic.numeric import np, npt

    Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """A model that turns texts into vectors. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """The identity kept with each vector; vectors of different names are never compared."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

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
