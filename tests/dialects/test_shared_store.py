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


@pytest.fixture(params=DIALECTS)
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
