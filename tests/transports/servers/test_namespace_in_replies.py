"""Replies name the namespace that was written to, in the dialects that have a word for it."""

from __future__ import annotations

import pytest
from stdio_client import over_stdio


@pytest.mark.parametrize("options, namespace", [((), "shared"), (("--namespace", "cafe"), "cafe")])
def test_lorekeeper_names_the_namespace_it_keeps_a_memory_in(tmp_path, options, namespace):
    async def work(caller):
        kept = await caller.json("lore_remember", thought="Tea is at four")
        made = await caller.json("lore_insert", memories=[{"title": "Lunch", "content": "Soup on Mondays"}])
        assert (kept["namespace"], made["inserted_memories"][0]["namespace"]) == (namespace, namespace)

    over_stdio(tmp_path, "lorekeeper", work, *options, MNEMIC_EMBEDDER="none")


@pytest.mark.parametrize("options, namespace", [((), "global"), (("--namespace", "cafe"), "cafe")])
def test_ai_memory_names_the_namespace_of_what_it_stores_and_consolidates(tmp_path, options, namespace):
    async def work(caller):
        made = [await caller.json("memory_store", title=title, content=title) for title in ("One", "Two")]
        ids = [one["id"] for one in made]
        whole = await caller.json("memory_consolidate", ids=ids, title="Both", summary="One and two")
        assert (made[0]["namespace"], whole["namespace"]) == (namespace, namespace)

    over_stdio(tmp_path, "ai-memory", work, *options, MNEMIC_EMBEDDER="none")
