"""Quantisation of vectors to int8, the form in which every engine stores them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.numeric import np, npt

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors


def quantised(vectors: Vectors) -> npt.NDArray[np.int8]:
    """Each vector scaled so that its largest number is 127, and rounded. Cosines do not depend on the scale."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    scaled: npt.NDArray[np.int8] = np.rint(vectors * (127.0 / np.maximum(largest, 1e-12))).astype(np.int8)
    return scaled
