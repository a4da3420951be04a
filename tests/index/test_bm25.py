"""Words that are asked for again and again: what is kept in memory says what the index says, whatever changes."""

from __future__ import annotations

import random
import threading
import uuid
from collections import Counter

import pytest
from support import START, open_store, put, write

from mnemic.index import bm25, postings, warmup
from mnemic.index.warmup import THREAD, Warmup
from mnemic.model.candidates import Ask, Weights
from mnemic.model.change import USE
from mnemic.model.enums import State, Tier
from mnemic.model.filter import Filter, Order
from mnemic.model.memory import Draft, MemoryPatch
from mnemic.model.shapes import Merit
from mnemic.model.time import DAY, HOUR
from mnemic.storage import queries
from mnemic.storage.queries import each_memory, memory_numbered
from mnemic.storage.sqlite import fts, index_source

WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "iris", "jade"]
OTHERS = [*(f"other{number}" for number in range(38)), "read_amber", "\ue0001"]
SPACES = ("global", "work", "home")
KINDS = ("note", "fact", "event")
QUESTIONS = [
    (("amber",), Filter()),
    (("amber", "birch", "jade"), Filter()),
    (("cedar delta", "heron"), Filter()),
    (("amber", "fjord"), Filter(namespaces=("work",))),
    (("ember", "ember", "iris"), Filter(namespaces=("home", "global"), alive_at=START)),
    (("grove", "nowhere"), Filter(alive_at=START)),
    (("nowhere",), Filter()),
    (("read_amber", "read", "birch cedar"), Filter()),
    (("\ue0001", "amber"), Filter()),
    (("!?", "jade"), Filter(namespaces=("home",))),
    (("amber",), Filter(namespaces=("unknown",))),
    (("amber", "jade"), Filter(kinds=("note", "fact"), alive_at=START)),
    (("birch",), Filter(not_kinds=("note",), tags=("amber", "iris"), namespaces=("work", "home"))),
    (("cedar", "heron"), Filter(since=START - 5 * DAY, until=START - DAY, tier=Tier.MID)),
    (("delta",), Filter(min_priority=4, min_confidence=0.2, max_confidence=0.9)),
    (("ember",), Filter(ids=(*range(1, 500, 3), 10_000))),
    (("amber",), Filter(kinds=("unknown",))),
]
LISTED = [
    Filter(),
    Filter(namespaces=("work", "unknown"), alive_at=START),
    Filter(states=frozenset(State), alive_at=START, kinds=("note", "fact")),
    Filter(states=frozenset({State.FORGOTTEN, State.ARCHIVED}), since=START - 8 * DAY),
    Filter(without=(("note", "none"),), tags=("amber", "birch")),
    Filter(states=frozenset({State.FORGOTTEN}), without=(("note", "none"),)),
    Filter(states=frozenset()),
]
WEIGHTS = Weights(
    priority=0.5, use=0.1, most_uses=50, confidence=2.0, tiers={Tier.LONG: 3.0}, aging=0.1, now=START
)
TOLERATED = 1e-12
"""The same sums, in another order."""


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """What is read ahead is read at once."""
    monkeypatch.setattr(warmup, "FIRST_SECONDS", 0.0)


@pytest.fixture
def folder(engine, tmp_path):
    """A folder with a store of 400 memories."""
    store = open_store(engine, tmp_path)
    chance = random.Random(3)

    def work(tx):
        for _ in range(400):
            tx.insert(a_draft(chance), uid=str(uuid.uuid4()))

    write(store, work)
    store.close()
    return tmp_path


@pytest.fixture(params=["asked for", "read ahead"])
def store(engine, folder, request, monkeypatch):
    """The store, after it was asked so often that it keeps what it is asked for; or has read all there is."""
    if request.param == "asked for":
        monkeypatch.setattr(Warmup, "start", lambda self: None)
    opened = open_store(engine, folder)
    for _ in range(3):
        answers(opened)
    wait_until_read()
    yield opened
    opened.close()


def wait_until_read():
    """Wait until nobody reads ahead."""
    for thread in threading.enumerate():
        if thread.name == THREAD:
            thread.join()


def a_draft(chance):
    return Draft(
        namespace=chance.choice(SPACES),
        name=f"{chance.choice(WORDS)} {chance.random()}",
        kind=chance.choice(KINDS),
        texts=(some_words(chance) * chance.choices([1, 30, 600], weights=[200, 20, 1])[0],),
        summary=chance.choice([None, some_words(chance)]),
        tags=tuple(chance.sample(WORDS, chance.randint(0, 2))),
        priority=chance.randint(1, 10),
        confidence=chance.random(),
        tier=chance.choice(list(Tier)),
        created_at=START - chance.randint(0, 10) * DAY,
        expires_at=chance.choice([None, None, START - HOUR, START + HOUR]),
    )


def some_words(chance):
    return " ".join(chance.choices(WORDS + OTHERS, k=chance.randint(1, 12)))


def answers(store, limit=1_000):
    """Who holds any word of each question, and who holds every one."""
    return [
        dict(queries.best_words(store.read(), terms, wanted, every=every, limit=limit))
        for terms, wanted in QUESTIONS
        for every in (False, True)
    ]


def first_answers(engine, folder, limit=1_000):
    """What a store answers that was just opened: straight from its index."""
    told = []
    for terms, wanted in QUESTIONS:
        store = open_store(engine, folder)
        told += [
            dict(queries.best_words(store.read(), terms, wanted, every=every, limit=limit))
            for every in (False, True)
        ]
        store.close()
    return told


def agree(kept, index):
    assert [set(one) for one in kept] == [set(one) for one in index]
    for one, other in zip(kept, index, strict=True):
        assert one == {number: pytest.approx(score, rel=TOLERATED) for number, score in other.items()}


def test_what_is_kept_says_what_the_index_says(engine, folder, store):
    agree(answers(store), first_answers(engine, folder))


def test_the_best_are_the_same_in_the_same_order(engine, folder, store):
    for limit in (1, 7, 50):
        kept, index = answers(store, limit), first_answers(engine, folder, limit)
        assert [list(one) for one in kept] == [list(one) for one in index]


def shares(store, terms, wanted, memory_ids):
    """For each term, what it adds to the BM25 of these memories."""
    found = store.read().candidates(Ask(shares=tuple(terms), filter=wanted, ids=tuple(memory_ids)))
    return list(found.shares)


def test_what_each_word_adds_makes_the_whole(engine, folder, store):
    """Kept in memory or straight from the index; of the memories that are asked for alone."""
    for (terms, wanted), whole in zip(QUESTIONS, answers(store)[::2], strict=True):
        some = sorted(whole)[::2]
        kept = shares(store, terms, wanted, [*some, 10_000])
        fresh = open_store(engine, folder)
        agree(kept, shares(fresh, terms, wanted, [10_000, *reversed(some)]))
        fresh.close()
        sums = Counter()
        for held in kept:
            sums.update(held)
        assert sums == {number: pytest.approx(whole[number]) for number in some}
    assert shares(store, ["nowhere"], Filter(), [1]) == [{}]
    assert shares(store, ["alpha"], Filter(), []) == [{}]
    assert shares(store, [], Filter(), [1]) == []


def test_every_change_is_seen(engine, folder, store):
    chance = random.Random(11)
    for _ in range(30):
        change(store, chance)
        agree(answers(store), first_answers(engine, folder))


def change(store, chance):
    def work(tx):
        memory = chance.choice(list(each_memory(tx)))
        match chance.randrange(7):
            case 0:
                tx.insert(a_draft(chance), uid=str(uuid.uuid4()))
            case 1:
                tx.update(memory, MemoryPatch(texts=(some_words(chance),)))
            case 2:
                tx.update(
                    memory, MemoryPatch(state=chance.choice([State.LIVING, State.FORGOTTEN, State.ARCHIVED]))
                )
            case 3:
                tx.update(memory, MemoryPatch(namespace=chance.choice(SPACES)))
            case 4:
                tx.purge([memory.id])
            case 5:
                tx.update(memory, MemoryPatch(kind=chance.choice(KINDS), tags=tuple(chance.sample(WORDS, 2))))
            case 6:
                tx.update(memory, MemoryPatch(priority=chance.randint(1, 10), tier=chance.choice(list(Tier))))

    write(store, work)


def listings(ask):
    """What *ask* says of all rows: who comes first, how many there are."""
    told = [
        ask(lambda reader, w=wanted, o=order: reader.select(w, limit=30, order=o))
        for wanted in LISTED
        for order in Order
    ]
    told += [ask(lambda reader, w=wanted: reader.tally(w, "kind")) for wanted in LISTED]
    return told + [
        ask(lambda reader, s=spaces, b=by: reader.tally(Filter(namespaces=s, alive_at=START), b))
        for spaces in (None, ("work", "home"), ("unknown",))
        for by in ("state", "namespace", "kind", "tier")
    ]


def test_every_change_of_a_row_is_seen(engine, folder, store):
    def straight(question):
        fresh = open_store(engine, folder)
        try:
            return question(fresh.read())
        finally:
            fresh.close()

    chance = random.Random(19)
    for _ in range(12):
        change(store, chance)
        assert listings(lambda question: question(store.read())) == listings(straight)


def test_words_asked_for_before_there_are_any_are_found_later(fresh):
    store = fresh()
    for _ in range(5):
        assert queries.best_words(store.read(), ["amber"], Filter(), every=False, limit=9) == []
    for number in (1, 2):
        put(store, Draft(namespace="work", name=f"{number}", texts=("amber",), created_at=START))
        assert len(queries.best_words(store.read(), ["amber"], Filter(), every=False, limit=9)) == number


def test_another_process_is_heard(engine, folder, store):
    other = open_store(engine, folder)
    number = write(
        other,
        lambda tx: tx.insert(
            Draft(namespace="work", name="t", texts=("amber",), created_at=START), uid=str(uuid.uuid4())
        ),
    )
    other.close()

    assert all(number.id in answers(store)[::2][question] for question in (0, 1, 3))


def test_it_is_known_how_many_hold_a_word(engine, folder, store, monkeypatch):
    """By who holds it or, of a word that stands in very many places, by counting."""
    terms = ["amber", "cedar delta", "nowhere", "read_amber", "!?"]
    fresh = open_store(engine, folder)
    counted = queries.holders(fresh.read(), terms, None)
    fresh.close()

    assert queries.holders(store.read(), terms, None) == counted
    monkeypatch.setattr(bm25, "LONG", 20)
    write(
        store,
        lambda tx: tx.insert(
            Draft(namespace="work", name="t", texts=("amber",), created_at=START), uid=str(uuid.uuid4())
        ),
    )
    assert queries.holders(store.read(), terms, None) == counted | {"amber": counted["amber"] + 1}


@pytest.mark.parametrize(
    "limits", [(100, 500), (0, 500), (100, 3)], ids=["followed", "anew", "anew now and then"]
)
def test_it_is_all_the_same_whether_changes_are_followed(engine, folder, store, monkeypatch, limits):
    monkeypatch.setattr(postings, "FEW", limits[0])
    monkeypatch.setattr(postings, "MANY", limits[1])
    chance = random.Random(17)
    for several in (1, 4, 1, 2):
        for _ in range(several):
            change(store, chance)
        agree(answers(store), first_answers(engine, folder))


def test_the_last_of_several_changes_counts(engine, folder, store):
    """Even if nobody asked for the word in between, only for another."""
    for text in ("amber amber", "birch"):
        write(
            store,
            lambda tx: tx.update(
                memory_numbered(tx, 7),
                MemoryPatch(title="t", texts=(text,), tags=(), summary=None, state=State.LIVING),
            ),
        )
        queries.best_words(store.read(), ("jade",), Filter(), every=False, limit=5)
    assert 7 not in answers(store)[0]
    agree(answers(store), first_answers(engine, folder))


def test_a_word_longer_than_the_index_keeps_is_found(engine, folder, store):
    long = "x" * 40_000
    number = write(
        store,
        lambda tx: tx.insert(
            Draft(namespace="work", name="t", texts=(long,), created_at=START), uid=str(uuid.uuid4())
        ),
    )
    fresh = open_store(engine, folder)
    for opened in (store, fresh):
        assert list(dict(queries.best_words(opened.read(), (long,), Filter(), every=False, limit=5))) == [
            number.id
        ]
    fresh.close()


def test_a_use_is_no_change_of_words(engine, folder, store):
    def work(tx):
        for memory in list(each_memory(tx))[:50]:
            tx.update(memory, MemoryPatch(expires_at=START + DAY, tier=Tier.LONG))

    write(store, work, operation=USE)

    agree(answers(store)[:8], first_answers(engine, folder)[:8])


def test_little_is_kept_when_little_may_be(engine, folder, store, monkeypatch):
    monkeypatch.setattr(postings, "MOST_KEPT", 10)

    kept = answers(store)
    assert kept == answers(store)
    agree(kept, first_answers(engine, folder))


def test_many_threads_are_answered_alike_while_someone_writes(engine, folder, store):
    chance = random.Random(5)
    failures = []

    def ask():
        try:
            for _ in range(20):
                answers(store)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        change(store, chance)
    for thread in threads:
        thread.join()

    assert failures == []
    agree(answers(store), first_answers(engine, folder))


def test_what_counts_besides_the_words_is_weighed(engine, folder, store, monkeypatch):
    monkeypatch.setattr(fts, "WEIGHED", 1_000)

    def work(tx):
        for memory in list(each_memory(tx))[:100:7]:
            tx.update(memory, MemoryPatch(priority=10, tier=Tier.LONG))
        tx.count_use([memory.id for memory in list(each_memory(tx))[:40]], START)

    write(store, work)
    fresh = open_store(engine, folder)

    for terms, wanted in QUESTIONS:
        kept = weighed(store, terms, wanted)
        assert kept == [pytest.approx(one, rel=TOLERATED) for one in weighed(fresh, terms, wanted)]
    fresh.close()


def test_a_store_that_grows_is_weighed_whole(engine, folder, store):
    asked = ("jade",), Filter(namespaces=("work",))
    weighed(store, *asked)
    chance = random.Random(13)

    def work(tx):
        for _ in range(1_500):
            tx.insert(a_draft(chance), uid=str(uuid.uuid4()))

    write(store, work)
    fresh = open_store(engine, folder)

    assert weighed(store, *asked) == pytest.approx(weighed(fresh, *asked))
    fresh.close()


def weighed(store, terms, wanted):
    """The twenty best, all factors summed up as they stand in the database.

    Of twice as many, as whoever asks does: uses are not heard of at once.
    """
    reader = store.read()
    found = reader.candidates(Ask(terms=terms, filter=wanted, weights=WEIGHTS, depth=40)).rows
    scores = [
        found[one.id].bm25
        + 0.5 * one.priority
        + 0.1 * one.access_count
        + 2.0 * one.confidence
        + WEIGHTS.tiers.get(one.tier, 0.0)
        + 1 / (1 + 0.1 * max(0, START - one.updated_at) / DAY)
        for one in reader.look(list(found), Merit)
    ]
    return sorted(scores, reverse=True)[:20]


def test_what_was_read_ahead_is_not_asked_of_the_index(store, request, monkeypatch):
    """But for what was not: those who hold all words are then found by the index alone."""
    asked = []
    search = fts.search
    monkeypatch.setattr(
        fts, "search", lambda *terms, **more: asked.append(terms[1]) or search(*terms, **more)
    )
    for terms in (("cedar", "heron"), ("other5", "other6"), ("nowhere", "amber")):
        queries.best_words(store.read(), terms, Filter(), every=True, limit=5)

    is_read_ahead = "read ahead" in request.node.name
    assert ([("other5",), ("other6",)] in asked) is not is_read_ahead


@pytest.mark.parametrize("few", [100, 1], ids=["followed", "forgotten again and again"])
def test_what_changes_while_it_is_read_ahead_is_seen(engine, folder, monkeypatch, few):
    """Also of words that nobody asks for until then."""
    monkeypatch.setattr(warmup, "PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(index_source, "AT_ONCE", 50)
    monkeypatch.setattr(postings, "FEW", few)
    store = open_store(engine, folder)
    chance = random.Random(29)
    for number in range(60):
        for _ in range(1 + number % 2):
            change(store, chance)
        queries.best_words(store.read(), ("jade",), Filter(), every=True, limit=5)
    wait_until_read()
    change(store, chance)
    agree(answers(store), first_answers(engine, folder))
    store.close()


def test_a_store_can_be_closed_while_it_is_read_ahead(engine, folder, monkeypatch):
    monkeypatch.setattr(index_source, "AT_ONCE", 1)
    store = open_store(engine, folder)
    answers(store)
    store.close()
    assert not any(thread.name == THREAD for thread in threading.enumerate())
