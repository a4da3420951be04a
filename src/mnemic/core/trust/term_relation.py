"""Relation of two terms: the same, near, opposite, in conflict, or none."""

from __future__ import annotations

import re
from functools import lru_cache

from mnemic.core.trust.implications import is_end
from mnemic.core.trust.lexicon import (
    SPACELESS,
    Lexicon,
    are_opposite,
    is_agent_of,
    is_negated_form,
    is_verb,
    lexicon,
    mean_the_same,
)
from mnemic.core.trust.pairs import How
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.values import Fit, fit


def relation_of(term: Term, known: Term, words: Lexicon) -> How:
    """How a term of a claim stands to a term of a memory."""
    if term.value is not None and known.value is not None:
        return _VALUES[fit(term.value, known.value)]
    if term.key == known.key or _have_one_base(term.text, known.text, words.language):
        return How.SAME  # an unknown word with a capital may be a name: "Playtests are held"
    if term.value is not None or known.value is not None:
        return How.MISSING
    if words.language in SPACELESS and _begins_alike(term.key, known.key):
        return How.NEAR
    if TermKind.NAME in (term.kind, known.kind):  # of names only the listed ones: RAM is memory
        return How.NEAR if known.key in words.synonyms.get(term.key, ()) else How.MISSING
    if words.language == "en" and (names_its_agent(term, known) or _is_repeated(term.key, known.key)):
        return How.NEAR
    if words.language == "en" and _is_negated(term.text, known.text):
        return How.OPPOSITE
    return _relation(term.key, known.key, words.language)


# Every term of a claim meets every term of 20 memories: the same pairs of words come again and again.
@lru_cache(maxsize=65_536)
def _have_one_base(one: str, other: str, language: str) -> bool:
    words = lexicon(language)
    if language == "ru" and one[:1].isupper() and other[:1].isupper():
        return _declined(one) == _declined(other)
    return words.key(one.lower()) == words.key(other.lower())


_CASES = re.compile(r"(?:ого|ому|ой|ою|ым|ом|ем|ей|[уюаяеыиьй])$")


def _declined(name: str) -> str:
    """A Russian name without its ending of case; "Павел" and "Павлу" share what is left."""
    base = _CASES.sub("", name.lower()) if len(name) > 3 else name.lower()
    return re.sub(r"е([лнц])$", r"\1", base)


@lru_cache(maxsize=65_536)
def _is_negated(one: str, other: str) -> bool:
    return is_negated_form(one.lower(), other.lower())


def _begins_alike(claimed: str, known: str) -> bool:
    """Whether two words without spaces differ in an ending: what the claim adds is inflection, or one sign at most."""
    if _are_inflected(claimed, known):
        return True
    added = claimed[len(known) :] if claimed.startswith(known) else None
    if added is None:
        return known.startswith(claimed)
    return len(added) <= 1 or all("\u3041" <= char <= "\u309f" for char in added)


_ROWS = (
    "かきくけこ",
    "がぎぐげご",
    "さしすせそ",
    "たちつてと",
    "なにぬねの",
    "ばびぶべぼ",
    "まみむめも",
    "らりるれろ",
    "わいうえお",
)
_VERB = re.compile(r"([\u4e00-\u9fff]+)([\u3041-\u3096])[\u3041-\u3096]{0,2}")


def _are_inflected(one: str, other: str) -> bool:
    """Whether two Japanese words are forms of one verb, whose ending stays in its row: 送る, 送ら."""
    forms = [_VERB.fullmatch(word) for word in (one, other)]
    if not forms[0] or not forms[1] or forms[0][1] != forms[1][1]:
        return False
    return any(all(form and form[2] in row for form in forms) for row in _ROWS)


@lru_cache(maxsize=65_536)
def _is_repeated(one: str, other: str) -> bool:
    """ "retry" and "try again": the adverb itself is no term."""
    short, long = sorted((one, other), key=len)
    return long == f"re{short}" and is_verb(short) and len(short) > 2


def names_its_agent(term: Term, known: Term) -> bool:
    """Whether one is a verb and the other the noun for who does it: "owns", "is the owner of"."""
    if term.is_verb == known.is_verb:
        return False
    noun, verb = (known, term) if term.is_verb else (term, known)
    return is_agent_of(noun.key, verb.key)


@lru_cache(maxsize=65_536)
def _relation(claimed: str, known: str, language: str) -> How:
    """How two different words stand to each other."""
    words = lexicon(language)
    if known in words.inverses.get(claimed, ()):
        return How.OPPOSITE
    if are_opposite(claimed, known, words) or is_end(claimed, known, words):
        return How.OPPOSITE
    return How.NEAR if mean_the_same(claimed, known, words) else How.MISSING


_VALUES = {Fit.SAME: How.SAME, Fit.WITHIN: How.NEAR, Fit.CONFLICT: How.CONFLICT, Fit.APART: How.MISSING}
