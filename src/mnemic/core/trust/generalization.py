"""Generalization: whether a claim leaves out what restricts a memory, where that makes it say more.

"Deployments run on Fridays after lunch" gives "deployments run on Fridays", but what nobody in one team does, what all
new users have, or what is allowed only up to an amount, holds of no more than that.
"""

from __future__ import annotations

from mnemic.core.trust.lexicon import SPACELESS, entry
from mnemic.core.trust.polarity import is_denying
from mnemic.core.trust.propositions import BE
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.values import Quantity
from mnemic.core.trust.view import View

JOINING = frozenset("and or und oder et ou y o и или".split())
PRESENT = frozenset("is are has have".split())
MODALS = frozenset("did does do will would may can could must".split())
PART = 3
"""Places within which "a part of the" stands in front of a noun."""
NEAR = 4
"""Places within which a phrase specifies the noun in front of it."""


def is_overgeneral(view: View) -> bool:
    """Whether the memory says it only of some, in some case, of the past, or within bounds the claim leaves out."""
    is_exception = view.claim.is_denied and "all" in view.claim.marks  # "not every"
    if view.words.language in SPACELESS or is_exception:
        return False
    return (
        _is_said_of_one(view)
        or _drops_what_only_names(view)
        or _drops_a_bound(view)
        or _denies_more(view)
        or _tells_of_more(view)
        or _takes_a_part_for_all(view)
        or _puts_past_in_present(view)
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
    ) or any(
        _narrows(view, pair.known) or any(_tells_which(view, pair.known, term) for term in view.free)
        for pair in view.own
        if pair.known is not None and pair.known.kind is TermKind.WORD and not pair.known.is_verb
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


def _narrows(view: View, noun: Term) -> bool:
    """Whether the memory has a property or another noun right in front of *noun*: "no free parking"."""
    return view.words.language == "en" and any(
        term.place == noun.place - 1
        and term.value is None
        and term.key not in JOINING
        and term.kind is not TermKind.LIGHT
        and bool(term.kind is TermKind.NAME or set("an") & set(entry(term.key).parts))
        for term in view.free
    )


def _tells_which(view: View, noun: Term, term: Term) -> bool:
    is_time = term.value is not None or view.words.is_one(term.before, "starts")
    return not is_time and not view.words.is_one(term.before, "passive") and _specifies(view, noun, term)


def _takes_a_part_for_all(view: View) -> bool:
    """Whether the memory says it of a part: "a part of the budget", "half done", "bread knives"."""
    if view.words.language != "en":
        return False
    about = view.subject()
    for pair in view.own:
        known = pair.known
        if known is None or known.value is not None or pair.term.value is not None:
            continue
        before = [term for term in view.free if term.place < known.place]
        is_of = known.before == "of" and not pair.term.before and pair not in about
        is_of = is_of and not (before and _is_measure(before[-1]))
        if is_of and before and known.place - before[-1].place <= PART and not before[-1].is_verb:
            return True
        if before and before[-1].place == known.place - 1 and _is_share(view, before[-1]):
            return True
        is_object = known.kind is TermKind.WORD and pair not in about and not known.is_verb
        if is_object and not pair.term.before and _is_compound(view, known):
            return True
    return False


def _is_measure(term: Term) -> bool:
    """Whether it measures what follows: "20 mg of"; "two of the" counts some of them."""
    return (
        isinstance(term.value, Quantity)
        and term.value.dimension.isalpha()
        and term.value.dimension != "percent"
    )


def _is_share(view: View, term: Term) -> bool:
    value = term.value
    is_percent = isinstance(value, Quantity) and value.dimension == "percent"
    return is_percent or view.words.is_one(term.key, "almost")


def _is_compound(view: View, known: Term) -> bool:
    """Whether the memory's noun only specifies the next one: "music history".

    A team or a service is called by what it does: "leads payments".
    """
    behind = [term for term in view.free if term.place == known.place + 1 and term.kind is TermKind.WORD]
    has_verb = any(term.is_verb and term.place < known.place for term in view.fact.terms)
    return any(
        (has_verb or not term.is_verb)
        and not term.before
        and "n" in entry(term.key).parts
        and not view.words.is_one(term.key, "bodies")
        and f"{known.text} {term.text}" in view.fact.text
        for term in behind
    )


def _puts_past_in_present(view: View) -> bool:
    """Whether the claim says in the present what the memory says in the past: "works at", "worked at"."""
    if view.words.language != "en" or view.claim.is_denied or view.claim.marks & {"no more", "ended"}:
        return False
    claim, fact = set(view.claim.order), set(view.fact.order)
    if fact & {"was", "were"} and not fact & PRESENT and claim & {"is", "are"}:
        return not any(term.is_verb for term in view.fact.terms)
    if fact & {"has", "have"} or claim & (MODALS | BE):
        return False
    return any(
        pair.known is not None
        and pair.term.is_verb
        and pair.known.is_verb
        and not pair.known.is_passive
        and not pair.term.is_passive
        and _is_past(pair.known)
        and pair.term.text.lower() in (pair.term.key, f"{pair.term.key}s", f"{pair.term.key}es")
        for pair in view.own
    )


def _is_past(verb: Term) -> bool:
    text = verb.text.lower()
    return text != verb.key and "_" not in text and not text.endswith(("s", "ing"))


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
