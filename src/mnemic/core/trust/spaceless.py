"""Word segmentation of Chinese and Japanese without a dictionary: cut where two sentences differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from mnemic.core.trust.propositions import Clause
from mnemic.core.trust.terms import Term, TermKind

SHORTEST = 2
"""Shared characters that make a word."""


def aligned(claim: Clause, fact: Clause) -> tuple[Clause, Clause]:
    """Both clauses with their words cut at the borders of what they have in common."""
    terms, known = list(claim.terms), list(fact.terms)
    for term in claim.terms:
        if term.kind is TermKind.VALUE or any(term.key == other.key for other in known):
            continue
        best = max(known, key=lambda other: _common(term, other)[2], default=None)
        if best is None or _common(term, best)[2] < SHORTEST:
            continue
        start, other_start, size = _common(term, best)
        _cut(terms, term, start, size)
        _cut(known, best, other_start, size)
    return replace(claim, terms=_placed(terms)), replace(fact, terms=_placed(known))


def _common(one: Term, other: Term) -> tuple[int, int, int]:
    if TermKind.VALUE in (one.kind, other.kind) or one.key.isascii() or other.key.isascii():
        return 0, 0, 0  # pnpm is not npm
    match = SequenceMatcher(None, one.key, other.key, autojunk=False).find_longest_match()
    return match.a, match.b, match.size


def _cut(terms: list[Term], term: Term, start: int, size: int) -> None:
    if term not in terms:
        return
    place = terms.index(term)
    pieces = [term.key[:start], term.key[start : start + size], term.key[start + size :]]
    terms[place : place + 1] = [
        replace(term, key=piece, text=piece) for piece in pieces if piece and not _is_ending(piece)
    ]


def _is_ending(piece: str) -> bool:
    """One or two kana that are left of an inflected word."""
    return len(piece) <= 2 and all("\u3041" <= char <= "\u309f" for char in piece)


def _placed(terms: Sequence[Term]) -> tuple[Term, ...]:
    """*terms* in their new places; those that a function word parts stay apart, or two words would be one subject."""
    result: list[Term] = []
    for at, term in enumerate(terms):
        is_apart = at > 0 and term.place - terms[at - 1].place > 1
        place = result[-1].place + 1 + is_apart if result else 0
        result.append(replace(term, place=place))
    return tuple(result)
