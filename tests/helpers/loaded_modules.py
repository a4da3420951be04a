"""The modules that a run of the command line imports."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("pydantic", "numpy", "mcp", "onnxruntime", "rich", "starlette", "httpx", "tomlkit", "yaml")


def loaded(cli, *words, **variables) -> set[str]:
    """Which of the heavy modules a run of `mnemic` loads."""
    return every_module(cli, *words, **variables) & set(HEAVY)


def every_module(cli, *words, **variables) -> set[str]:
    """The modules a run of `mnemic` loads."""
    code = (
        "import sys, contextlib, io\n"
        "from mnemic.cli.program import run\n"
        "with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())): code = run(sys.argv[1:])\n"
        "print(code, *sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        env={**cli.environment, **variables},
        cwd=cli.home,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    status, *names = done.stdout.split()
    assert status == "0", done.stderr
    return set(names)
