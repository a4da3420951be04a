"""Build the dashboard and the MCP App from `web/` into the package; `--check` says whether the built files are current.

Building needs Node (npm). The check does not: `manifest.json` beside the built files records a hash of the sources and
of each built file.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "web"
BUILT = ROOT / "src/mnemic/transports/http/web"
APP = ROOT / "src/mnemic/dialects/native/memories_app.html"
MANIFEST = BUILT / "manifest.json"
LICENCES = BUILT / "LICENSES.txt"
BUNDLED = BUILT / "packages.json"
"""The folders of the packages that vite put into the bundle; read for their licences, not shipped."""
NOT_SOURCES = frozenset(("node_modules",))


def main() -> int:
    """Build, or check."""
    if "--check" in sys.argv[1:]:
        wrong = stale()
        print(wrong or "The built dashboard is current.")
        return int(bool(wrong))
    build()
    return 0


def stale() -> str:
    """Why the built files are not current; empty if they are."""
    known = json.loads(MANIFEST.read_text(encoding="utf-8"))
    if known["sources"] != hash_of_sources():
        return "web/ has changed since the dashboard was built: run `make web`."
    if known["files"] != hashes_of_built():
        return "The built dashboard was changed by hand: run `make web`."
    return ""


def build() -> None:
    """Install the packages of the lock file, check the types, build, record what was built from what."""
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm was not found: install Node 20 or newer to build the dashboard.")
    subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=SOURCES, check=True)
    subprocess.run([npm, "run", "--silent", "types"], cwd=SOURCES, check=True)
    subprocess.run([npm, "run", "--silent", "build"], cwd=SOURCES, check=True)
    LICENCES.write_text(licences(), encoding="utf-8")
    BUNDLED.unlink()
    manifest = {"sources": hash_of_sources(), "files": hashes_of_built()}
    MANIFEST.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def hash_of_sources() -> str:
    """One hash over the names and contents of everything the build reads."""
    total = hashlib.sha256()
    for path in sources():
        total.update(path.relative_to(SOURCES).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def sources() -> Iterator[Path]:
    """The files below web/, without what npm installs."""
    for path in sorted(SOURCES.rglob("*")):
        if path.is_file() and not NOT_SOURCES.intersection(path.relative_to(SOURCES).parts):
            yield path


def hashes_of_built() -> dict[str, str]:
    """The hash of each built file, by name."""
    files = [*sorted(path for path in BUILT.iterdir() if path != MANIFEST), APP]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def licences() -> str:
    """The licences of the packages that are part of the built files."""
    lock = json.loads((SOURCES / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    bundled = set(json.loads(BUNDLED.read_text(encoding="utf-8")))
    bundled |= {f"node_modules/{name}" for name in lock[""]["dependencies"]}
    return "\n\n".join(_licence(SOURCES / place, lock[place]) for place in sorted(bundled)) + "\n"


def _licence(folder: Path, entry: dict[str, str]) -> str:
    name = folder.relative_to(SOURCES / "node_modules").as_posix()
    named = (
        path for path in folder.iterdir() if path.name.upper().startswith(("LICENSE", "LICENCE", "NOTICE"))
    )
    texts = sorted(path for path in named if path.is_file())
    texts += sorted(folder.glob("*.LICENSE.txt"))
    head = f"{name} {entry['version']} ({entry.get('license', 'no licence named')})"
    bodies = [path.read_text(encoding="utf-8").strip() for path in dict.fromkeys(texts)]
    return "\n\n".join([f"{'=' * 100}\n{head}\n{'=' * 100}", *bodies])


if __name__ == "__main__":
    sys.exit(main())
