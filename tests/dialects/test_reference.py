"""Side by side with the reference server: the same calls, call by call, get the same answers.

What differs on purpose is left out: a name or a relation that comes twice in one call.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from bench.reference import installed
from dialect_client import Answer, DialectClient, a_relation, an_entity

from mnemic.dialects.anthropic.dialect import ANTHROPIC

SEED = 20261116
CALLS = 150
NAMES = ("Anna", "Bob", "carl", "Zoë", "a b", "")
TYPES = ("knows", "likes", "")
TEXTS = ("kind", "tall", "KIND of odd", "日本 😀", 'a "b"\n', "")
QUERIES = ("an", "KIND", "o", "", "zebra", "日", "person", "%", "_", '"')
BAD = (7, None, True, "text", [], {}, [7], [{}], [None], [["x"]], [{"name": 7}], [{"from": "a"}])


@pytest.fixture(scope="module")
def reference():
    """The server of the npm package, where a benchmark has put it."""
    found = installed(Path.home() / ".cache" / "mnemic-bench" / "reference")
    if found is None:
        pytest.skip("the reference server is not here: it needs node and npm, and npm the network")
    return found


@pytest.fixture
def there(reference, tmp_path):
    """The reference server on an empty file."""
    with reference.client(tmp_path / "memory.jsonl") as client:
        client.start()
        yield client


def call(client, tool, arguments):
    result = client.request("tools/call", {"name": tool, "arguments": arguments})
    return Answer(result["content"], result.get("isError", False), result.get("structuredContent"))


def some(chance, items):
    """A few of *items*, each once."""
    return chance.sample(items, chance.randint(0, 3))


def texts(chance):
    return [chance.choice(TEXTS) for _ in range(chance.randint(0, 3))]


def triples(chance):
    every = [(one, other, type) for one in NAMES for other in NAMES for type in TYPES]
    return [a_relation(*triple) for triple in some(chance, every)]


ARGUMENTS = {
    "create_entities": lambda chance: {
        "entities": [
            an_entity(name, *texts(chance), kind=chance.choice(("person", "Town", "")))
            for name in some(chance, NAMES)
        ]
    },
    "create_relations": lambda chance: {"relations": triples(chance)},
    "add_observations": lambda chance: {
        "observations": [{"entityName": name, "contents": texts(chance)} for name in some(chance, NAMES)]
    },
    "delete_entities": lambda chance: {"entityNames": [chance.choice(NAMES)]},
    "delete_observations": lambda chance: {
        "deletions": [
            {"entityName": chance.choice(NAMES), "observations": texts(chance)}
            for _ in range(chance.randint(0, 2))
        ]
    },
    "delete_relations": lambda chance: {"relations": triples(chance)},
    "read_graph": lambda chance: {},
    "search_nodes": lambda chance: {"query": chance.choice(QUERIES)},
    "open_nodes": lambda chance: {"names": [chance.choice(NAMES) for _ in range(chance.randint(0, 4))]},
}


def sequence(chance):
    """Calls of all nine tools, mostly good; the graph is read often, so that it shows where they part."""
    for _ in range(CALLS):
        tool = chance.choice([*ARGUMENTS, "create_entities", "create_relations", "create_relations"])
        arguments = ARGUMENTS[tool](chance)
        if arguments and chance.random() < 0.1:
            [field] = arguments
            arguments = chance.choice([{}, {field: chance.choice(BAD)}])
        yield tool, arguments
    yield "no_such_tool", {}
    yield "read_graph", {}


@pytest.mark.parametrize("seed", range(SEED, SEED + 3))
def test_the_same_calls_get_the_same_answers(ctx, there, seed):
    speak = DialectClient(ANTHROPIC, ctx)
    for step, (tool, arguments) in enumerate(sequence(random.Random(seed))):
        ours, theirs = speak(tool, **arguments), call(there, tool, arguments)
        assert ours == theirs, f"call {step}: {tool} {arguments}"


def test_the_same_tools_and_resources_are_listed(ctx, there):
    speak = DialectClient(ANTHROPIC, ctx)
    for method in ("tools/list", "resources/list"):
        assert speak.say(method) == there.request(method, {})
