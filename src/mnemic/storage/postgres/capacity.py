"""Whether a store fits into the index in memory; if not, the server answers what a search asks for."""

from __future__ import annotations

import threading
import time

from mnemic.storage.postgres import pgvector
from mnemic.storage.postgres.connection import Executor
from mnemic.storage.postgres.knn import Knn
from mnemic.storage.postgres.pgvector import Capability
from mnemic.storage.postgres.rows import value

INDEX_BYTES = 128_000_000
"""Default limit of the index in memory, beside 96 MB for the postings of words."""
MEMORY_BYTES, PASSAGE_BYTES = 140, 40
"""What a memory takes there, and a passage beside the numbers of its vector."""
LOOK_SECONDS = 60.0
"""How often it is looked how large the store is."""
ROWS_A_PAGE = 6
"""Of a table of which the server has no statistics yet."""
SIZE = f"""
SELECT coalesce(sum(CASE c.relname WHEN 'memory' THEN {MEMORY_BYTES}
      ELSE {PASSAGE_BYTES} + (SELECT coalesce(max(dimension), 0) FROM model) END
    * CASE WHEN c.reltuples > 0 AND c.relpages > 0 THEN c.reltuples / c.relpages ELSE {ROWS_A_PAGE} END
    * (pg_relation_size(c.oid) / current_setting('block_size')::integer)), 0)::float8
FROM pg_class c WHERE c.oid IN ('mnemic.memory'::regclass, 'mnemic.passage'::regclass)
"""


class Capacity:
    """What the index of a store may hold, and what its server can do instead. Safe between threads."""

    def __init__(self, index_bytes: int, capability: Capability):
        self._index_bytes = index_bytes
        self._capability = capability
        self._knn = None if capability.schema is None else Knn(capability.schema)
        self._is_ready = False
        self._lock = threading.Lock()
        self._looked_at = -LOOK_SECONDS
        self._is_exceeded = False

    @property
    def capability(self) -> Capability:
        """What the server offers for search."""
        return self._capability

    def is_exceeded(self, db: Executor) -> bool:
        """Whether the store is too large for the index, as of some moments ago."""
        if self._index_bytes <= 0:
            return True
        with self._lock:
            if time.monotonic() - self._looked_at >= LOOK_SECONDS:
                self._is_exceeded = value(db, SIZE) > self._index_bytes
                self._looked_at = time.monotonic()
            return self._is_exceeded

    def knn(self, db: Executor) -> Knn | None:
        """Vector search by the server; None if vectors are compared in memory."""
        if self._knn is None or not self.is_exceeded(db):
            return None
        self._is_ready = self._is_ready or pgvector.is_ready(db)
        return self._knn if self._is_ready else None
