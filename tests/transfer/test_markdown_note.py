"""Notes in Markdown are read as their authors mean them, and no line is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.transfer.front_matter import split
from mnemic.transfer.markdown_note import Pointer, Section, pointers, read


@pytest.mark.parametrize(
    "text, sections",
    [
        ("Plain.\n", [(None, None, "Plain.")]),
        ("# Title\n\nBody\n", [("Title", None, "Body")]),
        ("Before\n# Title ##\nBody", [("Title", None, "Before\n# Title ##\nBody")]),
        (
            "# A\n## B\nb\n## C\nc\n# D\nd",
            [("A", None, ""), ("B", "A", "b"), ("C", "A", "c"), ("D", None, "d")],
        ),
        (
            "In front\n## A\na\n### Deep\nstill a\n## B\nb",
            [(None, None, "In front"), ("A", None, "a\n### Deep\nstill a"), ("B", None, "b")],
        ),
        (
            "```\n# no\n```\n# A\n~~~~\n# no\n~~~\n# no\n~~~~\n# B\nb",
            [(None, None, "```\n# no\n```"), ("A", None, "~~~~\n# no\n~~~\n# no\n~~~~"), ("B", None, "b")],
        ),
        ("#tag and #\n# A\r\na", [("A", None, "#tag and #\n# A\na")]),
        ("", [(None, None, "")]),
    ],
)
def test_sections(text, sections):
    assert list(read(text).sections) == [Section(*section) for section in sections]


@pytest.mark.parametrize(
    "lines, facts",
    [
        ("a: b", {"a": "b"}),
        ("a: 'b: c'\n\"d\": e # a comment", {"a": "b: c", "d": "e"}),
        ('tags: [x, "y z", ]', {"tags": ["x", "y z"]}),
        ("tags:\n- x\n- y\nb: c", {"tags": ["x", "y"], "b": "c"}),
        ("tags:\n  - x\n  - 'y'", {"tags": ["x", "y"]}),
        ("meta:\n  type: user\n  of: [a]", {"meta": {"type": "user", "of": ["a"]}}),
        ("d: goes\n  on", {"d": "goes on"}),
        ("# a comment\nurl: http://x.y/z\nempty:", {"url": "http://x.y/z", "empty": ""}),
        ("# only a comment", {}),
        ("", {}),
    ],
)
def test_front_matter(lines, facts):
    page = read(f"---\n{lines}\n---\nBody")
    assert (page.facts, page.fault) == (facts, "")
    assert page.sections == (Section(None, None, "Body"),)


@pytest.mark.parametrize(
    "lines, facts",
    [
        ('title: "A \\"quoted\\" \\u00e9"', {"title": 'A "quoted" é'}),
        ("title: 'Anna''s'", {"title": "Anna's"}),
        ('tags: ["a, b", c]', {"tags": ["a, b", "c"]}),
        ("tags: [a,\n  b]", {"tags": ["a", "b"]}),
        ("meta:\n  of:\n    deep: [1, 2]", {"meta": {"of": {"deep": ["1", "2"]}}}),
        ("people:\n- name: Anna\n  age: 7", {"people": [{"name": "Anna", "age": "7"}]}),
        ("d: >-\n  one\n\n  two", {"d": "one\ntwo"}),
        ("d: |\n  one\n    two", {"d": "one\n  two\n"}),
        ("base: &b {x: y}\nsame: *b", {"base": {"x": "y"}, "same": {"x": "y"}}),
        ("? key\n: value", {"key": "value"}),
        ("empty: []\nnone: {}", {"empty": [], "none": {}}),
        ("a: b # why\nc: d", {"a": "b", "c": "d"}),
    ],
)
def test_yaml_is_read_as_its_authors_mean_it(lines, facts):
    """The reader before knew `key: value` and two kinds of lists."""
    assert read(f"---\n{lines}\n---\nBody").facts == facts


@pytest.mark.parametrize(
    "value",
    [
        *"no yes On 0777 1.10 1e3 2026-01-01 12:30 0x1F 1_000 .inf Null true =".split(),
        *("2026-01-01 12:00:00", "Fix #42 in time", "#todo #idea", "50 %", "C:\\notes"),
    ],
)
def test_a_value_is_the_text_that_was_written(value):
    text = f"---\ntitle: {value}\ntags:\n- {value}\n{value.replace('#', '').strip()}: x\n---\nBody"
    facts = read(text).facts
    assert facts["title"] == value and facts["tags"] == [value]


@pytest.mark.parametrize("value", ["", "~", "null"])
def test_nothing_is_an_empty_text(value):
    assert read(f"---\na: {value}\nb: '{value}'\n---\n").facts == {"a": "", "b": value}


BOMB = "\n".join(
    f"{a}: &{a} [{', '.join([f'*{b}'] * 9)}]" for a, b in zip("bcdefghi", "abcdefgh", strict=True)
)


@pytest.mark.parametrize(
    "lines, line",
    [
        ("a: b\ntitle: A: B", 3),
        ("tags:\n\t- x", 3),
        ("a: b\nc: d\na: e", 4),
        ("a: *nowhere", 2),
        ("a: @b", 2),
        ("a: b\nc: \x01", 3),
        ("é: b\nc: \x01", 3),
        ("? [a]\n: b", 2),
        ("what is this\na: b", 3),
        ("title: {{title}}", 2),
        ("a: b\n--- c", 3),
        ("a: &a [*a]", 2),
        (f"a: &a [{'x' * 99}]\n{BOMB}", None),
        ("a: " + "[" * 60_000, 2),
        ("- " * 30_000, 2),
        ("a: " + "{b: " * 10_000, 2),
        ("a: " + "b" * 70_000, 1),
    ],
)
def test_front_matter_that_cannot_be_read_stays_in_the_text(lines, line):
    head = f"---\n{lines}\n---"
    page = read(f"{head}\nBody")
    assert page.facts == {} and page.fault.startswith(f"line {line}: " if line else "line ")
    assert "\n" not in page.fault
    assert page.sections == (Section(None, None, f"{head}\nBody"),)
    assert read(f"{head}\n# A\na\n# B\nb").sections == (
        Section(None, None, head),
        Section("A", None, "a"),
        Section("B", None, "b"),
    )
    assert read(f"{head}\nfirst\n# A\na\n# B\nb").sections[0].text == f"{head}\nfirst"
    assert read(f"{head}\n# A\na").sections == (Section("A", None, f"{head}\n# A\na"),)


@pytest.mark.parametrize("between", ["Hello.", "- a\n- b", "Some words\nand more.", "key:value"])
def test_rules_around_a_text_are_no_front_matter(between):
    text = f"---\n{between}\n---\nBody"
    page = read(text)
    assert (page.facts, page.fault, page.sections) == ({}, "", (Section(None, None, text),))


def test_windows_line_ends_are_none_of_a_value():
    page = read("---\r\ntitle: A\r\nd: |\r\n  one\r\n  two\r\n---\r\nBody\r\n")
    assert page.facts == {"title": "A", "d": "one\ntwo\n"}
    assert page.sections == (Section(None, None, "Body"),)


@pytest.mark.parametrize("text", ["---\na: b\nno end", "\n---\na: b\n---", "----\na: b\n----"])
def test_a_rule_is_no_beginning(text):
    page = read(text)
    assert page.facts == {} and page.sections[0].text == text.strip()


@pytest.mark.parametrize(
    "text, found",
    [
        ("[[A]] and [[ B c ]] and [[A]]", [("A", ""), ("B c", "")]),
        ("[[A|shown]] [[A#Part|shown]] [[#Here]]", [("A", ""), ("A", "Part"), ("", "Here")]),
        ("[[folder/Note.md]]", [("Note", "")]),
        ("![[image.png]] `[[code]]` ``[[`more`]]``", []),
        ("```\n[[A]]\n```\n[[B]]", [("B", "")]),
        ("[[]] [[ ]] [A](b) [[open", []),
    ],
)
def test_pointers(text, found):
    assert pointers(text) == [Pointer(*one) for one in found]


letters = st.text(alphabet="a#`~-:[]|>' \n", max_size=200)


@given(letters | letters.map("---\n{}\n---\nbody".format))
def test_any_text_is_a_note_and_loses_no_line(text):
    page = read(text)
    told = str(page.facts) + "\n".join(f"{one.heading} {one.text}" for one in page.sections)
    assert all(one.text == one.text.strip() for one in page.sections)
    head, body = split(text)
    assert (re.sub("#.*", "", head) + body).count("a") <= told.count("a"), "only comments of YAML may go"
    for section in page.sections:
        pointers(section.text)
