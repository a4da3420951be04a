"""The built dashboard: current, small, and without anything that must not be in it."""

from __future__ import annotations

import gzip
import json
import re

from tools.build_web import BUILT, LICENCES, SOURCES, sources, stale

GRAPH = ("graph",)
LARGEST_GZIP = 400_000


def test_built_files_are_current():
    assert stale() == ""


def test_all_but_the_graph_is_small():
    served = [path for path in BUILT.iterdir() if path.suffix in (".js", ".css", ".html", ".svg")]
    packed = {path.name: len(gzip.compress(path.read_bytes(), mtime=0)) for path in served}
    ours = {name: size for name, size in packed.items() if not name.startswith(GRAPH)}
    assert {"index.js", "api.js"} <= ours.keys() and sum(ours.values()) <= LARGEST_GZIP, ours


def test_lock_file_names_no_registry():
    lock = json.loads((SOURCES / "package-lock.json").read_text(encoding="utf-8"))
    assert len(lock["packages"]) > 10
    assert not [name for name, entry in lock["packages"].items() if "resolved" in entry]


def test_lock_file_pins_every_package_by_its_hash():
    lock = json.loads((SOURCES / "package-lock.json").read_text(encoding="utf-8"))
    assert not [name for name, entry in lock["packages"].items() if name and "integrity" not in entry]


def test_licences_of_what_is_built_in_are_shipped():
    told = LICENCES.read_text(encoding="utf-8")
    lock = json.loads((SOURCES / "package.json").read_text(encoding="utf-8"))
    assert lock["dependencies"]
    for name in lock["dependencies"]:
        assert f"\n{name} " in told or told.splitlines()[1].startswith(name), name


def test_no_source_writes_html_or_runs_text():
    code = [path for path in sources() if path.suffix in (".ts", ".tsx")]
    assert len(code) > 10
    for path in code:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|dangerouslySet|\beval\(|new Function|document\.write", text), path


def test_no_source_asks_another_host():
    for path in sources():
        if path.suffix in (".ts", ".tsx", ".html", ".css"):
            assert not re.search(r"https?://", path.read_text(encoding="utf-8")), path
