"""Many namespaces on one PostgreSQL server: `python -m bench.tenants [--namespaces N]`, out of the default run.

One namespace of 1,000 memories is filled through the product and copied by the server, with other numbers, into all the
others. Vectors are generated. The server answers all questions: the index in memory is off.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import psycopg

from bench import texts
from bench.figures import Figure, echoed, report, timed
from bench.generated_vectors import GeneratedEmbedder
from bench.postgres import Clock, server
from bench.run import CACHE, Bench, prepared
from bench.search import WORDS, search_words
from bench.stores import put_vectors
from bench.timer import spent
from mnemic.app import open_app
from mnemic.core.context import Context
from mnemic.core.memories import Note, open_all, remember
from mnemic.core.recall import recall
from mnemic.model.access import Grant
from mnemic.model.filter import Filter, Query
from mnemic.model.memory import title_of
from mnemic.settings import Settings

EACH = 1_000
"""Memories a namespace."""
NAMESPACES = (10, 100)
LONGEST_SECONDS = 40
FRESH = 30_000_000
STRIDE = 1 << 20
"""The numbers of each copy begin so much further on: more than a namespace has of anything."""
SUPERUSER = "postgres"
TABLES = {
    "memory": {"id": "{0} + id", "uid": "decode(md5(uid::text || {1}), 'hex')"},
    "statement": {"id": "{0} + id", "memory_id": "{0} + memory_id"},
    "passage": {
        "id": "{0} + id",
        "memory_id": "{0} + memory_id",
        "statement_id": "{0} + statement_id",
        "xid": "pg_current_xact_id()",
    },
    "mark": {"memory_id": "{0} + memory_id"},
    "words": {"memory_id": "{0} + memory_id"},
    "term": {},
    "namespace_size": {},
    "journal": {
        "sequence": "{0} + sequence",
        "batch": "{0} + batch",
        "subject_id": "{0} + subject_id",
        "xid": "pg_current_xact_id()",
    },
}
"""What is copied, and the columns whose values are other ones in a copy."""
COLUMNS = """
SELECT column_name FROM information_schema.columns WHERE table_schema = 'mnemic' AND table_name = %s
ORDER BY ordinal_position
"""
# Vectors are copied in both forms: a trigger need not make one from the other.
PREPARE = """
SET session_replication_role = replica; SET synchronous_commit = off; SET search_path = mnemic
"""
SIZES = """
SELECT c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid) FROM pg_class c
WHERE c.relnamespace = 'mnemic'::regnamespace AND c.relkind = 'r'
"""
SEQUENCES = ("memory", "statement", "passage", "journal")


def tenants(bench: Bench, sizes: tuple[int, ...] = NAMESPACES) -> Iterator[Figure]:
    """What calls in one namespace cost among ever more namespaces, and the room on disk."""
    for count in sizes:
        with server() as (url, clock):
            with psycopg.connect(url, user=SUPERUSER, autocommit=True) as connection:
                connection.execute("CREATE EXTENSION vector")
                first_namespace(url)
                began = time.perf_counter()
                multiply(connection, count)
                yield Figure(
                    what=f"{count:,} namespaces copied by the server",
                    measured=count * EACH / (time.perf_counter() - began),
                    unit="memories/s",
                )
                yield from room(connection, count)
            yield from calls(bench, url, clock, count)


def first_namespace(url: str) -> None:
    """Fill a namespace as an agent would, and let the server count its words."""
    with open_app(Settings(db=url, embedder="none", index_mb=0), actor="bench") as app:
        for first in range(0, EACH, 250):
            remember(app.ctx, [Note(text=text, namespace=namespace(0)) for text in texts.texts(250, first)])
        put_vectors(app.ctx)
        app.ctx.engines.upkeep(app.ctx.store)


def namespace(number: int) -> str:
    """The name of a namespace."""
    return f"team-{number}"


def multiply(connection: psycopg.Connection[Any], count: int) -> None:
    """Copy the first namespace until there are *count*."""
    connection.execute(PREPARE.encode())
    columns = {table: [name for (name,) in connection.execute(COLUMNS, (table,))] for table in TABLES}
    [(first,)] = connection.execute("SELECT id FROM namespace").fetchall()
    for number in range(1, count):
        [(space,)] = connection.execute(
            "INSERT INTO namespace (name) VALUES (%s) RETURNING id", (namespace(number),)
        ).fetchall()
        with connection.transaction():
            for table, changed in TABLES.items():
                names = columns[table]
                given = {"namespace_id": str(space), **changed}
                values = (given.get(name, f'"{name}"').format(number * STRIDE, number) for name in names)
                listed = ", ".join(f'"{name}"' for name in names)
                copied = f"SELECT {', '.join(values)} FROM {table} WHERE namespace_id = {first}"
                connection.execute(f"INSERT INTO {table} ({listed}) {copied}".encode())
    for name in SEQUENCES:
        connection.execute(f"SELECT setval('{name}_number', {count * STRIDE})".encode())
    connection.execute("VACUUM ANALYZE")
    connection.execute("CHECKPOINT")


def room(connection: psycopg.Connection[Any], count: int) -> Iterator[Figure]:
    """Bytes a memory, of the tables that take most and of all."""
    found = connection.execute(SIZES.encode()).fetchall()
    memories = count * EACH
    for name, table, indexes in sorted(found, key=lambda one: -one[1] - one[2])[:4]:
        told = f"{name} ({100 * indexes / (table + indexes):.0f} % indexes), {memories:,}"
        yield Figure(what=told, measured=(table + indexes) / memories, unit="B a memory")
    total = sum(table + indexes for _, table, indexes in found)
    yield Figure(what=f"disk a memory, {memories:,}", measured=total / memories / 1024, unit="kB")


def calls(bench: Bench, url: str, clock: Clock, count: int) -> Iterator[Figure]:
    """The cost of calls in one namespace, as the owner of the store and under a token for that namespace."""
    with open_app(Settings(db=url, embedder="none", index_mb=0), actor="bench") as app:
        embedder = GeneratedEmbedder()
        embedder.embed([texts.text(0)])  # which loads the model
        app.ctx.store.use_models(embedder.name)
        owner = replace(app.ctx, embedder=embedder)
        middle = namespace(count // 2)
        contractor = owner.limited_to(Grant((middle,), True))
        questions: dict[str, Callable[[int], object]] = {
            "recall": lambda n: asked(owner, n, middle),
            "recall, token of one namespace": lambda n: asked(contractor, n, middle),
            "keyword search": lambda n: search_words(contractor, " ".join(texts.key_words(n % EACH, WORDS))),
            "open by name": lambda n: open_all(contractor, [title_of(texts.text(n % EACH))]),
            "write": lambda n: remember(owner, [Note(text=texts.text(FRESH + n), namespace=middle)]),
            "write, token of one namespace": lambda n: remember(
                contractor, [Note(text=texts.text(FRESH + EACH + n), namespace=middle)]
            ),
        }
        for what, call in questions.items():
            cost = spent(
                (partial(call, n) for n in range(bench.rounds)), clock, at_most_seconds=LONGEST_SECONDS
            )
            yield timed(f"{what}, {count:,} namespaces of {EACH:,}", cost)


def asked(ctx: Context, number: int, space: str) -> object:
    """The answer to a question in a namespace."""
    wanted = Filter(namespaces=(space,), alive_at=ctx.now())
    return recall(ctx, Query(text=texts.question(number % EACH), filter=wanted, limit=10, now=ctx.now()))


def main() -> None:
    """Print the figures of the numbers of namespaces asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.tenants", description=__doc__)
    parser.add_argument("--namespaces", type=int, action="append", help="default: 10 and 100")
    arguments = parser.parse_args()
    sizes = tuple(arguments.namespaces or NAMESPACES)
    print(report(list(echoed(tenants(prepared(CACHE, is_quick=True), sizes)))))


if __name__ == "__main__":
    main()
