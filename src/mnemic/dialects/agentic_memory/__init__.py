"""The vocabulary of AgenticMemory: events in sessions, linked by cause, support and time."""

PARTS = ("conversing", "events", "walking", "beliefs", "reporting", "grounding", "workspaces", "sessions")
"""The modules that hold its operations, in the order in which an agent sees the tools."""
