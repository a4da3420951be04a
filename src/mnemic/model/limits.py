"""Sizes that no caller may exceed, whatever the dialect."""

MAX_QUERY_CHARACTERS = 10_000
"""The longest query or pattern."""
MAX_PATTERN_WORDS = 256
"""The most different words of a pattern, all of which a memory must hold."""
