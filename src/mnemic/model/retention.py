"""How long memories live, by their tier."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.model.enums import Tier
from mnemic.model.time import DAY, HOUR, LATEST, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Lives:
    """The life of each tier (None has no end), what a recall adds to it, and what becomes of the expired."""

    short: Moment | None = 6 * HOUR
    mid: Moment | None = 7 * DAY
    long: Moment | None = None
    short_extension: Moment = HOUR
    mid_extension: Moment = DAY
    archives: bool = True
    """Whether what has expired goes to the archive; else it counts as forgotten."""
    archive_days: int | None = None
    """Days in the archive after which a memory is purged; None keeps it."""
    recall_log: Moment | None = 90 * DAY
    """How long an entry of the recall log is kept; None keeps no log."""

    def of(self, tier: Tier) -> Moment | None:
        """How long a memory of *tier* lives unless something else is said of it."""
        if tier is Tier.LONG:
            return self.long
        return self.mid if tier is Tier.MID else self.short

    def extension(self, tier: Tier) -> Moment:
        """How long from now a memory of *tier* lives at least once it is recalled."""
        return {Tier.SHORT: self.short_extension, Tier.MID: self.mid_extension, Tier.LONG: 0}[tier]

    def expiry(self, tier: Tier, ttl: Moment | None, now: Moment) -> Moment | None:
        """When a memory of this tier ends, unless its own *ttl* says otherwise."""
        life = self.of(tier) if ttl is None else ttl
        return None if life is None else min(now + life, LATEST)


DEFAULT_LIVES = Lives()
