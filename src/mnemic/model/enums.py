"""Closed sets: tiers, feature tiers and states."""

from __future__ import annotations

from enum import StrEnum


class Tier(StrEnum):
    """How long a memory is meant to live."""

    SHORT = "short"
    MID = "mid"
    LONG = "long"

    @property
    def rank(self) -> int:
        """Position among the tiers; a longer life ranks higher."""
        return ("short", "mid", "long").index(self)


class Features(StrEnum):
    """Feature tier: words only, with vectors, with a language model, or with re-ranking too."""

    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    SMART = "smart"
    AUTONOMOUS = "autonomous"

    @property
    def has_language(self) -> bool:
        """Whether a language model is used."""
        return self in (Features.SMART, Features.AUTONOMOUS)


class State(StrEnum):
    """Lifecycle state of a memory. Only LIVING memories are indexed and own their name.

    NAMED is a placeholder: a name that links point to, without content.
    """

    LIVING = "living"
    NAMED = "named"
    ARCHIVED = "archived"
    FORGOTTEN = "forgotten"
    SUPERSEDED = "superseded"
