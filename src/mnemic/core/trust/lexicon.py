"""Word knowledge per language: negators, quantifiers, antonyms, synonyms; WordNet relations for English."""

from __future__ import annotations

import gzip
import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

from mnemic.core.trust.stems import stem

LANGUAGES = ("en", "de", "fr", "es", "ru", "zh", "ja")
SPACELESS = frozenset(("zh", "ja"))
_DATA = files("mnemic.core.trust") / "data"


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words of one language that carry the logic of a sentence, each list in lower case."""

    language: str
    words: dict[str, frozenset[str]]
    phrases: tuple[tuple[tuple[str, ...], str], ...]
    """Multi-word expressions and the token that represents each."""
    numbers: dict[str, float]
    scales: dict[str, float]
    calendar: dict[str, tuple[str, int]]
    """Names of months, weekdays and parts of the day: what kind, and its place in the list."""
    synonyms: dict[str, frozenset[str]]
    antonyms: dict[str, frozenset[str]]
    complements: dict[str, frozenset[str]]
    """Antonyms of which one or the other holds: open and closed."""
    converses: dict[str, frozenset[str]]
    """Verbs that tell one event from its two sides: to lend and to borrow."""
    inverses: dict[str, frozenset[str]]
    """Words for the two sides of a relation: who is the boss of whom, who reports to whom."""

    def is_one(self, word: str, role: str) -> bool:
        """Whether *word* plays *role*, the name of a list."""
        return word in self.words[role]

    def key(self, word: str) -> str:
        """The form under which *word* is compared: its lemma or stem."""
        return lemma(word) if self.language == "en" else stem(word, self.language)


_INFLECTED = (
    "light",
    "denying",
    "moved",
    "ending",
    "being",
    "binding",
    "succession",
    "support",
    "having",
    "times",
    "moving",
    "residing",
    "departing",
    "rejecting",
    "keeping",
    "kin",
    "using",
)
"""Lists of verbs and adjectives: their base forms and stems belong to them too."""


_VALUES = frozenset(
    "numbers scales months weekdays dayparts antonyms complements synonyms converses inverses".split()
)
"""Entries that are no plain lists of words."""


@cache
def lexicon(language: str) -> Lexicon:
    """The lexicon of a language; of one that has none, the English one."""
    name = language if language in LANGUAGES else "en"
    written = tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8"))
    raw = {role: text.replace("-", "_") for role, text in written.items()}  # tokens end at a hyphen
    lists = {key: frozenset(value.split()) for key, value in raw.items() if key not in _VALUES}
    for role in _INFLECTED:
        lists[role] |= {_key(word, name) for word in lists[role]}
    numbers = {word: float(value) for word, value in _pairs(raw["numbers"])}
    scales = {word: float(value) for word, value in _pairs(raw["scales"])}
    return Lexicon(
        language=name,
        words=lists,
        phrases=_phrases(raw),
        numbers=numbers,
        scales=scales,
        calendar=_calendar(raw),
        synonyms=_groups(raw["synonyms"], name),
        antonyms=_opposites(f"{raw['antonyms']} {raw['complements']}", name),
        complements=_groups(raw["complements"], name),
        converses=_groups(raw["converses"], name),
        inverses=_groups(raw["inverses"], name),
    )


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(word, value) for word, _, value in (item.partition("=") for item in text.split())]


def _phrases(raw: dict[str, str]) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Longest first, so that "no longer" is not read as "no"."""
    found = {
        part for text in raw.values() for item in text.split() for part in item.split("/") if "_" in part
    }
    return tuple(
        sorted(((tuple(item.split("_")), item) for item in found), key=lambda one: (-len(one[0]), one[1]))
    )


def _calendar(raw: dict[str, str]) -> dict[str, tuple[str, int]]:
    return {
        name: (kind, place)
        for kind in ("months", "weekdays", "dayparts")
        for place, item in enumerate(raw[kind].split(), 1)
        for name in item.split("/")
    }


def _groups(text: str, language: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for group in text.split():
        keys = {_key(word, language) for word in group.split("/")}
        for key in keys:
            found[key] |= keys - {key}
    return {key: frozenset(others) for key, others in found.items()}


def _opposites(text: str, language: str) -> dict[str, frozenset[str]]:
    return _groups(text, language)


def _key(word: str, language: str) -> str:
    return lemma(word) if language == "en" else stem(word, language)


@dataclass(frozen=True, slots=True)
class WordEntry:
    """What WordNet knows of an English word, for its more frequent senses."""

    parts: str
    synonyms: frozenset[str]
    hypernyms: frozenset[str]
    antonyms: frozenset[str]
    derived: frozenset[str]


_NOTHING: frozenset[str] = frozenset()
_UNKNOWN = WordEntry("", _NOTHING, _NOTHING, _NOTHING, _NOTHING)


@cache
def _wordnet() -> tuple[dict[str, str], dict[str, str]]:
    """The line of each word, and the base of each irregular form."""
    lines = gzip.decompress((_DATA / "wordnet.tsv.gz").read_bytes()).decode().split("\n")
    rows: dict[str, str] = {}
    bases: dict[str, str] = {}
    for line in lines:
        word, _, rest = line.partition("\t")
        rows[word] = rest
        forms = rest.split("\t", 2)[1:2]
        for form in forms[0].split() if forms else ():
            bases.setdefault(form, word)
    return rows, bases


@lru_cache(maxsize=4096)
def entry(word: str) -> WordEntry:
    """Entry of an English lemma."""
    line = _wordnet()[0].get(word)
    if line is None:
        return _UNKNOWN
    cells = [*line.split("\t"), "", "", "", "", ""]
    return WordEntry(cells[0], *(frozenset(cell.split()) for cell in cells[2:6]))


_SUFFIXES = (
    ("ies", "y"), ("ied", "y"), ("ves", "f"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"),
    ("zes", "z"), ("oes", "o"), ("s", ""), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"),
    ("er", ""), ("er", "e"), ("est", ""), ("est", "e"), ("ier", "y"), ("iest", "y"),
)  # fmt: skip
_IRREGULAR = {"left": "leave", "lay": "lie", "found": "find", "better": "better", "best": "best", "data": "data",
              "media": "media", "lost": "lose", "met": "meet", "led": "lead", "kept": "keep", "fell": "fall",
              "rose": "rise", "bore": "bear", "saw": "see", "felt": "feel", "worse": "worse", "last": "last",
              "first": "first", "worst": "worst", "less": "less", "more": "more", "building": "building",
              "using": "use", "used": "use", "rent": "rent", "lives": "live", "leaves": "leave"}  # fmt: skip


@lru_cache(maxsize=8192)
def lemma(word: str) -> str:
    """The base form of an English word; a phrase is joined by underscores and its first word is reduced."""
    if "_" in word:
        first, _, rest = word.partition("_")
        return f"{lemma(first)}_{rest}"
    rows, bases = _wordnet()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    base = bases.get(word)
    if base and (word not in rows or "v" in rows[base].split("\t", 1)[0]):
        return base
    if _is_third_person(word, rows):
        return word[:-1]
    if word in rows and not word.endswith(("ed", "ing")):
        return word
    return _regular(word, rows)


def _is_third_person(word: str, rows: dict[str, str]) -> bool:
    """ "works" is a noun of its own in WordNet, and mostly a form of "work"."""
    if not word.endswith("s") or word.endswith("ss") or rows.get(word, "").split("\t", 1)[0] != "n":
        return False
    return "v" in rows.get(word[:-1], "").split("\t", 1)[0]


def _regular(word: str, rows: dict[str, str]) -> str:
    found = [
        (word.removesuffix(suffix) + ending, suffix)
        for suffix, ending in _SUFFIXES
        if word.endswith(suffix) and len(word) > len(suffix) + 2
    ]
    found += [(base[:-1], suffix) for base, suffix in found if len(base) > 3 and base[-1] == base[-2]]
    known = [base for base, suffix in found if base in rows and _takes(suffix, rows[base])]
    if known:
        return known[0]
    return word[:-1] if word not in rows and word.endswith("s") and not word.endswith("ss") else word


def _takes(suffix: str, row: str) -> bool:
    """Adjectives are compared by -er and -est; a keeper is no form of "keep"."""
    return "a" in row.split("\t", 1)[0] or suffix not in ("er", "est", "ier", "iest")


def is_common_word(word: str) -> bool:
    """Whether *word* (lower case) is an English dictionary word rather than a name."""
    rows, bases = _wordnet()
    return word in rows or word in bases or lemma(word) in rows


def is_verb(word: str) -> bool:
    """Whether an English lemma can be a verb."""
    return "v" in entry(word).parts


def mean_the_same(claimed: str, known: str, words: Lexicon) -> bool:
    """Whether a claim may say *claimed* where memory says *known*: a synonym, a derived word or a broader one."""
    if claimed == known or claimed in words.synonyms.get(known, _NOTHING):
        return True
    if words.language != "en":
        return are_derived(claimed, known, words.language) or _are_listed(claimed, known, words)
    if _as_adjective(claimed) == _as_adjective(known):
        return True
    one, other = entry(claimed), entry(known)
    if claimed in other.synonyms or known in one.synonyms:
        return True
    if claimed in other.hypernyms and "n" in one.parts and "v" not in other.parts:
        return True  # the broader verbs are too broad: to end, to drop and to fail are all to change
    is_derived = claimed in other.derived or known in one.derived or bool(one.derived & other.derived)
    return is_derived and _is_agent(claimed) == _is_agent(known)


def _are_listed(claimed: str, known: str, words: Lexicon) -> bool:
    """Whether other forms of both words are listed as synonyms."""
    roots = _roots(words.language)
    told = roots.get(_root(claimed, words.language), ())
    there = roots.get(_root(known, words.language), ()) if told else ()
    return any(
        other in words.synonyms[key]
        and are_derived(known, key, words.language)
        and are_derived(claimed, other, words.language)
        for key in there
        for other in told
    )


@cache
def _roots(language: str) -> dict[str, tuple[str, ...]]:
    """The listed words by their first letters, so that few of them are compared."""
    found: dict[str, list[str]] = defaultdict(list)
    for key in lexicon(language).synonyms:
        found[_root(key, language)].append(key)
    return {root: tuple(keys) for root, keys in found.items()}


def _root(word: str, language: str) -> str:
    return (_PARTICIPLE.sub(r"\1", word) if language == "de" else word)[:SHORTEST_ROOT]


def _is_agent(word: str) -> bool:
    """A contractor is no contract."""
    return word.endswith(("er", "or", "ist", "ee", "ant"))


def is_agent_of(noun: str, verb: str) -> bool:
    """Whether an English noun names who does what the verb says: an owner owns."""
    return noun.endswith(("er", "or")) and (noun in entry(verb).derived or verb in entry(noun).derived)


_NO_MANNER = frozenset(
    "hardly lately nearly shortly barely scarcely early only daily weekly monthly yearly".split()
)


@lru_cache(maxsize=8192)
def _as_adjective(word: str) -> str:
    """The adjective of an adverb: "severe" of "severely"; any other word as it is."""
    if not word.endswith("ly") or word in _NO_MANNER:
        return word
    stem = word[:-2]
    found = [
        one
        for one in (stem, f"{stem}le", f"{stem[:-1]}y", stem.removesuffix("al"))
        if "a" in entry(one).parts
    ]
    return found[0] if found else word


def are_derived(one: str, other: str, language: str) -> bool:
    """Whether two stems differ in nothing but an ending that makes a noun, verb or adjective: "ferm", "fermetur"."""
    endings = _DERIVATIONS.get(language)
    if endings is None:
        return False
    if language == "de":
        one, other = _PARTICIPLE.sub(r"\1", one), _PARTICIPLE.sub(r"\1", other)
    shared = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    rests = (one[shared:], other[shared:])
    return shared >= SHORTEST_ROOT and all(rest in endings for rest in rests)


_PARTICIPLE = re.compile(r"^(ab|an|auf|aus|bei|ein|mit|nach|um|vor|zu|zuruck|weg|)ge(?=\w{4})")
SHORTEST_ROOT = 4
"""Letters that two stems must share."""
_DERIVATIONS = {
    language: frozenset(("", *endings.split()))
    for language, endings in (
        ("de", "e er t en ung lich ig isch i ier ation ion nis"),
        ("fr", "e er i u é ur ure etur ment ement tion ation ag el if"),
        ("es", "a e o i ion cion acion amient imient ment iv al ur"),
        ("ru", "а я и е н ен ени ан ани ния к ск ля лен ива ыва ов тел ител ыт"),
    )
}


def are_opposite(one: str, other: str, words: Lexicon) -> bool:
    """Whether two words exclude each other: enabled and disabled, before and after."""
    if other in words.antonyms.get(one, _NOTHING):
        return True
    if words.language != "en" or one == other:
        return False
    left, right = entry(one), entry(other)
    if other in left.antonyms or one in right.antonyms:
        return True
    if (
        words.antonyms.get(one, _NOTHING) & right.derived
        or words.antonyms.get(other, _NOTHING) & left.derived
    ):
        return True
    if is_negated_form(one, other):
        return True
    bases = [word[2:] if word.startswith("re") and is_verb(word[2:]) else word for word in (one, other)]
    return bases != [one, other] and are_opposite(bases[0], bases[1], words)  # closed, reopened


def are_complementary(one: str, other: str, words: Lexicon) -> bool:
    """Whether what is not the one is the other: open and closed, but not hot and cold."""
    return other in words.complements.get(one, _NOTHING) or (
        words.language == "en" and is_negated_form(one, other)
    )


def is_negated_form(one: str, other: str) -> bool:
    """Whether one English word is the other with a negating prefix: limited and unlimited."""
    short, long = sorted((one, other), key=len)
    prefixes = ("un", "in", "im", "ir", "il", "dis", "non", "de")
    is_prefixed = len(short) > 3 and long.endswith(short) and long.removesuffix(short) in prefixes
    return is_prefixed and is_common_word(long)
