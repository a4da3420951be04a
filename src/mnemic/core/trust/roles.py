"""Contradictions by roles: arguments, values or sides exchanged."""

from __future__ import annotations

from mnemic.core.trust.chronology import order_in_time
from mnemic.core.trust.counterparts import is_inverse, leads_elsewhere
from mnemic.core.trust.lexicon import are_opposite, is_common_word
from mnemic.core.trust.pairs import How, Pair
from mnemic.core.trust.propositions import subject
from mnemic.core.trust.reasons import quoted
from mnemic.core.trust.terms import TermKind
from mnemic.core.trust.view import View


def exchange(view: View) -> str:
    """Arguments on the other side of a verb, behind each other's preposition, or the other way round in time."""
    in_time = order_in_time(view)
    if in_time is not None:
        return in_time
    if any(pair.term.is_verb and pair.how is How.MISSING for pair in view.pairs):
        return ""  # another relation may hold between the same arguments the other way round
    if any(is_inverse(pair, view.words) for pair in view.own):
        return ""
    arguments = [pair for pair in view.own if pair.term.kind is not TermKind.LIGHT]
    is_reversed = any(
        _is_reversed(view, one, other) for at, one in enumerate(arguments) for other in arguments[at + 1 :]
    )
    found = (_changes_voice, _changes_sides, _changes_role, _exchanges_values)
    if is_reversed or any(one(view) for one in found):
        return f"memory has them the other way round: {quoted(view.fact)}"
    return ""


def _is_reversed(view: View, one: Pair, other: Pair) -> bool:
    """Whether two arguments have changed places: by their prepositions, or around the same verb."""
    first, second = one.known, other.known
    if first is None or second is None or first.place == second.place:
        return False
    crossed = first.place > second.place
    befores, kinds = (one.term.before, other.term.before), {one.term.kind, other.term.kind}
    is_exchanged = crossed and befores[0] != befores[1] and befores == (second.before, first.before)
    if is_exchanged and any(view.words.is_one(before, "comparing") for before in befores):
        return not _compares_from_the_other_side(view)
    if is_exchanged and _is_copula(befores):
        return False
    if is_exchanged and (
        all(befores) or kinds == {TermKind.VALUE} or _excludes_its_converse(view, one, other)
    ):
        return True
    roles = (one.term.role, other.term.role)
    if all(roles) and roles[0] != roles[1] and roles == (second.role, first.role):
        return True
    if TermKind.VALUE in kinds or _keep_their_cases(view, one, other) or _is_inverted(view):
        return False
    verb = _between(view, one, other)
    if verb is None or verb.known is None or not (verb.how is How.SAME or _is_succession(view, verb)):
        return False
    behind = first if crossed else second
    is_passive = view.words.is_one(other.term.before, "passive") or verb.term.is_passive
    was_passive = view.words.is_one(behind.before, "passive") or verb.known.is_passive
    if is_passive != was_passive and behind.before and not view.words.is_one(behind.before, "passive"):
        return False
    return crossed ^ (is_passive != was_passive)


def _excludes_its_converse(view: View, one: Pair, other: Pair) -> bool:
    """Whether two terms around a preposition make another statement when exchanged: "tea over coffee"."""
    if all(_is_like_a_name(pair, view) for pair in (one, other)):
        return True
    if view.words.language == "de" and view.words.is_one(other.term.before, "source"):
        return one.term is view.claim.terms[0] and other.known is view.fact.terms[0]
    words = (one.term.kind, other.term.kind) == (TermKind.WORD, TermKind.WORD)
    is_led = any(pair.term.is_verb and pair.term.place < one.term.place for pair in view.own)
    return words and is_led and not view.words.is_one(one.term.before or other.term.before, "mutual")


def _is_succession(view: View, verb: Pair) -> bool:
    """Whether both verbs say who follows whom: "succeeded", "took over from"."""
    return all(term and view.words.is_one(term.key, "succession") for term in (verb.term, verb.known))


def _is_like_a_name(pair: Pair, view: View) -> bool:
    """Whether it is a name, or an English word that no dictionary has: dbt."""
    is_unknown = view.words.language == "en" and not is_common_word(pair.term.key)
    return pair.term.kind is TermKind.NAME or (pair.term.kind is TermKind.WORD and is_unknown)


def _compares_from_the_other_side(view: View) -> bool:
    """Whether one says "larger" where the other says "smaller"."""
    return any(
        pair.known is not None and are_opposite(pair.term.key, pair.known.key, view.words)
        for pair in view.own
    )


def _is_inverted(view: View) -> bool:
    """Whether the order of words tells no roles: a condition in front, or a German adjunct in only one of both."""
    if any(leads_elsewhere(clause, view.words) for clause in (view.claim, view.fact)):
        return True
    starts = {bool(clause.terms[0].before) for clause in (view.claim, view.fact)}
    return view.words.language == "de" and len(starts) == 2


def _exchanges_values(view: View) -> bool:
    """Whether two values changed places while what they belong to did not: "8 on weekdays and 6 on weekends"."""
    values = [pair for pair in view.own if pair.term.value is not None and pair.how is How.SAME]
    return any(
        _is_crossed(one, other) and any(not _is_crossed(*owners) for owners in _owners(view, one, other))
        for at, one in enumerate(values)
        for other in values[at + 1 :]
    )


def _owners(view: View, one: Pair, other: Pair) -> list[tuple[Pair, Pair]]:
    """What each of two values may belong to: words behind the same preposition, all behind or all in front."""
    words = [pair for pair in view.own if pair.term.value is None and pair.term.kind is not TermKind.LIGHT]
    low, high = one.term.place, other.term.place
    before = [pair for pair in words if pair.term.place < low][-1:]
    between = [pair for pair in words if low < pair.term.place < high]
    after = [pair for pair in words if pair.term.place > high][:1]
    found = [(left, right) for left in between[:1] for right in after]
    found += [(left, right) for left in before for right in between[-1:]]
    return [pair for pair in found if pair[0].term.before == pair[1].term.before != ""]


def _keep_their_cases(view: View, one: Pair, other: Pair) -> bool:
    """Whether two arguments in Russian, whose order is free, have the endings they have in the memory."""
    forms = {(pair.term.text.lower(), pair.known.text.lower()) for pair in (one, other) if pair.known}
    return view.fact.language == "ru" and all(told == known for told, known in forms)


def _changes_sides(view: View) -> bool:
    """Whether an argument is on the other side of the same verb while the claim names another subject."""
    for verb in view.own:
        if not verb.term.is_verb or verb.known is None or not verb.known.is_verb or verb.term.place == 0:
            continue
        if verb.term.is_passive != verb.known.is_passive:
            continue
        for pair in view.own:
            if pair.term.kind is not TermKind.NAME or pair.known is None or pair.known.before or pair is verb:
                continue
            went_behind = pair.term.place > verb.term.place
            if went_behind != (pair.known.place < verb.known.place):
                continue
            if any(
                one.term.kind is TermKind.NAME
                and (one.term.place < verb.term.place) == went_behind
                and not one.is_own
                for one in view.pairs
            ):
                return True
    return False


def _changes_role(view: View) -> bool:
    """Whether the claim's subject is a goal in the memory: "a neighbour sold it", "sold to a neighbour"."""
    verbs = [pair for pair in view.own if pair.term.is_verb and pair.how is How.SAME]
    return any(
        verb.known is not None
        and verb.term.is_passive == verb.known.is_passive
        and pair.known is not None
        and pair.term.place < verb.term.place
        and pair.known.place > verb.known.place
        and not pair.term.before
        and view.words.is_one(pair.known.before, "route")
        for verb in verbs
        for pair in view.own
        if pair.term in subject(view.claim)
    )


def _changes_voice(view: View) -> bool:
    """What the memory has behind "by" is an object in the claim, or the other way round, of the same verb."""
    for at, verb in enumerate(view.own):
        for pair in view.own[at + 1 :]:
            if (
                verb.known is None
                or pair.known is None
                or not verb.term.is_verb
                or pair.known.place < verb.known.place
            ):
                continue
            by = [view.words.is_one(term.before, "passive") for term in (pair.term, pair.known)]
            if by[0] != by[1] and verb.term.key == verb.known.key and pair.term.kind is not TermKind.VALUE:
                return True
    return False


def _between(view: View, one: Pair, other: Pair) -> Pair | None:
    """The verb between both terms, in the claim and in the memory."""
    if one.known is None or other.known is None:
        return None
    low, high = sorted((one.known.place, other.known.place))
    names = (
        one.term.kind is TermKind.NAME and other.term.kind is TermKind.NAME
    ) or view.fact.language not in (
        "en",
        "de",
    )
    for pair in view.own:
        if pair.known is None or pair.term.kind not in (TermKind.WORD, TermKind.LIGHT):
            continue
        if (
            one.term.place < pair.term.place < other.term.place
            and low < pair.known.place < high
            and (pair.term.is_verb or names)
        ):
            return pair
    return None


def _is_crossed(one: Pair, other: Pair) -> bool:
    """Whether two pairs come in another order in the memory than in the claim."""
    return bool(one.known and other.known and one.known.place > other.known.place)


def _is_copula(befores: tuple[str, str]) -> bool:
    """Whether a Japanese sentence equates two things, so that either may be its topic: 部長は田中さんです."""
    return befores[0] in ("は", "が") and befores[1] in ("です", "だ", "である", "でした", "だった")
