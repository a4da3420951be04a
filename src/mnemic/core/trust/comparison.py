"""Comparing a claim with what a memory says: entailed, contradicted, related, or neither."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from mnemic.core.trust.implications import (
    binds,
    ends_unsaid,
    is_about_the_same,
    is_end,
    succession_agrees,
    tells_an_end,
)
from mnemic.core.trust.lexicon import (
    SPACELESS,
    Lexicon,
    are_opposite,
    entry,
    is_agent_of,
    is_negated_form,
    is_verb,
    lexicon,
    mean_the_same,
)
from mnemic.core.trust.propositions import Clause, subject
from mnemic.core.trust.spaceless import aligned
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.values import Date, Fit, fit

WEIGHTS = {TermKind.NAME: 2.0, TermKind.VALUE: 1.5, TermKind.WORD: 1.0, TermKind.LIGHT: 0.25}
FRAME = 0.7
"""Share of a claim, beside the value in question, that memory must say too before the two can contradict."""


class Entailment(Enum):
    """Relation of a memory to a claim."""

    ENTAILS = "entails"
    CONTRADICTS = "contradicts"
    RELATED = "related"
    NONE = "none"


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


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome for one clause of a claim, with the reason in plain words where there is one."""

    relation: Entailment
    coverage: float
    pairs: tuple[Pair, ...]
    fact: Clause
    reason: str = ""

    @property
    def missing(self) -> list[Term]:
        """Terms of the claim that the memory does not have."""
        return [pair.term for pair in self.pairs if not pair.is_met and pair.term.kind is not TermKind.LIGHT]


def compare(claim: Clause, fact: Clause, context: Sequence[Term] = (), titled: int = 0) -> Comparison:
    """Compare *fact*, a clause of a memory, with *claim*, a clause of a claim.

    *context* are surrounding terms: first *titled* ones of the memory's title, then those of the sentence before.
    """
    words = lexicon(claim.language if claim.language == fact.language else "en")
    if words.language in SPACELESS:
        claim, fact = aligned(claim, fact)
    pairs = _paired(claim, fact, context, titled, words)
    coverage = _coverage(pairs)
    if coverage == 0:
        return Comparison(Entailment.NONE, 0.0, pairs, fact)
    view = _View(claim, fact, pairs, words)
    if (
        claim.order == fact.order
        and claim.denials == fact.denials
        and claim.marks - fact.marks <= {"question"}
    ):
        return Comparison(Entailment.ENTAILS, 1.0, pairs, fact)
    reason = view.contradiction()
    if reason:
        return Comparison(Entailment.CONTRADICTS, coverage, pairs, fact, reason)
    if view.entails():
        return Comparison(Entailment.ENTAILS, coverage, pairs, fact)
    return Comparison(Entailment.RELATED, coverage, pairs, fact)


def _weight(pairs: Sequence[Pair]) -> float:
    return sum(WEIGHTS[pair.term.kind] for pair in pairs)


def _coverage(pairs: Sequence[Pair]) -> float:
    total = _weight(pairs)
    return _weight([pair for pair in pairs if pair.is_met]) / total if total else 0.0


def _paired(
    claim: Clause, fact: Clause, context: Sequence[Term], titled: int, words: Lexicon
) -> tuple[Pair, ...]:
    pairs: list[Pair] = []
    for term in claim.terms:
        pairs.append(_pair(term, fact, context, words, pairs[-1] if pairs else None))
    taken = {pair.known for pair in pairs if pair.how is How.SAME}
    # What another term of the claim equals is no rival: "5 mg every morning and a pill at night".
    pairs = [
        _around(pair.term, (*fact.inherited, *context), words)
        if pair.how in (How.CONFLICT, How.OPPOSITE) and pair.known in taken
        else pair
        for pair in pairs
    ]
    pairs = [Pair(pair.term, How.MISSING) if _is_between(pair, fact, words) else pair for pair in pairs]
    pairs = _without_repeats(pairs, fact, context)
    if not is_about_the_same(fact, pairs, words):
        pairs = [Pair(pair.term, How.MISSING) if _is_end(pair, words) else pair for pair in pairs]
    pairs = [pair if not _is_misread(pair, claim, fact) else Pair(pair.term, How.MISSING) for pair in pairs]
    pairs = [_converse(pair, pairs, words) for pair in pairs]
    pairs = [_parted(pair) if _is_displaced(pair, fact, pairs) else pair for pair in pairs]
    first = () if _leads_elsewhere(claim, words) else subject(claim)
    return tuple(
        pair
        if pair.is_own or pair.known in context[:titled] or _may_inherit(pair, fact, pair.term in first)
        else _parted(pair)
        for pair in pairs
    )


def _is_between(pair: Pair, fact: Clause, words: Lexicon) -> bool:
    """Whether a date may lie between two of the memory: "in July", "from April to October"."""
    if pair.how is not How.CONFLICT or pair.known is None or not isinstance(pair.term.value, Date):
        return False
    ends = [
        term for term in fact.terms if isinstance(term.value, Date) and words.is_one(term.before, "route")
    ]
    return len(ends) == 2 and pair.known in ends and not words.is_one(pair.term.before, "route")


def _around(term: Term, around: Sequence[Term], words: Lexicon) -> Pair:
    """The pair of a term that the clause itself does not have."""
    same = next((known for known in around if _meet(term, known, words) is How.SAME), None)
    return Pair(term, How.SAME, same, is_own=False) if same else Pair(term, How.MISSING)


def _without_repeats(pairs: Sequence[Pair], fact: Clause, context: Sequence[Term]) -> list[Pair]:
    """Pairs in which a word that the claim says twice is met twice: "the payments service of the payments team"."""
    there = Counter(term.key for term in (*fact.terms, *fact.inherited, *fact.elsewhere, *context))
    told = Counter(pair.term.key for pair in pairs if pair.how is How.SAME and pair.term.value is None)
    surplus = {key: count - there[key] for key, count in told.items() if count > there[key] > 0}
    taken = {pair.known.place for pair in pairs if pair.how is How.SAME and pair.is_own and pair.known}
    result: list[Pair] = []
    for pair in sorted(pairs, key=_likeness):
        is_surplus = pair.how is How.SAME and pair.term.value is None and surplus.get(pair.term.key, 0) > 0
        if is_surplus:
            surplus[pair.term.key] -= 1
        elif pair.how is How.NEAR and pair.is_own and pair.known and pair.term.value is None:
            is_surplus = pair.known.place in taken  # "runs" does not meet both "runs" and "leads"
        result.append(Pair(pair.term, How.MISSING) if is_surplus else pair)
    return sorted(result, key=lambda pair: pair.term.place)


def _likeness(pair: Pair) -> int:
    """How much alike the two terms of a pair are used."""
    if pair.known is None:
        return 0
    return (pair.term.before == pair.known.before) + (pair.term.is_verb == pair.known.is_verb)


def _is_misread(pair: Pair, claim: Clause, fact: Clause) -> bool:
    """Whether an agent noun meets its verb outside of "is the owner of": "visitors are admitted", "they visit"."""
    if pair.how is not How.NEAR or pair.known is None or not _is_agent(pair.term, pair.known):
        return False
    clause, noun = (fact, pair.known) if pair.term.is_verb else (claim, pair.term)
    return any(term.is_verb for term in clause.terms if term is not noun)


def _converse(pair: Pair, pairs: Sequence[Pair], words: Lexicon) -> Pair:
    """*pair* as met, if its words tell one thing from two sides: who lends, and who borrows "from" it.

    Of two that are compared, the one is larger and the other smaller.
    """
    if pair.how is not How.OPPOSITE or pair.known is None:
        return pair
    met = [(one.term, one.known) for one in pairs if one.is_met and one.is_own and one.known is not None]
    turned = {
        behind.before
        for told, known in met
        for front, verb, behind, other in (
            (known, pair.known, told, pair.term),
            (told, pair.term, known, pair.known),
        )
        if front.place < verb.place and not front.before and behind.place > other.place
    }
    is_said_of_goods = pair.term.is_passive and pair.known.is_passive  # what is sold can be bought
    is_converse = pair.known.key in words.converses.get(pair.term.key, ()) and (
        is_said_of_goods or any(words.is_one(before, "route") for before in turned)
    )
    is_compared = any(words.is_one(before, "comparing") for before in turned)
    return Pair(pair.term, How.NEAR, pair.known) if is_converse or is_compared else pair


def _is_displaced(pair: Pair, fact: Clause, pairs: Sequence[Pair]) -> bool:
    """Whether a clause without a verb has a term of its own in the place of an inherited one.

    "Anna leads sales, Ben purchasing": the second clause inherits the verb, and not "sales".
    """
    known = pair.known
    if known is None or pair.is_own or known.is_verb or known not in fact.inherited or not fact.is_verbless:
        return False
    used = {one.known.place for one in pairs if one.known is not None and one.is_own}
    if fact.is_denied or fact.terms[0].place not in used:
        return False
    return any(term.before == known.before and term.place not in used for term in fact.terms[1:])


def _is_end(pair: Pair, words: Lexicon) -> bool:
    """Whether the claim says that something is there and the memory that it ended, or the other way round."""
    return (
        pair.how is How.OPPOSITE
        and pair.known is not None
        and is_end(pair.term.key, pair.known.key, words)
        and not are_opposite(pair.term.key, pair.known.key, words)
    )


def _leads_elsewhere(claim: Clause, words: Lexicon) -> bool:
    """Whether it begins with a condition, so that its first terms are not what it is about."""
    return bool(claim.order) and words.is_one(claim.order[0], "conditions")


def _may_inherit(pair: Pair, fact: Clause, is_subject: bool) -> bool:
    """Whether the clause inherits what it does not name: its subject, or the object behind a pronoun."""
    if pair.known is None or pair.known in fact.inherited[: fact.leading]:
        return True
    if pair.known in fact.inherited and fact.is_verbless:
        if pair.known.is_verb and fact.is_possessed:  # "her deputy — Pavel": its predicate is its own
            return False
        if fact.terms[0].kind is TermKind.NAME and len(fact.terms) > len(subject(fact)):
            return pair.known.is_verb  # "and Anna — physics": only the verb is left out
        return fact.is_contrast or not is_subject or not fact.has_subject
    if is_subject:
        return not fact.has_subject
    return fact.has_pronoun and not pair.term.is_verb


def _parted(pair: Pair) -> Pair:
    return Pair(pair.term, How.MISSING, pair.known, is_own=False, is_elsewhere=True)


def _pair(term: Term, fact: Clause, context: Sequence[Term], words: Lexicon, last: Pair | None) -> Pair:
    """The best counterpart of *term*: in the clause, then in its inherited terms."""
    around = (*fact.inherited, *context)
    own = [_meet(term, known, words) for known in fact.terms]
    others = [_meet(term, known, words) for known in around]
    looked_at = (
        (How.SAME, fact.terms, own, True),
        (How.NEAR, fact.terms, own, True),
        (How.OPPOSITE, fact.terms, own, True),
        (How.CONFLICT, fact.terms, own, True),
        (How.SAME, around, others, False),
        (How.NEAR, around, others, False),
    )
    for how, terms, found, is_own in looked_at:
        places = [place for place, one in enumerate(found) if one is how]
        if places:
            return Pair(
                term, how, terms[min(places, key=lambda at: _distance(term, terms[at], last))], is_own
            )
    rest = [
        known
        for known in fact.elsewhere
        if _meet(term, known, words) in (How.SAME, How.NEAR) or _holds(known, term, words)
    ]
    return Pair(term, How.MISSING, rest[0] if rest else None, is_own=False, is_elsewhere=bool(rest))


def _distance(term: Term, known: Term, last: Pair | None) -> tuple[bool, int]:
    """Of several counterparts the one behind the same preposition, then the one next to the last pair."""
    near = (
        abs(known.place - last.known.place - 1)
        if last is not None and last.known is not None
        else known.place
    )
    return known.before != term.before, near


def _holds(known: Term, term: Term, words: Lexicon) -> bool:
    return words.language in SPACELESS and known.value is None and term.key in known.key


def _meet(term: Term, known: Term, words: Lexicon) -> How:
    if term.value is not None and known.value is not None:
        return _VALUES[fit(term.value, known.value)]
    if term.key == known.key or words.key(term.text.lower()) == words.key(known.text.lower()):
        return How.SAME  # an unknown word with a capital may be a name: "Playtests are held"
    if term.value is not None or known.value is not None:
        return How.MISSING
    if words.language in SPACELESS and (known.key.startswith(term.key) or term.key.startswith(known.key)):
        return How.NEAR
    if TermKind.NAME in (term.kind, known.kind):  # of names only the listed ones: RAM is memory
        return How.NEAR if known.key in words.synonyms.get(term.key, ()) else How.MISSING
    if words.language == "en" and (_is_agent(term, known) or _is_repeated(term, known)):
        return How.NEAR
    if words.language == "en" and is_negated_form(term.text.lower(), known.text.lower()):
        return How.OPPOSITE
    return _relation(term.key, known.key, words.language)


def _is_repeated(term: Term, known: Term) -> bool:
    """ "retry" and "try again": the adverb itself is no term."""
    short, long = sorted((term.key, known.key), key=len)
    return long == f"re{short}" and is_verb(short) and len(short) > 2


def _is_agent(term: Term, known: Term) -> bool:
    """Whether one is a verb and the other the noun for who does it: "owns", "is the owner of"."""
    if term.is_verb == known.is_verb:
        return False
    noun, verb = (known, term) if term.is_verb else (term, known)
    return is_agent_of(noun.key, verb.key)


@lru_cache(maxsize=65_536)
def _relation(claimed: str, known: str, language: str) -> How:
    """How two different words stand to each other."""
    words = lexicon(language)
    if are_opposite(claimed, known, words) or is_end(claimed, known, words):
        return How.OPPOSITE
    return How.NEAR if mean_the_same(claimed, known, words) else How.MISSING


_VALUES = {Fit.SAME: How.SAME, Fit.WITHIN: How.NEAR, Fit.CONFLICT: How.CONFLICT, Fit.APART: How.MISSING}


class _View:
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

    # --- what both speak of

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
        return bool(rest) and _weight([pair for pair in rest if pair.is_met]) >= FRAME * _weight(rest)

    def shares_frame_but_one(self) -> bool:
        """The same, but for one expression that the memory does not have in this clause."""
        slot = self._slot()
        if (
            not slot
            or len(slot) < len(self.missing)
            or any(pair.term.kind is TermKind.VALUE for pair in slot)
        ):
            return False
        met = [pair for pair in self.met if pair.term.kind is not TermKind.LIGHT]
        return bool(met) and bool(self.own) and self._frame([pair for pair in self.pairs if pair not in slot])

    def _slot(self) -> list[Pair]:
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
        if len(firm) < 2:
            return False
        if self.fact.is_verbless:
            return bool(self.own)
        about = self.subject()
        told = [pair for pair in self.pairs if pair not in about] or (about if len(about) > 2 else [])
        has_object = self.words.is_one(self.fact.order[-1], "pronouns")
        is_referred = has_object and not any(term.is_verb for term in self.fact.terms)
        return any((pair.is_own or is_referred) and pair.is_met for pair in told)  # "4.7 still has it"

    # --- contradiction

    def contradiction(self) -> str:
        """Why the two exclude each other, or nothing."""
        if binds(self.claim, self.fact, self.pairs, self.words):
            return ""
        if excluded := self._only() or self._excepts() or self._excludes() or self._never():
            return excluded
        if self.shares_frame() and not any(pair.term.kind is TermKind.NAME for pair in self.missing):
            found = self._order() or self._values() or self._polarity() or self._ended()
            if found:
                return found
        return self._substitution() if self.shares_frame_but_one() else ""

    def _only(self) -> str:
        is_wide = "all" in self.claim.marks and not self.claim.is_denied and "all" not in self.fact.marks
        if not is_wide or "only" not in self.fact.marks or self.fact.is_denied:
            return ""
        verbs = [pair for pair in self.pairs if pair.term.is_verb or self.fact.language != "en"]
        enough = sum(pair.is_met for pair in self.pairs) >= 0.6 * len(self.pairs)
        return (
            f"memory says only: {_quoted(self.fact)}" if enough and any(pair.is_own for pair in verbs) else ""
        )

    def _excepts(self) -> str:
        """The claim says of all what the memory says of all but an exception."""
        is_wide = "all" in self.claim.marks and not self.claim.is_denied and not self.fact.is_denied
        is_same = all(pair.is_own and pair.is_met for pair in self.pairs)
        if is_wide and is_same and "excepted" in self.fact.marks:
            return f"memory has an exception: {_quoted(self.fact)}"
        return ""

    def _is_of_others(self) -> bool:
        """Whether the memory says that only its subject does what the claim says of somebody else."""
        first = self.fact.order if self.words.language in SPACELESS else self.fact.order[:2]
        words = [word for word in first if self.words.is_one(word, "only")]
        about = self.subject()
        told = [pair for pair in self.pairs if pair not in about]
        is_other = any(pair in self.missing for pair in about) and not (self.conflicts or self.opposites)
        return (
            bool(words) and is_other and len(told) > 1 and all(pair.is_own and pair.is_met for pair in told)
        )

    def _excludes(self) -> str:
        if self._is_of_others() and not self.claim.is_denied and not self.fact.is_denied:
            return f"memory says only: {_quoted(self.fact)}"
        return ""

    def _never(self) -> str:
        """What never happens does not happen after 24 months either."""
        if not any(self.words.is_one(word, "never") for word in self.fact.order) or self.claim.denials:
            return ""
        is_since = any(self.words.is_one(word, "starts") for word in self.fact.lead)
        limits = [term for term in self.free if term.value is not None and not is_since]
        others = [
            pair for pair in self.pairs if pair.term.value is None and pair.term.kind is not TermKind.LIGHT
        ]
        is_same = (
            len(others) > 1 and all(pair.is_own and pair.is_met for pair in others) and not self.opposites
        )
        return _denial(self.fact, ()) if is_same and not limits and self.fact.is_denied else ""

    def _values(self) -> str:
        if not self.conflicts or len(self.conflicts) > 2 or (self._is_flipped() and not self.opposites):
            return ""
        if isinstance(self.conflicts[0].term.value, Date) and self._is_state_of_event():
            return ""
        return _differs(self.conflicts[0])

    def _is_state_of_event(self) -> bool:
        """Whether the memory tells when the claim's state begins: "is closed in the afternoon", "closes at noon"."""
        return any(
            pair.known is not None
            and pair.known.is_verb
            and pair.term.is_passive != pair.known.is_passive
            and self.words.is_one(pair.term.key, "ending")
            for pair in self.own
        )

    def _is_flipped(self) -> bool:
        """Whether one of the two denies what the other says."""
        hidden = sum(self._is_denying(pair.term) for pair in self.missing)
        hidden += sum(self._is_denying(term) for term in self.free)
        hidden += sum(
            self.words.is_one(pair.term.before, "without") != self.words.is_one(pair.known.before, "without")
            for pair in self.own
            if pair.known
        )
        ends = (
            "ended" in self.fact.marks
            and bool(self.claim.marks & {"no more", "still"})
            and "ended" not in self.claim.marks
            and not self.ends
            and not any(_is_end(pair, self.words) for pair in self.opposites)
        ) + self.ends
        return (self.claim.denials + self.fact.denials + len(self.opposites) + hidden + ends) % 2 == 1

    def _is_denying(self, term: Term) -> bool:
        return self.words.is_one(term.key, "denying") or self.words.is_one(term.text.lower(), "denying")

    def _polarity(self) -> str:
        if (
            self.conflicts
            or not self._is_flipped()
            or not (self.predicate_is_met() or self.opposites or self.ends)
        ):
            return ""
        is_end_told = "no more" in self.claim.marks and tells_an_end(self.fact, self.words)
        if is_end_told and not self.opposites and not self.ends:  # but perhaps the end of something else
            return ""
        if "hedged" in self.fact.marks - self.claim.marks:  # who wanted to cancel has not cancelled
            return ""
        if self.claim.is_denied and "all" in self.claim.marks:  # "not every": an exception agrees with it
            return (
                ""
                if "all" not in self.fact.marks or self.fact.elsewhere
                else _denial(self.fact, self.opposites)
            )
        unmet = [pair for pair in self.missing if not self._is_denying(pair.term)]
        if len(unmet) > (len(self.pairs) >= 5 and self.fact.language == "en"):
            return ""
        if any(pair.term.is_verb for pair in unmet if pair not in self.subject()):
            return ""
        if not self.opposites and not self.ends and self._changes_predicate():
            return ""
        return _denial(self.fact, self.opposites)

    def _changes_predicate(self) -> bool:
        """Whether the claim's verb, though a light one, is not the memory's: "is not given", "has an allergy"."""
        verbs = [pair for pair in self.pairs if pair.term.is_verb]
        return (
            bool(verbs)
            and not any(pair.is_met or self._is_denying(pair.term) for pair in verbs)
            and any(not self._is_denying(term) for term in self.free if term.value is None)
        )

    def _ended(self) -> str:
        over = self.fact.marks & {"ended", "no more", "moved"} - self.claim.marks
        if "still" in self.claim.marks and over and "still" not in self.fact.marks:
            return f"memory says that it ended: {_quoted(self.fact)}"
        return ""

    def _order(self) -> str:
        """Arguments on the other side of a verb, behind each other's preposition, or the other way round in time."""
        temporal = self._temporal()
        if temporal is not None:
            return temporal
        if any(pair.term.is_verb and pair.how is How.MISSING for pair in self.pairs):
            return ""  # another relation may hold between the same arguments the other way round
        arguments = [pair for pair in self.own if pair.term.kind is not TermKind.LIGHT]
        is_reversed = any(
            self._is_reversed(one, other) for at, one in enumerate(arguments) for other in arguments[at + 1 :]
        )
        found = (self._changes_voice, self._changes_sides, self._changes_role, self._exchanges_values)
        if is_reversed or any(one() for one in found):
            return f"memory has them the other way round: {_quoted(self.fact)}"
        return ""

    def _temporal(self) -> str | None:
        """Before and after: None if the claim has neither, else the reason or nothing."""
        if not self.claim.marks & {"before", "after"}:
            return None
        if self._agrees_in_time() is False:
            return f"memory has them the other way round in time: {_quoted(self.fact)}"
        return ""

    def _agrees_in_time(self) -> bool | None:
        """Whether both agree on what came first; None if unknown."""
        told, known = self.claim.marks & {"before", "after"}, self.fact.marks & {"before", "after"}
        succession = succession_agrees(self.claim, self.fact, self.pairs, self.words)
        if succession is not None:
            return succession
        crossed = self._is_crossed()
        if len(told) != 1 or len(known) != 1 or crossed is None:
            return None
        return (told == known) != crossed

    def _is_crossed(self) -> bool | None:
        """Whether the claim's argument after "before" or "after" comes in front of it in the memory."""
        turn = [
            next(
                (
                    at
                    for at, word in enumerate(clause.order)
                    if self.words.is_one(word, "before") or self.words.is_one(word, "after")
                ),
                None,
            )
            for clause in (self.claim, self.fact)
        ]
        if turn[0] is None or turn[1] is None:
            return None
        sides = {
            (pair.term.place > turn[0], pair.known.place > turn[1])
            for pair in self.own
            if pair.known is not None and pair.term.kind is not TermKind.LIGHT
        }
        straight, cross = sides & {(True, True), (False, False)}, sides & {(True, False), (False, True)}
        if len(cross) == 2:
            return True
        if (True, True) in straight:
            return False
        return True if cross and not straight else None

    def _is_reversed(self, one: Pair, other: Pair) -> bool:
        """Whether two arguments have changed places: by their prepositions, or around the same verb."""
        first, second = one.known, other.known
        if first is None or second is None or first.place == second.place:
            return False
        crossed = first.place > second.place
        befores, kinds = (one.term.before, other.term.before), {one.term.kind, other.term.kind}
        is_exchanged = crossed and befores[0] != befores[1] and befores == (second.before, first.before)
        if is_exchanged and any(self.words.is_one(before, "comparing") for before in befores):
            return not self._compares_from_the_other_side()
        if is_exchanged and _is_copula(befores):
            return False
        if is_exchanged and (all(befores) or kinds in ({TermKind.NAME}, {TermKind.VALUE})):
            return True
        roles = (one.term.role, other.term.role)
        if all(roles) and roles[0] != roles[1] and roles == (second.role, first.role):
            return True
        if TermKind.VALUE in kinds or self._keep_their_cases(one, other) or self._is_inverted():
            return False
        verb = self._between(one, other)
        if verb is None or verb.known is None or verb.how is not How.SAME:
            return False
        behind = first if crossed else second
        is_passive = self.words.is_one(other.term.before, "passive") or verb.term.is_passive
        was_passive = self.words.is_one(behind.before, "passive") or verb.known.is_passive
        if is_passive != was_passive and behind.before and not self.words.is_one(behind.before, "passive"):
            return False
        return crossed ^ (is_passive != was_passive)

    def _compares_from_the_other_side(self) -> bool:
        """Whether one says "larger" where the other says "smaller"."""
        return any(
            pair.known is not None and are_opposite(pair.term.key, pair.known.key, self.words)
            for pair in self.own
        )

    def _is_inverted(self) -> bool:
        """Whether the order of words tells no roles: a condition in front, or a German adjunct in only one of both."""
        if any(_leads_elsewhere(clause, self.words) for clause in (self.claim, self.fact)):
            return True
        starts = {bool(clause.terms[0].before) for clause in (self.claim, self.fact)}
        return self.words.language == "de" and len(starts) == 2

    def _exchanges_values(self) -> bool:
        """Whether two values changed places while what they belong to did not: "8 on weekdays and 6 on weekends"."""
        values = [pair for pair in self.own if pair.term.value is not None and pair.how is How.SAME]
        return any(
            _is_crossed(one, other) and any(not _is_crossed(*owners) for owners in self._owners(one, other))
            for at, one in enumerate(values)
            for other in values[at + 1 :]
        )

    def _owners(self, one: Pair, other: Pair) -> list[tuple[Pair, Pair]]:
        """What each of two values may belong to: words behind the same preposition, all behind or all in front."""
        words = [
            pair for pair in self.own if pair.term.value is None and pair.term.kind is not TermKind.LIGHT
        ]
        low, high = one.term.place, other.term.place
        before = [pair for pair in words if pair.term.place < low][-1:]
        between = [pair for pair in words if low < pair.term.place < high]
        after = [pair for pair in words if pair.term.place > high][:1]
        found = [(left, right) for left in between[:1] for right in after]
        found += [(left, right) for left in before for right in between[-1:]]
        return [pair for pair in found if pair[0].term.before == pair[1].term.before != ""]

    def _keep_their_cases(self, one: Pair, other: Pair) -> bool:
        """Whether two arguments in Russian, whose order is free, have the endings they have in the memory."""
        forms = {(pair.term.text.lower(), pair.known.text.lower()) for pair in (one, other) if pair.known}
        return self.fact.language == "ru" and all(told == known for told, known in forms)

    def _changes_sides(self) -> bool:
        """Whether an argument is on the other side of the same verb while the claim names another subject."""
        for verb in self.own:
            if not verb.term.is_verb or verb.known is None or not verb.known.is_verb or verb.term.place == 0:
                continue
            if verb.term.is_passive != verb.known.is_passive:
                continue
            for pair in self.own:
                if (
                    pair.term.kind is not TermKind.NAME
                    or pair.known is None
                    or pair.known.before
                    or pair is verb
                ):
                    continue
                went_behind = pair.term.place > verb.term.place and pair.known.place < verb.known.place
                if went_behind and any(
                    one.term.kind is TermKind.NAME and one.term.place < verb.term.place and not one.is_own
                    for one in self.pairs
                ):
                    return True
        return False

    def _changes_role(self) -> bool:
        """Whether the claim's subject is a goal in the memory: "a neighbour sold it", "sold to a neighbour"."""
        verbs = [pair for pair in self.own if pair.term.is_verb and pair.how is How.SAME]
        return any(
            verb.known is not None
            and verb.term.is_passive == verb.known.is_passive
            and pair.known is not None
            and pair.term.place < verb.term.place
            and pair.known.place > verb.known.place
            and not pair.term.before
            and self.words.is_one(pair.known.before, "route")
            for verb in verbs
            for pair in self.own
            if pair.term in subject(self.claim)
        )

    def _changes_voice(self) -> bool:
        """What the memory has behind "by" is an object in the claim, or the other way round, of the same verb."""
        for at, verb in enumerate(self.own):
            for pair in self.own[at + 1 :]:
                if (
                    verb.known is None
                    or pair.known is None
                    or not verb.term.is_verb
                    or pair.known.place < verb.known.place
                ):
                    continue
                by = [self.words.is_one(term.before, "passive") for term in (pair.term, pair.known)]
                if (
                    by[0] != by[1]
                    and verb.term.key == verb.known.key
                    and pair.term.kind is not TermKind.VALUE
                ):
                    return True
        return False

    def _between(self, one: Pair, other: Pair) -> Pair | None:
        """The verb between both terms, in the claim and in the memory."""
        if one.known is None or other.known is None:
            return None
        low, high = sorted((one.known.place, other.known.place))
        names = (
            one.term.kind is TermKind.NAME and other.term.kind is TermKind.NAME
        ) or self.fact.language not in (
            "en",
            "de",
        )
        for pair in self.own:
            if pair.known is None or pair.term.kind not in (TermKind.WORD, TermKind.LIGHT):
                continue
            if (
                one.term.place < pair.term.place < other.term.place
                and low < pair.known.place < high
                and (pair.term.is_verb or names)
            ):
                return pair
        return None

    # --- something else in the same place

    def _verb_is_own(self) -> bool:
        """Whether the claim's verb is in this clause; True for languages without verb detection."""
        verbs = [pair for pair in self.pairs if pair.term.is_verb and pair not in self.subject()]
        return not verbs or any(pair.is_own and pair.how is not How.MISSING for pair in verbs)

    def _substitution(self) -> str:
        """One expression of the claim is another one in the memory, in the same place.

        If the memory has it in another clause, the two were exchanged; else names and places exclude each other.
        """
        if self.conflicts or self.opposites or self._is_flipped() or not self._verb_is_own():
            return ""
        if self.claim.is_verbless:  # a heading says nothing of its subject
            return ""
        first = self.missing[0]
        if first.term.key.isdigit() and len(self.claim.terms) < 3:  # "(copy 1)" tells things apart
            return ""
        if first in self.subject() and not first.is_elsewhere and self.fact.language == "en":
            return ""
        if first in self.subject() and first.is_elsewhere and self._changes_sides():
            return f"memory has them the other way round: {_quoted(self.fact)}"
        rival = self._rival(first)
        is_alike = rival is not None and (
            rival.kind is first.term.kind or first.is_elsewhere or self.fact.language != "en"
        )
        if rival is None or not is_alike:
            return ""
        return f"memory says {_word(rival)}, the claim says {_word(first.term)}"

    def _rival(self, pair: Pair) -> Term | None:
        """The memory's term in the place of the claim's term of *pair*."""
        term = pair.term
        prior = [one for one in self.own if one.term.place < term.place]
        after = [one for one in self.own if one.term.place > term.place]
        low = max((one.known.place for one in prior if one.known), default=-1)
        high = min((one.known.place for one in after if one.known and one.known.place > low), default=999)
        for other in self.free:
            if (
                other.kind is TermKind.LIGHT
                or TermKind.VALUE in (other.kind, term.kind)
                or self._is_part_of_name(other)
            ):
                continue
            if low < other.place < high and self._same_place(pair, other, bool(prior), bool(after)):
                return other
        return None

    def _same_place(self, pair: Pair, other: Term, has_prior: bool, has_after: bool) -> bool:
        term = pair.term
        if not has_prior:  # the subject
            is_subject = term.place == self.claim.terms[0].place and self.fact.has_subject
            return is_subject and self._is_head(other) and pair.is_elsewhere
        if self.fact.language in SPACELESS:
            return bool(term.before and term.before == other.before) or has_after
        if term.before != other.before or not self._follows(term, other):
            return False
        if term.before:
            return (
                pair.is_elsewhere or other.kind is TermKind.NAME or self.words.is_one(term.before, "places")
            )
        if has_after and self._are_adjectives(term, other):
            return True
        return other.kind is TermKind.NAME and term.kind is TermKind.NAME

    def _are_adjectives(self, *terms: Term) -> bool:
        """Two properties of the same: "painted green", "painted blue"."""
        return self.words.language == "en" and all(
            "a" in entry(term.key).parts and not term.is_verb for term in terms
        )

    def _follows(self, term: Term, other: Term) -> bool:
        """Whether both stand behind the same term."""
        before = [pair for pair in self.pairs if pair.term.place < term.place]
        known = [one for one in self.fact.terms if one.place < other.place and not self._is_adjunct(one)]
        return bool(before and known) and before[-1].is_own and before[-1].known == known[-1]

    def _is_adjunct(self, term: Term) -> bool:
        """Whether it is a date or an amount behind a preposition ("for 30 days") that the claim leaves out."""
        is_adjunct = isinstance(term.value, Date) or (term.value is not None and bool(term.before))
        return is_adjunct and term in self.free

    def _is_head(self, other: Term) -> bool:
        """Whether *other* begins its clause."""
        return other.place == self.fact.terms[0].place

    def _is_part_of_name(self, other: Term) -> bool:
        """Whether *other* is a part of a name that is met: "Ruiz" behind "Mateo"."""
        return other.kind is TermKind.NAME and any(
            pair.known is not None
            and pair.known.kind is TermKind.NAME
            and abs(pair.known.place - other.place) == 1
            for pair in self.own
        )

    # --- entailment

    def _misses_a_genitive(self) -> bool:
        """Whether all missing terms are one phrase of the same sentence and only specify: "unused days of leave"."""
        missing = self.missing
        return (
            bool(missing)
            and len(self._slot()) == len(missing)
            and missing[0].term.before == "of"
            and all(pair.is_elsewhere and pair.term.kind is TermKind.WORD for pair in missing)
            and len(self.own) > 2
            and not any(term.before == "of" or term in subject(self.fact) for term in self.free)
        )

    def _is_complement(self, pair: Pair) -> bool:
        """Whether the denial of one word is the other: not allowed and forbidden, no longer there and removed."""
        return _is_end(pair, self.words) or (
            pair.known is not None and self._is_denying(pair.term) != self._is_denying(pair.known)
        )

    def _misses_prohibition(self) -> bool:
        """Whether nothing is missing but a word such as "forbidden" for what the memory says must not be done."""
        if not self.missing:
            return True
        is_ruled = self.fact.is_denied and bool(self.fact.marks & {"obliged", "permitted"})
        return is_ruled and all(self._is_denying(pair.term) for pair in self.missing)

    def _misses_support(self) -> bool:
        """Whether only a verb without content is missing, as the noun says it: "receives updates", "is updated"."""
        return (
            len(self.missing) == 1
            and self.words.is_one(self.missing[0].term.key, "support")
            and any(
                pair.how is How.NEAR
                and pair.known is not None
                and pair.known.is_verb
                and not pair.term.is_verb
                for pair in self.own
            )
        )

    def entails(self) -> bool:
        """Whether the memory contains everything the claim says, in the same sense."""
        if self._is_of_others() and self.claim.is_denied and not self.fact.is_denied:
            return True
        if binds(self.claim, self.fact, self.pairs, self.words):
            return not self.conflicts and not self.opposites
        ended = bool(self.opposites) and all(self._is_complement(pair) for pair in self.opposites)
        if self.conflicts or (self.opposites and not ended) or self._is_flipped():
            return False
        if not (ended or self.ends or self.predicate_is_met()):
            return False
        if not (self._misses_a_genitive() or self._misses_support() or self._misses_prohibition()):
            return False
        claim, fact = self.claim.marks, self.fact.marks
        if claim & {"before", "after"} and not self._agrees_in_time():
            return False
        if ("hedged" in fact and "hedged" not in claim) or ("only" in claim and "only" not in fact):
            return False
        if "still" in claim and (fact & {"ended", "no more", "moved"} or tells_an_end(self.fact, self.words)):
            return False
        if "all" in claim and "all" not in fact and not self.claim.is_denied:
            return False
        return not ("obliged" in claim and "permitted" in fact and "obliged" not in fact)


def _is_crossed(one: Pair, other: Pair) -> bool:
    """Whether two pairs come in another order in the memory than in the claim."""
    return bool(one.known and other.known and one.known.place > other.known.place)


def _is_copula(befores: tuple[str, str]) -> bool:
    """Whether a Japanese sentence equates two things, so that either may be its topic: 部長は田中さんです."""
    return befores[0] in ("は", "が") and befores[1] in ("です", "だ", "である", "でした", "だった")


QUOTED = 120


def _quoted(fact: Clause) -> str:
    text = " ".join(fact.text.split())
    return f"“{text}”" if len(text) <= QUOTED else f"“{text[:QUOTED].rsplit(' ', 1)[0]} …”"


def _word(term: Term | None) -> str:
    """A term as written; the words of a phrase were joined by underscores."""
    if term is None:
        return ""
    return term.text if term.kind is TermKind.NAME else term.text.replace("_", " ")


def _differs(pair: Pair) -> str:
    return f"memory says {_word(pair.known)}, the claim says {_word(pair.term)}"


def _denial(fact: Clause, opposites: Sequence[Pair]) -> str:
    if opposites and opposites[0].known:
        return _differs(opposites[0])
    if fact.is_denied:
        return f"memory denies it: {_quoted(fact)}"
    return f"the claim denies what memory says: {_quoted(fact)}"
