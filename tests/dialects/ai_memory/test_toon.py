"""TOON: the documented examples to the letter, and whatever is written without backslashes is read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toon_reader import read

from mnemic.dialects.ai_memory import toon

DOCUMENTED = {
    "memories": [
        {
            "id": "abc-123",
            "title": "PostgreSQL config",
            "tier": "long",
            "namespace": "infra",
            "priority": 9,
            "score": 0.763,
            "tags": ["postgres", "db"],
        },
        {
            "id": "def-456",
            "title": "Redis cache",
            "tier": "long",
            "namespace": "infra",
            "priority": 8,
            "score": 0.541,
            "tags": ["redis"],
        },
        {
            "id": "ghi-789",
            "title": "Deploy notes",
            "tier": "mid",
            "namespace": "infra",
            "priority": 5,
            "score": 0.320,
            "tags": [],
        },
    ],
    "count": 3,
    "mode": "hybrid",
}
IN_TOON = """\
count:3|mode:hybrid
memories[id|title|tier|namespace|priority|score|tags]:
abc-123|PostgreSQL config|long|infra|9|0.763|postgres,db
def-456|Redis cache|long|infra|8|0.541|redis
ghi-789|Deploy notes|mid|infra|5|0.32|
"""
FULL_HEADER = (
    "memories[id|title|tier|namespace|priority|confidence|score|access_count|tags|source"
    "|created_at|updated_at]:"
)


def test_the_documented_example_is_written_to_the_letter():
    assert toon.write(DOCUMENTED, toon.COMPACT) == IN_TOON


def test_the_documented_full_row_is_written_to_the_letter():
    memory = {
        "id": "abc-123",
        "title": "PostgreSQL 16 config",
        "tier": "long",
        "namespace": "infra",
        "priority": 9,
        "confidence": 1.0,
        "score": 0.763,
        "access_count": 2,
        "tags": ["postgres", "database"],
        "source": "claude",
        "created_at": "2026-04-03T15:00:00+00:00",
        "updated_at": "2026-04-03T15:00:00+00:00",
    }
    assert toon.write({"memories": [memory]}, toon.FULL) == (
        f"{FULL_HEADER}\n"
        "abc-123|PostgreSQL 16 config|long|infra|9|1.0|0.763|2|postgres,database|claude"
        "|2026-04-03T15:00:00+00:00|2026-04-03T15:00:00+00:00\n"
    )


def test_the_header_is_there_without_rows_and_results_are_memories():
    expected = "count:0\nmemories[id|title|tier|namespace|priority|score|tags]:\n"
    assert toon.write({"results": [], "count": 0}, toon.COMPACT) == expected


def test_the_standards_come_first():
    rule = {"id": "r", "title": "Rules", "content": "Be kind.\nTest | measure.", "priority": 9}
    for content in ({"standard": rule}, {"standards": [rule]}):
        text = toon.write({**content, "memories": [], "count": 0, "mode": "keyword"}, toon.COMPACT)
        assert text.split("\n")[:4] == [
            "count:0|mode:keyword",
            "standards[id|title|content]:",
            r"r|Rules|Be kind.\nTest \| measure.",
            "memories[id|title|tier|namespace|priority|score|tags]:",
        ]


@pytest.mark.parametrize(
    "value, written",
    [
        (None, ""),
        (True, "1"),
        (False, "0"),
        (7, "7"),
        (1.0, "1.0"),
        (0.32, "0.32"),
        ([], ""),
        (["a", "b"], "a,b"),
        ({"any": "object"}, "[object]"),
        ("plain: text, as it is", "plain: text, as it is"),
        ("A|B", r"A\|B"),
        ("two\nlines", r"two\nlines"),
        (["x|y"], r"x\|y"),
        (r"C:\temp\x", r"C:\temp\x"),
        (r"C:\new", r"C:\new"),
        ("ends\\", "ends\\"),
        ("\\|", r"\\|"),
        ("\\\n", r"\\n"),
    ],
)
def test_a_value(value, written):
    assert toon.cell(value) == written


CELLS = st.text(st.sampled_from("|n\nr:,ab[]é")) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\\")
)


@given(
    st.lists(st.tuples(st.uuids(), CELLS, CELLS)), st.lists(st.tuples(st.uuids(), CELLS, CELLS), max_size=2)
)
def test_what_is_written_is_read_back(rows, standards):
    memories, rules = (
        [{"id": str(id), "title": title, "content": content} for id, title, content in some]
        for some in (rows, standards)
    )
    content = {"memories": memories, "standards": rules, "count": len(rows), "mode": "hybrid"}
    found = read(toon.write(content, ("id", "title", "content")))
    assert found.meta == {"count": str(len(rows)), "mode": "hybrid"}
    assert found.tables == {"memories": memories} | ({"standards": rules} if rules else {})


def test_the_documented_text_is_read():
    found = read(IN_TOON)
    assert found.meta == {"count": "3", "mode": "hybrid"}
    assert [row["score"] for row in found.tables["memories"]] == ["0.763", "0.541", "0.32"]
    assert found.tables["memories"][2]["tags"] == ""
