"""The command line: `mnemic COMMAND`. Commands about memories are derived from the dialects' operations."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command that the process was started with, and end the process with its exit code."""
    # Looking for plugins of pydantic takes it 40 ms; we use none.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from mnemic.surfaces.cli.program import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # outside the command itself, which has its own answer to it
        code = 130
    sys.exit(code)
