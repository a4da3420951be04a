"""What came of a session: kept once, with what was learnt as memories linked to it."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from support import Uids, WordEmbedder, everything, kept, last_number

from mnemic.core import entities
from mnemic.core.context import Context
from mnemic.core.history import undo
from mnemic.core.memories import Fate, Revision, forget, revise
from mnemic.dialects.lorekeeper.dedup import Gate
from mnemic.dialects.lorekeeper.export_file import REFLECTION_TITLE
from mnemic.dialects.lorekeeper.lessons import (
    DISCOVERED,
    LEARNT,
    Account,
    learn,
    reflected,
    reflection_on,
)
from mnemic.model.filter import EdgeFilter
from mnemic.model.graph import Direction
from mnemic.storage.queries import count, session_numbered
from mnemic.transfer.jsonl import export_lines, import_lines

ANYWHERE = Gate(namespaces=None)
ACCOUNT = Account(
    session="uuid1",
    summary="Built the reflect integration.",
    topic="reflect",
    what_was_done="Wrote code",
    lessons=("Check for duplicates before inserting",),
    patterns=("Run calls side by side",),
    profile=("Likes short answers",),
    discoveries=("A rebuild costs ten milliseconds", " "),
)


def told(ctx, account=ACCOUNT, **how):
    return learn(ctx, account, ANYWHERE, **how)


def test_discoveries_and_lessons_become_memories_linked_to_the_reflection(ctx):
    learnt = told(ctx)
    assert [
        (one.memory.content, one.memory.quality, one.relation, one.is_known) for one in learnt.learnings
    ] == [
        ("A rebuild costs ten milliseconds", 7.0, DISCOVERED, False),
        ("Check for duplicates before inserting", 8.0, LEARNT, False),
    ]
    edges = ctx.store.read().edges(EdgeFilter(at=(learnt.reflection.id,), direction=Direction.IN))
    assert [(edge.source_id, edge.type) for edge in edges] == [
        (one.memory.id, one.relation) for one in learnt.learnings
    ]


def test_the_reflection_says_it_all_and_belongs_to_its_session(ctx, clock):
    reflection = told(ctx).reflection
    assert reflection.content.splitlines()[:3] == [ACCOUNT.summary, "What was done:", "Wrote code"]
    assert "Good patterns:\n- Run calls side by side" in reflection.content
    assert "User profile updates:\n- Likes short answers" in reflection.content
    session = session_numbered(ctx.store.read(), reflection.session_id)
    assert (session.name, session.topic, session.summary) == ("uuid1", "reflect", ACCOUNT.summary)
    assert session.ended_at == clock()


def test_a_known_memory_is_linked_and_not_stored_again(ctx):
    known = kept(ctx, "A rebuild costs ten milliseconds")
    learnt = told(ctx)
    assert (learnt.learnings[0].memory.id, learnt.learnings[0].is_known) == (known.id, True)
    [edge] = ctx.store.read().edges(EdgeFilter(at=(known.id,), direction=Direction.OUT))
    assert (edge.target_id, edge.type) == (learnt.reflection.id, DISCOVERED)


def test_a_session_is_reflected_on_once(ctx):
    first = told(ctx)
    before = everything(ctx.store)
    again = told(ctx, replace(ACCOUNT, summary="Another", lessons=("Something new",)))
    assert (again.is_known, again.reflection.id, again.learnings) == (True, first.reflection.id, ())
    assert everything(ctx.store) == before and not first.is_known


def test_two_at_once_make_one_reflection(fresh, clock):
    embedder = WordEmbedder()
    stores = [fresh(), fresh()]
    contexts = []
    for place, store in enumerate(stores):
        store.use_models(embedder.name)
        contexts.append(Context(store=store, embedder=embedder, now=clock, new_uid=Uids(str(place))))
    start = threading.Barrier(2)
    done = []

    def work(ctx):
        start.wait()
        done.append(told(ctx))

    threads = [threading.Thread(target=work, args=(ctx,)) for ctx in contexts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.is_known for one in done) == [False, True]
    assert len({one.reflection.uid for one in done}) == 1
    assert count(stores[0].read()) == 3


def test_the_learnings_can_be_left_out(ctx):
    assert told(ctx, keeps_learnings=False).learnings == () and count(ctx.store.read()) == 1


def test_the_memories_it_is_about_are_linked_unless_they_are_gone(ctx):
    one, purged = kept(ctx, "tea"), kept(ctx, "coffee")
    forget(ctx, [purged.id], fate=Fate.PURGED)
    reflection = told(ctx, replace(ACCOUNT, about=(one.id, purged.id))).reflection
    edges = ctx.store.read().edges(EdgeFilter(at=(one.id,), direction=Direction.IN))
    assert [(edge.source_id, edge.type) for edge in edges] == [(reflection.id, "reflects_on")]


def test_the_graph_dialects_do_not_list_the_reflection(ctx):
    learnt = told(ctx)
    assert {one.title for one in entities.read_graph(ctx).entities} == {
        one.memory.title for one in learnt.learnings
    }
    assert entities.entity(ctx.store.read(), ctx, learnt.reflection.title) is None


def test_processed_sessions_are_listed_in_order_where_the_caller_looks(ctx):
    for name, space in (("b", "x"), ("a", "shared"), ("c", "y")):
        learn(ctx, Account(session=name, summary="Done."), ANYWHERE, namespace=space)
    reader = ctx.store.read()
    assert reflected(reader, None) == ["b", "a", "c"] and reflected(reader, ("x", "shared")) == ["b", "a"]
    assert reflection_on(reader, "c", ("x", "shared")) is None and reflection_on(reader, "c", None)


def test_a_session_whose_title_is_a_name_is_found_all_the_same(ctx):
    kept(ctx, "mine", name=REFLECTION_TITLE.format("uuid1"))
    first = told(ctx)
    assert first.reflection.name is None and told(ctx).reflection.id == first.reflection.id


def test_so_is_one_whose_reflection_was_renamed(ctx):
    first = told(ctx)
    revise(ctx, first.reflection.id, Revision(name="What we built"))
    assert told(ctx).is_known and told(ctx).reflection.id == first.reflection.id


def test_a_forgotten_or_undone_reflection_frees_its_session(ctx):
    first = told(ctx, keeps_learnings=False)
    forget(ctx, [first.reflection.id])
    assert reflected(ctx.store.read(), None) == []
    second = told(ctx, keeps_learnings=False)
    assert second.reflection.id != first.reflection.id
    undo(ctx, last_number(ctx.store))
    assert not told(ctx).is_known


@pytest.mark.parametrize("with_journal", [False, True])
def test_processed_sessions_move_with_an_export(ctx, fresh, with_journal):
    told(ctx)
    other = replace(ctx, store=fresh("other"))
    import_lines(other, list(export_lines(ctx, journal=with_journal)))
    assert reflected(other.store.read(), None) == ["uuid1"] and told(other).is_known
