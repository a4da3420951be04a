"""The client's side of the local daemon: the relay of `mnemic mcp`, and commands that a running daemon does.

It imports the standard library alone, and little of it: a shim must be ready in a fraction of the time that the program
takes to load.
"""
