"""The dialect itself: its name, prompts, and how it words answers and failures."""

from __future__ import annotations

from mnemic.dialects.operation import Dialect

AI_MEMORY = Dialect(name="ai-memory", title="ai-memory", instructions="")
