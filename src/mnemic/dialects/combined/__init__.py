"""All dialects as one: each tool in its own dialect, and names that several share with one behaviour for all.

`dialect` puts them together; `shared` is the dialect of shared names, `graph_tools` and `stats_tool` declare them.
"""
