"""Pairing: for each term of a claim its counterpart in a clause of a memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mnemic.core.trust.implications import is_about_the_same, is_end
from mnemic.core.trust.lexicon import SPACELESS, Lexicon, are_opposite, lexicon
from mnemic.core.trust.pairs import How, Pair
from mnemic.core.trust.propositions import Clause, subject
from mnemic.core.trust.term_relation import _is_agent, relation_of
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.values import Date, Quantity, is_narrower, is_outside


def paired(
    claim: Clause, fact: Clause, context: Sequence[Term], titled: int, words: Lexicon
) -> tuple[Pair, ...]:
    pairs: list[Pair] = []
    for term in claim.terms:
        pairs.append(_pair(term, fact, context, words, pairs[-1] if pairs else None))
    taken = {pair.known for pair in pairs if pair.how is How.SAME}
    # What another term of the claim equals is no rival: "5 mg every morning and a pill at night".
    pairs = [
        _around(pair.term, (*fact.inherited, *context), words)
        if pair.how in (How.CONFLICT, How.OPPOSITE) and pair.known in taken
        else pair
        for pair in pairs
    ]
    pairs = [Pair(pair.term, How.MISSING) if _is_between(pair, fact, words) else pair for pair in pairs]
    if "only" not in claim.marks:
        pairs = [_bounded(pair, fact) for pair in pairs]
    pairs = _without_repeats(pairs, fact, context)
    if not is_about_the_same(fact, pairs, words):
        pairs = [Pair(pair.term, How.MISSING) if is_end_of_it(pair, words) else pair for pair in pairs]
    pairs = [pair if not _is_misread(pair, claim, fact) else Pair(pair.term, How.MISSING) for pair in pairs]
    pairs = [_converse(pair, pairs, words) for pair in pairs]
    if not any(pair.how is How.OPPOSITE for pair in pairs):
        pairs = [Pair(pair.term, How.MISSING) if _is_other_end(pair, words) else pair for pair in pairs]
        pairs = [_during(pair, words) for pair in pairs]
    pairs = [_lasting(pair, pairs, words) for pair in pairs]
    pairs = [_parted(pair) if _is_displaced(pair, fact, pairs) else pair for pair in pairs]
    first = () if leads_elsewhere(claim, words) else subject(claim)
    is_turned = _is_turned(pairs) or _is_prohibited(pairs, fact, words)
    return tuple(
        pair
        if pair.is_own
        or pair.known in context[:titled]
        or _may_inherit(pair, fact, is_turned or pair.term in first)
        else _parted(pair)
        for pair in pairs
    )


def _is_between(pair: Pair, fact: Clause, words: Lexicon) -> bool:
    """Whether a date may lie between two of the memory: "in July", "from April to October"."""
    if pair.how is not How.CONFLICT or pair.known is None or not isinstance(pair.term.value, Date):
        return False
    ends = [
        term for term in fact.terms if isinstance(term.value, Date) and words.is_one(term.before, "route")
    ]
    return len(ends) == 2 and pair.known in ends and not words.is_one(pair.term.before, "route")


def _bounded(pair: Pair, fact: Clause) -> Pair:
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
    if any(term.is_verb and term.place > bound.place for term in fact.terms):
        return True
    return bool(before) and not before[-1].is_verb and not is_led and not bound.text.startswith(_AMOUNTS)


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


def _around(term: Term, around: Sequence[Term], words: Lexicon) -> Pair:
    """The pair of a term that the clause itself does not have."""
    same = next((known for known in around if relation_of(term, known, words) is How.SAME), None)
    return Pair(term, How.SAME, same, is_own=False) if same else Pair(term, How.MISSING)


def _without_repeats(pairs: Sequence[Pair], fact: Clause, context: Sequence[Term]) -> list[Pair]:
    """Pairs in which a word that the claim says twice is met twice: "the payments service of the payments team"."""
    there = Counter(term.key for term in (*fact.terms, *fact.inherited, *fact.elsewhere, *context))
    told = Counter(pair.term.key for pair in pairs if pair.how is How.SAME and pair.term.value is None)
    surplus = {key: count - there[key] for key, count in told.items() if count > there[key] > 0}
    taken = {pair.known.place for pair in pairs if pair.how is How.SAME and pair.is_own and pair.known}
    result: list[Pair] = []
    for pair in sorted(pairs, key=_likeness):
        is_surplus = pair.how is How.SAME and pair.term.value is None and surplus.get(pair.term.key, 0) > 0
        if is_surplus:
            surplus[pair.term.key] -= 1
        elif pair.how is How.NEAR and pair.is_own and pair.known and pair.term.value is None:
            is_surplus = pair.known.place in taken  # "runs" does not meet both "runs" and "leads"
        result.append(Pair(pair.term, How.MISSING) if is_surplus else pair)
    return sorted(result, key=lambda pair: pair.term.place)


def _likeness(pair: Pair) -> int:
    """How much alike the two terms of a pair are used."""
    if pair.known is None:
        return 0
    return (pair.term.before == pair.known.before) + (pair.term.is_verb == pair.known.is_verb)


def _is_misread(pair: Pair, claim: Clause, fact: Clause) -> bool:
    """Whether an agent noun meets its verb outside of "is the owner of": "visitors are admitted", "they visit"."""
    if pair.how is not How.NEAR or pair.known is None or not _is_agent(pair.term, pair.known):
        return False
    clause, noun = (fact, pair.known) if pair.term.is_verb else (claim, pair.term)
    return any(term.is_verb for term in clause.terms if term is not noun)


def _converse(pair: Pair, pairs: Sequence[Pair], words: Lexicon) -> Pair:
    """*pair* as met, if its words tell one thing from two sides: who lends, and who borrows "from" it.

    Of two that are compared, the one is larger and the other smaller.
    """
    if pair.how is not How.OPPOSITE or pair.known is None:
        return pair
    met = [(one.term, one.known) for one in pairs if one.is_met and one.is_own and one.known is not None]
    turned = {
        behind.before
        for told, known in met
        for front, verb, behind, other in (
            (known, pair.known, told, pair.term),
            (told, pair.term, known, pair.known),
        )
        if front.place < verb.place and not front.before and behind.place > other.place
    }
    is_said_of_goods = pair.term.is_passive and pair.known.is_passive  # what is sold can be bought
    is_converse = pair.known.key in words.converses.get(pair.term.key, ()) and (
        is_said_of_goods or any(words.is_one(before, "route") for before in turned)
    )
    is_compared = any(words.is_one(before, "comparing") for before in turned)
    return Pair(pair.term, How.NEAR, pair.known) if is_converse or is_compared else pair


def _lasting(pair: Pair, pairs: Sequence[Pair], words: Lexicon) -> Pair:
    """*pair* as met, if one says until when it lasts and the other when it ends: "open until 8", "closes at 8"."""
    if pair.how is not How.OPPOSITE or pair.known is None:
        return pair
    times = [(one.term, one.known) for one in pairs if one.known is not None and one.term.value is not None]
    is_until = any(
        words.is_one(told.before, role) != words.is_one(known.before, role)
        for told, known in times
        for role in ("until", "after")
    )
    lasts = words.is_one(pair.term.key, "being") != words.is_one(pair.known.key, "being")
    return Pair(pair.term, How.NEAR, pair.known) if is_until and lasts else pair


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


def _is_displaced(pair: Pair, fact: Clause, pairs: Sequence[Pair]) -> bool:
    """Whether a clause without a verb has a term of its own in the place of an inherited one.

    "Anna leads sales, Ben purchasing": the second clause inherits the verb, and not "sales".
    """
    known = pair.known
    if known is None or pair.is_own or known.is_verb or known not in fact.inherited or not fact.is_verbless:
        return False
    used = {one.known.place for one in pairs if one.known is not None and one.is_own}
    if fact.is_denied or fact.terms[0].place not in used:
        return False
    return any(term.before == known.before and term.place not in used for term in fact.terms[1:])


def is_end_of_it(pair: Pair, words: Lexicon) -> bool:
    """Whether the claim says that something is there and the memory that it ended, or the other way round."""
    return (
        pair.how is How.OPPOSITE
        and pair.known is not None
        and is_end(pair.term.key, pair.known.key, words)
        and not are_opposite(pair.term.key, pair.known.key, words)
    )


def leads_elsewhere(claim: Clause, words: Lexicon) -> bool:
    """Whether it begins with a condition, so that its first terms are not what it is about."""
    return bool(claim.order) and words.is_one(claim.order[0], "conditions")


def _is_turned(pairs: Sequence[Pair]) -> bool:
    """Whether the claim says in the passive what the memory says in the active, or the other way round."""
    verbs = [(pair.term, pair.known) for pair in pairs if pair.is_met and pair.is_own and pair.term.is_verb]
    return any(known and known.is_verb and told.is_passive != known.is_passive for told, known in verbs)


def _is_prohibited(pairs: Sequence[Pair], fact: Clause, words: Lexicon) -> bool:
    """Whether the claim calls forbidden what somebody must not do by the memory: "chicken is off limits for Bruno"."""
    is_ruled = fact.is_denied and bool(fact.marks & {"obliged", "permitted"})
    return is_ruled and any(
        pair.how is How.MISSING and words.is_one(pair.term.key, "denying") for pair in pairs
    )


def _may_inherit(pair: Pair, fact: Clause, is_subject: bool) -> bool:
    """Whether the clause inherits what it does not name: its subject, or the object behind a pronoun."""
    if pair.known is None or pair.known in fact.inherited[: fact.leading]:
        return True
    if pair.known in fact.inherited and fact.is_verbless:
        if pair.known.is_verb and fact.is_possessed:  # "her deputy — Pavel": its predicate is its own
            return False
        if fact.terms[0].kind is TermKind.NAME and len(fact.terms) > len(subject(fact)):
            return pair.known.is_verb  # "and Anna — physics": only the verb is left out
        return fact.is_contrast or not is_subject or not fact.has_subject
    if is_subject:
        return not fact.has_subject
    return fact.has_pronoun and not pair.term.is_verb


def _parted(pair: Pair) -> Pair:
    return Pair(pair.term, How.MISSING, pair.known, is_own=False, is_elsewhere=True)


def _pair(term: Term, fact: Clause, context: Sequence[Term], words: Lexicon, last: Pair | None) -> Pair:
    """The best counterpart of *term*: in the clause, then in its inherited terms."""
    around = (*fact.inherited, *context)
    own = [relation_of(term, known, words) for known in fact.terms]
    others = [relation_of(term, known, words) for known in around]
    looked_at = (
        (How.SAME, fact.terms, own, True),
        (How.NEAR, fact.terms, own, True),
        (How.OPPOSITE, fact.terms, own, True),
        (How.CONFLICT, fact.terms, own, True),
        (How.SAME, around, others, False),
        (How.NEAR, around, others, False),
    )
    for how, terms, found, is_own in looked_at:
        places = [place for place, one in enumerate(found) if one is how]
        if places:
            return Pair(
                term, how, terms[min(places, key=lambda at: _distance(term, terms[at], last))], is_own
            )
    rest = [
        known
        for known in fact.elsewhere
        if relation_of(term, known, words) in (How.SAME, How.NEAR) or _holds(known, term, words)
    ]
    return Pair(term, How.MISSING, rest[0] if rest else None, is_own=False, is_elsewhere=bool(rest))


def _distance(term: Term, known: Term, last: Pair | None) -> tuple[bool, int]:
    """Of several counterparts the one behind the same preposition, then the one next to the last pair."""
    near = (
        abs(known.place - last.known.place - 1)
        if last is not None and last.known is not None
        else known.place
    )
    return known.before != term.before, near


def _holds(known: Term, term: Term, words: Lexicon) -> bool:
    return words.language in SPACELESS and known.value is None and term.key in known.key
