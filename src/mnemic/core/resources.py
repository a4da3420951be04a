"""Registry of things that parts of the program keep open between calls, such as caches of stores."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol, TypeVar, cast


class Closable(Protocol):
    """Something that is kept open and must be closed."""

    def close(self) -> None:
        """Release everything it holds."""


R = TypeVar("R", bound=Closable)


@dataclass(slots=True)
class Resources:
    """One resource of each class, made when it is first asked for."""

    _open: dict[type[Closable], Closable] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def of(self, kind: type[R]) -> R:
        """The resource of this class; the same one for every caller."""
        with self._lock:
            if kind not in self._open:
                self._open[kind] = kind()
            return cast(R, self._open[kind])

    def close(self) -> None:
        """Close all of them."""
        with self._lock:
            for resource in self._open.values():
                resource.close()
            self._open.clear()
