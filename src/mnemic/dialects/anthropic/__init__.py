"""The dialect of the reference MCP memory server: a graph of entities and relations."""

PARTS = ("dialect",)
"""The modules that hold its operations."""
