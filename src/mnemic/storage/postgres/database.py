"""An open database: its pool, and the numbers of namespaces and models that readers and writers share."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mnemic.model.access import EVERYTHING, Scope
from mnemic.model.time import Moment
from mnemic.storage.index_port import OpenIndex
from mnemic.storage.postgres.capacity import Capacity
from mnemic.storage.postgres.connection import Executor, Held, Pool, Pooled
from mnemic.storage.postgres.known_terms import KnownTerms
from mnemic.storage.postgres.namespace_filter import ANYWHERE, NamespaceFilter, named
from mnemic.storage.postgres.row_security import EVERYWHERE, row_scope
from mnemic.storage.postgres.rows import rows, value

NAMESPACES = """
SELECT name, id FROM namespace
"""
ADD_NAMESPACE = """
INSERT INTO namespace (name) VALUES (%s) ON CONFLICT (name) DO NOTHING
"""
NAMESPACE_ID = """
SELECT id FROM namespace WHERE name = %s
"""
MODELS = """
SELECT name, id, dimension FROM model ORDER BY id
"""
ADD_MODEL = """
INSERT INTO model (name, dimension) VALUES (%s, %s) ON CONFLICT (name) DO NOTHING
"""
MODEL_ID = """
SELECT id FROM model WHERE name = %s
"""


LOOK_SECONDS = 1.0
"""How often a namespace that was not there is looked for."""


class OpenedStore:
    """What the present and the past of a store share."""

    capacity: Capacity
    has_row_security = True
    """Whether the server shows rows of the namespaces alone that a transaction names."""

    def __init__(self, pool: Pool, where: str, open_index: OpenIndex):
        self._pool = pool
        self.open_index = open_index
        self._location = where
        self._used: tuple[str, ...] = ()
        self._spaces: dict[str, int] = {}
        self._looked_at = -LOOK_SECONDS
        self.latest: Moment = 0
        """The moment of the newest change that was made from here."""
        self._models: dict[str, tuple[int, int]] = {}
        self.terms = KnownTerms()
        self._lock = threading.Lock()
        self.index = open_index(None)

    @property
    def location(self) -> str:
        """Where it lives, as a person would name it."""
        return self._location

    @property
    def used_models(self) -> tuple[str, ...]:
        """The names of the models whose vectors are compared."""
        return self._used

    def row_scope(self, scope: Scope) -> str | None:
        """What the statements for *scope* have to name; None if the server does not ask."""
        return row_scope(scope) if self.has_row_security else None

    @property
    def whole(self) -> Pooled:
        """Statements about the whole store, each in a transaction of its own."""
        return Pooled(self._pool, self.row_scope(EVERYTHING))

    @contextmanager
    def held(self, row_scope: str | None = EVERYWHERE, here: NamespaceFilter = ANYWHERE) -> Iterator[Held]:
        """A connection kept for the block."""
        with self._pool.taken() as connection:
            yield Held(connection, row_scope if self.has_row_security else None, here)

    def here(self, names: Sequence[str] | None, parameter: str = "here") -> NamespaceFilter:
        """These namespaces, or all, as statements name them."""
        self._know(names or ())
        return named(names, self._spaces, parameter)

    def _know(self, names: Sequence[str]) -> None:
        """Look up those of *names* that are not known; one that is not there, again some time later."""
        if all(name in self._spaces for name in names):
            return
        if time.monotonic() - self._looked_at >= LOOK_SECONDS:
            self.namespace_ids(self.whole, names)
            self._looked_at = time.monotonic()

    def note_question(self) -> None:
        """Take note that the index was asked for words."""

    # -- what readers and writers share

    def namespace_id(self, db: Executor, name: str, *, create: bool = False) -> int:
        """The id of a namespace, made if it is not there."""
        known = self._spaces.get(name)
        if known is not None:
            return known
        db.run(ADD_NAMESPACE, (name,))
        return int(value(db, NAMESPACE_ID, (name,)))

    def namespace_ids(self, db: Executor, names: Sequence[str] | None) -> list[int]:
        """The ids of these namespaces, or of all; unknown ones fall away."""
        if names is None or any(name not in self._spaces for name in names):
            found: dict[str, int] = dict(rows(db, NAMESPACES))
            if isinstance(db, Pooled):  # what a transaction has made may be taken back
                self._spaces |= found
        else:
            found = self._spaces
        return list(found.values()) if names is None else [found[name] for name in names if name in found]

    @property
    def known_namespaces(self) -> int:
        """So many namespaces there are at least."""
        return len(self._spaces)

    def model_id(self, db: Executor, name: str, dimension: int) -> int:
        """The number of a model, known from now on if it was not."""
        if name in self._models:
            return self._models[name][0]
        db.run(ADD_MODEL, (name, dimension))
        return int(value(db, MODEL_ID, (name,)))

    def known_model(self, db: Executor, name: str) -> tuple[int, int] | None:
        """The id and dimension of a current model; None while it has no vectors."""
        return self.known_models(db).get(name)

    def known_models(self, db: Executor) -> dict[str, tuple[int, int]]:
        """The id and dimension of each current model with vectors, by its name."""
        found = self._models
        if any(name not in found for name in self._used):
            found = {name: (number, dimension) for name, number, dimension in rows(db, MODELS)}
            if isinstance(db, Pooled):
                self._models = found
        return {name: model for name, model in found.items() if name in self._used}
