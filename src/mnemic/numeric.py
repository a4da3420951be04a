"""numpy and numkong, imported here and nowhere else.

A C extension that uses numpy (numkong, onnxruntime) imports `numpy._core._multiarray_umath` past the lock of `numpy`
itself. While another thread is importing numpy, one of the two sees a half-built module, and the process cannot import
numpy again. The import lock of this module lets one thread at a time through, and numpy is complete before the rest.
"""

import numpy as np
import numpy.typing as npt

# isort: split
import numkong

__all__ = ["np", "npt", "numkong"]
