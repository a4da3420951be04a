"""Projection: vectors of the multilingual network in the space of the English one.

A linear map (`tools/build_projection.py`) lets a German question be compared with the vectors of English notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from mnemic.embedding.base import Embedder, SingleModel
from mnemic.embedding.local import FILES

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors

FILE = FILES / "projection.npy"
"""The matrix of the map, its offset as the last row."""


class ProjectedEmbedder(SingleModel):
    """A network whose vectors are mapped into the space of another one."""

    def __init__(self, inner: Embedder, name: str):
        self._inner = inner
        self.name = name

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(_matrix().shape[1])

    @property
    def network(self) -> str:
        """The network behind it and the one in whose space its vectors are."""
        return f"{self._inner.network}>{self.name}"

    def problem(self) -> str | None:
        """What keeps it from working, in a sentence; None if nothing does."""
        return self._inner.problem()

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """Windows (start, end) of *text*, one vector each."""
        return self._inner.windows(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector a text, in order."""
        from mnemic.numeric import np

        matrix = _matrix()
        found = self._inner.embed(texts) @ matrix[:-1] + matrix[-1]
        projected: Vectors = found / np.linalg.norm(found, axis=1, keepdims=True)
        return projected

    def close(self) -> None:
        """Close connections. Safe to call twice."""
        self._inner.close()


@cache
def _matrix() -> Vectors:
    from mnemic.numeric import np

    read: Vectors = np.load(FILE).astype(np.float32)
    return read
