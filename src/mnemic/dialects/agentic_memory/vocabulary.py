"""The dialect itself: its name, and how it words answers and failures."""

from __future__ import annotations

from mnemic.dialects.operation import Dialect

AGENTIC_MEMORY = Dialect(name="agentic-memory", title="AgenticMemory", instructions="")
