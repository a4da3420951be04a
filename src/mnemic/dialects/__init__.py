"""The dialects by name. Naming them loads none of them, so that `mnemic --help` stays light."""

from __future__ import annotations

DIALECTS = ("mnemic", "anthropic", "simple-memory", "mcp-memory", "ai-memory", "lorekeeper", "agentic-memory")
NATIVE = DIALECTS[0]
"""Our own dialect, whose operations are the commands of the command line."""
EVERY = "all"
"""The view of them all, which is no vocabulary of its own: whoever lists the vocabularies leaves it out."""
COMMAND_LINES = {
    "ai-memory": ("mnemic.dialects.ai_memory.cli.group:group", "ai-memory's own 26 commands."),
}
"""The dialects that have a command line of their own: where its group is, and its one-line help."""
