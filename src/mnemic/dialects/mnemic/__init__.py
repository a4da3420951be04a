"""The house vocabulary: a small set of verbs over one memory."""

PARTS = (
    *("remembering", "revising", "leaving", "finding", "opening", "verifying", "counting"),
    *("linking", "exploring", "changing", "tidying", "reflecting", "working", "rating", "catalog"),
)
"""The modules that hold its operations, in the order in which an agent sees the tools.

A command loads the part that declares it and no other, so what one operation alone needs stands in a part of its own.
"""
