"""Bounds: amounts and times of a claim held against the bounds and spans of a memory."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.trust.lexicon import Lexicon, lexicon
from mnemic.core.trust.pairs import How, Pair
from mnemic.core.trust.propositions import Clause
from mnemic.core.trust.terms import Term
from mnemic.core.trust.values import Date, Quantity, is_narrower, is_outside


def is_between(pair: Pair, fact: Clause, words: Lexicon) -> bool:
    """Whether a date may lie between two of the memory: "in July", "from April to October"."""
    if pair.how is not How.CONFLICT or pair.known is None or not isinstance(pair.term.value, Date):
        return False
    ends = [
        term for term in fact.terms if isinstance(term.value, Date) and words.is_one(term.before, "route")
    ]
    return len(ends) == 2 and pair.known in ends and not words.is_one(pair.term.before, "route")


def held_against_bounds(pair: Pair, fact: Clause) -> Pair:
    """*pair* with its amount held against a bound: what is said of all above 500 is said of all above 750.

    A bound that tells how much ("lasted more than 3 hours") excludes what is beyond it and entails nothing closer.
    """
    claimed = pair.term.value
    if not isinstance(claimed, Quantity):
        return pair
    bounds = [term for term in fact.terms if isinstance(term.value, Quantity) and term.value.is_range]
    for known in bounds:
        assert isinstance(known.value, Quantity)
        if pair.how is How.CONFLICT and is_narrower(claimed, known.value) and _restricts(known, fact):
            return Pair(pair.term, How.NEAR, known)
        if pair.how is How.NEAR and pair.known is known and _is_vague(claimed, known, fact):
            return Pair(pair.term, How.MISSING)
        if pair.how is How.MISSING and is_outside(claimed, known.value) and not _restricts(known, fact):
            return Pair(pair.term, How.CONFLICT, known)
    return pair


def _is_vague(claimed: Quantity, known: Term, fact: Clause) -> bool:
    """Whether an exact amount is held against a bound that leaves it open: "lasted more than 3 hours"."""
    is_exact = fact.language == "en" and not claimed.is_range and not known.text.startswith(_AMOUNTS)
    return is_exact and not _restricts(known, fact) and "permitted" not in fact.marks


def _restricts(bound: Term, fact: Clause) -> bool:
    """Whether a bound tells which things are meant ("trips over 600 km") rather than how much something is."""
    before = [term for term in fact.terms if term.place < bound.place]
    is_led = bound.before not in ("", "with", "for", "von", "de", "avec", "mit")
    words = lexicon(fact.language)
    if any(words.is_one(word, "conditions") for word in fact.order[: bound.place]):
        return True
    if any(term.is_verb and term.place > bound.place and not _is_counted(term, bound) for term in fact.terms):
        return True
    return bool(before) and not before[-1].is_verb and not is_led and not bound.text.startswith(_AMOUNTS)


def _is_counted(term: Term, bound: Term) -> bool:
    """Whether a word that looks like a verb is what the bound counts: "at least 10 characters"."""
    return isinstance(bound.value, Quantity) and bound.value.dimension.split("/")[0] == f"#{term.key}"


_AMOUNTS = (
    "within",
    "at least",
    "at most",
    "up to",
    "no more",
    "not more",
    "no less",
    "not less",
    "at_",
    "up_",
    "no_",
)
"""Bounds that tell how much, where others tell which."""


def held_against_times(pairs: Sequence[Pair], words: Lexicon) -> list[Pair]:
    """*pairs* with the times until which something lasts held against when it ends or is asked for."""
    if not any(pair.how is How.OPPOSITE for pair in pairs):
        pairs = [Pair(pair.term, How.MISSING) if _is_other_end(pair, words) else pair for pair in pairs]
        pairs = [_during(pair, words) for pair in pairs]
    return [_lasting(pair, pairs, words) for pair in pairs]


def held_against_ends(pairs: Sequence[Pair], fact: Clause, words: Lexicon) -> list[Pair]:
    """*pairs* with an age held against the time after which something ends: what is older than that is gone."""
    is_ended = any(words.is_one(term.key, "ending") for term in fact.terms) and not fact.is_denied
    return [
        Pair(pair.term, How.NEAR, pair.known) if is_ended and _is_past_end(pair, words) else pair
        for pair in pairs
    ]


def _is_past_end(pair: Pair, words: Lexicon) -> bool:
    claimed, known = pair.term.value, pair.known
    if known is None or not isinstance(claimed, Quantity) or not isinstance(known.value, Quantity):
        return False
    is_limit = words.is_one(known.before, "after") and not known.value.is_range
    is_time = claimed.dimension == known.value.dimension == "time"
    return is_limit and is_time and claimed.is_range and claimed.low >= known.value.low


def _lasting(pair: Pair, pairs: Sequence[Pair], words: Lexicon) -> Pair:
    """*pair* as met, if one says until when it lasts and the other when it ends: "open until 8", "closes at 8"."""
    if pair.how is not How.OPPOSITE or pair.known is None:
        return pair
    ages = [one for one in pairs if _is_past_end(one, words)]
    timed = (one for one in pairs if one.term.value is not None and one not in ages)
    times = [(one.term, one.known) for one in timed if one.known is not None]
    is_until = any(
        words.is_one(told.before, role) != words.is_one(known.before, role)
        for told, known in times
        for role in ("until", "after")
    )
    lasts = _lasts(pair.term, words) != _lasts(pair.known, words)
    return Pair(pair.term, How.NEAR, pair.known) if is_until and lasts else pair


def _lasts(term: Term, words: Lexicon) -> bool:
    return words.is_one(term.key, "being") or words.is_one(term.key, "keeping")


def _is_other_end(pair: Pair, words: Lexicon) -> bool:
    """Whether one says when something is and the other until when: what is open until 8 does not open at 8."""
    if pair.how is not How.SAME or pair.known is None or not isinstance(pair.term.value, Date):
        return False
    befores = (pair.term.before, pair.known.before)
    is_until = [words.is_one(before, "until") for before in befores]
    return is_until[0] != is_until[1] and befores[is_until.index(False)] in _MOMENTS


_MOMENTS = frozenset("at on um am à en a в に".split())


def _during(pair: Pair, words: Lexicon) -> Pair:
    """*pair* as met, if it asks for a time of the day before the one until which something lasts."""
    known = pair.known
    if pair.how is not How.CONFLICT or known is None or words.is_one(pair.term.before, "until"):
        return pair
    at, until = (one.value.parts if isinstance(one.value, Date) else () for one in (pair.term, known))
    is_clock = [part for part, _ in (*at, *until)] == ["minute", "minute"] and words.is_one(
        known.before, "until"
    )
    if not is_clock or not pair.term.before:
        return pair
    left = (until[0][1] - at[0][1]) % (24 * 60)
    return Pair(pair.term, How.NEAR, known) if left < 12 * 60 else pair
