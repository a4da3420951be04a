"""Locks: changes of different namespaces run at the same time, and none writes where it holds no lock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from support import START, Uids, a_draft, kept, put

from mnemic.core import entities, sessions
from mnemic.core.access import TokenRequest, create_token, note_use
from mnemic.core.bulk import BulkEdit, edit
from mnemic.core.capture.conversation import Turn, capture
from mnemic.core.context import Context
from mnemic.core.embedding_queue import embed_pending
from mnemic.core.entities import OnTakenName, Sketch, Triple
from mnemic.core.graph import link
from mnemic.core.maintenance.merge import merge
from mnemic.core.memories import Fate, Note, Revision, forget, promote, remember, restore, revise, supersede
from mnemic.core.reflections import Reflection
from mnemic.core.reflections import add as reflect
from mnemic.core.retention import touch
from mnemic.core.standards import set_standard
from mnemic.core.trust.ratings import rate_named
from mnemic.core.upsert import store as store_named
from mnemic.dialects.mcp_memory.observations import observe
from mnemic.errors import Busy, Denied
from mnemic.model.access import EVERYTHING, Grant, Quota, Scope
from mnemic.model.filter import EdgeFilter, Filter
from mnemic.model.graph import EdgeDraft, EdgePatch
from mnemic.model.memory import Memory, MemoryPatch
from mnemic.model.session import SessionDraft
from mnemic.storage.base import Passage
from mnemic.storage.postgres.namespace_locks import NotLocked
from mnemic.storage.postgres.store import PostgresStore
from mnemic.storage.queries import count

pytestmark = pytest.mark.only_on("postgres")

UID = "00000000-0000-4000-8000-000000000001"


def in_namespace(ctx: Context, name: str) -> Context:
    """*ctx* for somebody who works in this namespace."""
    return replace(ctx, namespace=name, new_uid=Uids(name), actor=name)


class Writing:
    """Somebody who remembers something in namespace `slow` and is held up in the middle of it."""

    def __init__(self, ctx: Context):
        self._has_begun, self._may_end = threading.Event(), threading.Event()
        slow = replace(in_namespace(ctx, "slow"), new_uid=self._uid)
        self._thread = threading.Thread(target=remember, args=(slow, [Note(text="The slow one")]))

    def __enter__(self) -> Writing:
        self._thread.start()
        assert self._has_begun.wait(60)
        return self

    def __exit__(self, *exception: object) -> None:
        self._may_end.set()
        self._thread.join()

    def _uid(self) -> str:
        self._has_begun.set()
        assert self._may_end.wait(120)
        return UID


def turn(ctx: Context) -> None:
    sessions.start(ctx)
    sessions.log_turn(ctx, "What is it?", "A heron")
    sessions.end(ctx, summary="We saw a heron")


def name_things(ctx: Context) -> None:
    entities.create(ctx, [Sketch("Ann", "person", ("tall",))], OnTakenName.KEEP)
    entities.relate(ctx, [Triple("Ann", "Bob", "knows")], may_dangle=True)
    entities.observe(ctx, [("Ann", ["quick"])], may_repeat=False, must_exist=True)
    observe(ctx, "Ann", ["kind"], "trait", None)
    entities.retract(ctx, [("Ann", ["quick"])])
    entities.unrelate(ctx, [Triple("Ann", "Bob", "knows")])
    entities.delete(ctx, ["Ann"])


def embed(ctx: Context) -> None:
    assert embed_pending(ctx, 10, Filter(namespaces=ctx.usual)) == 2


def capture_turn(ctx: Context) -> None:
    capture(ctx, "client", [Turn("I always prefer tea", "Noted", 1)])


def note_token(ctx: Context) -> None:
    note_use(ctx, "secret")


def forget_and_restore(ctx: Context, one: Memory) -> None:
    forget(ctx, [one.id])
    restore(ctx, [one.id])


VERBS: dict[str, Callable[[Context, Memory, Memory], object]] = {
    "remember": lambda ctx, one, other: remember(ctx, [Note(text="A new one")]),
    "revise": lambda ctx, one, other: revise(ctx, one.id, Revision(text="Another text")),
    "promote": lambda ctx, one, other: promote(ctx, one.id),
    "supersede": lambda ctx, one, other: supersede(ctx, one.id, "The correction", None),
    "forget and restore": lambda ctx, one, other: forget_and_restore(ctx, one),
    "link": lambda ctx, one, other: link(ctx, one.id, other.id, "near"),
    "merge": lambda ctx, one, other: merge(ctx, one.id, other.id),
    "rate": lambda ctx, one, other: rate_named(ctx, [one.id], [], useful=True),
    "edit": lambda ctx, one, other: edit(ctx, [one.id, other.id], BulkEdit(add_tags=("bird",))),
    "store": lambda ctx, one, other: store_named(ctx, Note(text="A named one", name="Named")),
    "reflect": lambda ctx, one, other: reflect(ctx, Reflection(text="So it is")),
    "session": lambda ctx, one, other: turn(ctx),
    "use": lambda ctx, one, other: touch(ctx, [one, other], together=True),
    "embed": lambda ctx, one, other: embed(ctx),
    "capture": lambda ctx, one, other: capture_turn(ctx),
    "entities": lambda ctx, one, other: name_things(ctx),
    "token": lambda ctx, one, other: note_token(ctx),
    "standard": lambda ctx, one, other: set_standard(ctx, "quick", one.id),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_in_one_namespace_does_not_wait_for_a_writer_in_another(ctx, verb, monkeypatch):
    quick = in_namespace(ctx, "quick")
    one, other = kept(quick, "A heron at the pond"), kept(quick, "A swallow in the barn")
    asked: list[tuple[str, ...] | None] = []
    change = PostgresStore.change_under

    def noted(store, scope, operation, *given, **how):
        asked.append(scope.asked)
        return change(store, scope, operation, *given, **how)

    with Writing(ctx):
        monkeypatch.setattr(PostgresStore, "change_under", noted)
        VERBS[verb](quick, one, other)
    # Nothing was begun twice since it lacked a lock, and nothing locked more than its own namespace.
    assert asked and set(asked) <= {("quick",), ()}
    assert count(ctx.read(), Filter(namespaces=("slow",))) == 1


def test_use_is_counted_while_another_namespace_is_written(ctx):
    quick = in_namespace(ctx, "quick")
    one = kept(quick, "A heron at the pond")
    with Writing(ctx):
        touch(quick, [one])
        assert ctx.read().get([one.id])[0].access_count == 1


def test_a_change_of_the_whole_store_begins_when_no_namespace_is_written(ctx):
    with Writing(ctx), pytest.raises(Busy):
        ctx.store.change(EVERYTHING, "x", "x", START, lambda tx: None, waits=False)
    ctx.store.change(EVERYTHING, "x", "x", START, lambda tx: None, waits=False)


def test_a_memory_of_another_namespace_is_changed_under_its_own_lock(ctx, monkeypatch):
    one = kept(in_namespace(ctx, "far"), "A heron at the pond")
    asked: list[tuple[str, ...] | None] = []
    change = PostgresStore.change_under

    def noted(store, scope, *given, **how):
        asked.append(scope.asked)
        return change(store, scope, *given, **how)

    monkeypatch.setattr(PostgresStore, "change_under", noted)
    changed = revise(in_namespace(ctx, "near"), one.id, Revision(text="A heron in the reeds"))
    assert changed.content == "A heron in the reeds" and asked == [("near",), ("near", "far")]
    assert [change.operation for change in ctx.read().journal()] == ["remember", "revise"]


def test_a_purge_locks_the_whole_store(ctx, monkeypatch):
    one = kept(ctx, "A heron at the pond")
    asked: list[tuple[str, ...] | None] = []
    change = PostgresStore.change_under

    def noted(store, scope, *given, **how):
        asked.append(scope.asked)
        return change(store, scope, *given, **how)

    monkeypatch.setattr(PostgresStore, "change_under", noted)
    forget(ctx, [one.id], fate=Fate.PURGED)
    assert asked == [None]


def test_expired_memories_of_other_namespaces_leave_before_a_write(ctx, clock):
    kept(in_namespace(ctx, "far"), "Gone soon", ttl=1_000_000)
    clock.advance(days=1)
    near = kept(in_namespace(ctx, "near"), "A heron")
    assert ctx.read().select(Filter()) == [near.id]


def test_a_quota_over_several_namespaces_is_not_exceeded_by_two_at_a_time(ctx):
    granted = ctx.limited_to(Grant(("slow", "quick"), quota=Quota(memories=1)))
    with Writing(granted):
        scope = Scope(("slow", "quick"), ("slow", "quick"))
        with pytest.raises(Busy):
            ctx.store.change(scope, "x", "x", START, lambda tx: None, waits=False)
    with pytest.raises(Denied, match="quota"):
        remember(replace(granted, namespace="quick"), [Note(text="One too many")])


# -- the engine


def a_memory(tx, namespace: str) -> None:
    tx.insert(a_draft("news", namespace=namespace), uid=UID)


WRITES = {
    "insert": lambda tx, memory, edge: a_memory(tx, "other"),
    "update": lambda tx, memory, edge: tx.update(memory, MemoryPatch(priority=9)),
    "move": lambda tx, memory, edge: tx.update(memory, MemoryPatch(namespace="locked")),
    "link": lambda tx, memory, edge: tx.insert_edge(EdgeDraft(memory.id, memory.id + 1, "near")),
    "change a link": lambda tx, memory, edge: tx.update_edge(edge, EdgePatch(weight=0.2)),
    "session": lambda tx, memory, edge: tx.insert_session(SessionDraft("other")),
    "standard": lambda tx, memory, edge: tx.put_standard("other", memory.id, None),
    "purge": lambda tx, memory, edge: tx.purge([memory.id]),
    "vectors": lambda tx, memory, edge: tx.put_vectors(
        "words", 1, [Passage(memory.statements[0].id, 0, 1, None)]
    ),
}


@pytest.mark.parametrize("kind", WRITES)
def test_a_write_to_a_namespace_that_is_not_locked_leaves_nothing_and_begins_again(store, kind):
    memory, target = put(store, a_draft("A heron", namespace="other"), a_draft("A pond", namespace="other"))
    edge = store.change(
        EVERYTHING, "x", "x", START, lambda tx: tx.insert_edge(EdgeDraft(memory.id, target.id, "at"))
    )
    before = [change.sequence for change in store.read().journal()]
    with pytest.raises(NotLocked):
        store.change_under(
            Scope(None, ("locked",)),
            "x",
            "x",
            START,
            lambda tx: WRITES[kind](tx, memory, edge),
            durable=True,
            waits=True,
        )
    assert [change.sequence for change in store.read().journal()] == before
    assert store.read().get([memory.id]) == [memory] and store.read().edges(EdgeFilter()) == [edge]
    if kind != "vectors":
        store.change(Scope(None, ("locked",)), "x", "x", START, lambda tx: WRITES[kind](tx, memory, edge))
        assert [change.sequence for change in store.read().journal()] != before or kind == "standard"


def test_use_of_a_token_is_recorded_without_any_lock_but_the_shared_one(ctx):
    secret = create_token(ctx, TokenRequest(name="ann"))
    with Writing(ctx):
        note_use(ctx, secret)
    assert ctx.read().tokens()[0].used_at == ctx.now()
