"""Columns in memory: what is damaged or gone does no harm to the others."""

from __future__ import annotations

import apsw
import numpy as np
import pytest
from support import a_draft, open_store, put

from mnemic.model.filter import Filter
from mnemic.model.shapes import Standing
from mnemic.storage import queries
from mnemic.storage.arrays import flagged, taken


@pytest.fixture
def store(tmp_path):
    opened = open_store("sqlite", tmp_path)
    put(opened, *(a_draft(f"note {number}", namespace=f"n{number % 2}") for number in range(6)))
    yield opened
    opened.close()


def spoil(store, sql):
    connection = apsw.Connection(str(store.path))
    connection.execute(sql)
    connection.close()


def test_a_row_that_says_what_nobody_wrote_is_passed_over(store):
    spoil(store, "UPDATE memory SET tier = 'odd' WHERE id = 2; UPDATE memory SET state = 'odd' WHERE id = 4")
    for _ in range(6):
        queries.best_words(store.read(), ["note"], Filter(), every=False, limit=1)
        assert sorted(store.read().select(Filter(namespaces=("n0",)), limit=9)) == [1, 3, 5]
    assert store.read().select(Filter(namespaces=("n1",)), limit=9) == [6]
    assert store.read().tally(Filter(), "namespace") == {"n0": 3, "n1": 1}


def test_a_damaged_index_of_words_does_not_prevent_listing(store):
    spoil(store, "UPDATE words_data SET block = randomblob(length(block)) WHERE id > 1")
    for namespaces in (None, ("n0",), ("n0", "n1")):
        assert store.read().select(Filter(namespaces=namespaces), limit=9)
        assert store.read().look(Filter(namespaces=namespaces), Standing)


def test_flags_outside_of_the_columns_are_not_set():
    assert flagged(np.array([-1, 2, 9]), 4).tolist() == [False, False, True, False]
    assert taken(np.array([True, False]), np.array([0, 1, 2, -1])).tolist() == [True, False, False, False]
