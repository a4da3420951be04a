"""Generalization: whether a claim leaves out what restricts a memory, where that makes it say more.

"Deployments run on Fridays after lunch" gives "deployments run on Fridays", but what nobody in one team does, what all
new users have, or what is allowed only up to an amount, holds of no more than that.
"""

from __future__ import annotations

from mnemic.core.trust.lexicon import SPACELESS
from mnemic.core.trust.polarity import is_denying
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.values import Quantity
from mnemic.core.trust.view import View

JOINING = frozenset("and or und oder et ou y o и или".split())
NEAR = 4
"""Places within which a phrase specifies the noun in front of it."""


def is_overgeneral(view: View) -> bool:
    """Whether the memory says it only of some, in some case, or within bounds that the claim does not name."""
    if view.words.language in SPACELESS:
        return False
    return (
        _is_said_of_one(view)
        or _drops_what_only_names(view)
        or _drops_a_bound(view)
        or _denies_more(view)
        or _tells_of_more(view)
    )


def _is_said_of_one(view: View) -> bool:
    """Whether the claim says of none what the memory says of a particular one: "no grant", "the grant of the fund"."""
    about = [pair for pair in view.subject() if pair.known is not None]
    if not about or not _is_led_by(view, about[0].term.place, "negators"):
        return False
    return any(_specifies(view, about[-1].known, term) for term in _around(view, about[-1].known))


def _drops_what_only_names(view: View) -> bool:
    """Whether it leaves out the case that "only" names: "on Linux only in CI"."""
    if "only" in view.claim.marks or view.claim.is_denied:
        return False
    order = view.fact.order
    first = view.fact.terms[0].place
    turns = [at for at, word in enumerate(order) if at > first and view.words.is_one(word, "only")]
    behind = [next((term for term in view.fact.terms if term.place > turn), None) for turn in turns]
    return any(term is not None and term in view.free for term in behind)


def _drops_a_bound(view: View) -> bool:
    """Whether what is permitted up to an amount is claimed without it."""
    is_plain = "permitted" in view.fact.marks & view.claim.marks and not view.claim.is_denied
    return is_plain and any(isinstance(term.value, Quantity) and term.value.is_range for term in view.free)


def _denies_more(view: View) -> bool:
    """Whether a denial is claimed without the place, time or people that it is about."""
    is_denial = view.fact.is_denied or any(is_denying(view, pair.known) for pair in view.own if pair.known)
    if not is_denial or view.opposites:
        return False
    return any(
        bool(term.before) and view.words.is_one(term.before, "restricting") and not _is_joined(view, term)
        for term in view.free
    )


def _tells_of_more(view: View) -> bool:
    """Whether all are claimed to do what the memory says of some kind of them: "all new users"."""
    about = [pair for pair in view.subject() if pair.known is not None and pair.is_own]
    if not about or view.claim.is_denied:
        return False
    head, first = about[-1].known, about[0].known
    assert head is not None and first is not None
    order = view.fact.order
    in_front = (
        term
        for term in view.free
        if term.place == first.place - 1
        and not term.is_verb
        and term.key not in JOINING
        and not any(view.words.is_one(word, "articles") for word in order[: term.place][-1:])
    )
    is_narrowed = any(term.kind is not TermKind.LIGHT and term.value is None for term in in_front)
    if "all" not in view.claim.marks:
        return (
            is_narrowed
            and head.kind is TermKind.WORD
            and _is_bare_plural(view, about[0].term, about[-1].term)
        )
    return is_narrowed or any(_specifies(view, head, term) for term in view.free)


def _is_joined(view: View, term: Term) -> bool:
    """Whether it stands beside a term that the claim names, as one of several: "in July and August"."""
    order, place = view.fact.order, term.place
    met = {one.place for one in view.fact.terms if one not in view.free}
    behind = place + 2 in met and order[place + 1] in JOINING
    return behind or (place > 1 and place - 2 in met and order[place - 1] in JOINING)


def _is_bare_plural(view: View, first: Term, head: Term) -> bool:
    """Whether English nouns without an article tell of a whole kind: "users"."""
    is_plural = head.text.lower() != head.key and head.text.endswith("s") and head.kind is TermKind.WORD
    return (
        view.words.language == "en"
        and is_plural
        and (first.place == 0 or not _is_led_by(view, first.place, "articles"))
    )


def _around(view: View, head: Term | None) -> tuple[Term, ...]:
    return view.fact.terms if head in view.fact.terms else view.fact.inherited


def _specifies(view: View, head: Term | None, term: Term) -> bool:
    """Whether a phrase right behind the noun *head* says which one is meant, and the claim does not."""
    if head is None or not term.before or not head.place < term.place <= head.place + NEAR:
        return False
    verbs = [one.place for one in _around(view, head) if one.is_verb]
    is_met = any(pair.known is term for pair in view.pairs)
    return not is_met and not any(head.place < place < term.place for place in verbs)


def _is_led_by(view: View, place: int, role: str) -> bool:
    return any(view.words.is_one(word, role) for word in view.claim.order[max(0, place - 1) : place])
