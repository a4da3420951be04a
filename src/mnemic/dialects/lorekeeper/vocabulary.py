"""The dialect itself: its name, and how it words answers and failures."""

from __future__ import annotations

from mnemic.dialects.operation import Dialect

LOREKEEPER = Dialect(name="lorekeeper", title="Lorekeeper", instructions="")
