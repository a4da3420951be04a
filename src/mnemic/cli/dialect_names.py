"""The dialects and their tools by name, as the command line lists and offers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.app import DIALECTS, EVERY, dialect
from mnemic.errors import NotFound

if TYPE_CHECKING:
    import click

NAMES = (*DIALECTS, EVERY)
LISTED = "Dialects: " + ", ".join(NAMES)


def names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The dialects whose names begin like *incomplete*."""
    return [name for name in NAMES if name.startswith(incomplete)]


def tools(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The tools of the dialect that was named whose names begin like *incomplete*."""
    try:
        chosen = dialect(str(ctx.params.get("dialect")))
    except NotFound:
        return []
    return [name for name in chosen.operations if name.startswith(incomplete)]
