"""What our own rules can say where a language model does not answer: key terms, contradictions, a joined text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import log

from mnemic.core.judging.grounding import NEGATION
from mnemic.model.memory import Memory
from mnemic.model.texts import fitted
from mnemic.retrieval.text import STOP_WORDS, content_words
from mnemic.storage.base import Reader
from mnemic.storage.text import words

KEY_TERMS = 5
TITLE_WEIGHT = 2
TERMS_WEIGHED = 200
SHORTEST_TERM = 3

SENTENCES_COMPARED = 40
SAME_SUBJECT = 0.8
"""From this share of common telling words on, two sentences are about the same."""

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*")
_TOKEN = re.compile(r"\w+(?:[.:,'’-]\w+)*")
# A value stands behind one of these, which ties it to what was said before.
_LINKING = frozenset(
    "is are was were be been to on at in by of for from until till before after uses use using runs run has have "
    "costs cost takes take lasts equals prefers prefer chose choose named called".split()
)
_DATES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december today tomorrow daily weekly monthly yearly".split()
)
_OPPOSITES = frozenset(
    frozenset(pair.split("/"))
    for pair in (
        "enabled/disabled enable/disable on/off true/false allowed/forbidden allow/forbid allow/deny "
        "allowed/denied open/closed accept/reject accepted/rejected success/failure succeeds/fails "
        "passed/failed public/private required/optional up/down before/after increase/decrease increased/decreased "
        "supported/unsupported safe/unsafe valid/invalid active/inactive possible/impossible "
        "online/offline sync/async synchronous/asynchronous mutable/immutable like/dislike likes/dislikes "
        "love/hate loves/hates hot/cold first/last minimum/maximum start/stop starts/stops approve/reject "
        "approved/rejected present/absent"
    ).split()
)
_OPPOSED = frozenset(word for pair in _OPPOSITES for word in pair)
_UNTELLING = STOP_WORDS | _OPPOSED | {"always", "still", "already"}


def key_terms(reader: Reader, memory: Memory) -> tuple[str, ...]:
    """The words that tell most of what *memory* is about: often in it, more so in its title, and rare elsewhere."""
    counts = Counter(words(memory.content))
    for word in words(memory.title):
        counts[word] += TITLE_WEIGHT
    telling = [(word, count) for word, count in counts.most_common() if _is_term(word)][:TERMS_WEIGHED]
    found, size = reader.frequencies([word for word, _ in telling]), reader.size()
    weight = {word: count * log(2 + size / (1 + found[word])) for word, count in telling}
    return tuple(sorted(weight, key=lambda word: -weight[word])[:KEY_TERMS])


def _is_term(word: str) -> bool:
    return (
        SHORTEST_TERM <= len(word) <= 32 and " " not in word and word[0].isalpha() and word not in STOP_WORDS
    )


@dataclass(frozen=True, slots=True)
class _Sentence:
    tokens: tuple[str, ...]
    stems: frozenset[str]
    """Of its telling words, those without a say in whether it denies or opposes."""
    opposed: frozenset[str]
    is_negated: bool


def contradict(reader: Reader, one: str, other: str) -> bool:
    """Whether a sentence of one text speaks against one of the other, as far as rules can tell.

    That is so if both are about the same (four fifths of their telling words, by their stems) and only one of
    them denies it ("deploys run on Friday", "deploys do not run on Friday"), or they differ by a pair of
    opposites ("the cache is enabled", "… disabled"); or if they are word for word the same but for one number,
    date or name behind a linking word ("we ship on Monday", "we ship on Friday"). Anything else is taken to agree.
    """
    pairs = product(_sentences(reader, one), _sentences(reader, other))
    return any(_denies(left, right) or _differs(left, right) for left, right in pairs)


def may_contradict(one: str, other: str) -> bool:
    """Whether two texts of nearly the same words could contradict each other, told in a hundredth of the time.

    A word that only one of them has must deny, be one of a pair of opposites, or be a number, date or name.
    """
    apart = set(_TOKEN.findall(one)) ^ set(_TOKEN.findall(other))
    return any(NEGATION.fullmatch(word) or word.lower() in _OPPOSED or _is_value(word) for word in apart)


def _sentences(reader: Reader, body: str) -> list[_Sentence]:
    found = [tuple(_TOKEN.findall(sentence)) for sentence in _SENTENCE.findall(body)]
    return [_sentence(reader, tokens) for tokens in found if tokens][:SENTENCES_COMPARED]


def _sentence(reader: Reader, tokens: tuple[str, ...]) -> _Sentence:
    plain = " ".join(tokens)
    said = NEGATION.sub(" ", plain)
    telling = [word for word in content_words(said) if word not in _UNTELLING]
    opposed = frozenset(map(str.lower, tokens)) & _OPPOSED
    return _Sentence(tokens, frozenset(reader.stems(" ".join(telling))), opposed, said != plain)


def _denies(left: _Sentence, right: _Sentence) -> bool:
    """Whether two sentences about the same differ in being negated, or else by opposites."""
    shared, both = left.stems & right.stems, left.stems | right.stems
    if not shared or len(shared) < SAME_SUBJECT * len(both):
        return False
    if left.is_negated != right.is_negated:
        return left.opposed == right.opposed
    gone, come = left.opposed - right.opposed, right.opposed - left.opposed
    return len(gone) == len(come) == 1 and gone | come in _OPPOSITES


def _differs(left: _Sentence, right: _Sentence) -> bool:
    """Whether two sentences are the same but for one value."""
    if len(left.tokens) != len(right.tokens):
        return False
    lower = list(zip(map(str.lower, left.tokens), map(str.lower, right.tokens), strict=True))
    places = [place for place, (one, other) in enumerate(lower) if one != other]
    if len(places) != 1 or places[0] == 0:
        return False
    place = places[0]
    before = [one for one, _ in lower[:place] if one not in ("the", "a", "an")]
    is_said = any(word not in STOP_WORDS and word not in _LINKING for word in before)
    return (
        is_said
        and before[-1] in _LINKING
        and _is_value(left.tokens[place])
        and _is_value(right.tokens[place])
    )


def _is_value(token: str) -> bool:
    return token.lower() in _DATES or token[0].isupper() or any(sign.isdigit() for sign in token)


def joined(memories: Sequence[Memory], limit: int) -> str:
    """The contents of all under their titles, in at most *limit* bytes; if that is too little, long ones are cut."""
    texts = [f"{memory.title}\n{memory.content}".strip() for memory in memories]
    return "\n\n".join(fitted(texts, limit - 2 * len(texts)))
