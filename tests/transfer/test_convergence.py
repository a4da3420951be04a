"""Stores that are edited apart and synced in any order agree in the end, and lose nothing that nobody removed.

Files that are edited apart and imported in any order are all taken in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import NamedTuple

import pytest
from hypothesis import strategies as st
from support import START, Clock, Uids, faults, hold_for_examples, temporary_stores

from mnemic.core import titles
from mnemic.core.context import Context
from mnemic.model.enums import State
from mnemic.model.filter import ANY_EDGE, AliasFilter, SessionFilter
from mnemic.model.graph import EdgeDraft, EdgePatch
from mnemic.model.memory import Draft, MemoryPatch
from mnemic.model.session import SessionDraft, SessionPatch
from mnemic.model.time import iso
from mnemic.storage.base import Reader
from mnemic.storage.queries import alias_numbers, alias_uids, each_edge, each_memory, edge_between
from mnemic.transfer.document import export_json, import_json
from mnemic.transfer.session_keys import common_key, session_key
from mnemic.transfer.sync import Course, LocalPeer, sync
from mnemic.transfer.versions import edge_values, memory_values

NAMES = ("here", "there", "elsewhere")
TEXTS = ("one", "two", "three", "four")
FIELDS = {
    "priority": (1, 9),
    "kind": ("fact", "idea"),
    "summary": ("short", "shorter"),
    "confidence": (0.1, 0.2),
}

TITLES = ("Plan", "Deploy day", "Plan (2)")
"""What memories are called: so few that they collide."""

edits = st.one_of(
    st.tuples(st.just("create"), st.sampled_from(TEXTS), st.sampled_from((None, *TITLES))),
    st.tuples(st.sampled_from(["rename", "retitle"]), st.sampled_from((None, *TITLES))),
    st.tuples(st.just("move"), st.sampled_from(["global", "shop"])),
    st.tuples(st.just("note"), st.sampled_from(["owner", "place"]), st.sampled_from([None, 1, [2]])),
    st.tuples(st.sampled_from(["start", "finish"]), st.sampled_from(["Monday", "Tuesday"])),
    st.tuples(st.just("weigh"), st.sampled_from([0.25, 0.5])),
    st.tuples(st.sampled_from(["enter"])),
    st.tuples(st.just("set"), st.sampled_from(sorted(FIELDS)), st.booleans()),
    st.tuples(st.sampled_from(["add", "remove", "replace"]), st.sampled_from(TEXTS)),
    st.tuples(st.sampled_from(["tag", "untag"]), st.sampled_from(["a", "b"])),
    st.tuples(st.sampled_from(["link", "end", "unlink", "delete", "restore", "purge"])),
    st.tuples(st.just("sync"), st.sampled_from(NAMES), st.sampled_from(list(Course))),
)
stories = st.lists(
    st.tuples(st.sampled_from(NAMES), edits, st.integers(0, 3), st.integers(-3, 3)), max_size=30
)


@dataclass
class World:
    """Three stores, and what was ever said or removed in any of them."""

    stores: dict[str, Context]
    clock: Clock
    said: set[tuple[str, str]] = field(default_factory=set)
    removed: set[tuple[str, str]] = field(default_factory=set)
    purged: set[str] = field(default_factory=set)

    def edit(self, name: str, edit: tuple, pick: int) -> None:
        ctx = self.stores[name]
        act, *details = edit
        if act == "sync":
            if details[0] != name:
                self.sync(name, details[0], details[1])
            return
        if act == "create":
            self._create(ctx, *details)
            return
        if act in ("start", "finish"):
            getattr(self, f"_{act}")(ctx, *details)
            return
        known = [memory for memory in each_memory(ctx.store.read()) if memory.state is not State.NAMED]
        if known:
            memory, other = known[pick % len(known)], known[(pick + 1) % len(known)]
            getattr(self, f"_{act}")(ctx, memory, other, *details)

    def sync(self, one: str, other: str, course: Course = Course.MERGE) -> int:
        done = sync(self.stores[one], LocalPeer(self.stores[other]), course)
        ways = [way for way in (done.pulled, done.pushed) if way]
        assert [way.errors for way in ways] == [[]] * len(ways)
        return sum(way.changes for way in ways)

    def _create(self, ctx: Context, text: str, name: str | None) -> None:
        uid = ctx.new_uid()
        if name and ctx.store.read().ids_named(name, ("global",)):
            name = None
        draft = Draft(namespace="global", name=name, texts=(text,))
        ctx.change("remember", lambda tx: tx.insert(draft, uid=uid))
        self.said.add((uid, text))

    def _rename(self, ctx, memory, _, name) -> None:
        if self._is_free(ctx, memory, name, memory.namespace):
            self._change(ctx, memory, **(titles.named(name) if name else {"name": None}))

    def _retitle(self, ctx, memory, _, title) -> None:
        if memory.name is None:
            self._change(ctx, memory, title=title or "untitled")

    def _move(self, ctx, memory, _, namespace) -> None:
        if self._is_free(ctx, memory, memory.name, namespace):
            self._change(ctx, memory, namespace=namespace)

    def _is_free(self, ctx, memory, name, namespace) -> bool:
        taken = ctx.store.read().ids_named(name, (namespace,)) if name else []
        return memory.state is not State.LIVING or not set(taken) - {memory.id}

    def _note(self, ctx, memory, _, key, value) -> None:
        told = {**memory.metadata, key: value}
        self._change(ctx, memory, metadata={key: value for key, value in told.items() if value is not None})

    def _start(self, ctx, topic) -> None:
        session = SessionDraft("global", name="work", topic=topic, started_at=self.clock())
        if not ctx.store.read().sessions(SessionFilter(namespaces=("global",), name="work")):
            ctx.change("session", lambda tx: tx.insert_session(session))

    def _finish(self, ctx, summary) -> None:
        for session in ctx.store.read().sessions():
            patch = SessionPatch(ended_at=self.clock(), summary=summary)
            ctx.change("session", partial(_update_session, session, patch))

    def _enter(self, ctx, memory, _) -> None:
        for session in ctx.store.read().sessions(limit=1):
            self._change(ctx, memory, session_id=session.id)

    def _weigh(self, ctx, memory, other, weight) -> None:
        if edge := edge_between(ctx.store.read(), memory.id, other.id, "knows"):
            ctx.change("link", lambda tx: tx.update_edge(edge, EdgePatch(weight=weight)))

    def _change(self, ctx, memory, **fields) -> None:
        ctx.change("revise", lambda tx: tx.update(memory, MemoryPatch(**fields)))

    def _set(self, ctx, memory, _, name, which) -> None:
        self._change(ctx, memory, **{name: FIELDS[name][which]})

    def _add(self, ctx, memory, _, text) -> None:
        self._change(ctx, memory, texts=(*memory.texts, text))
        self.said.add((memory.uid, text))

    def _remove(self, ctx, memory, _, text) -> None:
        if text in memory.texts:
            self._change(ctx, memory, texts=[one for one in memory.texts if one != text])
            self.removed.add((memory.uid, text))

    def _replace(self, ctx, memory, _, text) -> None:
        self.removed |= {(memory.uid, one) for one in memory.texts if one != text}
        self._change(ctx, memory, texts=(text,))
        self.said.add((memory.uid, text))

    def _tag(self, ctx, memory, _, tag) -> None:
        self._change(ctx, memory, tags=tuple(dict.fromkeys((*memory.tags, tag))))

    def _untag(self, ctx, memory, _, tag) -> None:
        self._change(ctx, memory, tags=tuple(one for one in memory.tags if one != tag))

    def _link(self, ctx, memory, other) -> None:
        if memory.id != other.id and not edge_between(ctx.store.read(), memory.id, other.id, "knows"):
            ctx.change("link", lambda tx: tx.insert_edge(EdgeDraft(memory.id, other.id, "knows")))

    def _end(self, ctx, memory, other) -> None:
        if edge := edge_between(ctx.store.read(), memory.id, other.id, "knows"):
            ctx.change("link", lambda tx: tx.update_edge(edge, EdgePatch(valid_to=self.clock())))

    def _unlink(self, ctx, memory, other) -> None:
        if edge := edge_between(ctx.store.read(), memory.id, other.id, "knows"):
            ctx.change("link", lambda tx: tx.update_edge(edge, EdgePatch(state=State.FORGOTTEN)))

    def _delete(self, ctx, memory, _) -> None:
        self._change(ctx, memory, state=State.FORGOTTEN, state_reason="tired", state_at=self.clock())

    def _restore(self, ctx, memory, _) -> None:
        own = memory.name if not ctx.store.read().ids_named(memory.name or "", (memory.namespace,)) else None
        if memory.state is not State.LIVING and own != memory.name:
            self._change(ctx, memory, name=None)
            memory = ctx.store.read().get([memory.id])[0]
        self._change(ctx, memory, state=State.LIVING, state_reason=None, state_at=None)

    def _purge(self, ctx, memory, _) -> None:
        ctx.change("purge", lambda tx: tx.purge([memory.id]))
        self.purged.add(memory.uid)

    def settle(self) -> None:
        """Sync every pair until nothing changes any more, which must not take long."""
        for _ in range(6):
            if not sum(self.sync(one, other) for one, other in permutations(NAMES, 2)):
                return
        pytest.fail("the stores go on changing each other")


def identities(ctx: Context) -> dict[int, str]:
    """What the memories of a store are known by everywhere: the least of their uids. Those merged away are left out."""
    reader = ctx.store.read()
    memories = list(each_memory(reader))
    others = alias_uids(reader, [memory.id for memory in memories])
    merged = alias_numbers(reader, [memory.uid for memory in memories])
    return {
        memory.id: min((memory.uid, *others.get(memory.id, ())))
        for memory in memories
        if memory.uid not in merged
    }


class Holdings(NamedTuple):
    """What a store holds, without the numbers that are its own."""

    memories: dict
    links: list
    purged: set[str]
    sessions: list


def state(ctx: Context):
    """What a store holds, without the numbers that are its own."""
    reader = ctx.store.read()
    keys = identities(ctx)
    sessions = {session.id: session_key(session) for session in reader.sessions()}
    held = {
        keys[memory.id]: (
            memory_values(memory, sessions.get(memory.session_id or 0)),
            memory.texts,
            memory.name,
        )
        for memory in each_memory(reader)
        if memory.id in keys
    }
    links = [
        (
            keys[edge.source_id],
            keys[edge.target_id],
            edge.created_at,
            edge_values({name: getattr(edge, name) for name in ("weight", "valid_to", "state")}),
        )
        for edge in each_edge(reader, ANY_EDGE)
        if edge.source_id in keys and edge.target_id in keys
    ]
    told = [(common_key(session_key(one)), one.topic, one.summary, one.ended_at) for one in reader.sessions()]
    return Holdings(held, sorted(links, key=str), purged(reader), sorted(told, key=str))


def purged(reader: Reader) -> set[str]:
    return {uid for uid, _ in reader.aliases(AliasFilter(is_purged=True))}


def lost(world: World) -> set[tuple[str, str]]:
    """What was said and is gone, though nobody removed it from a memory that is the same now, or purged that."""
    ctx = world.stores["here"]
    reader, keys = ctx.store.read(), identities(ctx)
    others = alias_uids(reader, list(keys))
    memories = reader.get(list(keys))
    known = {uid: keys[memory.id] for memory in memories for uid in (memory.uid, *others.get(memory.id, ()))}
    held = {(keys[memory.id], text) for memory in memories for text in memory.texts}
    gone = purged(reader)
    said, removed = (
        {(known.get(uid, uid), text) for uid, text in told if uid not in gone}
        for told in (world.said, world.removed)
    )
    return said - removed - held


def _update_session(session, patch, tx) -> None:
    tx.update_session(session, patch)


def test_stores_agree_and_keep_every_statement_that_nobody_removed(engine):
    hold_for_examples(engine, 60, lambda story: _stores_agree(engine, story), stories)


def _stores_agree(engine, story):
    clock = Clock(START)
    with temporary_stores(engine, *NAMES) as opened:
        stores = {
            name: Context(
                store=store,
                embedder=None,
                now=clock,
                new_uid=Uids(name),
            )
            for name, store in opened.items()
        }
        world = World(stores, clock)
        for name, edit, pick, minutes in story:
            clock.advance(minutes=minutes)
            world.edit(name, edit, pick)
        world.settle()
        first = state(stores["here"])
        for ctx in stores.values():
            assert state(ctx) == first
        assert lost(world) == set()
        assert world.purged <= first.purged
        for ctx in stores.values():
            assert faults(ctx.store) == []


# -- files

EDITORS = ("here", 0, 1, 2)
"""Who edits: the store, or one of three files that were exported from it."""
OWN_FIELDS = dict(zip(EDITORS, ("kind", "summary", "title", "rating"), strict=True))
"""The field that an editor changes and nobody else does."""
file_edits = st.one_of(
    st.tuples(st.just("export"), st.sampled_from(EDITORS[1:])),
    st.tuples(st.just("import"), st.sampled_from(EDITORS[1:])),
    st.tuples(st.sampled_from(["say", "tag", "note", "set"]), st.sampled_from(EDITORS)),
)


@dataclass
class Files:
    """A store with one memory, files that were exported from it, and what each editor added and set last."""

    ctx: Context
    clock: Clock
    files: dict[int, dict] = field(default_factory=dict)
    added: set[tuple[str, str]] = field(default_factory=set)
    last: dict[str, object] = field(default_factory=dict)

    def edit(self, act: str, editor: object, number: int) -> None:
        if act == "export":
            if editor not in self.files:
                self.files[editor] = export_json(self.ctx)
        elif act == "import":
            self.take(editor)
        elif editor == "here":
            self._edit_here(act, f"{act} {number}")
        elif editor in self.files:
            self._edit_file(editor, act, f"{act} {number}")

    def take(self, editor: object) -> int:
        done = import_json(self.ctx, self.files.get(editor, {"memories": []}))
        assert (done.errors, done.conflicts) == ([], [])
        return done.imported

    def _edit_here(self, act: str, word: str) -> None:
        [memory] = each_memory(self.ctx.store.read())
        patches = {
            "say": MemoryPatch(texts=(*memory.texts, word)),
            "tag": MemoryPatch(tags=(*memory.tags, word)),
            "note": MemoryPatch(metadata={**memory.metadata, word: 1}),
            "set": MemoryPatch(kind=word),
        }
        self.ctx.change("revise", lambda tx: tx.update(memory, patches[act]))
        self._expect("here", act, word)

    def _edit_file(self, editor: int, act: str, word: str) -> None:
        [entry] = self.files[editor]["memories"]
        texts = entry.get("statements", [entry["content"]])
        if act == "say":
            entry |= {"statements": [*texts, word], "content": "\n".join([*texts, word])}
        elif act == "tag":
            entry["tags"] = [*entry["tags"], word]
        elif act == "note":
            entry["metadata"] = {**entry["metadata"], word: 1}
        else:
            entry[OWN_FIELDS[editor]] = 7.5 if editor == 2 else word
        entry["updated_at"] = iso(self.clock())
        self._expect(editor, act, word)

    def _expect(self, editor: object, act: str, word: str) -> None:
        if act == "set":
            self.last[OWN_FIELDS[editor]] = 7.5 if editor == 2 else word
        else:
            self.added.add((act, word))


def test_files_that_were_edited_apart_are_all_taken_in_whatever_their_order(engine):
    stories, orders = st.lists(file_edits, max_size=25), st.permutations(EDITORS[1:])
    hold_for_examples(
        engine, 60, lambda story, order: _files_are_taken_in(engine, story, order), stories, orders
    )


def _files_are_taken_in(engine, story, order):
    clock = Clock(START)
    with temporary_stores(engine, "files") as opened:
        store = opened["files"]
        world = Files(Context(store=store, embedder=None, now=clock, new_uid=Uids("files")), clock)
        draft = Draft(namespace="global", name="Plan", texts=("first",))
        world.ctx.change("remember", lambda tx: tx.insert(draft, uid=world.ctx.new_uid()))
        for number, (act, editor) in enumerate(story):
            clock.advance(minutes=1)
            world.edit(act, editor, number)
        for editor in order:
            clock.advance(minutes=1)
            world.take(editor)
        [memory] = each_memory(store.read())
        held = {*(("say", text) for text in memory.texts), *(("tag", tag) for tag in memory.tags)}
        held |= {("note", key) for key in memory.metadata}
        assert held == {("say", "first"), *world.added}
        assert {name: getattr(memory, name) for name in world.last} == world.last
        assert [world.take(editor) for editor in (*order, *order)] == [0] * 6
        assert [memory] == list(each_memory(store.read())) and faults(store) == []
