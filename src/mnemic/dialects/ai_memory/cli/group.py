"""`mnemic ai-memory`: the group of ai-memory's 26 commands."""

from __future__ import annotations

from mnemic.console.lazy_group import LazyGroup
from mnemic.console.run import global_options

_OWN = "mnemic.dialects.ai_memory.cli"
_SHARED = "mnemic.cli.commands"

TABLE = {
    "Memories": {
        "store": (f"{_OWN}.store:store", "Store a memory, or update the one with the same title."),
        "update": (f"{_OWN}.store:update", "Update fields of a memory."),
        "get": (f"{_OWN}.query:get", "Show a memory and its links."),
        "delete": (f"{_OWN}.store:delete", "Delete a memory."),
        "promote": (f"{_OWN}.store:promote", "Promote a memory to long-term and clear its expiry."),
        "forget": (f"{_OWN}.archive:forget", "Delete all memories that match a filter."),
    },
    "Search": {
        "recall": (f"{_OWN}.query:recall", "Recall memories relevant to a context."),
        "search": (f"{_OWN}.query:search", "Search memories that contain all words."),
        "list": (f"{_OWN}.query:list_", "List memories by priority."),
        "stats": (f"{_OWN}.query:stats", "Show statistics."),
        "namespaces": (f"{_OWN}.query:namespaces", "List namespaces with their memory counts."),
        "shell": (f"{_OWN}.shell:shell", "Browse and manage memories interactively."),
    },
    "Links": {
        "link": (f"{_OWN}.links:link", "Link two memories."),
        "resolve": (f"{_OWN}.links:resolve", "Resolve a contradiction: one memory supersedes another."),
        "consolidate": (f"{_OWN}.links:consolidate", "Consolidate several memories into one."),
        "auto-consolidate": (
            f"{_OWN}.links:auto_consolidate",
            "Consolidate groups of memories that share a tag.",
        ),
    },
    "Upkeep": {
        "gc": (f"{_OWN}.archive:gc", "Archive expired memories."),
        "archive": (f"{_OWN}.archive:archive", "List, restore, purge or count archived memories."),
        "export": (f"{_SHARED}.transfer:export", "Export all memories and links as JSON."),
        "import": (f"{_OWN}.transfer:import_", "Import memories and links from JSON."),
        "sync": (f"{_SHARED}.sync:sync", "Sync with another database."),
        "mine": (f"{_OWN}.mine:mine", "Import conversations exported from Claude, ChatGPT or Slack."),
    },
    "Program": {
        "mcp": (f"{_OWN}.serve:mcp", "Serve ai-memory's MCP tools over standard input and output."),
        "serve": (f"{_SHARED}.serve:serve", "Serve ai-memory's HTTP API."),
        "completions": (f"{_SHARED}.completions:completions", "Print a shell completion script."),
        "man": (f"{_SHARED}.man:man", "Print the manual page."),
    },
}


def group() -> LazyGroup:
    """The group, ready to run."""
    return LazyGroup(
        "ai-memory",
        table=TABLE,
        params=global_options(),
        help="ai-memory's command line over the same memories: its flags, defaults, order of results and JSON.\n\n"
        "Here an `id` is the UUID that ai-memory shows; `number` is Mnemic's own id.\n\n"
        '`alias ai-memory="mnemic ai-memory"` runs existing scripts unchanged.',
        epilog="`mnemic ai-memory COMMAND --help` shows the options of a command.",
        subcommand_metavar="COMMAND",
        no_args_is_help=True,
    )
