"""What ai-memory offers over HTTP: twenty-four addresses whose requests and answers are not those of its tools.

Health, which belongs to the daemon whatever it speaks, is the surface's own.
"""

from mnemic.dialects.ai_memory.endpoints import finding, leaving, memories, moving, relating

__all__ = ["finding", "leaving", "memories", "moving", "relating"]
