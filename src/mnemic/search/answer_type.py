"""What kind of answer a question asks for (a person, a time, a place, a number), and whether a text holds one."""

from __future__ import annotations

import re
from enum import StrEnum

from mnemic.retrieval.text import STOP_WORDS


class AnswerType(StrEnum):
    """The kind of thing a question asks for."""

    PERSON = "person"
    TIME = "time"
    PLACE = "place"
    NUMBER = "number"


_MEASURED = "many|much|large|big|old|far|high|tall|heavy|fast|long|often|frequently|wide|deep|expensive|small"
_COUNTED = (
    "port|version|percentage|percent|number|size|price|amount|budget|score|rate|total|limit|count|salary"
)
_QUESTIONS: tuple[tuple[AnswerType, str], ...] = (
    (
        AnswerType.NUMBER,
        rf"\bhow (?:{_MEASURED})\b|\b(?:which|what)(?: \w+){{0,3}} (?:{_COUNTED})\b"
        r"|\bwhat (?:do|does|did|will|would)(?: \w+){1,4} (?:pay|cost|costs|earn|weigh|charge)\b"
        rf"|\bwhat (?:is|was|are) (?:the|our|my) (?:{_COUNTED})\b"
        r"|\bwie (?:viele?|lange?|oft|gro(?:ß|ss)|hoch|teuer|alt|weit)\b|\bcombien\b|\bcu[aá]nt[oa]s?\b|\bquant[oa]s?\b"
        r"|\bсколько\b|多少|几个|幾|いくつ|いくら|何[人個台回件本枚冊年日時分]|몇|얼마|\bكم\b|कितन",
    ),
    (
        AnswerType.TIME,
        r"\bwhen\b|\b(?:what|which) (?:time|date|day|year|month|week|weekday)\b|\bhow soon\b"
        r"|\bwann\b|\bquand\b|\bcu[aá]ndo\b|\bquando\b|\bкогда\b|什么时候|何时|几点|いつ|언제|\bمتى\b|कब",
    ),
    (
        AnswerType.PERSON,
        r"\b(?:who|whom|whose)\b|\b(?:which|what) (?:person|colleague|employee)\b"
        r"|\bwe(?:r|m|n|ssen)\b|\bqui\b|\bqui[eé]n(?:es)?\b|\bquem\b|\bкто\b|\bкому\b|\bкого\b|谁|誰|だれ"
        r"|누가|누구|\bمن هو\b|कौन|किस",
    ),
    (
        AnswerType.PLACE,
        r"\bwhere\b|\b(?:which|what) (?:city|country|place|town|region|location|address|office|street|state)\b"
        r"|\bwhat (?:is|was) (?:the|our|my|your) (?:address|location)\b"
        r"|\bwo(?:hin|her)?\b|\boù\b|\bd[oó]nde\b|\bonde\b|\bгде\b|\bкуда\b|哪里|哪儿|どこ|어디|\bأين\b|कहाँ",
    ),
)
_FORM = re.compile(
    rf"\bhow (?:{_MEASURED}|soon)\b|\b(?:what|which) (?:kinds?|types?|sorts?) of\b|\b(?:is|was|are) the names? of\b",
    re.IGNORECASE,
)
_ASKS = tuple((kind, re.compile(pattern)) for kind, pattern in _QUESTIONS)
_NUMBERS = re.compile(
    r"\d[\d.,:]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|half"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)\b"
    r"|[一二三四五六七八九十百千万]"
)
_FREQUENCIES = re.compile(r"\b(?:once|twice|daily|weekly|monthly|yearly|hourly|nightly|every|each)\b")
_HOW_OFTEN = re.compile(
    r"\bhow (?:often|frequently|many times)\b|\b(?:frequency|rate)\b|\bwie (?:oft|häufig)\b"
)
_TIMES = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|today|yesterday|tomorrow|tonight"
    r"|noon|midnight|morning|evening|afternoon|weekends?|(?:last|next|this|every|each) (?:\w+ )?"
    r"(?:day|week|month|year|night|summer|winter|spring|autumn|fall)|ago|(?:19|20)\d\d|\d{1,2}:\d\d|\d{1,2} ?[ap]m"
    r"|(?:at|until|by|before|after|from) (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"|o'clock|(?:a|\d+|few|couple of) (?:days?|weeks?|months?|years?))\b|\d+[年月日時]|\d{1,2}\.\d{1,2}\."
)
_DATE_WORDS = frozenset(
    "january february march april may june july august september october november december"
    " monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays".split()
)
_CAPITALISED = re.compile(r"(?<![\w'’])[A-ZÀ-ÖØ-ÞА-Я][\w'’-]+")
_PEOPLE = re.compile(
    r"\b(?:mother|mom|mum|father|dad|parents|sister|brother|wife|husband|friends?|son|daughter|aunt|uncle|cousin"
    r"|grandmother|grandma|grandfather|grandpa|boss|manager|doctor|colleagues?|everyone|everybody|nobody|firm|company"
    r"|agency|partner|whoever)\b"
)
_BEFORE_PLACE = (
    r"\b(?:[Ii]n|[Aa]t|[Tt]o|[Ff]rom|[Nn]ear|[Ii]nto|[Oo]n|[Oo]f|[Aa]round|[Ii]nside|[Vv]ia|[Tt]hrough)"
)
_BEFORE_NAME = (
    r"\b(?:[Nn]ach|[Aa]us|[Bb]ei|[Vv]on|[Dd]e|[Dd]u|[Àà]|[Ee]n|[Dd]esde|[Dd]i|[Dd]a|[Ee]m|[Вв]|[Ии]з|[Нн]а)"
)
"""Prepositions of other languages that stand before places and people alike."""
_PLACES = re.compile(
    r"\b(?:home|office|kitchen|park|beach|school|church|gym|house|garden|street|city|town|village|room|floor|building"
    r"|library|museum|shop|store|restaurant|cafe|hospital|station|airport|warehouse|cellar|roof|vault|folder|directory)\b"
)
_MEASURES = re.compile(
    r"[€$£]\s?\d[\d.,]*|\d[\d.,]*\s?(?:[€$£%]|percent|euros?|dollars?|pounds?|[kmgt]b|seconds?|minutes?|hours?|o'clock)"
)
_COUNT = re.compile(r"\bhow many (?!seconds|minutes|hours|euros|dollars|pounds|percent|[kmgt]b\b)")
_DATES = re.compile(
    r"\b(?:\d{1,2}(?:st|nd|rd|th)? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
    r"(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? (?:19|20)\d\d)?\b|\b(?:19|20)\d\d\b"
)
_PLACED_NAME = re.compile(rf"{_BEFORE_PLACE}(?: the)? $")
_MAYBE_PLACED_NAME = re.compile(rf"(?:{_BEFORE_PLACE}(?: the)?|{_BEFORE_NAME}) $")
_UNREAD = re.compile("[\u0600-\u06ff\u0900-\u097f]")
"""Scripts whose words for numbers and times are not known here."""
_CASELESS = re.compile("[\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def without_measure(question: str) -> str:
    """*question* without the words that only say what is asked for ("how many", "what kind of")."""
    return _FORM.sub(" ", question)


def asked_type(question: str) -> AnswerType | None:
    """The kind of answer *question* asks for, or None if its words do not tell."""
    text = question.lower()
    found = [(match.start(), kind) for kind, pattern in _ASKS if (match := pattern.search(text))]
    return min(found)[1] if found else None


def holds(text: str, kind: AnswerType, question: str) -> bool:
    """Whether *text* holds something of this kind that *question* does not say itself."""
    match kind:
        case AnswerType.NUMBER:
            return bool(_UNREAD.search(text)) or _has_number(text.lower(), question.lower())
        case AnswerType.TIME:
            return bool(_UNREAD.search(text)) or _has_other(_TIMES, text.lower(), question.lower())
        case AnswerType.PERSON:
            return _has_name(text, question, placed=False) or _has_other(
                _PEOPLE, text.lower(), question.lower()
            )
        case AnswerType.PLACE:
            return _has_name(text, question, placed=True) or _has_other(
                _PLACES, text.lower(), question.lower()
            )


def _has_number(text: str, question: str) -> bool:
    """Whether *text* has a number; a question for a count is not answered by an amount of money, time or storage."""
    text = _DATES.sub(" ", text)
    if _HOW_OFTEN.search(question) and _has_other(_FREQUENCIES, text, question):
        return True
    return _has_other(_NUMBERS, _MEASURES.sub(" ", text) if _COUNT.search(question) else text, question)


def _has_other(pattern: re.Pattern[str], text: str, question: str) -> bool:
    return any(match[0] not in question for match in pattern.finditer(text))


def _has_name(text: str, question: str, *, placed: bool) -> bool:
    """Whether *text* has a name that *question* has not, behind a preposition of place or (not *placed*) elsewhere.

    In a script without capitals that cannot be told.
    """
    if _CASELESS.search(text):
        return True
    names = (match for match in _CAPITALISED.finditer(text) if match[0] not in question)
    others = (match for match in names if match[0].lower() not in STOP_WORDS | _DATE_WORDS)
    before = _MAYBE_PLACED_NAME if placed else _PLACED_NAME
    return any(
        bool(before.search(text, max(0, match.start() - 16), match.start())) == placed
        for match in others
        if not _is_capital_by_place(text, match)
    )


def _is_capital_by_place(text: str, word: re.Match[str]) -> bool:
    """Whether a word at the start of *text* looks like a common noun: a plural, or before a name ("Customer X")."""
    return word.start() == 0 and (word[0].endswith("s") or text[word.end() + 1 : word.end() + 2].isupper())
