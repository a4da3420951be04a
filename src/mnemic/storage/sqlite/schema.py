"""The tables, as numbered migrations. A file says in `user_version` how many it has been through."""

from __future__ import annotations

APPLICATION_ID = 0x4D4E454D  # "MNEM": how a file is known to be ours

# Marks belong to words, as the vowel signs of Indic scripts do; symbols are words, so that emoji are found.
TOKENIZER = (
    "porter", "unicode61", "remove_diacritics", "2", "categories", "L* N* M* Co So", "tokenchars", "_"
)  # fmt: skip

TABLES = """
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value
) WITHOUT ROWID;

CREATE TABLE namespace (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    standard_id INTEGER,
    parent TEXT
);

CREATE TABLE memory (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uid BLOB NOT NULL UNIQUE,
    namespace TEXT NOT NULL,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    summary TEXT,
    tags TEXT,
    priority INTEGER NOT NULL,
    confidence REAL NOT NULL,
    quality REAL,
    rating REAL,
    rating_count INTEGER NOT NULL,
    tier TEXT NOT NULL,
    source TEXT,
    metadata TEXT,
    session_id INTEGER REFERENCES session (id),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    accessed_at INTEGER,
    access_count INTEGER NOT NULL,
    days_used INTEGER NOT NULL,
    expires_at INTEGER,
    valid_from INTEGER,
    valid_to INTEGER,
    state TEXT NOT NULL,
    state_reason TEXT,
    state_at INTEGER
);
CREATE UNIQUE INDEX memory_title ON memory (namespace, title) WHERE state = 'living';
CREATE UNIQUE INDEX memory_named ON memory (namespace, title) WHERE state = 'named';
CREATE INDEX memory_kind ON memory (kind) WHERE state = 'living' AND metadata IS NOT NULL;
CREATE INDEX memory_expiry ON memory (expires_at) WHERE expires_at IS NOT NULL AND state = 'living';
CREATE INDEX memory_session ON memory (session_id, id) WHERE session_id IS NOT NULL;
CREATE INDEX memory_left ON memory (state, state_at) WHERE state != 'living';

CREATE TABLE tag (
    name TEXT NOT NULL,
    memory_id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    PRIMARY KEY (name, memory_id)
) WITHOUT ROWID;
CREATE INDEX tag_memory ON tag (memory_id);

-- A statement's text never changes. It stands from change `since` until just before change `until`,
-- so the body of a memory can be read as of any moment. One at position 0 has no text and is no part of the body: its
-- passage is the vector of the whole memory (name, kind and body), which one whose body is not a single statement has.
CREATE TABLE statement (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    text TEXT NOT NULL,
    digest INTEGER NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER,
    model_id INTEGER
);
CREATE INDEX statement_memory ON statement (memory_id, until);
CREATE INDEX statement_digest ON statement (digest);
CREATE INDEX statement_pending ON statement (id) WHERE model_id IS NULL AND until IS NULL;

-- Numbers of a living memory's text that nearly equal texts share. No index by memory: whoever takes them
-- out has the text and knows them.
CREATE TABLE mark (
    number INTEGER NOT NULL,
    memory_id INTEGER NOT NULL,
    PRIMARY KEY (number, memory_id)
) WITHOUT ROWID;

CREATE TABLE model (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    dimension INTEGER NOT NULL
);

CREATE TABLE passage (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    statement_id INTEGER NOT NULL REFERENCES statement (id) ON DELETE CASCADE,
    model_id INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    vector BLOB NOT NULL
);
CREATE INDEX passage_statement ON passage (statement_id);

CREATE TABLE edge (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    target_id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    weight REAL NOT NULL,
    reason TEXT,
    created_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    state TEXT NOT NULL,
    updated_at INTEGER,
    quality REAL,
    rating REAL,
    rating_count INTEGER NOT NULL
);
CREATE INDEX edge_source ON edge (source_id);
CREATE INDEX edge_target ON edge (target_id);

-- Which memories were answered together, how often and when last; a < b. Use, like access_count: not journaled.
CREATE TABLE companion (
    a INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    b INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    count INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (a, b)
) WITHOUT ROWID;
CREATE INDEX companion_b ON companion (b);

CREATE TABLE session (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    topic TEXT,
    summary TEXT,
    metadata TEXT,
    UNIQUE (namespace, name)
);

-- Several stores asked as one. Not journaled: it says where to look, not what is known.
CREATE TABLE workspace (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
);

CREATE TABLE member (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace_id INTEGER NOT NULL REFERENCES workspace (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    role TEXT NOT NULL,
    label TEXT NOT NULL,
    added_at INTEGER NOT NULL
);

CREATE TABLE journal (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    batch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    operation TEXT NOT NULL,
    subject TEXT NOT NULL,
    subject_id INTEGER NOT NULL,
    before TEXT,
    after TEXT
);
CREATE INDEX journal_subject ON journal (subject_id);

CREATE TABLE token (
    name TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    namespaces TEXT,
    can_write INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
"""

# Version 1 of the words index, which knew only the words of English.
ENGLISH_WORDS = """
CREATE VIRTUAL TABLE words USING fts5 (
    title, summary, tags, body, parts, namespace,
    content = '', contentless_delete = 1, detail = full,
    tokenize = "porter unicode61 remove_diacritics 2 tokenchars '_'"
);
"""

# One row a living memory. Contentless: the text stands in `statement` already. The namespace is
# indexed as a word of its own column, which narrows a search twelve times faster than a join does.
WORDS = f"""
CREATE VIRTUAL TABLE words USING fts5 (
    title, summary, tags, body, parts, stems, namespace,
    content = '', contentless_delete = 1, detail = full,
    tokenize = "{" ".join(TOKENIZER[:4])} categories '{TOKENIZER[5]}' tokenchars '{TOKENIZER[7]}'"
);
"""

# One row a memory in whatever state, written late: see substrings.py.
GRAMS = """
CREATE VIRTUAL TABLE gram USING fts5 (
    text, content = '', contentless_delete = 1, detail = none, tokenize = "trigram case_sensitive 1"
);
"""

# Vectors of whole memories; and those of statements read under a name anew, since they are read with the kind now.
WHOLE_VECTORS = """
INSERT INTO statement (memory_id, position, text, digest, since)
SELECT m.id, 0, '', 0, (SELECT coalesce(max(sequence), 0) FROM journal) FROM memory m
WHERE m.state != 'named'
  AND (SELECT count(*) FROM statement s WHERE s.memory_id = m.id AND s.until IS NULL) != 1;

UPDATE statement SET model_id = NULL
FROM memory m
WHERE m.id = memory_id AND until IS NULL AND model_id IS NOT NULL
  AND m.kind NOT IN ('', 'note', 'Generic') AND instr(ltrim(text), m.title) != 1;
"""

MIGRATIONS: tuple[str, ...] = (
    TABLES + ENGLISH_WORDS + GRAMS,
    WHOLE_VECTORS,
    "DROP TABLE words; DELETE FROM mark;" + WORDS,
)
"""Entry n takes a file from version n to n + 1."""
REINDEXED_SINCE = 3
"""A file of an earlier version has its words and its marks indexed anew: how text becomes words has changed."""
