"""Calls of somebody who may use one namespace, and a store that they are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import psycopg
import pytest
from support import WordEmbedder, kept

from mnemic.app import dialect, open_app
from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_pending
from mnemic.dialects.execution import answer
from mnemic.model.access import Grant, Quota
from mnemic.settings import Settings
from mnemic.storage.postgres.schema import SHARDED
from statements import Sent, noted

CALLS: Mapping[str, tuple[str, str, dict[str, Any]]] = {
    "remember": ("mnemic", "remember", {"text": "A crow sits on the oak"}),
    "remember the same": ("mnemic", "remember", {"text": "The heron 1 stands in reed 1"}),
    "remember a name": ("mnemic", "remember", {"text": "Crows are clever", "title": "Crow"}),
    "remember with links": (
        "mnemic",
        "remember",
        {"items": [{"text": "A crow and its nest", "links": [{"to": 1, "type": "near"}]}]},
    ),
    "recall": ("mnemic", "recall", {"query": "Which heron stands in the reed?"}),
    "recall by tag": ("mnemic", "recall", {"query": "heron", "tags": ["bird"]}),
    "recall by actor": ("mnemic", "recall", {"query": "heron", "actor": "tester"}),
    "recall a typo": ("mnemic", "recall", {"query": "herom"}),
    "recall since": ("mnemic", "recall", {"query": "heron", "since": "2020-01-01", "kinds": ["note"]}),
    "recall around": ("mnemic", "recall", {"query": "heron", "around": 2, "detail": "full"}),
    "open by number": ("mnemic", "open", {"ids": [2]}),
    "open by name": ("mnemic", "open", {"ids": ["Pond"]}),
    "verify": ("mnemic", "verify", {"claim": "The heron 1 stands in reed 1"}),
    "stats": ("mnemic", "stats", {}),
    "link": ("mnemic", "link", {"source": 1, "target": 2, "type": "near"}),
    "suggest links": ("mnemic", "link", {"source": 1, "suggest": 3}),
    "unlink": ("mnemic", "link", {"source": 3, "target": 4, "type": "beside", "end": True}),
    "explore": ("mnemic", "explore", {"id": 3}),
    "explore a path": ("mnemic", "explore", {"id": 3, "to": 4}),
    "explore impact": ("mnemic", "explore", {"id": 3, "impact": True}),
    "revise the text": ("mnemic", "revise", {"id": 2, "text": "The heron 1 has left"}),
    "revise and append": ("mnemic", "revise", {"id": 2, "append": "It was grey"}),
    "revise the tags": ("mnemic", "revise", {"id": 2, "tags": ["grey"]}),
    "supersede": ("mnemic", "revise", {"id": 2, "text": "Two herons stand there", "supersede": True}),
    "forget": ("mnemic", "forget", {"ids": [2]}),
    "archive": ("mnemic", "forget", {"ids": [2], "archive": True}),
    "restore": ("mnemic", "restore", {"ids": [5]}),
    "history": ("mnemic", "history", {}),
    "history of one": ("mnemic", "history", {"id": 2}),
    "undo": ("mnemic", "undo", {"change": 3}),
    "find conflicts": ("mnemic", "tidy", {"action": "conflicts"}),
    "find duplicates": ("mnemic", "tidy", {"action": "duplicates"}),
    "reflect": ("mnemic", "reflect", {"text": "Herons are patient", "about": 1}),
    "find reflections": ("mnemic", "reflect", {"query": "patient"}),
    "begin a session": ("mnemic", "session", {"action": "start", "topic": "birds"}),
    "log a turn": (
        "mnemic",
        "session",
        {"action": "log", "user": "Where are the herons?", "agent": "In the reed."},
    ),
    "resume a session": ("mnemic", "session", {"action": "resume"}),
    "end a session": ("mnemic", "session", {"action": "end", "summary": "Herons counted"}),
    "rate": ("mnemic", "rate", {"ids": [1], "useful": True}),
    "simple: create": (
        "simple-memory",
        "create_entities",
        {"entities": [{"name": "Owl", "entityType": "bird", "observations": ["It hoots", "It hunts"]}]},
    ),
    "simple: observe": (
        "simple-memory",
        "add_observations",
        {"observations": [{"entityName": "Pond", "contents": ["It is deep"]}]},
    ),
    "simple: search": ("simple-memory", "search_nodes", {"query": "heron"}),
    "simple: open": ("simple-memory", "open_nodes", {"names": ["Pond"]}),
    "simple: delete": ("simple-memory", "delete_entities", {"entityNames": ["Pond"]}),
    "mcp-memory: nearest": ("mcp-memory", "search_semantic", {"query": "a heron in the reed"}),
    "mcp-memory: search": ("mcp-memory", "search_nodes", {"query": "heron"}),
    "ai-memory: store": ("ai-memory", "memory_store", {"title": "Reed", "content": "Reed grows in ponds"}),
    "ai-memory: recall": ("ai-memory", "memory_recall", {"context": "heron in the reed"}),
    "ai-memory: search": ("ai-memory", "memory_search", {"query": "heron"}),
    "ai-memory: list": ("ai-memory", "memory_list", {}),
    "ai-memory: session": ("ai-memory", "memory_session_start", {}),
    "lorekeeper: search": ("lorekeeper", "lore_search", {"query": "heron"}),
    "lorekeeper: insert": (
        "lorekeeper",
        "lore_insert",
        {"memories": [{"content": "Reed is cut in winter", "title": "Reed", "type": "FACT"}], "force": True},
    ),
    "agentic: add": (
        "agentic-memory",
        "memory_add",
        {"event_type": "fact", "content": "Frogs live in the pond"},
    ),
    "agentic: query": ("agentic-memory", "memory_query", {}),
    "agentic: similar": ("agentic-memory", "memory_similar", {"query_text": "a heron in the reed"}),
    "agentic: traverse": ("agentic-memory", "memory_traverse", {"start_id": 3}),
    "anthropic: graph": ("anthropic", "read_graph", {}),
    "anthropic: search": ("anthropic", "search_nodes", {"query": "heron"}),
}
"""Calls by what they are about: dialect, tool, arguments."""


class Cluster(NamedTuple):
    """A store with two namespaces, `open` and `other`, and a superuser's way to its database."""

    ctx: Context
    server: psycopg.Connection[Any]
    space: int


@contextmanager
def opened(address: str, superuser: str) -> Iterator[Cluster]:
    """The database at *address*, filled, for somebody who may use `open` alone; its server does the searching."""
    embedder = WordEmbedder()
    with (
        closing(open_app(Settings(db=address, embedder="none", index_mb=0), actor="tester")) as app,
        psycopg.connect(address, user=superuser, autocommit=True) as server,
    ):
        app.ctx.store.use_models(embedder.name)
        owner = replace(app.ctx, embedder=embedder)
        limited = replace(owner, namespace="open", grant=Grant(("open",), quota=Quota(1_000)))
        fill(limited)
        kept(owner, "The zebra hides", namespace="other")
        server.execute("SET search_path TO mnemic")
        [[space]] = server.execute("SELECT id FROM namespace WHERE name = 'open'").fetchall()
        yield Cluster(limited, server, space)


def fill(ctx: Context) -> None:
    """Store what the calls are about."""
    for number in range(1, 6):
        kept(ctx, f"The heron {number} stands in reed {number}", tags=("bird",))
    kept(ctx, "The pond is wide", title="Pond")
    for tool, arguments in (
        ("link", {"source": 3, "target": 4, "type": "beside"}),
        ("forget", {"ids": [5]}),
        ("session", {"action": "start", "topic": "ponds"}),
        ("reflect", {"text": "Ponds are quiet"}),
        ("recall", {"query": "heron"}),  # a process finds out once whether the server can search
    ):
        assert answer(dialect("mnemic"), ctx, tool, arguments).error is None
    embed_pending(ctx, 100)
    kept(ctx, "A coot waits for its vector")


def sent_by(cluster: Cluster, monkeypatch: pytest.MonkeyPatch, call: str) -> list[Sent]:
    """The statements of a call."""
    name, tool, arguments = CALLS[call]
    with noted(monkeypatch) as sent:
        told = answer(dialect(name), cluster.ctx, tool, arguments)
    assert told.error is None, told.rendered.text
    return sent


def elsewhere(cluster: Cluster) -> dict[str, Any]:
    """How many rows of each sharded table are of other namespaces."""
    counts = ", ".join(
        f"(SELECT count(*) FROM {table} WHERE namespace_id != {cluster.space})" for table in SHARDED
    )
    [found] = cluster.server.execute(f"SELECT {counts}").fetchall()  # type: ignore[call-overload]
    return dict(zip(SHARDED, found, strict=True))
