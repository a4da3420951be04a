"""mcp-memory over the MCP project's own client: what its released server and its document take and answer."""

from __future__ import annotations

from stdio_client import Caller, over_stdio

PROJECT = "Proyecto cachorritos"
ARCHITECTURE = {
    "name": f"{PROJECT} - Arquitectura",
    "entity_type": "Proyecto",
    "observations": ["Stack: FastMCP + SQLite"],
}


async def relations(caller: Caller, name: str) -> set[tuple[str, str, str]]:
    opened = await caller.json("open_nodes", names=[name])
    return {
        (one["relation_type"], one["target_name"], one["direction"])
        for one in opened["entities"][0]["relations"]
    }


def test_a_split_links_its_parts_with_the_parent_that_is_named(tmp_path):
    async def work(caller):
        texts = ["Stack: FastMCP + SQLite", "97 tests passing"]
        made = [{"name": PROJECT, "entityType": "Proyecto", "observations": texts}, {"name": "Portfolio"}]
        await caller.json("create_entities", entities=made)
        done = await caller.json(
            "execute_entity_split",
            entity_name=PROJECT,
            approved_splits=[ARCHITECTURE],
            parent_entity_name="Portfolio",
        )
        assert done["result"]["relations_created"] == 2 and done["result"]["moved_observations"] == 1
        assert await relations(caller, "Portfolio") == {
            ("contiene", ARCHITECTURE["name"], "from"),
            ("parte_de", ARCHITECTURE["name"], "to"),
        }
        assert await relations(caller, PROJECT) == set()

    over_stdio(tmp_path, "mcp-memory", work, MNEMIC_EMBEDDER="none")


def test_a_split_under_an_unknown_parent_changes_nothing(tmp_path):
    async def work(caller):
        texts = ["Stack: FastMCP + SQLite"]
        await caller.json("create_entities", entities=[{"name": PROJECT, "observations": texts}])
        done = await caller.json(
            "execute_entity_split",
            entity_name=PROJECT,
            approved_splits=[ARCHITECTURE],
            parent_entity_name="Nobody",
        )
        assert done == {"error": "Entity not found: Nobody"}
        found = await caller.json("search_nodes", query="cachorritos")
        assert [one["observations"] for one in found["entities"]] == [texts]

    over_stdio(tmp_path, "mcp-memory", work, MNEMIC_EMBEDDER="none")


def test_observations_have_kinds_and_may_take_the_place_of_others(tmp_path):
    async def work(caller):
        await caller.json("create_entities", entities=[{"name": "API", "observations": ["port 80"]}])
        await caller.json("add_observations", name="API", observations=["written in Go"], kind="decision")
        [opened] = (await caller.json("open_nodes", names=["API"], kinds=["generic"]))["entities"]
        assert opened["observations"] == ["port 80"]
        added = await caller.json(
            "add_observations",
            name="API",
            observations=["port 8080"],
            kind="spec",
            supersedes=opened["observation_ids"][0],
        )
        assert added["entity"]["observations"] == ["written in Go", "port 8080"]
        [opened] = (await caller.json("open_nodes", names=["API"], kinds=["spec"]))["entities"]
        assert opened["observations"] == ["port 8080"]
        [opened] = (await caller.json("open_nodes", names=["API"], include_superseded=True))["entities"]
        assert opened["observations"] == ["written in Go", "port 8080", "port 80"]
        missing = await caller.json("add_observations", name="API", observations=["x"], supersedes=4711)
        assert missing == {"error": "Observation with id=4711 not found in API"}

    over_stdio(tmp_path, "mcp-memory", work, MNEMIC_EMBEDDER="none")


def test_all_takes_the_same_arguments(tmp_path):
    async def work(caller):
        await caller.json("create_entities", entities=[{"name": "API", "observations": ["port 80"]}])
        added = await caller.json("add_observations", name="API", observations=["in Go"], kind="decision")
        assert added["results"] == [{"entityName": "API", "addedObservations": ["in Go"]}]
        [opened] = (await caller.json("open_nodes", names=["API"], kinds=["decision"]))["entities"]
        assert opened["observations"] == ["in Go"]

    over_stdio(tmp_path, "all", work, MNEMIC_EMBEDDER="none")
