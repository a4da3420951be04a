"""What a write costs: few statements, few answers waited for, and nothing lost by what is left out."""

from __future__ import annotations

import psycopg
import pytest
from support import Uids, a_draft, kept, put, write

from mnemic.core.memories import Note, remember
from mnemic.core.trust.rivals import sharing
from mnemic.errors import Invalid
from mnemic.model.filter import Filter
from mnemic.storage.postgres import memories
from mnemic.storage.postgres.connection import Held
from mnemic.storage.postgres.index_source import POSITION, POSTINGS
from mnemic.storage.postgres.namespace_filter import numbered
from mnemic.storage.queries import holders

pytestmark = pytest.mark.only_on("postgres")


class Sent:
    """The statements that are sent, and how often an answer is waited for."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.statements: list[str] = []
        self.waits = 0
        execute, answered = psycopg.Connection.execute, Held._execute

        def counted(connection, query, *given, **how):
            self.statements.append(query)
            return execute(connection, query, *given, **how)

        def waited(held, *given):
            self.waits += 1
            return answered(held, *given)

        monkeypatch.setattr(psycopg.Connection, "execute", counted)
        monkeypatch.setattr(Held, "_execute", waited)


def notes(count: int) -> list[Note]:
    return [Note(text=f"Heron number {number} stands in the reeds") for number in range(count)]


def test_a_write_is_eight_statements_and_two_round_trips(ctx, monkeypatch):
    kept(ctx, "A swallow in the barn")
    ctx.store._announcer.close()
    sent = Sent(monkeypatch)
    remember(ctx, [Note(text="A heron in the reeds")])
    assert len(sent.statements) == 8 and sent.waits == 2
    assert sent.statements[0] == "BEGIN" and sent.statements[-1] == "COMMIT"


def test_a_batch_costs_no_more_statements_than_a_write(ctx, monkeypatch):
    kept(ctx, "A swallow in the barn")
    ctx.store._announcer.close()
    sent = Sent(monkeypatch)
    assert len(remember(ctx, notes(50)).kept) == 50
    assert len(sent.statements) <= 8 and sent.waits <= 2


def test_the_words_of_a_memory_are_looked_up_in_one_statement(ctx, monkeypatch):
    heron, *_ = [kept(ctx, f"A heron stands in the reeds of pond {number}") for number in range(3)]
    sent = Sent(monkeypatch)
    assert len(sharing(ctx, ctx.read(), heron)) == 2
    assert sent.statements.count(POSTINGS) == 1


def test_the_index_follows_a_change_in_four_trips(ctx, monkeypatch):
    kept(ctx, "A heron in the reeds")
    assert holders(ctx.read(), ["heron"], None) == {"heron": 1}
    kept(ctx, "Another heron in the reeds")
    sent = Sent(monkeypatch)
    assert holders(ctx.read(), ["heron"], None) == {"heron": 2}
    assert sent.waits == 4  # the moment, the changes, what they left behind, the end


def test_statements_stay_prepared_from_one_moment_to_the_next(ctx):
    kept(ctx, "A heron in the reeds")
    for _ in range(8):
        assert holders(ctx.read(), ["heron"], None) == {"heron": 1}
    with ctx.store.held(None) as db:
        prepared = [sql for (sql,) in db.run("SELECT statement FROM pg_prepared_statements")]
    assert [sql for sql in prepared if "pg_current_snapshot" in sql] == [POSITION]


def test_equal_texts_are_looked_up_by_index_before_there_are_statistics(ctx):
    remember(ctx, notes(1_000))
    with ctx.store.held(None) as db:
        db.run("SET plan_cache_mode = force_generic_plan")
        sql = memories.SAME_TEXTS.format(digests=memories.DIGESTS, here=numbered([1, 2]))
        db.run(f"PREPARE look AS {sql.replace('%(digests)s', '$1').replace('%(spaces)s', '$2')}")
        plan = "\n".join(line for (line,) in db.run("EXPLAIN EXECUTE look ('{1}', '{1}')"))
        db.run("DEALLOCATE look; RESET plan_cache_mode")
    assert "statement_digest" in plan and "Seq Scan" not in plan


def test_the_numbers_of_a_batch_have_no_gap(ctx):
    remember(ctx, notes(30))
    last = kept(ctx, "A swallow in the barn")
    assert last.id == 31 and last.statements[0].id == 31
    assert [change.sequence for change in ctx.read().journal()] == list(range(1, 32))
    assert ctx.read().select(Filter(), limit=100) and len(ctx.read().select(Filter())) == 31


def test_a_transaction_reads_what_it_has_inserted(store):
    uid = Uids()

    def work(tx):
        one = tx.insert(a_draft("A heron", tags=("bird",)), uid=uid())
        other = tx.insert(a_draft("A pond"), uid=uid())
        return tx.get([one.id, other.id]) == [one, other] and tx.batch

    assert write(store, work) == 1


def test_what_was_looked_up_ahead_is_looked_up_again_after_a_write(store):
    put(store, a_draft("A pond"))

    def work(tx):
        tx.expect(1, lambda reader: reader.same_texts(["A heron"], ("global",)))
        assert tx.overdue(0) == [] and tx.same_texts(["A heron"], ("global",)) == {}
        heron = tx.insert(a_draft("A heron"), uid=Uids()())
        return tx.same_texts(["A heron"], ("global",)) == {"A heron": heron.id}

    assert write(store, work)


def test_a_word_is_in_the_vocabulary_again_after_another_process_purged_it(fresh):
    store, other = fresh(), fresh()
    [heron] = put(store, a_draft("A heron"))
    assert store.read().spellings("herom", 1, None) == ["heron"]
    write(other, lambda tx: tx.purge([heron.id]))
    assert other.read().spellings("herom", 1, None) == []
    put(store, a_draft("Another heron"))
    assert other.read().spellings("herom", 1, None) == ["heron"]


def test_a_word_of_a_change_that_failed_is_not_taken_for_known(store):
    def failing(tx):
        tx.insert(a_draft("A heron"), uid=Uids()())
        tx.get([1])
        raise Invalid("no")

    with pytest.raises(Invalid):
        write(store, failing)
    put(store, a_draft("A heron"))
    assert store.read().spellings("herom", 1, None) == ["heron"]


def test_a_nul_character_is_refused_and_nothing_is_kept(store):
    with pytest.raises(Invalid, match="NUL"):
        put(store, a_draft("A heron"), a_draft("A \0 pond", title="A pond"))
    assert store.read().select(Filter()) == []
