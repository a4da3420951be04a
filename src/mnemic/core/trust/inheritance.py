"""Inheritance: which terms from outside its clause a memory says of the same thing."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.trust.lexicon import Lexicon
from mnemic.core.trust.pairs import How, Pair
from mnemic.core.trust.propositions import Clause, subject
from mnemic.core.trust.terms import TermKind


def is_turned(pairs: Sequence[Pair]) -> bool:
    """Whether the claim says in the passive what the memory says in the active, or the other way round."""
    verbs = [(pair.term, pair.known) for pair in pairs if pair.is_met and pair.is_own and pair.term.is_verb]
    return any(known and known.is_verb and told.is_passive != known.is_passive for told, known in verbs)


def is_prohibited(pairs: Sequence[Pair], fact: Clause, words: Lexicon) -> bool:
    """Whether the claim calls forbidden what somebody must not do by the memory: "chicken is off limits for Bruno"."""
    is_ruled = fact.is_denied and bool(fact.marks & {"obliged", "permitted"})
    return is_ruled and any(
        pair.how is How.MISSING and words.is_one(pair.term.key, "denying") for pair in pairs
    )


def may_inherit(pair: Pair, fact: Clause, is_subject: bool, is_head: bool) -> bool:
    """Whether the clause inherits what it does not name: its subject, an owner, or the object behind a pronoun.

    *is_head* tells the head of the claim's subject from what specifies it: "his sister is ill" says it of the sister.
    """
    if pair.known is None or pair.known in fact.inherited[: fact.leading]:
        return True
    if pair.known in fact.inherited and fact.is_verbless:
        if pair.known.is_verb and fact.is_possessed:  # "her deputy — Pavel": its predicate is its own
            return False
        if fact.terms[0].kind is TermKind.NAME and len(fact.terms) > len(subject(fact)):
            return pair.known.is_verb  # "and Anna — physics": only the verb is left out
        return fact.is_contrast or not is_subject or not fact.has_subject
    if is_subject:
        return not fact.has_subject or (fact.is_possessed and not is_head)
    return fact.has_pronoun and not pair.term.is_verb


def is_displaced(pair: Pair, fact: Clause, pairs: Sequence[Pair]) -> bool:
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
