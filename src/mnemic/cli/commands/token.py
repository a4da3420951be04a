"""`mnemic token`: who may use the daemon, where, for how long, and how much."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from mnemic.console import output
from mnemic.console.input_values import split
from mnemic.console.run import Run, VerbGroup, pass_run
from mnemic.console.terminal import table
from mnemic.model.time import iso

if TYPE_CHECKING:
    from mnemic.model.access import Token
    from mnemic.model.time import Moment

POSITIVE = click.IntRange(min=1)


@click.group(cls=VerbGroup)
def token() -> None:
    """Create, list, rotate and revoke access tokens for HTTP."""


@token.command()
@click.argument("name")
@click.option(
    "--namespace",
    multiple=True,
    metavar="NAME,...",
    help="Grant this namespace only; may be repeated. [default: all]",
)
@click.option(
    "--rights",
    type=click.Choice(["read", "write"]),
    default="write",
    show_default=True,
    help="Grant reading only, or reading and writing.",
)
@click.option(
    "--expires", metavar="WHEN", help="When it expires, as `2027-01-31` or `in 90 days`. [default: never]"
)
@click.option(
    "--max-memories",
    type=POSITIVE,
    metavar="N",
    help="Most living memories in its namespaces. [default: no bound]",
)
@click.option(
    "--max-bytes",
    type=POSITIVE,
    metavar="N",
    help="Most bytes of their titles and texts. [default: no bound]",
)
@click.option(
    "--max-requests", type=POSITIVE, metavar="N", help="Most requests a minute. [default: no bound]"
)
@pass_run
def create(
    run: Run,
    name: str,
    namespace: tuple[str, ...],
    rights: str,
    expires: str | None,
    max_memories: int | None,
    max_bytes: int | None,
    max_requests: int | None,
) -> None:
    """Create a token called NAME. It is shown once; only its hash is stored."""
    from mnemic.core import access
    from mnemic.model.access import Quota

    spaces = tuple(part for text in namespace for part in split(text))
    with run.open() as app:
        wanted = access.TokenRequest(
            name=name,
            namespaces=spaces if namespace else None,
            can_write=rights == "write",
            expires_at=None if expires is None else app.ctx.moment(expires, "expires"),
            quota=Quota(max_memories, max_bytes, max_requests),
        )
        secret = access.create_token(app.ctx, wanted)
    output.tell(run, {"name": name, "token": secret}, secret)


@token.command("list")
@pass_run
def list_(run: Run) -> None:
    """List the tokens by name, with their rights, expiry and last use, without their secrets."""
    from mnemic.core import access

    with run.open(reads=True) as app:
        found, now = access.tokens(app.ctx), app.ctx.now()
    facts = [_facts(one) for one in found]
    rows = [_row(one, access.is_expired(one, now)) for one in found]
    output.tell(run, {"tokens": facts, "count": len(facts)}, *(table(rows) if rows else ["No tokens."]))


def _facts(token: Token) -> dict[str, object]:
    return {
        "name": token.name,
        "namespaces": token.grant.namespaces,
        "rights": _rights(token),
        "quota": asdict(token.grant.quota),
        "created_at": iso(token.created_at),
        "expires_at": _when(token.expires_at),
        "used_at": _when(token.used_at),
    }


def _row(token: Token, is_expired: bool) -> list[str]:
    ends = "never expires" if token.expires_at is None else f"expires {iso(token.expires_at)[:10]}"
    used = "never used" if token.used_at is None else f"used {iso(token.used_at)[:16].replace('T', ' ')}"
    return [token.name, _where(token), _rights(token), "expired" if is_expired else ends, used]


def _rights(token: Token) -> str:
    return "write" if token.grant.can_write else "read"


def _where(token: Token) -> str:
    return "all namespaces" if token.grant.namespaces is None else ", ".join(token.grant.namespaces)


def _when(moment: Moment | None) -> str | None:
    return None if moment is None else iso(moment)


@token.command()
@click.argument("name")
@pass_run
def rotate(run: Run, name: str) -> None:
    """Give the token called NAME a new secret, shown once. The old one stops working at once."""
    from mnemic.core import access

    with run.open() as app:
        secret = access.rotate_token(app.ctx, name)
    output.tell(run, {"name": name, "token": secret}, secret)


@token.command()
@click.argument("name")
@pass_run
def revoke(run: Run, name: str) -> None:
    """Revoke the token called NAME."""
    from mnemic.core import access

    with run.open() as app:
        access.revoke_token(app.ctx, name)
    output.tell(run, {"revoked": name}, f"Revoked {name}.")
