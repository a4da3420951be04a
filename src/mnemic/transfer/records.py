"""Records: what a store or a file says of memories, links, sessions and so on, without numbers of its own.

Every file format is read as records and written from them. Those of a store tell versions, by which they are merged;
those of a file say what the file says.
"""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.model.graph import Edge
from mnemic.model.memory import Memory
from mnemic.model.session import Session
from mnemic.model.time import Moment
from mnemic.model.version import Version

SessionKey = tuple[str, str, Moment]
"""What a session is known by: its namespace, its name and when it began."""
UNKNOWN: Moment = 0
"""When a session began of which a file tells the name alone."""


@dataclass(frozen=True, slots=True)
class End:
    """An end of a link: a memory by its uid, or by its namespace and name if it has none.

    The name beside a uid is what a file calls it.
    """

    uid: str = ""
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class LinkKey:
    """What tells one link from others: its ends, its type and when it was made."""

    source: End
    target: End
    type: str
    created_at: Moment


@dataclass(frozen=True, slots=True)
class GivenFields:
    """What a file says of a memory or link, if that is not everything."""

    fields: frozenset[str]
    adds: bool = False


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session."""

    label: str
    session: Session
    version: Version | None = None


@dataclass(frozen=True, slots=True)
class PurgeRecord:
    """The uid of a memory that was purged."""

    label: str
    uid: str


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory in any state, its session, and its other uids."""

    label: str
    memory: Memory
    session: SessionKey | None = None
    version: Version | None = None
    aliases: tuple[str, ...] = ()
    given: GivenFields | None = None

    @property
    def adds(self) -> bool:
        """Whether its statements join those that are known, instead of taking their place."""
        return self.given is not None and self.given.adds


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """A link."""

    label: str
    edge: Edge
    key: LinkKey
    version: Version | None = None
    given: GivenFields | None = None


@dataclass(frozen=True, slots=True)
class TargetRecord:
    """What a reflection is about."""

    label: str
    uid: str
    target: End | LinkKey


@dataclass(frozen=True, slots=True)
class StandardRecord:
    """The standard memory and the parent of a namespace."""

    label: str
    namespace: str
    memory: End | None
    parent: str | None


@dataclass(frozen=True, slots=True)
class UseRecord:
    """How often a memory was used, in a file that tells its changes alone."""

    label: str
    uid: str
    access_count: int
    accessed_at: Moment | None
    days_used: int


@dataclass(frozen=True, slots=True)
class PairRecord:
    """That two memories were found together, how often and when last."""

    label: str
    one: End
    other: End
    count: int
    last: Moment


@dataclass(frozen=True, slots=True)
class FlawRecord:
    """Something that could not be read, and why."""

    label: str
    reason: str


Record = (
    SessionRecord
    | PurgeRecord
    | MemoryRecord
    | LinkRecord
    | TargetRecord
    | StandardRecord
    | UseRecord
    | PairRecord
    | FlawRecord
)
