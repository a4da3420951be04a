"""Which statements of a call in one namespace touch that namespace alone, as a cluster would need to route them.

The statements are those that the engine really sends, with the server searching. Tables that every node would have a
copy of are left aside. `BY_NUMBER` is what still stands in the way of sharding by namespace (docs/team.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import psycopg
import pytest
from postgres_server import shared_server
from support import WordEmbedder, kept

from mnemic.app import dialect, open_app
from mnemic.core.embedding_queue import embed_pending
from mnemic.dialects.execution import answer
from mnemic.settings import Settings

pytestmark = pytest.mark.only_on("postgres")

SHARDED = {
    *("memory", "statement", "tag", "words", "term", "mark", "passage", "edge", "session", "journal"),
    *("memory_past", "words_past", "edge_past", "session_past", "namespace_size"),
}
CALLS = {
    "remember": {"text": "A crow sits on the oak", "namespace": "open"},
    "recall": {"query": "Which heron stands in the reed?", "namespace": "open"},
    "open": {"ids": [2]},
    "stats": {"namespace": "open"},
    "link": {"source": 1, "target": 2, "type": "near"},
}
READ = re.compile(r"\b(?:FROM|JOIN|UPDATE)\s+([a-z_]+)(?:\s+(?:AS\s+)?([a-z])\b)?")
WRITTEN = re.compile(r"\bINSERT INTO\s+([a-z_]+)\s*\(([^)]*)\)")
BY_NUMBER = {
    "recall": {"memory", "statement"},
    "open": {"memory", "edge"},
    "remember": {"memory", "journal"},
    "link": {"memory", "edge", "journal"},
    "stats": {"edge", "statement", "journal"},
}
"""Tables that a call also reads by numbers, which are unique in the whole store, or as a whole."""


@pytest.fixture
def ctx_by_server(engine: str) -> Iterator[object]:
    """A store with two namespaces, searched by its server."""
    name = "routing"
    server = shared_server()
    address = server.create(name)
    server.execute("CREATE EXTENSION vector", name)
    embedder = WordEmbedder()
    with closing(open_app(Settings(db=address, embedder="none", index_mb=0), actor="tester")) as app:
        app.ctx.store.use_models(embedder.name)
        ctx = replace(app.ctx, embedder=embedder)
        for number in range(5):
            kept(ctx, f"The heron {number} stands in reed {number}", namespace="open")
        kept(ctx, "The zebra hides", namespace="other")
        embed_pending(ctx, 100)
        yield ctx
    server.drop(name)


def sent_by(ctx, monkeypatch: pytest.MonkeyPatch, tool: str) -> list[str]:
    """The statements that a call sends."""
    statements: list[str] = []
    execute = psycopg.Connection.execute

    def noted(connection, query, *given, **how):
        statements.append(query if isinstance(query, str) else query.decode())
        return execute(connection, query, *given, **how)

    with monkeypatch.context() as patched:
        patched.setattr(psycopg.Connection, "execute", noted)
        told = answer(dialect("mnemic"), ctx, tool, CALLS[tool])
    assert told.error is None, told.rendered.text
    return statements


def unrouted(sql: str) -> set[str]:
    """The sharded tables in *sql* whose namespace it does not constrain."""
    found = {
        table
        for table, alias in READ.findall(sql)
        if table in SHARDED
        and not re.search(
            rf"{alias}\.namespace_id\s*(=|IN)" if alias else r"(?<![.\w])namespace_id\s*(=|IN)", sql
        )
    }
    return found | {
        table for table, columns in WRITTEN.findall(sql) if table in SHARDED and "namespace_id" not in columns
    }


@pytest.mark.parametrize("tool", CALLS)
def test_a_call_in_one_namespace_constrains_it_but_for_what_is_known_by_number(
    ctx_by_server, monkeypatch, tool
):
    statements = sent_by(ctx_by_server, monkeypatch, tool)
    assert len(statements) > 4
    told = {table: sql for sql in statements for table in unrouted(sql)}
    assert told.keys() == BY_NUMBER[tool], "\n".join(f"{table}: {sql}" for table, sql in told.items())


def test_search_by_words_and_vectors_and_every_insert_names_the_namespace(ctx_by_server, monkeypatch):
    statements = [sql for tool in ("recall", "remember") for sql in sent_by(ctx_by_server, monkeypatch, tool)]
    index = [sql for sql in statements if re.search(r"(FROM|JOIN|INTO) (words|passage|mark|term)\b", sql)]
    assert len(index) > 3
    assert set.union(*map(unrouted, index)) <= {"memory"}
