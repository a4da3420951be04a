"""Pairs: a term of a claim with the term of a memory that meets it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from mnemic.core.trust.terms import Term, TermKind

WEIGHTS = {TermKind.NAME: 2.0, TermKind.VALUE: 1.5, TermKind.WORD: 1.0, TermKind.LIGHT: 0.25}


class How(Enum):
    """How a term of the claim is met by a term of the memory."""

    SAME = "same"
    NEAR = "near"
    OPPOSITE = "opposite"
    CONFLICT = "conflict"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Pair:
    """A term of the claim and the term of the memory that meets it."""

    term: Term
    how: How
    known: Term | None = None
    is_own: bool = True
    """Whether it occurs in the clause itself, not in inherited terms."""
    is_elsewhere: bool = False
    """Whether it occurs only in another clause of the sentence, so that nothing ties it to this one."""

    @property
    def is_met(self) -> bool:
        """Whether the memory says it too."""
        return self.how in (How.SAME, How.NEAR)


def weight(pairs: Sequence[Pair]) -> float:
    return sum(WEIGHTS[pair.term.kind] for pair in pairs)


def coverage(pairs: Sequence[Pair]) -> float:
    total = weight(pairs)
    return weight([pair for pair in pairs if pair.is_met]) / total if total else 0.0
