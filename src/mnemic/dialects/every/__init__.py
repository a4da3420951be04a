"""All vocabularies as one: each tool with its own words, and names that several use with one meaning for all.

`vocabulary` puts them together, `shared` has the names that collide.
"""
