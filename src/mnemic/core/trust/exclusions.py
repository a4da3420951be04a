"""Contradictions by exclusion: only, all but one, never."""

from __future__ import annotations

from mnemic.core.trust.alignment import is_left_out, is_succeeded
from mnemic.core.trust.lexicon import SPACELESS
from mnemic.core.trust.reasons import denial, quoted
from mnemic.core.trust.terms import TermKind
from mnemic.core.trust.view import View


def exclusion(view: View) -> str:
    """Why the memory excludes the claim by "only", "all but" or "never", or nothing."""
    return (
        _leaves_out(view)
        or _is_over(view)
        or _has_a_successor(view)
        or _denies_all(view)
        or _only(view)
        or _excepts(view)
        or _excludes(view)
        or _never(view)
    )


def _leaves_out(view: View) -> str:
    """What was not meant, chosen or counted: "Redis instead of Memcached", "apart from Carla"."""
    is_plain = (
        not view.claim.is_denied and not view.fact.is_denied and not view.fact.marks & {"hedged", "future"}
    )
    is_same = len(view.own) > 1 and all(pair.is_own and pair.is_met for pair in view.pairs)
    if is_plain and is_same and is_left_out(view):
        return f"memory says it of something else: {quoted(view.fact)}"
    return ""


def _is_over(view: View) -> str:
    """What has ended as a whole does nothing any more: who has retired no longer sees patients."""
    rest = [term for term in view.free if term.value is None and term.kind is not TermKind.LIGHT]
    ends = [term for term in rest if view.words.is_one(term.key, "departing")]
    is_named = bool(view.own) and all(pair.is_own and pair.is_met for pair in view.subject())
    is_still = "still" in view.claim.marks and not view.claim.is_denied and not view.fact.is_denied
    if (
        is_still
        and is_named
        and ends
        and rest == ends
        and not view.fact.marks & {"future", "hedged", "permitted"}
    ):
        return f"memory says that it ended: {quoted(view.fact)}"
    return ""


def _has_a_successor(view: View) -> str:
    """Whose post somebody else took over has it no more: "Ann took over as treasurer from Ben"."""
    is_now = "still" in view.claim.marks and not view.claim.is_denied and not view.fact.is_denied
    is_same = len(view.own) > 1 and all(pair.is_own and pair.is_met for pair in view.pairs)
    if is_now and is_same and is_succeeded(view) and "future" not in view.fact.marks:
        return f"memory says who came next: {quoted(view.fact)}"
    return ""


def _denies_all(view: View) -> str:
    """What is not done at all is not done in some place or manner either: "is not replicated"."""
    rest = [term for term in view.free if term.kind is not TermKind.LIGHT]
    verbs = [pair for pair in view.own if pair.term.is_verb and pair.term.kind is not TermKind.LIGHT]
    is_plain = view.fact.is_denied and not view.claim.denials and not view.opposites and not view.conflicts
    is_named = len(view.met) > 1 and all(pair.is_met for pair in view.subject())
    behind = all(pair.term.place > verbs[0].term.place for pair in view.missing) if verbs else False
    if is_plain and is_named and behind and not rest and not view.fact.marks & {"all", "only", "hedged"}:
        return denial(view.fact, ())
    return ""


def _only(view: View) -> str:
    is_wide = "all" in view.claim.marks and not view.claim.is_denied and "all" not in view.fact.marks
    if not is_wide or "only" not in view.fact.marks or view.fact.is_denied:
        return ""
    verbs = [pair for pair in view.pairs if pair.term.is_verb or view.fact.language != "en"]
    enough = sum(pair.is_met for pair in view.pairs) >= 0.6 * len(view.pairs)
    return f"memory says only: {quoted(view.fact)}" if enough and any(pair.is_own for pair in verbs) else ""


def _excepts(view: View) -> str:
    """The claim says of all what the memory says of all but an exception."""
    is_wide = "all" in view.claim.marks and not view.claim.is_denied and not view.fact.is_denied
    is_same = all(pair.is_own and pair.is_met for pair in view.pairs)
    if is_wide and is_same and "excepted" in view.fact.marks:
        return f"memory has an exception: {quoted(view.fact)}"
    return ""


def is_of_others(view: View) -> bool:
    """Whether the memory says that only its subject does what the claim says of somebody else."""
    first = view.fact.order if view.words.language in SPACELESS else view.fact.order[:2]
    words = [word for word in first if view.words.is_one(word, "only")]
    about = view.subject()
    told = [pair for pair in view.pairs if pair not in about]
    is_other = any(pair in view.missing for pair in about) and not (view.conflicts or view.opposites)
    return bool(words) and is_other and len(told) > 1 and all(pair.is_own and pair.is_met for pair in told)


def _excludes(view: View) -> str:
    if is_of_others(view) and not view.claim.is_denied and not view.fact.is_denied:
        return f"memory says only: {quoted(view.fact)}"
    return ""


def _never(view: View) -> str:
    """What never happens does not happen after 24 months either."""
    if not any(view.words.is_one(word, "never") for word in view.fact.order) or view.claim.denials:
        return ""
    is_since = any(view.words.is_one(word, "starts") for word in view.fact.lead)
    limits = [term for term in view.free if term.value is not None and not is_since]
    others = [pair for pair in view.pairs if pair.term.value is None and pair.term.kind is not TermKind.LIGHT]
    is_same = len(others) > 1 and all(pair.is_own and pair.is_met for pair in others) and not view.opposites
    return denial(view.fact, ()) if is_same and not limits and view.fact.is_denied else ""
