"""Capture: what is kept of a conversation without anybody asking, and what an agent is told before it asks."""
