"""Access tokens: made once, shown once, kept only as a hash."""

from __future__ import annotations

import hashlib
import secrets

from mnemic.core.context import Context
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.model.access import Grant, Token

PREFIX = "mn_"


def create_token(ctx: Context, name: str, namespaces: tuple[str, ...] | None, can_write: bool) -> str:
    """A new token called *name*. The secret is returned here and can never be read again."""
    if not name.strip():
        raise Invalid("name: a token needs one", "name")
    if namespaces is not None and not any(namespaces):
        raise Invalid("namespaces: there is none; leave them out for all", "namespaces")
    secret = PREFIX + secrets.token_urlsafe(32)
    with ctx.write("token") as tx:
        if any(token.name == name for token in tx.tokens()):
            raise Conflict(f"name: a token called {name!r} exists; revoke it first")
        tx.add_token(
            Token(name=name, grant=Grant(namespaces, can_write), created_at=ctx.now()), _hash(secret)
        )
    return secret


def tokens(ctx: Context) -> list[Token]:
    """The tokens there are, by name."""
    return ctx.store.read().tokens()


def revoke_token(ctx: Context, name: str) -> None:
    """From now on the token called *name* opens nothing."""
    with ctx.write("token") as tx:
        if not tx.drop_token(name):
            raise NotFound(f"No token called {name!r}")


def grant_for(ctx: Context, secret: str) -> Grant | None:
    """What *secret* allows, or None if it is no token of this store.

    Only hashes are compared, so how long the look-up takes tells nothing about a secret.
    """
    return ctx.store.read().grant_of(_hash(secret))


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()
