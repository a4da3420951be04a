"""The command line: `mnemic COMMAND`. Some commands are written out, the others are operations of the dialects."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command that the process was started with, and end the process with its exit code."""
    from mnemic.daemon_client.commands import forwarded

    code = forwarded(sys.argv[1:])
    sys.exit(_run() if code is None else code)


def _run() -> int:
    """Run it in this process; its exit code."""
    # Looking for plugins of pydantic takes it 40 ms; we use none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # numpy's BLAS starts a thread for each core when it is loaded, which takes 40 ms of two. Our matrices are small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What a command loads, it keeps: to look for garbage among it, now and at the end, took 20 of 160 ms.
    gc.disable()
    try:
        from mnemic.cli.program import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # outside the command itself, which has its own answer to it
        code = 130
    gc.freeze()
    return code
