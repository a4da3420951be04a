"""The vocabularies and their tools by name, as the command line lists and offers them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.app import DIALECTS, EVERY, dialect
from mnemic.errors import NotFound

if TYPE_CHECKING:
    import click

NAMES = (*DIALECTS, EVERY)
LISTED = "Dialects: " + ", ".join(NAMES)


def names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The vocabularies whose names begin like *incomplete*."""
    return [name for name in NAMES if name.startswith(incomplete)]


def tools(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """The tools of the vocabulary that was named whose names begin like *incomplete*."""
    try:
        spoken = dialect(str(ctx.params.get("dialect")))
    except NotFound:
        return []
    return [name for name in spoken.operations if name.startswith(incomplete)]
