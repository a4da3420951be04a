"""Modality and tense: whether a memory says something outright, or as a condition, wish, permission, plan or past.

What is asked, promised, advised, permitted or announced verifies no claim that it is so.
"""

from __future__ import annotations

from mnemic.core.trust.terms import TermKind
from mnemic.core.trust.view import View


def is_unreal(view: View) -> bool:
    """Whether the claim says outright, or of another time, what the memory does not."""
    return is_under_a_condition(view) or _is_only_spoken_of(view) or _is_yet_to_come(view) or _is_past(view)


def is_under_a_condition(view: View) -> bool:
    """Whether the memory says it only in case of something, or as the condition, and the claim outright."""
    roles = ("conditional", "unless")
    own = (*roles, "conditions", "without")
    if any(view.words.is_one(word, role) for word in view.claim.order for role in own):
        return False
    order = view.fact.order
    turn = next((at for at, word in enumerate(order) if view.words.is_one(word, "conditions")), 0)
    if turn and all(pair.known is not None and pair.known.place > turn for pair in view.own):
        return True
    is_whole = all(term.kind is TermKind.LIGHT for term in view.free)
    return not is_whole and any(view.words.is_one(word, role) for word in order for role in roles)


def _is_only_spoken_of(view: View) -> bool:
    """Whether the memory only asks, promises, permits or reports what the claim says, or that it almost happened."""
    is_exclusive = "only" in view.fact.marks and view.claim.is_denied  # nothing else is possible
    if "permitted" in view.fact.marks - view.claim.marks and not view.fact.is_denied and not is_exclusive:
        return True
    advises = any(view.words.is_one(word, "advice") for word in view.fact.order)
    if advises and "obliged" not in view.claim.marks:
        return True
    verbs = [pair.known for pair in view.own if pair.term.is_verb and pair.known is not None]
    if not verbs:
        return False
    order = view.fact.order
    return any(
        (term.is_verb or term.kind is TermKind.LIGHT)
        and term.place < verb.place
        and view.words.is_one(term.key, "unreal")
        for term in view.free
        for verb in verbs
    ) or any(
        0 < verb.place <= len(order) and view.words.is_one(order[verb.place - 1], "almost") for verb in verbs
    )


def _is_yet_to_come(view: View) -> bool:
    """Whether the claim tells as past or done what the memory announces."""
    return "future" in view.fact.marks - view.claim.marks and _tells_the_past(view)


def _is_past(view: View) -> bool:
    """Whether the claim tells as present what the memory says of a time that is over: "until 2024 we hosted"."""
    claim = view.claim
    is_over = (
        "ended" in view.fact.marks - claim.marks and not claim.is_denied and "no more" not in claim.marks
    )
    is_past = is_over or any(view.words.is_one(word, "until") for word in view.fact.order[:1])
    return is_past and not _tells_the_past(view)


def _tells_the_past(view: View) -> bool:
    verbs = (pair.term for pair in view.pairs if pair.term.is_verb and view.words.language == "en")
    return any(view.words.is_one(word, "done") for word in view.claim.order) or any(
        verb.text.lower() != verb.key and not verb.text.lower().endswith(("s", "ing")) and not verb.is_passive
        for verb in verbs
    )
