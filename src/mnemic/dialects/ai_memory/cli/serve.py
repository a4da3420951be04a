"""`mnemic ai-memory mcp`: ai-memory's MCP server over standard input and output."""

from __future__ import annotations

import click

from mnemic.surfaces.cli.session import Session, Verb, pass_session, tier_option


@click.command(cls=Verb, params=[tier_option()])
@pass_session
def mcp(session: Session) -> None:
    """Serve ai-memory's MCP tools over standard input and output."""
    from mnemic.surfaces.cli.serving import serve_stdio

    serve_stdio(session, "ai-memory")
