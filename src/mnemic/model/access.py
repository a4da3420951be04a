"""Who may do what: grants, the tokens that carry them, and the scope of one request."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.model.time import Moment


@dataclass(frozen=True, slots=True)
class Quota:
    """How much a caller may store and ask; None is without a bound."""

    memories: int | None = None
    """Living memories in the caller's namespaces, by any author."""
    bytes: int | None = None
    """Bytes of their titles and texts."""
    requests_per_minute: int | None = None


UNLIMITED = Quota()


@dataclass(frozen=True, slots=True)
class Grant:
    """What a caller may see (None: every namespace), whether they may change it, and how much they may store."""

    namespaces: tuple[str, ...] | None = None
    can_write: bool = True
    quota: Quota = UNLIMITED


@dataclass(frozen=True, slots=True)
class Scope:
    """What a request may touch: a caller's grant and, within it, the namespaces the request is about."""

    visible: tuple[str, ...] | None = None
    """Namespaces that can be read and written; None is all."""
    asked: tuple[str, ...] | None = None
    """The namespaces a change writes to: what an engine locks and routes by. None is the whole store."""

    def covers(self, namespace: str) -> bool:
        """Whether *namespace* is visible."""
        return self.visible is None or namespace in self.visible

    def narrow(self, namespaces: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Those of *namespaces* (None: all) that are visible; None if no namespace is excluded."""
        if self.visible is None or namespaces is None:
            return self.visible if namespaces is None else namespaces
        return tuple(name for name in namespaces if name in self.visible)


EVERYTHING = Scope()
"""The scope of the owner of a store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """An access token as the store keeps it: everything but the secret."""

    name: str
    grant: Grant
    created_at: Moment
    expires_at: Moment | None = None
    used_at: Moment | None = None
    """When it was last used, to the minute."""
