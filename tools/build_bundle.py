"""Build the MCPB bundle of Mnemic: one file that a desktop client installs with a click.

    python tools/build_bundle.py dist/mnemic.mcpb [--wheel dist/mnemic-0.1.0-py3-none-any.whl]

The client's uv installs Mnemic from PyPI, or from the wheel if one is put into the bundle.
"""

from __future__ import annotations

import argparse
import json
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ENTRY = "src/server.py"
SERVER = """\
\"\"\"Starts Mnemic for a desktop client.\"\"\"

import sys

from mnemic.cli import main

sys.argv = ["mnemic", "mcp", *sys.argv[1:]]
main()
"""


def project() -> dict[str, Any]:
    """What pyproject.toml says of the project."""
    held: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return held


def manifest() -> dict[str, Any]:
    """The manifest of the bundle."""
    about = project()
    return {
        "manifest_version": "0.4",
        "name": "mnemic",
        "display_name": "Mnemic",
        "version": about["version"],
        "description": "Memory for AI agents: keeps what agents and people learn and finds it again.",
        "long_description": "One local store that finds by words and meaning, works offline and keeps every version.",
        "author": {"name": "Mnemic"},
        "license": about["license"],
        "keywords": ["memory", "knowledge", "notes"],
        "server": {
            "type": "uv",
            "entry_point": ENTRY,
            "mcp_config": {"command": "uv", "args": ["run", "--directory", "${__dirname}", ENTRY]},
        },
        "tools_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": about["requires-python"]},
        },
    }


def requirements(wheel: Path | None) -> str:
    """The pyproject.toml of the bundle, by which uv installs Mnemic."""
    about = project()
    text = (
        "[project]\n"
        'name = "mnemic-bundle"\n'
        f'version = "{about["version"]}"\n'
        f'requires-python = "{about["requires-python"]}"\n'
        f'dependencies = ["mnemic=={about["version"]}"]\n'
    )
    return (
        text if wheel is None else f'{text}\n[tool.uv.sources]\nmnemic = {{ path = "wheels/{wheel.name}" }}\n'
    )


def build(target: Path, wheel: Path | None = None) -> None:
    """Write the bundle to *target*."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("manifest.json", json.dumps(manifest(), indent=2) + "\n")
        bundle.writestr("pyproject.toml", requirements(wheel))
        bundle.writestr(ENTRY, SERVER)
        bundle.write(ROOT / "LICENSE", "LICENSE")
        if wheel is not None:
            bundle.write(wheel, f"wheels/{wheel.name}")


def main() -> None:
    """Build the bundle that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("target", type=Path)
    parser.add_argument("--wheel", type=Path)
    given = parser.parse_args()
    build(given.target, given.wheel)
    print(f"{given.target}: {given.target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
