"""The reference server's dialect over the MCP project's own client."""

from __future__ import annotations

from stdio_client import over_stdio

ANNA = {"name": "Anna", "entityType": "person", "observations": ["kind"]}
SEES = {"from": "Anna", "to": "Ghost", "relationType": "sees"}


def test_deleting_a_name_that_is_no_entity_deletes_the_relations_that_mention_it(tmp_path):
    async def work(caller):
        await caller.json("create_entities", entities=[ANNA])
        back = {"from": "Ghost", "to": "Anna", "relationType": "haunts"}
        await caller.json("create_relations", relations=[SEES, back])
        assert (await caller.json("read_graph"))["relations"] == [SEES, back]
        await caller.text("delete_entities", entityNames=["Ghost", "nobody"])
        assert await caller.json("read_graph") == {"entities": [ANNA], "relations": []}
        await caller.json("create_entities", entities=[{**ANNA, "name": "Ghost"}])
        assert (await caller.json("open_nodes", names=["Ghost"]))["relations"] == []

    over_stdio(tmp_path, "anthropic", work, MNEMIC_EMBEDDER="none")


def test_simple_memory_leaves_them_alone(tmp_path):
    async def work(caller):
        await caller.json("create_entities", entities=[ANNA])
        await caller.json("create_relations", relations=[SEES])
        assert await caller.json("delete_entities", entityNames=["Ghost"]) == []
        assert (await caller.json("read_graph"))["relations"] == [SEES]

    over_stdio(tmp_path, "simple-memory", work, MNEMIC_EMBEDDER="none", MEMORY_PATH=str(tmp_path))
