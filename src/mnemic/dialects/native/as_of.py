"""The moment that a read answers for."""

from __future__ import annotations

from mnemic.core.context import Context
from mnemic.dialects.native.types import When

AsOf = When | None
"""The present, unless an earlier moment is named; recall explains it to the model, once for all tools."""


def at(ctx: Context, as_of: str | None) -> Context:
    """The context to read from: the present, or the store as of a moment."""
    if not as_of:
        return ctx
    from mnemic.core import history

    return history.as_of(ctx, ctx.moment(as_of, "as_of"))
