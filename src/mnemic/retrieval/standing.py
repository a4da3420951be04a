"""Rules and preferences: what someone said once and meant for ever after."""

from __future__ import annotations

import re

OPENING = 200
"""So many characters are read: a rule is told at once, and deeper in a text such words only tell a story."""

STANDING = re.compile(
    r"(?:^|[.!?:\n]\s*)(?:please )?(?:always|never|whenever|from now on)\b"
    r"|\bi(?:'d| \w+){0,2} prefer\b"
    r"|\bmy (?:preference|favou?rite)"
)
# One of these stands in whatever the pattern finds, and looking for them takes a tenth of its time.
NEEDED = ("always", "never", "whenever", "now on", "prefer", "my favo")


def is_standing(opening: str) -> bool:
    """Whether a text that begins so tells a rule ("Always …", "From now on …") or a preference ("I prefer …")."""
    told = opening.lower()
    return any(word in told for word in NEEDED) and STANDING.search(told) is not None
