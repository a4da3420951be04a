"""Reasons of a contradiction, in the words of the memory."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.core.trust.pairs import Pair
from mnemic.core.trust.propositions import Clause
from mnemic.core.trust.terms import Term, TermKind

QUOTED = 120


def quoted(fact: Clause) -> str:
    """The sentence of a memory, cut if it is long."""
    text = " ".join(fact.text.split())
    return f"“{text}”" if len(text) <= QUOTED else f"“{text[:QUOTED].rsplit(' ', 1)[0]} …”"


def as_written(term: Term | None) -> str:
    """A term as written; the words of a phrase were joined by underscores."""
    if term is None:
        return ""
    return term.text if term.kind is TermKind.NAME else term.text.replace("_", " ")


def differs(pair: Pair) -> str:
    """What the memory says and what the claim says."""
    return f"memory says {as_written(pair.known)}, the claim says {as_written(pair.term)}"


def denial(fact: Clause, opposites: Sequence[Pair]) -> str:
    """Which of the two denies what the other says."""
    if opposites and opposites[0].known:
        return differs(opposites[0])
    if fact.is_denied:
        return f"memory denies it: {quoted(fact)}"
    return f"the claim denies what memory says: {quoted(fact)}"
