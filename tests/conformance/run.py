"""Runs the MCP project's conformance suite against a daemon of ours. Not part of `make test`: it needs npm.

    python tests/conformance/run.py                    # every revision we speak
    python tests/conformance/run.py 2025-11-25         # one of them

The suite needs Node 22, on the PATH or below the folder that `npm install node@22` filled.
Scenarios that call a tool, prompt or resource of the suite's own example server cannot pass here; the
others must, and are listed below.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "helpers"))

from server_process import serving

from mnemic.app import open_app
from mnemic.settings import Settings

PACKAGE = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
REVISIONS = ("2025-11-25", "2026-07-28")
OURS = {
    "server-initialize",
    "server-session-lifecycle",
    "server-stateless",
    "ping",
    "logging-set-level",
    "completion-complete",
    "tools-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "prompts-list",
    "dns-rebinding-protection",
    "server-sse-polling",
    "server-sse-multiple-streams",
    "caching",
    "http-header-validation",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
}
"""The scenarios that need nothing of the example server."""


def main(revisions: list[str]) -> int:
    """Print a table for each revision; 1 if a scenario that should pass does not."""
    failed = 0
    with (
        tempfile.TemporaryDirectory() as home,
        open_app(Settings(db=f"{home}/memory.db", embedder="none")) as app,
        serving(app.ctx) as url,
    ):
        for revision in revisions:
            print(f"\n{revision}")
            for scenario, checks in results(f"{url}/mcp", revision, Path(home) / revision):
                failed += report(scenario, checks)
    return 1 if failed else 0


def results(url: str, revision: str, folder: Path) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each scenario of *revision* with its checks."""
    command = ["npx", "--yes", "--package", PACKAGE, "--", "conformance", "server"]
    options = ["--url", url, "--suite", "all", "--spec-version", revision, "--output-dir", str(folder)]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, env=environment(), check=False
    )
    files = sorted(folder.rglob("checks.json"))
    if not files:
        sys.exit(f"The suite did not run:\n{done.stderr[-2000:]}")
    for file in files:
        name = re.sub(r"-\d{4}-\d\d-\d\dT.*", "", file.parent.name.removeprefix("server-"))
        yield name, json.loads(file.read_text())


def environment() -> dict[str, str]:
    """Ours, with the Node that npm installed here, if any, before the one on the PATH."""
    local = Path("node_modules/node/bin").absolute()
    return {**os.environ, "PATH": f"{local}{os.pathsep}{os.environ['PATH']}"}


def report(scenario: str, checks: list[dict[str, Any]]) -> int:
    """Print one line, and what failed; 1 if it should not have."""
    real = [check for check in checks if not (check.get("errorMessage") or "").startswith("Not testable")]
    counts = Counter(check["status"] for check in real)
    bad = [check for check in real if check["status"] in ("FAILURE", "WARNING")]
    is_ours = scenario in OURS
    verdict = "FAILED" if bad and is_ours else "needs the example server" if bad else "ok"
    print(f"  {scenario:<48} {verdict:<26} {dict(counts)}")
    for check in bad if is_ours else ():
        print(f"      {check['id']}: {check.get('errorMessage')}")
    return int(bool(bad) and is_ours)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(REVISIONS)))
