"""Stores that the daemon holds open, each once for all clients with the same settings."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mnemic import app
from mnemic.app import App
from mnemic.model.enums import Features
from mnemic.transports.background import Worker
from mnemic.transports.folder_mirrors import FolderMirrors, folder_mirrors

if TYPE_CHECKING:
    from mnemic.embedding.base import Embedder
    from mnemic.settings import Settings

ACTOR = "mnemic"
MOST = 4
"""Stores of different settings on one database; further clients run in processes of their own."""


class StoreKey(NamedTuple):
    """The settings that two clients must have in common to share an open store."""

    fast_writes: bool
    embedder: str
    embed_url: str
    embed_model: str
    embed_key: str
    ollama_url: str


def key_of(settings: Settings) -> StoreKey:
    """What *settings* ask of the store and the embedder."""
    has_model = app.features(settings) is not Features.KEYWORD
    is_remote = has_model and settings.embedder in ("openai", "ollama")
    return StoreKey(
        settings.fast_writes,
        settings.embedder if has_model else "none",
        settings.embed_url if is_remote else "",
        settings.embed_model if is_remote else "",
        settings.embed_key if is_remote else "",
        settings.ollama_url if is_remote else "",
    )


class LentApp(App):
    """The app of one client over a store that stays open when the client leaves."""

    def close(self) -> None:
        """Close this client's own resources."""
        self.ctx.resources.close()
        if self.ctx.language is not None:
            self.ctx.language.close()


@dataclass(frozen=True, slots=True)
class SharedStore:
    """An open store with its embedder, and the worker that fills its index."""

    app: App
    worker: Worker

    def lend(self, settings: Settings, environment: Mapping[str, str], folder: Path, actor: str) -> LentApp:
        """The app of a client with these settings who works in *folder*."""
        own = self.app.ctx
        ctx = app.context(settings, own.store, own.embedder, environment, folder, actor=actor)
        return LentApp(settings, replace(ctx, activity=own.activity, deferred=own.deferred))

    def close(self) -> None:
        """Stop the worker and close the store, but not the embedder."""
        self.worker.stop()
        App(self.app.settings, replace(self.app.ctx, embedder=None)).close()


def opened(settings: Settings, embedder: Embedder | None) -> SharedStore:
    """The store that *settings* name, open, with a worker that is ready to be started."""
    store = app.open_store(settings, embedder)
    ctx = app.context(settings, store, embedder, {}, Path("/"), actor=ACTOR)
    # What is missing of a feature tier is told to the client that asked for it, not by the worker.
    worker = Worker(replace(ctx, features=Features.SEMANTIC))
    return SharedStore(App(settings, ctx), worker)


class SharedStores:
    """The open stores of one database by their settings. Safe between threads."""

    def __init__(self, database: str):
        self._database = database
        self._lock = threading.Lock()
        self._open: dict[StoreKey, SharedStore] = {}
        self._embedders: dict[StoreKey, Embedder | None] = {}
        """Kept when the stores are closed: to load a model takes longest."""
        self._file: tuple[int, int] | None = None
        self._mirrors: FolderMirrors | None = None

    def take(self, settings: Settings) -> SharedStore | None:
        """The store for *settings*, opened now if it is not; None if there are too many."""
        key = key_of(settings)
        with self._lock:
            if key not in self._open:
                if len(self._open) >= MOST:
                    return None
                self._open[key] = shared = opened(settings, self._embedder(key, settings))
                shared.worker.start()
                self._file = self._file or self._found()
                self._mirrors = self._mirrors or self._mirroring(shared)
            return self._open[key]

    def _embedder(self, key: StoreKey, settings: Settings) -> Embedder | None:
        if key not in self._embedders:
            self._embedders[key] = app.open_embedder(settings)
        return self._embedders[key]

    def _mirroring(self, shared: SharedStore) -> FolderMirrors:
        """The folders that are set to be mirrored, kept in step over this store from now on."""
        ctx = replace(shared.app.ctx, wake=shared.worker.wake)
        mirrors = folder_mirrors(ctx, self._database, os.environ)
        mirrors.start()
        return mirrors

    def mirrors(self) -> list[dict[str, Any]]:
        """How the mirrored folders are; none while no store is open."""
        with self._lock:
            return self._mirrors.status() if self._mirrors else []

    def any(self) -> SharedStore | None:
        """One of the open stores, whichever; None if there is none."""
        with self._lock:
            return next(iter(self._open.values()), None)

    @property
    def count(self) -> int:
        """How many are open."""
        return len(self._open)

    @property
    def are_gone(self) -> bool:
        """Whether the file that was opened is no longer at its path: deleted, or replaced by another."""
        return self._file is not None and self._file != self._found()

    def _found(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self._database)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def close(self) -> None:
        """Close all of them, which leaves the database complete in its file. The models stay loaded."""
        with self._lock:
            if self._mirrors:
                self._mirrors.stop()
                self._mirrors = None
            for shared in self._open.values():
                shared.close()
            self._open.clear()
            self._file = None
