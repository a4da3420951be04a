"""One store under all vocabularies: what is made through one is found through every other."""

from __future__ import annotations

import pytest
from speaking import Speaker, a_relation, an_entity

from mnemic.app import DIALECTS, dialect

ANNA, KNOWS = an_entity("Anna", "Anna grows tomatoes"), a_relation("Anna", "Bob", "knows")
BY_THE_HOUSE = [
    ("remember", {"text": "Anna grows tomatoes", "title": "Anna", "kind": "person"}),
    ("remember", {"text": "Bob bakes bread", "title": "Bob", "kind": "person"}),
    ("link", {"source": "Anna", "target": "Bob", "type": "knows"}),
]
BY_THE_OTHERS = [
    ("create_entities", {"entities": [ANNA, an_entity("Bob", "Bob bakes bread")]}),
    ("create_relations", {"relations": [KNOWS]}),
]


GRAPHS = [name for name in DIALECTS if name not in ("ai-memory", "lorekeeper", "agentic-memory")]
"""The vocabularies that can say of what kind a memory is and how two are related."""


@pytest.fixture(params=GRAPHS)
def made(request, ctx):
    """A store that was filled through one vocabulary."""
    speak = Speaker(dialect(request.param), ctx)
    for tool, arguments in BY_THE_HOUSE if request.param == "mnemic" else BY_THE_OTHERS:
        assert not speak(tool, **arguments).is_error
    return ctx


def test_the_reference_server_finds_it(made):
    speak = Speaker(dialect("anthropic"), made)
    told = speak.ok("search_nodes", query="tomatoes")
    assert told == {"entities": [ANNA], "relations": [KNOWS]} == speak.ok("open_nodes", names=["Anna"])
    assert len(speak.ok("read_graph")["entities"]) == 2


def test_simple_memory_finds_it(made):
    speak = Speaker(dialect("simple-memory"), made)
    assert speak.ok("search_nodes", query="tomatoes") == [ANNA] == speak.ok("open_nodes", names=["Anna"])
    assert speak.ok("read_graph")["relations"] == [KNOWS]


def test_mcp_memory_finds_it(made):
    speak = Speaker(dialect("mcp-memory"), made)
    [by_text] = speak.ok("search_nodes", query="tomatoes")["entities"]
    by_meaning = speak.ok("search_semantic", query="who grows tomatoes")["results"][0]
    [opened] = speak.ok("open_nodes", names=["Anna"])["entities"]
    for found in (by_text, by_meaning, opened):
        assert {key: found[key] for key in ANNA} == ANNA
    [relation] = opened["relations"]
    assert (relation["relation_type"], relation["target_name"]) == ("knows", "Bob")


def test_the_house_recalls_it_and_explores_its_relations(made):
    speak = Speaker(dialect("mnemic"), made)
    first = speak.ok("recall", query="who grows tomatoes")["memories"][0]
    assert first["title"] == "Anna"
    around = speak.ok("explore", id="Anna")
    assert "Bob" in str(around) and "knows" in str(around)


def test_ai_memory_finds_it_with_its_links(made):
    speak = Speaker(dialect("ai-memory"), made)
    [by_words] = speak.ok("memory_search", query="tomatoes", format="json")["results"]
    by_meaning = speak.ok("memory_recall", context="who grows tomatoes", format="json")["memories"][0]
    for found in (by_words, by_meaning):
        assert (found["title"], found["content"]) == ("Anna", "Anna grows tomatoes")
    [link] = speak.ok("memory_get_links", id=by_words["id"])["links"]
    other = speak.ok("memory_get", id=link["target_id"])
    assert (link["relation"], other["title"]) == ("knows", "Bob")


@pytest.fixture
def stored(ctx):
    """A store that was filled through ai-memory, and who did it."""
    speak = Speaker(dialect("ai-memory"), ctx)
    anna = speak.ok("memory_store", title="Anna", content="Anna grows tomatoes")["id"]
    bob = speak.ok("memory_store", title="Bob", content="Bob bakes bread")["id"]
    speak.ok("memory_link", source_id=anna, target_id=bob)
    return speak, anna


NOTED = an_entity("Anna", "Anna grows tomatoes", kind="note")
RELATED = a_relation("Anna", "Bob", "related_to")


def test_the_others_find_what_ai_memory_stored(ctx, stored):
    reference, simple, limbic, house = (
        Speaker(dialect(name), ctx) for name in ("anthropic", "simple-memory", "mcp-memory", "mnemic")
    )
    assert reference.ok("search_nodes", query="tomatoes") == {"entities": [NOTED], "relations": [RELATED]}
    assert simple.ok("open_nodes", names=["Anna"]) == [NOTED]
    assert limbic.ok("search_semantic", query="who grows tomatoes")["results"][0]["name"] == "Anna"
    assert house.ok("recall", query="who grows tomatoes")["memories"][0]["title"] == "Anna"
    assert "related_to" in house("explore", id="Anna").text


@pytest.mark.parametrize(
    "tool, arguments", [("memory_delete", {}), ("memory_forget", {"pattern": "tomatoes"})]
)
def test_what_leaves_through_ai_memory_has_left_everywhere(ctx, stored, tool, arguments):
    speak, anna = stored
    speak.ok(tool, **(arguments or {"id": anna}))
    assert Speaker(dialect("anthropic"), ctx).ok("open_nodes", names=["Anna"])["entities"] == []
    assert "tomatoes" not in Speaker(dialect("mnemic"), ctx)("recall", query="tomatoes").text


def test_what_leaves_elsewhere_has_left_ai_memory(ctx, stored):
    speak, anna = stored
    Speaker(dialect("anthropic"), ctx)("delete_entities", entityNames=["Anna"])
    assert speak("memory_get", id=anna).text == "memory not found"
    assert speak.ok("memory_search", query="tomatoes", format="json")["results"] == []


@pytest.mark.parametrize("name", ["anthropic", "simple-memory"])
def test_a_relation_to_a_mere_name_is_not_walked(ctx, name):
    speak = Speaker(dialect(name), ctx)
    speak.ok("create_entities", entities=[ANNA])
    speak.ok("create_relations", relations=[KNOWS])
    house = Speaker(dialect("mnemic"), ctx)
    assert "Bob" not in house("explore", id="Anna").text
    assert house("open", ids=["Bob"]).text == "No memory 'Bob'"
    house.ok("remember", text="Bob bakes bread", title="Bob")
    assert "Bob" in house("explore", id="Anna").text


def test_lorekeeper_finds_what_the_others_made_and_they_what_it_keeps(made):
    speak = Speaker(dialect("lorekeeper"), made)
    hit = speak.ok("lore_search", query="who grows tomatoes")["results"][0]
    assert (hit["memory"]["title"], hit["memory"]["content"]) == ("Anna", "Anna grows tomatoes")
    assert [link["relation_type"] for link in hit["links"]] == ["knows"]
    speak.ok("lore_insert", memories=[{"title": "Carl", "content": "Carl keeps bees"}])
    found = Speaker(dialect("anthropic"), made).ok("search_nodes", query="bees")["entities"]
    assert [entity["name"] for entity in found] == ["Carl"]
    assert Speaker(dialect("mnemic"), made).ok("recall", query="bees")["memories"][0]["title"] == "Carl"


def test_what_lorekeeper_forgets_has_left_everywhere(made):
    speak = Speaker(dialect("lorekeeper"), made)
    anna = speak.ok("lore_search", query="who grows tomatoes", format="title")["results"][0]["id"]
    speak.ok("lore_update", memory_feedback=[{"id": anna, "useful": False, "confidence": 1}])
    assert Speaker(dialect("anthropic"), made).ok("open_nodes", names=["Anna"])["entities"] == []
    assert "tomatoes" not in Speaker(dialect("mnemic"), made)("recall", query="tomatoes").text
