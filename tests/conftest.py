"""What the tests share: real stores in temporary folders, a context held still, the real model."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from mnemic.core.context import Context
from mnemic.embedding.local import LocalEmbedder
from mnemic.storage.base import Store
from support import Clock, Uids, WordEmbedder, open_store

# How long an example takes says nothing here: the machine is shared.
hypothesis.settings.register_profile("mnemic", deadline=None, database=None)
hypothesis.settings.load_profile("mnemic")

Fresh = Callable[..., Store]


@pytest.fixture(scope="session", params=["sqlite"])
def engine(request: pytest.FixtureRequest) -> str:
    """The engine a store is kept by. A second one is a second parameter here and a case in `open_store`."""
    return str(request.param)


@pytest.fixture
def fresh(engine: str, tmp_path: Path) -> Iterator[Fresh]:
    """Opens the store of a name, made if it is not there; the same name twice is one store opened twice."""
    opened: list[Store] = []

    def opening(name: str = "mnemic") -> Store:
        opened.append(open_store(engine, tmp_path, name))
        return opened[-1]

    yield opening
    for store in opened:
        store.close()


@pytest.fixture
def store(fresh: Fresh) -> Store:
    """An empty store."""
    return fresh()


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files and folders that the disk was waited for, in order; SQLite waits for its own by itself."""
    waited: list[Path] = []
    wait = os.fsync

    def told(handle: int) -> None:
        waited.append(Path(f"/proc/self/fd/{handle}").readlink())
        wait(handle)

    monkeypatch.setattr(os, "fsync", told)
    return waited


@pytest.fixture
def clock() -> Clock:
    """The clock of `ctx`."""
    return Clock()


@pytest.fixture
def ctx(store: Store, clock: Clock) -> Context:
    """A context over `store` in which time, chance and the model are held still."""
    embedder = WordEmbedder()
    store.use_models(embedder.name)
    return Context(store=store, embedder=embedder, now=clock, new_uid=Uids(), actor="tester")


@pytest.fixture(scope="session")
def model() -> LocalEmbedder:
    """The model that ships with the package, loaded once."""
    return LocalEmbedder()


@pytest.fixture
def real(store: Store, clock: Clock, model: LocalEmbedder) -> Context:
    """A context over `store` with the real model."""
    store.use_models(model.name)
    return Context(store=store, embedder=model, now=clock, new_uid=Uids(), actor="tester")
