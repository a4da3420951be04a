"""File names made of titles: safe on every platform, and the same whenever they are made again."""

from __future__ import annotations

import re
import unicodedata

MOST_BYTES = 120
"""The longest name without its ending; some file systems take 143 bytes, and a path of Windows 260 characters."""
# What Windows or a link in Obsidian cannot hold.
_UNSAFE = re.compile(r'[<>:"/\\|?*#^\[\]\x00-\x1f\x7f-\x9f]+')
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")


def file_name(title: str, spare: str) -> str:
    """A file name, without an ending, that shows *title*; *spare* if nothing is left of it."""
    plain = unicodedata.normalize("NFC", title)
    words = " ".join(_UNSAFE.sub(" ", plain).split())
    short = words.encode()[:MOST_BYTES].decode(errors="ignore").strip(" .")
    if not short or _RESERVED.fullmatch(short):
        return f"{short} {spare}".strip()
    return short


def unused_name(title: str, uid: str, taken: set[str]) -> str:
    """The same, with the beginning of *uid* behind it where another file has that name, ignoring case."""
    name = file_name(title, uid[:8])
    for length in (0, 4, 8, 36):
        chosen = f"{name} ({uid[:length]})" if length else name
        if chosen.casefold() not in taken:
            return chosen
    return uid
