"""Comparing a claim with what a memory says: entailed, contradicted, related, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from mnemic.core.trust.counterparts import paired
from mnemic.core.trust.entailment import entails
from mnemic.core.trust.exclusions import exclusion
from mnemic.core.trust.implications import binds, is_replaced, relocates
from mnemic.core.trust.lexicon import SPACELESS, lexicon
from mnemic.core.trust.pairs import Pair, coverage
from mnemic.core.trust.polarity import end, opposition, other_value
from mnemic.core.trust.propositions import Clause
from mnemic.core.trust.reasons import quoted
from mnemic.core.trust.roles import exchange
from mnemic.core.trust.spaceless import aligned
from mnemic.core.trust.substitution import substitution
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.view import View


class Entailment(Enum):
    """Relation of a memory to a claim."""

    ENTAILS = "entails"
    CONTRADICTS = "contradicts"
    RELATED = "related"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome for one clause of a claim, with the reason in plain words where there is one."""

    relation: Entailment
    coverage: float
    pairs: tuple[Pair, ...]
    fact: Clause
    reason: str = ""

    @property
    def missing(self) -> list[Term]:
        """Terms of the claim that the memory does not have."""
        return [pair.term for pair in self.pairs if not pair.is_met and pair.term.kind is not TermKind.LIGHT]


def compare(claim: Clause, fact: Clause, context: Sequence[Term] = (), titled: int = 0) -> Comparison:
    """Compare *fact*, a clause of a memory, with *claim*, a clause of a claim.

    *context* are surrounding terms: first *titled* ones of the memory's title, then those of the sentence before.
    """
    words = lexicon(claim.language if claim.language == fact.language else "en")
    if words.language in SPACELESS:
        claim, fact = aligned(claim, fact)
    pairs = paired(claim, fact, context, titled, words)
    share = coverage(pairs)
    if share == 0:
        return Comparison(Entailment.NONE, 0.0, pairs, fact)
    view = View(claim, fact, pairs, words)
    if (
        claim.order == fact.order
        and claim.denials == fact.denials
        and claim.marks - fact.marks <= {"question"}
        and _verb_forms(claim) == _verb_forms(fact)
    ):
        return Comparison(Entailment.ENTAILS, 1.0, pairs, fact)
    reason = contradiction(view)
    if reason:
        return Comparison(Entailment.CONTRADICTS, share, pairs, fact, reason)
    if entails(view):
        return Comparison(Entailment.ENTAILS, share, pairs, fact)
    return Comparison(Entailment.RELATED, share, pairs, fact)


def _verb_forms(clause: Clause) -> list[str]:
    """Its verbs as written: who worked somewhere may work there no more."""
    return [term.text.lower() for term in clause.terms if term.is_verb]


def contradiction(view: View) -> str:
    """Why the two exclude each other, or nothing."""
    if binds(view.claim, view.fact, view.pairs, view.words):
        return ""
    if relocates(view.claim, view.fact, view.pairs, view.words) is False:
        return f"memory tells of a move: {quoted(view.fact)}"
    if is_replaced(view.claim, view.fact, view.pairs, view.words) is False:
        return f"memory says what came next: {quoted(view.fact)}"
    if excluded := exclusion(view):
        return excluded
    fact_only = view.fact.marks - view.claim.marks
    if view.shares_frame() and not any(pair.term.kind is TermKind.NAME for pair in view.missing):
        is_hedged = "hedged" in fact_only
        found = "" if is_hedged else exchange(view)
        found = found or other_value(view) or opposition(view) or end(view)
        if found:
            return found
    return substitution(view) if view.shares_frame_but_one() else ""
