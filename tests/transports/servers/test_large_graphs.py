"""`read_graph` of a large graph: one text block that parses, with a hint at the pages in it."""

from __future__ import annotations

import json

import pytest
from stdio_client import over_stdio

from mnemic.dialects.graph_page import READABLE

LONG = {"name": "Long", "entityType": "text", "observations": ["x" * 60_000, "y" * 60_000]}


@pytest.mark.parametrize("dialect", ["anthropic", "simple-memory", "all"])
def test_read_graph_answers_one_text_block_that_is_json(tmp_path, dialect):
    async def work(caller):
        small = await caller.json("read_graph")
        assert small == {"entities": [], "relations": []}
        await caller.result("create_entities", entities=[LONG])
        return await caller.result("read_graph")

    answer = over_stdio(tmp_path, dialect, work, MEMORY_PATH=str(tmp_path), MNEMIC_EMBEDDER="none")
    [block] = answer.content
    graph = json.loads(block.text)
    assert len(block.text) > READABLE and graph["entities"][0]["observations"] == LONG["observations"]
    assert "limit" in graph["note"] and "after" in graph["note"]
    assert block.text.index('"note"') < READABLE, "clients that cut the answer show it"
    if dialect == "anthropic":
        assert answer.structured_content.keys() == {"entities", "relations"}
    if dialect == "all":
        assert answer.structured_content == graph
