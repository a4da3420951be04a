"""Refused logins: logged without the credentials, answered with a growing delay."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict

log = logging.getLogger(__name__)

FORGET_SECONDS = 60.0
"""Seconds after which refused logins of an address are forgotten."""
DELAY_SECONDS = 0.1
"""Added delay for each refused login."""
LONGEST_DELAY_SECONDS = 2.0
LOGGED = 10
"""Refused logins of an address logged one by one; later ones are counted."""
MOST_ADDRESSES = 1_000


class Logins:
    """Refused logins by address."""

    def __init__(self) -> None:
        self._refused: OrderedDict[str, tuple[int, float]] = OrderedDict()

    async def refused(self, address: str, method: str, path: str) -> None:
        """Record a refused token from *address* and delay the answer."""
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
