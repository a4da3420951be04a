"""The files of the graph dialects: read as far as they can be, written so that they read the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.model.graph import Entity, Relation, Sketch, Triple
from mnemic.transfer.graph_file import (
    NO_FIELDS,
    NO_JSON,
    NO_KIND,
    NO_LIST,
    Flaw,
    Surplus,
    read_document,
    read_document_or_lines,
    read_lines,
    write_document,
    write_lines,
)

ANNA = {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["tall", "kind"]}
KNOWS = {"type": "relation", "from": "Anna", "to": "Bob", "relationType": "knows"}
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
ENTITIES = st.lists(st.builds(Entity, st.just(0), TEXTS, TEXTS, st.lists(TEXTS, max_size=3)), max_size=5)
RELATIONS = st.lists(st.builds(Relation, st.just(0), TEXTS, TEXTS, TEXTS), max_size=5)


def line(content, **changed):
    """*content* as a line; a field that is changed to None is left out."""
    return json.dumps({name: value for name, value in (content | changed).items() if value is not None})


def lines(*some):
    return list(read_lines("\n".join(some)))


# -- lines


def test_lines_are_entities_and_relations_in_their_order():
    assert lines(line(KNOWS), line(ANNA)) == [
        Triple("Anna", "Bob", "knows"),
        Sketch("Anna", "person", ("tall", "kind")),
    ]


@pytest.mark.parametrize("text", ["", "\n", "\r\n \n\t\n"])
def test_an_empty_file_says_nothing(text):
    assert list(read_lines(text)) == []


def test_blank_lines_are_passed_over_and_counted():
    assert lines("", line(ANNA), "  ", "{", "") == [
        Sketch("Anna", "person", ("tall", "kind")),
        Flaw("line 4", NO_JSON),
    ]


def test_windows_line_ends_are_read():
    assert list(read_lines(f"{line(ANNA)}\r\n{line(KNOWS)}\r\n")) == lines(line(ANNA), line(KNOWS))


@pytest.mark.parametrize("odd", ["\u2028", "\x85", "\x0b"])
def test_only_a_line_feed_ends_a_line(odd):
    told = json.dumps({**ANNA, "observations": [f"a{odd}b"]}, ensure_ascii=False)
    if odd != "\x0b":  # a control character must be escaped in JSON, which dumps does
        assert odd in told
    assert lines(told) == [Sketch("Anna", "person", (f"a{odd}b",))]


@pytest.mark.parametrize(
    "broken, what",
    [
        ("{", NO_JSON),
        ('{"type": "entity", "name": "Ann', NO_JSON),
        (line(ANNA) + line(KNOWS), NO_JSON),
        ("[" * 100_000, NO_JSON),
        (json.dumps("Anna"), NO_KIND),
        (json.dumps([ANNA]), NO_KIND),
        ("null", NO_KIND),
        (line(ANNA, type="observation"), NO_KIND),
        (line(ANNA, type=None), NO_KIND),
        (line(ANNA, type=["entity"]), NO_KIND),
        (line(ANNA, name=None), NO_FIELDS),
        (line(ANNA, name=7), NO_FIELDS),
        (line(ANNA, entityType=7), NO_FIELDS),
        (line(ANNA, observations="tall"), NO_FIELDS),
        (line(ANNA, observations=["tall", 7]), NO_FIELDS),
        (line(KNOWS, to=None), NO_FIELDS),
        (line(KNOWS, relationType=[]), NO_FIELDS),
        ('{"type": "entity", "name": "A\\u0000", "observations": []}', NO_FIELDS),
        ('{"type": "entity", "name": "A", "observations": ["\\u0000"]}', NO_FIELDS),
        (line(KNOWS, to="B\0"), NO_FIELDS),
    ],
)
def test_a_broken_line_is_reported_and_the_others_are_read(broken, what):
    assert lines(line(ANNA), broken, line(KNOWS)) == [
        Sketch("Anna", "person", ("tall", "kind")),
        Flaw("line 2", what),
        Triple("Anna", "Bob", "knows"),
    ]


@pytest.mark.parametrize("escaped", [True, False])
def test_half_of_a_surrogate_pair_is_a_flaw(escaped):
    half = "\\ud800" if escaped else "\udcff"  # the latter is what a byte that is no UTF-8 is read as
    [found] = read_lines(f'{{"type": "entity", "name": "A{half}"}}')
    assert isinstance(found, Flaw) and found.where == "line 1"


def test_an_entity_needs_no_more_than_a_name():
    assert lines('{"type": "entity", "name": ""}') == [Sketch("", "", ())]


def test_fields_that_are_not_ours_are_reported_behind_what_has_them():
    assert lines(line(ANNA, color="blue"), line(KNOWS, since=2020, by="Carl")) == [
        Sketch("Anna", "person", ("tall", "kind")),
        Surplus("line 1", "no place for color"),
        Triple("Anna", "Bob", "knows"),
        Surplus("line 2", "no place for since, by"),
    ]


# -- a document


def document(content):
    return list(read_document(json.dumps(content)))


def test_a_document_is_its_entities_and_its_relations():
    assert document({"relations": [KNOWS], "entities": [ANNA]}) == [
        Sketch("Anna", "person", ("tall", "kind")),
        Triple("Anna", "Bob", "knows"),
    ]


@pytest.mark.parametrize("content", [{}, {"entities": {}}, {"entities": None, "relations": ""}])
def test_a_document_with_nothing_in_it_says_nothing(content):
    assert document(content) == []


def test_a_document_of_another_shape_is_a_flaw():
    assert document({"memories": [ANNA]}) == document(ANNA) == [Flaw("the file", NO_KIND)]
    assert document({"entities": {"Anna": {}}, "relations": [KNOWS]}) == [
        Flaw("entities", NO_LIST),
        Triple("Anna", "Bob", "knows"),
    ]


def test_what_else_a_document_says_is_reported():
    assert document({"version": 1, "entities": [ANNA | {"color": "blue"}], "relations": []}) == [
        Sketch("Anna", "person", ("tall", "kind")),
        Surplus("entities.0", "no place for color"),
        Surplus("the file", "no place for version"),
    ]


def test_lines_are_read_where_a_document_was_asked_for():
    records = [Sketch("Anna", "person", ("tall", "kind")), Triple("Anna", "Bob", "knows")]
    assert list(read_document_or_lines(f"\n{line(ANNA)}\n{line(KNOWS)}")) == records
    assert list(read_document_or_lines(json.dumps({"entities": [ANNA], "relations": [KNOWS]}))) == records


@pytest.mark.parametrize("content", [[], 7, None, "text"])
def test_a_document_that_is_no_object_is_a_flaw(content):
    assert document(content) == [Flaw("the file", NO_FIELDS)]


@pytest.mark.parametrize("text", ["", "{", "not json", '{"entities": [', "\ufeff{}"])
def test_what_is_no_json_is_a_flaw(text):
    assert list(read_document(text)) == [Flaw("the file", NO_JSON)]


def test_a_document_that_is_too_deep_is_a_flaw():
    assert list(read_document('{"entities": ' + "[" * 100_000)) == [Flaw("the file", NO_JSON)]


def test_what_is_left_behind_a_document_is_reported_and_the_document_read():
    text = "\n " + json.dumps({"entities": [ANNA]}) + '"observations": []}]}'
    assert list(read_document(text)) == [
        Flaw("the end of the file", NO_JSON),
        Sketch("Anna", "person", ("tall", "kind")),
    ]


def test_white_space_around_a_document_is_nothing():
    assert list(read_document("\n {} \n")) == []


def test_a_broken_item_is_reported_by_its_place():
    assert document({"entities": [ANNA, {}, 7], "relations": [[], KNOWS, {"from": "a"}]}) == [
        Sketch("Anna", "person", ("tall", "kind")),
        Flaw("entities.1", NO_FIELDS),
        Flaw("entities.2", NO_FIELDS),
        Flaw("relations.0", NO_FIELDS),
        Triple("Anna", "Bob", "knows"),
        Flaw("relations.2", NO_FIELDS),
    ]


# -- writing


def test_lines_are_written_as_the_reference_writes_them():
    entities = [Entity(1, "Zoë", "person", ["a\nb"]), Entity(2, "b", "", [])]
    assert write_lines(entities, [Relation(1, "Zoë", "b", "knows")]).decode() == (
        '{"type":"entity","name":"Zoë","entityType":"person","observations":["a\\nb"]}\n'
        '{"type":"entity","name":"b","entityType":"","observations":[]}\n'
        '{"type":"relation","from":"Zoë","to":"b","relationType":"knows"}'
    )


def test_a_document_is_written_as_people_read_it():
    content = {
        "entities": [{"name": "a", "entityType": "k", "observations": ["x"]}],
        "relations": [{"from": "a", "to": "b", "relationType": "r"}],
    }
    written = write_document([Entity(1, "a", "k", ["x"])], [Relation(1, "a", "b", "r")])
    assert written.decode() == json.dumps(content, indent=2)


def test_nothing_is_written_as_nothing():
    assert write_lines([], []) == b""
    assert json.loads(write_document([], [])) == {"entities": [], "relations": []}


@pytest.mark.parametrize("write, read", [(write_lines, read_lines), (write_document, read_document)])
@given(entities=ENTITIES, relations=RELATIONS)
def test_what_is_written_reads_the_same(write, read, entities, relations):
    written = write(entities, relations).decode()
    assert list(read(written)) == [
        *(Sketch(one.title, one.kind, tuple(one.texts)) for one in entities),
        *(Triple(one.source, one.target, one.type) for one in relations),
    ]


@given(st.text(st.characters(), max_size=60) | st.text('{}[]":,etypniaomrl 0\\ud\n', max_size=60))
def test_no_text_breaks_a_reader(text):
    list(read_lines(text))
    list(read_document(text))
