"""mcp-memory's search by meaning: the vector of an entity covers its name, its type and its observations."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from typing import Any

import apsw
from stdio_client import Caller, over_stdio

from mnemic.embedding.local import ENGLISH
from mnemic.storage.sqlite.schema import APPLICATION_ID, MIGRATIONS

ENTITIES = [
    {"name": "Kubernetes", "entityType": "container orchestration"},
    {"name": "Marta", "entityType": "veterinarian", "observations": ["lives in Lisbon", "drives a red van"]},
    {"name": "Otto", "entityType": "sailor", "observations": ["born in 1961"]},
    {"name": "Budget", "entityType": "report", "observations": ["due in March", "owned by finance"]},
    {"name": "Pasta", "entityType": "recipe", "observations": ["boil the water", "add salt"]},
]


async def found(caller: Caller, query: str) -> list[dict[str, Any]]:
    """The results once every entity has its vector."""
    end = time.monotonic() + 30
    answer = await caller.json("search_semantic", query=query, limit=5)
    while answer.get("pending") and time.monotonic() < end:
        await asyncio.sleep(0.1)
        answer = await caller.json("search_semantic", query=query, limit=5)
    results: list[dict[str, Any]] = answer["results"]
    return results


async def first(caller: Caller, query: str) -> Any:
    return (await found(caller, query))[0]["name"]


def test_an_entity_without_observations_is_found_by_meaning(tmp_path):
    async def work(caller):
        await caller.json("create_entities", entities=ENTITIES)
        assert await first(caller, "how do we run docker workloads on a cluster") == "Kubernetes"

    over_stdio(tmp_path, "mcp-memory", work)


def test_the_type_of_an_entity_takes_part_in_its_vector(tmp_path):
    async def work(caller):
        await caller.json("create_entities", entities=ENTITIES)
        assert await first(caller, "a doctor for animals, a vet") == "Marta"
        assert await first(caller, "somebody who works on ships at sea") == "Otto"

    over_stdio(tmp_path, "mcp-memory", work)


def test_a_vector_follows_a_new_type_and_new_observations(tmp_path):
    async def work(caller):
        await caller.json("create_entities", entities=ENTITIES)
        before = await found(caller, "astronomer with a telescope")
        await caller.json("create_entities", entities=[{"name": "Marta", "entityType": "astronomer"}])
        await caller.json(
            "add_observations", name="Kubernetes", observations=["feeds the penguins in the zoo"]
        )
        after = await found(caller, "astronomer with a telescope")
        was, now = ([one["distance"] for one in some if one["name"] == "Marta"] for some in (before, after))
        assert now[0] < was[0] - 0.1
        assert await first(caller, "birds that are kept in a zoo") == "Kubernetes"
        await caller.json(
            "delete_observations", name="Kubernetes", observations=["feeds the penguins in the zoo"]
        )
        assert await first(caller, "docker workloads on a cluster") == "Kubernetes"

    over_stdio(tmp_path, "mcp-memory", work)


def test_a_store_of_the_first_format_gets_the_vectors_of_its_entities_in_the_background(tmp_path):
    path = tmp_path / "memory.db"
    with closing(apsw.Connection(str(path))) as old:
        old.execute(MIGRATIONS[0]).fetchall()
        for sql in OLD_STORE:
            old.execute(sql).fetchall()
        old.pragma("application_id", APPLICATION_ID)
        old.pragma("user_version", 1)

    async def work(caller):
        await caller.json("search_nodes", query="Kubernetes")
        return await first(caller, "docker workloads on a cluster")

    assert over_stdio(tmp_path, "mcp-memory", work) == "Kubernetes"
    with closing(apsw.Connection(str(path))) as now:
        waiting = "SELECT count(*) FROM statement WHERE model_id IS NULL AND until IS NULL"
        end = time.monotonic() + 30
        while now.execute(waiting).fetchone() != (0,) and time.monotonic() < end:
            time.sleep(0.1)
        assert now.execute(waiting).fetchone() == (0,)
        assert now.execute("SELECT count(*), min(id) > 1 FROM passage").fetchone() == (2, 1), "both are new"


OLD_STORE = [
    "INSERT INTO namespace (id, name) VALUES (1, 'global')",
    *(
        f"""INSERT INTO memory (id, uid, namespace, title, kind, priority, confidence, rating_count, tier, created_at,
            updated_at, access_count, days_used, state)
        VALUES ({number}, unhex('{number:032x}'), 'global', '{name}', '{kind}', 5, 1.0, 0, 'long', 1,
            1, 0, 0, 'living')"""
        for number, name, kind in (
            (1, "Kubernetes", "container orchestration"),
            (2, "Otto", "sailor"),
        )
    ),
    """INSERT INTO journal (sequence, batch, at, actor, operation, subject, subject_id, after) VALUES
        (1, 1, 1, 'x', 'x', 'memory', 1, '{}'), (2, 1, 1, 'x', 'x', 'memory', 2, '{}')""",
    f"INSERT INTO model (id, name, dimension) VALUES (1, '{ENGLISH.name}', {ENGLISH.dimension})",
    """INSERT INTO statement (id, memory_id, position, text, digest, since, model_id)
        VALUES (1, 2, 1, 'born in 1961', 7, 2, 1)""",
    f"""INSERT INTO passage (id, statement_id, model_id, start, end, vector)
        VALUES (1, 1, 1, 0, 12, zeroblob({ENGLISH.dimension}))""",
]
"""Two entities as the first format kept them: one without a vector, one whose vector leaves out its type."""
