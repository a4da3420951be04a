"""The dialect of ai-memory: memories with tiers, over MCP, HTTP and the command line."""

PARTS = ("memories", "search", "links", "consolidate", "archive", "standards", "llm", "endpoints")
"""The modules that hold its operations."""
COMMAND_LINE = ("mnemic.dialects.ai_memory.cli.group:group", "ai-memory's own 26 commands.")
"""Its command line under `mnemic ai-memory`: the group, and the help."""
