"""Unit vectors as whole numbers from -127 to 127: a quarter of the space, 0.98 of the nearest ten."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from mnemic.embedding.base import Vectors

    Int8Vectors = npt.NDArray[np.int8]

SCALE = 127


def to_int8(vectors: Vectors) -> Int8Vectors:
    """The rounded multiples of unit vectors."""
    import numpy as np

    whole: Int8Vectors = np.clip(np.rint(vectors * np.float32(SCALE)), -SCALE, SCALE).astype(np.int8)
    return whole


def from_int8(vectors: Int8Vectors) -> Vectors:
    """The vectors again, of length 1 to within half a percent."""
    import numpy as np

    return vectors.astype(np.float32) / np.float32(SCALE)
