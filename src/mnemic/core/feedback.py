"""Feedback: how useful memories and links proved, and what that does to their quality."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.core.context import Context
from mnemic.model.graph import Edge
from mnemic.model.memory import Memory

DEFAULT_QUALITY = 5.0
HIGHEST_QUALITY = 10.0
DOUBTED_AT = 2
"""Useless with so little confidence: such a memory is forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """How far one rating moves the quality, and how many ratings the running confidence spans."""

    up: float = 0.5
    down: float = 0.5
    window: int = 20


STEPS = Steps()


@dataclass(frozen=True, slots=True)
class Rating:
    """What someone says of a memory or a link (by number): whether it was useful and how sure they are, 1 to 10."""

    id: int
    useful: bool
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Rated:
    """The memories and links that were rated, and those memories that were forgotten for it."""

    memories: tuple[Memory, ...]
    links: tuple[Edge, ...]
    forgotten: tuple[Memory, ...]


def rate(
    ctx: Context, memories: Sequence[Rating], links: Sequence[Rating] = (), *, steps: Steps = STEPS
) -> Rated:
    """Take *memories* and *links* ratings in, in one transaction. Unknown numbers must have been left out before.

    Useful raises the quality by up·confidence/10, useless lowers it by down·(11−confidence)/10; without a confidence
    by the whole step. The rating is a running mean: c += (v − c) / min(n + 1, window). Useless with confidence ≤ 2
    forgets a memory, never a link. Counts as a use.
    """
    raise NotImplementedError
