"""agentic-memory over the MCP project's own client."""

from __future__ import annotations

from stdio_client import over_stdio


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


def test_a_claim_that_memory_says_some_of_is_partial_and_one_it_says_nothing_of_is_ungrounded(tmp_path):
    async def work(caller):
        for fact in ("Marta leads the payments team", "The production database is PostgreSQL in Frankfurt"):
            await caller.json("memory_add", event_type="fact", content=fact)
        some = await caller.json("memory_ground", claim="Marta plays violin with a string quartet abroad")
        assert some["status"] == "partial" and "violin" in some["unsupported_terms"]
        other = await caller.json("memory_ground", claim="The production database is MongoDB by Azure")
        assert other["status"] == "partial"
        none = await caller.json("memory_ground", claim="Volcanic eruptions enlarged Iceland's coastline")
        assert (none["status"], none["evidence"]) == ("ungrounded", [])

    over_stdio(tmp_path, "agentic-memory", work)
