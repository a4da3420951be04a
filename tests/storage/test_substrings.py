"""Stretches of characters are found wherever they stand, whatever has been done to the memories before."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.core.context import Context
from mnemic.core.history import undo
from mnemic.core.memories import Note, Revision, forget, remember, restore, revise
from mnemic.model.search import Filter
from mnemic.model.values import State
from support import START, Clock, Uids, a_draft, change, open_store, put

MANY = 400
"""More memories than an engine looks through rather than index them."""
ALL = Filter(states=frozenset(State))
PIECES = (
    "Heron",
    "her",
    "on",
    "ÜBER",
    "über",
    "東京",
    "都",
    "İ",
    "ΟΔΟΣ",
    "σ",
    '"',
    "%",
    "_",
    " ",
    "\n",
    "\0",
    "x",
)
texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join).filter(str.strip)


def naive(store, needle, wanted=ALL):
    """What holds *needle*, by looking at each."""
    states, sought = wanted.states, needle.lower()
    return [
        memory.id
        for memory in store.read().all_memories()
        if memory.state in states
        and any(
            sought in text.lower()
            for text in (memory.title, memory.kind, *(s.text for s in memory.statements))
        )
    ]


def found(store, needle, **wanted):
    return store.read().ids_containing(needle, Filter(**wanted))


def filler(store, size=MANY):
    """So many memories that are nobody's concern."""
    return put(store, *(a_draft(f"filler {number} of no concern") for number in range(size)))


@pytest.fixture(params=[0, MANY], ids=["few", "many"])
def peopled(request, store):
    """A store of which little or much is known already, and which has been asked before."""
    filler(store, request.param)
    store.read().ids_containing("concern", Filter())
    return store


def test_titles_kinds_and_each_statement_are_looked_at(peopled):
    title, kind, body = put(
        peopled,
        a_draft("one", title="The Grey Heron"),
        a_draft("two", kind="HeronKind"),
        a_draft("three", texts=("first her", "on the second", "a hErOn")),
    )
    assert found(peopled, "heron") == found(peopled, "HERON") == [title.id, kind.id, body.id]
    assert found(peopled, "her\non") == [], "statements are not joined"
    assert found(peopled, "y hero") == [title.id]


@pytest.mark.parametrize(
    "text, needle",
    [
        ("私は東京都に住む", "京"),
        ("私は東京都に住む", "東京"),
        ("Müller", "ÜLL"),
        ("STRASSE", "strasse"),
        ("ΟΔΟΣ", "ΟΔΟΣ"),
        ("İzmir", "i̇z"),
        ("100% \"sure\" _now_ 'x' *", '% "S'),
        ("a\0b", "a\0B"),
        ("ab", "b"),
        ("🦊 fox", "🦊"),
        ("NEAR(a b)", "near("),
    ],
)
def test_any_character_is_found_whatever_its_case(peopled, text, needle):
    [memory] = put(peopled, a_draft(text))
    assert found(peopled, needle) == [memory.id]
    filler_again = put(peopled, *(a_draft(f"later {number}", namespace="later") for number in range(MANY)))
    assert found(peopled, needle, namespaces=("global",)) == [memory.id] and filler_again


def test_what_is_no_text_is_in_none(peopled):
    put(peopled, a_draft("a text"))
    assert found(peopled, "\ud800\ud800") == found(peopled, "no such thing") == found(peopled, "a\0t") == []


def test_they_come_by_number_in_pages(peopled):
    filled = len(list(peopled.read().all_memories()))
    herons = [memory.id for memory in put(peopled, *(a_draft(f"heron {number}") for number in range(30)))]
    reader = peopled.read()
    for needle, all_of_them in (
        ("heron", herons),
        ("", list(range(1, filled + 31))),
        ("n", naive(peopled, "n")),
    ):
        walked, after = [], 0
        while page := reader.ids_containing(needle, Filter(), after=after, limit=7):
            assert len(page) <= 7
            walked += page
            after = page[-1]
        assert walked == all_of_them == reader.ids_containing(needle, Filter())
    assert reader.ids_containing("heron", Filter(), limit=0) == []


def test_a_filter_works_inside(peopled):
    note, fact, there = put(
        peopled,
        a_draft("heron"),
        a_draft("heron 2", kind="fact", metadata={"about": 1}),
        a_draft("heron", namespace="there"),
    )
    assert found(peopled, "heron", namespaces=("there",)) == [there.id]
    assert found(peopled, "heron", without=(("fact", "about"),)) == [note.id, there.id]
    assert len(found(peopled, "heron", without=(("fact", "other"), ("note", "about")))) == 3
    change(peopled, fact, state=State.FORGOTTEN)
    assert found(peopled, "heron") == [note.id, there.id]
    assert found(peopled, "heron", states=frozenset({State.FORGOTTEN})) == [fact.id]


def test_a_transaction_a_snapshot_and_the_past_see_their_own(peopled):
    [memory] = put(peopled, a_draft("heron"))
    then = peopled.sequence()
    with peopled.snapshot() as before, peopled.write(operation="x", actor="x", at=START) as tx:
        assert before.ids_containing("heron", Filter()) == [memory.id]
        tx.change(memory, title="crane", texts=("crane",))
        assert tx.ids_containing("heron", Filter()) == [] and tx.ids_containing("crane", Filter()) == [
            memory.id
        ]
        assert found(peopled, "heron") == [memory.id], "nothing is committed yet"
    put(peopled, *(a_draft(f"later {number}") for number in range(MANY)))
    assert found(peopled, "heron") == [] and found(peopled, "crane") == [memory.id]
    assert found(peopled.at(then), "heron") == [memory.id] and found(peopled.at(then), "crane") == []
    assert peopled.check() == []


def test_a_memory_without_a_name_and_a_type_is_no_fault(store):
    put(store, a_draft("", title="", kind=""))
    filler(store)
    assert len(found(store, "concern")) == MANY and store.check() == []


def test_what_is_purged_is_not_found_nor_kept(fresh):
    store, other = fresh(), fresh()
    gone, *_ = put(store, a_draft("heron", title="Zxqv")), *filler(store)
    assert found(store, "heron") == found(other, "heron") == [gone[0].id]
    with store.write(operation="purge", actor="x", at=START) as tx:
        tx.purge([gone[0].id])
    assert found(store, "heron") == found(other, "zxqv") == [] and store.check() == []


class Story:
    """A store with many memories, of which some are changed again and again between searches."""

    def __init__(self, engine, folder):
        self.store, self.numbers = open_store(engine, folder), count()
        self.ctx = Context(store=self.store, embedder=None, now=Clock(), new_uid=Uids(), actor="x")
        filler(self.store)
        remember(self.ctx, [Note(text=f"{piece} here", title=f"t{n}") for n, piece in enumerate(PIECES[:10])])

    def act(self, action, pick, text):
        """One change to one memory."""
        memory = self.store.read().memory(MANY + 1 + pick)
        if action == "add":
            self.add(text)
        elif action == "purge" or memory is None:
            with self.store.write(operation="purge", actor="x", at=START) as tx:
                tx.purge([MANY + 1 + pick])
        elif memory.state is not State.LIVING:
            restore(self.ctx, [memory.id])
        elif action == "forget":
            forget(self.ctx, [memory.id])
        elif action == "undo":
            newest = next(iter(self.store.read().journal(subject_ids=[memory.id], newest_first=True)))
            if newest.before is not None:
                undo(self.ctx, newest.batch)
        else:
            revise(self.ctx, memory.id, Revision(text=text, append=text[::-1].strip() or "x"))

    def add(self, text):
        title = f"{text.strip()[:20]} {next(self.numbers)}"
        with self.store.write(operation="remember", actor="x", at=START) as tx:
            tx.add(a_draft(text, title=title), uid=str(uuid.uuid4()))


@pytest.fixture(scope="module")
def story(engine, tmp_path_factory):
    story = Story(engine, tmp_path_factory.mktemp("story"))
    yield story
    assert story.store.check() == []
    story.store.close()


@settings(max_examples=120)
@given(
    acts=st.lists(
        st.tuples(
            st.sampled_from(["add", "add", "revise", "revise", "forget", "restore", "undo", "purge"]),
            st.integers(0, 40),
            texts,
        ),
        max_size=8,
    ),
    needle=st.sampled_from(PIECES) | texts,
    wanted=st.sampled_from([ALL, Filter()]),
)
def test_whatever_is_done_what_holds_is_found(story, acts, needle, wanted):
    for act in acts:
        story.act(*act)
    assert story.store.read().ids_containing(needle, wanted) == naive(story.store, needle, wanted)


def test_a_search_does_not_wait_for_whoever_writes(store, engine, tmp_path):
    put(store, *(a_draft(f"heron {number}") for number in range(MANY)))
    with (
        closing(open_store(engine, tmp_path)) as other,
        ThreadPoolExecutor() as pool,
        other.write(operation="test", actor="test", at=START),
    ):
        assert len(pool.submit(found, store, "heron").result(60)) == MANY
