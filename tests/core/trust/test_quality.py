"""The report on how far what is known can be relied on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import kept

from mnemic.core.graph import end_link, link
from mnemic.core.memories import forget
from mnemic.core.trust.beliefs import correct
from mnemic.core.trust.quality import QualityReport, report


def test_an_empty_store_passes(ctx):
    told = report(ctx)
    assert (told.status, told.memories, told.links, told.alone) == ("pass", 0, 0, ())


def test_what_is_not_to_be_relied_on_is_named(ctx):
    fact, unsure = kept(ctx, "fact", kind="fact"), kept(ctx, "unsure", confidence=0.44)
    backed, rash = kept(ctx, "backed", kind="decision"), kept(ctx, "rash", kind="decision")
    link(ctx, backed.id, fact.id, "derived_from")
    link(ctx, fact.id, rash.id, "supports")
    told = report(ctx)
    assert (told.unsure, told.alone, told.unsupported, told.faded) == (
        (unsure.id,),
        (unsure.id,),
        (rash.id,),
        (),
    )
    assert (told.memories, told.links, told.contradictions, told.status) == (4, 2, 0, "fail")
    assert report(ctx, unsure_below=0.44).unsure == ()


def test_what_was_not_used_for_long_has_faded(ctx, clock):
    fact, episode = kept(ctx, "fact", kind="fact"), kept(ctx, "episode", kind="episode")
    clock.advance(days=115)
    assert report(ctx).faded == (episode.id,)
    assert report(ctx, faded_below=0.4).faded == (fact.id, episode.id)


def test_links_that_ended_or_lead_to_what_has_left_hold_nothing(ctx):
    one, two, three = kept(ctx, "one"), kept(ctx, "two"), kept(ctx, "three")
    link(ctx, one.id, two.id, "supports")
    link(ctx, two.id, three.id, "supports")
    assert report(ctx).alone == ()
    end_link(ctx, one.id, two.id, "supports")
    assert report(ctx).alone == (one.id,)
    forget(ctx, [three.id])
    told = report(ctx)
    assert (told.alone, told.links) == ((one.id, two.id), 0)


def test_corrected_beliefs_count_as_there_but_are_not_judged(ctx):
    old = kept(ctx, "old", confidence=0.1)
    correct(ctx, old.id, "new")
    told = report(ctx)
    assert (told.memories, told.living, told.corrections, told.unsure, told.alone) == (2, 1, 1, (), ())
    assert told.status == "pass"


FINE = QualityReport(
    memories=100,
    living=100,
    links=50,
    contradictions=0,
    corrections=0,
    unsure=(),
    faded=(),
    alone=(),
    unsupported=(),
)


@pytest.mark.parametrize(
    "changes, status",
    [
        ({}, "pass"),
        ({"unsure": range(15), "faded": range(25)}, "pass"),
        ({"unsure": range(16)}, "warn"),
        ({"faded": range(26)}, "warn"),
        ({"alone": (1,)}, "warn"),
        ({"contradictions": 1}, "warn"),
        ({"unsure": range(35), "faded": range(50), "contradictions": 25}, "warn"),
        ({"unsure": range(36)}, "fail"),
        ({"faded": range(51)}, "fail"),
        ({"contradictions": 26}, "fail"),
        ({"unsupported": (1,)}, "fail"),
    ],
)
def test_the_status_follows_from_the_shares(changes, status):
    assert replace(FINE, **changes).status == status
