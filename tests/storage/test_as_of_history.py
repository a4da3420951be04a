"""Whatever happens to a store, each of its past moments reads as one worked out anew from rows and journal."""

from __future__ import annotations

import tempfile
from dataclasses import replace

from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from rebuilt_past import RebuiltStore
from story import WORDS, Story
from support import START, embedding, faults, last_number, store_after

from mnemic.model.candidates import Ask
from mnemic.model.filter import ALL_STATES, ANY_EDGE, EdgeFilter, Filter, Order
from mnemic.model.shapes import Content
from mnemic.storage import queries
from mnemic.storage.queries import count, each_memory, ids_titled

FILTERS = (
    Filter(),
    Filter(namespaces=("town", "global")),
    Filter(tags=("bird",)),
    Filter(kinds=("animal",)),
    Filter(min_priority=5, alive_at=START + 10),
)


def plain(memory):
    """*memory* without its use, which is not part of the journal."""
    return replace(memory, access_count=0, accessed_at=None, days_used=0)


def told(store, embedder):
    """What every kind of question answers."""
    reader = store.read()
    every = [plain(memory) for memory in each_memory(reader)]
    numbers = [memory.id for memory in every]
    vector = embedding(embedder, "heron pond roof")
    return {
        "memories": every,
        "edges": reader.edges(ANY_EDGE),
        "at": [reader.edges(EdgeFilter(at=(number,))) for number in numbers],
        "sessions": reader.sessions(),
        "count": count(reader),
        "states": reader.tally(Filter(states=ALL_STATES), "state"),
        "types": reader.tally(EdgeFilter(ends=Filter()), "type"),
        "contents": [memory.content for memory in every],
        "looked": reader.look(Filter(), Content),
        "titled": {word: ids_titled(reader, word, None) for word in WORDS},
        "frequencies": queries.holders(reader, list(WORDS), None),
        "same": reader.same_texts(WORDS, None),
        "holding": reader.search_substring("ero", Filter()),
        "traits": reader.candidates(Ask(ids=tuple(numbers), has_traits=True)).rows,
        "neighbours": queries.neighbours_in_session(reader, numbers),
        "openings": openings(reader, every, vector),
        "similar": queries.similarities(reader, vector, numbers),
        "pending": sorted(item.statement_id for item in reader.pending(limit=100)),
        "backlog": reader.backlog(Filter()),
        "filtered": [asked(reader, wanted, vector) for wanted in FILTERS],
    }


def openings(reader, every, vector):
    """Of memories of one statement: of several that are equally near, any may be the best."""
    numbers = tuple(memory.id for memory in every if len(memory.statements) == 1)
    found = reader.candidates(Ask(ids=numbers, text=vector, opening=3)).rows
    return {number: one.opening for number, one in found.items()}


def asked(reader, wanted, vector):
    """Who passes, who holds words, who is near."""
    return {
        "selected": [
            reader.select(wanted, limit=100, order=order) for order in (Order.PRIORITY, Order.NEWEST)
        ],
        "tally": reader.tally(wanted, "kind"),
        "any": {
            number
            for number, _ in queries.best_words(reader, list(WORDS[:3]), wanted, every=False, limit=100)
        },
        "every": {
            number for number, _ in queries.best_words(reader, list(WORDS[:2]), wanted, every=True, limit=100)
        },
        "near": {near.memory_id: near.cosine for near in queries.nearest(reader, vector, wanted, limit=100)},
    }


@settings(max_examples=10, phases=[Phase.generate])
@given(st.integers(0, 2**32))
def test_every_past_moment_reads_as_one_worked_out_from_rows_and_journal(seed):
    with tempfile.TemporaryDirectory() as folder:
        story = Story(folder, seed)
        store = story.store
        for step in range(60):
            story.go_on()
            if step % 6 == 5:
                compare(store, story.embedder, story.chance.randint(0, last_number(store)))
        assert faults(store) == []
        store.close()


def compare(store, embedder, sequence):
    """`at` and the brute force must agree on everything."""
    then, expected = (
        told(one, embedder) for one in (store_after(store, sequence), RebuiltStore(store, sequence))
    )
    assert then.keys() == expected.keys()
    for name, value in expected.items():
        assert then[name] == value, f"{name} as of {sequence}"
