"""The house vocabulary: a small set of verbs over one memory."""

PARTS = ("remembering", "finding", "linking", "changing", "tidying", "working")
"""The modules that hold its operations, in the order in which an agent sees the tools."""
