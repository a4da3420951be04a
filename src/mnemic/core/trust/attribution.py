"""Attribution: whether a memory says of the claim's own subject what the claim says of it.

The terms of both may be the same and yet belong to somebody else: "the parser was rewritten by Mia after Tom left" says
nothing of what Tom rewrote. In doubt it is not attributed, so that the claim is not verified.
"""

from __future__ import annotations

import re
from itertools import takewhile

from mnemic.core.trust.alignment import is_left_out, is_misaligned, is_succeeded
from mnemic.core.trust.counterparts import is_inverse
from mnemic.core.trust.lexicon import SPACELESS
from mnemic.core.trust.modality import is_unreal
from mnemic.core.trust.pairs import How, Pair
from mnemic.core.trust.propositions import BE, subject
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.view import View

MODIFIED = 3
"""Places within which a subject and what specifies it stand in one phrase: "the office in Oslo"."""


def is_attributed(view: View) -> bool:
    """Whether the memory says it of the claim's subject, outright and of the same value."""
    if view.words.language in SPACELESS:
        return not _is_the_other_side(view)
    if is_unreal(view) or is_left_out(view) or is_misaligned(view) or is_succeeded(view):
        return False
    if any(is_inverse(pair, view.words) for pair in view.own):  # its sides were compared
        return True
    if _is_of_its_owner(view) or _is_of_a_post(view):
        return False
    head = None if view.claim.marks & {"before", "after"} else _head(view)
    return head is None or not (
        (_is_said_of_another(view, head) and not _is_an_exception(view, head))
        or _is_of_some(view, head)
        or _is_beside_the_verb(view, head)
        or _is_specified_otherwise(view, head)
    )


def _is_the_other_side(view: View) -> bool:
    """Whether a Japanese claim makes somebody the owner of the post that the memory gives to him: 森さんの後任."""
    posts = {
        pair.term.place
        for pair in view.own
        if view.words.is_one(pair.term.key, "succession") or pair.term.key in view.words.inverses
    }
    return any(
        pair.known is not None
        and pair.term.before == "の"
        and pair.known.before not in ("の", "")
        and any(0 < place - pair.term.place <= 2 for place in posts)
        for pair in view.own
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


def _is_an_exception(view: View, head: Pair) -> bool:
    """Whether the memory counts some of those of whom the claim denies that all are so: "two of the boats"."""
    assert head.known is not None
    place = next((at for at, one in enumerate(view.fact.terms) if one is head.known), 0)
    is_part = head.known.before == "of" and place == 1 and view.fact.terms[0].value is not None
    return is_part and view.claim.is_denied and "all" in view.claim.marks


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


def _is_of_its_owner(view: View) -> bool:
    """Whether the memory says of something of somebody's what the claim says of him: "manages Bob's brother"."""
    if view.words.language != "en":
        return False
    for pair in view.own:
        known = pair.known
        if known is None or pair.term.is_verb or known.value is not None:
            continue
        owned = [term for term in view.free if term.place == known.place + 1 and not term.is_verb]
        owner = re.compile(rf"\b{re.escape(known.text)}['’]s?\b")
        if owned and owner.search(view.fact.text) and not owner.search(view.claim.text):
            return True
    return False


def _is_of_a_post(view: View) -> bool:
    """Whether a post that the claim gives somebody only specifies another one: "the deputy of the manager"."""
    if view.words.language != "en" or not view.claim.order or any(pair.term.is_verb for pair in view.pairs):
        return False
    about = view.subject()
    return any(
        pair.known is not None
        and pair not in about
        and pair.term.value is None
        and not pair.term.before
        and pair.known.before in ("of", "to", "for")
        and any(0 < pair.known.place - term.place <= MODIFIED and not term.is_verb for term in view.free)
        for pair in view.own
    )


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
    if verb.term.place < head.term.place:  # a participle: "failed payments"
        return False
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
