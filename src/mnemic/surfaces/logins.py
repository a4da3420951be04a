"""Refused logins: logged without what was tried, and answered the later the more there were."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict

log = logging.getLogger(__name__)

FORGET_SECONDS = 60.0
"""So long after the last one refused logins are forgotten."""
DELAY_SECONDS = 0.1
"""How much longer each refused login takes than the one before."""
LONGEST_DELAY_SECONDS = 2.0
LOGGED = 10
"""So many refused logins of an address are logged one by one, later ones by their count."""
MOST_ADDRESSES = 1_000


class Logins:
    """The refused logins of each address."""

    def __init__(self) -> None:
        self._refused: OrderedDict[str, tuple[int, float]] = OrderedDict()

    async def refused(self, address: str, method: str, path: str) -> None:
        """Note that somebody at *address* sent a token that opens nothing, and let them wait."""
        count = self._counted(address)
        if count <= LOGGED or count % 100 == 0:
            log.warning("refused login %d from %s: %s %r", count, address, method, path[:200])
        await asyncio.sleep(min((count - 1) * DELAY_SECONDS, LONGEST_DELAY_SECONDS))

    def _counted(self, address: str) -> int:
        now = time.monotonic()
        count, at = self._refused.pop(address, (0, now))
        count = count + 1 if now - at < FORGET_SECONDS else 1
        self._refused[address] = count, now
        if len(self._refused) > MOST_ADDRESSES:
            self._refused.popitem(last=False)
        return count
