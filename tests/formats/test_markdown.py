"""Notes in Markdown are read as their authors mean them, and no line is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.formats.markdown import UNREAD, Pointer, Section, pointers, read


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
        ("a: 'b: c'\n\"d\": e # no comment", {"a": "b: c", "d": "e # no comment"}),
        ('tags: [x, "y z", ]', {"tags": ["x", "y z"]}),
        ("tags:\n- x\n- y\nb: c", {"tags": ["x", "y"], "b": "c"}),
        ("tags:\n  - x\n  - 'y'", {"tags": ["x", "y"]}),
        ("meta:\n  type: user\n  of: [a]", {"meta": {"type": "user", "of": ["a"]}}),
        ("d: >\n  one\n  two\ne: |\n  one\n  two", {"d": "one two", "e": "one\ntwo"}),
        ("d: goes\n  on", {"d": "goes on"}),
        ("# a comment\nurl: http://x.y/z\nempty:", {"url": "http://x.y/z", "empty": ""}),
        ("what is this\na: b", {"a": "b", UNREAD: ["what is this"]}),
    ],
)
def test_what_stands_before_the_text(lines, facts):
    page = read(f"---\n{lines}\n---\nBody")
    assert (page.facts, page.sections) == (facts, (Section(None, None, "Body"),))


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


@given(st.text(alphabet="a#`~-:[]|>' \n", max_size=200))
def test_any_text_is_a_note_and_loses_no_line(text):
    page = read(text)
    told = str(page.facts) + "\n".join(f"{one.heading} {one.text}" for one in page.sections)
    assert all(one.text == one.text.strip() for one in page.sections)
    assert text.count("a") <= told.count("a")
    for section in page.sections:
        pointers(section.text)
