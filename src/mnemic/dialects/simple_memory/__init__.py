"""The dialect of Simple Memory: a graph in one JSON file, answered with bare lists."""

PARTS = ("dialect",)
"""The modules that hold its operations."""
PATH_VARIABLES = ("MEMORY_PATH",)
"""Its variables that hold a path, which may be relative to the client's working folder."""
