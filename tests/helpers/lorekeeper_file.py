"""A database and an export as Lorekeeper writes them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

SCHEMA = """
CREATE TABLE memories (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, description TEXT NOT NULL, content TEXT NOT NULL,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, usage_count INTEGER NOT NULL DEFAULT 0,
    score REAL NOT NULL DEFAULT 1.0, soft_deleted INTEGER NOT NULL DEFAULT 0,
    confidence REAL, confidence_count INTEGER NOT NULL DEFAULT 0,
    last_used TEXT, namespace TEXT NOT NULL DEFAULT 'shared', source_type TEXT NOT NULL DEFAULT 'unknown'
);
CREATE UNIQUE INDEX idx_memories_unique_title ON memories(namespace, title);
CREATE TABLE memory_links (
    id TEXT PRIMARY KEY,
    source_memory_id TEXT NOT NULL REFERENCES memories(id),
    target_memory_id TEXT NOT NULL REFERENCES memories(id),
    relation_type TEXT NOT NULL CHECK (relation_type IN (
        'related_to', 'used_in', 'used_for', 'used_by', 'used_as', 'contradicts', 'supersedes', 'depends_on',
        'references', 'part_of', 'derived_from', 'causes')),
    reason TEXT NOT NULL, score REAL NOT NULL DEFAULT 1.0,
    created_at TEXT NOT NULL, updated_at TEXT NOT NULL, usage_count INTEGER NOT NULL DEFAULT 0,
    confidence REAL, confidence_count INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX idx_links_unique_pair ON memory_links(source_memory_id, target_memory_id, relation_type);
CREATE TABLE reflections (
    id TEXT PRIMARY KEY, created_at TEXT NOT NULL, session_count INTEGER NOT NULL, lessons_learnt TEXT NOT NULL,
    good_patterns TEXT, user_profile_updates TEXT, factual_discoveries TEXT, summary TEXT NOT NULL, memory_ids TEXT
);
CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY, session_date TEXT, topic TEXT, task_type TEXT, reviewed_at TEXT NOT NULL,
    reflection_id TEXT, transcript TEXT, what_was_done TEXT, decisions TEXT, lessons_learnt TEXT,
    good_patterns TEXT, user_profile TEXT, discoveries TEXT
);
"""
ARGS, TOKENS, GONE = (f"{n}1111111-0000-4000-8000-000000000000" for n in "abc")
AT, LATER = "2026-05-19T08:00:00+00:00", "2026-05-20T08:00:00.500000+00:00"
MEMORIES: list[dict[str, Any]] = [
    {
        "id": ARGS,
        "title": "Mutable default args",
        "description": "Use None instead.",
        "content": "def f(x=[]) shares the list.\nAcross all calls.",
        "created_at": AT,
        "updated_at": LATER,
        "usage_count": 4,
        "score": 7.5,
        "soft_deleted": False,
        "confidence": 8.25,
        "confidence_count": 3,
        "namespace": "shared",
        "last_used": LATER,
        "source_type": "inferred",
    },
    {
        "id": TOKENS,
        "title": "Token refresh interval",
        "description": "",
        "content": "Access tokens expire after 1h.",
        "created_at": AT,
        "updated_at": AT,
        "usage_count": 0,
        "score": 5.0,
        "soft_deleted": False,
        "confidence": None,
        "confidence_count": 0,
        "namespace": "auth",
        "last_used": None,
        "source_type": "unknown",
    },
]
DELETED = {**MEMORIES[1], "id": GONE, "title": "Wrong", "soft_deleted": True}
LINKS: list[dict[str, Any]] = [
    {
        "id": "l1",
        "source_memory_id": ARGS,
        "target_memory_id": TOKENS,
        "relation_type": "used_in",
        "reason": "Both about gotchas",
        "score": 1.5,
        "created_at": AT,
        "updated_at": LATER,
        "usage_count": 2,
        "confidence": 6.0,
        "confidence_count": 2,
    }
]
REFLECTION = {
    "id": "r1",
    "created_at": AT,
    "session_count": 1,
    "lessons_learnt": "- Check first",
    "summary": "Built the login.",
    "memory_ids": json.dumps([ARGS, "unknown"]),
}
LOOSE = {**REFLECTION, "id": "r2", "summary": "A quiet week.", "memory_ids": None}
SESSION = {
    "session_id": "s-1",
    "session_date": "2026-05-19",
    "topic": "login",
    "task_type": "build",
    "reviewed_at": LATER,
    "reflection_id": "r1",
    "what_was_done": "Built it.",
    "lessons_learnt": "- Check first",
}


def write_lorekeeper(path: Path) -> Path:
    """A database with a bit of everything, closed."""
    tables = {
        "memories": [*MEMORIES, DELETED],
        "memory_links": LINKS,
        "reflections": [REFLECTION, LOOSE],
        "sessions": [SESSION],
    }
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript(SCHEMA)
        for table, rows in tables.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))
    return path


def export() -> dict[str, Any]:
    """What its dashboard exports."""
    return {"version": "2", "exported_at": LATER, "memories": MEMORIES, "links": LINKS}
