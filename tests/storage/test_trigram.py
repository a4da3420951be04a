"""Stretches of characters are found wherever they stand, whatever has been done to the memories before."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import Clock, Uids, a_draft, change, faults, last_number, open_store, put, store_after, write

from mnemic.core.context import Context
from mnemic.core.history import undo
from mnemic.core.memories import Note, Revision, forget, remember, restore, revise
from mnemic.model.enums import State
from mnemic.model.filter import ChangeFilter, Filter
from mnemic.model.memory import MemoryPatch
from mnemic.storage.queries import each_memory, memory_numbered

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
    "x",
)
texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join).filter(str.strip)


def naive(store, needle, wanted=ALL):
    """What holds *needle*, by looking at each."""
    states, sought = wanted.states, needle.lower()
    return [
        memory.id
        for memory in each_memory(store.read())
        if memory.state in states
        and any(
            sought in text.lower()
            for text in (memory.title, memory.kind, *(s.text for s in memory.statements))
        )
    ]


def found(store, needle, **wanted):
    return store.read().search_substring(needle, Filter(**wanted))


def filler(store, size=MANY):
    """So many memories that are nobody's concern."""
    return put(store, *(a_draft(f"filler {number} of no concern") for number in range(size)))


@pytest.fixture(params=[0, MANY], ids=["few", "many"])
def peopled(request, store):
    """A store of which little or much is known already, and which has been asked before."""
    filler(store, request.param)
    store.read().search_substring("concern", Filter())
    return store


def test_titles_kinds_and_each_statement_are_looked_at(peopled):
    title, kind, body = put(
        peopled,
        a_draft("one", name="The Grey Heron"),
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
    filled = len(list(each_memory(peopled.read())))
    herons = [memory.id for memory in put(peopled, *(a_draft(f"heron {number}") for number in range(30)))]
    reader = peopled.read()
    for needle, all_of_them in (
        ("heron", herons),
        ("", list(range(1, filled + 31))),
        ("n", naive(peopled, "n")),
    ):
        walked, after = [], 0
        while page := reader.search_substring(needle, Filter(), after=after, limit=7):
            assert len(page) <= 7
            walked += page
            after = page[-1]
        assert walked == all_of_them == reader.search_substring(needle, Filter())
    assert reader.search_substring("heron", Filter(), limit=0) == []


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
    then = last_number(peopled)

    def work(tx):
        assert before.search_substring("heron", Filter()) == [memory.id]
        tx.update(memory, MemoryPatch(title="crane", texts=("crane",)))
        assert tx.search_substring("heron", Filter()) == [] and tx.search_substring("crane", Filter()) == [
            memory.id
        ]
        assert found(peopled, "heron") == [memory.id], "nothing is committed yet"

    with peopled.snapshot() as before:
        write(peopled, work)
    put(peopled, *(a_draft(f"later {number}") for number in range(MANY)))
    assert found(peopled, "heron") == [] and found(peopled, "crane") == [memory.id]
    assert (
        found(store_after(peopled, then), "heron") == [memory.id]
        and found(store_after(peopled, then), "crane") == []
    )
    assert faults(peopled) == []


def test_a_memory_without_a_name_and_a_type_is_no_fault(store):
    put(store, a_draft("", name="", kind=""))
    filler(store)
    assert len(found(store, "concern")) == MANY and faults(store) == []


def test_what_is_purged_is_not_found_nor_kept(fresh):
    store, other = fresh(), fresh()
    gone, *_ = put(store, a_draft("heron", name="Zxqv")), *filler(store)
    assert found(store, "heron") == found(other, "heron") == [gone[0].id]
    write(store, lambda tx: tx.purge([gone[0].id]), operation="purge")
    assert found(store, "heron") == found(other, "zxqv") == [] and faults(store) == []


class Story:
    """A store with many memories, of which some are changed again and again between searches."""

    def __init__(self, engine, folder):
        self.store, self.numbers = open_store(engine, folder), count()
        self.ctx = Context(store=self.store, embedder=None, now=Clock(), new_uid=Uids(), actor="x")
        filler(self.store)
        remember(self.ctx, [Note(text=f"{piece} here", name=f"t{n}") for n, piece in enumerate(PIECES[:10])])

    def act(self, action, pick, text):
        """One change to one memory."""
        memory = memory_numbered(self.store.read(), MANY + 1 + pick)
        if action == "add":
            self.add(text)
        elif action == "purge" or memory is None:
            write(self.store, lambda tx: tx.purge([MANY + 1 + pick]), operation="purge")
        elif memory.state is not State.LIVING:
            restore(self.ctx, [memory.id])
        elif action == "forget":
            forget(self.ctx, [memory.id])
        elif action == "undo":
            newest = next(
                iter(self.store.read().journal(ChangeFilter(subject_ids=(memory.id,)), newest_first=True))
            )
            if newest.before is not None:
                undo(self.ctx, newest.batch)
        else:
            revise(self.ctx, memory.id, Revision(text=text, append=text[::-1].strip() or "x"))

    def add(self, text):
        title = f"{text.strip()[:20]} {next(self.numbers)}"
        write(
            self.store,
            lambda tx: tx.insert(a_draft(text, name=title), uid=str(uuid.uuid4())),
            operation="remember",
        )


@pytest.fixture(scope="module")
def story(engine, tmp_path_factory):
    story = Story(engine, tmp_path_factory.mktemp("story"))
    yield story
    assert faults(story.store) == []
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
    assert story.store.read().search_substring(needle, wanted) == naive(story.store, needle, wanted)


def test_a_search_does_not_wait_for_writers(store, engine, tmp_path):
    put(store, *(a_draft(f"heron {number}") for number in range(MANY)))

    def work(tx):
        assert len(pool.submit(found, store, "heron").result(60)) == MANY

    with closing(open_store(engine, tmp_path)) as other, ThreadPoolExecutor() as pool:
        write(other, work, operation="test", actor="test")
