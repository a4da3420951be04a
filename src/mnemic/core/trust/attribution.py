"""Attribution: whether a memory says of the claim's own subject what the claim says of it.

The terms of both may be the same and yet belong to somebody else: "the parser was rewritten by Mia after Tom left" says
nothing of what Tom rewrote. In doubt it is not attributed, so that the claim is not verified.
"""

from __future__ import annotations

import re
from itertools import pairwise, takewhile

from mnemic.core.trust.lexicon import SPACELESS, lexicon
from mnemic.core.trust.pairs import How, Pair
from mnemic.core.trust.propositions import BE, subject
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.values import Quantity
from mnemic.core.trust.view import View

MODIFIED = 3
"""Places within which a subject and what specifies it stand in one phrase: "the office in Oslo"."""


def is_attributed(view: View) -> bool:
    """Whether the memory says it of the claim's subject, of its own will and time, and not of what it leaves out."""
    if view.words.language in SPACELESS:
        return True
    faults = (
        is_left_out,
        is_under_a_condition,
        _is_unreal,
        _is_yet_to_come,
        _is_past,
        _is_a_former_value,
        _is_another_value,
        _is_a_total,
        _is_paired_otherwise,
        _is_succeeded,
    )
    if any(is_fault(view) for is_fault in faults):
        return False
    head = None if view.claim.marks & {"before", "after"} else _head(view)
    return head is None or not (
        _is_said_of_another(view, head)
        or _is_of_some(view, head)
        or _is_beside_the_verb(view, head)
        or _is_specified_otherwise(view, head)
    )


def _head(view: View) -> Pair | None:
    """The pair of the claim's subject without what specifies it: "office" of "the office in Oslo"."""
    if view.claim.is_verbless:
        return None
    named = [pair for pair in view.subject() if not pair.term.is_verb]
    bare = list(takewhile(lambda pair: not pair.term.before, named))
    if view.words.language != "en":
        bare = bare[:1]  # the object may stand in front of the verb, and no noun specifies the next
    head = bare[-1] if bare else None
    return None if head is None or head.known is None or head.term.kind is TermKind.VALUE else head


def _phrase_before(view: View, term: Term) -> str:
    """The preposition of the phrase that *term* is in: "of" for database in "the backup of the billing database"."""
    if term.before:
        return term.before
    at = next((at for at, one in enumerate(view.fact.terms) if one is term), 0)
    last = view.fact.terms[at - 1] if at else None
    is_joined = last is not None and last.place == term.place - 1 and last.kind is term.kind
    return _phrase_before(view, last) if last is not None and is_joined and not last.is_verb else ""


def _is_said_of_another(view: View, head: Pair) -> bool:
    """Whether the subject is only mentioned behind a preposition, or as the owner of what is spoken of."""
    assert head.known is not None
    if not head.is_own:
        return _has_its_own_subject(view, head)
    if _is_owner(view, head):
        return True
    before = _phrase_before(view, head.known)
    if not before or not view.words.is_one(before, "prepositions"):
        return False
    if view.words.is_one(before, "passive"):
        return not _is_agent(view, head)
    is_given = not _same_verb(view) and (
        view.words.is_one(before, "goal")
        or (view.words.is_one(before, "benefit") and not _has_full_verb(view))
    )
    is_in_front = head.known.place < min((term.place for term in view.fact.terms if term.is_verb), default=0)
    is_topic = is_in_front and head.known is view.fact.terms[0]
    return not (
        is_given or (is_topic and not view.words.is_one(before, "conditions") and not _is_time(view, before))
    )


def _is_time(view: View, before: str) -> bool:
    return view.words.is_one(before, "before") or view.words.is_one(before, "after")


def _has_its_own_subject(view: View, head: Pair) -> bool:
    """Whether the clause names another subject than the one that only the clause before it mentions."""
    if head.known not in view.fact.inherited or view.fact.has_pronoun or not view.fact.has_subject:
        return False
    met = {pair.known for pair in view.subject() if pair.is_own}
    return any(term.kind is TermKind.NAME and term not in met for term in subject(view.fact))


def _is_owner(view: View, head: Pair) -> bool:
    """Whether the memory speaks of something of the subject's ("Anna's manager"), not of what it does ("her leave")."""
    assert head.known is not None
    place = head.known.place
    if any(
        pair.known is not None and pair.term.is_verb and pair.known.place == place + 1 for pair in view.own
    ):
        return False
    is_genitive = view.words.language == "de" and head.known.text == f"{head.term.text}s"
    owner = re.compile(rf"\b{re.escape(head.known.text)}['’]s?\b")
    return is_genitive or bool(owner.search(view.fact.text) and not owner.search(view.claim.text))


def _is_agent(view: View, head: Pair) -> bool:
    """Whether the claim's verb is the one that the memory says was done by the subject."""
    assert head.known is not None
    if view.words.language != "en":
        return view.words.language != "de" or any(
            view.words.is_one(word, "becoming") for word in view.fact.order
        )
    place = head.known.place
    verbs = [term for term in view.fact.terms if term.is_verb and term.place < place]
    met = [pair.known for pair in view.own if pair.term.is_verb]
    return bool(verbs) and verbs[-1].is_passive and (not met or verbs[-1] in met)


def _same_verb(view: View) -> bool:
    return any(pair.term.is_verb and pair.how is How.SAME and pair.is_own for pair in view.pairs)


def _has_full_verb(view: View) -> bool:
    order = view.fact.order
    return any(
        term.is_verb
        and term.kind is not TermKind.LIGHT
        and not BE & set(order[max(0, term.place - 1) : term.place])
        for term in view.fact.terms
    )


def _is_beside_the_verb(view: View, head: Pair) -> bool:
    """Whether the verb is another one's: it stands in front of the subject, or somebody else right in front of it."""
    assert head.known is not None
    if view.words.language != "en" or not head.is_own:
        return False
    verb = next((pair for pair in view.own if pair.term.is_verb and pair.known and pair.known.is_verb), None)
    if verb is None or verb.known is None or verb.term.is_passive != verb.known.is_passive:
        return False
    own = {pair.known.place for pair in view.own if pair.known}
    if head.known.place > verb.known.place:
        return not head.known.before and verb.how is How.SAME
    between = [term for term in view.fact.terms if head.known.place < term.place < verb.known.place]
    other = any(
        term.kind is TermKind.NAME and not term.before and term.place not in own for term in between[-1:]
    )
    return other and any(term.is_verb for term in between)


def _is_specified_otherwise(view: View, head: Pair) -> bool:
    """Whether a name that specifies the subject belongs to another phrase: "Nedlog's deputy"."""
    assert head.known is not None
    names = [
        pair
        for pair in view.subject()
        if pair is not head and pair.is_own and pair.known and pair.term.kind is TermKind.NAME
    ]
    verbs = [term.place for term in view.fact.terms if term.is_verb]
    return any(
        name.known is not None
        and abs(name.known.place - head.known.place) > MODIFIED
        and any(
            min(name.known.place, head.known.place) < place < max(name.known.place, head.known.place)
            for place in verbs
        )
        for name in names
    )


def is_left_out(view: View) -> bool:
    """Whether the memory names something the claim takes up only as what was not meant: "instead of Memcached"."""
    return any(
        pair.known is not None
        and _excludes(view, pair.known)
        and not any(view.words.is_one(word, "instead") for word in view.claim.order)
        for pair in view.own
        if pair.term.kind is not TermKind.LIGHT
    )


def _excludes(view: View, term: Term) -> bool:
    order, words = view.fact.order, lexicon(view.fact.language)
    last = next((word for word in reversed(order[: term.place]) if not words.is_one(word, "articles")), "")
    is_excepted = words.is_one(last, "exceptions") and "all" in view.fact.marks
    return words.is_one(term.before, "instead") or words.is_one(last, "instead") or is_excepted


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


def _is_unreal(view: View) -> bool:
    """Whether the memory only asks, promises, permits or reports what the claim says, or that it almost happened."""
    if "permitted" in view.fact.marks - view.claim.marks and not view.fact.is_denied:
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


def _is_of_some(view: View, head: Pair) -> bool:
    """Whether a relative clause that the claim leaves out narrows the subject: "users who pay yearly"."""
    assert head.known is not None
    start = head.known.place
    behind = view.fact.order[start + 1 : start + 2]
    end = min(
        (pair.known.place for pair in view.own if pair.known and pair.known.place > start), default=start
    )
    is_narrowed = any(start < term.place < end for term in view.free)
    return is_narrowed and any(view.words.is_one(word, "relative") for word in behind)


def _is_another_value(view: View) -> bool:
    """Whether the claim's value stands beside something else in the memory: "6 minutes on CI and 2 minutes locally"."""
    for pair in view.own:
        if pair.known is None or not isinstance(pair.known.value, Quantity):
            continue
        unit = pair.known.value.dimension
        alike = [
            term
            for term in view.fact.terms
            if isinstance(term.value, Quantity) and term.value.dimension == unit
        ]
        for other in view.own:
            term = other.known
            if term is None or not term.before or term.value is not None:
                continue
            last = max((one.place for one in alike if one.place < term.place), default=None)
            if last is not None and last != pair.known.place:
                return True
    return False


def _is_a_total(view: View) -> bool:
    """Whether the claim's number is the one that the memory counts a part of: "three of the five nodes"."""
    terms = view.fact.terms
    return any(
        pair.known is term and term.before == "of" and term.value is not None and last.value is not None
        for pair in view.own
        for last, term in pairwise(terms)
    )


def _is_paired_otherwise(view: View) -> bool:
    """Whether the memory names two of each side by side and the claim crosses them: "Ann in May and Ben in June"."""
    known = [pair.known for pair in view.own if pair.known is not None and not pair.known.is_verb]
    return any(
        any(_is_like(term, later) and term.place < earlier.place for term in view.free)
        and any(_is_like(term, earlier) and term.place > later.place for term in view.free)
        for earlier in known
        for later in known
        if earlier.place < later.place
    )


def _is_like(one: Term, other: Term) -> bool:
    """Whether two terms may stand in the same place: behind the same preposition, of the same kind."""
    return not one.is_verb and one.before == other.before and one.kind is other.kind


def _is_succeeded(view: View) -> bool:
    """Whether somebody else took the place of the claim's subject: "Lena replaced Omar as the lead"."""
    about = {pair.known.place for pair in view.subject() if pair.known is not None and pair.is_own}
    return not view.claim.marks & {"before", "after"} and any(
        view.words.is_one(term.key, "succession") and not term.is_passive and place > term.place
        for term in view.free
        for place in about
    )


def _is_yet_to_come(view: View) -> bool:
    """Whether the claim tells as past or done what the memory announces."""
    return "future" in view.fact.marks - view.claim.marks and _tells_the_past(view)


def _is_past(view: View) -> bool:
    """Whether the claim tells as present what the memory says of a time that is over: "until 2024 we hosted"."""
    return any(view.words.is_one(word, "until") for word in view.fact.order[:1]) and not _tells_the_past(view)


def _tells_the_past(view: View) -> bool:
    verbs = (pair.term for pair in view.pairs if pair.term.is_verb and view.words.language == "en")
    return any(view.words.is_one(word, "done") for word in view.claim.order) or any(
        verb.text.lower() != verb.key and not verb.text.lower().endswith(("s", "ing")) and not verb.is_passive
        for verb in verbs
    )


def _is_a_former_value(view: View) -> bool:
    """Whether the claim's value is the one a change began at: "fell from 900 MB to 400 MB"."""
    values = [pair for pair in view.own if pair.term.kind is TermKind.VALUE and pair.known is not None]
    goals = [
        term for term in view.fact.terms if term.value is not None and view.words.is_one(term.role, "goal")
    ]
    return any(
        pair.known is not None
        and view.words.is_one(pair.known.role, "source")
        and not view.words.is_one(pair.term.role, "source")
        and any(type(goal.value) is type(pair.known.value) for goal in goals)
        for pair in values
    )
