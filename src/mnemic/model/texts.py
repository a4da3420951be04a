"""Sizes of texts: cut to so many bytes, estimated in tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence

_CJK = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def cut(text: str, limit: int) -> str:
    """The beginning of *text* that fits into *limit* bytes, with no character cut in two."""
    return text.encode()[:limit].decode(errors="ignore")


def fitted(texts: Sequence[str], limit: int) -> list[str]:
    """*texts* in at most *limit* bytes together: what is shorter than its share stays whole, what is longer is cut."""
    sizes = sorted(len(text.encode()) for text in texts)
    share = limit
    for place, size in enumerate(sizes):
        share = limit // (len(sizes) - place)
        if size > share:
            break
        limit -= size
    else:
        share = max(sizes, default=0)
    return [cut(text, share) for text in texts]


def estimated_tokens(text: str) -> int:
    """About how many tokens a language model reads *text* as.

    Four ASCII characters make a token, two of another alphabet, and each CJK character is one.
    """
    ascii_only = text.encode("ascii", "ignore")
    if len(ascii_only) == len(text):
        return -(-len(text) // 4)
    cjk = len(_CJK.findall(text))
    return -(-(len(ascii_only) + 4 * cjk + 2 * (len(text) - len(ascii_only) - cjk)) // 4)
