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

# Who is embedding which statement, and until when nobody else should. Not journaled.
CLAIMS = """
CREATE TABLE claim (
    statement_id INTEGER PRIMARY KEY REFERENCES statement (id) ON DELETE CASCADE,
    owner TEXT NOT NULL,
    expires_at INTEGER NOT NULL
);
"""

# Which store changed what last, written when stores meet; and the uids that other stores know a memory by. One whose
# memory is not there was purged.
VERSIONS = """
CREATE TABLE version (
    subject TEXT NOT NULL,
    number INTEGER NOT NULL,
    stamps TEXT NOT NULL,
    PRIMARY KEY (subject, number)
) WITHOUT ROWID;

CREATE TABLE alias (
    uid TEXT PRIMARY KEY,
    memory_id INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX alias_memory ON alias (memory_id);
"""

# Versions of rows that have changed since; see history.py. The present versions know where they began.
HISTORY = """
ALTER TABLE memory ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE edge ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN since INTEGER NOT NULL DEFAULT 0;

CREATE TABLE memory_past (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    worded INTEGER,
    id INTEGER NOT NULL REFERENCES memory (id) ON DELETE CASCADE,
    uid BLOB NOT NULL,
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
    session_id INTEGER,
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
CREATE INDEX memory_past_id ON memory_past (id, until);
CREATE INDEX memory_past_until ON memory_past (until);
CREATE INDEX memory_past_title ON memory_past (title);
CREATE INDEX memory_past_session ON memory_past (session_id, id) WHERE session_id IS NOT NULL;

CREATE TABLE edge_past (
    version INTEGER PRIMARY KEY,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    id INTEGER NOT NULL,
    source_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL,
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
CREATE INDEX edge_past_id ON edge_past (id, until);
CREATE INDEX edge_past_source ON edge_past (source_id);
CREATE INDEX edge_past_target ON edge_past (target_id);

CREATE TABLE session_past (
    version INTEGER PRIMARY KEY,
    since INTEGER NOT NULL,
    until INTEGER NOT NULL,
    id INTEGER NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    topic TEXT,
    summary TEXT,
    metadata TEXT
);
CREATE INDEX session_past_id ON session_past (id, until);

CREATE INDEX statement_never_embedded ON statement (id) WHERE model_id IS NULL AND until IS NOT NULL;
"""
# The words of versions that were living, by version.
PAST_WORDS = WORDS.replace("TABLE words", "TABLE words_past")

# A name is what somebody chose, and unique; a title is shown, and may stand any number of times.
NAMES = """
ALTER TABLE memory ADD COLUMN name TEXT;
ALTER TABLE memory_past ADD COLUMN name TEXT;
DROP INDEX memory_title;
DROP INDEX memory_named;
CREATE INDEX memory_title ON memory (namespace, title) WHERE state = 'living';
CREATE UNIQUE INDEX memory_name ON memory (namespace, name) WHERE state = 'living' AND name IS NOT NULL;
CREATE UNIQUE INDEX memory_placeholder ON memory (namespace, name) WHERE state = 'named';
CREATE INDEX memory_past_name ON memory_past (name) WHERE name IS NOT NULL;
"""

# The ranges of model/limits.py as constraints. What lies outside comes from files that were imported unchecked: it is
# set to the nearest bound by a change like any other, so the journal tells what it was. A file without a history
# (`since` is 0 then) gets it from the journal afterwards.
RANGES = """
CREATE TEMP TABLE bounded_memory AS
SELECT id, min(10, max(1, priority)) AS priority, min(1.0, max(0.0, confidence)) AS confidence,
    min(10.0, max(0.0, quality)) AS quality, min(10.0, max(0.0, rating)) AS rating
FROM memory
WHERE priority NOT BETWEEN 1 AND 10 OR confidence NOT BETWEEN 0 AND 1
    OR quality NOT BETWEEN 0 AND 10 OR rating NOT BETWEEN 0 AND 10;

INSERT INTO journal (batch, at, actor, operation, subject, subject_id, before, after)
SELECT (SELECT coalesce(max(sequence), 0) + 1 FROM journal), (SELECT coalesce(max(at), 0) FROM journal),
    'mnemic', 'upgrade', 'memory', m.id,
    json_object('priority', m.priority, 'confidence', m.confidence, 'quality', m.quality, 'rating', m.rating),
    json_object('priority', b.priority, 'confidence', b.confidence, 'quality', b.quality, 'rating', b.rating)
FROM memory m JOIN bounded_memory b USING (id);

INSERT INTO memory_past (since, until, id, uid, namespace, name, title, kind, summary, tags, priority, confidence,
    quality, rating, rating_count, tier, source, metadata, session_id, created_at, updated_at, accessed_at,
    access_count, days_used, expires_at, valid_from, valid_to, state, state_reason, state_at)
SELECT m.since, j.sequence, m.id, uid, namespace, name, title, kind, summary, tags, priority, confidence,
    quality, rating, rating_count, tier, source, metadata, session_id, created_at, updated_at, accessed_at,
    access_count, days_used, expires_at, valid_from, valid_to, state, state_reason, state_at
FROM memory m JOIN journal j ON j.subject_id = m.id AND j.subject = 'memory' AND j.operation = 'upgrade'
WHERE m.since > 0;

UPDATE memory SET priority = b.priority, confidence = b.confidence, quality = b.quality, rating = b.rating,
    since = CASE WHEN since = 0 THEN 0 ELSE (
        SELECT max(sequence) FROM journal WHERE subject_id = memory.id AND subject = 'memory') END
FROM bounded_memory b WHERE b.id = memory.id;
DROP TABLE bounded_memory;

CREATE TEMP TABLE bounded_edge AS
SELECT id, min(1.0, max(0.0, weight)) AS weight, min(10.0, max(0.0, quality)) AS quality,
    min(10.0, max(0.0, rating)) AS rating
FROM edge
WHERE weight NOT BETWEEN 0 AND 1 OR quality NOT BETWEEN 0 AND 10 OR rating NOT BETWEEN 0 AND 10;

INSERT INTO journal (batch, at, actor, operation, subject, subject_id, before, after)
SELECT (SELECT coalesce(max(sequence), 0) + 1 FROM journal), (SELECT coalesce(max(at), 0) FROM journal),
    'mnemic', 'upgrade', 'edge', e.id,
    json_object('weight', e.weight, 'quality', e.quality, 'rating', e.rating),
    json_object('weight', b.weight, 'quality', b.quality, 'rating', b.rating)
FROM edge e JOIN bounded_edge b USING (id);

INSERT INTO edge_past (since, until, id, source_id, target_id, type, weight, reason, created_at, valid_from, valid_to,
    state, updated_at, quality, rating, rating_count)
SELECT e.since, j.sequence, e.id, source_id, target_id, type, weight, reason, created_at, valid_from, valid_to,
    state, updated_at, quality, rating, rating_count
FROM edge e JOIN journal j ON j.subject_id = e.id AND j.subject = 'edge' AND j.operation = 'upgrade'
WHERE e.since > 0;

UPDATE edge SET weight = b.weight, quality = b.quality, rating = b.rating,
    since = CASE WHEN since = 0 THEN 0 ELSE (
        SELECT max(sequence) FROM journal WHERE subject_id = edge.id AND subject = 'edge') END
FROM bounded_edge b WHERE b.id = edge.id;
DROP TABLE bounded_edge;

ALTER TABLE memory ADD CONSTRAINT memory_priority CHECK (priority BETWEEN 1 AND 10);
ALTER TABLE memory ADD CONSTRAINT memory_confidence CHECK (confidence BETWEEN 0 AND 1);
ALTER TABLE memory ADD CONSTRAINT memory_quality CHECK (quality BETWEEN 0 AND 10);
ALTER TABLE memory ADD CONSTRAINT memory_rating CHECK (rating BETWEEN 0 AND 10);
ALTER TABLE edge ADD CONSTRAINT edge_weight CHECK (weight BETWEEN 0 AND 1);
ALTER TABLE edge ADD CONSTRAINT edge_quality CHECK (quality BETWEEN 0 AND 10);
ALTER TABLE edge ADD CONSTRAINT edge_rating CHECK (rating BETWEEN 0 AND 10);
"""

# What was recalled, for the statistics of use. Not journaled; bounded in number and age. And who stored what.
RECALL_LOG = """
CREATE TABLE recall_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    query TEXT NOT NULL,
    namespaces TEXT,
    session_id INTEGER,
    hits INTEGER NOT NULL,
    relevance REAL,
    tokens INTEGER NOT NULL,
    milliseconds REAL NOT NULL,
    memory_ids TEXT NOT NULL
);
CREATE INDEX recall_log_at ON recall_log (at);
CREATE INDEX recall_log_session ON recall_log (session_id) WHERE session_id IS NOT NULL;

CREATE INDEX journal_creation ON journal (actor, subject_id)
WHERE subject = 'memory' AND before IS NULL AND after IS NOT NULL;
"""

TOKENS = """
ALTER TABLE token ADD COLUMN expires_at INTEGER;
ALTER TABLE token ADD COLUMN used_at INTEGER;
ALTER TABLE token ADD COLUMN max_memories INTEGER;
ALTER TABLE token ADD COLUMN max_bytes INTEGER;
ALTER TABLE token ADD COLUMN max_requests INTEGER;
"""

# The workspaces of AgenticMemory are its own affair: one setting, as `dialects/agentic_memory/federation.py` keeps it.
WORKSPACES = """
INSERT INTO meta (key, value)
SELECT 'agentic-memory workspaces', json_group_array(json_object('id', id, 'name', name, 'members', json((
    SELECT json_group_array(json_object('path', path, 'role', role, 'label', label) ORDER BY id)
    FROM member WHERE workspace_id = workspace.id))) ORDER BY id)
FROM workspace HAVING count(*) > 0;
DROP TABLE member;
DROP TABLE workspace;
"""

MIGRATIONS: tuple[str, ...] = (
    TABLES + ENGLISH_WORDS + GRAMS,
    WHOLE_VECTORS,
    "DROP TABLE words; DELETE FROM mark;" + WORDS,
    CLAIMS,
    VERSIONS,
    HISTORY + PAST_WORDS,
    NAMES,
    RANGES,
    RECALL_LOG,
    TOKENS,
    WORKSPACES,
)
"""Entry n takes a file from version n to n + 1."""
REINDEXED_SINCE = 3
"""A file of an earlier version has its words and its marks indexed anew: how text becomes words has changed."""
HISTORY_SINCE = 6
"""A file of an earlier version has its history filled from its journal."""
