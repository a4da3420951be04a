"""Copies of whole stores between engines: everything comes along, and a half copy is never taken for a whole one."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import psycopg
import pytest
from copy_places import context, copied, fill, place
from support import Uids, a_draft, everything, faults, last_number, position_of, put

from mnemic.api import Memories
from mnemic.app import open_store as open_place
from mnemic.core.access import token_for, tokens
from mnemic.core.standards import standard_of
from mnemic.errors import Conflict, Invalid, StoreUnusable
from mnemic.model.change import BEGINNING, Subject
from mnemic.model.filter import AliasFilter, Filter
from mnemic.model.time import HOUR, iso
from mnemic.settings import Settings
from mnemic.storage.queries import best_words
from mnemic.storage.tables import TABLES
from mnemic.transfer.sync import Course, LocalPeer, sync

ENGINES = os.environ.get("ENGINE", "sqlite,postgres").split(",")
CHILD = Path(__file__).with_name("child.py")


@pytest.fixture(params=ENGINES)
def to(request, engine, tmp_path, fresh):
    """The place to copy to, on either engine."""
    return place(request.param, tmp_path, "copy")


@pytest.fixture
def secret(ctx, clock, twin):
    """The secret of a token of a store that is full and has met another."""
    found = fill(ctx, clock)
    sync(ctx, LocalPeer(twin), Course.MERGE)
    return found


@pytest.fixture
def opened():
    """Opens the store at a place."""
    stores = []

    def opening(where: str):
        stores.append(open_place(Settings(db=where)))
        return stores[-1]

    yield opening
    for store in stores:
        store.close()


def answers(ctx) -> list[object]:
    """What the store answers to questions of every kind."""
    api, reader = Memories(ctx), ctx.read()
    logged = reader.recalls(limit=100)  # the next one is logged too
    recalled = api.recall("heron at the pond", limit=20)
    return [
        everything(ctx.store),
        [(hit.memory.id, round(hit.score, 4)) for hit in recalled.hits],
        api.history(limit=200),
        api.list(limit=100),
        sorted((a, b, *rest) for a, b, rest in reader.companions()),
        reader.sessions(),
        reader.standards(),
        logged,
        reader.aliases(AliasFilter()),
        reader.pending(limit=100),
        tokens(ctx),
        standard_of(ctx, "garden"),
        [reader.search_substring(one, Filter(), limit=9) for one in ("weir", "caf")],
        [reader.near_duplicates("The heron was seen at the weir.", Filter(), limit=9)],
        reader.versions(Subject.MEMORY, range(1, 40)),
    ]


def test_a_copy_answers_as_the_store_it_was_made_from(ctx, clock, secret, to, opened):
    done = copied(ctx.store, to)
    assert done.kept == [] and done.plan.memories == done.sums["memory"].rows > 30
    assert [table.name for table in TABLES if not done.sums[table.name].rows] == []
    copy = context(opened(to), clock)
    assert faults(copy.store) == []
    assert answers(copy) == answers(ctx)
    assert token_for(copy, secret) == token_for(ctx, secret) is not None


def test_the_past_of_a_copy_is_the_past_of_the_store(ctx, clock, secret, to, opened):
    copied(ctx.store, to)
    copy = context(opened(to), clock)
    moments = {change.at for change in ctx.read().journal()}
    assert len(moments) > 20
    for moment in sorted(moments)[::4]:
        here, there = (Memories(one).as_of(iso(moment)) for one in (ctx, copy))
        assert everything(here.context.store) == everything(there.context.store)
        for words in ("heron pond", "crow roof"):
            # The mean length by which words count that have changed since is each engine's own.
            found = [
                {hit.memory.id: hit.score for hit in one.recall(words, limit=20).hits}
                for one in (here, there)
            ]
            assert found[0] == pytest.approx(found[1], abs=0.01)


def test_words_from_before_a_move_are_found_at_their_moments_in_a_copy(ctx, clock, to, opened):
    api = Memories(ctx)
    apple, moments = api.remember("a red apple", name="apple"), {"red": clock()}
    for colour, namespace in (("green", "garden"), ("blue", "cellar"), ("white", "garden")):
        clock.advance(hours=1)
        api.revise(apple.id, text=f"a {colour} apple")
        moments[colour] = clock()
        clock.advance(hours=1)
        api.revise(apple.id, namespace=namespace)
    copied(ctx.store, to)
    copy = Memories(context(opened(to), clock))
    for colour, moment in moments.items():
        past = copy.as_of(iso(moment)).context.store
        assert [one for one in moments if best_words(past.read(), [one], Filter(), every=True, limit=5)] == [
            colour
        ]


def test_a_copy_goes_on_where_the_store_stands(ctx, clock, secret, to, opened):
    copied(ctx.store, to)
    copy = context(opened(to), clock)
    before = last_number(ctx.store)
    both = [Memories(replace(one, new_uid=Uids("later"))) for one in (ctx, copy)]
    clock.advance(hours=1)
    made = [api.remember("A kingfisher at the weir", name="kingfisher") for api in both]
    assert made[0].id == made[1].id and last_number(copy.store) > before
    followed = list(copy.read().changes(position_of(copy.store, before)))
    assert [change.subject_id for change in followed] == [made[0].id]
    undone = [api.undo_since(iso(clock() - 4 * HOUR)) for api in both]
    assert len(undone[1]) == len(undone[0]) > 10
    assert everything(copy.store) == everything(ctx.store) and faults(copy.store) == []


def test_a_copy_is_a_store_of_its_own_to_those_it_syncs_with(ctx, clock, secret, twin, to, opened):
    copied(ctx.store, to)
    copy = context(opened(to), clock, "copy")
    again = sync(copy, LocalPeer(twin), Course.MERGE)
    assert [way.imported for way in (again.pulled, again.pushed) if way] == [0, 0]
    clock.advance(hours=1)
    Memories(copy).revise(4, summary="from the copy")
    Memories(ctx).revise(5, summary="from the store")
    for one in (copy, ctx, copy):
        done = sync(one, LocalPeer(twin), Course.MERGE)
        assert done.pulled and done.pulled.conflicts == []
    for api in (Memories(copy), Memories(ctx)):
        assert [api.open(number).summary for number in (4, 5)] == ["from the copy", "from the store"]


def test_a_copy_of_a_copy_has_the_same_rows(ctx, clock, secret, to, tmp_path, engine, opened):
    first = copied(ctx.store, to)
    second = copied(opened(to), place(engine, tmp_path, "second"))
    changed = {"setting"}  # a copy is a store of its own
    sums = [{name: one for name, one in done.sums.items() if name not in changed} for done in (first, second)]
    assert sums[0] == sums[1]


def test_vectors_are_copied_and_not_made_anew(ctx, clock, secret, to, opened):
    copied(ctx.store, to)
    copy = context(opened(to), clock)
    numbers = ctx.read().select(Filter())
    here, there = ctx.read().vectors(numbers), copy.read().vectors(numbers)
    assert here.keys() == there.keys() and len(here) > 20
    assert all((here[one].vector == there[one].vector).all() for one in here)


@pytest.mark.parametrize("part", [0.2, 0.8])
def test_a_copy_that_was_killed_is_no_store_and_is_finished_by_the_next(
    ctx, clock, secret, to, part, engine, tmp_path, opened
):
    killed(engine, tmp_path, to, part)
    if to.startswith("postgresql"):
        with pytest.raises(StoreUnusable, match="unfinished copy of there"):
            opened(to)
    else:
        assert not Path(to).exists()
    with pytest.raises(Conflict, match="unfinished copy of there"):
        copied(ctx.store, to, origin="elsewhere")
    done = copied(ctx.store, to)
    assert done.plan.continues and "memory" in done.kept
    copy = context(opened(to), clock)
    assert answers(copy) == answers(ctx) and faults(copy.store) == []


def killed(engine: str, folder: Path, to: str, part: float) -> None:
    """Copy the store of this test in another process, and kill that when so much is done."""
    command = [sys.executable, str(CHILD), "copy", engine, str(folder), "mnemic", to, str(part)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout
        assert child.stdout.readline() == b"1\n"
        child.kill()


INDEXES = """
SELECT indexdef FROM pg_indexes WHERE schemaname = 'mnemic' ORDER BY indexdef
"""


@pytest.mark.only_on("postgres")
def test_a_copy_that_was_killed_and_finished_has_every_index(ctx, clock, secret, engine, tmp_path, fresh):
    to = place("postgres", tmp_path, "copy")
    fresh("copy")
    with psycopg.connect(to) as connection:
        before = connection.execute(INDEXES).fetchall()
    killed(engine, tmp_path, to, 0.5)
    with psycopg.connect(to) as connection:
        assert len(connection.execute(INDEXES).fetchall()) < len(before)
    assert copied(ctx.store, to).plan.continues
    with psycopg.connect(to) as connection:
        assert connection.execute(INDEXES).fetchall() == before and len(before) > 30


def test_what_changed_since_the_interruption_is_copied_too(ctx, clock, secret, to, engine, tmp_path, opened):
    killed(engine, tmp_path, to, 0.6)
    Memories(ctx).revise(4, text="The owl has left.")
    done = copied(ctx.store, to)
    assert "memory" not in done.kept and "alias" in done.kept
    copy = context(opened(to), clock)
    assert answers(copy) == answers(ctx) and faults(copy.store) == []


def test_a_database_that_holds_memories_is_refused(ctx, clock, secret, to, opened):
    copied(ctx.store, to)
    with pytest.raises(Conflict, match="already"):
        copied(ctx.store, to)
    assert answers(context(opened(to), clock)) == answers(ctx)


def test_an_empty_store_can_be_copied(ctx, clock, to, opened):
    done = copied(ctx.store, to)
    assert done.plan.memories == 0
    copy = context(opened(to), clock)
    assert copy.store.newest() == BEGINNING and faults(copy.store) == []
    assert Memories(copy).remember("the first").id == 1


@pytest.mark.only_on("postgres")
def test_a_daemon_that_has_an_empty_target_open_finds_what_is_copied_into_it(
    ctx, clock, secret, tmp_path, fresh
):
    waiting = context(fresh("copy"), clock)
    assert Memories(waiting).recall("heron").hits == ()
    copied(ctx.store, place("postgres", tmp_path, "copy"))
    assert answers(waiting) == answers(ctx)


@pytest.mark.only_on("sqlite")
@pytest.mark.skipif("postgres" not in ENGINES, reason="about PostgreSQL")
def test_a_text_that_postgresql_cannot_hold_is_named(ctx, clock, tmp_path, fresh):
    put(ctx.store, a_draft("a heron"))
    with closing(
        apsw.Connection(place("sqlite", tmp_path, "mnemic"))
    ) as file:  # as an old version let it pass
        file.execute("UPDATE statement SET text = 'a' || char(0) || 'b'")
    with pytest.raises(Invalid, match=r"from: row 1 of statement .*NUL"):
        copied(ctx.store, place("postgres", tmp_path, "copy"))


POSTGRES_COLUMNS = """
SELECT table_name, column_name FROM information_schema.columns
JOIN information_schema.tables USING (table_schema, table_name)
WHERE table_schema = 'mnemic' AND table_type = 'BASE TABLE'
"""
SQLITE_COLUMNS = """
SELECT m.name, c.name FROM pragma_table_list() m JOIN pragma_table_info(m.name) c
WHERE m.type IN ('table', 'virtual') AND m.schema = 'main' AND m.name NOT LIKE 'sqlite_%'
"""
DERIVED = {"words", "words_past", "term", "mark", "namespace_size", "gram", "claim"}
"""Indexes, which an engine makes anew, and what belongs to running processes."""


def test_every_table_and_column_is_copied_or_made_anew(ctx, engine, tmp_path):
    found = stored(engine, tmp_path)
    found["setting"] = found.pop("meta")
    assert found.keys() - DERIVED == {table.name for table in TABLES}
    for table in TABLES:
        known = {*table.columns, *table.placement}
        columns = {"namespace" if name == "namespace_id" else name for name in found[table.name]} - {"xid"}
        if table.name == "namespace":
            columns -= {"id"}
        assert columns | set(table.placement) == known, table.name


def stored(engine: str, folder: Path) -> dict[str, set[str]]:
    """The columns of every table of the store of this test."""
    if engine == "postgres":
        with psycopg.connect(place(engine, folder, "mnemic")) as connection:
            pairs = connection.execute(POSTGRES_COLUMNS).fetchall()
    else:
        with closing(apsw.Connection(place(engine, folder, "mnemic"))) as connection:
            pairs = connection.execute(SQLITE_COLUMNS).fetchall()
    return {table: {name for one, name in pairs if one == table} for table, _ in pairs}
