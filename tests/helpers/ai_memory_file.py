"""A database as ai-memory writes it, made from the schema that its guide documents."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

MEMORIES = """
CREATE TABLE memories (
    id               TEXT PRIMARY KEY,
    tier             TEXT NOT NULL,
    namespace        TEXT NOT NULL DEFAULT 'global',
    title            TEXT NOT NULL,
    content          TEXT NOT NULL,
    tags             TEXT NOT NULL DEFAULT '[]',
    priority         INTEGER NOT NULL DEFAULT 5,
    confidence       REAL NOT NULL DEFAULT 1.0,
    source           TEXT NOT NULL DEFAULT 'api',
    access_count     INTEGER NOT NULL DEFAULT 0,
    created_at       TEXT NOT NULL,
    updated_at       TEXT NOT NULL,
    last_accessed_at TEXT,
    expires_at       TEXT,
    embedding        BLOB
);
CREATE INDEX idx_memories_tier ON memories(tier);
CREATE UNIQUE INDEX idx_memories_title_ns ON memories(title, namespace);
CREATE VIRTUAL TABLE memories_fts USING fts5(title, content, tags, content=memories, content_rowid=rowid);
CREATE TRIGGER memories_ai AFTER INSERT ON memories BEGIN
    INSERT INTO memories_fts(rowid, title, content, tags) VALUES (new.rowid, new.title, new.content, new.tags);
END;
CREATE TABLE memory_links (
    source_id   TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
    target_id   TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
    relation    TEXT NOT NULL DEFAULT 'related_to',
    created_at  TEXT NOT NULL,
    PRIMARY KEY (source_id, target_id, relation)
);
CREATE TABLE schema_version (version INTEGER NOT NULL);
"""
LATER = """
CREATE TABLE archived_memories (
    id               TEXT PRIMARY KEY,
    tier             TEXT NOT NULL,
    namespace        TEXT NOT NULL DEFAULT 'global',
    title            TEXT NOT NULL,
    content          TEXT NOT NULL,
    tags             TEXT NOT NULL DEFAULT '[]',
    priority         INTEGER NOT NULL DEFAULT 5,
    confidence       REAL NOT NULL DEFAULT 1.0,
    source           TEXT NOT NULL DEFAULT 'api',
    access_count     INTEGER NOT NULL DEFAULT 0,
    created_at       TEXT NOT NULL,
    updated_at       TEXT NOT NULL,
    last_accessed_at TEXT,
    expires_at       TEXT,
    archived_at      TEXT NOT NULL,
    archive_reason   TEXT NOT NULL DEFAULT 'gc'
);
CREATE TABLE namespace_meta (
    namespace TEXT PRIMARY KEY, standard_id TEXT NOT NULL, updated_at TEXT NOT NULL, parent_namespace TEXT
);
ALTER TABLE memories ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
"""

AXUM, RULES, OVER, GONE = (f"{n}0000000-0000-4000-8000-000000000000" for n in "abcd")
NANOSECONDS = "2026-04-05T12:34:56.123456789+00:00"


def insert(db: sqlite3.Connection, table: str, **values: object) -> None:
    """A row of *table*."""
    names = ", ".join(values)
    db.execute(
        f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(values))})", list(values.values())
    )


def memory(id: str, title: str, **more: object) -> dict[str, object]:
    """The columns of a memory."""
    return {
        "id": id,
        "tier": "long",
        "namespace": "app",
        "title": title,
        "content": f"Content of {title}",
        "created_at": NANOSECONDS,
        "updated_at": NANOSECONDS,
        **more,
    }


def write_ai_memory(path: Path, version: int = 4) -> sqlite3.Connection:
    """A database of this schema version with a bit of everything, in WAL mode and still open."""
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript(MEMORIES + (LATER if version >= 4 else ""))
    insert(db, "schema_version", version=version)
    with db:
        told = {
            "tags": '["rust", "web"]',
            "priority": 8,
            "confidence": 0.9,
            "source": "claude",
            "access_count": 3,
        }
        more = {"metadata": json.dumps({"agent": {"id": "x"}})} if version >= 4 else {}
        insert(db, "memories", **memory(AXUM, "Project uses Axum", embedding=b"\0" * 1536, **told, **more))
        insert(
            db,
            "memories",
            **memory(
                RULES, "Rules", tier="mid", expires_at="2100-01-01T00:00:00Z", last_accessed_at=NANOSECONDS
            ),
        )
        insert(db, "memories", **memory(OVER, "Over", tier="short", expires_at="2026-05-01T00:00:00+02:00"))
        insert(
            db,
            "memory_links",
            source_id=AXUM,
            target_id=RULES,
            relation="derived_from",
            created_at=NANOSECONDS,
        )
        if version >= 4:
            insert(
                db,
                "archived_memories",
                **memory(GONE, "Gone", archived_at=NANOSECONDS, archive_reason="forget"),
            )
            insert(
                db,
                "namespace_meta",
                namespace="app",
                standard_id=RULES,
                updated_at=NANOSECONDS,
                parent_namespace="org",
            )
    return db


def closed_ai_memory(path: Path, version: int = 4) -> Path:
    """The same, closed and without a log beside it."""
    with closing(write_ai_memory(path, version)):
        pass
    return path
