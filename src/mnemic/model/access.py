"""Who may do what: a grant, and the token it is given with."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.model.values import Moment


@dataclass(frozen=True, slots=True)
class Grant:
    """What a caller may see (None: every namespace) and whether they may change it."""

    namespaces: tuple[str, ...] | None = None
    can_write: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """An access token as the store keeps it: everything but the secret."""

    name: str
    grant: Grant
    created_at: Moment
