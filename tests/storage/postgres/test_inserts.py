"""Rows that are inserted together: what is not named in their columns would be lost without a word."""

from __future__ import annotations

from mnemic.storage.postgres.inserts import COLUMNS
from mnemic.storage.postgres.memories import STORED


def test_every_field_of_a_memory_is_inserted():
    written = {column.split()[0] for column in COLUMNS["memory"]}
    assert {"uid", "title"} <= set(STORED) <= written
