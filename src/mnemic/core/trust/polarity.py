"""Contradictions by polarity: a denial, an opposite, an end, another value."""

from __future__ import annotations

from mnemic.core.trust.counterparts import is_end_of_it
from mnemic.core.trust.implications import is_of_the_new, tells_an_end
from mnemic.core.trust.modality import is_under_a_condition
from mnemic.core.trust.reasons import denial, differs, quoted
from mnemic.core.trust.terms import Term
from mnemic.core.trust.values import Date
from mnemic.core.trust.view import View


def is_flipped(view: View) -> bool:
    """Whether one of the two denies what the other says."""
    hidden = sum(is_denying(view, pair.term) for pair in view.missing)
    hidden += sum(is_denying(view, term) for term in view.free)
    hidden += _negates_the_condition(view)
    hidden += not _is_conditional(view, "unless") and sum(
        view.words.is_one(pair.term.before, "without") != view.words.is_one(pair.known.before, "without")
        for pair in view.own
        if pair.known
    )
    ends = (
        "ended" in view.fact.marks
        and bool(view.claim.marks & {"no more", "still"})
        and "ended" not in view.claim.marks
        and not view.ends
        and not any(is_end_of_it(pair, view.words) for pair in view.opposites)
    ) + view.ends
    return (view.claim.denials + view.fact.denials + len(view.opposites) + hidden + ends) % 2 == 1


def _is_conditional(view: View, role: str) -> bool:
    return any(view.words.is_one(word, role) for word in view.fact.order)


def _negates_the_condition(view: View) -> bool:
    """Whether the claim says under a condition what the memory says "unless" it holds."""
    order = view.fact.order
    turn = next((at for at, word in enumerate(order) if view.words.is_one(word, "unless")), None)
    if turn is None:
        return False
    is_named = any(pair.known and pair.known.place > turn for pair in view.own)
    said = (view.words.is_one(word, role) for word in view.claim.order for role in ("unless", "without"))
    return is_named and not any(said)


def is_denying(view: View, term: Term) -> bool:
    return view.words.is_one(term.key, "denying") or view.words.is_one(term.text.lower(), "denying")


def opposition(view: View) -> str:
    """What one of the two says and the other denies, or nothing."""
    if view.conflicts or not is_flipped(view) or not (view.predicate_is_met() or view.opposites or view.ends):
        return ""
    is_end_told = "no more" in view.claim.marks and tells_an_end(view.fact, view.words)
    if is_end_told and not view.opposites and not view.ends:  # but perhaps the end of something else
        return ""
    if view.claim.is_denied and "only" in view.claim.marks:  # "not alone" denies no more than that
        return ""
    if is_under_a_condition(view) or _is_spared(view):
        return ""
    if "hedged" in view.fact.marks - view.claim.marks:  # who wanted to cancel has not cancelled
        return ""
    if view.claim.is_denied and "all" in view.claim.marks:  # "not every": an exception agrees with it
        return (
            "" if "all" not in view.fact.marks or view.fact.elsewhere else denial(view.fact, view.opposites)
        )
    if _denies_a_time(view):
        return ""
    unmet = [pair for pair in view.missing if not is_denying(view, pair.term)]
    if len(unmet) > (len(view.pairs) >= 5 and view.fact.language == "en"):
        return ""
    if any(pair.term.is_verb for pair in unmet if pair not in view.subject()):
        return ""
    if not view.opposites and not view.ends and _changes_predicate(view):
        return ""
    return denial(view.fact, view.opposites)


def _is_spared(view: View) -> bool:
    """Whether the claim takes up what a denial leaves standing: "does not read YAML, only JSON"."""
    order = view.fact.order
    spared = (pair.known.place for pair in view.own if pair.known is not None and pair.known.place > 1)
    return view.fact.is_denied and any(
        view.words.is_one(order[place - 1], "only") for place in spared if place <= len(order)
    )


def _denies_a_time(view: View) -> bool:
    """Whether the memory denies something of a time that the claim leaves out: "does not meet in August"."""
    times = (term for term in view.free if isinstance(term.value, Date))
    is_denied = view.fact.is_denied and not view.claim.is_denied
    return is_denied and any(term.before in ("in", "on", "im", "am", "en", "в") for term in times)


def _changes_predicate(view: View) -> bool:
    """Whether the claim's verb, though a light one, is not the memory's: "is not given", "has an allergy"."""
    verbs = [pair for pair in view.pairs if pair.term.is_verb]
    return (
        bool(verbs)
        and not any(pair.is_met or is_denying(view, pair.term) for pair in verbs)
        and any(not is_denying(view, term) for term in view.free if term.value is None)
    )


def end(view: View) -> str:
    """Why the end of something in the memory excludes that it is still there, or nothing."""
    over = view.fact.marks & {"ended", "no more", "moved"} - view.claim.marks
    if over == {"moved"} and is_of_the_new(view.fact, view.pairs, view.words):
        return ""
    if "still" in view.claim.marks and over and "still" not in view.fact.marks:
        return f"memory says that it ended: {quoted(view.fact)}"
    return ""


def other_value(view: View) -> str:
    """Which other value the memory has, or nothing."""
    if not view.conflicts or len(view.conflicts) > 2 or (is_flipped(view) and not view.opposites):
        return ""
    if isinstance(view.conflicts[0].term.value, Date) and _is_state_of_event(view):
        return ""
    return differs(view.conflicts[0])


def _is_state_of_event(view: View) -> bool:
    """Whether the memory tells when the claim's state begins: "is closed in the afternoon", "closes at noon"."""
    return any(
        pair.known is not None
        and pair.known.is_verb
        and pair.term.is_passive != pair.known.is_passive
        and view.words.is_one(pair.term.key, "ending")
        for pair in view.own
    )
