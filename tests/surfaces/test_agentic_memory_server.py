"""agentic-memory over the MCP project's own client."""

from __future__ import annotations

from dropin import over_stdio


def test_a_corrected_node_takes_part_in_the_episode_of_its_session(tmp_path):
    async def work(caller):
        await caller.json("session_start")
        old = (await caller.json("memory_add", event_type="fact", content="The limit is 5"))["node_id"]
        corrected = await caller.json("memory_correct", old_node_id=old, new_content="The limit is 7")
        ended = await caller.json("session_end", summary="Settled the limit")
        walked = await caller.json(
            "memory_traverse",
            start_id=ended["episode_node_id"],
            edge_types=["part_of"],
            direction="backward",
        )
        assert {one["id"] for one in walked["visited"]} == {
            ended["episode_node_id"],
            old,
            corrected["new_node_id"],
        }

    over_stdio(tmp_path, "agentic-memory", work, MNEMIC_EMBEDDER="none")
