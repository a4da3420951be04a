"""Nearest vectors found by the server with pgvector: exactly in small namespaces, by HNSW where an index was built."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mnemic.storage.base import Nearness
from mnemic.storage.postgres import pgvector
from mnemic.storage.postgres.connection import Executor, Row
from mnemic.storage.postgres.namespace_filter import numbered
from mnemic.storage.postgres.rows import routed, row, rows
from mnemic.storage.quantisation import quantised

if TYPE_CHECKING:
    from mnemic.model.vectors import Vectors
    from mnemic.storage.postgres.bm25 import Passing

_DISTANCE = "{half} OPERATOR({schema}.<=>) %(vector)s::{schema}.halfvec"
# An index is over the vectors of one size, so it is used only where the size is written like that.
_PLAIN, _SIZED = "p.half", "(p.half::{schema}.halfvec({dimension}))"
_CURRENT = """JOIN statement s ON s.namespace_id = {table}.namespace_id AND s.memory_id = {table}.memory_id
  AND s.id = {table}.statement_id AND s.until IS NULL"""
# What has left, or does not pass, is told as such: so it can be seen whether there is more to look at. Each is looked
# up by its keys; of a small store the planner would read all memories for it.
NEAREST = f"""
WITH near AS MATERIALIZED (
  SELECT p.namespace_id, p.memory_id, p.statement_id, {{distance}} AS distance FROM passage p
  WHERE {{place}} AND p.model_id = %(model)s ORDER BY {{distance}} LIMIT %(wanted)s)
SELECT near.memory_id, near.statement_id, 1 - near.distance, found.id IS NOT NULL FROM near
LEFT JOIN LATERAL (
  SELECT m.id FROM memory m {_CURRENT.format(table="near")}
  WHERE {{here[m]}} AND {{here[s]}} AND m.namespace_id = near.namespace_id AND m.id = near.memory_id
    AND m.id != ALL(%(left_out)s::bigint[]) AND {{conditions}} OFFSET 0
) found ON TRUE
ORDER BY near.distance, near.memory_id, near.statement_id
"""
# The number of the namespace is written out: only so the planner knows that the index covers what is asked for.
IN_ONE = "p.namespace_id = {space}"
PASSING = f"""
SELECT p.memory_id, p.statement_id, 1 - ({{distance}}), TRUE FROM memory m
JOIN passage p ON p.namespace_id = m.namespace_id AND p.memory_id = m.id AND p.model_id = %(model)s
{_CURRENT.format(table="p")}
WHERE {{here[m]}} AND m.id != ALL(%(left_out)s::bigint[]) AND {{conditions}}
ORDER BY {{distance}}, p.memory_id, p.statement_id LIMIT %(wanted)s
"""
# Numbers of memories are unique in the whole store.
OF_THESE = f"""
SELECT DISTINCT ON (p.memory_id) p.memory_id, p.statement_id, 1 - ({{distance}}) FROM memory m
JOIN passage p ON p.namespace_id = m.namespace_id AND p.memory_id = m.id AND p.model_id = %(model)s
{_CURRENT.format(table="p")}
WHERE {{here[m]}} AND m.id = ANY(%(ids)s::bigint[]) AND m.state = 'living'
ORDER BY p.memory_id, {{distance}}, p.statement_id
"""
HAS_ANY = """
SELECT 1 FROM passage p JOIN memory m ON m.namespace_id = p.namespace_id AND m.id = p.memory_id AND m.state = 'living'
WHERE {here[p]} AND p.model_id = %(model)s LIMIT 1
"""
SET_DEPTH = """
SELECT set_config('hnsw.ef_search', %(depth)s, true)
"""
LIVING = "m.state = 'living'"
LEAST_DEPTH, MOST_DEPTH = 120, 1_000
"""How many candidates a search in an index keeps in view; pgvector allows a thousand."""
WIDER = 2


class Knn:
    """Vector search by the server, with pgvector in this schema."""

    def __init__(self, schema: str):
        self._schema = schema

    def nearest(
        self,
        db: Executor,
        model: tuple[int, int],
        vector: Vectors,
        spaces: Sequence[int],
        passing: Passing,
        limit: int,
        at_least: float = -math.inf,
    ) -> list[Nearness]:
        """The *limit* memories of these namespaces nearest to *vector*, by their best passage, of those that pass."""
        indexes = pgvector.valid_indexes(db)
        large = [space for space in spaces if pgvector.index_name(space, model[0]) in indexes]
        small = [space for space in spaces if space not in large]
        values = {**self._asked(model, vector), "left_out": list(passing.left_out), **passing.values}
        conditions = passing.conditions or LIVING
        found = [self._indexed(db, model, space, conditions, values, limit) for space in large]
        if small:
            found.append(self._exact(db, small, passing, values, limit))
        best = sorted(
            (near for some in found for near in some), key=lambda one: (-one.similarity, one.memory_id)
        )
        return [near for near in best if near.similarity >= at_least][:limit]

    def _asked(self, model: tuple[int, int], vector: Vectors) -> dict[str, Any]:
        numbers = quantised(vector.reshape(1, -1))[0].tolist()
        return {"vector": str(numbers), "model": model[0]}

    def _indexed(
        self,
        db: Executor,
        model: tuple[int, int],
        space: int,
        conditions: str,
        values: Mapping[str, Any],
        limit: int,
    ) -> list[Nearness]:
        """The nearest of a namespace with an index; exactly, if too few of those it gives pass."""
        sized = _SIZED.format(schema=self._schema, dimension=model[1])
        here = numbered([space])
        values = {**values, **here.values}
        sql = NEAREST.format(
            place=IN_ONE.format(space=int(space)),
            here=here,
            distance=self._distance(sized),
            conditions=conditions,
        )
        depth = max(LEAST_DEPTH, limit + limit // 2)
        while depth <= MOST_DEPTH:
            row(db, SET_DEPTH, {"depth": str(depth)})
            found = rows(db, sql, {**values, "wanted": depth})
            best = _best(found, limit)
            if len(best) >= limit:
                return best
            # So many more as seem to be needed; if few pass a filter, all of those are compared instead.
            depth = WIDER * depth * limit // max(1, len(best))
        sql = PASSING.format(here=here, distance=self._distance(_PLAIN), conditions=conditions)
        return self._widened(db, sql, values, limit)

    def _exact(
        self, db: Executor, spaces: Sequence[int], passing: Passing, values: Mapping[str, Any], limit: int
    ) -> list[Nearness]:
        """The nearest among all vectors of these namespaces."""
        here, template = numbered(spaces), NEAREST if passing.conditions is None else PASSING
        sql = template.format(
            place=here["p"],
            here=here,
            distance=self._distance(_PLAIN),
            conditions=passing.conditions or LIVING,
        )
        return self._widened(db, sql, {**values, **here.values}, limit)

    def _widened(self, db: Executor, sql: str, values: Mapping[str, Any], limit: int) -> list[Nearness]:
        """The *limit* best, looked for among ever more passages until there are so many or no more to look at."""
        wanted = 2 * limit
        while True:
            found = rows(db, sql, {**values, "wanted": wanted})
            best = _best(found, limit)
            if len(best) >= limit or len(found) < wanted:
                return best
            wanted *= WIDER

    def similarities(
        self, db: Executor, model: tuple[int, int], vector: Vectors, memory_ids: Sequence[int]
    ) -> list[Nearness]:
        """How near each of these living memories is."""
        values = {**self._asked(model, vector), "ids": list(memory_ids)}
        found = rows(db, *routed(db, OF_THESE, values, distance=self._distance(_PLAIN)))
        return sorted(map(Nearness._make, found), key=lambda one: -one.similarity)

    def has_any(self, db: Executor, model: tuple[int, int], spaces: Sequence[int]) -> bool:
        """Whether a living memory of these namespaces has a vector by this model."""
        here = numbered(spaces)
        return row(db, HAS_ANY.format(here=here), {**here.values, "model": model[0]}) is not None

    def _distance(self, half: str) -> str:
        return _DISTANCE.format(half=half, schema=self._schema)


def _best(found: Sequence[Row], limit: int) -> list[Nearness]:
    """The first passage of each memory that passes counts; a vector without a direction is near to nothing."""
    best: dict[int, Nearness] = {}
    for number, statement, similarity, passes in found:
        if passes and number not in best and not math.isnan(similarity):
            best[number] = Nearness(number, statement, similarity)
    return list(best.values())[:limit]
