"""Entailment: whether a memory says all that a claim says, in the same sense."""

from __future__ import annotations

from mnemic.core.trust.attribution import is_attributed
from mnemic.core.trust.chronology import agrees_in_time
from mnemic.core.trust.counterparts import is_end_of_it
from mnemic.core.trust.exclusions import is_of_others
from mnemic.core.trust.generalization import is_overgeneral
from mnemic.core.trust.implications import binds, is_bound, is_replaced, relocates, tells_an_end
from mnemic.core.trust.lexicon import are_complementary
from mnemic.core.trust.pairs import How, Pair
from mnemic.core.trust.polarity import is_denying, is_flipped
from mnemic.core.trust.propositions import subject
from mnemic.core.trust.terms import TermKind
from mnemic.core.trust.values import Quantity, is_outside
from mnemic.core.trust.view import View


def _misses_a_genitive(view: View) -> bool:
    """Whether all missing terms are one phrase of the same sentence and only specify: "unused days of leave"."""
    missing = view.missing
    return (
        bool(missing)
        and len(view.slot()) == len(missing)
        and missing[0].term.before == "of"
        and all(pair.is_elsewhere and pair.term.kind is TermKind.WORD for pair in missing)
        and len(view.own) > 2
        and not any(term.before == "of" or term in subject(view.fact) for term in view.free)
    )


def _is_complement(view: View, pair: Pair) -> bool:
    """Whether the denial of one word is the other: not allowed and forbidden, no longer there and removed."""
    if pair.known is not None and are_complementary(pair.term.key, pair.known.key, view.words):
        return True
    return is_end_of_it(pair, view.words) or (
        pair.known is not None and is_denying(view, pair.term) != is_denying(view, pair.known)
    )


def _misses_prohibition(view: View) -> bool:
    """Whether nothing is missing but a word such as "forbidden" for what the memory says must not be done."""
    if not view.missing:
        return True
    is_ruled = view.fact.is_denied and bool(view.fact.marks & {"obliged", "permitted"})
    return is_ruled and all(is_denying(view, pair.term) for pair in view.missing)


def _is_beyond_bound(view: View) -> bool:
    """Whether the claim denies an amount beyond what is possible: "at most four hours", "not for six"."""
    is_plain = view.claim.is_denied and not view.fact.is_denied and "permitted" in view.fact.marks
    if not is_plain or view.fact.marks & {"hedged", "future"} or len(view.conflicts) != 1 or view.missing:
        return False
    claimed = view.conflicts[0].term.value
    known = view.conflicts[0].known
    is_amount = isinstance(claimed, Quantity) and known is not None and isinstance(known.value, Quantity)
    is_same = not view.opposites and all(pair.is_own for pair in view.met)
    return is_amount and is_same and is_outside(claimed, known.value)  # type: ignore[arg-type, union-attr]


def _misses_support(view: View) -> bool:
    """Whether only a verb without content is missing, as the noun says it: "receives updates", "is updated"."""
    return (
        len(view.missing) == 1
        and view.words.is_one(view.missing[0].term.key, "support")
        and any(
            pair.how is How.NEAR and pair.known is not None and pair.known.is_verb and not pair.term.is_verb
            for pair in view.own
        )
    )


def entails(view: View) -> bool:
    """Whether the memory contains everything the claim says, in the same sense."""
    if is_of_others(view) and view.claim.is_denied and not view.fact.is_denied:
        return True
    about = (view.claim, view.fact, view.pairs, view.words)
    if relocates(*about) or is_replaced(*about):
        return not view.conflicts
    if is_bound(view.claim, view.fact, view.pairs, view.words):
        return not view.conflicts and not view.opposites
    if binds(view.claim, view.fact, view.pairs, view.words):
        return not view.conflicts and not view.opposites
    if _is_beyond_bound(view):
        return True
    if not is_attributed(view) or is_overgeneral(view):
        return False
    if any(
        pair.term.is_verb and pair.is_elsewhere for pair in view.pairs
    ):  # the verb is said of something else
        return False
    ended = bool(view.opposites) and all(_is_complement(view, pair) for pair in view.opposites)
    if view.conflicts or (view.opposites and not ended) or is_flipped(view):
        return False
    if not (ended or view.ends or view.predicate_is_met()):
        return False
    if not (_misses_a_genitive(view) or _misses_support(view) or _misses_prohibition(view)):
        return False
    claim, fact = view.claim.marks, view.fact.marks
    if claim & {"before", "after"} and not agrees_in_time(view):
        return False
    if ("hedged" in fact and not claim & {"hedged", "permitted"}) or ("only" in claim and "only" not in fact):
        return False
    if "still" in claim and (fact & {"ended", "no more", "moved"} or tells_an_end(view.fact, view.words)):
        return False
    if "all" in claim and "all" not in fact and not view.claim.is_denied:
        return False
    return not ("obliged" in claim and "permitted" in fact and "obliged" not in fact)
