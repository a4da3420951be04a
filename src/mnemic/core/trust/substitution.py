"""Contradictions by substitution: another expression in the same place."""

from __future__ import annotations

from mnemic.core.trust.lexicon import SPACELESS, entry
from mnemic.core.trust.pairs import How, Pair
from mnemic.core.trust.polarity import is_flipped
from mnemic.core.trust.propositions import Clause, subject
from mnemic.core.trust.reasons import as_written, quoted
from mnemic.core.trust.roles import _changes_sides
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.values import Date
from mnemic.core.trust.view import View


def _verb_is_own(view: View) -> bool:
    """Whether the claim's verb is in this clause; True for languages without verb detection."""
    verbs = [pair for pair in view.pairs if pair.term.is_verb and pair not in view.subject()]
    is_placed = any(_is_placing(view, term) for term in view.free)
    return (
        not verbs
        or any(pair.is_own and pair.how is not How.MISSING for pair in verbs)
        or (is_placed and all(_is_placing(view, pair.term) for pair in verbs))
    )


def _is_placing(view: View, verb: Term) -> bool:
    """Whether a verb only says where something is: "sits in", "is based in", but not "lives in"."""
    return verb.is_verb and verb.kind is TermKind.LIGHT and view.words.is_one(verb.key, "residing")


def substitution(view: View) -> str:
    """One expression of the claim is another one in the memory, in the same place.

    If the memory has it in another clause, the two were exchanged; else names and places exclude each other.
    """
    if view.conflicts or view.opposites or is_flipped(view) or not _verb_is_own(view):
        return ""
    if view.claim.is_verbless and not any(view.words.is_one(word, "finite") for word in view.claim.order):
        return ""  # a heading says nothing of its subject
    first = view.missing[0]
    if other := _other_kin(view):
        return f"memory says {as_written(other)}, the claim says {as_written(first.term)}"
    last = view.claim.terms[-1]
    if (
        view.fact.language == "ja"
        and last is not first.term
        and any(pair.term is last for pair in view.missing)
    ):
        return ""
    if first.term.key.isdigit() and len(view.claim.terms) < 3:  # "(copy 1)" tells things apart
        return ""
    if first in view.subject() and not first.is_elsewhere and view.fact.language in ("en", *SPACELESS):
        return _other_agent(view) if view.fact.language == "en" else ""
    if first in view.subject() and first.is_elsewhere and _changes_sides(view):
        return f"memory has them the other way round: {quoted(view.fact)}"
    if first.is_elsewhere and not (_is_tied(view) or _is_of_another(view, first.term)):
        return ""
    rival = _rival(view, first)
    is_alike = rival is not None and (
        rival.kind is first.term.kind or first.is_elsewhere or view.fact.language != "en"
    )
    if rival is None or not is_alike:
        return ""
    return f"memory says {as_written(rival)}, the claim says {as_written(first.term)}"


def _other_kin(view: View) -> Term | None:
    """How else the memory relates two people behind the same owner: "Anna's mother Ida", "Ida is Anna's aunt"."""
    told = view.missing[0].term
    if len(view.missing) > 1 or not view.words.is_one(told.key, "kin"):
        return None
    owner = next((pair.known for pair in view.own if pair.term.place == told.place - 1), None)
    person = [pair.known for pair in view.own if pair.known is not owner]
    return next(
        (
            term
            for term in view.free
            if view.words.is_one(term.key, "kin")
            and owner is not None
            and term.place == owner.place + 1
            and any(one is not None and one.place in _beside(owner, term) for one in person)
        ),
        None,
    )


def _beside(owner: Term, kin: Term) -> tuple[int, ...]:
    """The places of a name in apposition, or in front of the copula."""
    return (kin.place + 1, owner.place - 2, owner.place - 3)


def _other_agent(view: View) -> str:
    """Who did what the claim says somebody else did, or has the post: of a definite thing there is one."""
    names = [term for term in subject(view.fact) if term.kind is TermKind.NAME]
    is_named = all(pair.term.kind is TermKind.NAME and pair in view.missing for pair in view.subject())
    is_known = view.fact.terms[0] in names and all(term in view.free for term in names)
    if not is_named or not is_known or view.fact.marks & {"hedged", "future", "permitted"}:
        return ""
    told = [pair for pair in view.pairs if pair not in view.subject()]
    verbs = [pair for pair in told if pair.term.is_verb]
    is_definite = any(
        pair.term.kind is TermKind.NAME or view.claim.order[pair.term.place - 1 : pair.term.place] == ("the",)
        for pair in told
        if not pair.term.is_verb
    )
    is_same = all(pair.is_own and pair.how is How.SAME for pair in told)
    is_single = not verbs or all(_is_exclusive(view, pair.term) for pair in verbs)
    if not (is_same and is_definite and is_single):
        return ""
    return f"memory says {as_written(names[0])}, the claim says {as_written(view.missing[0].term)}"


def _is_exclusive(view: View, verb: Term) -> bool:
    """Whether one alone does it: what was done once, or a post."""
    is_past = verb.text.lower() != verb.key and not verb.text.lower().endswith(("s", "ing"))
    return is_past or view.words.is_one(verb.key, "exclusive")


def _is_tied(view: View) -> bool:
    """Whether the claim has more of this clause than a subject and its verb: the same may do the other thing too."""
    about = view.subject()
    return any(pair not in about and not pair.term.is_verb for pair in view.own)


def _is_of_another(view: View, term: Term) -> bool:
    """Whether the other clause that has *term* names a subject of its own in front of it."""
    places = [one.place for one in view.fact.elsewhere if one.key == term.key]
    return any(
        not one.is_verb and not one.before and one.value is None and one.place < max(places, default=0)
        for one in view.fact.elsewhere
    )


def _rival(view: View, pair: Pair) -> Term | None:
    """The memory's term in the place of the claim's term of *pair*."""
    term = pair.term
    prior = [one for one in view.own if one.term.place < term.place]
    after = [one for one in view.own if one.term.place > term.place]
    low = max((one.known.place for one in prior if one.known), default=-1)
    high = min((one.known.place for one in after if one.known and one.known.place > low), default=999)
    if modifier := _other_modifier(view, pair):
        return modifier
    for other in view.free:
        if (
            other.kind is TermKind.LIGHT
            or TermKind.VALUE in (other.kind, term.kind)
            or _is_part_of_name(view, other)
        ):
            continue
        if low < other.place < high and _same_place(view, pair, other, bool(prior), bool(after)):
            return other
    return None


def _other_modifier(view: View, pair: Pair) -> Term | None:
    """Another name in front of the same noun, if the claim's own is said of something else: "the Android build"."""
    behind = [one for one in view.own if one.term.place == pair.term.place + 1 and not one.term.is_verb]
    if pair.term.kind is not TermKind.NAME or not behind or not pair.is_elsewhere or behind[0].known is None:
        return None
    place = behind[0].known.place - 1
    return next((one for one in view.free if one.place == place and one.kind is TermKind.NAME), None)


def _same_place(view: View, pair: Pair, other: Term, has_prior: bool, has_after: bool) -> bool:
    term = pair.term
    if not has_prior:  # the subject
        is_subject = term.place == view.claim.terms[0].place and view.fact.has_subject
        return is_subject and _is_head(view, other) and pair.is_elsewhere
    if view.fact.language in SPACELESS:
        return bool(term.before and term.before == other.before) or has_after
    if term.before != other.before or not _follows(view, term, other):
        return False
    if term.before:
        return pair.is_elsewhere or other.kind is TermKind.NAME or view.words.is_one(term.before, "places")
    if has_after and _are_adjectives(view, term, other):
        return True
    return all(
        one.kind is TermKind.NAME or _is_label(clause, one)
        for clause, one in ((view.claim, term), (view.fact, other))
    )


def _is_label(clause: Clause, term: Term) -> bool:
    """Whether a German noun names the one in front of it: "Raum Elbe"."""
    before = [one for one in clause.terms if one.place == term.place - 1]
    return clause.language == "de" and all(one.text[:1].isupper() for one in (term, *before)) and bool(before)


def _are_adjectives(view: View, *terms: Term) -> bool:
    """Two properties of the same: "painted green", "painted blue"."""
    return view.words.language == "en" and all(
        "a" in entry(term.key).parts and not term.is_verb for term in terms
    )


def _follows(view: View, term: Term, other: Term) -> bool:
    """Whether both stand behind the same term."""
    before = [pair for pair in view.pairs if pair.term.place < term.place and not _is_empty(pair)]
    known = _without_adjuncts(view, other)
    return bool(before and known) and before[-1].is_own and before[-1].known == known[-1]


def _is_empty(pair: Pair) -> bool:
    """Whether it is a verb without content that the memory does not have: "is based in", "sits in"."""
    return pair.term.kind is TermKind.LIGHT and pair.how is How.MISSING


def _without_adjuncts(view: View, other: Term) -> list[Term]:
    """The memory's terms in front of *other*, but for times and phrases behind another preposition.

    A claim that leaves out "from Lingen" may still say where else something was moved to.
    """
    result: list[Term] = []
    skipped: Term | None = None
    for term in view.fact.terms:
        if term.place >= other.place:
            break
        is_phrase = bool(term.before) and term.before != other.before
        is_rest = skipped is not None and term.place == skipped.place + 1 and not term.before
        is_empty = term.kind is TermKind.LIGHT and term.is_verb
        if term in view.free and (
            is_empty or (not term.is_verb and (is_phrase or is_rest or isinstance(term.value, Date)))
        ):
            skipped = None if is_empty else term
        else:
            result.append(term)
            skipped = None
    return result


def _is_head(view: View, other: Term) -> bool:
    """Whether *other* begins its clause."""
    return other.place == view.fact.terms[0].place


def _is_part_of_name(view: View, other: Term) -> bool:
    """Whether *other* is a part of a name that is met: "Ruiz" behind "Mateo"."""
    return other.kind is TermKind.NAME and any(
        pair.known is not None
        and pair.known.kind is TermKind.NAME
        and abs(pair.known.place - other.place) == 1
        for pair in view.own
    )
