"""Alignment: whether the claim joins what the memory joins, where that names several values or several of a kind.

"Six minutes on CI and two minutes locally" has all words of "two minutes on CI".
"""

from __future__ import annotations

from itertools import pairwise

from mnemic.core.trust.lexicon import lexicon
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.values import Quantity
from mnemic.core.trust.view import View


def is_misaligned(view: View) -> bool:
    """Whether the claim takes a value or a name that the memory gives to something else."""
    return (
        _is_a_former_value(view) or _is_another_value(view) or _is_a_total(view) or _is_paired_otherwise(view)
    )


def is_left_out(view: View) -> bool:
    """Whether the memory names something the claim takes up only as what was not meant: "instead of Memcached"."""
    return any(
        pair.known is not None
        and _excludes(view, pair.known)
        and not any(view.words.is_one(word, "instead") for word in view.claim.order)
        for pair in view.own
        if pair.term.kind is not TermKind.LIGHT
    )


def _excludes(view: View, term: Term) -> bool:
    order, words = view.fact.order, lexicon(view.fact.language)
    last = next((word for word in reversed(order[: term.place]) if not words.is_one(word, "articles")), "")
    is_excepted = words.is_one(last, "exceptions") and "all" in view.fact.marks
    return words.is_one(term.before, "instead") or words.is_one(last, "instead") or is_excepted


def _is_another_value(view: View) -> bool:
    """Whether the claim's value stands beside something else in the memory: "6 minutes on CI and 2 minutes locally"."""
    for pair in view.own:
        if pair.known is None or not isinstance(pair.known.value, Quantity):
            continue
        unit = pair.known.value.dimension
        alike = [
            term
            for term in view.fact.terms
            if isinstance(term.value, Quantity) and term.value.dimension == unit
        ]
        for other in view.own:
            term = other.known
            if term is None or not term.before or term.value is not None:
                continue
            last = max((one.place for one in alike if one.place < term.place), default=None)
            if last is not None and last != pair.known.place:
                return True
    return False


def _is_a_total(view: View) -> bool:
    """Whether the claim's number is the one that the memory counts a part of: "three of the five nodes"."""
    terms = view.fact.terms
    return any(
        pair.known is term and term.before == "of" and term.value is not None and last.value is not None
        for pair in view.own
        for last, term in pairwise(terms)
    )


def _is_paired_otherwise(view: View) -> bool:
    """Whether the memory names two of each side by side and the claim crosses them: "Ann in May and Ben in June"."""
    known = [pair.known for pair in view.own if pair.known is not None and not pair.known.is_verb]
    return any(
        any(_is_like(term, later) and term.place < earlier.place for term in view.free)
        and any(_is_like(term, earlier) and term.place > later.place for term in view.free)
        for earlier in known
        for later in known
        if earlier.place < later.place
    )


def _is_like(one: Term, other: Term) -> bool:
    """Whether two terms may stand in the same place: behind the same preposition, of the same kind."""
    return not one.is_verb and one.before == other.before and one.kind is other.kind


def _is_a_former_value(view: View) -> bool:
    """Whether the claim's value is the one a change began at: "fell from 900 MB to 400 MB"."""
    values = [pair for pair in view.own if pair.term.kind is TermKind.VALUE and pair.known is not None]
    goals = [
        term for term in view.fact.terms if term.value is not None and view.words.is_one(term.role, "goal")
    ]
    return any(
        pair.known is not None
        and view.words.is_one(pair.known.role, "source")
        and not view.words.is_one(pair.term.role, "source")
        and any(type(goal.value) is type(pair.known.value) for goal in goals)
        for pair in values
    )


def is_succeeded(view: View) -> bool:
    """Whether somebody else took the place of the claim's subject: "Lena replaced Omar as the lead"."""
    about = {pair.known.place for pair in view.subject() if pair.known is not None and pair.is_own}
    return not view.claim.marks & {"before", "after"} and any(
        view.words.is_one(term.key, "succession") and not term.is_passive and place > term.place
        for term in view.free
        for place in about
    )
