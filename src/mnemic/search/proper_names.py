"""The names in a text, recognised by how they are written."""

from __future__ import annotations

import re

from mnemic.model.stop_words import stop_words
from mnemic.search.dates import MONTHS, WEEKDAYS
from mnemic.storage.tokenizer import words

# A letter without the small ones of the scripts that have two cases.
_CAPITALISED = r"(?![a-zß-öø-ÿα-ωа-я])[^\W\d_][\w'’&-]*"
_RUN = re.compile(rf"(?<![\w'’]){_CAPITALISED}(?: {_CAPITALISED})*")
_QUOTED = re.compile(r"[\"“«`]([^\"”»`\n]{2,60})[\"”»`]")
_IDENTIFIER = re.compile(
    r"\b(?:\w+_\w+|[a-z]+(?:[A-Z][a-z0-9]*)+|[A-Za-z]+[-.]?\d[\w.-]*|\w[\w/-]{0,60}\.(?:com|org|io|py|js|ts|md|json|toml))\b"
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DATE = re.compile(
    rf"\b(?:\d{{4}}-\d\d-\d\d|\d{{1,2}} {_MONTH}(?: \d{{4}})?|{_MONTH} \d{{1,2}}(?:, \d{{4}})?|(?:19|20)\d\d)\b"
)
_AMOUNT = re.compile(
    r"(?<![\w.])\d[\d.,]{0,20} ?(?:%|°C|[kMGT]?B|ms|s|min|h|days?|weeks?|months?|years?|hours?|minutes?|seconds?|"
    r"km|cm|mm|m|kg|g|l|ml|euros?|dollars?|percent|bars?|degrees)(?!\w)"
)
STOP_WORDS = stop_words("en")
_CALENDAR = frozenset((*MONTHS, *WEEKDAYS))
_KIN = frozenset(
    "mom mum mummy mommy mama mother dad daddy papa father grandma grandpa granny grandmother grandfather nana aunt"
    " auntie uncle".split()
)
"""Capitalised where they address somebody; a memory of the same person mostly says "my mother"."""
_SPACELESS = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_LATIN = re.compile("[A-Za-z][A-Za-z0-9]+")
"""In Chinese, Japanese and Korean text a Latin word is a name."""
LONGEST = 20_000
"""Characters of a text that are scanned."""
_BEGINNING = re.compile(r"(?:^|[.!?…:\n][\"'”’)\]]*)\s*(?:[-*•]\s*)?[¿¡\"“«„(]?$")


def names(text: str) -> frozenset[str]:
    """Proper names in *text*, in lower case.

    A name is a run of capitalised words (not a single word at the start of a sentence, nor a common one), an identifier
    (underscore, camel case, digit or file extension), a date, a number with unit, or quoted text.
    """
    text = text[:LONGEST]
    found = {match[1] for match in _QUOTED.finditer(text)}
    for pattern in (_IDENTIFIER, _DATE, _AMOUNT):
        found |= {match[0] for match in pattern.finditer(text)}
    found |= {run for match in _RUN.finditer(text) if (run := _as_name(text, match))}
    return frozenset(name.strip().lower() for name in found)


def name_words(text: str, *, capitals: bool = True) -> frozenset[str]:
    """The words that names and identifiers in *text* are made of, in lower case; no dates, amounts or quotations.

    Without *capitals* only identifiers count: German writes every noun with one.
    """
    text = text[:LONGEST]
    found = [match[0] for match in _IDENTIFIER.finditer(text)]
    if not text.isascii() and re.search(_SPACELESS, text):  # 3 ms to compile, which few need
        found += _LATIN.findall(text)
    if capitals:
        runs = (_as_name(text, match) for match in _RUN.finditer(text))
        found += [word for run in runs if run for word in run.split() if word[0].isupper()]
    split = {word for name in found for word in words(name)}
    return frozenset(split - STOP_WORDS - _CALENDAR - _KIN)


def _as_name(text: str, run: re.Match[str]) -> str | None:
    """What of a *run* of capitalised words is a name: the first word of a sentence has its capital for that."""
    parts = run[0].split(" ")
    begins = bool(_BEGINNING.search(text[max(0, run.start() - 8) : run.start()]))
    if re.split("['’]", parts[0].lower())[0] in STOP_WORDS:
        parts, begins = parts[1:], False
    is_capital_by_place = begins and len(parts) == 1 and not parts[0].isupper()
    return None if is_capital_by_place or len("".join(parts)) < 2 else " ".join(parts)
