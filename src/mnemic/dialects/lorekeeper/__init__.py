"""The dialect of Lorekeeper: memories that feedback makes better or worse."""

PARTS = ("search", "memories", "ratings", "reflections")
"""The modules that hold its operations, in the order in which an agent sees the tools."""
PATH_VARIABLES = ("LORE_DATA_DIR",)
"""Its variables that hold a path, which may be relative to the client's working folder."""
DATABASE_FOLDER = "LORE_DATA_DIR"
"""Its variable that names the folder of the database."""
