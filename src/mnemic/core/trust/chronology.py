"""Order in time: before and after."""

from __future__ import annotations

from mnemic.core.trust.implications import succession_agrees
from mnemic.core.trust.reasons import quoted
from mnemic.core.trust.terms import TermKind
from mnemic.core.trust.view import View


def order_in_time(view: View) -> str | None:
    """Before and after: None if the claim has neither, else the reason or nothing."""
    if not view.claim.marks & {"before", "after"}:
        return None
    if agrees_in_time(view) is False:
        return f"memory has them the other way round in time: {quoted(view.fact)}"
    return ""


def agrees_in_time(view: View) -> bool | None:
    """Whether both agree on what came first; None if unknown."""
    told, known = view.claim.marks & {"before", "after"}, view.fact.marks & {"before", "after"}
    succession = succession_agrees(view.claim, view.fact, view.pairs, view.words)
    if succession is not None:
        return succession
    crossed = _is_crossed_in_time(view)
    if len(told) != 1 or len(known) != 1 or crossed is None:
        return None
    return (told == known) != crossed


def _is_crossed_in_time(view: View) -> bool | None:
    """Whether the claim's argument after "before" or "after" comes in front of it in the memory."""
    turn = [
        next(
            (
                at
                for at, word in enumerate(clause.order)
                if view.words.is_one(word, "before") or view.words.is_one(word, "after")
            ),
            None,
        )
        for clause in (view.claim, view.fact)
    ]
    if turn[0] is None or turn[1] is None:
        return None
    sides = {
        (pair.term.place > turn[0], pair.known.place > turn[1])
        for pair in view.own
        if pair.known is not None and pair.term.kind is not TermKind.LIGHT
    }
    straight, cross = sides & {(True, True), (False, False)}, sides & {(True, False), (False, True)}
    if len(cross) == 2:
        return True
    if (True, True) in straight:
        return False
    return True if cross and not straight else None
