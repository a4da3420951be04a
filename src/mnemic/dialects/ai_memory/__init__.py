"""The vocabulary of ai-memory: memories with tiers, over MCP, HTTP and the command line."""

PARTS = ("storing", "finding", "relating", "leaving", "standards", "assisting", "endpoints")
"""The modules that hold its operations."""
