"""A scoped reader answers as if nothing outside its scope were in the store: every method, by brute force."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from support import START, WordEmbedder, a_draft, embed_all, embedding, last_number, open_store

from mnemic.errors import Denied
from mnemic.model.access import Grant, Scope, Token
from mnemic.model.candidates import Ask
from mnemic.model.change import BEGINNING, Position, Subject
from mnemic.model.enums import State
from mnemic.model.filter import (
    ALL_STATES,
    ANY_EDGE,
    ANY_SESSION,
    AliasFilter,
    EdgeFilter,
    Filter,
    SessionFilter,
)
from mnemic.model.graph import EdgeDraft, EdgePatch, Entity, Link, Relation
from mnemic.model.memory import MemoryPatch
from mnemic.model.recall_entry import RecallEntry
from mnemic.model.session import SessionDraft, SessionPatch
from mnemic.model.shapes import Content, Departure, Identity, Origins, Outline, Standing, Usage
from mnemic.model.time import HOUR
from mnemic.model.version import Stamp, Version
from mnemic.storage.base import Reader, Writer
from mnemic.storage.queries import (
    count,
    edge_numbered,
    memory_numbered,
    session_called,
    session_numbered,
)
from mnemic.storage.scoped import ScopedReader, ScopedWriter

OPEN = Scope(("open",))
SECRET_IDS = range(4, 9)
EVERY_ID = list(range(1, 12))
UIDS = [f"{number:032x}" for number in EVERY_ID]
ALIAS, GONE = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
ANYTHING = Filter(states=ALL_STATES)
SECRETS = Filter(namespaces=("secret",), states=ALL_STATES)
WORDS = ["heron", "pond", "zebra"]
EMBEDDER = WordEmbedder()
WAYS = [None, ("open",), ("secret",), ("open", "secret")]


def fill(store, *, has_secrets: bool) -> None:
    """Three memories in `open`, with the same numbers and changes whether or not five more are in `secret`."""
    store.use_models(EMBEDDER.name)

    def visible(tx: Writer) -> None:
        session = session_called(tx, "open", "talk").id
        one, two, gone = (
            tx.insert(a_draft(text, namespace="open", name=title, session_id=session), uid=UIDS[number])
            for number, (title, text) in enumerate(
                [("Heron", "the heron stands"), ("Pond", "the pond is deep"), ("Left", "the heron left")]
            )
        )
        tx.insert_edge(EdgeDraft(one.id, two.id, "near"))
        tx.update(gone, MemoryPatch(state=State.FORGOTTEN, state_at=START))
        tx.count_together([one.id, two.id], START)
        tx.put_standard("open", one.id, None)

    def hidden(tx: Writer) -> None:
        session = session_called(tx, "secret", "talk").id
        made = [
            tx.insert(
                a_draft(
                    text,
                    namespace="secret",
                    name=title,
                    kind="plan",
                    session_id=session,
                    metadata={"key": "value"},
                    expires_at=START - HOUR,
                ),
                uid=UIDS[number],
            )
            for number, (title, text) in enumerate(
                [
                    ("Heron", "the zebra heron hides"),
                    ("Zebra", "the zebra is at the pond"),
                    ("Twin", "the zebra is at the pond"),
                    ("Left", "the zebra left"),
                    ("Beside", "a zebra sits beside"),
                ],
                3,
            )
        ]
        for source, target in [(1, made[0].id), (made[1].id, 2), (made[0].id, made[1].id)]:
            tx.insert_edge(EdgeDraft(source, target, "knows"))
        tx.update(made[3], MemoryPatch(state=State.FORGOTTEN, state_at=START))
        tx.count_together([1, *(memory.id for memory in made)], START)
        tx.put_standard("secret", made[0].id, None)
        tx.put_setting("mirror", "told")
        for memory in made:
            tx.put_version(Subject.MEMORY, memory.id, Version({"": Stamp(START, "here", 1)}))
        tx.put_version(Subject.EDGE, 2, Version())
        tx.put_version(Subject.SESSION, session, Version())
        tx.put_alias(ALIAS, made[0].id)
        tx.put_alias(GONE, 99)
        tx.put_token(Token(name="all", grant=Grant(), created_at=START), b"hash")
        for namespaces in (("secret",), ("open", "secret"), None):
            entry = RecallEntry(
                START, "tester", "who knows?", namespaces, None, 1, 0.5, 9, 1.0, (made[0].id,)
            )
            tx.log_recalls([entry], since=0)

    store.change(Scope(), "remember", "tester", START, visible)
    if has_secrets:
        store.change(Scope(), "remember", "tester", START, hidden)
    embed_all(store, EMBEDDER)
    if has_secrets:
        waits = a_draft("this waits for its vector", namespace="secret")
        store.change(Scope(), "late", "tester", START, lambda tx: tx.insert(waits, uid=UIDS[8]))


@pytest.fixture(scope="module")
def stores(engine, tmp_path_factory) -> Iterator[tuple[Any, Any]]:
    """The same store with and without secrets."""
    folder = tmp_path_factory.mktemp("scoped")
    both = open_store(engine, folder, "full"), open_store(engine, folder, "bare")
    for store, has_secrets in zip(both, (True, False), strict=True):
        fill(store, has_secrets=has_secrets)
    yield both
    for store in both:
        store.close()


def read_all(reader: Reader) -> list[object]:
    with reader.at_one_moment():
        return [count(reader)]


def asked(reader: Reader) -> list[object]:
    """Candidates by words and vectors with all that can be wanted of them, and of every number there may be."""
    ask = Ask(
        terms=tuple(WORDS), text=TEXT, shares=tuple(WORDS), has_traits=True, opening=9, has_vectors=True
    )
    anywhere = [
        replace(ask, depth=20, filter=wanted) for wanted in (Filter(), Filter(namespaces=("secret",)))
    ]
    given = replace(ask, ids=tuple(EVERY_ID))
    left = replace(given, filter=Filter(states=ALL_STATES))
    return [reader.candidates(one) for one in (*anywhere, given, left)]


def each(ask: Callable[..., object], *choices: object) -> Callable[[Reader], list[object]]:
    return lambda reader: [ask(reader, choice) for choice in choices]


TEXT = embedding(EMBEDDER, "zebra heron pond")
LEFT = frozenset({State.FORGOTTEN, State.ARCHIVED})
FILTERS = (
    *(ANYTHING, SECRETS, Filter(kinds=("plan",)), Filter(ids=(4, 5))),
    *(Filter(uid_prefix=uid, states=ALL_STATES) for uid in (*UIDS, "00000000")),
    Filter(uids=tuple(UIDS), states=ALL_STATES),
    *(Filter(title=title, namespaces=spaces) for title in ("Heron", "Zebra", "Left") for spaces in WAYS),
    *(Filter(name=name, states=LEFT) for name in ("Left", "Zebra")),
    Filter(metadata=(("key", '"value"'),), states=ALL_STATES),
)
CALLS: dict[str, Callable[[Reader], object]] = {
    "at_one_moment": read_all,
    "get": lambda r: [r.get(EVERY_ID), *(r.get([number]) for number in EVERY_ID)],
    "ids_named": lambda r: [
        r.ids_named(name, spaces, state)
        for name in ("Heron", "Zebra", "Left")
        for spaces in WAYS
        for state in (State.LIVING, State.NAMED)
    ],
    "select": lambda r: [r.select(wanted) for wanted in FILTERS],
    "look": lambda r: (
        [
            r.look(wanted, shape)
            for shape in (Content, Departure, Entity, Identity, Origins, Outline, Standing, Usage)
            for wanted in (EVERY_ID, *FILTERS)
        ]
        + [r.look(ANYTHING, Identity, after=2, limit=3)]
        + [r.look(ANY_EDGE, shape, limit=limit) for shape in (Link, Relation) for limit in (None, 1)]
    ),
    "tally": lambda r: [
        *(r.tally(f, by) for f in (ANYTHING, SECRETS) for by in ("kind", "namespace", "tier", "state")),
        *(r.tally(f, "type") for f in (ANY_EDGE, EdgeFilter(ends=SECRETS), EdgeFilter(near=SECRETS))),
        *(r.tally(f, "namespace") for f in (ANY_SESSION, SessionFilter(namespaces=("secret",)))),
    ],
    "standards": lambda r: r.standards(),
    "search_substring": each(lambda r, text: r.search_substring(text, ANYTHING), "zebra", "heron", ""),
    "size_bytes": lambda r: r.size_bytes(),
    "statistics": each(lambda r, spaces: r.statistics(WORDS, spaces), *WAYS),
    "candidates": asked,
    "spellings": each(lambda r, spaces: r.spellings("zebrs", 5, spaces), *WAYS),
    "same_texts": each(
        lambda r, spaces: r.same_texts(["the zebra is at the pond", "the pond is deep"], spaces), *WAYS
    ),
    "near_duplicates": lambda r: r.near_duplicates("the zebra is at the pond", Filter(), limit=20),
    "near_duplicate_pairs": lambda r: r.near_duplicate_pairs(Filter(), limit=20),
    "models": each(lambda r, spaces: r.models(Filter(namespaces=spaces)), *WAYS),
    "overdue": lambda r: r.overdue(START),
    "edges": each(
        lambda r, f: r.edges(f), ANY_EDGE, EdgeFilter(at=tuple(EVERY_ID)), EdgeFilter(ends=ANYTHING)
    ),
    "sessions": each(
        lambda r, f: r.sessions(f), ANY_SESSION, SessionFilter(ids=(1, 2)), SessionFilter(name="talk")
    ),
    "journal": lambda r: [list(r.journal()), list(r.journal(newest_first=True, limit=3))],
    "changes": lambda r: list(r.changes(BEGINNING)),
    "pending": lambda r: r.pending(limit=50),
    "backlog": lambda r: r.backlog(Filter()),
    "versions": lambda r: [sorted(r.versions(subject, list(range(1, 9)))) for subject in Subject],
    "aliases": lambda r: [
        r.aliases(wanted)
        for wanted in (
            AliasFilter(uids=(ALIAS, GONE)),
            AliasFilter(memory_ids=tuple(EVERY_ID)),
            AliasFilter(is_purged=True),
        )
    ],
    "companions": lambda r: [list(r.companions()), list(r.companions(EVERY_ID))],
    "tokens": lambda r: [r.tokens(), r.tokens(b"hash")],
    "setting": lambda r: r.setting("mirror"),
    "vectors": lambda r: r.vectors(EVERY_ID),
    "recalls": lambda r: r.recalls(limit=9),
}
INSENSITIVE = {"stems", "models", "size_bytes"}
"""Methods whose answers are the same with and without these secrets for any reader."""
SCORED = {"candidates"}
"""Methods whose scores in a transaction follow the word statistics of the whole store; no caller is shown them."""


def methods(protocol: type) -> list[str]:
    return [name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_")]


def plain(answer: object) -> object:
    """*answer* with arrays as lists, so that two can be compared; positions of two stores cannot be."""
    if isinstance(answer, Position):
        return answer.number
    if is_dataclass(answer) and not isinstance(answer, type):
        return {one.name: plain(getattr(answer, one.name)) for one in fields(answer)}
    if isinstance(answer, dict):
        return {key: plain(value) for key, value in answer.items()}
    if isinstance(answer, (list, tuple)):
        return [plain(one) for one in answer]
    return answer.tolist() if hasattr(answer, "tolist") else answer


def test_every_method_of_a_reader_is_asked_here():
    assert set(methods(Reader)) == set(CALLS), "a new method of Reader needs a line in CALLS"


@pytest.mark.parametrize("name", methods(Reader))
def test_an_answer_is_the_same_as_without_what_is_outside_the_scope(stores, name):
    full, bare = stores
    ask = CALLS[name]
    assert plain(ask(full.read(OPEN))) == plain(ask(bare.read(OPEN)))
    if name not in INSENSITIVE:
        assert plain(ask(full.read())) != plain(ask(bare.read())), "the question reaches the secrets"


@pytest.mark.parametrize("name", methods(Reader))
def test_a_writer_answers_no_more_than_a_reader(stores, name):
    def told(store):
        answer = store.change(OPEN, "look", "tester", START, lambda tx: plain(CALLS[name](tx)))
        return without_scores(answer) if name in SCORED else answer

    full, bare = stores
    assert told(full) == told(bare)


def without_scores(answer: object) -> object:
    if isinstance(answer, list):
        return [without_scores(one) for one in answer if not isinstance(one, float)]
    return sorted(answer) if isinstance(answer, dict) else answer


def test_the_size_of_the_file_is_not_shown(stores):
    full, _ = stores
    assert (full.read(OPEN).size_bytes(), full.read().size_bytes() > 0) == (0, True)


@pytest.mark.parametrize("protocol, scoped", [(Reader, ScopedReader), (Writer, ScopedWriter)])
def test_no_method_reaches_an_engine_unscoped(protocol, scoped):
    assert set(methods(protocol)) <= set(methods(scoped))


@pytest.mark.parametrize(
    "write",
    [
        lambda tx, theirs: tx.insert(a_draft("x", namespace="secret"), uid="a" * 32),
        lambda tx, theirs: tx.update(theirs, MemoryPatch(title="Mine")),
        lambda tx, theirs: tx.update(memory_numbered(tx, 1), MemoryPatch(namespace="secret")),
        lambda tx, theirs: tx.insert_edge(EdgeDraft(1, theirs.id, "knows")),
        lambda tx, theirs: tx.update_edge(edge_numbered(tx, 1), EdgePatch(target_id=theirs.id)),
        lambda tx, theirs: tx.update_session(session_numbered(tx, 1), SessionPatch(namespace="secret")),
        lambda tx, theirs: tx.insert_session(SessionDraft("secret")),
        lambda tx, theirs: tx.insert_session(SessionDraft("open", id=2)),
        lambda tx, theirs: tx.put_standard("secret", 1, None),
        lambda tx, theirs: tx.update(theirs, MemoryPatch(access_count=1)),
        lambda tx, theirs: tx.import_memory(theirs),
        lambda tx, theirs: tx.put_token(Token(name="x", grant=Grant(), created_at=START), b"x"),
        lambda tx, theirs: tx.delete_token("all"),
        lambda tx, theirs: tx.put_setting("mirror", "x"),
        lambda tx, theirs: tx.purge((), recalls=(1,)),
        lambda tx, theirs: tx.put_version(Subject.MEMORY, theirs.id, Version()),
        lambda tx, theirs: tx.put_alias(ALIAS, theirs.id),
        lambda tx, theirs: tx.journal_as(operation="x", actor="x", at=START),
    ],
)
def test_nothing_is_written_outside_the_scope(stores, write):
    full, _ = stores
    theirs, before = memory_numbered(full.read(), SECRET_IDS[0]), last_number(full)
    with pytest.raises(Denied):
        full.change(OPEN, "break out", "tester", START, lambda tx: write(tx, theirs))
    assert last_number(full) == before


def test_a_purge_passes_over_what_is_outside_the_scope(stores):
    full, _ = stores
    assert full.change(OPEN, "purge", "tester", START, lambda tx: tx.purge(SECRET_IDS)) == 0
    assert len(full.read().get(SECRET_IDS)) == len(SECRET_IDS)
