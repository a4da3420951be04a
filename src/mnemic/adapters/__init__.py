"""Adapters for agent frameworks: each module implements one framework's memory interface over an open `Memories`.

A module needs the extra of its name, as in `pip install mnemic[langgraph]`. Importing `mnemic` loads none of them.
"""
