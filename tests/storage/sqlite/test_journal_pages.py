"""The journal is read a page at a time, and no further than is wanted."""

from __future__ import annotations

from itertools import islice

import pytest
from support import a_draft, change, position_of, put

from mnemic.model.change import Subject
from mnemic.model.filter import ANY_CHANGE, ChangeFilter
from mnemic.storage.sqlite import journal


@pytest.fixture
def seven(store):
    """A store with seven changes, five of them to the first memory."""
    memory, _ = put(store, a_draft("one"), a_draft("two"))
    for title in ("uno", "un", "eins"):
        memory = change(store, memory, title=title)
    put(store, a_draft("three"))
    change(store, memory, title="ichi")
    return store


@pytest.mark.parametrize("page", [1, 2, 3, 7, 8])
def test_pages_make_up_the_whole(seven, monkeypatch, page):
    reader = seven.read()

    def read():
        ways = (
            ANY_CHANGE,
            ChangeFilter(after=position_of(seven, 2)),
            ChangeFilter(subject=Subject.MEMORY, subject_ids=(1,)),
        )
        return [
            list(reader.journal(way, newest_first=newest_first, limit=limit))
            for way in ways
            for newest_first in (False, True)
            for limit in (None, 0, 1, 3, 100)
        ]

    whole = read()
    monkeypatch.setattr(journal, "PAGE", page)
    assert read() == whole


def test_who_stops_reads_no_further(seven, monkeypatch):
    decoded, decode = [], journal._decode
    monkeypatch.setattr(journal, "_decode", lambda reader, page: decoded.append(page) or decode(reader, page))
    monkeypatch.setattr(journal, "PAGE", 2)
    assert len(list(islice(seven.read().journal(newest_first=True), 3))) == 3
    assert [[row[0] for row in page] for page in decoded] == [[7, 6], [5, 4]]
