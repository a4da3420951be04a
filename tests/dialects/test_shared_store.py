"""One store under all dialects: what is made through one is found through every other."""

from __future__ import annotations

import pytest
from dialect_client import DialectClient, a_relation, an_entity

from mnemic.app import DIALECTS, EVERY, dialect

TEXT = "Anna grows tomatoes"
ANNA, KNOWS = an_entity("Anna", TEXT), a_relation("Anna", "Bob", "knows")
GRAPHS = ("anthropic", "simple-memory", "mcp-memory")
BY_THE_NATIVE_DIALECT = [
    ("remember", {"text": TEXT, "title": "Anna", "kind": "person"}),
    ("remember", {"text": "Bob bakes bread", "title": "Bob", "kind": "person"}),
    ("link", {"source": "Anna", "target": "Bob", "type": "knows"}),
]
BY_THE_OTHERS = [
    ("create_entities", {"entities": [ANNA, an_entity("Bob", "Bob bakes bread")]}),
    ("create_relations", {"relations": [KNOWS]}),
]
WRITES = {
    "mnemic": ("remember", {"text": TEXT}),
    **{name: ("create_entities", {"entities": [ANNA]}) for name in (*GRAPHS, EVERY)},
    "ai-memory": ("memory_store", {"title": "Anna", "content": TEXT}),
    "lorekeeper": ("lore_remember", {"thought": TEXT}),
    "agentic-memory": ("memory_add", {"event_type": "fact", "content": TEXT}),
}
"""How each keeps one thing."""
ASKS = {
    "mnemic": ("recall", {"query": "who grows tomatoes"}),
    **{name: ("search_nodes", {"query": "TOMATOES"}) for name in (*GRAPHS, EVERY)},
    "ai-memory": ("memory_recall", {"context": "who grows tomatoes", "format": "json"}),
    "lorekeeper": ("lore_search", {"query": "who grows tomatoes"}),
    "agentic-memory": ("memory_similar", {"query_text": "who grows tomatoes"}),
}
"""How each looks for it."""


def speaker(name, ctx):
    return DialectClient(dialect(name), ctx)


def finds(name, ctx, text=TEXT):
    """Whether the search of this dialect finds *text*."""
    tool, arguments = ASKS[name]
    return text in speaker(name, ctx)(tool, **arguments).text


def write(name, ctx):
    """Keep TEXT through this dialect: the memory's number, uid and title."""
    tool, arguments = WRITES[name]
    speaker(name, ctx).ok(tool, **arguments)
    [memory] = speaker("mnemic", ctx).ok("open", ids=[1])["memories"]
    return memory


@pytest.mark.parametrize("reader", ASKS)
@pytest.mark.parametrize("writer", WRITES)
def test_what_one_keeps_every_other_finds(ctx, writer, reader):
    assert set(WRITES) == set(ASKS) == {*DIALECTS, EVERY}
    assert not finds(reader, ctx)
    write(writer, ctx)
    assert finds(reader, ctx)


def forget(name, ctx, memory):
    """Let *memory* go through this dialect."""
    speak = speaker(name, ctx)
    match name:
        case "mnemic":
            speak.ok("forget", ids=[memory["id"]])
        case "ai-memory":
            speak.ok("memory_delete", id=memory["uid"])
        case "lorekeeper":
            speak.ok("lore_forget", memory_ids=[memory["uid"]])
        case "agentic-memory":
            speak.ok("memory_correct", old_node_id=memory["id"], new_content="Anna sells carrots")
        case _:
            speak("delete_entities", entityNames=[memory["title"]])


@pytest.mark.parametrize("reader", ASKS)
@pytest.mark.parametrize("one", WRITES)
def test_what_leaves_through_one_is_hidden_in_all(ctx, one, reader):
    """agentic-memory deletes nothing, but what it corrects is found no more."""
    memory = write("mnemic", ctx)
    assert finds(reader, ctx)
    forget(one, ctx, memory)
    assert not finds(reader, ctx)


# -- kinds and bodies


@pytest.mark.parametrize(
    "writer, kind, event_type",
    [
        ("mnemic", "note", "fact"),
        ("anthropic", "person", "fact"),
        ("simple-memory", "person", "fact"),
        ("mcp-memory", "person", "fact"),
        (EVERY, "person", "fact"),
        ("ai-memory", "note", "fact"),
        ("lorekeeper", "note", "fact"),
        ("agentic-memory", "fact", "fact"),
    ],
)
def test_a_kind_is_a_type_everywhere(ctx, writer, kind, event_type):
    memory = write(writer, ctx)
    assert memory["kind"] == kind
    [entity] = speaker("anthropic", ctx).ok("search_nodes", query="tomatoes")["entities"]
    assert [entity] == speaker("simple-memory", ctx).ok("search_nodes", query="tomatoes")
    assert entity["entityType"] == kind
    [node] = speaker("agentic-memory", ctx).ok("memory_query")["nodes"]
    assert (node["event_type"], node["content"]) == (event_type, TEXT)


def test_an_entity_without_a_type_is_generic_and_a_fact(ctx):
    for name, title in (("mcp-memory", "Tomato"), (EVERY, "Bread")):
        speaker(name, ctx).ok("create_entities", entities=[{"name": title}])
    types = {one["entityType"] for one in speaker("anthropic", ctx).ok("read_graph")["entities"]}
    nodes = speaker("agentic-memory", ctx).ok("memory_query")["nodes"]
    assert types == {"Generic"} and {node["event_type"] for node in nodes} == {"fact"}


@pytest.mark.parametrize("kind", ["decision", "inference", "skill"])
def test_a_type_of_event_is_a_kind(ctx, kind):
    speaker("agentic-memory", ctx).ok("memory_add", event_type=kind, content=TEXT)
    [entity] = speaker("anthropic", ctx).ok("search_nodes", query="tomatoes")["entities"]
    assert entity["entityType"] == kind
    found = speaker("mnemic", ctx).ok("recall", query="who grows tomatoes", kinds=[kind])
    assert len(found["memories"]) == 1


def test_content_is_the_observations_and_writing_it_replaces_them(ctx):
    reference, tiered = speaker("anthropic", ctx), speaker("ai-memory", ctx)
    reference.ok("create_entities", entities=[an_entity("Anna", TEXT, "Anna sells them")])
    content = f"{TEXT}\nAnna sells them"
    [found] = tiered.ok("memory_search", query="tomatoes", format="json")["results"]
    [hit] = speaker("lorekeeper", ctx).ok("lore_search", query="tomatoes")["results"]
    [node] = speaker("agentic-memory", ctx).ok("memory_query")["nodes"]
    assert found["content"] == hit["memory"]["content"] == node["content"] == content
    tiered.ok("memory_update", id=found["id"], content="Anna retired")
    [entity] = reference.ok("open_nodes", names=["Anna"])["entities"]
    assert entity["observations"] == ["Anna retired"]


def test_an_id_is_the_same_thing_everywhere(ctx):
    memory = write("lorekeeper", ctx)
    [hit] = speaker("lorekeeper", ctx).ok("lore_search", ids=[memory["uid"]])["results"]
    [entity] = speaker("mcp-memory", ctx).ok("search_nodes", query="tomatoes")["entities"]
    node = speaker("agentic-memory", ctx).ok("memory_query")["nodes"][0]
    assert hit["memory"]["id"] == speaker("ai-memory", ctx).ok("memory_get", id=memory["uid"])["id"]
    assert entity["id"] == node["id"] == memory["id"]


# -- what is about others


def add_reflection(ctx):
    told = speaker("mcp-memory", ctx).ok("add_reflection", target_type="global", content=TEXT)
    return told["result"]["id"]


def log_turn(ctx):
    return speaker("agentic-memory", ctx).ok("conversation_log", user_message=TEXT)["node_id"]


def end_session(ctx):
    speak = speaker("agentic-memory", ctx)
    speak.ok("session_start")
    return speak.ok("session_end", summary=TEXT)["episode_node_id"]


@pytest.fixture(params=[add_reflection, log_turn, end_session])
def aside(request, ctx):
    """The number of a memory that says TEXT and is about others."""
    return request.param(ctx)


@pytest.mark.parametrize("name", (*GRAPHS, EVERY))
def test_the_graph_leaves_out_what_is_about_others(ctx, aside, name):
    speak = speaker(name, ctx)
    [memory] = speaker("mnemic", ctx).ok("open", ids=[aside])["memories"]
    assert not finds(name, ctx)
    assert TEXT not in speak("open_nodes", names=[memory["title"]]).text
    if name != "mcp-memory":
        assert speak.ok("read_graph") == {"entities": [], "relations": []}


@pytest.mark.parametrize(
    "name, tool, arguments",
    [
        ("ai-memory", "memory_update", {"content": "Anna sells carrots"}),
        ("mnemic", "revise", {"text": "Anna sells carrots"}),
        ("mnemic", "revise", {"text": "Anna sells carrots", "supersede": True}),
        ("agentic-memory", "memory_correct", {"new_content": "Anna sells carrots"}),
    ],
)
def test_a_turn_that_was_rewritten_says_the_new_words(ctx, name, tool, arguments):
    number = log_turn(ctx)
    [turn] = speaker("mnemic", ctx).ok("open", ids=[number])["memories"]
    key = "old_node_id" if tool == "memory_correct" else "id"
    value = turn["uid"] if tool == "memory_update" else number
    speaker(name, ctx).ok(tool, **{key: value}, **arguments)
    newest = speaker("agentic-memory", ctx).ok("memory_query")["nodes"][0]
    assert newest["content"] == "Anna sells carrots"


@pytest.mark.parametrize(
    "name, tool, key", [("mnemic", "revise", "id"), ("ai-memory", "memory_update", "uid")]
)
def test_what_is_about_others_stays_so_with_other_metadata(ctx, aside, name, tool, key):
    [memory] = speaker("mnemic", ctx).ok("open", ids=[aside])["memories"]
    speaker(name, ctx).ok(tool, metadata={"checked": True}, id=memory[key])
    [changed] = speaker("mnemic", ctx).ok("open", ids=[aside])["memories"]
    assert changed["metadata"]["checked"] and changed["metadata"].keys() > {"checked"}
    assert speaker("anthropic", ctx).ok("read_graph")["entities"] == []


@pytest.mark.parametrize(
    "name, tool, key, more",
    [
        ("ai-memory", "memory_store", "title", {"content": "Anna sells carrots"}),
        ("mnemic", "remember", "title", {"text": "Anna sells carrots"}),
        ("lorekeeper", "lore_remember", "thought", {}),
    ],
)
def test_what_is_about_others_stands_in_the_way_of_no_title(ctx, aside, name, tool, key, more):
    [before] = speaker("mnemic", ctx).ok("open", ids=[aside])["memories"]
    speaker(name, ctx).ok(tool, **{key: before["title"]}, **more)
    [after] = speaker("mnemic", ctx).ok("open", ids=[aside])["memories"]
    assert (after["text"], after["kind"]) == (before["text"], before["kind"])
    assert len(speaker("anthropic", ctx).ok("read_graph")["entities"]) == 1


def test_a_reflection_on_a_relation_is_about_no_memory(ctx):
    reflecting = speaker("mcp-memory", ctx)
    for target in ("entity", "relation"):
        reflecting.ok("add_reflection", target_type=target, target_id=7, content=f"{TEXT} by the {target}")
    found = speaker("mnemic", ctx).ok("reflect", query=TEXT)["reflections"]
    assert {one["text"]: one.get("about") for one in found} == {
        f"{TEXT} by the entity": 7,
        f"{TEXT} by the relation": None,
    }


def test_what_is_about_others_is_found_by_who_asks_for_it(ctx, aside):
    [memory] = speaker("mnemic", ctx).ok("open", ids=[aside])["memories"]
    [found] = speaker("mnemic", ctx).ok("recall", query=TEXT, kinds=[memory["kind"]])["memories"]
    assert found["id"] == aside
    nodes = speaker("agentic-memory", ctx).ok("memory_query")["nodes"]
    assert aside in [node["id"] for node in nodes]
    assert finds("agentic-memory", ctx)


def test_reflections_are_found_by_their_own_search(ctx):
    number = add_reflection(ctx)
    [found] = speaker("mcp-memory", ctx).ok("search_reflections", query="tomatoes")["results"]
    assert found["id"] == number


# -- links


def test_edges_and_links_are_relations(ctx):
    write("agentic-memory", ctx)
    edge = {"target_id": 1, "edge_type": "supports"}
    speaker("agentic-memory", ctx).ok(
        "memory_add", event_type="decision", content="Anna gets a greenhouse", edges=[edge]
    )
    relations = speaker("anthropic", ctx).ok("read_graph")["relations"]
    assert a_relation("Anna gets a greenhouse", TEXT, "supports") in relations
    titles = {"memories": [{"title": "Bob", "content": "Bob bakes bread"}]}
    [bob] = speaker("lorekeeper", ctx).ok("lore_insert", **titles)["inserted_memories"]
    uid = speaker("mnemic", ctx).ok("open", ids=[1])["memories"][0]["uid"]
    link = {
        "source_memory_id": bob["id"],
        "target_memory_id": uid,
        "relation_type": "related_to",
        "reason": "food",
    }
    made = speaker("lorekeeper", ctx).ok("lore_insert", links=[link])
    assert not made["errors"], made
    assert (
        a_relation("Bob", TEXT, "related_to") in speaker("simple-memory", ctx).ok("read_graph")["relations"]
    )
    reached = speaker("agentic-memory", ctx).ok("memory_traverse", start_id=1, direction="backward")
    assert "bakes" in str(reached)


@pytest.fixture(params=["mnemic", *GRAPHS, EVERY])
def made(request, ctx):
    """A store that was filled through one dialect."""
    speak = DialectClient(dialect(request.param), ctx)
    for tool, arguments in BY_THE_NATIVE_DIALECT if request.param == "mnemic" else BY_THE_OTHERS:
        assert not speak(tool, **arguments).is_error
    return ctx


def test_the_reference_server_finds_it(made):
    speak = DialectClient(dialect("anthropic"), made)
    told = speak.ok("search_nodes", query="tomatoes")
    assert told == {"entities": [ANNA], "relations": [KNOWS]} == speak.ok("open_nodes", names=["Anna"])
    assert len(speak.ok("read_graph")["entities"]) == 2


def test_simple_memory_finds_it(made):
    speak = DialectClient(dialect("simple-memory"), made)
    assert speak.ok("search_nodes", query="tomatoes") == [ANNA] == speak.ok("open_nodes", names=["Anna"])
    assert speak.ok("read_graph")["relations"] == [KNOWS]


def test_mcp_memory_finds_it(made):
    speak = DialectClient(dialect("mcp-memory"), made)
    [by_text] = speak.ok("search_nodes", query="tomatoes")["entities"]
    by_meaning = speak.ok("search_semantic", query="who grows tomatoes")["results"][0]
    [opened] = speak.ok("open_nodes", names=["Anna"])["entities"]
    for found in (by_text, by_meaning, opened):
        assert {key: found[key] for key in ANNA} == ANNA
    [relation] = opened["relations"]
    assert (relation["relation_type"], relation["target_name"]) == ("knows", "Bob")


def test_the_native_dialect_recalls_it_and_explores_its_relations(made):
    speak = DialectClient(dialect("mnemic"), made)
    first = speak.ok("recall", query="who grows tomatoes")["memories"][0]
    assert first["text"] == "Anna grows tomatoes"
    around = speak.ok("explore", id="Anna")
    assert "Bob" in str(around) and "knows" in str(around)


def test_ai_memory_finds_it_with_its_links(made):
    speak = DialectClient(dialect("ai-memory"), made)
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
    speak = DialectClient(dialect("ai-memory"), ctx)
    anna = speak.ok("memory_store", title="Anna", content="Anna grows tomatoes")["id"]
    bob = speak.ok("memory_store", title="Bob", content="Bob bakes bread")["id"]
    speak.ok("memory_link", source_id=anna, target_id=bob)
    return speak, anna


NOTED = an_entity("Anna", "Anna grows tomatoes", kind="note")
RELATED = a_relation("Anna", "Bob", "related_to")


def test_the_others_find_what_ai_memory_stored(ctx, stored):
    reference, simple, limbic, native = (
        DialectClient(dialect(name), ctx) for name in ("anthropic", "simple-memory", "mcp-memory", "mnemic")
    )
    assert reference.ok("search_nodes", query="tomatoes") == {"entities": [NOTED], "relations": [RELATED]}
    assert simple.ok("open_nodes", names=["Anna"]) == [NOTED]
    assert limbic.ok("search_semantic", query="who grows tomatoes")["results"][0]["name"] == "Anna"
    assert native.ok("recall", query="who grows tomatoes")["memories"][0]["text"] == "Anna grows tomatoes"
    assert "related_to" in native("explore", id="Anna").text


@pytest.mark.parametrize(
    "tool, arguments", [("memory_delete", {}), ("memory_forget", {"pattern": "tomatoes"})]
)
def test_what_leaves_through_ai_memory_has_left_everywhere(ctx, stored, tool, arguments):
    speak, anna = stored
    speak.ok(tool, **(arguments or {"id": anna}))
    assert DialectClient(dialect("anthropic"), ctx).ok("open_nodes", names=["Anna"])["entities"] == []
    assert "tomatoes" not in DialectClient(dialect("mnemic"), ctx)("recall", query="tomatoes").text


def test_what_leaves_elsewhere_has_left_ai_memory(ctx, stored):
    speak, anna = stored
    DialectClient(dialect("anthropic"), ctx)("delete_entities", entityNames=["Anna"])
    assert speak("memory_get", id=anna).text == "memory not found"
    assert speak.ok("memory_search", query="tomatoes", format="json")["results"] == []


@pytest.mark.parametrize("name", ["anthropic", "simple-memory"])
def test_a_relation_to_a_mere_name_is_not_walked(ctx, name):
    speak = DialectClient(dialect(name), ctx)
    speak.ok("create_entities", entities=[ANNA])
    speak.ok("create_relations", relations=[KNOWS])
    native = DialectClient(dialect("mnemic"), ctx)
    assert "Bob" not in native("explore", id="Anna").text
    assert native("open", ids=["Bob"]).text == "No memory 'Bob'"
    native.ok("remember", text="Bob bakes bread", title="Bob")
    assert "Bob" in native("explore", id="Anna").text


def test_lorekeeper_finds_what_the_others_made_and_they_what_it_keeps(made):
    speak = DialectClient(dialect("lorekeeper"), made)
    hit = speak.ok("lore_search", query="who grows tomatoes")["results"][0]
    assert (hit["memory"]["title"], hit["memory"]["content"]) == ("Anna", "Anna grows tomatoes")
    assert [link["relation_type"] for link in hit["links"]] == ["knows"]
    speak.ok("lore_insert", memories=[{"title": "Carl", "content": "Carl keeps bees"}])
    found = DialectClient(dialect("anthropic"), made).ok("search_nodes", query="bees")["entities"]
    assert [entity["name"] for entity in found] == ["Carl"]
    assert (
        DialectClient(dialect("mnemic"), made).ok("recall", query="bees")["memories"][0]["text"]
        == "Carl keeps bees"
    )


def test_what_lorekeeper_forgets_has_left_everywhere(made):
    speak = DialectClient(dialect("lorekeeper"), made)
    anna = speak.ok("lore_search", query="who grows tomatoes", format="title")["results"][0]["id"]
    speak.ok("lore_update", memory_feedback=[{"id": anna, "useful": False, "confidence": 1}])
    assert DialectClient(dialect("anthropic"), made).ok("open_nodes", names=["Anna"])["entities"] == []
    assert "tomatoes" not in DialectClient(dialect("mnemic"), made)("recall", query="tomatoes").text
