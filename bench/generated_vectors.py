"""An embedder without a model: vectors scattered around those of a few real texts, the same in every run.

A million runs of the model would take an hour. What a scan of vectors costs depends on how they lie, not on what they
mean, so each text gets the vector of one of 256 real texts plus noise, both chosen by a hash of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from bench import texts
from mnemic.embedding.base import SingleModel
from mnemic.embedding.local import LocalEmbedder

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors

CENTRES = 256
NOISES = 2_048
"""Two of these are added up, so that two texts rarely get the same vector."""


class GeneratedEmbedder(SingleModel):
    """Stands for the model of the package: vectors under its name, a thousand times faster."""

    def __init__(self) -> None:
        self._model = LocalEmbedder()
        self.name = self._model.name
        self.dimension = self._model.dimension

    @cached_property
    def _centres(self) -> Vectors:
        return self._model.embed(list(texts.texts(CENTRES)))

    @cached_property
    def _noises(self) -> Vectors:
        shape = NOISES, self.dimension
        noise = np.random.default_rng(texts.VERSION).standard_normal(shape, dtype=np.float32)
        scaled: Vectors = noise / np.sqrt(2 * self.dimension, dtype=np.float32)
        return scaled

    def windows(self, text: str) -> Sequence[tuple[int, int]]:
        """The whole text: those of the benchmark are short."""
        return [(0, len(text))]

    def problem(self) -> str | None:
        """Why the model that gives the centres cannot be run; None if it can."""
        return self._model.problem()

    def embed(self, some: Sequence[str]) -> Vectors:
        """One unit vector a text."""
        hashes = np.array([crc32(text.encode()) for text in some], np.uint32)
        places = hashes % CENTRES, hashes // CENTRES % NOISES, hashes // (CENTRES * NOISES) % NOISES
        vectors = self._centres[places[0]] + self._noises[places[1]] + self._noises[places[2]]
        unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def close(self) -> None:
        """Nothing: there are no connections."""
