"""`mnemic token`: who may use the daemon, where, and whether to write."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from mnemic.model.values import iso
from mnemic.surfaces.cli import output
from mnemic.surfaces.cli.reading import split
from mnemic.surfaces.cli.session import Session, VerbGroup, pass_session
from mnemic.surfaces.cli.text import table

if TYPE_CHECKING:
    from mnemic.model.access import Token


@click.group(cls=VerbGroup)
def token() -> None:
    """Create, list and revoke access tokens for HTTP."""


@token.command()
@click.argument("name")
@click.option(
    "--namespaces", multiple=True, metavar="NAME,...", help="Grant these namespaces only. [default: all]"
)
@click.option("--read-only", is_flag=True, help="Grant reading only.")
@pass_session
def create(session: Session, name: str, namespaces: tuple[str, ...], read_only: bool) -> None:
    """Create a token called NAME. It is shown once; only its hash is stored."""
    from mnemic.core import access

    scope = tuple(part for text in namespaces for part in split(text))
    with session.open() as app:
        secret = access.create_token(app.ctx, name, scope if namespaces else None, not read_only)
    output.tell(session, {"name": name, "token": secret}, secret)


@token.command("list")
@pass_session
def list_(session: Session) -> None:
    """List the tokens by name, without their secrets."""
    from mnemic.core import access

    with session.open() as app:
        found = access.tokens(app.ctx)
    facts = [asdict(item.grant) | {"name": item.name, "created_at": iso(item.created_at)} for item in found]
    rows = [[item.name, _where(item), "writes" if item.grant.can_write else "reads"] for item in found]
    output.tell(session, {"tokens": facts, "count": len(facts)}, *(table(rows) if rows else ["No tokens."]))


def _where(token: Token) -> str:
    return "all namespaces" if token.grant.namespaces is None else ", ".join(token.grant.namespaces)


@token.command()
@click.argument("name")
@pass_session
def revoke(session: Session, name: str) -> None:
    """Revoke the token called NAME."""
    from mnemic.core import access

    with session.open() as app:
        access.revoke_token(app.ctx, name)
    output.tell(session, {"revoked": name}, f"Revoked {name}.")
