"""Uids: the names by which memories are known everywhere, as bytes in a row and as they are written.

`uuid` does the same and takes four times as long, for every memory that is read or made.
"""

from __future__ import annotations

import os
from string import hexdigits

UID_DIGITS = 32
"""How many digits a uid has."""
SHORTEST_BEGINNING = 4
"""How many digits of a uid are enough to name it by."""
NO_UID = b"\x01", b"\x00"
"""A range without uids."""
_KIND, _VARIANT = 6, 8
"""Where the bytes stand that say that all the others were drawn at random."""


def random_uid() -> str:
    """A fresh one, as a UUID of version 4 is made."""
    uid = bytearray(os.urandom(16))
    uid[_KIND] = uid[_KIND] & 0x0F | 0x40
    uid[_VARIANT] = uid[_VARIANT] & 0x3F | 0x80
    return spelled(uid)


def normalised(uid: str) -> str | None:
    """*uid* in canonical form; None if it is no full uid."""
    digits = uid_digits(uid)
    return spelled(bytes.fromhex(digits)) if len(digits) == UID_DIGITS else None


def uid_digits(uid: str) -> str:
    """The digits of a uid or of its beginning, hyphens or not; none if it is something else."""
    digits = uid.replace("-", "").lower()
    return digits if len(digits) <= UID_DIGITS and all(digit in hexdigits for digit in digits) else ""


def uid_range(prefix: str) -> tuple[bytes, bytes]:
    """The first and last uid that begin with *prefix*; NO_UID if it is not the beginning of one."""
    digits = uid_digits(prefix)
    if len(digits) < SHORTEST_BEGINNING:
        return NO_UID
    return bytes.fromhex(digits.ljust(UID_DIGITS, "0")), bytes.fromhex(digits.ljust(UID_DIGITS, "f"))


def spelled(uid: bytes | bytearray) -> str:
    """*uid* as it is written."""
    digits = uid.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
