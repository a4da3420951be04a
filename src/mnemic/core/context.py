"""The Context: what every core function is given to work with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TypeVar

from mnemic.core.activity import Activity
from mnemic.core.keyed_locks import KeyedLocks
from mnemic.core.quotas import counted, within_quota
from mnemic.core.resources import Resources
from mnemic.core.usage import Uses
from mnemic.embedding.base import Embedder
from mnemic.errors import Denied, Invalid
from mnemic.llm_client.base import LanguageModel
from mnemic.model.access import Grant, Scope
from mnemic.model.enums import Features
from mnemic.model.retention import DEFAULT_LIVES, Lives
from mnemic.model.time import Moment
from mnemic.model.time_phrases import parse_time
from mnemic.model.uids import random_uid
from mnemic.storage.base import Reader, Store, Writer
from mnemic.storage.engines import Engines, NoEngines

T = TypeVar("T")

GLOBAL = "global"
EVERYWHERE = "*"
"""Named instead of a namespace, it asks all that the caller may see."""


def wall_clock() -> Moment:
    """The present moment in microseconds."""
    return time.time_ns() // 1000


def _no_worker() -> None:
    """No background worker is listening."""


def _ignore(at: Moment) -> None:
    """Default for callbacks: no listener."""


@dataclass(frozen=True, slots=True)
class Context:
    """A store, an embedder, a clock, and on whose behalf we act."""

    store: Store
    embedder: Embedder | None
    now: Callable[[], Moment] = wall_clock
    engines: Engines = field(default_factory=NoEngines)
    """Opens other databases, backs up and checks this one."""
    new_uid: Callable[[], str] = random_uid
    actor: str = "mnemic"
    connection: str | None = None
    """The connection that a caller makes several calls over, which its work sessions belong to; None if it has none."""
    namespace: str | None = None
    """The namespace of this connection: written to by default, read together with `global`."""
    grant: Grant | None = None
    """What the caller may see and do; None is everything."""
    folder: Path = field(default_factory=Path)
    """The caller's working folder, where relative paths begin."""
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
    """Variables of the environment by which a dialect is tuned."""
    sessions: dict[tuple[str, str], int] = field(default_factory=dict)
    """The session each caller is in, by owner and namespace. Shared by all contexts made from one."""
    entering: KeyedLocks = field(default_factory=KeyedLocks)
    """Held, by owner and namespace, from the look at `sessions` until what follows from it is committed. Shared too."""
    resources: Resources = field(default_factory=Resources)
    """What dialects keep open between calls. Shared by all contexts made from one."""
    uses: Uses | None = None
    """Where uses wait to be written down together; None writes each at once, unless another is writing."""
    deferred: Uses = field(default_factory=Uses)
    """The uses that met a locked store: written with the next one. Shared by all contexts made from one."""
    activity: Activity = field(default_factory=Activity)
    """The calls being answered, for which background work makes way. Shared by all contexts made from one."""
    wake: Callable[[], None] = field(default=_no_worker)
    """Tells the background worker that something waits for its vector."""

    announce: Callable[[Moment], None] = field(default=_ignore)
    """Called with the moment of each transaction before it begins, so that a client can find out if it was kept."""
    committed: Callable[[int], None] = field(default=_ignore)
    """Called with the number of each transaction that changed something, by which it can be undone."""

    @property
    def has_worker(self) -> bool:
        """Whether a background worker embeds pending statements."""
        return self.wake is not _no_worker

    def read(self) -> Reader:
        """A view of the newest committed state, of what the caller may see."""
        return self.store.read(Scope(self.granted))

    def snapshot(self) -> AbstractContextManager[Reader]:
        """A view of one moment, of what the caller may see, for as long as the block lasts."""
        return self.store.snapshot(Scope(self.granted))

    def change(
        self, operation: str, work: Callable[[Writer], T], *, namespaces: Iterable[str] | None = None
    ) -> T:
        """Run *work* in one transaction, journaled as *operation* by this caller, and return its result.

        *work* may be run again, so it must have no effect but through its Writer. Naming the *namespaces* it is
        expected to write to lets changes of others run at the same time where the engine can; without, it runs alone.
        """
        self.must_write()
        scope = Scope(self.granted, None if namespaces is None else tuple(dict.fromkeys(namespaces)))
        if self.grant is not None:
            work, scope = within_quota(self.grant, work), counted(self.grant, scope)
        at = self.now()
        self.announce(at)
        if self.committed is _ignore:
            return self.store.change(scope, operation, self.actor, at, work)
        result, number = self.store.change(scope, operation, self.actor, at, lambda tx: (work(tx), tx.batch))
        if number is not None:
            self.committed(number)
        return result

    def moment(self, text: str, field: str) -> Moment:
        """The moment *text* means, in the time zone of this context; Invalid, naming *field*, if it is no time."""
        return parse_time(text, field, self.now(), self.zone)

    def period(self, since: str | None, until: str | None) -> tuple[Moment | None, Moment | None]:
        """The moments that two texts mean, empty ones none; Invalid if the first is after the second."""
        first = self.moment(since, "since") if since else None
        last = self.moment(until, "until") if until else None
        if first is not None and last is not None and first > last:
            raise Invalid("since: lies after `until`", "since")
        return first, last

    def on_behalf_of(self, actor: str) -> Context:
        """The same context for a caller who says to be *actor*. One who came with a token keeps the token's name."""
        return self if self.grant is not None else replace(self, actor=actor)

    def over(self, connection: str) -> Context:
        """The same context for the calls of one connection."""
        return replace(self, connection=connection)

    @property
    def owner(self) -> str:
        """Whom work sessions belong to: the connection, or the caller by name if it comes without one."""
        return self.connection or self.actor

    def limited_to(self, grant: Grant, actor: str | None = None) -> Context:
        """The same context for a caller, called *actor*, who may see and do no more than *grant* says."""
        return replace(self, grant=grant, actor=actor or self.actor)

    def without_trace(self) -> Context:
        """The same context for a look that counts no use, is in no recall log and changes nothing."""
        return self.limited_to(Grant(self.granted, can_write=False))

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
        """Whether the caller may read *namespace*."""
        granted = self.granted
        return granted is None or namespace in granted

    def must_see(self, namespace: str) -> None:
        """Denied unless the caller may read *namespace*."""
        if not self.may_see(namespace):
            raise Denied(f"namespace: this token may not use {namespace!r}.")

    @property
    def usual(self) -> tuple[str, ...]:
        """The namespace that most changes of this caller are about, as `change` takes it."""
        return (self.namespace or next(iter(self.granted or ()), GLOBAL),)

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
