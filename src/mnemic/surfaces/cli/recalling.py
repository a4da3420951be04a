"""`mnemic recall`: the house's, which also takes the feature tier that ai-memory's has."""

from __future__ import annotations

import click

from mnemic.surfaces.cli.derived import command_for, declared
from mnemic.surfaces.cli.session import tier_option


def recall() -> click.Command:
    """The derived command with one option more."""
    command = command_for(declared("recall"))
    command.params.insert(1, tier_option())
    return command
