"""Judging a claim by one text: each of its clauses is held against the sentence that says most of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core.trust.comparison import Comparison, Entailment, compare
from mnemic.core.trust.implications import tells_an_end
from mnemic.core.trust.lexicon import LANGUAGES, SPACELESS, lexicon
from mnemic.core.trust.pairs import WEIGHTS, How
from mnemic.core.trust.propositions import Clause, clauses, completed, sentences
from mnemic.core.trust.terms import Term, TermKind
from mnemic.model.languages import detect


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict of one text on a claim, clause by clause."""

    parts: tuple[Comparison, ...]

    @property
    def relation(self) -> Entailment:
        """One contradicted clause contradicts the claim; all of them must be entailed."""
        found = [part.relation for part in self.parts]
        if Entailment.CONTRADICTS in found:
            return Entailment.CONTRADICTS
        if found and all(one is Entailment.ENTAILS for one in found):
            return Entailment.ENTAILS
        return Entailment.RELATED if any(one is not Entailment.NONE for one in found) else Entailment.NONE

    @property
    def support(self) -> float:
        """The share of the claim that the text says too, 0 to 1."""
        weights = [sum(WEIGHTS[pair.term.kind] for pair in part.pairs) for part in self.parts]
        return sum(part.coverage * weight for part, weight in zip(self.parts, weights, strict=True)) / (
            sum(weights) or 1
        )

    @property
    def backed(self) -> tuple[str, ...]:
        """The words of the claim that the text has too."""
        met = (pair for part in self.parts for pair in part.pairs if pair.is_met)
        return tuple(dict.fromkeys(pair.term.text for pair in met))

    @property
    def reason(self) -> str:
        """Why it contradicts, if it does."""
        return next((part.reason for part in self.parts if part.relation is Entailment.CONTRADICTS), "")


def propositions(text: str, language: str | None = None) -> list[Clause]:
    """The clauses of all sentences of a text."""
    spoken = language or language_of(text)
    return [clause for sentence in sentences(text) for clause in clauses(sentence, spoken)]


def language_of(text: str, other: str = "") -> str:
    """The language whose lexicon reads *text*; a short text is taken to be in the language of the *other*."""
    found = detect(text)
    if found not in LANGUAGES:
        found = "ru" if "\u0400" <= max(text, default="") <= "\u04ff" else "en"
    is_same_script = other in LANGUAGES and (other in _LATIN) == (found in _LATIN) and other not in SPACELESS
    return other if is_same_script and len(text) < SHORT else found


_LATIN = frozenset(("en", "de", "fr", "es"))
SHORT = 120
"""The language of a shorter text is often mistaken for a neighbouring one."""


def judge(claim: Sequence[Clause], text: str, title: str = "") -> Judgement:
    """Judge *claim* by *text*."""
    claim, language = _in_one_language(claim, text)
    context = (
        tuple(term for clause in propositions(title, language) for term in clause.terms) if title else ()
    )
    known: list[tuple[Clause, tuple[Term, ...]]] = []
    previous: tuple[Term, ...] = ()
    parts = sentences(text)
    for sentence in parts:
        found = clauses(sentence, language)
        known += [(clause, context + previous) for clause in found]
        if sentence is parts[0] and len(parts) > 1 and all(clause.is_verbless for clause in found):
            context += tuple(term for term in _named(found) if term.kind is TermKind.WORD)  # a heading
        previous = _named(found)
    if not known:
        return Judgement(())
    told = [clause for clause in claim if not _is_topic(clause)] or claim
    most = max(FEWEST_COMPARED, min(COMPARED, MOST_COMPARED // max(1, len(told))))
    return Judgement(tuple(_best(completed(clause), known, len(context), most) for clause in told))


def _named(found: Sequence[Clause]) -> tuple[Term, ...]:
    """What clauses name, without their amounts and dates."""
    return tuple(
        term for clause in found for term in clause.terms if term.kind in (TermKind.NAME, TermKind.WORD)
    )


def _in_one_language(claim: Sequence[Clause], text: str) -> tuple[Sequence[Clause], str]:
    """*claim* as read in the language of *text*, and that language.

    Of two short texts that seem to be in different languages, both together tell it better: "no" was missed in a
    Spanish memory, because the claim about it was taken for French.
    """
    if not claim:
        return claim, language_of(text)
    spoken = claim[0].language
    if spoken not in _LATIN or len(text) >= SHORT or language_of(text) == spoken:
        return claim, language_of(text, spoken)
    told = " ".join(dict.fromkeys(clause.text for clause in claim))
    joint = language_of(f"{told} {text}")
    if joint == spoken or joint not in _LATIN:
        return claim, language_of(text, spoken)
    return propositions(told, joint)[: len(claim)] or claim, joint


def _is_topic(clause: Clause) -> bool:
    """Whether a Japanese clause only names what the next ones are about: 鈴木さんは今、…"""
    return clause.language == "ja" and len(clause.terms) == 1 and clause.terms[0].before == "は"


COMPARED = 16
"""Clauses of a long text compared with each clause of a claim: those that share most words."""
MOST_COMPARED, FEWEST_COMPARED = 64, 3
"""Budget of comparisons of a text with all clauses of a claim, and the minimum for each."""


def _nearest(
    claim: Clause, known: Sequence[tuple[Clause, tuple[Term, ...]]], most: int
) -> Sequence[tuple[Clause, tuple[Term, ...]]]:
    if len(known) <= most:
        return known
    keys = {term.key for term in claim.terms}
    return sorted(
        known, key=lambda one: -len(keys & {term.key for term in (*one[0].terms, *one[0].inherited)})
    )[:most]


def _best(
    claim: Clause, known: Sequence[tuple[Clause, tuple[Term, ...]]], titled: int, most: int
) -> Comparison:
    found = [compare(claim, fact, context, titled) for fact, context in _nearest(claim, known, most)]
    if claim.is_denied and "all" in claim.marks:  # "not every": one exception is enough
        found = [one for one in found if one.relation is Entailment.ENTAILS] or found
    if claim.marks & {"no more", "still"}:  # "he joined in May and left in June": the end decides
        found = [one for one in found if _decides_by_an_end(one)] or found
    return max(found, key=_strength)


def _decides_by_an_end(found: Comparison) -> bool:
    is_decided = found.relation in (Entailment.ENTAILS, Entailment.CONTRADICTS)
    return is_decided and tells_an_end(found.fact, lexicon(found.fact.language))


_ORDER = {Entailment.ENTAILS: 2, Entailment.CONTRADICTS: 1, Entailment.RELATED: 0, Entailment.NONE: 0}


_WORTH = {TermKind.WORD: 1.0, TermKind.VALUE: 1.0, TermKind.NAME: 0.6, TermKind.LIGHT: 0.3}


def _strength(found: Comparison) -> float:
    """How much of the claim is met where it counts: in the clause itself rather than around it."""
    total = 0.0
    for pair in found.pairs:
        worth = _WORTH[pair.term.kind]
        if pair.how in (How.CONFLICT, How.OPPOSITE):
            total += 0.8 * worth
        elif pair.is_met:
            near = 1.0 if pair.is_own else 0.9 if pair.known in found.fact.inherited else 0.5
            total += worth * near * (1.0 if pair.how is How.SAME else 0.9)
    has_verb = any(
        pair.term.is_verb and pair.term.kind is not TermKind.LIGHT and pair.is_own and pair.is_met
        for pair in found.pairs
    )
    is_decided = found.relation in (Entailment.ENTAILS, Entailment.CONTRADICTS) and not found.missing
    return total + 0.3 * _ORDER[found.relation] + 0.8 * has_verb + 0.5 * is_decided


def entails_together(one: Judgement, other: Judgement) -> bool:
    """Whether two linked texts say the whole claim: each of its terms in one of them, with a term in common."""
    return len(one.parts) == len(other.parts) > 0 and all(
        _completes(*parts) for parts in zip(one.parts, other.parts, strict=True)
    )


def _completes(one: Comparison, other: Comparison) -> bool:
    if Entailment.ENTAILS in (one.relation, other.relation):
        return Entailment.CONTRADICTS not in (one.relation, other.relation)
    if Entailment.RELATED is not one.relation or Entailment.RELATED is not other.relation:
        return False
    if any(part.fact.is_denied or "hedged" in part.fact.marks for part in (one, other)):
        return False
    firm = [
        pair for pair in zip(one.pairs, other.pairs, strict=True) if pair[0].term.kind is not TermKind.LIGHT
    ]
    shares = {term.key for term in one.fact.terms} & {term.key for term in other.fact.terms}
    is_opposed = any(pair.how in (How.CONFLICT, How.OPPOSITE) for part in (one, other) for pair in part.pairs)
    return bool(shares) and not is_opposed and all(left.is_met or right.is_met for left, right in firm)
