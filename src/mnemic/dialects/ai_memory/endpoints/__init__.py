"""ai-memory's HTTP API: 24 endpoints whose requests and replies differ from its tools.

The health endpoint belongs to the daemon itself.
"""

from mnemic.dialects.ai_memory.endpoints import archive, links, memories, search, transfer

__all__ = ["archive", "links", "memories", "search", "transfer"]
