"""Return of freed memory to the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
from mnemic.free_memory import give_back

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

blocks = [bytearray(4000) for _ in range(30_000)]
kept = blocks[::1000]
del blocks
before = resident()
give_back()
print(before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux is asked")
def test_what_was_freed_between_things_that_stay_goes_back_to_the_system():
    told = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert int(told.stdout) > 50_000_000
