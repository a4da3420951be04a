"""What kind of answer a question asks for (a person, a time, a place, a number), and whether a text holds one."""

from __future__ import annotations

import re
from enum import StrEnum

from mnemic.search.query import STOP_WORDS


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
    rf"\bhow (?:{_MEASURED}|soon)\b|\b(?:what|which) (?:kinds?|types?|sorts?) of\b|\b(?:is|was|are) the names? of\b"
    r"|\b(?:what|which) (?:day|weekday|date|time|month|year|city|town|country|person|colleague)\b",
    re.IGNORECASE,
)
_ASKS = tuple((kind, re.compile(pattern)) for kind, pattern in _QUESTIONS)
# The rest is compiled when it is first used: a question asks for one kind at most, and all take 6 ms at the start.
_NUMBERS = (
    r"\d[\d.,:]*|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|half"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)\b"
    r"|[一二三四五六七八九十百千万]"
)
_FREQUENCIES = r"\b(?:once|twice|daily|weekly|monthly|yearly|hourly|nightly|every|each)\b"
_HOW_OFTEN = r"\bhow (?:often|frequently|many times)\b|\b(?:frequency|rate)\b|\bwie (?:oft|häufig)\b"
_TIMES = (
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|today|yesterday|tomorrow|tonight"
    r"|noon|midnight|morning|evening|afternoon|weekends?|(?:last|next|this|every|each) (?:\w+ )?"
    r"(?:day|week|month|year|night|summer|winter|spring|autumn|fall)|ago|(?:19|20)\d\d|\d{1,2}:\d\d|\d{1,2} ?[ap]m"
    r"|(?:at|until|by|before|after|from) (?:\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"|o'clock|(?:a|\d+|few|couple of) (?:days?|weeks?|months?|years?))\b|\d+[年月日時]|\d{1,2}\.\d{1,2}\."
)
_TIMES_ELSEWHERE = (
    r"\b(?:(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|sonnabends?|januar|februar|märz|mai|juni|juli|oktober"
    r"|dezember|heute|gestern|übermorgen|(?:morgen|mittag|abend|nacht)s?|mitternacht|uhr|wochenenden?|täglich|wöchentlich"
    r"|monatlich|jährlich|(?:jede[nmrs]?|letzte[nmrs]?|nächste[nmrs]?) (?:tag|woche|monat|jahr|nacht)|vor \w+ "
    r"(?:tag|woche|monat|jahr|stunde)e?n"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|janvier|février|mars|avril|juin|juillet|août|septembre|octobre"
    r"|novembre|décembre|aujourd['’]hui|hier|demain|midi|minuit|matin|soir|heures?|mensuel\w*|quotidien\w*"
    r"|lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|enero|febrero|marzo|abril|mayo|junio|julio|agosto"
    r"|septiembre|octubre|noviembre|diciembre|hoy|ayer|mañana|mediodía|medianoche|noche|tarde|horas?"
    r"|luned[ìi]|marted[ìi]|mercoled[ìi]|gioved[ìi]|venerd[ìi]|sabato|domenica|gennaio|febbraio|aprile|maggio|giugno|luglio"
    r"|settembre|ottobre|dicembre|oggi|ieri|domani|mezzogiorno|mezzanotte|mattina|sera"
    r"|(?:segunda|terça|quarta|quinta|sexta)s?(?:-feiras?)?|janeiro|fevereiro|março|maio|junho|julho|setembro|outubro"
    r"|novembro|dezembro|hoje|ontem|amanhã|meio-dia|meia-noite|manhã|noite"
    r"|понедельник\w*|вторник\w*|сред[ауые]|четверг\w*|пятниц\w*|суббот\w*|воскресень\w*|январ\w*|феврал\w*|март[аеу]?"
    r"|апрел\w*|ма[йяею]|июн\w*|июл\w*|август\w*|сентябр\w*|октябр\w*|ноябр\w*|декабр\w*|сегодня|вчера|завтра|утр\w+"
    r"|вечер\w*|ночью|полдень|полночь|час(?:а|ов)?|ежедневно|еженедельно|кажд\w+ (?:день|недел\w+|месяц|год))\b"
    r"|[月火水木金土日]曜|毎[日週月年朝晩]|今日|明日|昨日|来週|先週|午前|午後|正午|夜中|[一二三四五六七八九十]+[時点點月日]"
    r"|星期|[周週][一二三四五六日]|每[天日周週月年]|今天|明天|昨天|上午|下午|晚上|凌晨"
    r"|[월화수목금토일]요일|매[일주월년]|오늘|어제|내일|오전|오후|자정|정오|\d+ ?[시월일년]"
)
"""Times in the other languages in which `asked_type` knows the word for "when"."""
_DATE_WORDS = frozenset(
    "january february march april may june july august september october november december"
    " monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays".split()
)
_CAPITALISED = r"(?<![\w'’])[A-ZÀ-ÖØ-ÞА-Я][\w'’-]+"
_PEOPLE = (
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
"""Prepositions of other languages used for places and people alike."""
_PLACES = (
    r"\b(?:home|office|kitchen|park|beach|school|church|gym|house|garden|street|city|town|village|room|floor|building"
    r"|library|museum|shop|store|restaurant|cafe|hospital|station|airport|warehouse|cellar|roof|vault|folder|directory)\b"
)
_MEASURES = (
    r"[€$£]\s?\d[\d.,]*|\d[\d.,]*\s?"
    r"(?:[€$£%]|percent|euros?|dollars?|pounds?|[kmgt]b|seconds?|minutes?|hours?|o'clock)"
)
_COUNT = r"\bhow many (?!seconds|minutes|hours|euros|dollars|pounds|percent|[kmgt]b\b)"
_DATES = (
    r"\b(?:\d{1,2}(?:st|nd|rd|th)? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
    r"(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? (?:19|20)\d\d)?\b|\b(?:19|20)\d\d\b"
)
_PLACED_NAME = rf"{_BEFORE_PLACE}(?: the)? $"
_MAYBE_PLACED_NAME = rf"(?:{_BEFORE_PLACE}(?: the)?|{_BEFORE_NAME}) $"
_UNREAD = "[\u0600-\u06ff\u0900-\u097f]"
"""Scripts whose words for numbers and times are not known here."""
_CASELESS = "[\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"


def without_measure(question: str) -> str:
    """*question* without the words that only name the answer type ("how many", "what kind of", "which day")."""
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
            return _is_of(_UNREAD, text) or _has_number(text.lower(), question.lower())
        case AnswerType.TIME:
            return _is_of(_UNREAD, text) or _has_time(text.lower(), question.lower())
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
    text = re.sub(_DATES, " ", text)
    if re.search(_HOW_OFTEN, question) and _has_other(_FREQUENCIES, text, question):
        return True
    return _has_other(
        _NUMBERS, re.sub(_MEASURES, " ", text) if re.search(_COUNT, question) else text, question
    )


def _has_time(text: str, question: str) -> bool:
    return _has_other(_TIMES, text, question) or _has_other(_TIMES_ELSEWHERE, text, question)


def _has_other(pattern: str, text: str, question: str) -> bool:
    return any(match[0] not in question for match in re.finditer(pattern, text))


def _is_of(script: str, text: str) -> bool:
    """Whether *text* has a character of *script*, whose large classes take 3 ms to compile."""
    return not text.isascii() and re.search(script, text) is not None


def _has_name(text: str, question: str, *, placed: bool) -> bool:
    """Whether *text* has a name that *question* lacks, after a preposition of place or (not *placed*) anywhere.

    Unknown in scripts without capitals.
    """
    if _is_of(_CASELESS, text):
        return True
    names = (match for match in re.finditer(_CAPITALISED, text) if match[0] not in question)
    others = (match for match in names if match[0].lower() not in STOP_WORDS | _DATE_WORDS)
    before = re.compile(_MAYBE_PLACED_NAME if placed else _PLACED_NAME)
    return any(
        bool(before.search(text, max(0, match.start() - 16), match.start())) == placed
        for match in others
        if not _is_capital_by_place(text, match)
    )


def _is_capital_by_place(text: str, word: re.Match[str]) -> bool:
    """Whether a word at the start of *text* looks like a common noun: a plural, or before a name ("Customer X")."""
    return word.start() == 0 and (word[0].endswith("s") or text[word.end() + 1 : word.end() + 2].isupper())
