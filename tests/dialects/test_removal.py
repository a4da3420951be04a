"""A dialect is self-contained: without its folder and its line the package imports and the other dialects answer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mnemic

PACKAGE = Path(mnemic.__file__).parent
CALLS = {
    "mnemic": ("remember", {"text": "The pump runs at 40 bar"}),
    "anthropic": ("read_graph", {}),
    "simple-memory": ("read_graph", {}),
    "mcp-memory": (
        "create_entities",
        {"entities": [{"name": "Pump", "entityType": "Device", "observations": ["40 bar"]}]},
    ),
    "ai-memory": ("memory_store", {"title": "Pump", "content": "It runs at 40 bar"}),
    "lorekeeper": ("lore_processed_sessions", {}),
    "agentic-memory": ("memory_add", {"event_type": "fact", "content": "The pump runs at 40 bar"}),
}
"""One call of each dialect."""
PROGRAM = """
import json, pkgutil, sys
from importlib import import_module
from pathlib import Path
import mnemic
from mnemic.app import DIALECTS, EVERY, SYSTEMS, dialect, export_to, import_from, open_app
from mnemic.cli.program import run
from mnemic.dialects.combined.dialect import SHARED_TOOLS
from mnemic.settings import Settings
from mnemic.dialects.execution import answer

unused = {f"mnemic.dialects.combined.{tools}" for tools, needed in SHARED_TOOLS.items() if not needed <= set(DIALECTS)}
for module in pkgutil.walk_packages(mnemic.__path__, "mnemic."):
    if module.name not in {"mnemic.__main__", *unused}:
        import_module(module.name)
assert Path(mnemic.__file__).is_relative_to(Path.cwd()), mnemic.__file__
told = {}
with open_app(Settings(db=sys.argv[1], tier="keyword")) as app:
    every = dialect(EVERY)
    for name, (tool, arguments) in json.loads(sys.argv[2]).items():
        if name in DIALECTS:
            spoken = dialect(name)
            listed = [spoken.listed(operation)["name"] for operation in spoken.operations.values()]
            done = [answer(one, app.ctx, tool, arguments) for one in (spoken, every)]
            told[name] = [tool in listed, *(one.error is None and not one.rendered.is_error for one in done)]
    for system in SYSTEMS:
        file = Path(f"export.{system}")
        file.write_bytes(export_to(app.ctx, system).data)
        import_from(app.ctx, system, file)
print(json.dumps(told))
sys.stdout.flush()
sys.exit(run(["--help"]))
"""


def without(dialect: str, folder: Path) -> None:
    """Copy the package to *folder* without the folder of *dialect* and its line in the registry."""
    shutil.copytree(PACKAGE, folder / "mnemic", ignore=shutil.ignore_patterns("__pycache__", "files"))
    dialects = folder / "mnemic" / "dialects"
    shutil.rmtree(dialects / dialect.replace("-", "_"))
    register = dialects / "__init__.py"
    lines = register.read_text(encoding="utf-8").splitlines(keepends=True)
    left = [line for line in lines if line != f'    "{dialect}",\n']
    assert len(left) == len(lines) - 1
    register.write_text("".join(left), encoding="utf-8")


@pytest.mark.parametrize("dialect", [name for name in CALLS if name != "mnemic"])
def test_the_others_work_without_a_dialect(dialect, tmp_path):
    without(dialect, tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "store.db"), json.dumps(CALLS)],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "MNEMIC_CONFIG": "", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[0])
    assert set(told) == set(CALLS) - {dialect}
    assert all(all(checks) for checks in told.values()), told
    assert "remember" in done.stdout and f"  {dialect} " not in done.stdout
