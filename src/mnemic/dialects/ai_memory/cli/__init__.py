"""ai-memory's command line: its 26 commands with its flags, defaults, order and JSON, as `mnemic ai-memory`."""
