"""View: both clauses with their pairs, and what they have in common."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.trust.implications import ends_unsaid
from mnemic.core.trust.lexicon import Lexicon
from mnemic.core.trust.pairs import How, Pair, weight
from mnemic.core.trust.propositions import Clause, subject
from mnemic.core.trust.terms import TermKind

FRAME = 0.7
"""Share of a claim, beside the value in question, that memory must say too before the two can contradict."""


class View:
    """Both clauses with their pairs, as the rules look at them."""

    def __init__(self, claim: Clause, fact: Clause, pairs: Sequence[Pair], words: Lexicon) -> None:
        self.claim, self.fact, self.pairs, self.words = claim, fact, pairs, words
        self.met = [pair for pair in pairs if pair.is_met]
        self.own = [pair for pair in self.met if pair.is_own]
        self.missing = [
            pair for pair in pairs if pair.how is How.MISSING and pair.term.kind is not TermKind.LIGHT
        ]
        self.conflicts = [pair for pair in pairs if pair.how is How.CONFLICT]
        self.opposites = [pair for pair in pairs if pair.how is How.OPPOSITE]
        self.ends = ends_unsaid(claim, fact, pairs, words)
        """Whether the claim says without a verb that something is there, or no longer, and the memory that it ended."""
        used = {pair.known.place for pair in pairs if pair.known is not None and pair.is_own}
        self.free = [term for term in fact.terms if term.place not in used]
        """Terms of the memory's clause that the claim does not mention."""

    def shares_frame(self) -> bool:
        """Whether the memory speaks of the same: its subject, its names, and most of the other words."""
        if (
            not any(pair.term.kind is not TermKind.LIGHT for pair in self.own)
            and not self.opposites
            and not self.conflicts
        ):
            return False
        if (
            not self.own
            or any(pair.term.kind is TermKind.VALUE for pair in self.missing)
            or self._misses_subject()
        ):
            return False
        return self._frame([pair for pair in self.pairs if pair.how not in (How.CONFLICT, How.OPPOSITE)])

    def _frame(self, rest: Sequence[Pair]) -> bool:
        return bool(rest) and weight([pair for pair in rest if pair.is_met]) >= FRAME * weight(rest)

    def shares_frame_but_one(self) -> bool:
        """The same, but for one expression that the memory does not have in this clause."""
        slot = self.slot()
        if (
            not slot
            or len(slot) < len(self.missing)
            or any(pair.term.kind is TermKind.VALUE for pair in slot)
        ):
            return False
        met = [pair for pair in self.met if pair.term.kind is not TermKind.LIGHT]
        return bool(met) and bool(self.own) and self._frame([pair for pair in self.pairs if pair not in slot])

    def slot(self) -> list[Pair]:
        """The missing terms, if they form one phrase: "in New Delhi"."""
        return [
            pair
            for at, pair in enumerate(self.missing)
            if at == 0 or (pair.term.place - self.missing[at - 1].term.place == 1 and at < 3)
        ]

    def _misses_subject(self) -> bool:
        return any(pair in self.missing for pair in self.subject())

    def subject(self) -> list[Pair]:
        """The pairs of the claim's subject."""
        first = subject(self.claim)
        return [pair for pair in self.pairs if pair.term in first]

    def predicate_is_met(self) -> bool:
        """Whether the claim's predicate about its subject is in this clause."""
        firm = [pair for pair in self.pairs if pair.term.kind is not TermKind.LIGHT]
        has_light_verb = any(
            pair.term.is_verb and pair.term.kind is TermKind.LIGHT and pair.how is How.SAME and pair.is_own
            for pair in self.pairs
        )
        if len(firm) < 2 and not (firm and has_light_verb):
            return False
        if self.fact.is_verbless:
            return bool(self.own)
        about = self.subject()
        told = [pair for pair in self.pairs if pair not in about] or (about if len(about) > 2 else [])
        has_object = self.words.is_one(self.fact.order[-1], "pronouns")
        is_referred = has_object and not any(term.is_verb for term in self.fact.terms)
        return any((pair.is_own or is_referred) and pair.is_met for pair in told)  # "4.7 still has it"
