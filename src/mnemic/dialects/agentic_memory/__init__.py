"""The dialect of AgenticMemory: events in sessions, linked by cause, support and time."""

PARTS = ("conversation", "events", "traversal", "beliefs", "reports", "ground", "workspaces", "sessions")
"""The modules that hold its operations, in the order in which an agent sees the tools."""
