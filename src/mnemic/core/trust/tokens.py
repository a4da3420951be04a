"""Tokens of a sentence; Chinese and Japanese are cut at their function words and numerals."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from mnemic.core.trust.lexicon import SPACELESS, Lexicon, entry
from mnemic.core.trust.units import unit_names

_TOKEN = re.compile(
    r"(?<!\w)[#@][A-Za-z][\w-]*|\b[A-Z](?:\+\+|#)(?![A-Za-z])|\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}|(?<![\w-])-\d+(?:[.,]\d+)*|[A-Za-z]{1,10}-\d+\b|\w*_\w+|\d+(?:[.,\u00a0\u202f]\d+)*"
    r"|[^\W\d_]+(?:[.'’][^\W\d_]+)*\d*|[%€$£¥₽°]|[,;:()–—]"
)
_ELISION = re.compile(r"^(?:[ldjmntsc]|qu|jusqu|lorsqu)['’](?=\w)", re.IGNORECASE)
_NUMERALS = "〇零一二两三四五六七八九十百千万亿億"
_DIGITS = {
    char: value
    for value, chars in enumerate(("〇零", "一", "二两", "三", "四", "五", "六", "七", "八", "九"))
    for char in chars
}
_POWERS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "亿": 100_000_000, "億": 100_000_000}
_CLOCK = re.compile(r"(\d{1,2})\s*(?:点钟|点|時|时)(?:(\d{1,2})\s*分|(半))?")


def tokenize(sentence: str, words: Lexicon) -> list[str]:
    """The words, numbers and signs of a sentence as written, phrases of the lexicon as one token."""
    if words.language in SPACELESS:
        return _cut(sentence, words)
    if pattern := _SPELLINGS.get(words.language):
        sentence = pattern[0].sub(pattern[1], sentence)
    sentence = _MINUS.sub("-", sentence)
    if words.language == "en":
        sentence = _SIGNS.sub(lambda found: f" {_COMPARED_BY[found[0].strip()]} ", sentence)
    spelled = _SLASH.sub(rf"\1 {_PER[words.language]} \2", _SQUARE.sub("m²", sentence))
    found = [part for match in _TOKEN.findall(spelled) for part in _parts(match, words.language)]
    return _joined(_compared(_untitled(found, words), words), words)


_SUPERLATIVES = {"later": "late", "earlier": "early"}


def _compared(tokens: list[str], words: Lexicon) -> list[str]:
    """*tokens* with "the later upload" as a property of the upload, where "later than" tells an order in time."""
    if words.language != "en":
        return tokens
    result = list(tokens)
    for place in range(1, len(tokens) - 1):
        is_led = tokens[place - 1].lower() in ("the", "a", "an") and tokens[place + 1].lower() != "than"
        if is_led:
            result[place] = _SUPERLATIVES.get(tokens[place].lower(), tokens[place])
    return result


_SPELLINGS = {
    "en": (re.compile(r"\b(\d+|[a-z]+) (\w+) or more\b"), r"at least \1 \2"),
    "fr": (re.compile(r"\b(\d{1,2}) ?h ?(\d{2})\b"), r"\1:\2"),
}
"""What is read in another spelling: "14 characters or more", "7 h 12"."""
_MINUS = re.compile(r"\b(?:minus|moins|menos|минус) (?=\d)|(?<!\S)−(?=\d)", re.IGNORECASE)
_COMPARED_BY = {
    ">": "more than",
    "<": "less than",
    ">=": "at least",
    "<=": "at most",
    "≥": "at least",
    "≤": "at most",
}
_SIGNS = re.compile(r"(?:[<>]=?|[≤≥])\s?(?=\d)")
_SLASH = re.compile(r"(?<=\d)\s?([^\W\d_]{1,5}|%)/(s|sec|min|h|hr|hour|d|day|week|month|year)\b")
_PER = {"en": "per", "de": "pro", "fr": "par", "es": "por", "ru": "в"}
_SQUARE = re.compile(
    r"\b(?:square met(?:er|re)s?|Quadratmetern?|mètres? carrés?|metros? cuadrados?|кв\. ?м|m2)\b"
)


def _untitled(tokens: list[str], words: Lexicon) -> list[str]:
    """*tokens* without the title in front of a name: "Professor Rao" is Rao."""
    following = [*tokens[1:], ""]
    return [
        token
        for token, after in zip(tokens, following, strict=False)
        if not (words.is_one(token.lower(), "titles") and after[:1].isupper())
    ]


def _parts(token: str, language: str) -> list[str]:
    """A token without its elision, its possessive or its contracted negation."""
    if language == "fr":
        head = _ELISION.match(token)
        if head and token.lower() not in ("aujourd'hui", "aujourd’hui"):
            return [head.group()[:-1], *_parts(token[head.end() :], language)]
    lowered = token.lower().replace("’", "'")
    if language == "en" and "'" in lowered:
        if lowered.endswith("n't"):
            return ["can" if lowered == "can't" else token[:-3], "not"]
        return [token[: lowered.index("'")]]
    return [token]


def _joined(tokens: list[str], words: Lexicon) -> list[str]:
    """*tokens* with the phrases of the lexicon joined; the longest that fits is taken."""
    by_first = _phrases_by_first(words)
    lowered = [token.lower() for token in tokens]
    bases = [words.key(word) if word.isalpha() else word for word in lowered]
    result: list[str] = []
    place = 0
    while place < len(tokens):
        phrase = _phrase(lowered, bases, place, by_first) or _particle_verb(lowered, bases, place, words)
        if phrase:
            result.append(phrase[1])
            place += len(phrase[0])
        else:
            result.append(tokens[place])
            place += 1
    return result


_Phrases = dict[str, list[tuple[tuple[str, ...], str]]]


def _phrase(
    lowered: list[str], bases: list[str], place: int, known: _Phrases
) -> tuple[tuple[str, ...], str] | None:
    for first in dict.fromkeys((lowered[place], bases[place])):
        for parts, name in known.get(first, ()):
            is_agentive = name.startswith("be_") and lowered[place + len(parts) :][:1] == ["by"]
            if tuple(lowered[place + 1 : place + len(parts)]) == parts[1:] and not is_agentive:
                return parts, name
    return None


_PARTICLES = frozenset("up off out down back away".split())
_NAMED = re.compile(r"[#@]?[a-z]")
"""A word with signs: a channel, "c++"."""
_AMBIGUOUS = frozenset("on in over".split())


def _particle_verb(
    lowered: list[str], bases: list[str], place: int, words: Lexicon
) -> tuple[tuple[str, ...], str] | None:
    """A verb with its particle, such as "turned off"; "on" and "in" are particles where no noun follows."""
    if (
        words.language != "en"
        or place + 1 >= len(lowered)
        or bases[place] in ("be", "is", "are", "was", "have")
    ):
        return None
    particle, following = lowered[place + 1], lowered[place + 2] if place + 2 < len(lowered) else ""
    is_noun = following.isalpha() or bool(_NAMED.match(following))
    is_free = not is_noun or words.is_one(following, "prepositions")
    name = f"{bases[place]}_{particle}"
    if particle in _PARTICLES or (particle in _AMBIGUOUS and is_free):
        return ((bases[place], particle), name) if entry(name).parts else None
    return None


_PHRASES: dict[str, _Phrases] = {}


def _phrases_by_first(words: Lexicon) -> _Phrases:
    if words.language not in _PHRASES:
        found: _Phrases = {}
        for parts, name in words.phrases:
            found.setdefault(parts[0], []).append((parts, name))
        _PHRASES[words.language] = found
    return _PHRASES[words.language]


def numeral(text: str) -> float:
    """The value of a Chinese or Japanese numeral such as 三千五百 or 12万."""
    total = section = number = 0.0
    digits = ""
    for char in text:
        if char.isdecimal():
            digits += str(unicodedata.decimal(char))
            number = float(digits)
            continue
        digits = ""
        if char in _DIGITS:
            number = (
                number * 10 + _DIGITS[char]
                if number and section == 0 and total == 0
                else float(_DIGITS[char])
            )
        elif _POWERS[char] >= 10_000:
            total += (section + number or 1) * _POWERS[char]
            section = number = 0.0
        else:
            section += (number or 1) * _POWERS[char]
            number = 0.0
    return total + section + number


def _cut(sentence: str, words: Lexicon) -> list[str]:
    plain = re.sub(rf"[{_NUMERALS}\d][{_NUMERALS}\d,]*", _in_digits, sentence)
    plain = _CLOCK.sub(_clock, plain)
    found: list[str] = []
    for run in _splitter(words.language).split(plain):
        piece = (run or "").strip()
        if piece:
            found.append(piece)
    return found


def _in_digits(match: re.Match[str]) -> str:
    text = match.group().replace(",", "")
    after = match.string[match.end() : match.end() + 1]
    before = match.string[match.start() - 1 : match.start()]
    is_number = text[0].isdecimal() or len(text) > 1 or after in _COUNTED
    if (before in "周期曜第" and before) or not is_number or after == "曜":
        return match.group()
    return f" {numeral(text):g} "


_COUNTED = frozenset("元円年月日天个点時时分秒次回人名台件周週级歳岁吨斤米度楼层階号")


def _clock(match: re.Match[str]) -> str:
    minute = 30 if match.group(3) else int(match.group(2) or 0)
    return f" {int(match.group(1)):02}:{minute:02} "


@cache
def _splitter(language: str) -> re.Pattern[str]:
    """A pattern that keeps what it splits at: function words, numbers with units, Latin words, signs."""
    from mnemic.core.trust.lexicon import lexicon

    words = lexicon(language)
    known = {word for role in words.words.values() for word in role} | set(words.calendar)
    known |= set(words.antonyms) | set(words.synonyms) | set(words.inverses)
    listed = "|".join(re.escape(word) for word in sorted(known, key=len, reverse=True) if word)
    units = "|".join(re.escape(name) for name in unit_names() if not name.isascii())
    number = r"\d{4}-\d{2}-\d{2}|\d{1,2}:\d{2}|\d+(?:\.\d+)?(?:e\+\d+)?"
    return re.compile(
        rf"({number}|(?<=\d)\s*(?:{units})|[A-Za-z][A-Za-z0-9_.+-]*|{listed}|[，、,；;：:（）()。！？!?\s]+)"
    )
