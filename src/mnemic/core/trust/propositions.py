"""Propositions: the clauses of a text with their terms, values, polarity and quantifiers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from mnemic.core.trust import quantities
from mnemic.core.trust.lexicon import SPACELESS, Lexicon, entry, is_common_word, lexicon
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.tokens import tokenize
from mnemic.core.trust.values import Date, Quantity

LONGEST = 20_000
"""Characters of a text that are parsed."""
LONGEST_SENTENCE = 400
"""A longer one is cut: terms are compared in pairs, and 10,000 characters without a full stop took 24 s."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One proposition with its polarity."""

    text: str
    """The sentence it is part of, as written."""
    language: str
    terms: tuple[Term, ...]
    marks: frozenset[str]
    """Which hold: ended, no more, moved, still, all, some, only, hedged, permitted, obliged, before, after, future,
    excepted."""
    denials: int = 0
    inherited: tuple[Term, ...] = ()
    """Terms inherited from earlier clauses: its subject, or the referents of its pronouns."""
    leading: int = 0
    """How many of them hold for the whole sentence: "during the outage …"."""
    elsewhere: tuple[Term, ...] = ()
    """The other terms of the sentence."""
    lead: tuple[str, ...] = ()
    """The function words in front of its first term."""
    order: tuple[str, ...] = field(default=(), repr=False)
    """The function words and keys in their order, for the comparison of roles."""

    @property
    def is_denied(self) -> bool:
        """Whether it contains an odd number of negations."""
        return self.denials % 2 == 1

    @property
    def has_pronoun(self) -> bool:
        """Whether it contains a pronoun that refers back."""
        words = lexicon(self.language)
        return any(words.is_one(word, "pronouns") for word in self.order)

    @property
    def has_subject(self) -> bool:
        """Whether it names its own subject, instead of beginning with a verb or a pronoun."""
        words = lexicon(self.language)
        lead = self.lead
        if self.language == "ja":
            return any(term.before in _TOPICS for term in self.terms)
        is_led = any(words.is_one(word, "pronouns") for word in lead) and not self.is_possessed
        if is_led or any(word in _FINITE for word in lead):
            return False
        if self.language == "zh":
            named = [
                term for term in self.terms if term.value is None and not _is_adverb_of_time(term, words)
            ]
            return len(named) > 1 and not any(
                words.is_one(word, role) for word in lead for role in ("permission", "obligation", "negators")
            )
        if (self.is_relative and self.terms[0].is_verb) or self._begins_with_a_time:
            return False
        is_bare = all(any(words.is_one(word, role) for role in _BARE) for word in lead)
        if self.language == "en":
            return not (is_bare and self.terms[0].is_verb)
        return not (is_bare and self.terms[0].text[:1].islower())

    @property
    def _begins_with_a_time(self) -> bool:
        """Whether only a time stands in front of its verb: "but on Saturdays it closes at five"."""
        first = self.terms[0]
        if self.language == "de" or not first.before or not isinstance(first.value, Date):
            return False
        verb = next((at for at, term in enumerate(self.terms) if term.is_verb), 0)
        return verb > 0 and all(term.value is not None for term in self.terms[:verb])

    @property
    def is_verbless(self) -> bool:
        """Whether it only adds to what was said before: "but not the website", "the two build hosts have not"."""
        if self.language in SPACELESS:
            return False
        words, order = lexicon(self.language), list(self.order)
        while order and (order[-1] in _FINITE or words.is_one(order[-1], "negators")):
            order.pop()
        return not any(term.is_verb for term in self.terms) and not any(word in _FINITE for word in order)

    @property
    def is_possessed(self) -> bool:
        """Whether it begins with a possessive: "her deputy — Pavel"."""
        words = lexicon(self.language)
        return any(words.is_one(word, "possessives") for word in self.lead[-1:]) and not self.terms[0].is_verb

    @property
    def is_relative(self) -> bool:
        """Whether it is a relative clause: "who noticed it"."""
        return any(lexicon(self.language).is_one(word, "relative") for word in self.lead[:1])

    @property
    def is_contrast(self) -> bool:
        """Whether it only denies a part of what was said before: "but not the website"."""
        words = lexicon(self.language)
        first = next((word for word in self.order if not words.is_one(word, "clauses")), "")
        return self.is_verbless and words.is_one(first, "negators")


def _is_adverb_of_time(term: Term, words: Lexicon) -> bool:
    """Whether a word only says when: 之后, "afterwards"."""
    return any(words.is_one(term.key, role) for role in ("before", "after", "times"))


_BARE = ("auxiliaries", "clauses", "negators", "permission", "obligation")
"""Words in front of a verb that is said of the subject before: "and must not be driven"."""
_TOPICS = ("は", "が", "も", "では", "には")


_SENTENCE = re.compile(r"(?<=[.!?])[\"'”»)]*\s+(?=[\"'“«(]*[^\W_])|(?<=[。！？])|\n+")
_ORDINAL = re.compile(r"(?:\b\d{1,2}|\b(?:Mr|Mrs|Ms|Dr|St|Nr|No|e\.g|i\.e|z\.B|bzw|ca|approx|vs))\.$")


def sentences(text: str) -> list[str]:
    """The sentences of a text; dates such as "1. Juli" and abbreviations do not end one."""
    found: list[str] = []
    for part in _pieces(text[:LONGEST]):
        if found and _ORDINAL.search(found[-1]) and not re.match(r"(?:The|In|We|It)\b", part):
            found[-1] += f" {part}"
        else:
            found.append(part)
    return found


def _pieces(text: str) -> Iterator[str]:
    """The stretches between the ends of sentences, none of them longer than a sentence may be."""
    for stretch in _SENTENCE.split(text):
        rest = stretch.strip()
        while len(rest) > LONGEST_SENTENCE:
            end = rest.rfind(" ", 1, LONGEST_SENTENCE) + 1 or LONGEST_SENTENCE
            yield rest[:end].strip()
            rest = rest[end:].strip()
        if rest:
            yield rest


@lru_cache(maxsize=2048)
def clauses(sentence: str, language: str) -> tuple[Clause, ...]:
    """The clauses of one sentence, each with what it inherits from the others."""
    words = lexicon(language)
    tokens = tokenize(_with_contrast_last(_unquoted(sentence), language), words)
    found = [
        clause
        for at, part in enumerate(_split(tokens, words))
        for said, denials, has_exception in _excepting(part, words, is_first=at == 0)
        if (clause := _clause(said, words, sentence, denials, has_exception)) is not None
    ]
    found = _with_pro_forms(_merged(found), words)
    result: list[Clause] = []
    for place in range(len(found)):
        result.append(_with_inherited(found, place))
        found[place] = replace(found[place], terms=result[-1].terms)
    return (*_with_rejected(result, words), *_appositions(sentence, words))


_APPOSITION = re.compile(r"((?:[A-ZÀ-Þ][\w'’.-]+ ){1,3})\(((?:[a-zß-ÿ][\w'’-]*\s?){1,4})\)")
_IS = {"en": "is", "de": "ist", "fr": "est", "es": "es"}


def _appositions(sentence: str, words: Lexicon) -> Iterator[Clause]:
    """What brackets behind a name say of it: "Pavel Novak (treasurer)"."""
    copula = _IS.get(words.language)
    for match in _APPOSITION.finditer(sentence) if copula else ():
        tokens = tokenize(f"{match[1]}{copula} {match[2]}", words)
        clause = _clause(tokens, words, sentence)
        if clause is not None and len(clause.terms) > 1:
            yield clause


def _merged(found: Sequence[Clause]) -> list[Clause]:
    """A clause of a single name or word in front of another is no proposition."""
    result: list[Clause] = []
    for clause in found:
        last = result[-1] if result else None
        if (
            last is not None
            and (clause.language not in SPACELESS or isinstance(last.terms[0].value, Date))
            and len(result) == 1
            and len(last.terms) == 1
            and not isinstance(last.terms[0].value, Quantity)
        ):
            shift = len(last.order)
            moved = tuple(replace(term, place=term.place + shift) for term in clause.terms)
            result[-1] = replace(
                clause,
                terms=last.terms + moved,
                order=last.order + clause.order,
                marks=last.marks | clause.marks,
                denials=last.denials + clause.denials,
            )
        else:
            result.append(clause)
    return result


def _with_pro_forms(found: Sequence[Clause], words: Lexicon) -> list[Clause]:
    """*found* with "the iOS one" read as "the iOS build" where the clause before speaks of a build."""
    result: list[Clause] = []
    for clause in found:
        last = result[-1] if result and words.language == "en" else None
        terms = tuple(
            _resolved(term, last) if last and _is_pro_form(term, clause, words) else term
            for term in clause.terms
        )
        if terms != clause.terms:
            keys = {term.place: term.key for term in terms}
            order = tuple(keys.get(place, word) for place, word in enumerate(clause.order))
            clause = replace(clause, terms=terms, order=order)
        result.append(clause)
    return result


def _is_pro_form(term: Term, clause: Clause, words: Lexicon) -> bool:
    is_one = term.text in ("one", "ones") and term.value is None and term.place > 0
    return is_one and not words.is_one(clause.order[term.place - 1], "prepositions")


def _resolved(term: Term, last: Clause) -> Term:
    """The noun that "one" stands for: that of the subject before, if it is a subject itself, else the last one."""
    among = subject(last) if term.place <= 2 else last.terms
    nouns = [one for one in among if one.kind is TermKind.WORD and not one.is_verb and not one.before]
    return replace(term, kind=nouns[-1].kind, key=nouns[-1].key, text=nouns[-1].text) if nouns else term


def _with_rejected(found: Sequence[Clause], words: Lexicon) -> list[Clause]:
    """*found* with the denial of what somebody proposed and the next clause turns down."""
    result = list(found)
    for clause, later in pairwise(found):
        wish = next((at for at, word in enumerate(clause.order) if words.is_one(word, "hedges")), None)
        is_refused = any(words.is_one(term.key, "rejecting") for term in later.terms) and not later.is_denied
        terms = tuple(term for term in clause.terms if wish is not None and term.place > wish)
        if terms and is_refused and later.has_pronoun:
            marks = clause.marks - {"hedged"}
            result.append(replace(clause, terms=terms, marks=marks, denials=clause.denials + 1))
    return result


def _unquoted(sentence: str) -> str:
    return re.sub(r"[\"“”„«»`*]", " ", sentence)


_CONTRAST = re.compile(
    r"(, not (?:[^,\s]+ ){0,3}[^,\s]+)((?:, | )?,? (?:in|for|on|at|by|from|as)\b[^,.;]*)(?=[.!?]?$)"
)
_JAPANESE_CONTRAST = re.compile(
    r"(?:[A-Za-z0-9._-]+|[\u30a1-\u30fc\u4e00-\u9fff]+)(?:では|じゃ|で)なく(?:て)?、?"
)


def _with_contrast_last(sentence: str, language: str) -> str:
    """*sentence* with what it sets apart at its end: "we use pnpm, not npm, in here"; dropped in Japanese."""
    if language == "ja":
        return _JAPANESE_CONTRAST.sub("", sentence)
    if language != "en":
        return sentence
    return _CONTRAST.sub(lambda found: f"{found[2].lstrip(',')}{found[1]}", sentence)


def _with_inherited(found: Sequence[Clause], place: int) -> Clause:
    clause, before = found[place], found[:place]
    inherited: tuple[Term, ...] = ()
    leading = 0
    if before:
        inherited = _leading(before[0])
        leading = len(inherited)
        if clause.is_verbless:
            inherited += before[-1].terms
        else:
            if not clause.has_subject:
                inherited += _antecedent(clause, before[-1]) or subject(before[0])
            if clause.has_pronoun:
                inherited += tuple(
                    term for one in before for term in one.terms if not term.is_verb and term.value is None
                )
    shared = {mark for one in found for mark in one.marks & {"hedged", "question"}}
    rest = tuple(
        term for at, one in enumerate(found) if at != place for term in one.terms if term not in inherited
    )
    return replace(
        clause,
        terms=_in_its_voice(clause, before),
        inherited=inherited,
        leading=leading,
        elsewhere=rest,
        marks=clause.marks | shared,
    )


def _antecedent(clause: Clause, last: Clause) -> tuple[Term, ...]:
    """What a relative clause is about: what the clause before it names behind its verb."""
    verbs = [term.place for term in last.terms if term.is_verb]
    if clause.language != "en" or not verbs or not {"which", "who"} & set(clause.lead[:1]):
        return ()
    return tuple(term for term in last.terms if term.place > max(verbs) and term.value is None)


def _in_its_voice(clause: Clause, before: Sequence[Clause]) -> tuple[Term, ...]:
    """The terms of a clause whose auxiliary stands in the one before: "are encrypted and kept in Zurich"."""
    first = clause.terms[0]
    is_bare = first.is_verb and not first.is_passive and first.text.lower() != first.key
    is_participle = is_bare and not first.text.endswith(("s", "ing")) and not BE & set(clause.lead)
    is_led = bool(before) and any(term.is_passive for term in before[-1].terms)
    is_past = first.text.lower() in _PAST or clause.is_relative
    if clause.language != "en" or not is_led or not is_participle or is_past:
        return clause.terms
    return (replace(first, is_passive=True), *clause.terms[1:])


def _leading(clause: Clause) -> tuple[Term, ...]:
    """What a sentence begins with and what holds for all of it: "during the outage …"."""
    if clause.language == "ja":
        at = next((at for at, term in enumerate(clause.terms) if term.before == "は"), None)
        return () if at is None else _compound(clause.terms[: at + 1])
    if not clause.terms[0].before or clause.language == "zh":
        return ()
    return tuple(term for term in clause.terms[:2] if term.place <= clause.terms[0].place + 1)


def _compound(terms: Sequence[Term]) -> tuple[Term, ...]:
    """The last of the terms with those that nothing parts from it: 第二 and 工場."""
    first = len(terms) - 1
    while first and terms[first].place == terms[first - 1].place + 1:
        first -= 1
    return tuple(terms[first:])


def subject(clause: Clause) -> tuple[Term, ...]:
    """The terms in front of the verb; where no verb is known, the first one with the names behind it."""
    if clause.language == "ja":
        topic = next((at for at, term in enumerate(clause.terms) if term.before in _TOPICS), None)
        return clause.terms[: topic + 1] if topic is not None else clause.terms[:1]
    if clause.language == "zh":  # 会议室: nothing parts its two terms
        is_compound = len(clause.terms) > 1 and clause.terms[1].place == clause.terms[0].place + 1
        return clause.terms[: 1 + (is_compound and clause.terms[1].value is None)]
    if clause.terms[0].is_verb and _is_led_by_a_pronoun(clause):  # "we chose Redis"
        return ()
    verbs = [term.place for term in clause.terms[1:] if term.is_verb]
    finite = _FINITE if clause.language == "en" else lexicon(clause.language).words["finite"]
    verbs += [
        place for place, word in enumerate(clause.order) if word in finite and place > clause.terms[0].place
    ]
    if verbs:
        return tuple(term for term in clause.terms if term.place < min(verbs)) or clause.terms[:1]
    names = next(
        (
            at
            for at, term in enumerate(clause.terms)
            if at and (not _is_named(term, clause) or ("question" in clause.marks and term.before))
        ),
        len(clause.terms),
    )
    return clause.terms[:names]


def _is_led_by_a_pronoun(clause: Clause) -> bool:
    words = lexicon(clause.language)
    return any(words.is_one(word, "subjects") for word in clause.lead[-2:])


def _is_named(term: Term, clause: Clause) -> bool:
    return term.kind is TermKind.NAME or (
        clause.language == "de" and term.text[:1].isupper() and not term.before
    )


def completed(clause: Clause) -> Clause:
    """A clause of a claim with its inherited subject, so that it can be judged alone."""
    taken = (
        clause.inherited
        if not clause.is_verbless
        else tuple(term for term in clause.inherited if term.is_verb or term.kind is TermKind.NAME)
    )
    if (clause.has_subject and not clause.is_verbless) or not taken:
        return clause
    head = tuple(replace(term, place=place) for place, term in enumerate(dict.fromkeys(taken)))
    tail = tuple(replace(term, place=term.place + len(head)) for term in clause.terms)
    return replace(clause, terms=head + tail, order=tuple(term.key for term in head) + clause.order)


_BREAKS = frozenset(";:()–—，；：（）、")


def _split(tokens: Sequence[str], words: Lexicon) -> Iterator[list[str]]:
    """Cut at signs and at conjunctions behind which another proposition begins."""
    part: list[str] = []
    is_condition = bool(tokens) and words.is_one(tokens[0].lower(), "conditions")
    for place, token in enumerate(tokens):
        lowered = token.lower()
        if is_condition and token in (",", "，"):  # what holds under a condition is said with it
            is_condition = False
            continue
        if (lowered.strip() in _BREAKS and not (words.language == "ru" and lowered in "–—")) or token.strip(
            " ，、；：,。！？!?（）()"
        ) == "":
            is_comma = token.strip() in (",", "，", "、", "")
            if is_comma and (_is_resumed(part, tokens[place + 1 :], words) or _names_a_topic(part, words)):
                continue
            if (
                not is_comma
                or _starts_clause(tokens[place + 1 :], words)
                or _is_gapped(part, tokens[place + 1 :], words)
            ):
                yield part
                part = []
            continue
        if (
            words.is_one(lowered, "clauses")
            and (
                _starts_clause(tokens[place + 1 :], words, after=lowered)
                or _is_gapped(part, tokens[place + 1 :], words)
            )
            and len(part) > 1
        ):
            yield part
            part = []
            continue
        part.append(token)
    yield part


_PRONOUNS = frozenset("he she it they we you i who which this that".split())


def _is_resumed(part: Sequence[str], rest: Sequence[str], words: Lexicon) -> bool:
    """Whether the verb follows its subject behind an apposition: "The dog, Bruno, gets two meals"."""
    if words.language != "en" or not part or not rest or words.is_one(part[0].lower(), "prepositions"):
        return False
    return _is_finite(rest[0].lower(), words) and not any(_is_finite(token.lower(), words) for token in part)


def _names_a_topic(part: Sequence[str], words: Lexicon) -> bool:
    """Whether a Japanese clause has come no further than its topic and a time: 本社は去年、…"""
    is_timed = bool(part) and words.is_one(part[-1], "times")
    rest = part[:-1] if is_timed else part
    return words.language == "ja" and is_timed and len(rest) > 1 and rest[-1] in _TOPICS


def _starts_clause(rest: Sequence[str], words: Lexicon, after: str = ",") -> bool:
    """Whether what follows a comma or conjunction is a clause rather than an item of a list."""
    if not rest:
        return False
    if words.language in SPACELESS:
        return True
    first = rest[0].lower()
    if words.is_one(first, "negators"):
        return True
    if (
        any(words.is_one(token.lower(), role) for token in rest[:3] for role in ("before", "after"))
        and after == ","
    ):
        return False
    if words.is_one(first, "clauses"):
        return True
    if words.language != "en":
        return len(rest) >= 3 or after != ","
    if after in ("but", "whereas", "although", "though", "because", "however", "unless", "while", "yet"):
        return True
    if after == "," and first in ("which", "who"):
        return True
    if after == "and" and _continues(rest, words):
        return True
    until = next((at for at, token in enumerate(rest) if _ends_item(token.lower(), words)), len(rest))
    return any(_is_finite(token.lower(), words) for token in rest[: min(until, 7)]) or _names_an_actor(
        rest, words
    )


def _ends_item(word: str, words: Lexicon) -> bool:
    """Whether an item of a list is over: "and macOS before it is uploaded" adds no proposition about macOS."""
    return word in (",", ";", "and", "or") or any(
        words.is_one(word, role) for role in ("before", "after", "conditions")
    )


def _is_gapped(part: Sequence[str], rest: Sequence[str], words: Lexicon) -> bool:
    """Whether the verb is left out behind a comma: "The lab moves to Leiden, the storage room to Gouda"."""
    if words.language != "en" or not any(_is_finite(token.lower(), words) for token in part[1:]):
        return False
    lowered = [token.lower() for token in rest]
    turn = next((at for at, word in enumerate(lowered) if words.is_one(word, "prepositions")), 0)
    is_parallel = (
        0 < turn < 5 and lowered[turn] in {token.lower() for token in part} and lowered[turn] != "of"
    )
    return is_parallel and not any(_is_finite(word, words) or word in (",", "and") for word in lowered)


def _continues(rest: Sequence[str], words: Lexicon) -> bool:
    """Whether a second verb of the same subject follows "and": "and hear no advertising", "and mirrored to Oslo"."""
    first, second = rest[0].lower(), rest[1].lower() if len(rest) > 1 else ""
    parts = entry(words.key(first)).parts
    if "_" in first and not words.is_one(second, "passive"):  # "and gave up running"
        return "v" in parts and "n" not in parts
    if "v" not in parts or not first.isalpha():
        return False
    if first.endswith("ed") and words.key(first) != first:
        return not second or words.is_one(second, "prepositions") or words.is_one(second, "articles")
    has_object = (
        any(words.is_one(second, role) for role in ("articles", "negators", "all")) or second[:1].isdigit()
    )
    return "n" not in parts and "a" not in parts and has_object


def _names_an_actor(rest: Sequence[str], words: Lexicon) -> bool:
    """Whether a name with an inflected verb behind it follows: "and Marek Tamm orders the malt"."""
    low = next((at for at, token in enumerate(rest) if not token[:1].isupper()), len(rest))
    if not 0 < low < len(rest):
        return False
    word = rest[low].lower()
    key = words.key(word)
    return (key != word or "_" in word) and "v" in entry(key).parts


def _is_finite(word: str, words: Lexicon) -> bool:
    if words.is_one(word, "auxiliaries") and word in _FINITE:
        return True
    if words.is_one(word, "permission") or words.is_one(word, "obligation"):
        return True
    key = words.key(word)
    return (key != word and word.endswith(("s", "ed")) and _mostly_verb(key)) or word in _PAST


_FINITE = frozenset("is are was were has have had do does did will would shall should became become".split())
_PAST = frozenset(
    "kept led fell rose wrote took gave went came made sent got left lost won met put ran saw".split()
)


def _mostly_verb(key: str) -> bool:
    parts = entry(key).parts
    return "v" in parts and ("n" not in parts or key in _VERBS_FIRST)


_VERBS_FIRST = frozenset(
    "stay run use need want work cost start stop move live join leave drink like love call show play talk walk "
    "change help return pay return charge rise fall contact read write lead run lag peak page hold support handle "
    "speak drop ship release present sleep review approve reject cover look drive ride visit report".split()
)


def _clause(
    tokens: Sequence[str], words: Lexicon, sentence: str, extra_denials: int = 0, has_exception: bool = False
) -> Clause | None:
    items = list(_parted(quantities.read(tokens, words), words))
    marks, denials = _marks(_without_frequency(items, words), words, sentence)
    if has_exception and "all" in marks:
        marks = marks - {"all"} | {"excepted"}
    terms, order = _terms(
        items, words, is_first=bool(tokens) and _unquoted(sentence).lstrip().startswith(tokens[0])
    )
    if not terms:
        return None
    if words.language == "en" and not any(one.is_verb and words.is_one(one.key, "moved") for one in terms):
        marks = marks - {"moved"}  # "front-end"
    denials += extra_denials
    lead = tuple(order[: terms[0].place])
    return Clause(
        sentence, words.language, tuple(terms), frozenset(marks), denials, lead=lead, order=tuple(order)
    )


def _parted(items: Iterable[str | Term], words: Lexicon) -> Iterator[str | Term]:
    """*items* with "larger than" in two where no number follows: it compares two things."""
    for item in items:
        word, _, than = item.lower().rpartition("_") if isinstance(item, str) else ("", "", "")
        is_bound = any(
            isinstance(item, str) and words.is_one(item.lower(), role) for role in ("above", "below")
        )
        if is_bound and words.is_one(than, "comparing"):
            yield word
            yield than
        else:
            yield item


def _without_frequency(items: Sequence[str | Term], words: Lexicon) -> list[str]:
    """The words of a clause without "every" and "after" in front of a time span: they say how often, and how long."""
    following = [*items[1:], ""]
    return [
        item
        for item, after in zip(items, following, strict=False)
        if isinstance(item, str)
        and not (isinstance(after, Term) and _is_frequency(item.lower(), after, words))
    ]


def _is_frequency(word: str, after: Term, words: Lexicon) -> bool:
    is_span = isinstance(after.value, Quantity) and after.value.dimension == "time"
    return words.is_one(word, "all") or (is_span and words.is_one(word, "after"))


def _excepting(tokens: Sequence[str], words: Lexicon, is_first: bool) -> list[tuple[list[str], int, bool]]:
    """A clause with an exception says two things: all but the exception do, the exception does not."""
    place = next((at for at, token in enumerate(tokens) if words.is_one(token.lower(), "exceptions")), None)
    if place == 0 and not is_first:  # "Hunde sind erlaubt, außer in der Kantine"
        return [(list(tokens[1:]), 1, False)]
    if place is None or words.language in SPACELESS or place == 0:
        return [(list(tokens), 0, False)]
    end = next(
        (
            at
            for at in range(place + 2, len(tokens))
            if _is_finite(tokens[at].lower(), words) or _is_base_verb(tokens[at], words)
        ),
        len(tokens),
    )
    head, excepted, rest = list(tokens[:place]), list(tokens[place + 1 : end]), list(tokens[end:])
    others = [token for token in head if not words.is_one(token.lower(), "all")]
    if excepted and excepted[0].lower() in ("number", "nummer", "numéro", "número", "номер"):
        excepted = [*others, *excepted[1:]]  # "all turbines except number 3"
    if rest:
        return [(head + rest, 0, True), (excepted + rest, 1, False)]
    return [(head, 0, True), (excepted + others, 1, False)]


def _is_base_verb(token: str, words: Lexicon) -> bool:
    return words.language == "en" and token.islower() and _mostly_verb(words.key(token))


_MARKS = {
    "ended": "ended", "still": "still", "all": "all", "some": "some", "only": "only",
    "moved": "moved", "hedges": "hedged", "permission": "permitted", "obligation": "obliged",
    "before": "before", "after": "after", "future": "future",
}  # fmt: skip


def _marks(tokens: Sequence[str], words: Lexicon, sentence: str) -> tuple[set[str], int]:
    lowered = [token.lower() for token in tokens]
    keys = [words.key(word) for word in lowered]
    marks = {
        mark
        for role, mark in _MARKS.items()
        if any(words.is_one(word, role) for word in (keys if role == "moved" else lowered))
    }
    if words.language == "en" and any(pair in _EPISTEMIC for pair in pairwise(lowered)):
        marks = marks - {"permitted"} | {"hedged"}
    if all(any(words.is_one(word, role) for word in lowered) for role in ("past", "until")):
        marks.add("ended")  # "was open until May"
    more = _NO_MORE.get(words.language, frozenset()) & set(lowered)
    if more and "pas" not in lowered and any(words.is_one(word, "negators") for word in lowered):
        marks.add("no more")
    if words.language == "en" and {"any_more", "anymore", "any_longer"} & set(lowered):
        marks.add("no more")
    denials = sum(words.is_one(word, "negators") or words.is_one(word, "no_more") for word in lowered)
    if words.language == "fr" or words.language in ("es", "ru"):  # "ne … pas" denies once
        denials = min(denials, 1)
    if any(words.is_one(word, "no_more") for word in lowered):
        marks.add("no more")
    if any(words.is_one(word, "false_frames") for word in lowered):
        denials += 1
    if words.language == "en" and any(word in ("neither", "nor") for word in lowered):
        denials = 1
    if sentence.rstrip().endswith(("?", "？")):
        marks.add("question")
    return marks, denials


_EPISTEMIC = frozenset((modal, "have") for modal in ("may", "could", "can", "might"))
"""A modal in front of a past infinitive guesses: "may have been damaged" permits nothing."""
_NO_MORE = {"fr": frozenset(("plus", "plus_de")), "de": frozenset(("mehr",)), "ja": frozenset(("もう",))}
"""Words that say with a negation elsewhere in the clause that something ended: "ne … plus", "kein … mehr"."""


def _terms(items: Sequence[str | Term], words: Lexicon, is_first: bool) -> tuple[list[Term], list[str]]:
    terms: list[Term] = []
    order: list[str] = []
    before = role = ""
    is_denied = any(isinstance(item, str) and words.is_one(item.lower(), "negators") for item in items)
    for place, item in enumerate(items):
        lowered = item.lower() if isinstance(item, str) else ""
        is_state = lowered in _STATES and place == len(items) - 1 and bool(terms)  # "the flag is on"
        if is_denied and lowered in _NO_MORE.get(words.language, ()):
            order.append(lowered)
            continue
        if isinstance(item, str) and _is_function(lowered, words) and not is_state:
            if any(words.is_one(lowered, role) for role in ("prepositions", "passive", "comparing")):
                before = lowered
            if words.is_one(lowered, "route"):
                role = lowered
            order.append(lowered)
            continue
        if isinstance(item, Term):
            term = replace(item, place=len(order), before=before)
        else:
            term = _term(item, place == 0 and is_first, words, len(order), before)
            term = replace(term, is_verb=_is_verb(term, place, items, words, is_first))
            if term.is_verb and _has_its_verb(term, terms, order, words):
                term = replace(term, is_verb=False)
        if words.language == "ja":
            term = replace(term, before=_particle(items, place, words))
        if term.is_verb:
            term = replace(term, is_passive=_is_passive(term, order))
        terms.append(replace(term, role=role))
        order.append(term.key)
        before = ""
    return terms, order


def _has_its_verb(term: Term, terms: Sequence[Term], order: Sequence[str], words: Lexicon) -> bool:
    """Whether an English base form follows a verb without "to" or the like: "edits the morning show"."""
    if words.language != "en" or term.text.lower() != term.key or not order:
        return False
    is_led = any(
        words.is_one(order[-1], role)
        for role in ("prepositions", "negators", "permission", "clauses", "obligation")
    )
    return (
        not is_led and order[-1] not in _FINITE and any(one.is_verb for one in terms) | bool(BE & set(order))
    )


_STATES = frozenset("on off up down in out".split())


def _particle(items: Sequence[str | Term], place: int, words: Lexicon) -> str:
    """The particle behind a Japanese word."""
    at = place + 1
    while at < len(items) and items[at] in ("さん", "氏", "様", "君"):
        at += 1
    following = items[at] if at < len(items) else ""
    return following if isinstance(following, str) and _is_function(following, words) else ""


BE = frozenset("is are was were be been being am gets got".split())


def _is_passive(term: Term, order: Sequence[str]) -> bool:
    text = term.text.lower()
    is_participle = "_" in text or (text != term.key and not text.endswith(("ing", "s")))
    return bool(BE & {*order[:1], *order[-4:]}) and is_participle  # a question begins with its auxiliary


_FUNCTIONS = ("articles", "auxiliaries", "prepositions", "negators", "no_more", "hedges", "permission", "obligation",
              "all", "some", "only", "still", "false_frames", "true_frames", "clauses", "above", "below", "at_least",
              "at_most", "passive", "exceptions", "conditions", "comparing", "existential")  # fmt: skip


def _is_function(word: str, words: Lexicon) -> bool:
    return any(words.is_one(word, role) for role in _FUNCTIONS) or word in (",", "，", "、", "—", "–")


_HANDLES = "#@"


def _term(token: str, is_first: bool, words: Lexicon, place: int, before: str) -> Term:
    lowered = token.lower()
    if lowered[0] in _HANDLES:  # a channel or a user
        return Term(TermKind.NAME, lowered[1:], token, place, before)
    key = words.key(lowered)
    if _is_name(token, lowered, is_first, words):
        return Term(TermKind.NAME, lowered if words.language == "en" else key, token, place, before)
    is_light = words.is_one(lowered, "light") or words.is_one(key, "light")
    return Term(TermKind.LIGHT if is_light else TermKind.WORD, key, token, place, before)


def _is_verb(term: Term, place: int, items: Sequence[str | Term], words: Lexicon, is_first: bool) -> bool:
    """Whether a word is the verb of its clause, by its form and neighbours."""
    if term.kind in (TermKind.NAME, TermKind.VALUE) or words.language in SPACELESS:
        return False
    last = items[place - 1] if place else ""
    before = last.lower() if isinstance(last, str) else ""
    if words.language != "en":
        is_led = words.is_one(before, "articles") or words.is_one(before, "prepositions")
        is_led = is_led and not words.is_one(before, "subjects")
        return (
            (place > 0 or not is_first)
            and term.text.islower()
            and not is_led
            and (words.language != "ru" or bool(_RUSSIAN.search(term.text)))
        )
    rest = [item.lower() for item in items[place + 1 :] if isinstance(item, str)]
    return _is_english_verb(term.text.lower(), term.key, before, place > 0 or not is_first, rest, words)


_RUSSIAN = re.compile(
    r"(?:[еёиюуяа]т(?:ся)?|[аяиеу]л[аои]?(?:с[яь])?|[её]н[аоы]?|[иы]сан[аы]?|[ое]ван[аы]?|[жд]ан[аы]?|[кздб]?[аор]зан[аы]?|делан[аы]?|бран[аы]?|ано|ены|ешь|ишь)$"
)


def _is_english_verb(
    text: str, key: str, before: str, is_inside: bool, rest: Sequence[str], words: Lexicon
) -> bool:
    parts = entry(key).parts
    if "_" in text:
        return "v" in parts or any("v" in entry(one).parts for one in words.synonyms.get(key, ()))
    if "v" not in parts:
        return False
    is_told = before in _FINITE or before in (
        "to",
        "not",
        "never",
        "may",
        "can",
        "cannot",
        "must",
        "might",
        "could",
        "need",
        *_PRONOUNS,
    )
    if text.endswith("ing"):
        return before in BE
    if text != key and not text.endswith("s"):  # a past form; an adjective in front of a noun looks the same
        return is_told or not words.is_one(before, "articles")
    if not is_told and (words.is_one(before, "articles") or words.is_one(before, "prepositions")):
        return False
    has_aux = any(word in _FINITE for word in rest)
    if text != key:  # "runs", "hosts", but not behind "to", "may" or "not"
        is_third = before in _PRONOUNS or before == "never"
        return is_third or (is_inside and not has_aux and not is_told)
    return is_told or (not has_aux and ("n" not in parts or (is_inside and key in _VERBS_FIRST)))


def _is_name(token: str, lowered: str, is_first: bool, words: Lexicon) -> bool:
    if any(char.isdigit() for char in token) or ("_" in token and not _is_phrase(token, words)):
        return True
    if words.language == "en" and any(char.isupper() for char in token[1:]):  # macOS
        return True
    if not token[0].isupper():
        return False
    if words.language == "de":  # every noun has a capital
        return False
    if token.isupper() and len(token) > 1:
        return True
    if is_first or (words.language == "en" and words.calendar.get(lowered)):
        return words.language == "en" and not is_common_word(lowered)
    return True


def _is_phrase(token: str, words: Lexicon) -> bool:
    lowered = token.lower()
    return any(name == lowered for _, name in words.phrases) or bool(
        words.language == "en" and entry(lowered).parts
    )
