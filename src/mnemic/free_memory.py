"""Return of freed memory to the system, which the C library otherwise keeps for the next allocation."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Return what is free, where the C library can (glibc); a few milliseconds. For after work that used much."""
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
