"""Capture: turns and statements kept of a conversation unasked, and what an agent is told before it asks."""
