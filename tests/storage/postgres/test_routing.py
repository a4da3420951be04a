"""A call of somebody who may use one namespace touches that namespace alone, so that a cluster can route it.

The statements are those that are really sent, with the server searching. What the planner of PostgreSQL finds to
restrict each table by is what a cluster routes by (`statements.astray`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pytest
from one_namespace import CALLS, Cluster, elsewhere, opened, sent_by
from postgres_server import SUPERUSER, shared_server

from statements import astray

pytestmark = pytest.mark.only_on("postgres")

ASKED_EVERYWHERE = {
    # Whether a transaction that is to be taken back changed anything that the caller may not see.
    "undo": {"journal", "statement"},
}
"""What a call has to ask of every namespace: a question that no namespace can answer."""
BAD = {
    "a read by number": ("SELECT title FROM memory m WHERE m.id = %s", (1,)),
    "a join by number": (
        "SELECT 1 FROM memory m JOIN statement s ON s.memory_id = m.id WHERE m.namespace_id = %(space)s",
        {"space": 1},
    ),
    "another namespace": ("SELECT title FROM memory WHERE namespace_id = %s", (2,)),
    "two namespaces": ("SELECT title FROM memory WHERE namespace_id = ANY(%s::integer[])", ([1, 2],)),
    "a namespace by name": (
        "SELECT title FROM memory WHERE namespace_id IN (SELECT id FROM namespace WHERE name = 'open')",
        None,
    ),
    "a subquery": (
        "SELECT (SELECT count(*) FROM edge e WHERE e.source_id = m.id) FROM memory m WHERE m.namespace_id = %s",
        (1,),
    ),
    "a subquery tied to the outer row": (
        "SELECT (SELECT count(*) FROM tag t WHERE t.namespace_id = m.namespace_id) FROM memory m "
        "WHERE m.namespace_id = %s",
        (1,),
    ),
    "an update": ("UPDATE edge SET weight = 1 WHERE id = %s", (1,)),
    "a deletion": ("DELETE FROM words WHERE memory_id = %s", (1,)),
    "a rare namespace or none": ("SELECT 1 FROM tag WHERE namespace_id = %s OR name = 'x'", (1,)),
}


@pytest.fixture
def store(engine: str) -> Iterator[Cluster]:
    """A store with two namespaces."""
    server = shared_server()
    address = server.create("routing")
    server.execute("CREATE EXTENSION vector", "routing")
    with opened(address, SUPERUSER) as found:
        yield found
    server.drop("routing")


@pytest.mark.parametrize("call", CALLS)
def test_every_statement_of_a_call_in_one_namespace_names_it_for_every_table(store, monkeypatch, call):
    before = elsewhere(store)
    sent = sent_by(store, monkeypatch, call)
    assert any(" FROM memory" in sql or "INSERT INTO memory" in sql for sql, _ in sent)
    told = {one[0]: tables for one in sent if (tables := astray(store.server, one, store.space))}
    found = set(chain.from_iterable(told.values()))
    assert found == ASKED_EVERYWHERE.get(call, set()), "\n".join(
        f"{tables}: {sql}" for sql, tables in told.items()
    )
    assert elsewhere(store) == before


@pytest.mark.parametrize("kind", BAD)
def test_a_statement_that_does_not_name_the_namespace_is_seen(store, kind):
    assert astray(store.server, BAD[kind], store.space)
