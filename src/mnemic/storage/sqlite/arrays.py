"""The kinds of arrays that are kept in memory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Int8 = npt.NDArray[np.int8]
