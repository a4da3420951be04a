"""The recall log: what was asked and what came of it, in analytics and sessions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import kept

from mnemic.core import session_contents, sessions
from mnemic.core.analytics import analyse
from mnemic.core.history import as_of
from mnemic.core.memories import Fate, Note, forget, remember
from mnemic.core.recall import recall
from mnemic.core.reflections import Reflection, add
from mnemic.core.retention import settle
from mnemic.core.usage import Uses
from mnemic.errors import NotFound
from mnemic.model.access import Grant
from mnemic.model.filter import Filter, Query
from mnemic.model.retention import Lives


def ask(ctx, text, **wanted):
    return recall(ctx, Query(text=text, now=ctx.now(), filter=Filter(**wanted)))


def log(ctx):
    return ctx.read().recalls(limit=100)


def test_a_recall_is_logged_with_what_came_of_it(ctx):
    tea = kept(ctx, "Tea is served at four in the kitchen")
    ask(ctx.on_behalf_of("codex"), "when is tea served in the kitchen?")
    ask(ctx, "zebra migration", namespaces=("nowhere",))
    found, empty = log(ctx)
    assert (found.actor, found.hits, found.memory_ids) == ("codex", 1, (tea.id,))
    assert found.relevance is not None and found.tokens > 0 and found.milliseconds >= 0
    assert (empty.query, empty.hits, empty.relevance) == ("zebra migration", 0, None)
    assert empty.namespaces == ("nowhere",)


def test_it_waits_with_the_uses_of_a_daemon(ctx):
    daemon = replace(ctx, uses=Uses())
    ask(daemon, "anything")
    assert log(ctx) == []
    settle(daemon)
    assert len(log(ctx)) == 1


def test_it_can_be_turned_off(ctx):
    ask(replace(ctx, lives=Lives(recall_log=None)), "anything")
    assert log(ctx) == []


def test_what_is_old_is_dropped(ctx, clock):
    ask(ctx, "long ago")
    clock.advance(days=91)
    ask(ctx, "today")
    assert [entry.query for entry in log(ctx)] == ["today"]


def test_a_look_at_the_past_and_a_caller_who_may_not_write_leave_no_trace(ctx, clock):
    kept(ctx, "Tea is at four")
    clock.advance(seconds=1)
    ask(as_of(ctx, clock.moment), "tea")
    ask(ctx.limited_to(Grant(None, can_write=False)), "tea")
    assert log(ctx) == []


def test_analytics_of_the_past_know_nothing_of_later(ctx, clock):
    kept(ctx, "Tea is served at four in the kitchen")
    ask(ctx, "when is tea served?")
    clock.advance(minutes=1)
    then = as_of(ctx, clock.moment)
    clock.advance(minutes=1)
    kept(ctx, "Coffee is served at five", kind="fact")
    ask(ctx, "who feeds the zebra?")
    found = analyse(then, None, 0)
    assert (sum(found.stored_by_day.values()), dict(found.by_kind)) == (1, {"note": 1})
    assert (found.recalls.count, [one.query for one in found.recalls.frequent]) == (
        1,
        ["when is tea served?"],
    )
    assert [memory.title for memory in found.most_used] == ["Tea is served at four in the kitchen"]
    assert analyse(ctx, None, 0).recalls.count == 2


def test_a_limited_caller_sees_what_was_asked_of_its_namespaces(ctx):
    ask(ctx, "everything")
    ask(ctx, "ours", namespaces=("ours",))
    ask(ctx, "both", namespaces=("ours", "theirs"))
    limited = ctx.limited_to(Grant(("ours",)))
    assert [entry.query for entry in log(limited)] == ["ours"]


def test_purging_a_memory_drops_the_recalls_that_found_it(ctx):
    tea = kept(ctx, "Tea is served at four in the kitchen")
    ask(ctx, "tea in the kitchen")
    ask(ctx, "nothing of the kind", namespaces=("nowhere",))
    forget(ctx, [tea.id], fate=Fate.PURGED)
    assert [entry.query for entry in log(ctx)] == ["nothing of the kind"]


def test_analytics_tell_what_was_asked_in_vain(ctx, clock):
    kept(ctx, "Tea is served at four in the kitchen", tags=("tea",))
    for _ in range(2):
        ask(ctx, "Who  feeds the zebra?", namespaces=("nowhere",))
    ask(ctx, "who feeds the zebra?", namespaces=("nowhere",))
    ask(ctx, "when is tea served in the kitchen?")
    found = analyse(ctx, None, clock.moment - 1)
    assert (found.recalls.count, found.recalls.empty) == (4, 3)
    (vain,) = found.recalls.unanswered
    assert (vain.query, vain.times, vain.actor) == ("who feeds the zebra?", 3, "tester")
    assert found.recalls.frequent[0].times == 3
    assert found.stored_by_day == {"2027-01-15": 1}
    assert (found.by_tag, found.most_used[0].access_count) == ({"tea": 1}, 1)
    assert [day.empty for day in found.recalls.by_day] == [3]
    assert found.recalls.p50 is not None and found.recalls.p95 >= found.recalls.p50


def test_analytics_without_a_recall(ctx, clock):
    found = analyse(ctx, None, clock.moment)
    assert (found.recalls.count, found.recalls.p50, found.most_used) == (0, None, ())


def test_a_session_knows_what_was_said_stored_and_recalled_in_it(ctx, clock):
    tea = kept(ctx, "Tea is served at four in the kitchen")
    session = sessions.start(ctx, topic="tea").session
    sessions.log(ctx, "When is tea?", "At four.")
    stored = remember(ctx, [Note(text="Biscuits come with it", session_id=session.id)]).kept[0].memory
    ask(ctx, "when is tea served in the kitchen?")
    clock.advance(minutes=1)
    thought = add(ctx, Reflection(text="We talk a lot about tea"))
    sessions.end(ctx, summary="Tea was discussed")
    found = session_contents.contents(ctx, session.id)
    assert [memory.kind for memory in found.turns] == ["turn"]
    assert [memory.content for memory in found.episodes] == ["Tea was discussed"]
    assert [memory.id for memory in found.memories] == [stored.id]
    assert [memory.id for memory in found.reflections] == [thought.id]
    assert [entry.query for entry in found.recalls] == ["when is tea served in the kitchen?"]
    assert tea.id in [memory.id for memory in found.recalled]
    with pytest.raises(NotFound):
        session_contents.contents(ctx, 99)


def test_sessions_are_listed_with_their_counts(ctx):
    for topic in ("tea", "Coffee"):
        sessions.start(ctx, topic=topic)
        sessions.log(ctx, "Hello", None)
        sessions.end(ctx, summary=f"About {topic}")
    found = session_contents.page(ctx, None, limit=1)
    assert found.total == 2
    assert [(one.session.topic, one.turns, one.memories) for one in found.sessions] == [("Coffee", 1, 1)]
    assert [one.session.topic for one in session_contents.page(ctx, None, text="TEA", limit=9).sessions] == [
        "tea"
    ]
