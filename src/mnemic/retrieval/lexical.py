"""To come."""

from __future__ import annotations

from collections.abc import Mapping


def overlap(question: str, title: str, body: str, weights: Mapping[str, float] | None = None) -> float:
    """To come."""
    raise NotImplementedError
