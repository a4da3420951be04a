"""The Context: what every core function is given to work with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from pathlib import Path
from threading import RLock

from mnemic.core.shelf import Shelf
from mnemic.core.uses import Uses
from mnemic.embedding.base import Embedder
from mnemic.errors import Denied, Invalid
from mnemic.language.base import LanguageModel
from mnemic.model.access import Grant
from mnemic.model.lives import DEFAULT_LIVES, Lives
from mnemic.model.time import parse_time
from mnemic.model.uids import random_uid
from mnemic.model.values import Features, Moment
from mnemic.storage.base import Store, Writer

GLOBAL = "global"
EVERYWHERE = "*"
"""Named instead of a namespace, it asks all that the caller may see."""


def wall_clock() -> Moment:
    """The present moment in microseconds."""
    return time.time_ns() // 1000


def _nobody() -> None:
    """No background worker is listening."""


@dataclass(frozen=True, slots=True)
class Context:
    """A store, an embedder, a clock, and on whose behalf we act."""

    store: Store
    embedder: Embedder | None
    now: Callable[[], Moment] = wall_clock
    new_uid: Callable[[], str] = random_uid
    actor: str = "mnemic"
    namespace: str | None = None
    """The namespace of this connection: written to by default, read together with `global`."""
    grant: Grant | None = None
    """What the caller may see and do; None is everything."""
    roots: tuple[Path, ...] = ()
    """The folders that tools which take a path may read below."""
    lives: Lives = DEFAULT_LIVES
    """How long memories live."""
    features: Features = Features.SEMANTIC
    """The feature tier that was asked for; what is missing of it is left out."""
    language: LanguageModel | None = None
    """The language model of the smart and autonomous tiers."""
    zone: tzinfo = UTC
    """The time zone of times that are given without one, for the native tools and commands."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables of the environment by which a vocabulary is tuned."""
    sessions: dict[tuple[str, str], int] = field(default_factory=dict)
    """The session each caller is in, by actor and namespace. Shared by all contexts made from one."""
    entering: RLock = field(default_factory=RLock)
    """Held from the look at `sessions` until what follows from it is committed and written there. Shared like them."""
    shelf: Shelf = field(default_factory=Shelf)
    """The other stores that workspaces looked into lately. Shared by all contexts made from one."""
    uses: Uses | None = None
    """Where uses wait to be written down together; None writes each at once, unless another is writing."""
    deferred: Uses = field(default_factory=Uses)
    """The uses that met a locked store: written with the next one. Shared by all contexts made from one."""
    wake: Callable[[], None] = field(default=_nobody)
    """Tells the background worker that something waits for its vector."""

    @property
    def has_worker(self) -> bool:
        """Whether a background worker embeds what is pending."""
        return self.wake is not _nobody

    def write(self, operation: str) -> Writer:
        """A transaction that will stand in the journal as *operation* by this context's actor."""
        self.must_write()
        return self.store.write(operation=operation, actor=self.actor, at=self.now())

    def moment(self, text: str, field: str) -> Moment:
        """The moment *text* means, in the time zone of this context; Invalid, naming *field*, if it is no time."""
        return parse_time(text, field, self.now(), self.zone)

    def on_behalf_of(self, actor: str) -> Context:
        """The same context for another caller."""
        return replace(self, actor=actor)

    def limited_to(self, grant: Grant) -> Context:
        """The same context for a caller who may see and do no more than *grant* says."""
        return replace(self, grant=grant)

    @property
    def may_write(self) -> bool:
        """Whether the caller may change anything."""
        return self.grant is None or self.grant.can_write

    def must_write(self) -> None:
        """Denied unless the caller may change anything."""
        if not self.may_write:
            raise Denied("This token may read but not write.")

    @property
    def granted(self) -> tuple[str, ...] | None:
        """The namespaces that the caller may see; None is all of them."""
        return None if self.grant is None else self.grant.namespaces

    def may_see(self, namespace: str) -> bool:
        """Whether the caller may know of what is in *namespace*."""
        granted = self.granted
        return granted is None or namespace in granted

    def must_see(self, namespace: str) -> None:
        """Denied unless the caller may know of what is in *namespace*."""
        if not self.may_see(namespace):
            raise Denied(f"namespace: this token may not use {namespace!r}.")

    def home(self, namespace: str | None = None) -> str:
        """The namespace a write goes to: the named one, else the connection's own, the first granted, or `global`."""
        if namespace == EVERYWHERE:
            raise Invalid("namespace: * is for reading; name the one to write to", "namespace")
        chosen = namespace or self.namespace or next(iter(self.granted or ()), None) or GLOBAL
        self.must_see(chosen)
        return chosen

    def scope(self, namespace: str | None = None) -> tuple[str, ...] | None:
        """The namespaces a read looks into: the named one, else the connection's own and `global`, else all."""
        wanted: tuple[str, ...] | None = None
        if namespace is not None:
            wanted = None if namespace == EVERYWHERE else (namespace,)
        elif self.namespace is not None:
            wanted = tuple(dict.fromkeys((self.namespace, GLOBAL)))
        granted = self.granted
        if granted is None:
            return wanted
        return tuple(name for name in (wanted or granted) if name in granted)
