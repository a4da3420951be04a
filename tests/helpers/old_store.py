"""Stores as earlier versions wrote them: their tables, filled with rows as they stood then."""

from __future__ import annotations

import json
import uuid
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw
from support import START

from mnemic.storage import fingerprint
from mnemic.storage.sqlite.schema import APPLICATION_ID, MIGRATIONS

ADD_MEMORY = """
INSERT INTO memory (id, uid, namespace, title, kind, priority, confidence, rating_count, tier, metadata,
    created_at, updated_at, access_count, days_used, state)
VALUES (?, ?, 'global', ?, ?, 5, 1.0, 0, 'long', ?, ?, ?, 0, 0, ?)
"""
ADD_STATEMENT = """
INSERT INTO statement (memory_id, position, text, digest, since) VALUES (?, ?, ?, ?, ?)
"""
ADD_CHANGE = """
INSERT INTO journal (batch, at, actor, operation, subject, subject_id, before, after)
VALUES (?, ?, 'tester', ?, 'memory', ?, ?, ?)
"""


class OldMemory(NamedTuple):
    """A memory in the words of format 3 and before."""

    title: str
    texts: tuple[str, ...]
    operation: str = "remember"
    kind: str = "note"
    metadata: dict[str, object] | None = None
    state: str = "living"


def write_old_store(path: Path, version: int, *memories: OldMemory) -> None:
    """A file of this format that holds *memories*, numbered from 1. Its words are not indexed."""
    with closing(apsw.Connection(str(path))) as old:
        for script in MIGRATIONS[:version]:
            old.execute(script).fetchall()
        old.execute("INSERT INTO namespace (name) VALUES ('global')")
        for number, memory in enumerate(memories, 1):
            _add(old, number, memory)
        old.pragma("application_id", APPLICATION_ID)
        old.pragma("user_version", version)


def _add(old: apsw.Connection, number: int, memory: OldMemory) -> None:
    uid, metadata = uuid.uuid4(), json.dumps(memory.metadata) if memory.metadata else None
    values = (number, uid.bytes, memory.title, memory.kind, metadata, START, START, memory.state)
    old.execute(ADD_MEMORY, values)
    for place, text in enumerate(memory.texts, 1):
        old.execute(ADD_STATEMENT, (number, place, text, fingerprint.digest(text), number))
    numbers = [one for (one,) in old.execute("SELECT id FROM statement WHERE memory_id = ?", (number,))]
    after = {
        "uid": str(uid),
        "namespace": "global",
        "title": memory.title,
        "kind": memory.kind,
        "created_at": START,
        "updated_at": START,
        "state": memory.state,
        "metadata": memory.metadata or {},
        "statements": numbers,
    }
    old.execute(ADD_CHANGE, (number, START, memory.operation, number, None, json.dumps(after)))
