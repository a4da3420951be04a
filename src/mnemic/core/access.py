"""Access tokens: made once, shown once, kept only as a hash."""

from __future__ import annotations

import hashlib
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace

from mnemic.core.context import Context
from mnemic.core.usage import PASSED_OVER
from mnemic.errors import Conflict, Invalid, NotFound
from mnemic.model.access import UNLIMITED, Grant, Quota, Scope, Token
from mnemic.model.time import MINUTE, Moment
from mnemic.storage.base import Writer

PREFIX = "mn_"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRequest:
    """What a new token shall allow, or Invalid."""

    name: str
    namespaces: tuple[str, ...] | None = None
    can_write: bool = True
    expires_at: Moment | None = None
    quota: Quota = UNLIMITED

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise Invalid("name: a token needs one", "name")
        if self.namespaces is not None and not all(name.strip() for name in self.namespaces or ("",)):
            raise Invalid("namespace: must not be empty; omit it for all", "namespace")
        for field in ("memories", "bytes", "requests_per_minute"):
            if (bound := getattr(self.quota, field)) is not None and bound < 1:
                raise Invalid(f"{field}: must be at least 1", field)


def create_token(ctx: Context, wanted: TokenRequest) -> str:
    """A new token. The secret is returned here and can never be read again."""
    if wanted.expires_at is not None and wanted.expires_at <= ctx.now():
        raise Invalid("expires: must be in the future", "expires")
    secret = _secret()

    def work(tx: Writer) -> None:
        if any(token.name == wanted.name for token in tx.tokens()):
            raise Conflict(f"name: a token called {wanted.name!r} exists; rotate or revoke it")
        grant = Grant(wanted.namespaces, wanted.can_write, wanted.quota)
        token = Token(name=wanted.name, grant=grant, created_at=ctx.now(), expires_at=wanted.expires_at)
        tx.put_token(token, _hash(secret))

    ctx.change("token", work)
    return secret


def rotate_token(ctx: Context, name: str) -> str:
    """A new secret for the token called *name*, whose rights stay; the old secret opens nothing from now on."""
    secret = _secret()

    def work(tx: Writer) -> None:
        tx.put_token(replace(_named(tx.tokens(), name), used_at=None), _hash(secret))

    ctx.change("token", work)
    return secret


def tokens(ctx: Context) -> list[Token]:
    """The tokens there are, by name."""
    return ctx.read().tokens()


def revoke_token(ctx: Context, name: str) -> None:
    """From now on the token called *name* opens nothing."""

    def work(tx: Writer) -> None:
        if not tx.delete_token(name):
            raise NotFound(f"No token called {name!r}")

    ctx.change("token", work)


def token_for(ctx: Context, secret: str) -> Token | None:
    """The token that *secret* belongs to, expired or not; None if it is none of this store.

    Only hashes are compared, so how long the look-up takes tells nothing about a secret.
    """
    return next(iter(ctx.read().tokens(_hash(secret))), None)


def is_expired(token: Token, now: Moment) -> bool:
    """Whether *token* no longer opens anything."""
    return token.expires_at is not None and token.expires_at <= now


def is_use_due(token: Token, now: Moment) -> bool:
    """Whether a use of *token* now is worth a write: the last one was recorded more than a minute ago."""
    return token.used_at is None or now - token.used_at >= MINUTE


def note_use(ctx: Context, secret: str) -> None:
    """Note that the token of *secret* was used now. While another writer is at work, the note is left out."""
    now = ctx.now()

    def work(tx: Writer) -> None:
        for current in tx.tokens(_hash(secret)):
            tx.put_token(replace(current, used_at=now), _hash(secret))

    with suppress(*PASSED_OVER):
        ctx.store.change(Scope(asked=()), "token", ctx.actor, now, work, durable=False, waits=False)


def _named(known: list[Token], name: str) -> Token:
    for token in known:
        if token.name == name:
            return token
    raise NotFound(f"No token called {name!r}")


def _secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="replace")).digest()
