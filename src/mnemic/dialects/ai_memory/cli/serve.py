"""`mnemic ai-memory mcp`: ai-memory's MCP server over standard input and output."""

from __future__ import annotations

import click

from mnemic.console.run import Verb, tier_option


@click.command(cls=Verb, params=[tier_option()])
@click.pass_context
def mcp(ctx: click.Context) -> None:
    """Serve ai-memory's MCP tools over standard input and output."""
    program = ctx.find_root().command
    assert isinstance(program, click.Group)
    server = program.get_command(ctx, "mcp")
    assert server is not None
    ctx.invoke(server, dialect="ai-memory")
