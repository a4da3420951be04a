"""Search: what a question asks for, and how relevant a hit is to it."""
