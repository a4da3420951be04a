"""The dialect of mcp-memory: the graph, search by meaning, splitting, duplicates and reflections."""

PARTS = ("graph", "semantic_search", "maintenance", "reflections")
"""The modules that hold its operations, in the order in which an agent sees the tools."""
