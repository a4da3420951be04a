"""Two stretches of time or of work, compared."""

from __future__ import annotations

from support import START, kept

from mnemic.core.memories import forget
from mnemic.core.sessions import Event, record, start
from mnemic.core.trust.beliefs import correct
from mnemic.dialects.agentic_memory.compare import Stretch, compare
from mnemic.model.access import Grant

EARLIER, LATER = Stretch(session_ids=(1,)), Stretch(session_ids=(2,))


def noted(ctx, text, kind="fact"):
    return record(ctx, [Event(text=text, kind=kind)])[0].id


def test_sessions_are_compared(ctx):
    start(ctx, 1)
    same, wrong, gone = noted(ctx, "same"), noted(ctx, "wrong"), noted(ctx, "gone")
    forget(ctx, [gone])
    start(ctx, 2)
    new, right = noted(ctx, "new"), correct(ctx, wrong, "right").new.id
    told = compare(ctx, EARLIER, LATER)
    assert (told.added, told.corrected) == ((new, right), ((wrong, right),))
    assert (told.unchanged, told.stale) == ((same,), ())
    backwards = compare(ctx, LATER, EARLIER)
    assert (backwards.added, backwards.corrected, backwards.unchanged) == ((same, wrong), (), (new, right))


def test_windows_include_both_ends(ctx, clock):
    early = kept(ctx, "early").id
    middle = clock.advance(days=1)
    both = kept(ctx, "both").id
    end = clock.advance(days=1)
    late = kept(ctx, "late").id
    told = compare(ctx, Stretch(since=START, until=middle), Stretch(since=middle, until=end))
    assert (told.added, told.unchanged) == ((late,), (early, both))


def test_what_has_faded_or_was_superseded_elsewhere_may_be_stale(ctx, clock):
    start(ctx, 1)
    fact, episode, wrong = noted(ctx, "fact"), noted(ctx, "an episode", "episode"), noted(ctx, "wrong")
    start(ctx, 3)
    correct(ctx, wrong, "right")
    clock.advance(days=100)  # e^-1 of a fact is above 0.3, of an episode below
    told = compare(ctx, EARLIER, LATER)
    assert (told.unchanged, told.stale) == ((fact,), (episode, wrong))
    clock.advance(days=21)
    assert compare(ctx, EARLIER, LATER).unchanged == ()


def test_only_what_the_caller_sees_is_compared(ctx):
    kept(ctx, "theirs", namespace="theirs")
    mine = kept(ctx, "mine", namespace="mine").id
    limited = ctx.limited_to(Grant(("mine",), True))
    assert compare(limited, EARLIER, Stretch()).added == (mine,)
    assert compare(ctx, EARLIER, LATER).added == ()
