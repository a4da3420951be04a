"""For each term of a claim its counterpart in a clause of a memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mnemic.core.trust.bounds import held_against_bounds, held_against_ends, held_against_times, is_between
from mnemic.core.trust.implications import is_about_the_same, is_end
from mnemic.core.trust.inheritance import is_displaced, is_prohibited, is_turned, may_inherit
from mnemic.core.trust.lexicon import SPACELESS, Lexicon, are_opposite
from mnemic.core.trust.pairs import How, Pair
from mnemic.core.trust.propositions import Clause, subject
from mnemic.core.trust.term_relation import names_its_agent, relation_of
from mnemic.core.trust.terms import Term, TermKind


def paired(
    claim: Clause, fact: Clause, context: Sequence[Term], titled: int, words: Lexicon
) -> tuple[Pair, ...]:
    """The terms of *claim*, each with the term of *fact* or its surroundings that meets or opposes it."""
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
    pairs = [Pair(pair.term, How.MISSING) if is_between(pair, fact, words) else pair for pair in pairs]
    if "only" not in claim.marks:
        pairs = [held_against_bounds(pair, fact) for pair in pairs]
    pairs = _without_repeats(pairs, fact, context)
    if not is_about_the_same(fact, pairs, words):
        pairs = [Pair(pair.term, How.MISSING) if is_end_of_it(pair, words) else pair for pair in pairs]
    pairs = [pair if not _is_misread(pair, claim, fact) else Pair(pair.term, How.MISSING) for pair in pairs]
    pairs = [_converse(pair, pairs, claim, fact, words) for pair in pairs]
    pairs = held_against_ends(held_against_times(pairs, words), fact, words)
    pairs = [_parted(pair) if is_displaced(pair, fact, pairs) else pair for pair in pairs]
    return _tied(pairs, claim, fact, context[:titled], words)


def _tied(
    pairs: Sequence[Pair], claim: Clause, fact: Clause, title: Sequence[Term], words: Lexicon
) -> tuple[Pair, ...]:
    """*pairs* without those whose counterpart stands around the clause and is not its own by inheritance."""
    first = () if leads_elsewhere(claim, words) else subject(claim)
    head = [term for term in first if not term.before][-1:]
    if any(words.is_one(word, "existential") for word in claim.order):  # "is there a sauna in Ghent?"
        first += tuple(term for term in claim.terms if term.before)
    turned = is_turned(pairs) or is_prohibited(pairs, fact, words)
    return tuple(
        pair
        if pair.is_own
        or pair.known in title
        or may_inherit(pair, fact, turned or pair.term in first, pair.term in head)
        else _parted(pair)
        for pair in pairs
    )


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
    if pair.how is not How.NEAR or pair.known is None or not names_its_agent(pair.term, pair.known):
        return False
    clause, noun = (fact, pair.known) if pair.term.is_verb else (claim, pair.term)
    return any(term.is_verb for term in clause.terms if term is not noun)


def _converse(pair: Pair, pairs: Sequence[Pair], claim: Clause, fact: Clause, words: Lexicon) -> Pair:
    """*pair* as met, if its words tell one thing from two sides: who lends, and who borrows "from" it.

    Of two that are compared, the one is larger and the other smaller.
    """
    if pair.how is not How.OPPOSITE or pair.known is None:
        return pair
    if is_inverse(pair, words):
        return Pair(pair.term, _inverted(pair, pairs, claim, fact), pair.known)
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


def is_inverse(pair: Pair, words: Lexicon) -> bool:
    """Whether its words name the two sides of a relation: "boss", "reports to"."""
    return pair.known is not None and pair.known.key in words.inverses.get(pair.term.key, ())


def _inverted(pair: Pair, pairs: Sequence[Pair], claim: Clause, fact: Clause) -> How:
    """How the other side of a relation is met: by the same two the other way round; missing if both are not named."""
    assert pair.known is not None
    first = subject(claim)
    named = [one for one in pairs if one.is_met and one.is_own and one.known and one.term.value is None]
    named = [one for one in named if one.term.kind is not TermKind.LIGHT and not one.term.is_verb]
    front = [one.known.place for one in named if one.term in first and one.known]
    behind = [one.known.place for one in named if one.term not in first and one.known]
    if pair.term in first:  # "Tom's boss is Ann"
        front, behind = behind[:1], front
    if not front or not behind:
        return How.MISSING
    is_crossed = min(front) > min(behind)
    is_crossed ^= pair.term.is_passive != pair.known.is_passive
    is_crossed ^= (
        pair.known in subject(fact) and not pair.known.is_verb and fact.language in ("en", "de", "fr", "es")
    )
    return How.NEAR if is_crossed else How.OPPOSITE


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
    if parts := _compounded(term, fact):
        return Pair(term, How.NEAR, parts[-1])
    rest = [
        known
        for known in fact.elsewhere
        if relation_of(term, known, words) in (How.SAME, How.NEAR) or _holds(known, term, words)
    ]
    return Pair(term, How.MISSING, rest[0] if rest else None, is_own=False, is_elsewhere=bool(rest))


def _compounded(term: Term, fact: Clause) -> list[Term]:
    """The two nouns of the memory that a German compound joins: "Lagerleitung", "die Leitung des Lagers"."""
    if fact.language != "de" or term.value is not None or len(term.key) < 8:
        return []
    told = term.text.lower()
    nouns = [one for one in fact.terms if len(one.text) > 3 and one.text[:1].isupper()]
    front = [one for one in nouns if told.startswith(one.text.lower().rstrip("sn"))]
    back = [one for one in nouns if told.endswith(one.text.lower()) and one not in front]
    return [*front, *back] if front and back else []


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
