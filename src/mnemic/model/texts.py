"""Texts cut to a size in bytes."""

from __future__ import annotations

from collections.abc import Sequence


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
