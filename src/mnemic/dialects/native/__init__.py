"""The native dialect: one module per verb."""

PARTS = (
    *("remember", "revise", "forget", "recall", "open", "verify", "stats"),
    *("link", "explore", "history", "tidy", "reflect", "session", "rate", "catalog", "sync"),
    *("bulk", "sessions", "analytics", "graph", "playground", "review", "administration"),
)
"""Modules that declare operations, in the order of `tools/list`.

A command imports only the module that declares it, so what a single operation needs belongs in its own module.
"""
