"""How often a mirrored folder is looked at."""

from __future__ import annotations

LOOK_SECONDS, LONGEST_PAUSE_SECONDS = 1.0, 10.0
SHARE = 30
"""Looking at a large folder in which nothing happens takes no more than a thirtieth of the time."""


def pause_after(seconds: float, *, has_changed: bool) -> float:
    """Seconds until the next look at folders: soon after a pass that changed something, else by how long it took."""
    return LOOK_SECONDS if has_changed else max(LOOK_SECONDS, min(SHARE * seconds, LONGEST_PAUSE_SECONDS))
