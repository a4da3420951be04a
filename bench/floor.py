"""The floor: the same texts in plain SQLite, one table and an FTS5 index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import apsw

from mnemic.model.memory import title_of
from mnemic.storage.sqlite.rows import Row, rows, value

SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS note_title ON note (title);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
    title, body, content = 'note', content_rowid = 'id', tokenize = 'porter unicode61'
);
"""
INSERT = """
INSERT INTO note (title, body) VALUES (?, ?)
"""
INDEX = """
INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)
"""
SEARCH = """
SELECT n.id, n.title, n.body FROM words JOIN note n ON n.id = words.rowid
WHERE words MATCH ? ORDER BY rank LIMIT 10
"""
OPEN = """
SELECT id, title, body FROM note WHERE title = ?
"""
BUSY_MILLISECONDS = 60_000


class Floor:
    """Notes in a file: no vectors, no journal, no namespaces."""

    def __init__(self, path: Path):
        self._connection = apsw.Connection(str(path))
        self._connection.set_busy_timeout(BUSY_MILLISECONDS)
        for _ in self._connection.execute(SCHEMA):
            pass

    def add(self, texts: Iterable[str]) -> None:
        """Store *texts* in one durable transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        for text in texts:
            title = title_of(text)
            self._connection.execute(INSERT, (title, text))
            self._connection.execute(INDEX, (self._connection.last_insert_rowid(), title, text))
        self._connection.execute("COMMIT")

    def search(self, words: Sequence[str], *, every: bool) -> list[Row]:
        """The best ten notes with every word, or any."""
        quoted = (f'"{word}"' for word in words)
        return rows(self._connection, SEARCH, ((" AND " if every else " OR ").join(quoted),))

    def open(self, title: str) -> list[Row]:
        """The notes with this title."""
        return rows(self._connection, OPEN, (title,))

    def count(self) -> int:
        """How many notes there are."""
        return int(value(self._connection, "SELECT count(*) FROM note"))

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
