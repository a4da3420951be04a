"""A database as mcp-memory writes it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

SCHEMA = """
CREATE TABLE entities (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, entity_type TEXT NOT NULL DEFAULT 'Generic',
    created_at TEXT NOT NULL DEFAULT (datetime('now')), updated_at TEXT NOT NULL DEFAULT (datetime('now'))
);
CREATE TABLE observations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, entity_id INTEGER NOT NULL REFERENCES entities(id) ON DELETE CASCADE,
    content TEXT NOT NULL, created_at TEXT NOT NULL DEFAULT (datetime('now'))
);
CREATE TABLE relations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, from_entity INTEGER NOT NULL REFERENCES entities(id),
    to_entity INTEGER NOT NULL REFERENCES entities(id), relation_type TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (datetime('now')), UNIQUE(from_entity, to_entity, relation_type)
);
CREATE VIRTUAL TABLE entity_fts USING fts5(name, entity_type, obs_text, tokenize="unicode61");
"""
LATER = """
ALTER TABLE entities ADD COLUMN status TEXT NOT NULL DEFAULT 'activo';
ALTER TABLE observations ADD COLUMN similarity_flag INTEGER NOT NULL DEFAULT 0;
ALTER TABLE observations ADD COLUMN kind TEXT NOT NULL DEFAULT 'generic';
ALTER TABLE observations ADD COLUMN supersedes INTEGER NULL;
ALTER TABLE observations ADD COLUMN superseded_at TEXT NULL;
ALTER TABLE relations ADD COLUMN context TEXT NULL;
ALTER TABLE relations ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
ALTER TABLE relations ADD COLUMN ended_at TEXT NULL;
CREATE TABLE reflections (
    id INTEGER PRIMARY KEY AUTOINCREMENT, target_type TEXT NOT NULL, target_id INTEGER, author TEXT NOT NULL,
    content TEXT NOT NULL, mood TEXT, created_at TEXT NOT NULL DEFAULT (datetime('now'))
);
CREATE TABLE entity_access (entity_id INTEGER PRIMARY KEY, access_count INTEGER NOT NULL, last_access TEXT NOT NULL);
CREATE TABLE entity_access_log (
    entity_id INTEGER NOT NULL, access_date TEXT NOT NULL, access_count INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (entity_id, access_date)
);
CREATE TABLE co_occurrences (
    entity_a_id INTEGER NOT NULL, entity_b_id INTEGER NOT NULL, co_count INTEGER NOT NULL, last_co TEXT NOT NULL,
    PRIMARY KEY (entity_a_id, entity_b_id)
);
"""
ROWS = """
INSERT INTO entities (id, name, entity_type, created_at, updated_at) VALUES
    (3, 'CachorroSpace', 'Project', '2026-04-01 10:00:00', '2026-04-01 10:00:00'),
    (7, 'Astro', 'Tool', '2026-04-02 10:00:00', '2026-04-02 10:00:00');
INSERT INTO observations (entity_id, content, created_at) VALUES
    (3, 'Stack: Astro', '2026-04-01 10:00:00'), (3, 'On Vercel', '2026-04-03 10:00:00');
INSERT INTO relations (id, from_entity, to_entity, relation_type, created_at) VALUES
    (5, 3, 7, 'uses', '2026-04-02 10:00:00');
"""
LATER_ROWS = """
UPDATE entities SET status = 'pausado' WHERE id = 7;
INSERT INTO observations (entity_id, content, created_at, kind) VALUES (3, 'Teal', '2026-04-03 10:00:00', 'metadata');
INSERT INTO observations (entity_id, content, created_at, superseded_at) VALUES
    (3, 'Blue', '2026-04-01 10:00:00', '2026-04-03 10:00:00');
UPDATE relations SET context = 'since v6' WHERE id = 5;
INSERT INTO relations (id, from_entity, to_entity, relation_type, created_at, active, ended_at) VALUES
    (6, 7, 3, 'replaced', '2026-04-02 10:00:00', 0, '2026-04-04 10:00:00');
INSERT INTO reflections (target_type, target_id, author, content, mood, created_at) VALUES
    ('entity', 3, 'sofia', 'A good start. It grew on me.', 'satisfaccion', '2026-04-05 10:00:00'),
    ('relation', 5, 'nolan', 'A good start. Of the tool.', NULL, '2026-04-05 10:00:00'),
    ('global', NULL, 'nolan', 'All is well.', NULL, '2026-04-05 10:00:00'),
    ('entity', 99, 'nolan', 'Of what is gone.', NULL, '2026-04-05 10:00:00');
INSERT INTO entity_access VALUES (3, 6, '2026-04-06 10:00:00');
INSERT INTO entity_access_log VALUES (3, '2026-04-05', 2), (3, '2026-04-06', 4);
INSERT INTO co_occurrences VALUES (3, 7, 2, '2026-04-06 10:00:00');
"""


def write_mcp_memory(path: Path, *, is_first_version: bool = False) -> Path:
    """A database with a bit of everything, closed; the first version had less."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(SCHEMA + ("" if is_first_version else LATER))
        db.executescript(ROWS + ("" if is_first_version else LATER_ROWS))
    return path
