"""The vocabulary of Lorekeeper: memories that feedback makes better or worse."""

PARTS = ("searching", "keeping", "rating", "reflecting")
"""The modules that hold its operations, in the order in which an agent sees the tools."""
