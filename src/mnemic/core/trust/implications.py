"""Implications of a memory that its words do not state: what was closed no longer runs, who succeeds comes later."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.trust.lexicon import Lexicon
from mnemic.core.trust.pairs import Pair
from mnemic.core.trust.propositions import Clause
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.values import Date


def is_end(one: str, other: str, words: Lexicon) -> bool:
    """Whether one of two words says that something exists or works, the other that it ended."""
    return (words.is_one(one, "being") and words.is_one(other, "ending")) or (
        words.is_one(one, "ending") and words.is_one(other, "being")
    )


def is_about_the_same(fact: Clause, pairs: Sequence[Pair], words: Lexicon) -> bool:
    """Whether the claim names all that the memory's clause is about, so that what ended is what the claim names.

    "The board closed the office" does not say that the board is gone.
    """
    if "future" in fact.marks:
        return False
    used = {pair.known.place for pair in pairs if pair.known is not None and pair.is_own}
    return all(
        term.place in used
        or term.before
        or term.kind in (TermKind.VALUE, TermKind.LIGHT)
        or any(words.is_one(term.key, role) for role in ("ending", "times"))
        or _completes_name(term, fact, used)
        or _is_kana(term)
        for term in fact.terms
    )


def _completes_name(term: Term, fact: Clause, used: set[int]) -> bool:
    return term.kind is TermKind.NAME and any(place in used for place in (term.place - 1, term.place + 1))


def _is_kana(term: Term) -> bool:
    """Whether it is what is left of a Japanese verb's ending."""
    return len(term.key) <= 2 and all("\u3041" <= char <= "\u309f" for char in term.key)


def tells_an_end(fact: Clause, words: Lexicon) -> bool:
    """Whether it tells the end of something."""
    return not fact.is_denied and any(words.is_one(term.key, "ending") for term in fact.terms)


def ends_unsaid(claim: Clause, fact: Clause, pairs: Sequence[Pair], words: Lexicon) -> bool:
    """Whether a claim without a predicate ("there is no office any more") meets a memory of an end."""
    if not claim.marks & {"no more", "still"} or any(_is_firm(pair) and not pair.is_met for pair in pairs):
        return False
    used = {pair.known.place for pair in pairs if pair.known is not None and pair.is_own}
    ends = [term for term in fact.terms if term.place not in used and words.is_one(term.key, "ending")]
    is_named = bool(used) or fact.has_pronoun  # "and left it in May"
    return bool(ends) and is_named and is_about_the_same(fact, pairs, words)


def _is_firm(pair: Pair) -> bool:
    return pair.term.kind is not TermKind.LIGHT


def succession_agrees(claim: Clause, fact: Clause, pairs: Sequence[Pair], words: Lexicon) -> bool | None:
    """Whether a claim of "before" or "after" agrees with who succeeded whom; None if the memory does not say."""
    verb = next((term for term in fact.terms if words.is_one(term.key, "succession")), None)
    turn = _turn(claim, words)
    told = claim.marks & {"before", "after"}
    if verb is None or turn is None or len(told) != 1:
        return None
    names = [pair for pair in pairs if pair.term.kind is TermKind.NAME and pair.known is not None]
    behind = {pair.term.place for pair in names if _is_next(pair.term.place, turn, claim)}
    later = {_is_new(pair.known, verb, words) for pair in names if pair.term.place in behind and pair.known}
    earlier = {
        _is_new(pair.known, verb, words) for pair in names if pair.term.place not in behind and pair.known
    }
    if len(later) != 1 or len(earlier) != 1 or later == earlier:
        return None
    return (later == {True}) == (told == {"before"})


def _is_new(known: Term, verb: Term, words: Lexicon) -> bool:
    """Whether a term is what comes after in a succession: who succeeds, what something is replaced with."""
    is_newcomer = words.is_one(known.before, "passive") or known.before in _NEWCOMERS
    return is_newcomer or (known.place < verb.place and not verb.is_passive)


def is_of_the_new(fact: Clause, pairs: Sequence[Pair], words: Lexicon) -> bool:
    """Whether the claim names what came in place of something: "NATS replaced RabbitMQ", "we switched to NATS"."""
    named = [pair.known for pair in pairs if pair.known and pair.is_own and not pair.known.is_verb]
    verb = next((term for term in fact.terms if words.is_one(term.key, "succession")), None)
    if any(words.is_one(known.before, "goal") for known in named) and tells_a_move(fact, words):
        return True
    return verb is not None and any(_is_new(known, verb, words) for known in named)


_NEWCOMERS = ("with", "durch", "par", "por", "на")


def _turn(claim: Clause, words: Lexicon) -> int | None:
    """The place of "before" or "after"."""
    return next(
        (
            at
            for at, word in enumerate(claim.order)
            if words.is_one(word, "before") or words.is_one(word, "after")
        ),
        None,
    )


def _is_next(place: int, turn: int, claim: Clause) -> bool:
    """Whether a name follows "before" with nothing but function words and other names between."""
    between = (term for term in claim.terms if turn < term.place < place)
    return place > turn and all(term.kind is TermKind.NAME for term in between)


def is_bound(claim: Clause, fact: Clause, pairs: Sequence[Pair], words: Lexicon) -> bool:
    """Whether "gloves are mandatory in the lab" gives what the claim says: nobody may enter the lab without gloves."""
    needed = [
        pair for pair in pairs if pair.is_own and pair.is_met and words.is_one(pair.term.before, "without")
    ]
    is_ruled = any(words.is_one(term.key, "binding") for term in fact.terms) and not fact.is_denied
    if not needed or not claim.is_denied or not is_ruled or "future" in fact.marks:
        return False
    used = {pair.known.place for pair in pairs if pair.known is not None and pair.is_own}
    is_same = all(term.place in used or words.is_one(term.key, "binding") for term in fact.terms)
    return is_same and all(pair.is_met or not _is_firm(pair) or pair.term.is_verb for pair in pairs)


def binds(claim: Clause, fact: Clause, pairs: Sequence[Pair], words: Lexicon) -> bool:
    """Whether "nobody may enter without gloves" gives what the claim says: gloves are mandatory."""
    is_bound = "obliged" in claim.marks or any(words.is_one(pair.term.key, "binding") for pair in pairs)
    if claim.is_denied or not is_bound or not fact.is_denied or "future" in fact.marks:
        return False
    needed = [
        pair for pair in pairs if pair.known and pair.is_own and words.is_one(pair.known.before, "without")
    ]
    return bool(needed) and all(
        pair.is_met
        or not _is_firm(pair)
        or any(words.is_one(pair.term.key, role) for role in ("binding", "having"))
        for pair in pairs
    )


def relocates(claim: Clause, fact: Clause, pairs: Sequence[Pair], words: Lexicon) -> bool | None:
    """Whether who moved from one place to another is now where the claim says; None if the memory does not tell.

    "Amir moved from Leeds to Porto": he lives in Porto and no longer in Leeds.
    """
    told = [pair for pair in pairs if _is_firm(pair) and not words.is_one(pair.term.key, "residing")]
    is_now = not claim.marks & {"ended", "moved", "before", "after", "future", "question"}
    is_said = any(words.is_one(pair.term.key, "residing") for pair in pairs) or _equates(claim, pairs, words)
    if not is_now or not is_said or not tells_a_move(fact, words) or not all(pair.is_met for pair in told):
        return None
    places = [pair.known for pair in told if pair.known and pair.is_own and _is_place(pair, words)]
    is_reached = any(words.is_one(known.before, "goal") for known in places)
    is_dated = any(isinstance(one.value, Date) and words.is_one(one.before, "goal") for one in fact.terms)
    is_left = any(
        words.is_one(known.before, "source")
        or (is_dated and not is_reached and isinstance(known.value, Date))
        for known in places
    )
    if is_left == is_reached or len(told) < 2:
        return None
    is_gone = claim.is_denied or "no more" in claim.marks
    return is_left == is_gone


def is_replaced(claim: Clause, fact: Clause, pairs: Sequence[Pair], words: Lexicon) -> bool | None:
    """Whether the claim says rightly that what was replaced is no longer used; None if the memory does not tell."""
    verb = next((term for term in fact.terms if words.is_one(term.key, "succession")), None)
    told = [pair for pair in pairs if _is_firm(pair) and not words.is_one(pair.term.key, "using")]
    is_said = any(words.is_one(pair.term.key, "using") for pair in pairs)
    is_certain = not fact.is_denied and not fact.marks & {"future", "hedged", "permitted", "obliged"}
    if verb is None or not is_certain or not is_said or not claim.marks & {"no more", "still"}:
        return None
    if not told or not all(pair.is_met and pair.is_own and _is_old(pair.known, verb, words) for pair in told):
        return None
    return "no more" in claim.marks


def _is_old(known: Term | None, verb: Term, words: Lexicon) -> bool:
    """Whether a term is what was there before in a succession."""
    if known is None or (known.before and words.is_one(known.before, "prepositions")):
        return False
    return (known.place < verb.place) == verb.is_passive


def _equates(claim: Clause, pairs: Sequence[Pair], words: Lexicon) -> bool:
    """Whether the claim only says where or when something is: "the meeting is on Tuesdays"."""
    is_told = any(pair.known and words.is_one(pair.known.key, "moving") for pair in pairs)
    return not is_told and any(words.is_one(word, "copulas") for word in claim.order)


def _is_place(pair: Pair, words: Lexicon) -> bool:
    """Whether a term tells where or when something is, not where it comes from."""
    assert pair.known is not None
    is_route = any(words.is_one(pair.known.before, role) for role in ("source", "goal"))
    is_told = bool(pair.term.before) or is_route or isinstance(pair.term.value, Date)
    return is_told and not words.is_one(pair.term.before, "source")


def tells_a_move(fact: Clause, words: Lexicon) -> bool:
    """Whether it tells that something moved, for certain and not in the future."""
    is_certain = not fact.is_denied and not fact.marks & {"future", "hedged", "permitted", "obliged"}
    return is_certain and any(words.is_one(term.key, "moving") for term in fact.terms)
