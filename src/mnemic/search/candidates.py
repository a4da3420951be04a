"""Candidates of a query: the best by words and the nearest by vectors, each with both numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

from mnemic.model.candidates import Ask, Candidate, Candidates
from mnemic.model.filter import Query
from mnemic.model.vectors import Embedding
from mnemic.search.query import Vocabulary, all_words, query_terms
from mnemic.storage import queries
from mnemic.storage.base import BACKLOG_LOOKED_AT, Reader

LIKELY_COSINE = 0.5
"""How near the best by words is taken to be where nothing has a vector."""


def gather(reader: Reader, query: Query, vector: Embedding | None, depth: int) -> dict[int, Candidate]:
    """The union of the *depth* best by words and by vectors, each with both numbers."""
    terms = query_terms(Vocabulary(reader, query.filter.namespaces), query.text).all
    found = reader.candidates(Ask(filter=query.filter, terms=terms, text=vector, depth=depth))
    return estimated(found, vector)


def estimated(found: Candidates, vector: Embedding | None) -> dict[int, Candidate]:
    """The candidates, with an estimated cosine for those that have no vector yet: as near as their words suggest."""
    rows = dict(found.rows)
    if vector is None:
        return rows
    without = [number for number, row in rows.items() if row.statement_id is None]
    if without:
        top = max(row.bm25 for row in rows.values()) or 1.0
        nearest = max(
            (row.cosine for row in rows.values() if row.statement_id is not None), default=LIKELY_COSINE
        )
        for number in without:
            rows[number] = rows[number]._replace(cosine=nearest * rows[number].bm25 / top)
    return rows


def ranked(reader: Reader, query: Query, vector: Embedding | None, depth: int) -> dict[int, Candidate]:
    """The *depth* nearest and the *depth* best that hold every word, with their places; none without a vector."""
    if vector is None:
        return {}
    ask = Ask(filter=query.filter, terms=all_words(query.text), every=True, text=vector, depth=depth)
    found = reader.candidates(ask)
    if reader.backlog(query.filter, looked_at=BACKLOG_LOOKED_AT):
        found = replace(found, rows=_with_pending(found.rows, _pending(reader, query, vector, depth)))
    return estimated(found, vector)


def _with_pending(rows: Mapping[int, Candidate], pending: Mapping[int, float]) -> dict[int, Candidate]:
    """*rows* with *pending* ones behind those that were found by words."""
    merged = dict(rows)
    places = count(1 + sum(row.words_rank is not None for row in rows.values()))
    for number, bm25 in pending.items():
        if number in rows:
            merged[number] = rows[number]._replace(bm25=bm25)
        else:
            merged[number] = Candidate(number, bm25, words_rank=next(places))
    return merged


def _pending(reader: Reader, query: Query, vector: Embedding, depth: int) -> dict[int, float]:
    """The best of those that hold any word and have no vector yet, which only their words can find."""
    terms = query_terms(Vocabulary(reader, query.filter.namespaces), query.text).all
    best = dict(queries.best_words(reader, terms, query.filter, limit=depth))
    embedded = queries.similarities(reader, vector, list(best))
    return {number: bm25 for number, bm25 in best.items() if number not in embedded}
