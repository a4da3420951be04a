"""Reading numbers with their units and bounds, dates and times out of the tokens of a clause."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import inf, nextafter

from mnemic.core.trust.lexicon import SPACELESS, Lexicon, entry
from mnemic.core.trust.terms import Term, TermKind
from mnemic.core.trust.units import unit
from mnemic.core.trust.values import Date, Quantity

_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})")
_NUMBER = re.compile(r"-?\d+(?:[.,\u00a0\u202f]\d+)*(?:e\+\d+)?")
_YEAR = range(1900, 2200)
_MONTH = 30 * 86_400.0


def read(tokens: Sequence[str], words: Lexicon) -> Iterator[str | Term]:
    """*tokens* with every quantity and date replaced by a term that holds its value."""
    place = 0
    while place < len(tokens):
        found = _date(tokens, place, words) or _quantity(tokens, place, words)
        if found is None or _is_label(found[0], tokens, place, words):
            yield tokens[place]
            place += 1
            continue
        value, length = found
        if place and _lower(tokens, place - 1) in _RATES and isinstance(value, Quantity):
            value = _per(value, _RATES[_lower(tokens, place - 1)])
        counted = _counted_rate(value, tokens, place + length, words)
        value = counted or value
        yield Term(TermKind.VALUE, value.text.lower(), value.text, place, value=value)
        place += length
        if counted:  # the noun, without "an hour" behind it
            yield tokens[place]
            place += 3


def _per(value: Quantity, seconds: float) -> Quantity:
    """An amount as a rate, if it is none yet."""
    if not value.dimension or "/" in value.dimension or value.dimension in ("time", "period"):
        return value
    low, high = value.low / seconds, value.high / seconds
    return Quantity(low, high, f"{value.dimension}/time", value.text, seconds >= _MONTH)


def _counted_rate(
    value: Quantity | Date, tokens: Sequence[str], place: int, words: Lexicon
) -> Quantity | None:
    """ "4,500 bottles an hour": a counted noun with its time unit."""
    if not isinstance(value, Quantity) or not value.dimension.startswith("#"):
        return None
    rate = _rate(tokens, place + 1, words)
    if rate is None or rate[1] != 2:
        return None
    text = f"{value.text} {' '.join(tokens[place : place + 3])}"
    dimension, per = f"{value.dimension}/time", rate[0]
    return Quantity(value.low / per, value.high / per, dimension, text, per >= _MONTH)


def _is_label(value: Quantity | Date, tokens: Sequence[str], place: int, words: Lexicon) -> bool:
    """A bare number behind a noun names rather than counts: "room 5", "release 5.2"."""
    if place == 0 or not isinstance(value, Quantity) or value.is_range:
        return False
    last = tokens[place - 1].lower()
    if value.dimension:
        return value.dimension.startswith("#") and _is_plain_noun(tokens, place - 1, words)
    roles = ("articles", "auxiliaries", "prepositions", "negators", "clauses", "only", "all", "some")
    return (
        last[0].isalpha()
        and not any(words.is_one(last, role) for role in roles)
        and last not in words.numbers
    )


def _is_plain_noun(tokens: Sequence[str], place: int, words: Lexicon) -> bool:
    """Whether an English noun in base form is here, without a preceding subject that would make it a verb."""
    word, before = _lower(tokens, place), _lower(tokens, place - 1)
    is_noun = words.key(word) == word and "n" in entry(word).parts and not words.is_one(word, "prepositions")
    if words.language != "en" or not is_noun:
        return False
    return not (
        before.endswith("s") or words.is_one(before, "pronouns") or before in ("we", "you", "i", "to")
    )


def _lower(tokens: Sequence[str], place: int) -> str:
    return tokens[place].lower() if 0 <= place < len(tokens) else ""


def _date(tokens: Sequence[str], place: int, words: Lexicon) -> tuple[Date, int] | None:
    token = _lower(tokens, place)
    if iso := _ISO.fullmatch(token):
        year, month, day = map(int, iso.groups())
        return Date((("year", year), ("month", month), ("day", day)), token), 1
    if clock := _CLOCK.fullmatch(token):
        return _time(tokens, place, int(clock.group(1)) * 60 + int(clock.group(2)), 1, words)
    if token.isdecimal() and int(token) <= 12 and _lower(tokens, place + 1) in _HALVES_OF_DAY:
        return _time(tokens, place, int(token) * 60, 1, words)
    if words.language in SPACELESS and (found := _eastern(tokens, place)):
        return found
    if re.fullmatch(r"(?:19|20|21)\d\d", token) and _is_year(tokens, place, words):
        return Date((("year", int(token)),), tokens[place]), 1
    kind, number = words.calendar.get(token, ("", 0))
    if kind == "weekdays":
        return Date((("weekday", number),), tokens[place]), 1
    if kind == "dayparts" and token in _CLOCK_WORDS:
        return Date((("minute", _CLOCK_WORDS[token]),), tokens[place]), 1
    if kind == "dayparts":
        return Date((("daypart", number),), tokens[place]), 1
    if kind == "months" and (words.language != "en" or _is_month(tokens, place)):
        return _western(tokens, place, number, words)
    if _is_day(token) and words.calendar.get(_after_day(tokens, place), ("", 0))[0] == "months":
        return _western(tokens, place, 0, words)
    if words.language == "ru" and (clocked := _russian_hour(tokens, place)):
        return clocked
    if words.language in ("fr", "es", "ru") and (clocked := _spoken_time(tokens, place, words)):
        return clocked
    return None


_CLOCK_WORDS = {"noon": 720, "midday": 720, "midnight": 0, "mitternacht": 0, "midi": 720, "minuit": 0}
_CLOCK_WORDS |= {"mediodía": 720, "medianoche": 0, "полдень": 720, "полночь": 0, "正午": 720, "午夜": 0}


def _is_year(tokens: Sequence[str], place: int, words: Lexicon) -> bool:
    """ "in 2025", "since 2019": four digits behind a preposition, with no unit behind them."""
    is_led = (
        words.is_one(_lower(tokens, place - 1), "prepositions") or _lower(tokens, place - 1) in words.calendar
    )
    following = _lower(tokens, place + 1)
    return is_led and (not following or unit(following) is None or following in ("года", "году"))


def _is_month(tokens: Sequence[str], place: int) -> bool:
    """ "may" and "march" are months only with a capital."""
    token = tokens[place]
    if place == 0 and token == "May":  # "May visitors …?"
        return _lower(tokens, 1).isdecimal()
    return (
        token.lower() not in ("may", "march", "mar", "mai", "mars")
        or token[0].isupper()
        or (_is_day(_lower(tokens, place - 1)) and _lower(tokens, place - 2) not in _BOUNDS)
    )


_BOUNDS = ("under", "over", "below", "above", "than")
"""Words that tell an amount from a day: "members under 18 may"."""


def _is_day(token: str) -> bool:
    bare = re.sub(r"(?:st|nd|rd|th|er)$", "", token)
    return bare.isdecimal() and 1 <= int(bare) <= 31 and len(bare) <= 2


def _after_day(tokens: Sequence[str], place: int) -> str:
    following = _lower(tokens, place + 1)
    return _lower(tokens, place + 2) if following in ("de", "of") else following


def _western(tokens: Sequence[str], place: int, month: int, words: Lexicon) -> tuple[Date, int]:
    """A date that begins with its day ("4 June 2026", "4 de junio de 2026") or its month ("June 4, 2026", "June")."""
    start = place
    parts: list[tuple[str, int]] = []
    if not month:
        parts.append(("day", int(re.sub(r"\D", "", tokens[place]))))
        place += 2 if _lower(tokens, place + 1) in ("de", "of") else 1
        month = words.calendar[_lower(tokens, place)][1]
    elif _is_day(_lower(tokens, place + 1)) and _lower(tokens, place + 1).isdecimal():
        parts.append(("day", int(_lower(tokens, place + 1))))
        place += 1
    parts.append(("month", month))
    skip = 1 if _lower(tokens, place + 1) in ("de", ",", "of") else 0
    year = _lower(tokens, place + 1 + skip)
    if year.isdecimal() and int(year) in _YEAR:
        parts.append(("year", int(year)))
        place += 1 + skip
    return Date(tuple(parts), " ".join(tokens[start : place + 1])), place + 1 - start


def _eastern(tokens: Sequence[str], place: int) -> tuple[Date, int] | None:
    """2026年6月4日, 四月; each number with its unit."""
    parts: list[tuple[str, int]] = []
    start = place
    for name, signs in (("year", "年"), ("month", "月"), ("day", "日号")):
        number, sign = _lower(tokens, place), _lower(tokens, place + 1)
        if number.isdecimal() and sign and sign in signs and (name != "year" or int(number) in _YEAR):
            parts.append((name, int(number)))
            place += 2
    if not parts or parts[0][0] == "day":
        return None
    return Date(tuple(parts), "".join(tokens[start:place])), place - start


_HALVES_OF_DAY = {"am": 0, "a.m": 0, "pm": 720, "p.m": 720}


def _time(tokens: Sequence[str], place: int, minutes: int, length: int, words: Lexicon) -> tuple[Date, int]:
    following = _lower(tokens, place + length)
    if following in _HALVES_OF_DAY:
        minutes = minutes % 720 + _HALVES_OF_DAY[following]
    length += following in _HALVES_OF_DAY or following in ("utc", "uhr")
    return Date((("minute", minutes),), " ".join(tokens[place : place + length])), length


_HOURS = ("часов", "часа", "час")


def _russian_hour(tokens: Sequence[str], place: int) -> tuple[Date, int] | None:
    """ "с 10 до 20 часов", "до 18 часов": hours of the day."""
    word, number, following = (_lower(tokens, place + at) for at in range(3))
    is_until = word == "до" and number.isdecimal() and following in _HOURS
    if is_until and int(number) <= 24:
        return Date((("minute", int(number) * 60),), " ".join(tokens[place : place + 3])), 3
    is_span = (
        _lower(tokens, place - 1) in ("с", "от") and number == "до" and _lower(tokens, place + 3) in _HOURS
    )
    if word.isdecimal() and int(word) <= 24 and is_span:
        return Date((("minute", int(word) * 60),), tokens[place]), 1
    return None


def _spoken_time(tokens: Sequence[str], place: int, words: Lexicon) -> tuple[Date, int] | None:
    """ "à 3 heures", "a las 6", "в 9 часов": an hour behind its preposition."""
    before = _lower(tokens, place - 1)
    is_hour = (words.language, before) in (("fr", "à"), ("es", "las")) or (
        words.language == "ru" and before == "в"
    )
    number = _plain(tokens, place, words)
    if not is_hour or number is None or not 0 <= number[0] <= 24:
        return None
    following = _lower(tokens, place + number[1])
    hours = following in ("heures", "heure", "h", "часов", "часа", "horas", "час")
    if not hours and words.language != "es":
        return None
    length = number[1] + int(hours)
    return Date((("minute", int(number[0] * 60)),), " ".join(tokens[place : place + length])), length


def _plain(tokens: Sequence[str], place: int, words: Lexicon) -> tuple[float, int] | None:
    """The number that begins at *place* and how many tokens it takes."""
    token = _lower(tokens, place)
    if _NUMBER.fullmatch(token):
        value, length = _digits(token, words.language), 1
    elif token in words.numbers and not _is_pronoun(tokens, place, words):
        value, length = words.numbers[token], 1
        following = words.numbers.get(_lower(tokens, place + 1))
        if value >= 20 and value % 10 == 0 and following is not None and 0 < following < 10:
            value, length = value + following, 2
    elif token in words.scales:
        value, length = 1.0, 0
    else:
        return None
    while (scale := words.scales.get(_lower(tokens, place + length))) is not None:
        value, length = value * scale, length + 1
    return _with_rest(tokens, place, value, length, words)


def _is_pronoun(tokens: Sequence[str], place: int, words: Lexicon) -> bool:
    """ "the old one broke": behind an adjective, or with no noun to count, "one" is no number."""
    if _lower(tokens, place) != "one":
        return False
    before, following = _lower(tokens, place - 1), _lower(tokens, place + 1)
    is_led = words.is_one(before, "articles") or "a" in entry(words.key(before)).parts
    roles = ("auxiliaries", "prepositions", "clauses", "permission", "obligation")
    has_noun = following.isalpha() and not any(words.is_one(following, role) for role in roles)
    return is_led or not has_noun or following.endswith("ed")


def _with_rest(
    tokens: Sequence[str], place: int, value: float, length: int, words: Lexicon
) -> tuple[float, int]:
    """ "four hundred and thirty": what follows a hundred or a thousand is added."""
    if words.scales.get(_lower(tokens, place + length - 1)) is None:
        return value, length
    skip = 1 if _lower(tokens, place + length) in ("and", "und", "y", "et") else 0
    if _lower(tokens, place + length + skip) in words.numbers:
        rest = _plain(tokens, place + length + skip, words)
        if rest and rest[0] < 100:
            return value + rest[0], length + skip + rest[1]
    return value, length


def _digits(text: str, language: str) -> float:
    if "e+" in text:
        return float(text)
    plain = text.replace("\u00a0", "").replace("\u202f", "")
    thousands = "," if language in ("en", "zh", "ja") else "."
    if re.fullmatch(rf"\d{{1,3}}(?:\{thousands}\d{{3}})+", plain):
        return float(plain.replace(thousands, ""))
    plain = plain.replace(",", ".")
    return float(plain) if plain.count(".") <= 1 else float(plain.replace(".", "")[:12])


_FRACTIONS = {
    "quarter": 0.25,
    "half": 0.5,
    "viertel": 0.25,
    "halbe": 0.5,
    "halben": 0.5,
    "demi": 0.5,
    "quart": 0.25,
    "media": 0.5,
    "medio": 0.5,
}


def _quantity(tokens: Sequence[str], place: int, words: Lexicon) -> tuple[Quantity, int] | None:
    start = place
    bound = ""
    while True:  # "no more than about 5"
        token = _lower(tokens, place)
        role = next(
            (one for one in ("at_least", "at_most", "above", "below") if words.is_one(token, one)), ""
        )
        if role:
            bound = bound or role
        elif not words.is_one(token, "about"):
            break
        place += 1
    # An article may stand between "below" and "the limit of 5"; a bound without a number is an ordinary word.
    if words.language == "en" and (often := _frequency(tokens, place, words)):
        return often
    if part := _share(tokens, place):
        return Quantity(
            *_range(part[0], bound), "percent", " ".join(tokens[start : place + part[1]])
        ), place + part[1] - start
    number = _fraction(tokens, place) or _plain(tokens, place, words) or _single(tokens, place, bound)
    if number is None or (not bound and start != place and number is None):
        return None
    value, length = number
    place += length
    if not bound and (behind := _OR_MORE.get((_lower(tokens, place), _lower(tokens, place + 1)))):
        bound, tokens = behind, [*tokens[:place], *tokens[place + 2 :]]
        found = _with_unit(tokens, start, place, value, bound, words)
        return (found[0], found[1] + 2) if found else None
    return _with_unit(tokens, start, place, value, bound, words)


_OR_MORE = {
    ("or", "more"): "at_least", ("or", "above"): "at_least", ("or", "higher"): "at_least",
    ("or", "older"): "at_least", ("or", "newer"): "at_least", ("or", "later"): "at_least",
    ("or", "less"): "at_most", ("or", "fewer"): "at_most", ("or", "below"): "at_most", ("or", "younger"): "at_most",
}  # fmt: skip


_PERIODS = {
    "hourly": 3_600.0, "daily": 86_400.0, "nightly": 86_400.0, "weekly": 604_800.0, "fortnightly": 1_209_600.0,
    "monthly": _MONTH, "quarterly": 3 * _MONTH, "yearly": 365 * 86_400.0, "annual": 365 * 86_400.0,
    "annually": 365 * 86_400.0,
}  # fmt: skip


_SPANS = {"quarter": 3 * _MONTH} | dict.fromkeys(
    ("spring", "summer", "autumn", "fall", "winter"), 365 * 86_400.0
)
"""What "every" makes a period of, beside units of time."""


def _frequency(tokens: Sequence[str], place: int, words: Lexicon) -> tuple[Quantity, int] | None:
    """How often: "weekly", "every week", "every quarter"; what stands between two times is its amount."""
    token = _lower(tokens, place)
    if token in _PERIODS:
        return _every(_PERIODS[token], tokens[place]), 1
    if often := _times(tokens, place):
        return often
    if token not in ("every", "each"):
        return None
    times = {"second": 2, "other": 2, "third": 3, "fourth": 4}.get(_lower(tokens, place + 1), 1)
    length = 3 if times > 1 else 2
    following = _lower(tokens, place + length - 1)
    if times > 1 and words.calendar.get(following, ("", 0))[0] == "weekdays":
        return _every(times * _PERIODS["weekly"], " ".join(tokens[place : place + 2])), 2
    known = ("time", _SPANS[following]) if following in _SPANS else unit(following)
    if known is None or known[0] != "time":
        return None
    return _every(times * known[1], " ".join(tokens[place : place + length])), length


_TIMES = {"once": 1, "twice": 2, "thrice": 3, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "ten": 10}


def _times(tokens: Sequence[str], place: int) -> tuple[Quantity, int] | None:
    """ "twice a minute", "three times per day": the time between two."""
    token = _lower(tokens, place)
    count = _TIMES.get(token) or (int(token) if token.isdecimal() and len(token) < 4 else 0)
    start = place + 1 + (_lower(tokens, place + 1) == "times")
    is_counted = token in ("once", "twice", "thrice") or start > place + 1
    known = (
        unit(_lower(tokens, start + 1))
        if _lower(tokens, start) in ("a", "an", "per", "every", "each")
        else None
    )
    if not count or not is_counted or known is None or known[0] != "time":
        return None
    return _every(known[1] / count, " ".join(tokens[place : start + 2])), start + 2 - place


def _every(seconds: float, text: str) -> Quantity:
    return Quantity(seconds, seconds, "period", text, is_calendar=seconds >= _MONTH)


def _fraction(tokens: Sequence[str], place: int) -> tuple[float, int] | None:
    """ "a quarter of an hour", "half an hour"."""
    skip = 1 if _lower(tokens, place) in ("a", "an", "eine", "einer", "une", "un") else 0
    part = _FRACTIONS.get(_lower(tokens, place + skip))
    if part is None:
        return None
    following = place + skip + 1
    while _lower(tokens, following) in ("of", "an", "a", "d", "de", "one"):
        following += 1
    return (part, following - place) if unit(_lower(tokens, following)) else None


_SHARES = {
    "half": 50.0, "third": 100 / 3, "thirds": 100 / 3, "quarter": 25.0, "quarters": 25.0, "hälfte": 50.0,
    "drittel": 100 / 3, "viertel": 25.0, "moitié": 50.0, "tiers": 100 / 3, "quart": 25.0, "quarts": 25.0,
    "mitad": 50.0, "tercio": 100 / 3, "tercios": 100 / 3, "cuarto": 25.0, "cuartos": 25.0,
}  # fmt: skip
_COUNTS = {"one": 1, "two": 2, "three": 3, "zwei": 2, "drei": 3, "deux": 2, "trois": 3, "dos": 2, "tres": 3}
_OF = frozenset("of the der des von aller de du d des del".split())


def _share(tokens: Sequence[str], place: int) -> tuple[float, int] | None:
    """ "half of", "a third of", "zwei Drittel der": a part of a whole, in percent; not "half an hour"."""
    skip = _lower(tokens, place) in ("a", "an", "ein", "die", "un", "une", "la", "una", *_COUNTS)
    part = _SHARES.get(_lower(tokens, place + skip))
    following = place + skip + 1
    if part is None or _lower(tokens, following) not in _OF:
        return None
    is_of_unit = any(unit(_lower(tokens, following + at)) for at in (1, 2))
    return None if is_of_unit else (part * _COUNTS.get(_lower(tokens, place), 1), skip + 1)


def _and_a_half(tokens: Sequence[str], place: int) -> int:
    """The number of tokens of "and a half" behind "an hour", in English, French and Spanish; else 0."""
    for phrase in (("and", "a", "half"), ("et", "demie"), ("et", "demi"), ("y", "media"), ("y", "medio")):
        if all(_lower(tokens, place + at) == word for at, word in enumerate(phrase)):
            return len(phrase)
    return 0


def _single(tokens: Sequence[str], place: int, bound: str) -> tuple[float, int] | None:
    """ "more than a decade": an article behind a bound counts one."""
    is_one = bound and _lower(tokens, place) in (
        "a",
        "an",
        "ein",
        "eine",
        "einem",
        "einer",
        "un",
        "une",
        "una",
    )
    return (1.0, 1) if is_one and unit(_lower(tokens, place + 1)) else None


def _with_unit(
    tokens: Sequence[str], start: int, place: int, value: float, bound: str, words: Lexicon
) -> tuple[Quantity, int] | None:
    name = _lower(tokens, place)
    known = unit(name) if name else None
    factor, dimension, is_calendar = 1.0, "", False
    if known is None and (shared := _shared_unit(tokens, place, words)):
        dimension, factor = shared
        return Quantity(
            *_range(value * factor, bound), dimension, " ".join(tokens[start:place])
        ), place - start
    if known and not (name == "s" and place == start):
        dimension, factor = known
        is_calendar = dimension == "time" and factor >= _MONTH
        place += 1
        if half := _and_a_half(tokens, place):
            value, place = value + 0.5, place + half
    elif name and name[0].isalpha() and value < 1e9:
        dimension = _counted(tokens, place, words)
    # Behind its unit a bound stands in Chinese and Japanese: 5000元以上, 10万円を超える.
    bound, place = _bound_behind(tokens, place, bound, words)
    rate = _rate(tokens, place, words)
    if rate:
        per, length = rate
        dimension, factor = f"{dimension}/time", factor / per
        is_calendar = is_calendar or per >= _MONTH
        place += length
    amount = value * factor
    low, high = _range(amount, bound)
    text = " ".join(tokens[start:place])
    if dimension == "time" and words.language == "en" and _lower(tokens, start - 1) == "every":
        dimension = "period"  # "every three months"
    return Quantity(low, high, dimension, text, is_calendar), place - start


def _shared_unit(tokens: Sequence[str], place: int, words: Lexicon) -> tuple[str, float] | None:
    """The unit that two numbers share: "from 9 to 11 euros"."""
    if _lower(tokens, place) not in ("to", "and", "or", "bis", "à", "a", "до", "und", "et", "y", "–"):
        return None
    second = _plain(tokens, place + 1, words)
    return unit(_lower(tokens, place + 1 + second[1])) if second else None


def _counted(tokens: Sequence[str], place: int, words: Lexicon) -> str:
    """The noun that is counted: the next content word, in English without adjectives and names in front of it."""
    for at in range(place, min(place + 3, len(tokens))):
        word = _lower(tokens, at)
        if words.is_one(word, "prepositions") or word in (",", ";") or words.is_one(word, "auxiliaries"):
            return ""
        if not words.is_one(word, "articles") and not _specifies(tokens, at, words):
            return f"#{words.key(word)}"
    return ""


def _specifies(tokens: Sequence[str], place: int, words: Lexicon) -> bool:
    """Whether a noun follows the adjective, participle or name here: "five declined orders"."""
    if words.language != "en" or place + 1 >= len(tokens):
        return False
    parts = entry(words.key(_lower(tokens, place))).parts
    is_adjective = "a" in parts and "n" not in parts
    is_participle = tokens[place].endswith(("ed", "ing")) and "v" in parts
    is_name = tokens[place][:1].isupper()
    return (is_adjective or is_participle or is_name) and "n" in entry(
        words.key(_lower(tokens, place + 1))
    ).parts


def _bound_behind(tokens: Sequence[str], place: int, bound: str, words: Lexicon) -> tuple[str, int]:
    if words.language not in SPACELESS:
        return bound, place
    for ahead in range(3):
        token = _lower(tokens, place + ahead)
        role = next(
            (one for one in ("at_least", "at_most", "above", "below") if words.is_one(token, one)), ""
        )
        if role and not bound:
            return role, place + ahead + 1
        if token not in ("を", "的", "に", "が"):
            break
    return bound, place


def _rate(tokens: Sequence[str], place: int, words: Lexicon) -> tuple[float, int] | None:
    """ "a month", "per second", "pro Jahr", "al mes": the time unit and the number of tokens it takes."""
    following = unit(_lower(tokens, place + 1)) if words.is_one(_lower(tokens, place), "per") else None
    if following and following[0] == "time":
        return following[1], 2
    single = {
        "monthly": _MONTH,
        "yearly": 365 * 86_400.0,
        "annually": 365 * 86_400.0,
        "daily": 86_400.0,
        "weekly": 604_800.0,
    } | _RATES
    alone = single.get(_lower(tokens, place))
    return (alone, 1) if alone else None


_RATES = {
    word: seconds
    for words, seconds in (
        ("täglich diarios diarias diario diaria quotidien quotidienne ежедневно", 86_400.0),
        ("wöchentlich semanal semanales hebdomadaire еженедельно", 604_800.0),
        ("monatlich mensual mensuales mensuel mensuelle mensuels ежемесячно", _MONTH),
        ("jährlich anual anuales annuel annuelle ежегодно", 365 * 86_400.0),
    )
    for word in words.split()
}
"""Adverbs that make an amount a rate, in front of it or behind: "monatlich 900 Euro"."""


def _range(amount: float, bound: str) -> tuple[float, float]:
    if bound in ("above", "at_least"):
        return (nextafter(amount, inf) if bound == "above" else amount), inf
    if bound in ("below", "at_most"):
        return -inf, (nextafter(amount, -inf) if bound == "below" else amount)
    return amount, amount
