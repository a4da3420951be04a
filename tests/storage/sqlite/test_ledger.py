"""Rows in memory: what is damaged or gone does no harm to the others."""

from __future__ import annotations

import apsw
import numpy as np
import pytest

from mnemic.model.search import Filter
from mnemic.model.values import Tier
from mnemic.storage.base import Weights
from mnemic.storage.sqlite.arrays import flagged
from mnemic.storage.sqlite.ledger import Ledger
from mnemic.storage.sqlite.store import SqliteStore
from support import START, a_draft, put

WEIGHTS = Weights(
    priority=0.5, use=0.1, most_uses=50, confidence=2.0, tiers={Tier.LONG: 3.0}, aging=0.1, now=START
)


@pytest.fixture
def store(tmp_path):
    opened = SqliteStore(tmp_path / "m.db")
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
        store.read().words(["note"], Filter(), every=False, limit=1)
        assert sorted(store.read().select(Filter(namespaces=("n0",)), limit=9)) == [1, 3, 5]
    assert store.read().select(Filter(namespaces=("n1",)), limit=9) == [6]
    assert store.read().counts(None, START).by_namespace == {"n0": 3, "n1": 1}


def test_a_damaged_index_of_words_keeps_nobody_from_listing(store):
    spoil(store, "UPDATE words_data SET block = randomblob(length(block)) WHERE id > 1")
    for namespaces in (None, ("n0",), ("n0", "n1")):
        assert store.read().select(Filter(namespaces=namespaces), limit=9)
        assert store.read().standings(Filter(namespaces=namespaces))


def test_who_was_purged_a_moment_ago_is_not_weighed(store):
    ledger = Ledger()
    found = ledger.best(
        store.read()._connection, np.array([1, 3, 5_000]), np.array([1.0, 2.0, 3.0]), WEIGHTS, 2
    )
    assert {match.memory_id for match in found} == {1, 3}


def test_numbers_that_no_memory_has_flag_nothing():
    assert flagged((-1, 2, 9), 4).tolist() == [False, False, True, False]
