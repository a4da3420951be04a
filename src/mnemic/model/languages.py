"""Language identification: by script, then by function words, letters and word endings."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache, lru_cache

from mnemic.model.stop_words import function_words

SAMPLE = 400
"""Characters of a text that are examined."""
_CERTAIN = 1.0
"""What a function word of one language alone is worth; one that several share is worth its part of it."""
_LETTER, _ENDING = 0.8, 0.4
_DENSE = 3
"""A character of a dense script says as much as three letters, so it counts three times for the main script."""

# First code points of the blocks that decide a language, in order; "" for blocks that decide none.
_BLOCKS = [
    (0x0000, ""), (0x0041, "latin"), (0x005B, ""), (0x0061, "latin"), (0x007B, ""), (0x00C0, "latin"),
    (0x0250, ""), (0x0370, "el"), (0x0400, "cyrillic"), (0x0530, "hy"), (0x0590, "he"), (0x0600, "arabic"),
    (0x0700, ""), (0x0750, "arabic"), (0x0780, ""), (0x0900, "devanagari"), (0x0980, "bn"), (0x0A00, "pa"),
    (0x0A80, "gu"), (0x0B00, "or"), (0x0B80, "ta"), (0x0C00, "te"), (0x0C80, "kn"), (0x0D00, "ml"),
    (0x0D80, "si"), (0x0E00, "th"), (0x0E80, "lo"), (0x0F00, "bo"), (0x1000, "my"), (0x10A0, "ka"),
    (0x1100, "ko"), (0x1200, "am"), (0x13A0, ""), (0x1780, "km"), (0x1800, ""), (0x1E00, "latin"),
    (0x1F00, "el"), (0x2000, ""), (0x3040, "kana"), (0x3100, ""), (0x3130, "ko"), (0x3190, ""),
    (0x31F0, "kana"), (0x3200, ""), (0x3400, "han"), (0xA000, ""), (0xAC00, "ko"), (0xD7B0, ""),
    (0xF900, "han"), (0xFB00, ""), (0xFB50, "arabic"), (0xFE00, ""), (0xFE70, "arabic"), (0xFF00, ""),
    (0xFF66, "kana"), (0xFFA0, ""), (0x20000, "han"), (0x40000, ""),
]  # fmt: skip
_STARTS = [start for start, _ in _BLOCKS]
_SCRIPTS = [script for _, script in _BLOCKS]
_LATIN = frozenset("en de fr es pt it nl sv da no fi pl cs ro hu tr id vi".split())
_CYRILLIC = frozenset(("ru", "uk", "bg"))
_WIDESPREAD = frozenset(("en", "de", "fr", "es", "pt", "it", "nl", "ru"))
_UNTOLD = ("de", "fr", "es", "pt", "it", "nl")
"""What a text in Latin letters without any function word may be written in, besides English."""
_UNLIKELY = 0.5
"""What every other language has to be ahead by: one word that looks like theirs is mostly chance."""
# The most frequent words of languages that share many: whoever uses a word most gets most of its worth.
_FREQUENT = {
    "en": "the of and to in a is that for on with as was it be by at from or are this an not have",
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als",
    "fr": "de la le et les des en un du une que est pour qui dans a par plus pas au sur se ne ce",
    "es": "de la que el en y a los se del las un por con no una su para es al lo como más",
    "pt": "de a o que e do da em um para com não uma os no se na por mais as dos",
    "it": "di e il la che in a per un del non i una si le da con è della dei sono",
    "nl": "de van een het en in is dat op te zijn met voor niet aan er om",
}
_FREQUENT_WORTH = 4
# Evidence for English in chatter and notes that have no function word.
_PLAIN_ENGLISH = """
    bye care day done fix good great hello hey hi keep later long make need new next now ok okay one run see soon sure
    take talk thank thanks time today tomorrow two use used uses want week well work works year yes yesterday
"""
# What is left of words cut at an apostrophe, and of units and formulas just as often.
_CUT_OFF = frozenset("bcdfghjklmnpqrstvwxz")
# Letters that few languages use.
_LETTERS = {
    "de": "ßäöü", "fr": "œçêèùâîôûëïÿé", "es": "ñ¿¡áíóúé", "pt": "ãõçâêôáíóúé", "it": "èìòùà", "nl": "ĳ",
    "sv": "åäö", "da": "åæø", "no": "åæø", "fi": "äö", "pl": "ąćęłńśźżó", "cs": "čďěňřšťůžáíý", "ro": "ăâîșțşţ",
    "hu": "őűáíöüóé", "tr": "ğışçöü", "vi": "ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ",
    "ru": "ыэё", "uk": "іїєґ", "bg": "ъщ", "be": "ўі", "sr": "јљњђћџ", "mk": "ѓќѕј",
}  # fmt: skip
# Endings that tell close languages apart; words of fewer than five letters are not looked at.
_ENDINGS = {
    "en": "ing tion ness ment able ical ally ould ight",
    "de": "ung ungen keit heit lich isch schaft chen eren igen tet icht",
    "fr": "eux euse aient ement ions ique eur ette oire aux ée és ées",
    "es": "ción ciones dad ado ada ados adas mente ero illo aron ando iendo",
    "pt": "ção ções dade agem mente inho inha eiro eira aram ão ões",
    "it": "zione zioni mente ità ato ata ati ate ezza etto etta ello ella iamo",
    "nl": "ijk heid ing tje isch aar eren sen lijke",
    "sv": "ning ningar arna erna het ade",
    "da": "ning erne hed ede else",
    "no": "ning ene het else",
    "fi": "ssa ssä sta stä lla llä lta ltä ksi nen iset",
    "pl": "ego emu owie ania ować ych ymi ość",
    "cs": "ého ému ých ými ost ání ovat",
    "ro": "ului ilor ție ții ească ează ele",
    "hu": "ban ben nak nek ból ből tól től ság ség",
    "tr": "lar ler ları leri lık lik dan den ında inde yor",
    "id": "kan nya",
}  # fmt: skip


@lru_cache(maxsize=512)
def detect(text: str) -> str:
    """The ISO 639-1 code of the language *text* is mainly written in; `en` if nothing tells."""
    return candidates(text)[0]


@lru_cache(maxsize=64)
def candidates(text: str) -> tuple[str, ...]:
    """The languages *text* may be written in, the likeliest first: several if it is too short to tell them apart."""
    sample = text[:SAMPLE]
    script = "latin" if sample.isascii() else _main_script(sample)
    if script in ("latin", ""):
        return _by_words(sample, "en", _UNTOLD)
    if script == "cyrillic":
        return _by_words(sample, "ru", ())
    if script == "arabic":
        return (_arabic(sample),)
    return (_devanagari(sample) if script == "devanagari" else script,)


def _main_script(sample: str) -> str:
    """The script most of *sample* is written in, or the language if the script has one alone."""
    counts: dict[str, int] = {}
    for char in sample:
        script = _SCRIPTS[bisect_right(_STARTS, ord(char)) - 1]
        counts[script] = counts.get(script, 0) + 1
    kana, han = counts.pop("kana", 0), counts.pop("han", 0)
    counts.pop("", None)
    # Japanese is known by its kana; a Chinese text may quote a name in them.
    counts["ja" if kana * 5 >= han and kana else "zh"] = (kana + han) * _DENSE
    counts["ko"] = counts.get("ko", 0) * _DENSE
    best = max(counts, key=lambda script: counts[script])
    return best if counts[best] else ""


def _by_words(sample: str, default: str, untold: tuple[str, ...]) -> tuple[str, ...]:
    """The languages most function words of *sample* are of; if none has one, the default and the *untold*."""
    lowered = sample.lower()
    words = lowered.translate(_separators()).split() if lowered.isascii() else _words(lowered)
    votes = _counted(words)
    if not lowered.isascii():
        for char in set(lowered):
            for code, worth in _by_letter().get(char, ()):
                votes[code] = votes.get(code, 0.0) + worth
    if not votes:
        return (default, *untold)
    for code in votes.keys() - _WIDESPREAD:
        votes[code] -= _UNLIKELY
    best = max(votes.values())
    if best <= votes.get(default, 0.0):
        return (default,)
    close = {code: vote for code, vote in votes.items() if vote > best - 2 * _ENDING}
    return _by_endings(words, close, default) if len(close) > 1 else tuple(close)


def _counted(words: list[str]) -> dict[str, float]:
    votes: dict[str, float] = {}
    known = _by_word()
    for word in words:
        for code, worth in known.get(word, ()):
            votes[code] = votes.get(code, 0.0) + worth
    return votes


def _by_endings(words: list[str], votes: dict[str, float], default: str) -> tuple[str, ...]:
    """The languages of *votes*, the best first once word endings are counted too; the default wins a draw."""
    for word in words:
        if len(word) < 5:
            continue
        for size in range(2, 7):
            for code in _by_ending().get(word[-size:], ()):
                if code in votes:
                    votes[code] += _ENDING
    return tuple(sorted(votes, key=lambda code: (-votes[code], code != default)))


def _arabic(sample: str) -> str:
    if any(char in "ٹڈڑےںہ" for char in sample):
        return "ur"
    return "fa" if any(char in "پچژگکی" for char in sample) else "ar"


def _devanagari(sample: str) -> str:
    words = set(_words(sample))
    if "ळ" in sample or words & {"आहे", "आहेत", "आणि", "नाही"}:
        return "mr"
    return "ne" if words & {"छ", "छन्", "छैन", "र"} else "hi"


def _words(sample: str) -> list[str]:
    return "".join(char if _is_letter(char) else " " for char in sample).split()


def _is_letter(char: str) -> bool:
    # Vowel signs of Indic scripts are no letters to Python, but parts of words.
    return char.isalpha() or "\u0900" <= char <= "\u0dff"


@cache
def _separators() -> dict[int, str]:
    return {code: " " for code in range(128) if not chr(code).isalpha()}


@cache
def _by_word() -> dict[str, tuple[tuple[str, float], ...]]:
    """For each function word the languages that have it, each with its part of the certainty."""
    used: dict[str, dict[str, int]] = {word: {"en": 1} for word in _PLAIN_ENGLISH.split()}
    for code, words in function_words().items():
        if code in _LATIN or code in _CYRILLIC:
            frequent = _FREQUENT.get(code, "").split()
            for word in words - _CUT_OFF:
                used.setdefault(word, {})[code] = _FREQUENT_WORTH if word in frequent else 1
    return {word: _shares(codes, _CERTAIN) for word, codes in used.items()}


@cache
def _by_letter() -> dict[str, tuple[tuple[str, float], ...]]:
    used: dict[str, dict[str, int]] = {}
    for code, letters in _LETTERS.items():
        for letter in letters:
            used.setdefault(letter, {})[code] = 1
    return {letter: _shares(codes, _LETTER) for letter, codes in used.items()}


def _shares(codes: dict[str, int], worth: float) -> tuple[tuple[str, float], ...]:
    total = sum(codes.values())
    return tuple((code, worth * part / total) for code, part in codes.items())


@cache
def _by_ending() -> dict[str, tuple[str, ...]]:
    used: dict[str, tuple[str, ...]] = {}
    for code, endings in _ENDINGS.items():
        for ending in endings.split():
            used[ending] = (*used.get(ending, ()), code)
    return used
