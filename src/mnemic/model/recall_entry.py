"""An entry of the recall log: what was asked, and what came of it."""

from __future__ import annotations

from typing import NamedTuple

from mnemic.model.time import Moment

LONGEST_QUERY = 500
"""Characters of a question that are kept."""
MOST_HITS = 20
"""Hits whose numbers are kept."""


class RecallEntry(NamedTuple):
    """One recall: who asked what, where and when, and what the answer was worth."""

    at: Moment
    actor: str
    query: str
    namespaces: tuple[str, ...] | None
    """Where it was looked; None is everywhere."""
    session_id: int | None
    hits: int
    relevance: float | None
    """Of the best hit."""
    tokens: int
    """About how many the answer has."""
    milliseconds: float
    memory_ids: tuple[int, ...] = ()
    """The best hits."""
    number: int = 0
    """Given by the store, ascending."""
