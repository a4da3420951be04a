"""Every read can be asked as the store stood at a moment."""

from __future__ import annotations

import pytest
from support import START, a_query, kept, number_at

from mnemic.core import sessions
from mnemic.core.embedding_queue import embed_pending
from mnemic.core.expiry import expire
from mnemic.core.graph import end_link, link
from mnemic.core.history import as_of
from mnemic.core.memories import Fate, Note, Revision, find, forget, open_all, remember, revise, supersede
from mnemic.core.recall import recall
from mnemic.core.stats import overview
from mnemic.core.traversal import explore, path
from mnemic.core.trust.verify import verify
from mnemic.errors import Denied, NotFound
from mnemic.model.time import DAY, HOUR


def recalled(ctx, text):
    return [hit.memory.content for hit in recall(ctx, a_query(text, now=ctx.now())).hits]


@pytest.fixture
def moments(ctx, clock):
    """A story of three days; the moment at the end of each."""
    kept(ctx, "The heron stands in the pond", name="Heron")
    kept(ctx, "The fox sleeps under the hedge", name="Fox", ttl=DAY)
    link(ctx, "Heron", "Fox", "watches")
    embed_pending(ctx, 100)
    first = clock.advance(hours=12)
    clock.advance(hours=12)
    expire(ctx)
    revise(ctx, "Heron", Revision(text="The heron sits on the roof", tags=("bird",), namespace="town"))
    embed_pending(ctx, 100)
    second = clock.advance(hours=12)
    clock.advance(hours=12)
    supersede(ctx, find(ctx, "Heron", "town").id, "The heron has flown south", "winter")
    embed_pending(ctx, 100)
    third = clock.advance(hours=1)
    return first, second, third


def test_recall_answers_from_the_moment(ctx, moments):
    first, second, third = (as_of(ctx, moment) for moment in moments)
    assert recalled(first, "heron pond") == ["The heron stands in the pond"]
    assert recalled(first, "fox hedge")[0] == "The fox sleeps under the hedge"
    assert recalled(second, "heron") == ["The heron sits on the roof"]
    assert recalled(second, "fox hedge pond") == []
    assert recalled(third, "heron") == recalled(ctx, "heron") == ["The heron has flown south"]
    assert recalled(as_of(ctx, START - 1), "heron") == []


def test_recall_in_the_past_uses_its_vectors_and_leaves_no_trace(ctx, moments):
    past = as_of(ctx, moments[0])
    [hit] = recall(past, a_query("heron pond", now=past.now())).hits
    assert hit.statement_id == hit.memory.statements[0].id
    assert find(ctx, 1).access_count == 0


def test_moments_asked_in_turn_keep_their_texts_and_vectors(ctx, clock):
    memory = kept(ctx, "The heron stands in the pond")
    stood = {}
    for text in ("The heron stands", "The heron sits", "The heron sleeps"):
        revise(ctx, memory.id, Revision(text=text))
        embed_pending(ctx, 100)
        stood[clock()] = text
        clock.advance(hours=1)
        for moment in [*stood, *reversed(stood)]:
            past = as_of(ctx, moment)
            [hit] = recall(past, a_query("heron", now=moment)).hits
            assert hit.memory.content == stood[moment]
            assert hit.statement_id == hit.memory.statements[0].id
            assert list(past.read().vectors([memory.id])) == [hit.statement_id]
    forget(ctx, [memory.id], fate=Fate.PURGED)
    assert all(recalled(as_of(ctx, moment), "heron") == [] for moment in stood)


def test_recall_in_the_past_says_what_had_no_vector(ctx, clock):
    memory = kept(ctx, "The heron stands in the pond")
    then = clock()
    clock.advance(hours=1)
    revise(ctx, memory.id, Revision(text="The heron sits on the roof"))
    past = as_of(ctx, then)
    found = recall(past, a_query("heron pond", now=then))
    assert [hit.memory.content for hit in found.hits] == ["The heron stands in the pond"]
    assert found.pending == 1


def test_open_reads_what_it_said_then(ctx, moments):
    first, second, _ = (as_of(ctx, moment) for moment in moments)
    [(memory, links)] = open_all(first, ["Heron"]).memories
    assert (memory.content, memory.tags, memory.namespace) == ("The heron stands in the pond", (), "global")
    assert [edge.type for edge in links] == ["watches"]
    [(memory, links)] = open_all(second, [1]).memories
    assert (memory.content, memory.tags, memory.namespace) == (
        "The heron sits on the roof",
        ("bird",),
        "town",
    )
    assert links == [], "the fox has left"
    with pytest.raises(NotFound):
        find(as_of(ctx, START - 1), 1)


def test_explore_walks_the_links_there_were(ctx, clock, moments):
    clock.advance(hours=1)
    end_link(ctx, 1, 2, "watches")
    assert len(explore(as_of(ctx, moments[0]), 1).memories) == 2
    assert len(path(as_of(ctx, moments[0]), 1, 2).edges) == 1
    assert len(explore(as_of(ctx, moments[1]), 1).memories) == 1
    assert len(explore(ctx, 1).memories) == 2, "the memory that superseded it"


def test_verify_checks_against_what_was_known(ctx, moments):
    first, second, third = (as_of(ctx, moment) for moment in moments)
    claim = "The heron stands in the pond"
    assert verify(first, claim).status == "verified"
    assert verify(second, claim).status == "partial"
    verdict = verify(third, "The heron sits on the roof")
    assert verdict.status == "contradicted"
    assert [item.is_outdated for item in verdict.evidence[:2]] == [False, True]
    assert verify(second, "The heron sits on the roof").status == "verified"


def test_stats_count_what_there_was(ctx, moments):
    first, second, third = (overview(as_of(ctx, moment)) for moment in moments)
    assert (first.total, second.total, third.total) == (2, 1, 1)
    assert first.by_namespace == {"global": 2} and second.by_namespace == {"town": 1}
    assert first.by_state == {"living": 2} and second.by_state == {"living": 1, "archived": 1}
    assert third.by_state == {"living": 1, "archived": 1, "superseded": 1}
    assert first.changes == number_at(ctx.store, moments[0]) < third.changes


def test_sessions_are_taken_up_as_they_stood(ctx, clock):
    first = sessions.start(ctx, topic="herons", metadata={"mood": "calm"}).session
    kept(ctx, "The heron stands in the pond")
    then = clock.advance(hours=1)
    clock.advance(hours=1)
    sessions.end(ctx, first.id, summary="All seen")
    later = clock.advance(hours=1)
    clock.advance(hours=1)
    second = sessions.start(ctx, topic="foxes").session
    past = as_of(ctx, then)
    resumed = sessions.resume(past)
    assert (resumed.current, resumed.previous, resumed.last_episode) == (None, first, None)
    assert past.store.read().sessions() == [first]
    ended = sessions.resume(as_of(ctx, later)).previous
    assert (ended.id, ended.summary, ended.ended_at) == (first.id, "All seen", later - HOUR)
    assert as_of(ctx, START - 1).store.read().sessions() == []
    assert sessions.current(ctx) == second.id, "to look back ends nothing"


def test_the_past_takes_no_writes(ctx, moments):
    past = as_of(ctx, moments[0])
    for attempt in (
        lambda: remember(past, [Note(text="new")]),
        lambda: revise(past, 1, Revision(text="new")),
        lambda: forget(past, [1]),
        lambda: link(past, 1, 2, "knows"),
    ):
        with pytest.raises(Denied, match="past"):
            attempt()


def test_what_expires_is_a_matter_of_that_moment(ctx, clock):
    kept(ctx, "The fox sleeps", ttl=HOUR)
    clock.advance(hours=2)
    assert recalled(ctx, "fox") == []
    assert recalled(as_of(ctx, START + HOUR // 2), "fox") == ["The fox sleeps"]
    assert recalled(as_of(ctx, START + HOUR), "fox") == []
