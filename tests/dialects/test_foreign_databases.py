"""Databases of other systems are read whole, whatever state they are in, and never touched."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

import pytest
from ai_memory_file import closed_ai_memory
from lorekeeper_file import write_lorekeeper
from mcp_memory_file import write_mcp_memory

from mnemic.app import open_store
from mnemic.dialects.ai_memory import database as ai_memory
from mnemic.dialects.lorekeeper import database as lorekeeper
from mnemic.dialects.mcp_memory import database as mcp_memory
from mnemic.errors import Invalid, StoreUnusable
from mnemic.settings import Settings

WRITERS = {"ai-memory": closed_ai_memory, "lorekeeper": write_lorekeeper, "mcp-memory": write_mcp_memory}
READERS = {"ai-memory": ai_memory, "lorekeeper": lorekeeper, "mcp-memory": mcp_memory}


def fingerprint(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


@pytest.mark.parametrize("system", WRITERS)
def test_it_is_not_touched_while_someone_writes(tmp_path, system):
    path = WRITERS[system](tmp_path / "their.db")
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        table = "entities" if system == "mcp-memory" else "memories"
        with db:
            db.execute(f"DELETE FROM {table} WHERE rowid = (SELECT max(rowid) FROM {table})")
        before = fingerprint(tmp_path)
        found = READERS[system].read(path)
        assert fingerprint(tmp_path) == before
    assert len(found[table]) == {"ai-memory": 3, "lorekeeper": 2, "mcp-memory": 1}[system]


@pytest.mark.parametrize("system", WRITERS)
@pytest.mark.parametrize("other", WRITERS)
def test_another_systems_is_refused(tmp_path, system, other):
    path = WRITERS[other](tmp_path / "their.db")
    if system == other:
        assert READERS[system].read(path)
        return
    with pytest.raises(Invalid, match=r"their.db is no database of .*: it"):
        READERS[system].read(path)


@pytest.mark.parametrize("system", WRITERS)
def test_a_damaged_one_is_refused(tmp_path, system):
    path = WRITERS[system](tmp_path / "their.db")
    content = path.read_bytes()
    path.write_bytes(content[:1000] + b"\xff" * (len(content) - 1000))
    with pytest.raises(Invalid, match=r"their.db is damaged, or no database of"):
        READERS[system].read(path)


@pytest.mark.parametrize("system", WRITERS)
def test_opening_one_as_ours_says_how_to_import_it(tmp_path, system):
    path = WRITERS[system](tmp_path / "their.db")
    before = fingerprint(tmp_path)
    with pytest.raises(StoreUnusable, match=rf"mnemic import --from {system} their\.db"):
        open_store(Settings(db=str(path)))
    assert fingerprint(tmp_path) == before
