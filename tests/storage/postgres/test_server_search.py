"""A store that is too large for the index in memory is searched by the server, with the same answers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from postgres_server import SUPERUSER, shared_server
from psycopg.conninfo import conninfo_to_dict
from support import START, Uids, WordEmbedder, embedding

from mnemic.app import engines
from mnemic.core import health_checks
from mnemic.core.context import Context
from mnemic.core.health_checks import Health
from mnemic.dialects.ai_memory.score import weighing
from mnemic.index.index import open_index
from mnemic.model.access import EVERYTHING
from mnemic.model.candidates import Ask, Candidates
from mnemic.model.enums import State, Tier
from mnemic.model.filter import ALL_STATES, Filter
from mnemic.model.memory import Draft, MemoryPatch
from mnemic.model.time import DAY
from mnemic.search.query import asked_words
from mnemic.storage import queries, tokenizer
from mnemic.storage.base import Passage, Reader, Writer
from mnemic.storage.postgres import bm25, knn, pgvector, upkeep
from mnemic.storage.postgres.bm25 import Passing
from mnemic.storage.postgres.connection import Held
from mnemic.storage.postgres.knn import Knn
from mnemic.storage.postgres.store import PostgresStore

EMBEDDER = WordEmbedder()
SPACES = ("shop", "build", "travel", "global")
WORDS = {
    "en": "deployment service failed payment invoice parse_config database backup restore cluster node",
    "de": "Filiale Hauptstraße geschlossen Lieferung Rechnung Kunde Lager Mitarbeiter Urlaub Straße",
    "es": "bodega vino enólogo septiembre cata cosecha cliente barril sótano venta",
    "zh": "仓库 叉车 负责 保养 订单 客户 发票 会议 时间 项目",
}
QUESTIONS = (
    "Which deployment of the payment service failed?",
    "parse_config",
    "Wann ist die Filiale an der Hauptstraße geschlossen?",
    "¿Cuándo cata el enólogo el vino?",
    "谁负责叉车的保养",
    "database-backup",
    "invoice",
    "nothing of this kind stands anywhere",
)
FILTERS = {
    "all": Filter(),
    "one namespace": Filter(namespaces=("shop",)),
    "two namespaces": Filter(namespaces=("build", "travel", "unknown")),
    "alive": Filter(alive_at=START + DAY),
    "tag": Filter(tags=("red",), namespaces=("shop", "build")),
    "kind": Filter(kinds=("decision",)),
    "time": Filter(since=START + 100, until=START + 250),
    "tier": Filter(tier=Tier.MID, min_priority=4),
    "left too": Filter(states=ALL_STATES),
    "few": Filter(ids=tuple(range(1, 40, 3))),
    "hidden": Filter(without=(("note", "hidden"),)),
}
PATCHES = (
    MemoryPatch(state=State.FORGOTTEN),
    MemoryPatch(namespace="shop"),
    MemoryPatch(title="Payment service"),
)
ASKS = {
    "any": Ask(depth=400),
    "best": Ask(depth=10),
    "every": Ask(depth=400, every=True),
    "weighted": Ask(depth=400, weights=weighing(START + 3 * DAY)),
}


def put_all(store: PostgresStore, count: int = 320) -> None:
    """Memories in several namespaces and languages; some have changed, moved or left since."""
    chance, uids = random.Random("server search"), Uids("server search")
    store.use_models(EMBEDDER.name)
    drafts = [_draft(chance, number) for number in range(count)]

    def put(tx: Writer) -> None:
        for draft in drafts:
            _put(tx, draft, uids())

    def edit(tx: Writer) -> None:
        for number in range(1, count, 7):
            tx.update(queries.memory_numbered(tx, number), PATCHES[number % len(PATCHES)])

    store.change(EVERYTHING, "put", "tester", START, put)
    store.change(EVERYTHING, "edit", "tester", START + count, edit)


def _draft(chance: random.Random, number: int) -> Draft:
    words = WORDS[chance.choice(list(WORDS))].split()
    texts = tuple(" ".join(chance.choices(words, k=chance.randint(4, 14))) for _ in range(number % 3 + 1))
    return Draft(
        namespace=chance.choice(SPACES),
        texts=texts,
        title=" ".join(chance.choices(words, k=2)),
        kind=chance.choice(("note", "decision")),
        tags=(chance.choice(("red", "blue")),),
        tier=chance.choice((Tier.MID, Tier.LONG)),
        priority=chance.randint(1, 10),
        created_at=START + number,
        expires_at=START + chance.randint(1, 2) * DAY if number % 5 == 0 else None,
        metadata={"hidden": True} if number % 11 == 0 else {},
    )


def _put(tx: Writer, draft: Draft, uid: str) -> None:
    memory = tx.insert(draft, uid=uid)
    passages = [Passage(one.id, 0, len(one.text), EMBEDDER.embed([one.text])[0]) for one in memory.statements]
    tx.put_vectors(EMBEDDER.name, EMBEDDER.dimension, passages)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A database with pgvector and memories in it."""
    server = shared_server()
    address = server.create()
    with psycopg.connect(address, user=SUPERUSER, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    with closing(opened(address, 1 << 40)) as store:
        put_all(store)
    yield address
    server.drop(database(address))


def database(address: str) -> str:
    """The name of the database at *address*."""
    return str(conninfo_to_dict(address)["dbname"])


def opened(address: str, index_bytes: int) -> PostgresStore:
    store = PostgresStore(address, open_index, index_bytes=index_bytes)
    store.use_models(EMBEDDER.name)
    return store


@pytest.fixture
def by_index(url: str) -> Iterator[PostgresStore]:
    with closing(opened(url, 1 << 40)) as store:
        yield store


@pytest.fixture
def by_server(url: str) -> Iterator[PostgresStore]:
    with closing(opened(url, 0)) as store:
        yield store


def asked(reader: Reader, ask: Ask, question: str, wanted: Filter) -> Candidates:
    terms = tuple(tokenizer.with_stems(word, ("de", "es")) for word in asked_words(question))
    return reader.candidates(
        replace(
            ask,
            terms=terms,
            shares=terms,
            filter=wanted,
            text=embedding(EMBEDDER, question),
            has_traits=True,
            has_vectors=True,
            opening=20,
        )
    )


def same(found: Candidates, expected: Candidates, *, is_cut: bool) -> None:
    """The candidates have the same scores in the same order, and each is told of alike; ties may be in any order."""
    for place in ("words_rank", "near_rank"):
        assert _scores(found, place) == pytest.approx(_scores(expected, place), rel=1e-5, abs=1e-5)
    assert is_cut or found.rows.keys() == expected.rows.keys()
    for number in found.rows.keys() & expected.rows.keys():
        row, other = expected.rows[number], found.rows[number]
        assert (other.bm25, other.cosine) == pytest.approx((row.bm25, row.cosine), rel=1e-5, abs=1e-5)
        assert _exact(other) == _exact(row)
    for shares, others in zip(expected.shares, found.shares, strict=True):
        assert is_cut or others == pytest.approx(shares, rel=1e-5)


def _scores(found: Candidates, place: str) -> list[float]:
    """The scores of those that have such a place, in the order of the places."""
    ranked = sorted((rank, row) for row in found.rows.values() if (rank := getattr(row, place)))
    assert [rank for rank, _ in ranked] == list(range(1, len(ranked) + 1))
    return [row.bm25 if place == "words_rank" else row.cosine for _, row in ranked]


def _exact(row: Any) -> tuple[Any, ...]:
    vector = None if row.vector is None else (row.vector.model, row.vector.vector.tolist())
    return (row.statement_id, row.confidence, row.session_id, row.occurred_at, row.opening, vector)


@pytest.mark.parametrize("kind", ASKS)
@pytest.mark.parametrize("wanted", FILTERS)
def test_server_and_index_give_the_same_candidates(by_index, by_server, wanted, kind):
    sizes = []
    for question in QUESTIONS:
        expected = asked(by_index.read(), ASKS[kind], question, FILTERS[wanted])
        found = asked(by_server.read(), ASKS[kind], question, FILTERS[wanted])
        same(found, expected, is_cut=kind == "best")
        sizes.append(len(expected.rows))
    assert max(sizes) > 3


def test_kept_statistics_give_nearly_the_same_ranking(by_index, by_server, monkeypatch):
    by_server.upkeep()
    monkeypatch.setattr(bm25, "LARGE", 100)
    monkeypatch.setattr(bm25, "FEW", 10)
    monkeypatch.setattr(bm25, "LEAST_CANDIDATES", 30)
    monkeypatch.setattr(bm25, "MOST_CANDIDATES", 40)
    shared = asked_for = 0
    for question in QUESTIONS:
        expected = best_ten(by_index.read(), question)
        asked_for += len(expected)
        shared += len(expected & best_ten(by_server.read(), question))
    assert asked_for > 40
    assert shared >= 0.97 * asked_for


def best_ten(reader: Reader, question: str) -> set[float]:
    """The scores of the ten best by words: of equal ones, any may be among them."""
    found = reader.candidates(Ask(terms=tuple(asked_words(question)), depth=10)).rows.values()
    return {round(row.bm25, 2) for row in found}


def test_word_statistics_are_the_same(by_index, by_server):
    terms = [*{word for question in QUESTIONS for word in asked_words(question)}, "absent", "payment service"]
    for namespaces in (None, ("shop",), ("unknown",)):
        expected = by_index.read().statistics(terms, namespaces)
        assert by_server.read().statistics(terms, namespaces) == expected
        assert expected.total > 10 or namespaces == ("unknown",)
    assert by_server.read().spellings("paymant", 5, None) == by_index.read().spellings("paymant", 5, None)


def test_kept_statistics_follow_what_is_stored(url, by_server):
    by_server.upkeep()
    held = "SELECT holders FROM mnemic.term WHERE token = 'zebra'"
    with psycopg.connect(url, user=SUPERUSER, autocommit=True) as connection:
        assert connection.execute(held).fetchall() == []

        def put(tx: Writer) -> list[int]:
            texts = (f"zebra number {number} of the herd" for number in range(40))
            return [tx.insert(Draft(namespace="zoo", texts=(text,)), uid=Uids(text)()).id for text in texts]

        made = by_server.change(EVERYTHING, "put", "tester", START, put)
        by_server.upkeep()
        assert connection.execute(held).fetchall() == [(40,)]
        by_server.change(EVERYTHING, "purge", "tester", START, lambda tx: tx.purge(made))
        by_server.upkeep()
        sizes = "SELECT memories FROM mnemic.namespace_size ORDER BY memories LIMIT 1"
        assert connection.execute(sizes).fetchall() == [(0,)]


def test_what_was_just_written_is_found_by_the_server(by_server):
    def put(tx: Writer) -> int:
        memory = tx.insert(
            Draft(namespace="shop", texts=("A quokka slept in the tent",)), uid=Uids("quokka")()
        )
        vector = EMBEDDER.embed([memory.content])[0]
        passage = Passage(memory.statements[0].id, 0, 10, vector)
        tx.put_vectors(EMBEDDER.name, EMBEDDER.dimension, [passage])
        inside = tx.candidates(Ask(terms=("quokka",), depth=3, text=embedding(EMBEDDER, "quokka slept")))
        assert next(iter(inside.rows)) == memory.id
        return memory.id

    number = by_server.change(EVERYTHING, "put", "tester", START, put)
    found = by_server.read().candidates(Ask(text=embedding(EMBEDDER, "quokka slept in the tent"), depth=1))
    assert list(found.rows) == [number]
    by_server.change(EVERYTHING, "purge", "tester", START, lambda tx: tx.purge([number]))
    assert not by_server.read().candidates(Ask(terms=("quokka",), depth=3)).rows


def test_vector_index_is_used_where_there_is_one_and_changes_no_answer(url, by_server, monkeypatch):
    vector = EMBEDDER.embed(["payment service failed"])[0]
    text = embedding(EMBEDDER, "payment service failed")
    filters = (Filter(namespaces=("shop",)), Filter(namespaces=("shop",), tags=("red",)), Filter())
    exact = [by_server.read().candidates(Ask(text=text, filter=one, depth=10)).rows for one in filters]
    monkeypatch.setattr(upkeep, "INDEXED_FROM", 20)
    by_server.upkeep()
    try:
        indexed = [by_server.read().candidates(Ask(text=text, filter=one, depth=10)).rows for one in filters]
        assert indexed == exact
        assert all(len(rows) == 10 for rows in exact)
        with by_server.held() as db:
            assert_uses_index(db, vector)
    finally:
        monkeypatch.undo()
        by_server.upkeep()
    with psycopg.connect(url, user=SUPERUSER) as connection:
        left = "SELECT count(*) FROM pg_class WHERE relname LIKE 'passage\\_hnsw%'"
        assert connection.execute(left).fetchall() == [(0,)]


def assert_uses_index(db: Held, vector: Any) -> None:
    """The plan of the statement for a namespace with an index scans that index."""
    [[space]] = db.run("SELECT id FROM namespace WHERE name = 'shop'")
    [[model]] = db.run("SELECT id FROM model WHERE name = %s", (EMBEDDER.name,))
    told = Told(db)
    db.run("BEGIN")
    db.run("SET LOCAL enable_sort = off")  # a few rows are sorted in less time than it takes to open an index
    found = Knn("public").nearest(
        told, (model, EMBEDDER.dimension), vector, [space], Passing((), None, {}), 10
    )
    db.run("ROLLBACK")
    assert len(found) == 10
    assert any(pgvector.index_name(space, model) in line for line in told.plans)


class Told:
    """Runs statements and keeps the plans of those that search."""

    def __init__(self, db: Held):
        self._db = db
        self.plans: list[str] = []

    def run(self, sql: str, values: Any = ()) -> list[Any]:
        if "LIMIT %(wanted)s" in sql:
            self.plans += [line for (line,) in self._db.run(f"EXPLAIN {sql}", values)]
        return self._db.run(sql, values)

    def changed(self, sql: str, values: Any = ()) -> int:
        return self._db.changed(sql, values)


def test_past_is_searched_through_the_server_too(by_index, by_server):
    position = by_index.at(START).newest()
    for question in QUESTIONS:
        ask = Ask(terms=tuple(asked_words(question)), depth=400, text=embedding(EMBEDDER, question))
        expected = by_index.at(position).read().candidates(ask)
        same(by_server.at(position).read().candidates(ask), expected, is_cut=False)
    assert expected.rows


def test_server_without_pgvector_is_searched_by_words_and_says_what_it_lacks():
    server = shared_server()
    address = server.create()
    try:
        with closing(opened(address, 0)) as store:
            put_all(store, 60)
            finding = health_checks.database(Context(store=store, engines=engines(), embedder=None))
            assert finding.health is Health.NOTE
            assert "CREATE EXTENSION vector" in finding.detail
            question = "Which deployment of the payment service failed?"
            before = asked(store.read(), ASKS["any"], question, Filter())
            assert before.rows
        with psycopg.connect(address, user=SUPERUSER, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
        with closing(opened(address, 0)) as store:
            assert store.lack() is None
            same(asked(store.read(), ASKS["any"], question, Filter()), before, is_cut=False)
            store.upkeep()  # gives the vectors that were there before the form that the server compares
            same(asked(store.read(), ASKS["any"], question, Filter()), before, is_cut=False)
            with store.held() as db:
                assert store.capacity.knn(db) is not None
    finally:
        server.drop(database(address))


def test_store_is_searched_in_memory_as_long_as_it_fits(url, by_index):
    with by_index.held() as db:
        assert not by_index.capacity.is_exceeded(db)
    with closing(opened(url, 1_000)) as store, store.held() as db:
        assert store.capacity.is_exceeded(db)


TABLES = re.compile(r"\b(?:FROM|JOIN)\s+([a-z_]+)(?:\s+([a-z])\b)?")
NO_TABLES = {"near", "unnest", "jsonb_each"}


@pytest.mark.parametrize("module", [bm25, knn])
def test_search_statements_constrain_the_namespace_of_every_table(module):
    named = {name: sql for name, sql in vars(module).items() if name.isupper() and isinstance(sql, str)}
    statements = {name: sql for name, sql in named.items() if "FROM" in sql}
    assert len(statements) > 3
    for name, sql in statements.items():
        text = sql.replace("{place}", knn.IN_ONE)
        for table, alias in TABLES.findall(text):
            name_here = alias or table
            constrained = rf"\b{name_here}\.namespace_id =|\{{here\[{name_here}\]\}}"
            assert table in NO_TABLES or re.search(constrained, text), (
                f"{name} reads {table} of every namespace"
            )
