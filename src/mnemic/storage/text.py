"""How text becomes words: the form in which it is indexed, and the words a query is made of."""

from __future__ import annotations

import hashlib
import re
import unicodedata

# Scripts written without spaces between words: Thai to Khmer, kana, Han, Hangul.
_SPACELESS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_SPACELESS}]+")
_WORD = re.compile(rf"[^\W{_SPACELESS}]+|[{_SPACELESS}]+")
_NAME = re.compile(r"\w+")
_IDENTIFIER = re.compile(r"\w*(?:_|[a-z][A-Z]|[A-Z]{2}[a-z]|[A-Za-z]\d|\d[A-Za-z])\w*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def indexed(text: str) -> str:
    """*text* as the words index reads it: runs of a spaceless script become pairs of characters."""
    if text.isascii():
        return text
    return _RUN.sub(lambda run: f" {' '.join(pairs(run[0]))} ", text)


def identifier_parts(text: str) -> str:
    """The parts of the code identifiers in *text*: `parse_config` and `HTTPServer` give four words."""
    parts = []
    for name in _NAME.findall(text):
        # Nearly every word ends here; the pattern alone would take 40 µs a memory, a tenth of a write.
        if (name.islower() and name.isalpha()) or not _IDENTIFIER.fullmatch(name):
            continue
        found = _PART.findall(name)
        if len(found) > 1:
            parts.extend(found)
    return " ".join(parts)


def pairs(run: str) -> list[str]:
    """The two-character grams of a run; a single character stands for itself."""
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def words(text: str) -> list[str]:
    """The words of *text* in order, lower case; a spaceless run is one phrase of its pairs."""
    if text.isascii():
        return _NAME.findall(text.lower())
    found = []
    for word in _WORD.findall(unicodedata.normalize("NFC", text)):
        found.append(" ".join(pairs(word)) if _RUN.fullmatch(word) else word.lower())
    return found


def digest(text: str) -> int:
    """A 64-bit signed number that equal texts share, whatever their case, spacing and form."""
    plain = " ".join(unicodedata.normalize("NFKC", text).split()).casefold()
    return int.from_bytes(hashlib.blake2b(plain.encode(), digest_size=8).digest(), signed=True)
