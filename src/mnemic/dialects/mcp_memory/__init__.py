"""The vocabulary of mcp-memory: the graph, search by meaning, splitting, duplicates and reflections."""

# The order of these imports is the order in which an agent sees the tools.
# isort: off
from mnemic.dialects.mcp_memory import graph
from mnemic.dialects.mcp_memory import meaning
from mnemic.dialects.mcp_memory import upkeep
from mnemic.dialects.mcp_memory import reflections
from mnemic.dialects.mcp_memory.vocabulary import MCP_MEMORY
# isort: on

__all__ = ["MCP_MEMORY", "graph", "meaning", "reflections", "upkeep"]
